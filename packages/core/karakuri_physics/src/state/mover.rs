//! Owners of colliders, and how they move.

use karakuri_model::{BodyId, FrameId};
use karakuri_spatial::{Motion, Pose, Vector3};

use super::body::Body;
use super::materials::{MaterialId, Surface};
use super::robot::Robot;

/// To what a collider belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// A link of a robot.
    Link {
        /// The robot.
        robot: crate::RobotId,
        /// The link.
        frame: FrameId,
    },
    /// A free or fixed body.
    Body(crate::ObjectId),
    /// The ground.
    Ground,
}

/// How an owner moves in the world's velocity vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mover {
    Robot { robot: usize, body: BodyId },
    Body(usize),
    Fixed,
}

/// In place of the index of a mover: none.
pub(crate) const NO_MOVER: usize = usize::MAX;

impl Mover {
    /// The free body that it is.
    pub(crate) fn body(self) -> Option<usize> {
        if let Self::Body(body) = self { Some(body) } else { None }
    }

    /// Pose in the world, at the last kinematics.
    pub(crate) fn pose(self, robots: &[Option<Robot>], bodies: &[Option<Body>]) -> Pose {
        let pose = match self {
            Self::Robot { robot, body } => {
                robots[robot].as_ref().map(|r| r.data.pose_in_world[body.0])
            }
            Self::Body(body) => bodies[body].as_ref().map(|b| b.pose),
            Self::Fixed => None,
        };
        pose.unwrap_or(Pose::IDENTITY)
    }

    /// Index among all movers, robots first; [`NO_MOVER`] of what is fixed.
    pub(crate) fn index(self, n_robots: usize) -> usize {
        match self {
            Self::Robot { robot, .. } => robot,
            Self::Body(body) => n_robots + body,
            Self::Fixed => NO_MOVER,
        }
    }
}

/// A collider as the world knows it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attachment {
    pub(crate) owner: Owner,
    pub(crate) mover: Mover,
    pub(crate) surface: Surface,
    /// The material it came from.
    pub(crate) material: Option<MaterialId>,
    /// Velocity of the surface against its owner, in world axes: a running belt. [m/s] (3)
    pub(crate) surface_velocity: Vector3,
    /// Twist of a body that moves as prescribed, about the world's origin. [rad/s; m/s]
    pub(crate) carried: Motion,
}
