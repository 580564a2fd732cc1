//! Topics of the links that exert forces: what they shall exert, and what their sensors feel.

use std::time::Duration;

use karakuri_control::{Axes, FeedforwardController, TargetWrench};
use karakuri_model::{Model, SensorKind};
use karakuri_ros::msg::geometry_msgs::msg::WrenchStamped;
use karakuri_ros::{FromMessage, Node, RobotParameters, Throttle, qos, warn};
use karakuri_spatial::Force;

use crate::node::ControllerNode;

/// A link at the ROS side.
pub(crate) struct ForceTopics {
    /// Topic of its target, relative to the robot's namespace.
    pub(crate) topic: String,
    /// The link's frame.
    frame: String,
    dropped: Throttle,
}

impl ForceTopics {
    /// Link `point` of the controller.
    pub(crate) fn new(
        node: &mut Node<ControllerNode>,
        (controller, model): (&mut FeedforwardController, &Model),
        link: &str,
        robot: &RobotParameters,
    ) -> Result<Self, Box<dyn std::error::Error>> {
        let point = controller.add_force_point(link).map_err(|e| format!("wrench_links: {e}"))?;
        let topic = format!("target_wrench/{link}");
        node.subscribe(&topic, qos::command(), move |s: &mut ControllerNode, m| {
            s.on_target_wrench(point, m);
        })?;
        let felt = |s: &&karakuri_model::Sensor| {
            s.kind == SensorKind::ContactWrench && model.frames[s.frame.0].name == link
        };
        if let Some(sensor) = model.sensors.iter().find(felt) {
            let topic = format!("wrench/{}", sensor.name);
            node.subscribe(&topic, robot.sample_qos(), move |s: &mut ControllerNode, m| {
                s.on_wrench(point, m);
            })?;
        }
        let dropped = Throttle::new(Duration::from_secs(2));
        Ok(Self { topic, frame: robot.frame_of(link), dropped })
    }

    /// The target of a message, or why there is none, now and then.
    pub(crate) fn target(&self, message: &WrenchStamped) -> Option<TargetWrench> {
        let axes = match message.header.frame_id.as_str() {
            "world" => Ok(Axes::World),
            frame if frame.is_empty() || frame == self.frame => Ok(Axes::Link),
            other => Err(format!("frame `{other}`; stamp it `{}` or `world`", self.frame)),
        };
        let wrench = Force::from_message(&message.wrench);
        let target = axes.and_then(|axes| match wrench {
            Some(wrench) => Ok(TargetWrench { wrench, axes }),
            None => Err("a number is not finite; send finite forces and torques".to_owned()),
        });
        match target {
            Ok(target) => Some(target),
            Err(reason) => {
                if self.dropped.ready() {
                    warn!("{}: dropped: {reason}", self.topic);
                }
                None
            }
        }
    }
}
