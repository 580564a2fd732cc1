//! A pose as the page shows it: bodies, centre of mass, support polygon, margin.

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexMap;
use karakuri_dynamics::{center_of_mass, forward_kinematics, frame_pose};
use karakuri_gait::geometry::ConvexPolygon;
use karakuri_gait::planner::Leg;
use karakuri_model::{Base, BodyId, DofKind, Shape};
use karakuri_motion::{Document, RootPose, Support};
use karakuri_spatial::{Pose, UnitQuaternion, Vector3};

use super::Poser;
use crate::stage::{place_of, robot_places};
use crate::wire::{Code, Evaluated, Joints, Place, PoseRequest, WireError};

/// Soles this little above the lower one touch the floor. [m]
const TOUCHING: f64 = 0.002;
/// A foot this far below the floor is the one that stands. [m]
const BELOW: f64 = 1e-6;

impl Poser {
    /// The robot at a pose.
    pub(crate) fn evaluate(
        &mut self,
        document: &Document,
        request: &PoseRequest,
    ) -> Result<Evaluated, WireError> {
        let posture = self.posture(document, request)?;
        Ok(self.show(&posture))
    }

    /// Posture of a pose, placed on the floor, or of a motion at a time.
    pub(super) fn posture(
        &mut self,
        document: &Document,
        request: &PoseRequest,
    ) -> Result<Posture, WireError> {
        if let Some(motion) = &request.motion {
            return self.in_motion(document, motion, request);
        }
        let support = request.support.unwrap_or(Support::Auto);
        let mut q = self.model.default_position();
        let mut root = None;
        let mut layers = Vec::new();
        let mut next = request.pose.as_deref();
        while let Some(name) = next {
            let pose = document.poses.get(name).ok_or_else(|| {
                let known: Vec<&str> = document.poses.keys().map(String::as_str).collect();
                let text = format!("there is no pose `{name}`");
                WireError::new(Code::NotFound, text, format!("there are {}", known.join(", ")))
            })?;
            layers.push(pose);
            next = pose.from.as_deref();
        }
        let unit = document.units.angle;
        for pose in layers.into_iter().rev() {
            root = pose.root.or(root);
            for (name, value) in &pose.joints {
                let id = self.joint(name)?;
                let is_angle = self.model.joints[id.0].kind.single() == Some(DofKind::Angle);
                let value = if is_angle { unit.to_rad(*value) } else { *value };
                q[self.model.joints[id.0].q_start] = value;
            }
        }
        self.lay_on(&mut q, &request.joints)?;
        if matches!(self.model.base, Base::Floating) {
            let given = request.root.map(|place| pose_of(&place)).or_else(|| {
                let RootPose { xyz, rpy } = root?;
                Some(Pose::from_xyz_rpy(xyz, rpy.map(|angle| unit.to_rad(angle))))
            });
            match given {
                Some(pose) => set_root(&mut q, &pose),
                None => self.stand(&mut q, support),
            }
        }
        Ok(Posture { q, support })
    }

    /// Lays joints on top of a position; those that follow others follow.
    pub(super) fn lay_on(&mut self, q: &mut [f64], joints: &Joints) -> Result<(), WireError> {
        for (name, value) in &joints.0 {
            let id = self.joint(name)?;
            q[self.model.joints[id.0].q_start] = *value;
        }
        if !q.iter().all(|x| x.is_finite()) {
            return Err(WireError::new(Code::Limit, "a position is no number", "write one"));
        }
        self.reduction.project_position(q);
        Ok(())
    }

    /// Poses of the bodies in the first of them, at measured positions of joints; those that were not measured are at rest.
    pub(crate) fn measured_places(&mut self, joints: &BTreeMap<String, [f64; 3]>) -> Vec<Place> {
        let mut q = self.model.default_position();
        for (name, [position, ..]) in joints {
            if let Ok(id) = self.joint(name) {
                q[self.model.joints[id.0].q_start] = *position;
            }
        }
        self.reduction.project_position(&mut q);
        forward_kinematics(&self.model, &mut self.data, &q);
        let poses = &self.data.pose_in_world;
        let X_RootWorld = poses.first().map_or(Pose::IDENTITY, Pose::inverse);
        poses.iter().map(|X_WB| place_of(&(X_RootWorld * *X_WB))).collect()
    }

    /// Pose of the root link where the robot stands in its posture at rest.
    pub(crate) fn root_at_rest(&mut self) -> Pose {
        let mut q = self.model.default_position();
        self.reduction.project_position(&mut q);
        self.stand(&mut q, Support::Both);
        pose_of(&[q[0], q[1], q[2], q[3], q[4], q[5], q[6]])
    }

    /// Places the root so that the soles that are to stand lie on the floor; of a robot without feet the lowest point.
    fn stand(&mut self, q: &mut [f64], support: Support) {
        let performer = Arc::clone(&self.performer);
        let Some(legs) = performer.legs.as_ref().filter(|_| support != Support::None) else {
            forward_kinematics(&performer.model, &mut self.data, q);
            let lowest = self.points().map(|p| p.z).fold(f64::INFINITY, f64::min);
            if lowest.is_finite() {
                q[2] -= lowest;
            }
            return;
        };
        // Where the sole is in the posture at rest, laid flat on the floor: the robot stays about its origin.
        let mut rest = performer.model.default_position();
        self.reduction.project_position(&mut rest);
        let at_rest = self.soles(legs, &rest);
        let mut on = |side: usize, q: &mut [f64]| {
            let p = at_rest[side].translation;
            let X_WSole = Pose::from_translation(Vector3::new(p.x, p.y, 0.0));
            self.put_sole(q, &legs[side], &X_WSole);
            self.soles(legs, q)
        };
        match support {
            Support::Right => drop(on(1, q)),
            Support::Auto => {
                // The foot that is lower stands.
                let soles = on(0, q);
                if soles[1].translation.z < -BELOW {
                    on(1, q);
                }
            }
            _ => drop(on(0, q)),
        }
    }

    /// Moves the root so that a sole is at a pose.
    pub(super) fn put_sole(&mut self, q: &mut [f64], leg: &Leg, X_WSole: &Pose) {
        forward_kinematics(&self.performer.model, &mut self.data, q);
        let X_RootSole = self.data.pose_in_world[0].inverse() * self.sole(leg);
        set_root(q, &(*X_WSole * X_RootSole.inverse()));
    }

    /// Pose of a sole at the data's position, `X_WSole`.
    fn sole(&self, leg: &Leg) -> Pose {
        frame_pose(&self.performer.model, &self.data, leg.foot) * leg.sole_in_foot
    }

    /// Poses of both soles. (2)
    pub(super) fn soles(&mut self, legs: &[Leg; 2], q: &[f64]) -> [Pose; 2] {
        forward_kinematics(&self.performer.model, &mut self.data, q);
        [self.sole(&legs[0]), self.sole(&legs[1])]
    }

    /// Points of all collision shapes at the data's position.
    fn points(&self) -> impl Iterator<Item = Vector3> {
        self.model.collisions.iter().flat_map(|g| {
            let X_WS = match g.body {
                Some(body) => self.data.pose_in_world[body.0] * g.pose_in_body,
                None => g.pose_in_body,
            };
            corners(&g.shape).into_iter().map(move |p| X_WS.transform_point(&p))
        })
    }

    /// Corners of the soles that stand, and how far off the floor the farther of two is.
    fn standing(&self, support: Support) -> Standing {
        let mut standing = Standing::default();
        let Some(legs) = &self.performer.legs else { return standing };
        let soles = [self.sole(&legs[0]), self.sole(&legs[1])];
        let heights = soles.map(|sole| sole.translation.z);
        standing.floor = match support {
            Support::Left => heights[0],
            Support::Right => heights[1],
            _ => heights[0].min(heights[1]),
        };
        let stands = match support {
            Support::Left => [true, false],
            Support::Right => [false, true],
            Support::Both => [true; 2],
            Support::None => [false; 2],
            Support::Auto => heights.map(|z| z < standing.floor + TOUCHING),
        };
        for (k, leg) in legs.iter().enumerate().filter(|(k, _)| stands[*k]) {
            for [x, y] in leg.outline.corners() {
                let p = soles[k].transform_point(&Vector3::new(x, y, 0.0));
                standing.corners.push([p.x, p.y]);
                standing.error = standing.error.max((p.z - standing.floor).abs());
            }
        }
        standing
    }

    /// The robot in a posture.
    pub(super) fn show(&mut self, posture: &Posture) -> Evaluated {
        let Posture { q, support } = posture;
        let bodies = robot_places(&self.model, &mut self.data, q);
        let model = &self.model;
        let com = center_of_mass(model, &self.data);
        let standing = self.standing(*support);
        let polygon = ConvexPolygon::hull(&standing.corners);
        let margin = polygon.margin([com.x, com.y]);
        let is_floating = matches!(model.base, Base::Floating);
        let singles = model.joints.iter().filter(|j| j.kind.single().is_some());
        Evaluated {
            joints: Joints(
                singles.map(|j| (j.name.clone(), q[j.q_start])).collect::<IndexMap<_, _>>(),
            ),
            root: if is_floating { bodies[0] } else { place_of(&Pose::IDENTITY) },
            bodies,
            com: com.into(),
            margin: margin.is_finite().then_some(margin),
            polygon: polygon.corners.clone(),
            floor: standing.floor,
            support_error: standing.error,
        }
    }

    /// A joint with one degree of freedom that leads itself.
    pub(super) fn joint(&self, name: &str) -> Result<BodyId, WireError> {
        let found = self.model.joint(name);
        found.filter(|id| self.model.joints[id.0].kind.single().is_some()).ok_or_else(|| {
            let text = format!("the robot has no joint `{name}` with one degree of freedom");
            WireError::new(Code::NotFound, text, "take a name of the robot's description")
        })
    }
}

/// A position and the feet that stand at it.
#[derive(Debug)]
pub(super) struct Posture {
    /// Position. (nq)
    pub(super) q: Vec<f64>,
    /// Feet that stand.
    pub(super) support: Support,
}

/// The soles that stand.
#[derive(Debug, Default)]
struct Standing {
    corners: Vec<[f64; 2]>,
    /// Height of the floor. [m]
    floor: f64,
    /// Farthest distance of a corner from the floor. [m]
    error: f64,
}

/// Sets the root link's pose of a floating robot.
pub(super) fn set_root(q: &mut [f64], pose: &Pose) {
    q[..7].copy_from_slice(&place_of(pose));
}

/// Pose of `x y z qx qy qz qw`, whose quaternion need not be of length one.
pub(super) fn pose_of(place: &Place) -> Pose {
    let [x, y, z, qx, qy, qz, qw] = *place;
    let rotation = UnitQuaternion::new_normalize(nalgebra::Quaternion::new(qw, qx, qy, qz));
    Pose::from_quaternion(&rotation, Vector3::new(x, y, z))
}

/// Points whose hull is the shape, or nearly.
fn corners(shape: &Shape) -> Vec<Vector3> {
    /// Points of a circle.
    const SIDES: usize = 16;
    let circle = |radius: f64, z: f64| {
        (0..SIDES).map(move |i| {
            let (sin, cos) = (std::f64::consts::TAU * i as f64 / SIDES as f64).sin_cos();
            Vector3::new(radius * cos, radius * sin, z)
        })
    };
    let round = |axes: Vector3, half: f64| {
        let axis = |i: usize, s: f64| Vector3::ith(i, s * axes[i]);
        (0..3)
            .flat_map(|i| [axis(i, 1.0), axis(i, -1.0)])
            .flat_map(|p| [p + Vector3::z() * half, p - Vector3::z() * half])
            .collect()
    };
    match shape {
        Shape::Box { size } => (0..8)
            .map(|i| {
                let sign = |bit: usize| if i >> bit & 1 == 0 { -0.5 } else { 0.5 };
                size.component_mul(&Vector3::new(sign(0), sign(1), sign(2)))
            })
            .collect(),
        Shape::Sphere { radius } => round(Vector3::repeat(*radius), 0.0),
        Shape::Ellipsoid { semi_axes } => round(*semi_axes, 0.0),
        Shape::Capsule { radius, length } => round(Vector3::repeat(*radius), length / 2.0),
        Shape::Cylinder { radius, length } => {
            circle(*radius, length / 2.0).chain(circle(*radius, -length / 2.0)).collect()
        }
        Shape::Mesh(mesh) => mesh.vertices.iter().map(|&v| v.into()).collect(),
    }
}
