//! The node: each sample of the robot is one tick of the hand.

use std::sync::Arc;
use std::time::{Duration, Instant};

use karakuri_grasp::pick_and_place::PickAndPlace;
use karakuri_hand_goals::{hand_topic, objects};
use karakuri_model::{ATMOSPHERE, Model};
use karakuri_ros::msg::geometry_msgs::msg::WrenchStamped;
use karakuri_ros::msg::karakuri_msgs::msg::ObjectStates;
use karakuri_ros::msg::sensor_msgs::msg::{FluidPressure, JointState};
use karakuri_ros::msg::trajectory_msgs::msg::JointTrajectory as TrajectoryMessage;
use karakuri_ros::{
    Awaits, FromMessage, JointStateReader, Node, Offer, SOURCE_SILENCE, SampleGate, Throttle,
    follow_sources, info, qos, time_from_message,
};
use karakuri_spatial::Force;

use crate::arm::Arm;
use crate::flange::{Flange, NoHand};
use crate::goals;
use crate::hand::{Gripper, Reading};
use crate::parameters::Parameters;
use crate::tick::{FIRST_TICK, tick};

/// Loads the robot, and offers all topics, actions and parameters.
pub(crate) fn new(node: &mut Node<Flange>) -> Result<Flange, Box<dyn std::error::Error>> {
    let parameters = Parameters::declare(node)?;
    let files = &parameters.robot.files;
    let model = files.load()?;
    files.follow_tools(node)?;
    let flange = if model.end_effector.is_none() && files.may_change() {
        let tool = files.tool()?.unwrap_or_else(|| model.name.clone());
        info!("`{tool}` is on the flange, which is no hand: goals are refused");
        Flange::NoHand(NoHand { tool, clock: node.clock().clone() })
    } else {
        Flange::Hand(Box::new(hand(node, parameters, model)?))
    };
    node.action_server("pick_and_place", Flange::on_pick)?;
    node.action_server("move_tool", Flange::on_move)?;
    node.action_server("gripper_cmd", Flange::on_plain)?;
    node.action_server("parallel_gripper_cmd", Flange::on_parallel)?;
    node.diagnose("hand", Flange::diagnose);
    Ok(flange)
}

/// Makes the hand, and subscribes to what it measures.
fn hand(
    node: &mut Node<Flange>,
    parameters: Parameters,
    model: Arc<Model>,
) -> Result<Gripper, Box<dyn std::error::Error>> {
    let settings = parameters.hand.pick_and_place();
    let machine = PickAndPlace::new(Arc::clone(&model), settings, parameters.hand.grip())?;
    let samples = parameters.robot.sample_qos();
    let mut gate = SampleGate::new(parameters.robot.lockstep.get(), TrajectoryMessage::default());
    let wrench = |i: &usize| format!("wrench/{}", model.sensors[*i].name);
    let wrenches: Vec<_> = machine.sensors().iter().map(wrench).collect();
    for (i, topic) in wrenches.iter().enumerate() {
        node.subscribe(topic, samples.clone(), move |s: &mut Flange, m| {
            s.with_hand(|hand| on_wrench(hand, i, m));
        })?;
    }
    let pressures: Vec<_> =
        machine.cups().iter().map(|cup| format!("pressure/{}", cup.name)).collect();
    for (i, topic) in pressures.iter().enumerate() {
        node.subscribe(topic, samples.clone(), move |s: &mut Flange, m| {
            s.with_hand(|hand| on_pressure(hand, i, m));
        })?;
    }
    let inputs = [&wrenches, &pressures].map(|topics| {
        topics.iter().map(|topic| gate.add_input(topic, Awaits::Always)).collect::<Vec<_>>()
    });
    let sources = parameters.lockstep_sources.get();
    follow_sources(node, &mut gate, &sources, |s: &mut Flange, input, stamp| {
        s.with_hand(|hand| hand.gate.hear(input, stamp));
    })?;
    let hand_joint = machine.opening_hand().map(|hand| hand.fingers().joint());
    let topic = hand_topic(&model, hand_joint)?;
    node.subscribe("joint_states", samples, |s: &mut Flange, m| {
        s.with_hand(|hand| on_joint_states(hand, m));
    })?;
    node.subscribe("/objects", qos::state(), |s: &mut Flange, m| {
        s.with_hand(|hand| on_objects(hand, m));
    })?;
    node.after_events(|s: &mut Flange| s.with_hand(go_on));
    node.wall_timer(Duration::from_millis(10), |s: &mut Flange| {
        s.with_hand(|hand| {
            hand.look_for_subscriber();
            go_on(hand);
        });
    });
    let kind = model.end_effector.as_ref().map_or("?", |e| e.kind.as_str());
    info!("hand of `{}`: {kind}", model.name);
    Ok(Gripper {
        reader: JointStateReader::new(&model),
        transforms: node.transforms()?,
        root: parameters.robot.frame_of(&model.frames[0].name),
        arm: Arm::new(node)?,
        wrenches: vec![None; wrenches.len()],
        vacuums: vec![None; pressures.len()],
        heard: Instant::now(),
        clock: node.clock().clone(),
        sighting: None,
        gate,
        inputs,
        hand_joint,
        output: node.publisher(&topic, qos::command())?,
        grip_state: node.publisher("grip_state", qos::state())?,
        blind: false,
        waiting: None,
        waiting_command: None,
        task: None,
        command: None,
        has_moved: false,
        subscribed: None,
        ticks: FIRST_TICK,
        silent: Throttle::new(Duration::from_secs(5)),
        parameters,
        model,
        machine,
    })
}

fn on_wrench(gripper: &mut Gripper, index: usize, message: &WrenchStamped) {
    if let Some(value) = Force::from_message(&message.wrench) {
        gripper.gate.hear(gripper.inputs[0][index], time_from_message(&message.header.stamp));
        gripper.wrenches[index] = Some(Reading { value, received: Instant::now() });
    }
}

fn on_pressure(gripper: &mut Gripper, index: usize, message: &FluidPressure) {
    let value = ATMOSPHERE - message.fluid_pressure;
    if value.is_finite() {
        gripper.gate.hear(gripper.inputs[1][index], time_from_message(&message.header.stamp));
        gripper.vacuums[index] = Some(Reading { value, received: Instant::now() });
    }
}

fn on_objects(gripper: &mut Gripper, message: &ObjectStates) {
    let objects = objects(message, &gripper.frames());
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
    if let Some(turn) = gripper.gate.take(Instant::now(), SOURCE_SILENCE) {
        tick(gripper, turn);
    } else if gripper.gate.newest().is_some()
        && gripper.gate.unheard().next().is_some()
        && gripper.silent.ready()
    {
        info!("waiting for the hand's sensors");
    }
    let is_withheld = gripper.is_withheld();
    if let Some(reference) = gripper.gate.send(is_withheld) {
        gripper.output.publish(reference);
    }
}
