//! Tools of a robot: the service that exchanges them at the dock, and the topic that says what is on the flange.

use karakuri_hardware::RobotIo;
use karakuri_ros::msg::karakuri_msgs::srv::SetTool;
use karakuri_ros::msg::std_msgs::msg::String as Text;
use karakuri_ros::{Node, Publisher, RosError, info, qos, warn};
use karakuri_simulation::SimulatedWorld;

use crate::backend::Backend;
use crate::robot::RobotTopics;
use crate::simulation::Sim;

/// Topic with the name of the tool on the flange.
#[derive(Debug)]
pub(crate) struct ToolTopic {
    publisher: Publisher<Text>,
    /// Tool that was published last.
    said: String,
}

impl ToolTopic {
    /// Topic below the name of the robot that changes tools; `None` where none does.
    pub(crate) fn new(
        node: &mut Node<Sim>,
        io: &Backend,
        robots: &[RobotTopics],
    ) -> Result<Option<Self>, RosError> {
        let Some((robot, _)) = io.simulated().and_then(SimulatedWorld::tool) else {
            return Ok(None);
        };
        node.service::<SetTool::Service>("~/set_tool", set_tool)?;
        let publisher =
            node.publisher(&format!("{}tool", robots[robot].prefix()), qos::latched())?;
        Ok(Some(Self { publisher, said: String::new() }))
    }
}

impl Sim {
    /// Follows the world where another tool is on the flange than was said last: topics, parameters of the joints, commander.
    pub(crate) fn follow_tool(&mut self) {
        let Some(topic) = &mut self.tool else { return };
        let Some((robot, tool)) = self.pacer.io().simulated().and_then(SimulatedWorld::tool) else {
            return;
        };
        if topic.said == tool {
            return;
        }
        let is_first = topic.said.is_empty();
        tool.clone_into(&mut topic.said);
        topic.publisher.publish(&Text { data: topic.said.clone() });
        if is_first {
            return;
        }
        info!("`{}` is on the flange of `{}`", topic.said, self.robots[robot].name());
        self.pacer.renew_commander(robot);
        // At once, as a sample may be published before the sensors have their topics.
        self.robots[robot].exchange(self.pacer.io().robots()[robot].clone());
        self.later.run(move |node, sim| {
            if let Err(error) = sim.robots[robot].offer_sensors(node) {
                warn!("the robot with its new tool lacks topics: {error}");
            }
            sim.publish_bases();
            sim.publish();
        });
        self.follow_robots();
    }
}

fn set_tool(sim: &mut Sim, request: &SetTool::Request) -> SetTool::Response {
    let Some(simulated) = sim.pacer.io_mut().simulated_mut() else {
        return SetTool::Response {
            success: false,
            message: "there is no simulated world".to_owned(),
        };
    };
    let done = simulated.set_tool(&request.tool);
    sim.follow_tool();
    match done {
        Ok(()) => SetTool::Response { success: true, message: String::new() },
        Err(error) => SetTool::Response { success: false, message: error.to_string() },
    }
}
