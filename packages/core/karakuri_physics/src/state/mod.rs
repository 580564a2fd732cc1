//! The members of a world: robots, bodies, their surfaces, and what acts on them from outside.

pub(crate) mod ball_limit;
pub(crate) mod body;
pub(crate) mod chains;
pub(crate) mod collider;
pub(crate) mod energy_guard;
pub(crate) mod extent;
pub(crate) mod flight;
pub(crate) mod free_motion;
pub(crate) mod ids;
pub(crate) mod imu;
pub(crate) mod inner_springs;
pub(crate) mod joint_dynamics;
pub(crate) mod joint_limits;
pub(crate) mod materials;
pub(crate) mod motion_table;
pub(crate) mod motor_unit;
pub(crate) mod mover;
pub(crate) mod noise;
pub(crate) mod overlaps;
pub(crate) mod prescribed_bodies;
pub(crate) mod prescribed_joint;
pub(crate) mod pushes;
pub(crate) mod robot;
pub(crate) mod settings;
pub(crate) mod shared_responses;
pub(crate) mod turns;

use karakuri_collision::{ColliderId, CollisionScene};
use karakuri_spatial::Pose;

use body::Body;
use collider::Attachment;
use ids::{BodyId, RobotId};
use materials::Materials;
use mover::{Mover, Owner};
use pushes::Push;
use robot::Robot;

/// Members of a world, without the constraints between them.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    pub(crate) robots: Vec<Option<Robot>>,
    pub(crate) bodies: Vec<Option<Body>>,
    pub(crate) collision: CollisionScene,
    /// Attachment of every collider.
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
        pose_of(mover, &self.robots, &self.bodies)
    }
}

/// Pose of a mover in the world, at the last kinematics.
pub(crate) fn pose_of(mover: Mover, robots: &[Option<Robot>], bodies: &[Option<Body>]) -> Pose {
    let pose = match mover {
        Mover::Robot { robot, body } => {
            robots[robot].as_ref().map(|r| r.data.pose_in_world[body.0])
        }
        Mover::Body(body) => bodies[body].as_ref().map(|b| b.pose),
        // What is fixed has the world's frame.
        Mover::Fixed => None,
    };
    pose.unwrap_or(Pose::IDENTITY)
}
