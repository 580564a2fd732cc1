//! Answers each `joint_states` with a `joint_command` that holds what was measured: what sending and receiving cost, with nothing
//! computed. Beside `feedforward_controller` in `tests/nodes/test_soak.py`.

use std::process::ExitCode;

use karakuri_ros::msg::sensor_msgs::msg::JointState;
use karakuri_ros::{Node, RosError, WirePublisher, qos};

fn set_up(node: &mut Node<()>) -> Result<(), RosError> {
    let mut output: WirePublisher<JointState> =
        node.wire_publisher("joint_command", qos::state())?;
    node.subscribe_directly("joint_states", qos::samples(false), move |sample| {
        output.publish(sample);
    })
}

fn main() -> ExitCode {
    karakuri_ros::run("answerer", set_up)
}
