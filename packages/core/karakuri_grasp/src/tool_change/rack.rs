//! Tools of one arm, and what all of them share.

use std::sync::Arc;

use karakuri_control::cartesian::MovePlanner;
use karakuri_model::{BodyId, FrameId, Model, SensorKind};
use karakuri_spatial::{Force, Pose};

use super::weigh::{Scale, Weight};

/// Reason why tools cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RackError {
    /// No tool is the bare arm.
    #[error("no tool is without a dock; the bare arm is one")]
    NoBareArm,
    /// The bare arm has no such link, or it does not move.
    #[error("robot `{robot}` has no moving link `{flange}`, the flange")]
    NoFlange {
        /// Name of the robot.
        robot: String,
        /// Name of the link.
        flange: String,
    },
    /// The robot has no arm.
    #[error("robot `{robot}` has no joint group for its arm")]
    NoArm {
        /// Name of the robot.
        robot: String,
    },
    /// A robot cannot weigh its tool.
    #[error(
        "robot `{robot}` does not feel the weight of its tool: give its robot YAML a sensor `{name}: {{type: joint_wrench, link: {link}}}`, at the last joint, or do not weigh"
    )]
    NoSensor {
        /// Name of the robot.
        robot: String,
        /// Name of the sensor, as other robots have it.
        name: String,
        /// Link that the last joint carries.
        link: String,
    },
}

/// Tool of a rack, or the bare arm.
#[derive(Debug, Clone)]
pub struct RackTool {
    /// Name of the tool.
    pub name: String,
    /// The arm with the tool.
    pub model: Arc<Model>,
    /// Pose of the flange in the world when the tool is in its place; none of the bare arm.
    pub dock: Option<Pose>,
}

/// Tools of one arm and their places in the dock.
#[derive(Debug, Clone)]
pub struct ToolRack {
    pub(super) tools: Vec<RackTool>,
    bare: usize,
    /// Body that carries the flange, in all robots.
    carrier: BodyId,
    pub(super) moves: MovePlanner,
    /// Name of the wrist's sensor, and the sensor as a scale.
    scale: Option<(String, Scale)>,
}

impl ToolRack {
    /// Rack of tools for an arm whose link `flange` carries them. The arm is the first group of each robot.
    ///
    /// # Errors
    /// When no tool is the bare arm, or it has no such link or no arm.
    pub fn new(flange: &str, tools: Vec<RackTool>) -> Result<Self, RackError> {
        let bare = tools.iter().position(|tool| tool.dock.is_none());
        let bare = bare.ok_or(RackError::NoBareArm)?;
        let model = &tools[bare].model;
        let robot = || model.name.clone();
        let frame = model.frame(flange);
        let carrier = frame.and_then(|id| Some((id, model.frames[id.0].body?)));
        let (frame, body) = carrier
            .ok_or_else(|| RackError::NoFlange { robot: robot(), flange: flange.to_owned() })?;
        let arm = model.groups.first().ok_or_else(|| RackError::NoArm { robot: robot() })?;
        let moves = MovePlanner::new(model, frame, &arm.joints);
        let sensor = wrist(model, body);
        let scale = sensor.map(|(name, frame)| (name.to_owned(), Scale::new(model, frame, body)));
        Ok(Self { tools, bare, carrier: body, moves, scale })
    }

    /// The arm with nothing on its flange.
    pub fn bare(&self) -> &Arc<Model> {
        &self.tools[self.bare].model
    }

    /// Name of the entry of the bare arm.
    pub fn bare_name(&self) -> &str {
        &self.tools[self.bare].name
    }

    /// All tools, the bare arm among them.
    pub fn tools(&self) -> &[RackTool] {
        &self.tools
    }

    /// Names of all tools, the bare arm among them.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|tool| tool.name.as_str())
    }

    /// Whether joint states of these names are those of the robot with a tool.
    pub fn is_robot_of(&self, tool: &str, names: &[String]) -> bool {
        let Some(with) = self.tool(tool) else { return false };
        let mut needed = with.model.groups.iter().flat_map(|group| &group.joints);
        let has_all = needed.all(|id| names.contains(&with.model.joints[id.0].name));
        // Joints that only other tools have; those of other robots do not matter.
        let is_others = |name: &String| {
            with.model.joint(name).is_none()
                && self.tools.iter().any(|other| other.model.joint(name).is_some())
        };
        has_all && !names.iter().any(is_others)
    }

    /// Name of the sensor that weighs tools.
    ///
    /// # Errors
    /// When a robot has none at the joint that carries the flange, or it has another name than the bare arm's.
    pub fn sensor(&self) -> Result<&str, RackError> {
        let name = self.scale.as_ref().map_or("wrist", |(name, _)| name);
        for RackTool { model, .. } in &self.tools {
            if wrist(model, self.carrier).is_none_or(|(own, _)| own != name) {
                let link =
                    model.link_of(self.carrier).map_or("", |link| &model.frames[link.0].name);
                return Err(RackError::NoSensor {
                    robot: model.name.clone(),
                    name: name.to_owned(),
                    link: link.to_owned(),
                });
            }
        }
        Ok(name)
    }

    pub(super) fn tool(&self, name: &str) -> Option<&RackTool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// Weight of what is on the flange, where `tool` should be, by the mean wrench at the wrist; none without a sensor. (nq)
    pub fn weight(&mut self, tool: &str, q: &[f64], wrench: &Force) -> Option<Weight> {
        let bare = Arc::clone(self.bare());
        let expected = self.tool(tool)?.model.mass() - bare.mass();
        let felt = self.scale.as_mut()?.1.mass(&bare, q, wrench);
        Some(Weight { felt, expected })
    }
}

/// Name and link of the sensor of the wrench through the joint of a body.
fn wrist(model: &Model, body: BodyId) -> Option<(&str, FrameId)> {
    let link = model.link_of(body);
    let is_it =
        |s: &&karakuri_model::Sensor| s.kind == SensorKind::JointWrench && Some(s.frame) == link;
    model.sensors.iter().find(is_it).map(|sensor| (sensor.name.as_str(), sensor.frame))
}
