//! Set-up of the node: the gait, its topics and the action.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use karakuri_files::load_gait;
use karakuri_gait::planner::{Biped, WalkEngine, Walker};
use karakuri_ros::msg::geometry_msgs::msg::WrenchStamped;
use karakuri_ros::msg::trajectory_msgs::msg::{JointTrajectory, JointTrajectoryPoint};
use karakuri_ros::{
    Awaits, InputId, JointStateReader, Node, RosError, SampleGate, Throttle, follow_sources, info,
    qos, warn,
};
use karakuri_settings::StabilizerParameters;

use crate::parameters::Parameters;
use crate::planner::GaitPlanner;
use crate::report::Reports;

/// Loads the gait, and offers all topics, the action and parameters.
pub(crate) fn new(node: &mut Node<GaitPlanner>) -> Result<GaitPlanner, Box<dyn std::error::Error>> {
    let parameters = Parameters::declare(node)?;
    let gait = parameters.gait.get();
    if gait.is_empty() {
        return Err("parameter `gait` is empty; give the path of a gait file, such as \
                    `-p gait:=config/gaits/khr1_walk.yaml`"
            .into());
    }
    let (robot, settings) = load_gait(Path::new(&gait))?;
    for warning in &robot.warnings {
        warn!("{warning}");
    }
    let model = Arc::new(robot.model);
    let file_gains = settings.stabilizer;
    let named = |e: &dyn std::fmt::Display| format!("{gait}: {e}");
    let biped = Biped::new(Arc::clone(&model), &settings).map_err(|e| named(&e))?;
    let walker = Walker::new(WalkEngine::new(biped, settings).map_err(|e| named(&e))?);
    let engine = &walker.engine;
    let generator = engine.generator();
    let gains = StabilizerParameters::declare(node, &generator.biped, &generator.settings)?;
    let mut gate = SampleGate::new(parameters.lockstep.get(), reference(&walker));
    let imu =
        if parameters.walk.use_imu.get() { follow_imu(node, &mut gate, engine)? } else { None };
    let foot_inputs = follow_feet(node, &mut gate, engine, imu)?;
    let sources = parameters.lockstep_sources.get();
    follow_sources(node, &mut gate, &sources, |planner: &mut GaitPlanner, input, stamp| {
        planner.gate.hear(input, stamp);
        planner.go_on();
    })?;
    node.subscribe("joint_states", qos::state(), GaitPlanner::on_joint_states)?;
    node.subscribe("cmd_vel", qos::command(), GaitPlanner::on_velocity)?;
    node.action_server("walk", GaitPlanner::on_walk)?;
    node.diagnose("walk", GaitPlanner::diagnose);
    info!("`{}` walks by {gait}", model.name);
    Ok(GaitPlanner {
        reader: JointStateReader::new(&model),
        imu,
        walker,
        gains,
        file_gains,
        reading: None,
        feet: foot_inputs.map(|_| [None; 2]),
        gate,
        foot_inputs: foot_inputs.unwrap_or_default(),
        walk: None,
        velocity: None,
        output: node.publisher("joint_trajectory", qos::command())?,
        reports: Reports::new(node)?,
        ticks: 0,
        begun: 0,
        shown: Default::default(),
        is_lost: false,
        last_fall: None,
        hint: Throttle::new(Duration::from_secs(5)),
        parameters,
        model,
    })
}

/// Reference of the joints that the engine moves, all of the body.
fn reference(walker: &Walker) -> JointTrajectory {
    JointTrajectory {
        joint_names: walker.joint_names(),
        points: vec![JointTrajectoryPoint::default()],
        ..JointTrajectory::default()
    }
}

/// Subscribes to the inertial sensor, if there is one.
fn follow_imu(
    node: &mut Node<GaitPlanner>,
    gate: &mut SampleGate<JointTrajectory>,
    engine: &WalkEngine,
) -> Result<Option<InputId>, RosError> {
    let biped = &engine.generator().biped;
    let Some(sensor) = biped.imu else {
        warn!("`{}` has no inertial sensor: it walks without stabiliser", biped.model.name);
        return Ok(None);
    };
    let topic = format!("imu/{}", biped.model.sensors[sensor].name);
    node.subscribe(&topic, qos::state(), GaitPlanner::on_imu)?;
    Ok(Some(gate.add_input(&topic, Awaits::Always)))
}

/// Subscribes to the force sensors of the feet if both have one; their inputs of the gate, left and right.
fn follow_feet(
    node: &mut Node<GaitPlanner>,
    gate: &mut SampleGate<JointTrajectory>,
    engine: &WalkEngine,
    imu: Option<InputId>,
) -> Result<Option<[Option<InputId>; 2]>, RosError> {
    let biped = &engine.generator().biped;
    let [Some(left), Some(right)] = biped.legs.each_ref().map(|leg| leg.sensor) else {
        return Ok(None);
    };
    let topics = [left, right].map(|s| format!("wrench/{}", biped.model.sensors[s.index].name));
    for (foot, topic) in topics.iter().enumerate() {
        let on_wrench = move |planner: &mut GaitPlanner, message: &WrenchStamped| {
            planner.on_wrench(foot, message);
        };
        node.subscribe(topic, qos::state(), on_wrench)?;
    }
    // Silent feet are not waited for in real time: a driver may have no such sensors. Without an inertial sensor nothing uses
    // them.
    let mut add = |topic: &String| imu.map(|_| gate.add_input(topic, Awaits::InLockstep));
    Ok(Some(topics.each_ref().map(&mut add)))
}
