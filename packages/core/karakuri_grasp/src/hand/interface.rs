//! The interface of a hand, and what it speaks of.
//!
//! Units: m, N, s.

use core::fmt::Debug;

use dyn_clone::DynClone;
use karakuri_dynamics::Data;
use karakuri_model::{BodyId, FrameId, Model};

use super::hold::Hold;
use super::opening::OpeningHand;
use super::suction::SuctionHand;
use crate::grip_force::HandReference;
use crate::grip_monitor::GripTrend;
use crate::pick_and_place::PlanError;
use crate::pick_and_place::types::{
    Failure, Grasp, Measurement, PickAndPlaceGoal, PickAndPlaceSettings,
};

/// A hand of any kind.
pub(crate) trait Hand: Debug + DynClone + Send {
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

    /// Names of what is commanded: its driven joints, or its vacuum generator.
    fn drives(&self) -> &[String];

    /// Its suction cups, in the order of a measurement's vacuums.
    fn cups(&self) -> &[Channel] {
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

    /// Way to hold the goal's object by a grasp that the goal brings, or what is wrong with it.
    fn grasp(
        &self,
        goal: &PickAndPlaceGoal,
        settings: &PickAndPlaceSettings,
        grasp: &Grasp,
    ) -> Result<Hold, PlanError>;

    /// Positions of its drives where it is open by `opening` [m] about an object that it holds so; none of hands without fingers. [rad or m]
    fn joints_at(&self, _hold: &Hold, _opening: f64) -> Vec<(BodyId, f64)> {
        Vec::new()
    }

    /// Takes a sample: reads what is felt, and finds the drives' references for the period's end.
    fn update(&mut self, sample: &Sample<'_>);

    /// References of the drives, in their order.
    fn references(&self) -> &[HandReference];

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

    /// Whether all of its fingers press with their shares.
    fn is_level(&self) -> bool {
        true
    }

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

    /// Motion that brings the tool to the middle of an object that it touches on one side alone, at the forward kinematics in `data`.
    fn centring(&self, _model: &Model, _data: &Data) -> Option<Centring> {
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

dyn_clone::clone_trait_object!(Hand);

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
    /// Value at the last sample. [`unit`]
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
