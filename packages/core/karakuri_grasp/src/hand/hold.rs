//! Ways to hold an object: the place of the tool, and the contact with its law.
//!
//! Units: m, rad, N.

use super::lips::{self, Lips};
use super::pads::{self, Pads};
use super::payload::{MOVABLE, Payload, ToolMotion};
use super::tips::Tips;
use crate::EndEffector;
use crate::end_effector::{Reach, Spread};
use crate::pick_and_place::types::{PickAndPlaceGoal, PickAndPlaceSettings};

/// Way to hold an object, the tool looking down.
#[derive(Debug, Clone)]
pub(crate) struct Hold {
    /// Yaw of the tool against the object. [rad]
    pub(crate) turn: f64,
    /// Edge of the object's box along the tool's y. [m]
    pub(crate) width: f64,
    /// Height of the contact above the object's centre. [m]
    pub(crate) raise: f64,
    /// Position of the contact along the tool's x. [m]
    pub(crate) depth: f64,
    /// Position of the contact's middle along the tool's y. [m]
    pub(crate) aside: f64,
    /// Reach of the hand beyond the tool, with some clearance. [m]
    pub(crate) tip: f64,
    pub(crate) contact: Contact,
}

impl Hold {
    /// Strength with which the goal's object is held: the goal's, or what the object needs. [N]
    pub(crate) fn strength(&self, goal: &PickAndPlaceGoal, s: &PickAndPlaceSettings) -> f64 {
        // A grip that only just holds the object could not accelerate it.
        let needed = MOVABLE * self.contact.at_rest(&Payload::of(goal, s));
        goal.grip_force.max(needed).min(goal.max_grip_force)
    }
}

/// Contact by which a hand holds, with its law.
#[derive(Debug, Clone)]
pub(crate) enum Contact {
    /// Pads of two fingers.
    Pads(Pads),
    /// Lips of suction cups.
    Lips(Lips),
    /// Tips of three fingers.
    Tips(Tips),
}

/// Opening of fingers about an object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fit {
    /// Width of the object where it stops the fingers. [m]
    pub(super) width: f64,
    /// Opening for going about the object. [m]
    pub(super) open: f64,
    /// Opening at which the object stops the fingers. [m]
    pub(super) opening: f64,
    pub(super) stop: Stop,
    /// Whether the fingers push out what they lose.
    pub(super) pushes_out: bool,
    /// How three fingers stand to each other.
    pub(super) spread: Option<Spread>,
}

/// What of an object stops the fingers.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stop {
    /// A box that reaches so far from the middle of the pads.
    Pads(Reach),
    /// A side that tips touch, which are nearer to each other than the hand's opening. [m]
    Tips { nearer: f64 },
}

impl Fit {
    /// How much nearer to each other than the opening the fingers' faces are. [m]
    pub(super) fn nearer(&self) -> f64 {
        match self.stop {
            Stop::Pads(_) => 0.0,
            Stop::Tips { nearer } => nearer,
        }
    }

    /// Width of the object that would stop the fingers at a position of the driven joint. [m]
    pub(super) fn width_between(&self, hand: &dyn EndEffector, position: f64) -> f64 {
        match self.stop {
            Stop::Pads(reach) => hand.width_between(position, reach),
            Stop::Tips { nearer } => hand.opening(position) - nearer,
        }
    }
}

impl Contact {
    /// Opening of fingers about the object; `None` of hands without.
    pub(super) fn fit(&self) -> Option<Fit> {
        match self {
            Self::Pads(pads) => Some(pads.fit()),
            Self::Lips(_) => None,
            Self::Tips(tips) => Some(tips.fit),
        }
    }

    /// Strength that holds the payload at rest, its centre of mass off by the tolerance. [N]
    pub(crate) fn at_rest(&self, payload: &Payload) -> f64 {
        match self {
            Self::Pads(pads) => pads.at_rest(payload),
            Self::Lips(lips) => lips.at_rest(payload),
            Self::Tips(tips) => tips.at_rest(payload),
        }
    }

    /// Strength that carries the payload, and can move it. [N]
    pub(crate) fn needed(&self, payload: &Payload) -> f64 {
        match self {
            Self::Pads(pads) => pads.needed(payload),
            Self::Lips(lips) => lips.needed(payload),
            Self::Tips(tips) => tips.needed(payload),
        }
    }

    /// Share of the strength that a motion uses, safety included; above 1 the payload is lost. Infinite where no strength holds. [-]
    pub(crate) fn load(&self, payload: &Payload, strength: f64, motion: &ToolMotion<'_>) -> f64 {
        match self {
            Self::Pads(pads) => pads.load(payload, strength, motion),
            Self::Lips(lips) => lips.load(payload, strength, motion),
            Self::Tips(tips) => tips.load(payload, strength, motion),
        }
    }

    /// Friction at which a strength just bears a load at rest: `μ = load/ΣN`; infinite where friction does not bear it. [-]
    pub(crate) fn friction_at(&self, load: f64, strength: f64) -> f64 {
        match self {
            Self::Pads(pads) => pads.friction_at(load, strength),
            Self::Lips(_) => f64::INFINITY,
            Self::Tips(tips) => tips.friction_at(load, strength),
        }
    }

    /// Least friction of a payload that a strength is seen to hold at rest; 0 where that shows nothing of it. [-]
    pub(crate) fn friction_enough(&self, payload: &Payload, strength: f64) -> f64 {
        match self {
            Self::Pads(pads) => pads.friction_enough(payload, strength),
            Self::Lips(_) => 0.0,
            Self::Tips(tips) => tips.friction_enough(payload, strength),
        }
    }

    /// What a strength is the force of, after a number in newtons.
    pub(crate) fn unit(&self) -> &'static str {
        match self {
            Self::Pads(_) | Self::Tips(_) => pads::UNIT,
            Self::Lips(_) => lips::UNIT,
        }
    }
}
