//! The document: everything that one file of motions says.

use std::sync::Arc;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::gamepad::GamepadBinding;
use crate::mirror::Mirror;
use crate::motion::Motion;
use crate::panel::Panel;
use crate::physics_scene::PhysicsScene;
use crate::pose::Pose;

/// Version of the file format that is written.
pub const VERSION: u32 = 1;

/// Poses and motions of a robot, with what a studio keeps beside them. Angles are in [`Units::angle`], lengths in metres,
/// times in seconds: numbers stay as the user wrote them, and are converted where a model is at hand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Version of the format, [`VERSION`].
    #[serde(rename = "karakuri_motion")]
    pub version: u32,
    /// The robot that moves.
    #[serde(default)]
    pub robot: RobotReference,
    /// Units of the numbers.
    #[serde(default)]
    pub units: Units,
    /// Poses by name, in the order of the file.
    #[serde(default)]
    #[cfg_attr(feature = "ts", ts(as = "std::collections::BTreeMap<String, Pose>"))]
    pub poses: IndexMap<String, Pose>,
    /// Motions by name, in the order of the file; shared, so that a copy of the document is cheap.
    #[serde(default)]
    #[cfg_attr(feature = "ts", ts(as = "std::collections::BTreeMap<String, Motion>"))]
    pub motions: IndexMap<String, Arc<Motion>>,
    /// Bodies and connections around the robot.
    #[serde(default)]
    pub scene: PhysicsScene,
    /// Values of parameters that the user has kept, such as `drives.l_knee_pitch.stiffness`.
    #[serde(default)]
    #[cfg_attr(feature = "ts", ts(type = "{ [name: string]: number | boolean | string }"))]
    pub parameters: IndexMap<String, serde_json::Value>,
    /// Panels of the user.
    #[serde(default)]
    pub panels: Vec<Panel>,
    /// Scripts by name: their text.
    #[serde(default)]
    #[cfg_attr(feature = "ts", ts(as = "std::collections::BTreeMap<String, String>"))]
    pub scripts: IndexMap<String, String>,
    /// What a gamepad moves.
    #[serde(default)]
    pub gamepad: Vec<GamepadBinding>,
    /// Joints that mirror each other; `None`: those that the robot's axes say.
    #[serde(default)]
    pub mirror: Option<Mirror>,
}

/// The robot of a document.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(default, deny_unknown_fields)]
pub struct RobotReference {
    /// Name of the robot.
    pub model: String,
    /// URDF file: relative to the document, or `package://`.
    pub urdf: String,
    /// Robot YAML, likewise.
    pub config: Option<String>,
}

/// Units of a document's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(default, deny_unknown_fields)]
pub struct Units {
    /// Unit of angles.
    pub angle: AngleUnit,
}

/// Unit of a document's angles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum AngleUnit {
    /// Radian.
    #[default]
    Rad,
    /// Degree.
    Deg,
}

impl AngleUnit {
    /// An angle of this unit in radians. [rad]
    pub fn to_rad(self, angle: f64) -> f64 {
        match self {
            Self::Rad => angle,
            Self::Deg => angle.to_radians(),
        }
    }

    /// An angle [rad] in this unit.
    pub fn from_rad(self, angle: f64) -> f64 {
        match self {
            Self::Rad => angle,
            Self::Deg => angle.to_degrees(),
        }
    }
}

impl Default for Document {
    /// An empty document of the present version, in radians.
    fn default() -> Self {
        Self {
            version: VERSION,
            robot: RobotReference::default(),
            units: Units::default(),
            poses: IndexMap::new(),
            motions: IndexMap::new(),
            scene: PhysicsScene::default(),
            parameters: IndexMap::new(),
            panels: Vec::new(),
            scripts: IndexMap::new(),
            gamepad: Vec::new(),
            mirror: None,
        }
    }
}
