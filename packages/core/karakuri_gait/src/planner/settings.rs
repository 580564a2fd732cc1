//! Settings of a gait, checked once.

mod range;
mod stabilizer;

use karakuri_dynamics::EARTH_GRAVITY;
use serde::{Deserialize, Serialize};

pub use self::range::SettingError;
use self::range::ranged;
pub(super) use self::range::within;
pub use self::stabilizer::{LandingSettings, Reach, ReactionSettings, StabilizerSettings};
use super::dcm;
use super::footstep::{SlipTurn, StepLimits};

/// Generator of the centre of mass from the ZMP ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GeneratorKind {
    /// Preview control of the cart-table.
    #[default]
    Preview,
    /// The divergent component of motion, planned backwards.
    Dcm,
}

/// Parts of the legs' angular momentum that waist and arms take up, about the axes of the walker. [-]
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UpperBodySettings {
    /// Part about the forward axis. [-]
    pub roll: f64,
    /// Part about the axis to the left. [-]
    pub pitch: f64,
    /// Part about the upward axis. [-]
    pub yaw: f64,
}

impl Default for UpperBodySettings {
    fn default() -> Self {
        Self { roll: 0.0, pitch: 0.0, yaw: 1.0 }
    }
}

/// A gait of a robot, as written in a file. [SI]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WalkSettings {
    /// Links of the feet, left and right: X forward, Z up when standing. The sole is straight below the link's origin. (2)
    pub feet: [String; 2],
    /// Posture from which the legs start and about which waist and arms swing; knees bent a little.
    pub posture: String,
    /// Height of the centre of mass above the floor. [m]
    pub com_height: f64,
    /// Gravitational acceleration, downwards; by default the earth's. [m/s²]
    #[serde(default = "gravity")]
    pub gravity: f64,
    /// Forward lean of the root link. [rad]
    #[serde(default)]
    pub lean: f64,
    /// Distance of the soles' origins across. [m]
    pub feet_apart: f64,
    /// Rest position of the ZMP in the left sole, mirrored for the right one: forward, outward. [m] (2)
    #[serde(default)]
    pub zmp_in_sole: [f64; 2],
    /// Roll and pitch of the floor at the start; it falls ahead where the pitch is positive. [rad] (2)
    #[serde(default)]
    pub slope: [f64; 2],
    /// Duration of a step, double support included. [s]
    pub step_time: f64,
    /// Duration of its double support. [s]
    pub double_support: f64,
    /// Time from standing to the first step. [s]
    pub start_time: f64,
    /// Time from the last step to standing. [s]
    pub stop_time: f64,
    /// Height to which a foot is lifted. [m]
    pub step_height: f64,
    /// Limits of a footstep; longer steps are clipped.
    pub limits: StepLimits,
    /// Turning of legs without a yaw joint; without it they do not turn.
    #[serde(default)]
    pub slip_turn: Option<SlipTurn>,
    /// Generator of the centre of mass.
    #[serde(default)]
    pub generator: GeneratorKind,
    /// Time between two planned samples. [s]
    #[serde(default = "period")]
    pub period: f64,
    /// Preview horizon. [s]
    pub preview_time: f64,
    /// Weight of the squared jerk against the squared error of the ZMP, both SI. [-]
    #[serde(default = "jerk_weight")]
    pub jerk_weight: f64,
    /// Number of corrections of the whole robot's ZMP: 0 none, 1 the second pass. [-]
    #[serde(default = "passes")]
    pub passes: usize,
    /// Compensation of the legs' angular momentum by waist and arms.
    #[serde(default)]
    pub upper_body: UpperBodySettings,
    /// Feedback of measured deviations.
    #[serde(default)]
    pub stabilizer: StabilizerSettings,
}

fn gravity() -> f64 {
    EARTH_GRAVITY
}

fn period() -> f64 {
    // An eighth of the double support of khr1; between two samples the joints follow cubics.
    0.01
}

fn jerk_weight() -> f64 {
    // As in [Kajita 2003]: more smooths the ZMP away from its path, less asks for larger jerks.
    1e-6
}

fn passes() -> usize {
    1
}

impl WalkSettings {
    /// Checks all numbers.
    ///
    /// # Errors
    /// When a number is not finite or outside its range; the first such setting.
    pub fn check(&self) -> Result<(), SettingError> {
        ranged("com_height", self.com_height, 1e-3, 10.0, "m")?;
        ranged("gravity", self.gravity, 1e-2, 100.0, "m/s²")?;
        ranged("lean", self.lean, -1.0, 1.0, "rad")?;
        for tilt in self.slope {
            ranged("slope", tilt, -0.5, 0.5, "rad")?;
        }
        ranged("feet_apart", self.feet_apart, 1e-3, 10.0, "m")?;
        for (name, shift) in ["zmp_in_sole[0]", "zmp_in_sole[1]"].into_iter().zip(self.zmp_in_sole)
        {
            ranged(name, shift, -10.0, 10.0, "m")?;
        }
        ranged("period", self.period, 1e-3, 0.05, "s")?;
        ranged("step_time", self.step_time, 0.02, 10.0, "s")?;
        ranged("start_time", self.start_time, 0.02, 10.0, "s")?;
        ranged("stop_time", self.stop_time, 0.02, 10.0, "s")?;
        ranged("preview_time", self.preview_time, 0.02, 10.0, "s")?;
        ranged("step_height", self.step_height, 0.0, 1.0, "m")?;
        let UpperBodySettings { roll, pitch, yaw } = self.upper_body;
        ranged("upper_body.roll", roll, 0.0, 1.0, "")?;
        ranged("upper_body.pitch", pitch, 0.0, 1.0, "")?;
        ranged("upper_body.yaw", yaw, 0.0, 1.0, "")?;
        ranged("jerk_weight", self.jerk_weight, 1e-14, 1.0, "")?;
        ranged("passes", self.passes as f64, 0.0, 10.0, "")?;
        // Of both phases at least a sample is left, and of the swing two, between which it moves.
        let (least, most) = (self.period, self.step_time - 2.0 * self.period);
        let part = format!("from {least} to {most:.4} s, one period to the step time less two");
        within("double_support", self.double_support, least..=most, part)?;
        if let Some(slip) = &self.slip_turn {
            ranged("slip_turn.slide", slip.slide, 1e-4, 1.0, "m")?;
            ranged("slip_turn.time", slip.time, 0.02, 10.0, "s")?;
            ranged("slip_turn.rate", slip.rate, 1e-3, 10.0, "rad/s")?;
        }
        self.check_limits()?;
        self.stabilizer.check()
    }

    fn check_limits(&self) -> Result<(), SettingError> {
        let l = &self.limits;
        ranged("limits.forward", l.forward, 1e-3, 10.0, "m")?;
        ranged("limits.backward", l.backward, 0.0, 10.0, "m")?;
        ranged("limits.turn", l.turn, 0.0, 1.6, "rad")?;
        ranged("limits.height", l.height, 0.0, 1.0, "m")?;
        let apart = self.feet_apart;
        let least = format!("from 0.001 to {apart} m, which is `feet_apart`");
        within("limits.width[0]", l.width[0], 1e-3..=apart, least)?;
        let most = format!("from {apart}, which is `feet_apart`, to 10 m");
        within("limits.width[1]", l.width[1], apart..=10.0, most)
    }

    /// `ω = √(g/z_c)` of the pendulum that the walker is. [1/s]
    pub(super) fn natural_frequency(&self) -> f64 {
        dcm::natural_frequency(self.com_height, self.gravity)
    }

    /// Largest number of footsteps that a plan looks at. Every pass looks ahead, and the end of what is seen must not be felt.
    pub(super) fn steps_ahead(&self) -> usize {
        let seen = self.samples(self.preview_time) * (1 + self.passes);
        // Each pass looks ahead of the one after it; one step under way and one begun come on top.
        2 + seen / self.samples(self.step_time)
    }

    /// Number of samples in a time [s].
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "times are checked: positive and short"
    )]
    pub(super) fn samples(&self, time: f64) -> usize {
        // At least one: a phase of no samples has no ends to interpolate between.
        ((time / self.period).round() as usize).max(1)
    }
}
