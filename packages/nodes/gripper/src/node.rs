//! The node: each sample of the robot is one tick of the hand.

use std::sync::Arc;
use std::time::{Duration, Instant};

use karakuri_grasp::grip_monitor::GripMonitor;
use karakuri_grasp::pick_and_place::PickAndPlace;
use karakuri_ros::msg::geometry_msgs::msg::WrenchStamped;
use karakuri_ros::msg::karakuri_msgs::msg::ObjectStates;
use karakuri_ros::msg::sensor_msgs::msg::JointState;
use karakuri_ros::msg::trajectory_msgs::msg::JointTrajectory as TrajectoryMessage;
use karakuri_ros::{
    Awaits, FromMessage, JointStateReader, Node, Offer, SampleGate, Status, Throttle, info, qos,
    time_from_message,
};
use karakuri_spatial::Force;

use crate::arm::Arm;
use crate::goals;
use crate::hand::{Gripper, Reading};
use crate::parameters::Parameters;
use crate::pick;
use crate::tick::{FIRST_TICK, tick};

/// Loads the robot, and offers all topics, actions and parameters.
pub(crate) fn new(node: &mut Node<Gripper>) -> Result<Gripper, Box<dyn std::error::Error>> {
    let parameters = Parameters::declare(node)?;
    let model = parameters.robot.load()?;
    let machine =
        PickAndPlace::new(Arc::clone(&model), parameters.pick_and_place(), parameters.grip())?;
    let samples = parameters.robot.sample_qos();
    let mut gate = SampleGate::new(parameters.robot.lockstep.get(), TrajectoryMessage::default());
    let sensors = machine.sensors().map(|sensors| sensors.indices());
    let topic = |i: &usize| format!("wrench/{}", model.sensors[*i].name);
    let topics: Vec<_> = sensors.iter().flatten().map(topic).collect();
    for (finger, topic) in topics.iter().enumerate() {
        node.subscribe(topic, samples.clone(), move |s: &mut Gripper, m| on_wrench(s, finger, m))?;
    }
    let fingers = topics.iter().map(|topic| gate.add_input(topic, Awaits::Always)).collect();
    let hand = machine.hand().joint();
    let group = model.groups.iter().position(|g| g.joints.contains(&hand)).ok_or_else(|| {
        format!(
            "the hand's joint `{}` is in no group; add it to `groups` of the robot YAML",
            model.joints[hand.0].name
        )
    })?;
    let topic = match group {
        0 => "joint_trajectory".to_owned(),
        _ => format!("{}/joint_trajectory", model.groups[group].name),
    };
    node.subscribe("joint_states", samples, on_joint_states)?;
    node.subscribe("/objects", qos::state(), on_objects)?;
    node.action_server("pick_and_place", goals::on_pick)?;
    node.action_server("gripper_cmd", goals::on_command)?;
    node.action_server("parallel_gripper_cmd", goals::on_parallel_command)?;
    node.after_events(go_on);
    node.wall_timer(Duration::from_millis(10), go_on);
    node.diagnose("hand", diagnose);
    let kind = model.end_effector.as_ref().map_or("?", |e| e.kind.as_str());
    info!("hand of `{}`: {kind}", model.name);
    Ok(Gripper {
        reader: JointStateReader::new(&model),
        transforms: node.transforms()?,
        root: parameters.robot.frame_of(&model.frames[0].name),
        arm: Arm::new(node)?,
        readings: [None; 2],
        heard: Instant::now(),
        clock: node.clock().clone(),
        sighting: None,
        gate,
        fingers,
        hand_joint: model.joints[hand.0].name.clone(),
        output: node.publisher(&topic, qos::command())?,
        grip_state: node.publisher("grip_state", qos::state())?,
        blind: false,
        waiting: None,
        pick: None,
        command: None,
        has_moved: false,
        subscribed: None,
        monitor: GripMonitor::default(),
        ticks: FIRST_TICK,
        silent: Throttle::new(Duration::from_secs(5)),
        parameters,
        model,
        machine,
    })
}

fn on_wrench(gripper: &mut Gripper, finger: usize, message: &WrenchStamped) {
    if let Some(wrench) = Force::from_message(&message.wrench) {
        gripper.gate.hear(gripper.fingers[finger], time_from_message(&message.header.stamp));
        gripper.readings[finger] = Some(Reading { wrench, received: Instant::now() });
    }
}

fn on_objects(gripper: &mut Gripper, message: &ObjectStates) {
    let objects = pick::objects(message, gripper.frames());
    gripper.blind = false;
    gripper.sighting = Some((time_from_message(&message.header.stamp), objects));
}

fn on_joint_states(gripper: &mut Gripper, message: &JointState) {
    gripper.heard = Instant::now();
    if gripper.reader.read(&gripper.model, message).is_ok() {
        let stamp = time_from_message(&message.header.stamp);
        let is_withheld = gripper.is_withheld();
        if let Offer::Repeated(reference) = gripper.gate.offer(stamp, &gripper.reader.q) {
            if let Some(reference) = reference.filter(|_| !is_withheld) {
                gripper.output.publish(reference);
            }
            return;
        }
    }
    go_on(gripper);
}

/// Ticks the newest sample when its force readings are there, and sends the reference unless it is withheld.
fn go_on(gripper: &mut Gripper) {
    gripper.end_if_lost();
    goals::begin(gripper);
    if let Some(turn) = gripper.gate.take(Instant::now(), Duration::MAX) {
        tick(gripper, turn);
    } else if gripper.gate.newest().is_some()
        && gripper.gate.unheard().next().is_some()
        && gripper.silent.ready()
    {
        info!("waiting for the finger sensors");
    }
    let is_withheld = gripper.is_withheld();
    if let Some(reference) = gripper.gate.send(is_withheld) {
        gripper.output.publish(reference);
    }
}

fn diagnose(gripper: &mut Gripper) -> Status {
    let status = match gripper.not_ready() {
        Some(why) => Status::warn(why),
        None if gripper.machine.is_busy() => Status::ok("picking and placing"),
        None => Status::ok("ready"),
    };
    let status = status.value("force_by", gripper.force_source());
    let (_, grip) = gripper.machine.hand_and_grip();
    status.value("opening_m", grip.state().opening)
}
