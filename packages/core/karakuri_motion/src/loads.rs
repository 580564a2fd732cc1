//! Efforts and balance of a state: inverse dynamics with the floor's wrench borne by the feet that stand.
//!
//! On one foot that foot bears all of it. On both the lever rule shares it by the zero moment point's place between the soles, an
//! approximation: what the feet press against each other is not determined by the motion. Units: SI, world axes; the floor is z = 0.

use std::sync::Arc;

use karakuri_dynamics::{
    Data, center_of_mass, forward_kinematics, frame_pose, rnea, take_off_wrench,
};
use karakuri_gait::geometry::ConvexPolygon;
use karakuri_gait::planner::Side;
use karakuri_gait::zmp::{WholeBodyMotion, whole_body_zmp};
use karakuri_model::{Base, Model};
use karakuri_spatial::{Force, Pose, Vector3};

use crate::performance::MotionState;
use crate::robot::Performer;

/// Part of the weight below which the floor counts as left. [-]
// Near free fall the zero moment point is a quotient of two small numbers and runs away. A tenth is far from walking, which
// takes some tens of percent off the floor at most, and reached in every jump.
const WEIGHTLESS: f64 = 0.1;

/// Efforts and balance of a state.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Loads {
    /// Efforts of the joints. [N·m or N] (nv)
    pub effort: Vec<f64>,
    /// The same at rest in the same position. [N·m or N] (nv)
    pub effort_at_rest: Vec<f64>,
    /// Centre of mass. [m] (3)
    pub com: [f64; 3],
    /// Balance of a robot whose feet stand.
    pub balance: Option<Balance>,
}

/// Balance on the feet that stand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Balance {
    /// Zero moment point. [m] (2)
    pub zmp: [f64; 2],
    /// Signed distance of the centre of mass from the edge of the support polygon, positive inside. [m]
    pub static_margin: f64,
    /// The same of the zero moment point; minus infinity where the floor carries less than a tenth of the weight. [m]
    pub margin: f64,
    /// Horizontal force over the vertical one that the floor exerts: the friction that keeps the feet. [-]
    pub friction: f64,
    /// Farthest distance of a standing sole's corner from the floor. [m]
    pub sole_gap: f64,
    /// Largest angle between a standing sole and the floor. [rad]
    pub sole_tilt: f64,
}

/// Workspace for loads.
#[derive(Debug, Clone)]
pub struct LoadsOf {
    performer: Arc<Performer>,
    data: Data,
    polygon: ConvexPolygon,
    zeros: Vec<f64>,
}

impl LoadsOf {
    /// Workspace for a robot under a gravity along −z. [m/s²]
    pub fn new(performer: &Arc<Performer>, gravity: f64) -> Self {
        let mut data = Data::new(&performer.model);
        data.gravity = Vector3::new(0.0, 0.0, -gravity);
        let zeros = vec![0.0; performer.model.nv];
        Self { performer: Arc::clone(performer), data, polygon: ConvexPolygon::default(), zeros }
    }

    /// Efforts and balance of a state.
    pub fn of(&mut self, state: &MotionState) -> Loads {
        let performer = Arc::clone(&self.performer);
        let model = &performer.model;
        forward_kinematics(model, &mut self.data, &state.q);
        let com = center_of_mass(model, &self.data);
        // Lent out, as `bear` wants the whole workspace.
        let zeros = std::mem::take(&mut self.zeros);
        let rest = MotionState { v: zeros.clone(), vdot: zeros.clone(), ..state.clone() };
        self.zeros = zeros;
        // At rest first, so that the workspace is left with the efforts of the motion.
        self.bear(model, &rest);
        let effort_at_rest = self.data.effort.clone();
        let balance = self.bear(model, state);
        Loads {
            effort: self.data.effort.clone(),
            effort_at_rest,
            com: com.into(),
            balance: balance.map(|(zmp, force)| self.balance(state, zmp, &force, &com)),
        }
    }

    /// Efforts alone. [N·m or N] (nv)
    pub fn effort(&mut self, state: &MotionState) -> &[f64] {
        let performer = Arc::clone(&self.performer);
        self.bear(&performer.model, state);
        &self.data.effort
    }

    /// Inverse dynamics into `data.effort`; the zero moment point and the floor's force where feet stand.
    fn bear(&mut self, model: &Model, state: &MotionState) -> Option<([f64; 2], Vector3)> {
        if model.base != Base::Floating {
            // The floor or wall bears a fixed base; there are no feet to balance on.
            rnea(model, &mut self.data, &state.q, &state.v, &state.vdot, &[]);
            return None;
        }
        let motion = WholeBodyMotion { q: &state.q, v: &state.v, vdot: &state.vdot };
        // Whatever the six efforts of the floating base come out as, no drive gives them: the feet must.
        let reaction = whole_body_zmp(model, &mut self.data, &motion, 0.0);
        // In flight the base's efforts are those that the motion wants and nothing gives; joints are as they are.
        if state.stands == [false; 2] {
            return None;
        }
        let soles = self.soles();
        let Force { moment, force } = reaction.wrench;
        let root = Vector3::new(state.q[0], state.q[1], state.q[2]);
        let zmp = Vector3::new(reaction.zmp[0], reaction.zmp[1], 0.0);
        // The floor's wrench at the zero moment point: only a moment about the vertical is left there.
        let at_zmp = Force::new(moment + (root - zmp).cross(&force), force);
        match (state.stands, soles) {
            ([true, true], [Some(l), Some(r)]) => {
                let (p, q) = (l.translation, r.translation);
                let along = q - p;
                // Lever rule along the line between the soles; beyond a sole that foot bears all.
                let k = ((zmp - p).dot(&along) / along.norm_squared()).clamp(0.0, 1.0);
                // Both feet bear at the same distance beside the line, so their resultant goes through the zero moment point.
                let across = zmp - (p + along * k);
                self.foot_bears(Side::Left, &(at_zmp * (1.0 - k)), &(p + across));
                self.foot_bears(Side::Right, &(at_zmp * k), &(q + across));
            }
            ([true, _], _) => self.foot_bears(Side::Left, &at_zmp, &zmp),
            _ => self.foot_bears(Side::Right, &at_zmp, &zmp),
        }
        Some((reaction.zmp, force))
    }

    fn foot_bears(&mut self, side: Side, at_point: &Force, point: &Vector3) {
        let Some(legs) = &self.performer.legs else { return };
        let foot = legs[side.index()].foot;
        let Some(body) = self.performer.model.frames[foot.0].body else { return };
        // Moved to the workspace's origin O, about which its wrenches are.
        let moment = at_point.moment + (point - self.data.origin).cross(&at_point.force);
        // Takes `Jᵀ F` off the joints between root and foot, and off the base, whose six efforts come to zero.
        take_off_wrench(&mut self.data, body, &Force::new(moment, at_point.force));
    }

    /// Poses of the soles in the position of the workspace.
    fn soles(&self) -> [Option<Pose>; 2] {
        Side::BOTH.map(|side| {
            let leg = &self.performer.legs.as_ref()?[side.index()];
            Some(frame_pose(&self.performer.model, &self.data, leg.foot) * leg.sole_in_foot)
        })
    }

    fn balance(
        &mut self,
        state: &MotionState,
        zmp: [f64; 2],
        force: &Vector3,
        com: &Vector3,
    ) -> Balance {
        let (mut corners, mut sole_gap, mut sole_tilt) = (Vec::new(), 0.0_f64, 0.0_f64);
        for side in Side::BOTH.into_iter().filter(|side| state.stands[side.index()]) {
            let (Some(legs), Some(sole)) = (&self.performer.legs, self.soles()[side.index()])
            else {
                continue;
            };
            for [x, y] in legs[side.index()].outline.corners() {
                let p = sole.transform_point(&Vector3::new(x, y, 0.0));
                // Corners in the floor are as wrong as corners above it.
                sole_gap = sole_gap.max(p.z.abs());
                corners.push([p.x, p.y]);
            }
            // Angle between the sole's normal and the vertical; rounding may take the cosine beyond 1.
            sole_tilt = sole_tilt.max(sole.rotation[(2, 2)].clamp(-1.0, 1.0).acos());
        }
        // The hull of both soles: the zero moment point may lie between them.
        self.polygon.fit(corners.into_iter());
        // Tension is left out as well: a floor cannot pull.
        let weight = self.performer.model.mass() * self.data.gravity.norm();
        let carries = force.z > WEIGHTLESS * weight;
        Balance {
            zmp,
            static_margin: self.polygon.clearance([com.x, com.y]),
            margin: if carries { self.polygon.clearance(zmp) } else { f64::NEG_INFINITY },
            // Without weight enormous, in place of infinite or negative; who reads it looks at `margin` first.
            friction: force.x.hypot(force.y) / force.z.max(f64::MIN_POSITIVE),
            sole_gap,
            sole_tilt,
        }
    }
}
