//! Topics of the links that exert forces: the desired and the measured wrenches.

use std::time::Duration;

use karakuri_control::{Axes, TargetWrench};
use karakuri_ros::msg::geometry_msgs::msg::WrenchStamped;
use karakuri_ros::{FromMessage, Throttle, warn};
use karakuri_spatial::Force;

/// Topics of a link that exerts forces.
pub(crate) struct ForceTopics {
    /// Topic of its target, relative to the robot's namespace.
    pub(crate) topic: String,
    /// Frame of the link, as messages name it.
    frame: String,
    dropped: Throttle,
}

impl ForceTopics {
    /// Topics of a link with frame `frame` whose target comes on `topic`.
    pub(crate) fn new(topic: String, frame: String) -> Self {
        Self { topic, frame, dropped: Throttle::new(Duration::from_secs(2)) }
    }

    /// Target of a message; `None`, with a throttled warning of the reason, if it has none.
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
