//! Joints of one robot: `joint_states`, `joint_command`, and the frame that it stands in.

use std::time::Duration;

use karakuri_hardware::{JointCommand, Pacer, RobotIo, RobotLayout, RobotState};
use karakuri_model::Base;
use karakuri_ros::msg::builtin_interfaces::msg::Time as Stamp;
use karakuri_ros::msg::geometry_msgs::msg::TransformStamped;
use karakuri_ros::msg::sensor_msgs::msg::JointState;
use karakuri_ros::msg::std_msgs::msg::Header;
use karakuri_ros::{
    IntoMessage, Node, Publisher, RosError, SolePublisher, Throttle, qos, time_from_message, warn,
};
use karakuri_spatial::{Pose, Time};

/// Frame of odometry (REP 105), in which floating robots move.
pub const ODOM: &str = "odom";

/// Time between two warnings of bad commands.
const REPEAT: Duration = Duration::from_secs(5);

/// Topics and buffers of a robot's joints.
#[derive(Debug)]
pub struct JointTopics {
    layout: RobotLayout,
    state: RobotState,
    command: JointCommand,
    frame_prefix: String,
    sole: [SolePublisher; 2],
    joint_states: Publisher<JointState>,
    message: JointState,
    bad_commands: Throttle,
}

impl JointTopics {
    /// Topics below `prefix` (empty, or the robot's name and a slash); its frames are below it, too, after the node's own
    /// `frame_prefix`. Commands are subscribed to by the node, and given to [`Self::pass_on`].
    ///
    /// # Errors
    /// When the middleware refuses a topic.
    pub fn new<S: 'static>(
        node: &mut Node<S>,
        layout: RobotLayout,
        prefix: &str,
        frame_prefix: &str,
    ) -> Result<Self, RosError> {
        let names = layout.joints.iter().map(|j| j.name.clone()).collect();
        Ok(Self {
            state: RobotState::new(&layout),
            command: JointCommand::new(&layout),
            joint_states: node.publisher(&format!("{prefix}joint_states"), qos::state())?,
            message: JointState { name: names, ..JointState::default() },
            frame_prefix: format!("{frame_prefix}{}", prefix.trim_start_matches('/')),
            sole: ["joint_states", "joint_command"]
                .map(|topic| node.sole_publisher(&format!("{prefix}{topic}"))),
            bad_commands: Throttle::new(REPEAT),
            layout,
        })
    }

    /// Layout of the robot.
    pub fn layout(&self) -> &RobotLayout {
        &self.layout
    }

    /// Keeps the topics for a robot of this layout, which took the place of one that is gone.
    pub fn set_layout(&mut self, layout: RobotLayout) {
        self.state = RobotState::new(&layout);
        self.command = JointCommand::new(&layout);
        self.message.name = layout.joints.iter().map(|joint| joint.name.clone()).collect();
        self.layout = layout;
    }

    /// Sample that was read last.
    pub fn state(&self) -> &RobotState {
        &self.state
    }

    /// Topics that must have one publisher: this node's, and the controller's.
    pub fn sole(&self) -> &[SolePublisher] {
        &self.sole
    }

    /// Reads the present sample of robot `index` of `io`.
    pub fn read(&mut self, io: &impl RobotIo, index: usize) {
        io.read(index, &mut self.state);
    }

    /// Publishes the joints of the sample that was read last.
    pub fn publish(&mut self, stamp: &Stamp) {
        let message = &mut self.message;
        message.header.stamp = stamp.clone();
        message.position.clone_from(&self.state.position);
        message.velocity.clone_from(&self.state.velocity);
        message.effort.clone_from(&self.state.effort);
        self.joint_states.publish(message);
    }

    /// Transform of the frame at rest in `world`: a fixed robot's root link, or [`ODOM`], in which floating robots move.
    pub fn base_transform(&self, now: Time) -> TransformStamped {
        let root = &self.layout.model.frames[0];
        let (child, pose) = match self.layout.model.base {
            Base::Fixed(_) => (root.name.as_str(), root.pose_in_body),
            Base::Floating => (ODOM, Pose::IDENTITY),
        };
        transform(&now.to_message(), "world", &self.frame(child), &pose)
    }

    /// Full name of the frame of a link, or of [`ODOM`].
    pub fn frame(&self, name: &str) -> String {
        format!("{}{name}", self.frame_prefix)
    }

    /// Passes a command for robot `index` on at wall time `now` [s]; one that cannot be taken is warned of, throttled.
    pub fn pass_on(
        &mut self,
        message: &JointState,
        pacer: &mut Pacer<impl RobotIo>,
        index: usize,
        now: f64,
    ) {
        let stamp = time_from_message(&message.header.stamp).nanoseconds();
        // One for a robot that was exchanged since names what is not there any more.
        if pacer.is_forgotten(stamp) || !pacer.io().is_present(index) || !self.read_command(message)
        {
            return;
        }
        if let Err(reason) = pacer.command(index, stamp, &self.command, now)
            && self.bad_commands.ready()
        {
            warn!("joint_command of `{}` is ignored: {reason}", self.layout.name);
        }
    }

    /// Copies a message into `command`; values that it leaves out stay NaN, not commanded. False if it fits no rule.
    fn read_command(&mut self, message: &JointState) -> bool {
        for values in
            [&mut self.command.position, &mut self.command.velocity, &mut self.command.effort]
        {
            values.fill(f64::NAN);
        }
        self.command.vacuum.fill(f64::NAN);
        let fits = |values: &[f64]| values.is_empty() || values.len() == message.name.len();
        if !fits(&message.position) || !fits(&message.velocity) || !fits(&message.effort) {
            if self.bad_commands.ready() {
                warn!(
                    "joint_command for `{}` dropped: {} names, {} positions, {} velocities, {} efforts; each array must \
                     be empty or as long as `name`",
                    self.layout.name,
                    message.name.len(),
                    message.position.len(),
                    message.velocity.len(),
                    message.effort.len()
                );
            }
            return false;
        }
        for (i, name) in message.name.iter().enumerate() {
            // An infinite value is passed on, so that it is refused by name.
            let pick = |values: &[f64]| values.get(i).copied().unwrap_or(f64::NAN);
            let generators = &self.layout.generators;
            if let Some(g) = generators.iter().position(|generator| generator.name == *name) {
                // As a force, which a vacuum is at the area of its cups.
                self.command.vacuum[g] = pick(&message.effort) / generators[g].area;
                continue;
            }
            let Some(j) = self.layout.joints.iter().position(|joint| joint.name == *name) else {
                if self.bad_commands.ready() {
                    warn!(
                        "joint_command names `{name}`, which is no joint or vacuum generator of `{}`; ignored",
                        self.layout.name
                    );
                }
                continue;
            };
            self.command.position[j] = pick(&message.position);
            self.command.velocity[j] = pick(&message.velocity);
            self.command.effort[j] = pick(&message.effort);
        }
        true
    }
}

/// Transform with the pose of `child` in `frame`.
pub fn transform(stamp: &Stamp, frame: &str, child: &str, pose: &Pose) -> TransformStamped {
    TransformStamped {
        header: Header { stamp: stamp.clone(), frame_id: frame.to_owned() },
        child_frame_id: child.to_owned(),
        transform: pose.to_message(),
    }
}
