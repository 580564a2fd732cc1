//! The node: parameters and topics.

use std::path::{Path, PathBuf};
use std::time::Duration;

use karakuri_files::{LoadError, Tool, ToolsError, read_text};
use karakuri_model::Diagnostics;
use karakuri_ros::msg::{
    geometry_msgs::msg::TransformStamped,
    sensor_msgs::msg::JointState,
    std_msgs::msg::{Header, String as Text},
    tf2_msgs::msg::TFMessage,
};
use karakuri_ros::{
    Clock, IntoMessage, Node, Parameter, Publisher, RosError, Setting, Status, Throttle, ToolsFile,
    info, qos, time_from_message, warn,
};
use karakuri_spatial::Time;
use thiserror::Error;

use crate::rate::Rate;
use crate::robot::{Link, Robot};

/// Reason why the node cannot start.
#[derive(Debug, Error)]
pub(crate) enum StartError {
    #[error(transparent)]
    Ros(#[from] RosError),
    #[error(transparent)]
    File(#[from] LoadError),
    #[error(transparent)]
    Tools(#[from] ToolsError),
    #[error("{0}")]
    Robot(#[from] Diagnostics),
    #[error(
        "no robot: set the parameter `robot_description` to a URDF, or `urdf` to the path of one"
    )]
    NoRobot,
}

/// The node's state.
pub(crate) struct StatePublisher {
    robot: Robot,
    rate: Rate,
    frequency: Parameter<f64>,
    prefix: Parameter<String>,
    ignore_timestamp: Parameter<bool>,
    clock: Clock,
    tf: Publisher<TFMessage>,
    tf_static: Publisher<TFMessage>,
    description: Publisher<Text>,
    malformed: Throttle,
    n_published: u64,
}

impl StatePublisher {
    pub(crate) fn new(node: &mut Node<Self>) -> Result<Self, StartError> {
        let urdf = node
            .parameter("urdf", String::new())
            .describe("Path of the URDF, when `robot_description` is empty.")
            .read_only()
            .declare()?;
        let tools = ToolsFile::declare(node)?.read()?;
        let urdf = Some(urdf.get()).filter(|path| !path.is_empty()).map(PathBuf::from);
        let urdf = urdf.or_else(|| Some(tools.as_ref()?.tools.first()?.urdf.clone()));
        let file = urdf.as_ref().map(|path| read_text(path));
        // The parameter holds the robot wherever it came from, so that a client that reads it gets it.
        let good = file.as_ref().and_then(|text| text.as_ref().ok());
        let good = good.filter(|text| Robot::read(text).is_ok()).cloned().unwrap_or_default();
        let description = node
            .parameter("robot_description", good.clone())
            .describe("The URDF's text; where it is not given, that of the file `urdf`.")
            .validate("a URDF", |text| check_description(text))
            .on_change(|s: &mut Self, text| s.on_description(text))
            .declare()?;
        if let Some(tools) = tools {
            let given = Some(description.get()).filter(|text| *text != good);
            let present = settings(&urdf.unwrap_or_default(), given.unwrap_or_default());
            node.follow_tools(tools, present, |tool: &Tool| settings(&tool.urdf, String::new()))?;
        }
        let text = match (description.get(), file) {
            (text, _) if !text.is_empty() => text,
            (_, Some(text)) => text?,
            _ => return Err(StartError::NoRobot),
        };
        let state = Self {
            robot: Robot::read(&text)?,
            rate: Rate::default(),
            frequency: node
                .parameter("publish_frequency", 20.0)
                .describe("Highest rate of /tf; 0 publishes for each message. [Hz]")
                .range(0.0..=1000.0)
                .declare()?,
            prefix: node
                .parameter("frame_prefix", String::new())
                .describe("Put before the names of all frames.")
                .on_change(|s: &mut Self, _| s.publish_static())
                .declare()?,
            ignore_timestamp: node
                .parameter("ignore_timestamp", false)
                .describe("Publish for each message, whatever its stamp.")
                .declare()?,
            clock: node.clock().clone(),
            tf: node.publisher("/tf", qos::tf())?,
            tf_static: node.publisher("/tf_static", qos::latched())?,
            description: node.publisher("robot_description", qos::latched())?,
            malformed: Throttle::new(Duration::from_secs(10)),
            n_published: 0,
        };
        node.subscribe("joint_states", qos::sensor(), Self::on_joint_states)?;
        node.on_time_jump_back(|s| s.rate.clear());
        node.diagnose("transforms", Self::diagnose);
        state.publish_robot(text);
        Ok(state)
    }

    fn on_description(&mut self, text: &str) {
        match Robot::read(text) {
            Ok(robot) => {
                self.robot = robot;
                self.publish_robot(text.to_owned());
            }
            Err(problems) => warn!("robot_description: {problems}"),
        }
    }

    fn publish_robot(&self, text: String) {
        info!("publishing transforms of robot `{}`", self.robot.name());
        self.description.publish(&Text { data: text });
        self.publish_static();
    }

    fn publish_static(&self) {
        let links = self.robot.fixed_links();
        self.tf_static.publish(&self.message(&links, self.clock.now()));
    }

    fn on_joint_states(&mut self, message: &JointState) {
        if message.position.len() != message.name.len() {
            if self.malformed.ready() {
                let (n, m) = (message.name.len(), message.position.len());
                warn!("joint_states: ignored: {n} names, but {m} positions");
            }
            return;
        }
        let stamp = time_from_message(&message.header.stamp);
        let period = Duration::try_from_secs_f64(self.frequency.get().recip()).unwrap_or_default();
        if !self.ignore_timestamp.get() && !self.rate.is_due(message.name.iter(), stamp, period) {
            return;
        }
        self.rate.note(message.name.iter(), stamp);
        let names = message.name.iter().map(String::as_str);
        let links = self.robot.moving_links(names.zip(message.position.iter().copied()));
        if !links.is_empty() {
            self.n_published += 1;
            self.tf.publish(&self.message(&links, stamp));
        }
    }

    fn message(&self, links: &[Link], stamp: Time) -> TFMessage {
        let prefix = self.prefix.get();
        let transform = |link: &Link| TransformStamped {
            header: Header {
                stamp: stamp.to_message(),
                frame_id: format!("{prefix}{}", link.parent),
            },
            child_frame_id: format!("{prefix}{}", link.child),
            transform: link.pose.to_message(),
        };
        TFMessage { transforms: links.iter().map(transform).collect() }
    }

    fn diagnose(&mut self) -> Status {
        let status = if self.n_published == 0 {
            Status::warn("no joint states yet")
        } else {
            Status::ok("publishing")
        };
        status.value("n_messages", self.n_published)
    }
}

/// Settings for the robot of a URDF; a description that is given wins over the file.
fn settings(urdf: &Path, description: String) -> Vec<Setting> {
    let description = Setting { name: "robot_description", value: description };
    vec![Setting::file("urdf", urdf), description]
}

/// Checks a description; an empty one is allowed at start, where `urdf` may stand in for it.
fn check_description(text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Ok(());
    }
    Robot::read(text).map(drop).map_err(|problems| problems.to_string())
}
