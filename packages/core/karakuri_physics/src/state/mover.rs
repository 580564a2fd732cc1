//! Owners of colliders, and how they move.

use karakuri_model::{BodyId, FrameId};

use super::ids::{BodyId as ObjectId, RobotId};

/// Owner of a collider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// A link of a robot.
    Link {
        /// Robot that has the link.
        robot: RobotId,
        /// Frame of the link.
        frame: FrameId,
    },
    /// A free or fixed body.
    Body(ObjectId),
    /// The ground, which never moves.
    Ground,
}

/// Mover of an owner: its place in the world's velocity vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mover {
    Robot { robot: usize, body: BodyId },
    Body(usize),
    Fixed,
}

/// Index that stands for no mover.
pub(crate) const NO_MOVER: usize = usize::MAX;

impl Mover {
    /// The free body that it is.
    pub(crate) fn body(self) -> Option<usize> {
        if let Self::Body(body) = self { Some(body) } else { None }
    }

    /// Index among all movers, robots first; [`NO_MOVER`] of a fixed one.
    pub(crate) fn index(self, n_robots: usize) -> usize {
        match self {
            Self::Robot { robot, .. } => robot,
            Self::Body(body) => n_robots + body,
            Self::Fixed => NO_MOVER,
        }
    }
}
