//! How a robot walks: numbers of its gait, checked once.

use serde::{Deserialize, Serialize};

use super::{SlipTurn, StepLimits, UpperBodySettings};

/// How the motion of the centre of mass follows from the ZMP ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GeneratorKind {
    /// Preview control of the cart-table.
    #[default]
    Preview,
    /// The divergent component of motion, planned backwards.
    Dcm,
}

/// A gait of a robot, as written in a file. [SI]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WalkSettings {
    /// Links of the feet, left and right: X forward, Z up when standing. The sole is straight below the link's origin. (2)
    pub feet: [String; 2],
    /// Posture from which the legs start and about which waist and arms swing; knees bent a little.
    pub posture: String,
    /// Centre of mass above the floor. [m]
    pub com_height: f64,
    /// Forward lean of the root link. [rad]
    #[serde(default)]
    pub lean: f64,
    /// Distance of the soles' origins across. [m]
    pub feet_apart: f64,
    /// Where the ZMP rests in the left sole, mirrored for the right: forward, outward. [m] (2)
    #[serde(default)]
    pub zmp_in_sole: [f64; 2],
    /// Roll and pitch of the floor that it starts on; it falls ahead where the pitch is positive. [rad] (2)
    #[serde(default)]
    pub slope: [f64; 2],
    /// A whole step, double support with it. [s]
    pub step_time: f64,
    /// Of which on both feet. [s]
    pub double_support: f64,
    /// From standing to the first step. [s]
    pub start_time: f64,
    /// From the last step to standing. [s]
    pub stop_time: f64,
    /// How high a foot is lifted. [m]
    pub step_height: f64,
    /// What is too far.
    pub limits: StepLimits,
    /// How legs without a yaw joint turn; they do not without it.
    #[serde(default)]
    pub slip_turn: Option<SlipTurn>,
    /// How the centre of mass is found.
    #[serde(default)]
    pub generator: GeneratorKind,
    /// Time between two planned samples. [s]
    #[serde(default = "period")]
    pub period: f64,
    /// Time looked ahead. [s]
    pub preview_time: f64,
    /// Weight of the squared jerk against the squared error of the ZMP, both SI. [-]
    #[serde(default = "jerk_weight")]
    pub jerk_weight: f64,
    /// Rounds in which the whole robot's ZMP is brought to its reference: 0 none, 1 the second pass. [-]
    #[serde(default = "passes")]
    pub passes: usize,
    /// What waist and arms do.
    #[serde(default)]
    pub upper_body: UpperBodySettings,
    /// How measured deviations are answered.
    #[serde(default)]
    pub stabilizer: super::StabilizerSettings,
}

fn period() -> f64 {
    0.01
}

fn jerk_weight() -> f64 {
    1e-6
}

fn passes() -> usize {
    1
}

/// A number of the gait that makes no sense.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("`{name}` is {value}; it must be {range}")]
pub struct SettingError {
    /// Which.
    pub name: &'static str,
    /// What it is. [SI]
    pub value: f64,
    /// What it may be.
    pub range: &'static str,
}

impl WalkSettings {
    /// Names the first number that makes no sense.
    pub fn check(&self) -> Result<(), SettingError> {
        let positive = "above 0";
        let times = "from 0.02 to 10 s";
        let within = |name, value: f64, low: f64, high: f64, range| {
            if (low..=high).contains(&value) {
                Ok(())
            } else {
                Err(SettingError { name, value, range })
            }
        };
        within("com_height", self.com_height, 1e-3, 10.0, positive)?;
        within("lean", self.lean, -1.0, 1.0, "from -1 to 1 rad")?;
        for tilt in self.slope {
            within("slope", tilt, -0.5, 0.5, "from -0.5 to 0.5 rad")?;
        }
        within("feet_apart", self.feet_apart, 1e-3, 10.0, positive)?;
        within("period", self.period, 1e-3, 0.05, "from 0.001 to 0.05 s")?;
        within("step_time", self.step_time, 0.02, 10.0, times)?;
        within("start_time", self.start_time, 0.02, 10.0, times)?;
        within("stop_time", self.stop_time, 0.02, 10.0, times)?;
        within("preview_time", self.preview_time, 0.02, 10.0, times)?;
        within("step_height", self.step_height, 0.0, 1.0, "from 0 to 1 m")?;
        let UpperBodySettings { roll, pitch, yaw } = self.upper_body;
        for (name, part) in [("roll", roll), ("pitch", pitch), ("yaw", yaw)] {
            within(name, part, 0.0, 1.0, "a part, from 0 to 1")?;
        }
        within("jerk_weight", self.jerk_weight, 1e-14, 1.0, "from 1e-14 to 1")?;
        let (least, most) = (self.period, self.step_time - 2.0 * self.period);
        within("double_support", self.double_support, least, most, "a part of the step time")?;
        if let Some(slip) = &self.slip_turn {
            within("slip_turn.slide", slip.slide, 1e-4, 1.0, "from 0.0001 to 1 m")?;
            within("slip_turn.time", slip.time, 0.02, 10.0, times)?;
            within("slip_turn.rate", slip.rate, 1e-3, 10.0, "from 0.001 to 10 rad/s")?;
        }
        let l = &self.limits;
        within("limits.forward", l.forward, 1e-3, 10.0, positive)?;
        within("limits.backward", l.backward, 0.0, 10.0, "at least 0")?;
        within("limits.turn", l.turn, 0.0, 1.6, "from 0 to 1.6 rad")?;
        within("limits.height", l.height, 0.0, 1.0, "from 0 to 1 m")?;
        within("limits.width", l.width[0], 1e-3, self.feet_apart, "at most `feet_apart`")?;
        within("limits.width", l.width[1], self.feet_apart, 10.0, "at least `feet_apart`")
    }

    /// Samples in a time.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "times are checked: positive and short"
    )]
    pub(super) fn samples(&self, time: f64) -> usize {
        ((time / self.period).round() as usize).max(1)
    }
}
