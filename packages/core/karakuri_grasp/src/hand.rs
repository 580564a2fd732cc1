//! Hands of any kind: how they can hold an object, the control of their grip, and what they say of it.
//!
//! A hand has a *strength*, the force [N] by which it holds: of each finger, or of the vacuum over the area of all cups. It holds by a
//! [`Contact`], whose law tells the strength that an object needs at rest and the share of it that a motion uses.
//! [`pick_and_place`](crate::pick_and_place) owns one hand, and knows nothing else of it.
//!
//! Units: m, rad, N, kg, s.

mod lips;
mod opening;
mod pads;
mod suction;
mod vacuum_command;

use lips::Lips;
pub use opening::OpeningHand;
use pads::Pads;
pub(crate) use suction::SuctionHand;
pub(crate) use vacuum_command::VacuumCommandRun;

use core::fmt::Debug;

use karakuri_dynamics::Data;
use karakuri_model::{FrameId, Model};
use karakuri_spatial::{Motion, Pose};

use crate::end_effector::EndEffectorError;
use crate::grip_force::{GripSettings, HandReference};
use crate::grip_monitor::GripTrend;
use crate::pick_and_place::{
    Failure, Measurement, PickAndPlaceGoal, PickAndPlaceSettings, PlanError,
};

/// A hand of any kind.
pub(crate) trait Hand: Debug + Send {
    /// Name of its kind in a robot YAML.
    fn kind(&self) -> &'static str;

    /// The hand as one with fingers and an opening, if it is one.
    fn opening(&self) -> Option<&OpeningHand> {
        None
    }

    /// As [`opening`](Self::opening), to change it.
    fn opening_mut(&mut self) -> Option<&mut OpeningHand> {
        None
    }

    /// Name of what is commanded: its driven joint, or its vacuum generator.
    fn drive(&self) -> &str;

    /// Suction cups of its vacuums, by their names, in the order of a measurement's.
    fn cups(&self) -> &[String] {
        &[]
    }

    /// The hand as one of suction cups, to command it, if it is one.
    fn suction_mut(&mut self) -> Option<&mut SuctionHand> {
        None
    }

    /// Tool frame of the hand.
    fn tool_frame(&self) -> FrameId;

    /// Sensors of its wrenches, as indices into the model's, in the order of a measurement's.
    fn sensors(&self) -> &[usize];

    /// What the hand needs to pick and place and the robot does not have; `None` if it has all.
    fn lacks(&self) -> Option<&'static str>;

    /// Greatest strength. [N]
    fn force_max(&self) -> f64;

    /// Strength where a goal names none and the setting is `setting`. [N]
    fn usual_strength(&self, setting: f64) -> f64 {
        setting
    }

    /// Refuses what it cannot hold by any of its ways.
    fn check(&self, goal: &PickAndPlaceGoal, s: &PickAndPlaceSettings) -> Result<(), PlanError>;

    /// Ways to hold the goal's object, the tool looking down.
    fn holds(
        &self,
        goal: &PickAndPlaceGoal,
        settings: &PickAndPlaceSettings,
    ) -> Result<Vec<Hold>, PlanError>;

    /// Takes a sample: reads what is felt, and gives the drive's reference for the period's end.
    fn update(&mut self, sample: &Sample<'_>) -> HandReference;

    /// Forgets what was measured and commanded (the clock jumped, the robot was away).
    fn reset(&mut self);

    /// Keeps the drive where it is.
    fn stay(&mut self);

    /// Makes ready to go about an object that it will hold so, or lets go of it.
    fn open(&mut self, hold: &Hold);

    /// Begins to take what it was made ready for; what is felt now is nothing.
    fn engage(&mut self, strength: f64, tolerance: f64);

    /// Goes on holding with another strength.
    fn hold(&mut self, strength: f64, tolerance: f64);

    /// What it feels.
    fn reading(&self) -> Reading;

    /// What it tells of itself, one value a channel.
    fn channels(&self) -> &[Channel];

    /// The grip since the last call, `elapsed` ago [s]. `carries` is whether a pick and place carries an object.
    fn trend(&mut self, carries: bool, elapsed: f64) -> GripTrend;

    /// How far it has come with taking an object whose width may be off by `tolerance`. [m]
    fn engagement(&self, tolerance: f64) -> Engagement;

    /// Contact that it has.
    fn touch(&self) -> Touch;

    /// Longest time in which it takes an object. [s]
    fn engaging_time(&self) -> f64;

    /// Whether it holds with the desired strength.
    fn is_firm(&self, strength: f64) -> bool;

    /// What is missing of a grip of this strength.
    fn loss(&self, strength: f64, tolerance: f64) -> Loss;

    /// Failure that a lost grip is.
    fn lost(&self) -> Failure;

    /// Whether it has let go.
    fn is_free(&self) -> bool;

    /// Share of the strength with which it holds while it is tried whether the object slips; `None` where that shows nothing. [-]
    fn probe(&self) -> Option<f64> {
        None
    }

    /// Motion that brings the tool to the middle of an object that it touches on one side alone.
    fn centring(&self) -> Option<Centring> {
        None
    }

    /// Part of it that feels what it meets, in words.
    fn part(&self) -> &'static str;

    /// What it feels, in words.
    fn describe(&self) -> String;

    /// What it feels of a grip that was lost, in words that end with its strength.
    fn describe_lost(&self) -> String;

    /// What keeps it from being free, in words.
    fn describe_stuck(&self) -> String;

    /// What did not come where a stage took too long, in words.
    fn late(&self) -> &'static str;
}

/// Makes the hand that a model's `end_effector` describes.
///
/// # Errors
/// When the model has no `end_effector`, its kind is not registered, or its parameters, joints or sensors do not fit the kind.
pub(crate) fn from_model(
    model: &Model,
    settings: GripSettings,
) -> Result<Box<dyn Hand>, EndEffectorError> {
    match &model.end_effector {
        Some(config) if config.kind == suction::KIND => {
            Ok(Box::new(SuctionHand::new(model, config)?))
        }
        _ => Ok(Box::new(OpeningHand::new(model, settings)?)),
    }
}

/// A sample of the robot for its hand.
pub(crate) struct Sample<'a> {
    pub(crate) model: &'a Model,
    /// Kinematics of the sample, with its velocities.
    pub(crate) data: &'a Data,
    pub(crate) measured: &'a Measurement<'a>,
    /// Time since the last sample. [s]
    pub(crate) dt: f64,
    /// Whether it is the first one of all.
    pub(crate) is_first: bool,
}

/// A quantity that a hand tells of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Channel {
    /// Name, such as `opening`, `left` or that of a cup.
    pub name: String,
    /// Unit of the value.
    pub unit: &'static str,
    /// Value at the last sample.
    pub value: f64,
}

impl Channel {
    pub(crate) fn new(name: &str, unit: &'static str) -> Self {
        Self { name: name.to_owned(), unit, value: 0.0 }
    }
}

/// What a hand feels.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Reading {
    /// Opening of fingers; 0 for hands without. [m]
    pub(crate) opening: f64,
    /// Normal forces of fingers; 0 for hands without. [N] (2)
    pub(crate) forces: [f64; 2],
    /// Strength with which it holds. [N]
    pub(crate) strength: f64,
    /// Force that pulls it down. [N]
    pub(crate) load: f64,
    /// Largest force on a part of it that may meet something, in any direction. [N]
    pub(crate) touch: f64,
}

/// How far a hand has come with taking an object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Engagement {
    /// It is under way.
    Engaging,
    /// The object is held.
    Held,
    /// It cannot be taken, for a cause.
    Failed(Failure, String),
}

/// Contact of a hand with an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Touch {
    /// None.
    Nothing,
    /// One finger alone.
    OneSide,
    /// All of the hand.
    Whole,
}

/// What is missing of a grip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Loss {
    /// It holds with less than half of its strength.
    pub(crate) weak: bool,
    /// More strength would not hold it: it is not where it was taken.
    pub(crate) gone: bool,
    /// It is not in the hand any more.
    pub(crate) left: bool,
}

/// Motion sideways to the finger that touches alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Centring {
    /// Side of the tool's y on which that finger is: 1 or −1. [-]
    pub(crate) side: f64,
    /// Speed of the tool. [m/s]
    pub(crate) speed: f64,
}

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

/// Ratio of the weight that a grip must carry to the object's own, so that the object can be accelerated. [-]
pub(crate) const MOVABLE: f64 = 1.1;
/// Largest distance of the centre of mass from the middle of the object's box. [m]
pub(crate) const COM_TOLERANCE: f64 = 0.002;

/// What is held, where it is held, and how safely.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Payload {
    /// Mass of the object. [kg]
    pub(crate) mass: f64,
    /// Coefficient of friction of hand and object. [-]
    pub(crate) friction: f64,
    /// Safety factor s, at least 1. [-]
    pub(crate) safety: f64,
    /// Gravitational acceleration. [m/s²]
    pub(crate) gravity: f64,
}

impl Payload {
    pub(crate) fn of(goal: &PickAndPlaceGoal, settings: &PickAndPlaceSettings) -> Self {
        Self {
            mass: goal.mass,
            friction: goal.friction,
            safety: settings.slip_safety,
            gravity: settings.gravity,
        }
    }
}

/// Motion of the tool at an instant, in world axes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolMotion<'a> {
    /// Pose of the tool.
    pub(crate) X_WT: &'a Pose,
    /// Velocity of the tool. [rad/s; m/s]
    pub(crate) V: &'a Motion,
    /// Classical acceleration of the tool. [rad/s²; m/s²]
    pub(crate) A: &'a Motion,
}

/// Contact by which a hand holds, with its law.
#[derive(Debug, Clone)]
pub(crate) enum Contact {
    /// Pads of two fingers.
    Pads(Pads),
    /// Lips of suction cups.
    Lips(Lips),
}

impl Contact {
    /// Strength that holds the payload at rest, its centre of mass off by the tolerance. [N]
    pub(crate) fn at_rest(&self, payload: &Payload) -> f64 {
        match self {
            Self::Pads(pads) => pads.at_rest(payload),
            Self::Lips(lips) => lips.at_rest(payload),
        }
    }

    /// Strength that carries the payload, and can move it. [N]
    pub(crate) fn needed(&self, payload: &Payload) -> f64 {
        match self {
            Self::Pads(pads) => pads.needed(payload),
            Self::Lips(lips) => lips.needed(payload),
        }
    }

    /// Share of the strength that a motion uses, safety included; above 1 the payload is lost. Infinite where no strength holds. [-]
    pub(crate) fn load(&self, payload: &Payload, strength: f64, motion: &ToolMotion<'_>) -> f64 {
        match self {
            Self::Pads(pads) => pads.load(payload, strength, motion),
            Self::Lips(lips) => lips.load(payload, strength, motion),
        }
    }

    /// Strength by which the planner counts a motion of the goal. [N]
    pub(crate) fn counted(
        &self,
        hold: &Hold,
        goal: &PickAndPlaceGoal,
        s: &PickAndPlaceSettings,
    ) -> f64 {
        match self {
            // Leaning fingers bear so little more than the weight that the force of the goal alone could slow a move without end.
            Self::Pads(pads) if pads.lean.abs() > 0.0 => hold.strength(goal, s),
            Self::Pads(_) => goal.grip_force,
            Self::Lips(_) => hold.strength(goal, s),
        }
    }

    /// Friction at which a strength just bears a load at rest: `μ = load/ΣN`; infinite where friction does not bear it. [-]
    pub(crate) fn friction_at(&self, load: f64, strength: f64) -> f64 {
        match self {
            Self::Pads(pads) => pads.friction_at(load, strength),
            Self::Lips(_) => f64::INFINITY,
        }
    }

    /// Least friction of a payload that a strength is seen to hold at rest; 0 where that shows nothing of it. [-]
    pub(crate) fn friction_enough(&self, payload: &Payload, strength: f64) -> f64 {
        match self {
            Self::Pads(pads) => pads.friction_enough(payload, strength),
            Self::Lips(_) => 0.0,
        }
    }

    /// What a strength is the force of, after a number in newtons.
    pub(crate) fn unit(&self) -> &'static str {
        match self {
            Self::Pads(_) => pads::UNIT,
            Self::Lips(_) => suction::UNIT,
        }
    }
}

/// Refusal of a payload that needs more strength than is allowed, or than there is: `limits` are both. [N] (2)
pub(crate) fn too_heavy(
    payload: &Payload,
    needed: f64,
    [given, highest]: [f64; 2],
    unit: &'static str,
) -> PlanError {
    let Payload { mass, friction, safety, .. } = *payload;
    PlanError::TooHeavy { mass, friction, safety, needed, given, highest, unit }
}
