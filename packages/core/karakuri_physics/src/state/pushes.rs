//! Pushes: forces that act over a span of time, given once.
//!
//! A push acts in every step whose middle lies within its span, so its impulse is right to one step's share and does not
//! depend on how the ends round. What acts for one step only is [`World::apply_link_wrench`].

use karakuri_spatial::{Force, Vector3};

use crate::state::mover::Owner;

/// A force and a moment on a thing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Push {
    /// Owner that is pushed.
    pub part: Owner,
    /// Point of application, in the frame of the link, or about a body's centre of mass in the body's axes. [m] (3)
    pub point: Vector3,
    /// Wrench about the point, in world axes. [N·m; N]
    pub wrench: Force,
    /// Simulated time when it begins. [s]
    pub from: f64,
    /// Simulated time when it ends; infinite for a push that lasts. [s]
    pub until: f64,
}

/// Names a push of a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PushId(pub(crate) usize);
