//! Topics, actions and services of joint groups and of links that exert forces.

use std::time::Instant;

use karakuri_model::{Model, Sensor, SensorKind};
use karakuri_ros::msg::control_msgs::action::FollowJointTrajectory;
use karakuri_ros::msg::geometry_msgs::msg::WrenchStamped;
use karakuri_ros::msg::trajectory_msgs::msg::JointTrajectory;
use karakuri_ros::{
    FromMessage, GoalRequest, Node, Request, RobotParameters, RosError, qos, time_from_message,
};
use karakuri_spatial::Force;

use crate::controller::Controller;
use crate::forces::ForceTopics;
use crate::group::{GroupTopics, Query};

/// Name of the hand's group, which has its topics.
const HAND: &str = "hand";

/// Topics, action and service of group `index`; the first has the plain names.
pub(crate) fn group_topics(
    node: &mut Node<Controller>,
    index: usize,
    name: &str,
    joints: Vec<String>,
) -> Result<GroupTopics, RosError> {
    let prefix = if index == 0 { String::new() } else { format!("{name}/") };
    let topic = format!("{prefix}joint_trajectory");
    node.subscribe(&topic, qos::command(), move |c: &mut Controller, m| {
        on_trajectory(c, index, m);
    })?;
    let action = format!("{prefix}follow_joint_trajectory");
    node.action_server(&action, move |c: &mut Controller, r| {
        on_goal(c, index, r);
    })?;
    let service = format!("~/{prefix}query_state");
    node.service_later::<Query>(&service, move |c: &mut Controller, r| {
        on_query(c, index, r);
    })?;
    let state = node.publisher(&format!("{prefix}controller_state"), qos::state())?;
    Ok(GroupTopics::new(index, topic, joints, state))
}

/// Topic of a hand's references, where the robot has vacuum generators and no group of joints that has that topic.
pub(crate) fn vacuum_topic(node: &mut Node<Controller>, model: &Model) -> Result<(), RosError> {
    let has_group = model.groups.iter().skip(1).any(|group| group.name == HAND);
    if model.suctions.is_empty() || has_group {
        return Ok(());
    }
    let topic = format!("{HAND}/joint_trajectory");
    node.subscribe(&topic.clone(), qos::command(), move |c: &mut Controller, m| {
        on_vacuum(c, &topic, m);
    })
}

/// Topics of a link that exerts forces: its target, and the measured wrench of its contact sensor.
pub(crate) fn force_topics(
    node: &mut Node<Controller>,
    point: usize,
    link: &str,
    model: &Model,
    robot: &RobotParameters,
) -> Result<ForceTopics, RosError> {
    let topic = format!("target_wrench/{link}");
    let on_target = move |c: &mut Controller, m: &WrenchStamped| {
        on_target_wrench(c, point, m);
    };
    node.subscribe(&topic, qos::command(), on_target)?;
    let feels =
        |s: &&Sensor| s.kind == SensorKind::ContactWrench && model.frames[s.frame.0].name == link;
    if let Some(sensor) = model.sensors.iter().find(feels) {
        let on_measured = move |c: &mut Controller, m: &WrenchStamped| {
            on_wrench(c, point, m);
        };
        node.subscribe(&format!("wrench/{}", sensor.name), robot.sample_qos(), on_measured)?;
    }
    Ok(ForceTopics::new(topic, robot.frame_of(link)))
}

fn on_goal(
    controller: &mut Controller,
    group: usize,
    request: GoalRequest<FollowJointTrajectory::Action>,
) {
    controller.early.push((group, request, Instant::now()));
    controller.take_goals();
}

fn on_query(controller: &mut Controller, group: usize, request: Request<Query>) {
    controller.queries.ask(&mut controller.desk, group, request);
}

fn on_vacuum(controller: &mut Controller, topic: &str, message: &JointTrajectory) {
    controller.vacuums.take(message);
    if let Some(lockstep) = &mut controller.lockstep {
        lockstep.hear(topic, time_from_message(&message.header.stamp));
    }
    controller.attend();
}

fn on_trajectory(controller: &mut Controller, group: usize, message: &JointTrajectory) {
    // Ends of earlier goals are read first: a goal that has ended is not replaced.
    controller.read_reports();
    let is_of_vacuums = controller.vacuums.take(message);
    let topics = &mut controller.groups[group];
    if !is_of_vacuums {
        topics.follow(&mut controller.desk, message);
    }
    if let Some(lockstep) = &mut controller.lockstep {
        lockstep.hear(&topics.topic, time_from_message(&message.header.stamp));
    }
    controller.attend();
}

fn on_target_wrench(controller: &mut Controller, point: usize, message: &WrenchStamped) {
    let topics = &mut controller.forces[point];
    if let Some(target) = topics.target(message) {
        controller.desk.set_target_wrench(point, target);
    }
    if let Some(lockstep) = &mut controller.lockstep {
        lockstep.hear(&topics.topic, time_from_message(&message.header.stamp));
    }
    controller.attend();
}

fn on_wrench(controller: &mut Controller, point: usize, message: &WrenchStamped) {
    if let Some(wrench) = Force::from_message(&message.wrench) {
        controller.desk.set_measured_wrench(point, wrench);
    }
}
