//! What a gamepad moves: data only, carried out by the studio.

use serde::{Deserialize, Serialize};

/// An input of a gamepad and what it does as long as it is held: one of `axis` and `button`, and one of `joint`, `link`, `pose` and
/// `action`. Inputs have the numbers of the standard mapping of browsers (W3C Gamepad).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(default, deny_unknown_fields)]
pub struct GamepadBinding {
    /// Number of an axis.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub axis: Option<u32>,
    /// Number of a button.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub button: Option<u32>,
    /// Joint that moves at `speed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub joint: Option<String>,
    /// Link that moves along `direction` at `speed`, by inverse kinematics.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub link: Option<String>,
    /// Pose that all joints go to, each second `speed` of the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub pose: Option<String>,
    /// What a press does: `stop`, `play` or `preview`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub action: Option<Action>,
    /// Direction of a link, in world axes. [-] (3)
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub direction: Option<[f64; 3]>,
    /// Speed where the input is pressed down; negative: the other way. [the document's angle/s, m/s or 1/s]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub speed: Option<f64>,
    /// Part of an axis about its middle that counts as none. [-]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub dead_zone: Option<f64>,
}

/// What a button does once, when it is pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Stops the robot and the simulation.
    Stop,
    /// Plays the motion that is shown, or pauses it.
    Play,
    /// Previews the motion that is shown.
    Preview,
}

impl GamepadBinding {
    /// Number of the inputs that it names; 1 in a document that is right.
    pub(crate) fn inputs(&self) -> usize {
        usize::from(self.axis.is_some()) + usize::from(self.button.is_some())
    }

    /// Number of the things that it moves or does; 1 in a document that is right.
    pub(crate) fn outputs(&self) -> usize {
        [self.joint.is_some(), self.link.is_some(), self.pose.is_some(), self.action.is_some()]
            .into_iter()
            .filter(|is_there| *is_there)
            .count()
    }
}
