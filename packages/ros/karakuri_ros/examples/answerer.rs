//! Answers each `joint_states` with a `joint_command` that holds what was measured: what the way of a message costs, with nothing
//! computed. Beside `feedforward_controller` in `tests/nodes/test_soak.py`.

use std::process::ExitCode;

use karakuri_ros::msg::sensor_msgs::msg::JointState;
use karakuri_ros::{Node, RosError, WirePublisher, qos};

struct Answerer {
    output: WirePublisher<JointState>,
}

impl Answerer {
    fn new(node: &mut Node<Self>) -> Result<Self, RosError> {
        node.subscribe_directly("joint_states", qos::samples(false), Self::answer)?;
        Ok(Self { output: node.wire_publisher("joint_command", qos::state())? })
    }

    fn answer(&mut self, sample: &JointState) {
        self.output.publish(sample);
    }
}

fn main() -> ExitCode {
    karakuri_ros::run("answerer", Answerer::new)
}
