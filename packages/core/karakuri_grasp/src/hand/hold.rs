//! Ways to hold an object: the place of the tool, and the contact with its law.
//!
//! Units: m, rad, N.

use karakuri_spatial::{Matrix3, Vector3};

use super::lips::{self, Lips};
use super::pads::{self, CLEARANCE, Pads};
use super::payload::{MOVABLE, Payload, ToolMotion};
use super::tips::Tips;
use crate::EndEffector;
use crate::end_effector::{Reach, Spread};
use crate::pick_and_place::types::{PickAndPlaceGoal, PickAndPlaceSettings, Profile};

/// Shares of the clearance with which the hand goes about an object where all of it has no room. [-]
// Less than half is no less than what the arm and the sight of the object may be off together.
const SHARES: [f64; 2] = [0.75, 0.5];
/// Least difference of two openings that are tried. [m]
const LEAST_DIFFERENCE: f64 = 1e-3;

/// Way to hold an object, the tool looking down.
#[derive(Debug, Clone)]
pub(crate) struct Hold {
    /// Yaw of the tool against the object. [rad]
    pub(crate) turn: f64,
    /// Middle of the contact beside the object's vertical axis, in the object's frame. [m] (3)
    pub(crate) middle: Vector3,
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

    /// Openings with which the hand goes about the object, widest first: all of its clearance, three quarters and half of it; 0 of hands without
    /// fingers. [m]
    pub(crate) fn openings(&self) -> Vec<f64> {
        let Some(fit) = self.contact.fit() else { return vec![0.0] };
        let narrower = SHARES.map(|share| fit.opening + 2.0 * share * CLEARANCE);
        let narrower = narrower.into_iter().filter(|open| *open < fit.open - LEAST_DIFFERENCE);
        core::iter::once(fit.open).chain(narrower).collect()
    }

    /// The same hold, about which the hand goes with another opening. [m]
    #[must_use]
    pub(crate) fn opened(mut self, opening: f64) -> Self {
        match &mut self.contact {
            Contact::Pads(pads) => pads.open = opening,
            Contact::Tips(tips) => tips.fit.open = opening,
            Contact::Lips(_) => {}
        }
        self
    }

    /// Opening at which the object stops the fingers; 0 of hands without. [m]
    pub(crate) fn closed(&self) -> f64 {
        self.contact.fit().map_or(0.0, |fit| fit.opening)
    }

    /// Box of the held object along the tool's axes: its middle in the tool, and its edges. [m] (3 each)
    pub(crate) fn held_box(&self, goal: &PickAndPlaceGoal) -> (Vector3, Vector3) {
        let Self { turn, middle, raise, depth, aside, .. } = *self;
        let (sin, cos) = turn.sin_cos();
        let across = [Vector3::new(-sin, cos, 0.0), Vector3::new(cos, sin, 0.0)];
        let [y, z] = across.map(|axis| {
            let (up, down) = (reach(goal, &axis), reach(goal, &-axis));
            (0.5 * (up - down) - axis.dot(&middle), up + down)
        });
        (Vector3::new(depth + raise, aside + y.0, z.0), Vector3::new(goal.size.z, y.1, z.1))
    }
}

/// Reach of an object from the middle of its box along a horizontal direction (3). [m]
fn reach(goal: &PickAndPlaceGoal, axis: &Vector3) -> f64 {
    match &goal.profile {
        Profile::Hull(hull) => hull.reach(axis),
        Profile::Box | Profile::Lying { .. } => {
            0.5 * (axis.x.abs() * goal.size.x + axis.y.abs() * goal.size.y)
        }
        Profile::Standing { .. } | Profile::Ball | Profile::Cone => 0.5 * goal.size.x,
    }
}

/// Axes of a tool that looks down, at a yaw about the vertical: x down. [rad] (3×3)
pub(crate) fn looking_down(yaw: f64) -> Matrix3 {
    let (sin, cos) = yaw.sin_cos();
    let (x, y) = (-Vector3::z(), Vector3::new(-sin, cos, 0.0));
    Matrix3::from_columns(&[x, y, x.cross(&y)])
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
    /// A side that is round about the tool's z or a ball, whose middle is so far below that of the pads. [m]
    Round { raise: f64 },
    /// A side that tips touch, which are nearer to each other than the hand's opening. [m]
    Tips { nearer: f64 },
}

impl Fit {
    /// How much nearer to each other than the opening the fingers' faces are. [m]
    pub(super) fn nearer(&self) -> f64 {
        match self.stop {
            Stop::Pads(_) | Stop::Round { .. } => 0.0,
            Stop::Tips { nearer } => nearer,
        }
    }

    /// Width of the object that would stop the fingers at a position of the driven joint. [m]
    pub(super) fn width_between(&self, hand: &dyn EndEffector, position: f64) -> f64 {
        self.stop.width_between(hand, position)
    }
}

impl Stop {
    /// Width of the object that would stop the fingers at a position of the driven joint. [m]
    pub(super) fn width_between(self, hand: &dyn EndEffector, position: f64) -> f64 {
        let opening = hand.opening(position);
        match self {
            Self::Pads(reach) => hand.width_between(position, reach),
            Self::Round { raise } => {
                let (sin, cos) = hand.lean(position).sin_cos();
                opening * cos + 2.0 * raise * sin
            }
            Self::Tips { nearer } => opening - nearer,
        }
    }

    /// Opening at which an object of this width stops the fingers: the inverse of [`width_between`](Self::width_between). [m]
    pub(super) fn opening_about(self, hand: &dyn EndEffector, width: f64) -> f64 {
        match self {
            Self::Pads(reach) => hand.opening_about(width, reach),
            Self::Round { raise } => {
                // Half of the opening is about `r/cos γ − h tan γ`, and γ changes by less than the opening over the length of a finger.
                let mut opening = width;
                for _ in 0..ROUNDS {
                    let (sin, cos) = hand.lean(hand.position(opening)).sin_cos();
                    opening = (width - 2.0 * raise * sin) / cos;
                }
                opening
            }
            Self::Tips { nearer } => width + nearer,
        }
    }
}

/// Rounds of the iteration for the opening about what is round: each leaves at most half of the error.
const ROUNDS: usize = 40;

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
