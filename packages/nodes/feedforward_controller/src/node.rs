//! The node: parameters, topics and actions of a [`Controller`].
//!
//! Samples are answered in [`Cycle`]: on the thread that receives them, which shares no lock with this one; in lockstep here,
//! in order with what the answer depends on.

use std::sync::Arc;
use std::time::{Duration, Instant};

use karakuri_control::realtime::split;
use karakuri_control::{ControllerError, FeedforwardController};
use karakuri_ros::msg::sensor_msgs::msg::JointState;
use karakuri_ros::{
    Awaits, Backlog, JointStateReader, Node, RivalWatch, RobotParameters, RosError, SampleGate,
    Status, Stopwatch, Throttle, Timing, info, qos, warn,
};
use karakuri_spatial::Time;
use rtrb::RingBuffer;

use crate::controller::{Controller, Lockstep};
use crate::cycle::Cycle;
use crate::group::Queries;
use crate::parameters::Parameters;
use crate::topics::{force_topics, group_topics, vacuum_topic};
use crate::vacuums::Vacuums;

/// Loads the robot, and offers all topics, actions and parameters.
pub(crate) fn new(node: &mut Node<Controller>) -> Result<Controller, Box<dyn std::error::Error>> {
    let robot = RobotParameters::declare(node)?;
    let model = robot.files.load()?;
    robot.files.follow_tools(node)?;
    if model.groups.is_empty() {
        return Err(ControllerError::NoGroups { robot: model.name.clone() }.into());
    }
    let parameters = Parameters::declare(node, &model)?;
    let settings = parameters.feedforward(&model);
    let mut controller = FeedforwardController::new(Arc::clone(&model), settings)?;
    let mut groups = Vec::new();
    let mut commanded = Vec::new();
    for (index, group) in model.groups.iter().enumerate() {
        commanded.extend(group.joints.iter().map(|j| j.0));
        let names = group.joints.iter().map(|j| model.joints[j.0].name.clone()).collect();
        groups.push(group_topics(node, index, &group.name, names)?);
        if let Some(machine) = controller.machine_mut(index) {
            parameters.apply_to_group(machine.settings_mut());
        }
    }
    let mut forces = Vec::new();
    for link in parameters.wrench_links.get().iter().filter(|link| !link.is_empty()) {
        let point = controller.add_force_point(link).map_err(|e| format!("wrench_links: {e}"))?;
        forces.push(force_topics(node, point, link, &model, &robot)?);
    }
    info!("controlling `{}`: {} joints in {} groups", model.name, commanded.len(), groups.len());
    let (updater, desk) = split(controller);
    let (unread, reported) = RingBuffer::new(1);
    let timing = Arc::<Timing>::default();
    let output = node.wire_publisher("joint_command", qos::state())?;
    let audience = output.audience();
    let vacuums = Vacuums::new(&model);
    vacuum_topic(node, &model)?;
    let joints = commanded.iter().map(|&j| &model.joints[j].name);
    let name = joints.chain(vacuums.names()).cloned().collect();
    let cycle = Cycle {
        model: Arc::clone(&model),
        updater,
        reader: JointStateReader::new(&model),
        output,
        message: JointState { name, ..JointState::default() },
        commanded,
        vacuums: vacuums.clone(),
        period: robot.period.clone(),
        stopwatch: Stopwatch::new(Arc::clone(&timing)),
        unread,
        waker: node.waker(),
    };
    let sources = parameters.own.lockstep_sources.get();
    let lockstep = follow_samples(node, &robot, cycle, &sources)?;
    node.after_events(Controller::attend);
    node.wall_timer(Duration::from_secs(1), look_for_rivals);
    node.on_parameters_changed(on_parameters_changed);
    node.diagnose("control", diagnose);
    Ok(Controller {
        parameters,
        model,
        desk,
        groups,
        forces,
        vacuums,
        lockstep,
        audience,
        clock: node.clock().clone(),
        heard: (0, Instant::now()),
        early: Vec::new(),
        queries: Queries::default(),
        unread: reported,
        next_feedback: Time::ZERO,
        saturated: Throttle::new(Duration::from_secs(2)),
        incomplete: Throttle::new(Duration::from_secs(5)),
        implausible: Throttle::new(Duration::from_secs(5)),
        sole: ["joint_states", "joint_command"].map(|topic| node.sole_publisher(topic)),
        rival: None,
        rivals: RivalWatch::default(),
        timing,
        n_interruptions: 0,
    })
}

/// Subscribes to samples; they are answered on the receiving thread, or, when it returns the state of lockstep, on this one.
fn follow_samples(
    node: &mut Node<Controller>,
    robot: &RobotParameters,
    mut cycle: Cycle,
    sources: &[String],
) -> Result<Option<Lockstep>, RosError> {
    if robot.lockstep.get() {
        // The timer calls again while a sample waits for its inputs.
        node.subscribe("joint_states", robot.sample_qos(), on_joint_states)?;
        node.wall_timer(Duration::from_millis(10), Controller::attend);
        let mut gate = SampleGate::new(true, ());
        for topic in sources.iter().filter(|topic| !topic.is_empty()) {
            gate.add_input(topic, Awaits::OnceHeard);
        }
        return Ok(Some(Lockstep { cycle, gate }));
    }
    let mut backlog = Backlog::default();
    node.subscribe_directly("joint_states", robot.sample_qos(), move |sample| {
        if let Some(stamp) = cycle.read(sample)
            && !backlog.is_outdated(Instant::now(), stamp)
        {
            cycle.answer(stamp);
        }
    })?;
    node.wall_timer(Duration::from_millis(50), Controller::attend);
    Ok(None)
}

fn on_joint_states(controller: &mut Controller, message: &JointState) {
    if let Some(Lockstep { cycle, gate }) = &mut controller.lockstep
        && let Some(stamp) = cycle.read(message)
    {
        // A repeated sample is computed again: equal samples get equal answers, and commands that came since count.
        gate.renew(stamp);
    }
    controller.attend();
}

/// Looks for a second node that commands or measures the same robot: each undoes what the other does.
fn look_for_rivals(controller: &mut Controller) {
    controller.rival = controller.rivals.look(&controller.sole);
}

fn on_parameters_changed(controller: &mut Controller) {
    let settings = controller.parameters.feedforward(&controller.model);
    if let Err(e) = controller.desk.set_settings(settings) {
        warn!("{e}");
    }
    for group in 0..controller.groups.len() {
        controller.desk.set_group(group, |settings| controller.parameters.apply_to_group(settings));
    }
}

fn diagnose(controller: &mut Controller) -> Status {
    let status = match controller.desk.newest() {
        None => Status::warn("waiting for joint_states"),
        Some(_) => match &controller.rival {
            Some(rival) => Status::warn(rival),
            None => Status::ok("controlling"),
        },
    };
    let gate = controller.lockstep.as_ref().map(|lockstep| &lockstep.gate);
    let awaited = gate.map(|gate| gate.awaited().collect::<Vec<_>>().join(", "));
    let status = status
        .value("method", &controller.desk.settings().method)
        .value("n_interruptions", controller.n_interruptions)
        .value("awaits", awaited.unwrap_or_default());
    controller.timing.report(status)
}
