//! Arguments of the verbs, a type each. Lengths are in metres and in the world, angles in radians about the vertical.

use serde::Serialize;
use serde_json::Value;

use super::read::Reader;
use super::{Verb, form};
use crate::canonical::canonical;
use crate::refusal::Refusal;

/// Arguments of a verb.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Arguments {
    /// Of `look`.
    Look(Look),
    /// Of `status`.
    Status(Status),
    /// Of `log`.
    Log(Log),
    /// Of `move`.
    Move(Move),
    /// Of `set_gripper`.
    SetGripper(SetGripper),
    /// Of `pick`.
    Pick(Pick),
    /// Of `place`.
    Place(Place),
    /// Of `home`.
    Home(Home),
    /// Of `walk_to`.
    WalkTo(WalkTo),
    /// Of `change_tool`.
    ChangeTool(ChangeTool),
    /// Of `act`.
    Act(Act),
    /// Of `stop`.
    Stop(Stop),
}

/// Arguments of `look`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Look {
    /// Names of the objects to describe; all without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objects: Option<Vec<String>>,
}

/// Arguments of `status`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Status {}

/// Arguments of `log`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Log {
    /// Number of the first line; the newest lines without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
}

/// Arguments of `move`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Move {
    /// Position of the tool's centre. [m]
    pub x_m: f64,
    /// Position of the tool's centre. [m]
    pub y_m: f64,
    /// Height of the tool's centre.
    #[serde(flatten)]
    pub height: Height,
    /// Angle of the tool; the present one without it. [rad]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub yaw_rad: Option<f64>,
    /// Part of the envelope's tool speed; all of it without it. [-]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed_scale: Option<f64>,
}

/// Height of a move.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Height {
    /// Above the world's origin.
    At {
        /// Height. [m]
        z_m: f64,
    },
    /// One of the two heights of the cell.
    Of {
        /// Whether above all objects, or low enough to take one.
        high: bool,
    },
}

/// Arguments of `set_gripper`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SetGripper {
    /// Desired state of the hand.
    #[serde(flatten)]
    pub grip: Grip,
    /// Force of a finger, or of the vacuum over all cups; the hand's default without it. [N]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub force_n: Option<f64>,
}

/// Desired state of a hand.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Grip {
    /// At an end of its way.
    Opened {
        /// Whether open, or closed.
        opened: bool,
    },
    /// At a width.
    Width {
        /// Distance between the pads. [m]
        width_m: f64,
    },
    /// At a vacuum.
    Vacuum {
        /// Pressure below the atmosphere's. [kPa]
        vacuum_kpa: f64,
    },
}

/// Arguments of `pick`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pick {
    /// Object that is meant.
    #[serde(flatten)]
    pub target: Target,
    /// Force of a finger, or of the vacuum over all cups; the hand's default without it. [N]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub force_n: Option<f64>,
    /// Name of the grasp, of those that `look` lists; the best without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grasp: Option<String>,
}

/// Object to take.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Target {
    /// By its name.
    Object {
        /// Name.
        object: String,
    },
    /// By a point above it.
    At {
        /// Position. [m]
        x_m: f64,
        /// Position. [m]
        y_m: f64,
    },
}

/// Arguments of `place`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Place {
    /// Where the held object goes.
    #[serde(flatten)]
    pub destination: Destination,
}

/// Where the held object goes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Destination {
    /// With its centre at a point.
    At {
        /// Position. [m]
        x_m: f64,
        /// Position. [m]
        y_m: f64,
        /// Height of the centre; on what is below without it. [m]
        #[serde(skip_serializing_if = "Option::is_none")]
        z_m: Option<f64>,
    },
    /// On another object, in its middle.
    On {
        /// Name of that object.
        on: String,
    },
}

/// Arguments of `home`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Home {}

/// Arguments of `walk_to`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WalkTo {
    /// Position of the robot. [m]
    pub x_m: f64,
    /// Position of the robot. [m]
    pub y_m: f64,
    /// Heading at the end; that of the walk without it. [rad]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub yaw_rad: Option<f64>,
}

/// Arguments of `change_tool`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChangeTool {
    /// Name of the tool.
    pub tool: String,
}

/// Arguments of `act`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Act {
    /// Ticket of a rehearsal.
    pub ticket: String,
    /// Name of this request: a repetition gets the first answer.
    pub request_id: String,
}

/// Arguments of `stop`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Stop {
    /// Cause, for the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Arguments {
    /// Arguments of a verb from a JSON object.
    ///
    /// # Errors
    /// `BAD_ARGUMENT` for anything that the verb's schema does not describe, and for what no robot does.
    pub fn read(verb: Verb, value: &Value) -> Result<Self, Refusal> {
        let r = &Reader::new(form::of(verb), value)?;
        Ok(match verb {
            Verb::Look => Self::Look(Look { objects: r.names("objects") }),
            Verb::Status => Self::Status(Status {}),
            Verb::Log => Self::Log(Log { since: r.whole("since") }),
            Verb::Move => Self::Move(Move::of(r)?),
            Verb::SetGripper => Self::SetGripper(SetGripper::of(r)?),
            Verb::Pick => Self::Pick(Pick::of(r)?),
            Verb::Place => Self::Place(Place::of(r)?),
            Verb::Home => Self::Home(Home {}),
            Verb::WalkTo => Self::WalkTo(WalkTo::of(r)?),
            Verb::ChangeTool => Self::ChangeTool(ChangeTool { tool: r.needed_text("tool")? }),
            Verb::Act => {
                let (ticket, request_id) = (r.needed_text("ticket")?, r.needed_text("request_id")?);
                Self::Act(Act { ticket, request_id })
            }
            Verb::Stop => Self::Stop(Stop { reason: r.text("reason") }),
        })
    }

    /// Verb that takes them.
    pub const fn verb(&self) -> Verb {
        match self {
            Self::Look(_) => Verb::Look,
            Self::Status(_) => Verb::Status,
            Self::Log(_) => Verb::Log,
            Self::Move(_) => Verb::Move,
            Self::SetGripper(_) => Verb::SetGripper,
            Self::Pick(_) => Verb::Pick,
            Self::Place(_) => Verb::Place,
            Self::Home(_) => Verb::Home,
            Self::WalkTo(_) => Verb::WalkTo,
            Self::ChangeTool(_) => Verb::ChangeTool,
            Self::Act(_) => Verb::Act,
            Self::Stop(_) => Verb::Stop,
        }
    }

    /// Canonical text: JSON with sorted keys and the shortest decimals that read back as the same numbers.
    pub fn canonical(&self) -> String {
        canonical(self)
    }
}

impl Move {
    fn of(r: &Reader<'_>) -> Result<Self, Refusal> {
        let height = match r.flag("high") {
            Some(high) => Height::Of { high },
            None => Height::At { z_m: r.needed_number("z_m")? },
        };
        let (x_m, y_m) = (r.needed_number("x_m")?, r.needed_number("y_m")?);
        let (yaw_rad, speed_scale) = (r.number("yaw_rad"), r.number("speed_scale"));
        Ok(Self { x_m, y_m, height, yaw_rad, speed_scale })
    }
}

impl SetGripper {
    fn of(r: &Reader<'_>) -> Result<Self, Refusal> {
        let grip = match (r.flag("opened"), r.number("width_m")) {
            (Some(opened), _) => Grip::Opened { opened },
            (None, Some(width_m)) => Grip::Width { width_m },
            (None, None) => Grip::Vacuum { vacuum_kpa: r.needed_number("vacuum_kpa")? },
        };
        Ok(Self { grip, force_n: r.number("force_n") })
    }
}

impl Pick {
    fn of(r: &Reader<'_>) -> Result<Self, Refusal> {
        let target = match r.text("object") {
            Some(object) => Target::Object { object },
            None => Target::At { x_m: r.needed_number("x_m")?, y_m: r.needed_number("y_m")? },
        };
        Ok(Self { target, force_n: r.number("force_n"), grasp: r.text("grasp") })
    }
}

impl Place {
    fn of(r: &Reader<'_>) -> Result<Self, Refusal> {
        let destination = match r.text("on") {
            Some(on) => Destination::On { on },
            None => Destination::At {
                x_m: r.needed_number("x_m")?,
                y_m: r.needed_number("y_m")?,
                z_m: r.number("z_m"),
            },
        };
        Ok(Self { destination })
    }
}

impl WalkTo {
    fn of(r: &Reader<'_>) -> Result<Self, Refusal> {
        let (x_m, y_m) = (r.needed_number("x_m")?, r.needed_number("y_m")?);
        Ok(Self { x_m, y_m, yaw_rad: r.number("yaw_rad") })
    }
}

#[cfg(test)]
mod tests;
