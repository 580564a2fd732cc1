//! What a world is made of: robots, bodies, their surfaces, and what acts on them from outside.

pub(crate) mod body;
pub(crate) mod joint_dynamics;
pub(crate) mod materials;
pub(crate) mod motion_table;
pub(crate) mod mover;
pub(crate) mod noise;
pub(crate) mod overlaps;
pub(crate) mod prescribed_bodies;
pub(crate) mod prescribed_joints;
pub(crate) mod pushes;
pub(crate) mod robot;
pub(crate) mod settings;
pub(crate) mod shapes;

use karakuri_collision::{ColliderId, CollisionScene};
use karakuri_spatial::Pose;

use crate::world::{BodyId, RobotId};
use body::Body;
use materials::Materials;
use mover::{Attachment, Mover, Owner};
use pushes::Push;
use robot::Robot;

/// What a world consists of, but for the constraints between its members.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    pub(crate) robots: Vec<Option<Robot>>,
    pub(crate) bodies: Vec<Option<Body>>,
    pub(crate) collision: CollisionScene,
    /// Of every collider.
    pub(crate) attachments: Vec<Option<Attachment>>,
    /// Moving colliders and their poses on their bodies.
    pub(crate) placements: Vec<(ColliderId, Mover, Pose)>,
    pub(crate) materials: Materials,
    pub(crate) pushes: Vec<Option<Push>>,
    /// Number of bodies asleep.
    pub(crate) n_asleep: usize,
}

impl State {
    /// Whether a robot is there.
    pub(crate) fn has_robot(&self, id: RobotId) -> bool {
        self.robots.get(id.0).is_some_and(Option::is_some)
    }

    /// Whether a body is there.
    pub(crate) fn has_body(&self, id: BodyId) -> bool {
        self.bodies.get(id.0).is_some_and(Option::is_some)
    }

    /// Whether what a link, a body or the ground belongs to is there.
    pub(crate) fn has(&self, owner: Owner) -> bool {
        match owner {
            Owner::Ground => true,
            Owner::Link { robot, .. } => self.has_robot(robot),
            Owner::Body(body) => self.has_body(body),
        }
    }

    /// Pose of a mover in the world, at the last kinematics.
    pub(crate) fn pose_of(&self, mover: Mover) -> Pose {
        mover.pose(&self.robots, &self.bodies)
    }

    /// How the owner of a collider moves.
    pub(crate) fn mover_of(&self, collider: ColliderId) -> Mover {
        self.attachments[collider.0].map_or(Mover::Fixed, |a| a.mover)
    }
}
