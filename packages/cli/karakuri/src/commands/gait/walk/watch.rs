//! What is measured of a walk after a step of the physics.

use std::sync::Arc;

use karakuri_dynamics::frame_pose;
use karakuri_gait::planner::{Biped, Side};
use karakuri_model::{FrameId, Model};
use karakuri_physics::{Owner, RobotId, World};
use karakuri_spatial::Pose;

/// Share of the floor's load above which a sole counts as standing. [-]
const TOUCH: f64 = 0.03;

/// Measures a robot that walks.
#[derive(Debug, Clone)]
pub(super) struct Watch {
    robot: RobotId,
    biped: Biped,
}

/// The robot at an instant.
#[derive(Debug, Clone)]
pub(super) struct Snapshot {
    /// Instant. [s]
    pub(super) time: f64,
    /// Pose of the root link.
    pub(super) root: Pose,
    /// Positions. (nq)
    pub(super) posture: Vec<f64>,
    /// Centre of pressure. [m] (2)
    pub(super) pressure: [f64; 2],
    /// Its margin in the support polygon; NaN where no sole presses on the floor. [m]
    pub(super) margin: f64,
    /// Whether a drive is at its effort limit.
    pub(super) is_at_limit: bool,
}

impl Watch {
    pub(super) fn new(robot: RobotId, biped: Biped) -> Self {
        Self { robot, biped }
    }

    pub(super) fn snapshot(&self, world: &World) -> Snapshot {
        let view = world.robot(self.robot);
        let limits = &view.drives().effort_limit;
        let mut efforts = view.efforts().iter().zip(limits);
        let (pressure, margin) = self.pressure(world);
        Snapshot {
            time: world.time(),
            root: view.data().pose_in_world[0],
            posture: view.q().to_vec(),
            pressure,
            margin,
            is_at_limit: efforts.any(|(e, limit)| e.abs() >= limit * (1.0 - 1e-6)),
        }
    }

    /// Centre of pressure, and its margin in the support polygon of the soles that press on the floor. [m]
    fn pressure(&self, world: &World) -> ([f64; 2], f64) {
        let Biped { legs, .. } = &self.biped;
        let model: &Arc<Model> = &self.biped.model;
        let body = |frame: FrameId| model.frames[frame.0].body;
        let (mut force, mut moment, mut borne) = (0.0, [0.0; 2], [0.0; 2]);
        for contact in world.contacts() {
            let (sign, frame) = match (contact.a, contact.b) {
                (Owner::Link { .. }, Owner::Link { .. }) => continue,
                (Owner::Link { frame, .. }, _) => (-1.0, frame),
                (_, Owner::Link { frame, .. }) => (1.0, frame),
                _ => continue,
            };
            let up = sign * contact.force.z;
            force += up;
            moment[0] += up * contact.position.x;
            moment[1] += up * contact.position.y;
            for (borne, leg) in borne.iter_mut().zip(legs) {
                *borne += if body(leg.foot) == body(frame) { up } else { 0.0 };
            }
        }
        // The centre of pressure is the mean of the contact points, weighted by their vertical forces.
        let pressure = moment.map(|m| m / force);
        let data = world.robot(self.robot).data();
        let soles = Side::BOTH.into_iter().filter(|side| borne[side.index()] > TOUCH * force);
        let soles: Vec<_> = soles
            .map(|side| {
                let leg = &legs[side.index()];
                (side, frame_pose(model, data, leg.foot) * leg.sole_in_foot)
            })
            .collect();
        let polygon = self.biped.support_polygon(&soles);
        (pressure, if soles.is_empty() { f64::NAN } else { polygon.margin(pressure) })
    }
}
