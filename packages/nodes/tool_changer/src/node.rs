//! The node: topics, the action, and what drives one change at a time.

use std::path::Path;
use std::time::{Duration, Instant};

use karakuri_files::Tools;
use karakuri_grasp::tool_change::{RackTool, ToolChangeOrder, ToolRack};
use karakuri_ros::msg::geometry_msgs::msg::WrenchStamped;
use karakuri_ros::msg::karakuri_msgs::action::ChangeTool;
use karakuri_ros::msg::karakuri_msgs::msg::GripState;
use karakuri_ros::msg::sensor_msgs::msg::JointState;
use karakuri_ros::msg::std_msgs::msg::String as StringMessage;
use karakuri_ros::{
    FromMessage, GoalRequest, JointStateReader, Node, Status, info, qos, time_from_message,
};
use karakuri_spatial::Force;

use crate::arm::Arm;
use crate::changer::Changer;
use crate::convert;
use crate::parameters::Parameters;
use crate::state::{Active, ToolChanger};

pub(crate) fn new(node: &mut Node<ToolChanger>) -> Result<ToolChanger, Box<dyn std::error::Error>> {
    let parameters = Parameters::declare(node)?;
    let path = parameters.tools.get();
    if path.is_empty() {
        return Err("parameter `tools` is empty; give the path of the tools file".into());
    }
    let rack = load(Path::new(&path))?;
    let samples = qos::samples(false);
    if parameters.change.weigh.get() {
        let topic = format!("wrench/{}", rack.sensor()?);
        node.subscribe(&topic, samples.clone(), on_wrench)?;
    }
    node.subscribe("joint_states", samples, on_joint_states)?;
    node.subscribe("tool", qos::latched(), on_tool)?;
    node.subscribe("grip_state", qos::state(), |node: &mut ToolChanger, state: &GripState| {
        node.holds = convert::holds(state);
    })?;
    node.action_server("change_tool", on_goal)?;
    node.after_events(tick);
    node.wall_timer(Duration::from_millis(10), tick);
    node.diagnose("tool", diagnose);
    info!("tools: {}", rack.names().collect::<Vec<_>>().join(", "));
    Ok(ToolChanger {
        reader: JointStateReader::new(rack.bare()),
        arm: Arm::new(node)?,
        changer: Changer::new(node.service_client(&parameters.changer.get())?),
        time: None,
        heard: Instant::now(),
        names: Vec::new(),
        wrench: None,
        tool: None,
        holds: false,
        clock: node.clock().clone(),
        began: Instant::now(),
        active: None,
        parameters,
        rack,
    })
}

/// Rack of all tools of a tools file.
fn load(path: &Path) -> Result<ToolRack, Box<dyn std::error::Error>> {
    let tools = Tools::read(path)?;
    let models = tools.load(path, None)?;
    let pairs = tools.tools.into_iter().zip(models);
    let tools_of_rack =
        pairs.map(|(tool, model)| RackTool { name: tool.name, model, dock: tool.dock }).collect();
    Ok(ToolRack::new(&tools.flange, tools_of_rack)?)
}

fn on_wrench(node: &mut ToolChanger, message: &WrenchStamped) {
    if let Some(wrench) = Force::from_message(&message.wrench) {
        node.wrench = Some((time_from_message(&message.header.stamp), wrench));
    }
}

fn on_joint_states(node: &mut ToolChanger, message: &JointState) {
    node.heard = Instant::now();
    node.names.clone_from(&message.name);
    if node.reader.read(node.rack.bare(), message).is_ok() {
        node.time = Some(time_from_message(&message.header.stamp));
    }
}

fn on_tool(node: &mut ToolChanger, message: &StringMessage) {
    // Of the hand that was exchanged.
    node.holds = false;
    node.tool = Some(message.data.clone());
}

fn on_goal(node: &mut ToolChanger, request: GoalRequest<ChangeTool::Action>) {
    if node.active.is_some() {
        request.reject("a change of tools is under way; cancel it first");
        return;
    }
    let goal = request.accept();
    match node.start(goal.goal()) {
        Ok(change) => {
            // What became of the motions of an earlier goal does not matter any more.
            node.arm.stop();
            node.active = Some(Active { goal, change, reported: None });
        }
        Err((error_code, why)) => {
            let result = node.result(goal.stamp(), error_code, why);
            goal.abort(result);
        }
    }
}

/// Drives the change that is under way.
fn tick(node: &mut ToolChanger) {
    let Some(mut active) = node.active.take() else { return };
    if active.goal.is_canceling() {
        active.change.cancel();
    }
    let order = node.advance(&mut active.change);
    node.tell(&mut active);
    match order {
        Some(ToolChangeOrder::End(result)) => {
            node.end(active, result);
            return;
        }
        Some(ToolChangeOrder::Follow(trajectory)) => node.arm.follow(&trajectory),
        Some(ToolChangeOrder::Stop) => node.arm.stop(),
        Some(ToolChangeOrder::Couple(tool)) => node.changer.couple(tool),
        None => {}
    }
    node.active = Some(active);
}

fn diagnose(node: &mut ToolChanger) -> Status {
    let status = match (node.not_ready(), &node.active) {
        (Some(why), _) => Status::warn(why),
        (None, Some(active)) => Status::ok(format!("changing tools: {}", active.change.stage())),
        (None, None) => Status::ok("ready"),
    };
    status.value("tool", node.tool.as_deref().unwrap_or("?"))
}
