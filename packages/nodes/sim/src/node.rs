//! The node: publishes samples, takes commands, and lets time pass in between.

use std::time::{Duration, Instant};

use karakuri_hardware::{LoadMeter, Pacer, PacingEvent, RobotIo, Tick};
use karakuri_robot_topics::report;
use karakuri_ros::{Node, RivalWatch, Throttle, error, info, qos, warn};
use karakuri_simulation::SimulatedWorld;

use crate::backend::Backend;
use crate::diagnosis;
use crate::joint_parameters::JointParameters;
use crate::parameters::Parameters;
use crate::pending::Pending;
use crate::robot::RobotTopics;
use crate::services;
use crate::simulation::{Health, LiveSettings, Sim, Topics};
use crate::states::WorldTopics;
use crate::statistics::Statistics;
use crate::tools::ToolTopic;
use crate::world::WorldKeeper;
use crate::world_parameters::WorldParameters;

/// Wall time that a burst of samples may take before other events are looked at. [s]
const BURST: f64 = 0.002;

/// Opens the scene, and offers all topics, services and parameters.
pub(crate) fn new(node: &mut Node<Sim>) -> Result<Sim, Box<dyn std::error::Error>> {
    let parameters = Parameters::declare(node)?;
    let (hardware, period) = (parameters.hardware.get(), parameters.period.get());
    let (io, warnings) = crate::backend::open(&parameters)?;
    for warning in warnings {
        warn!("{warning}");
    }
    let settings = LiveSettings {
        scene_solver: io.world().map(|world| world.settings().solver),
        world: WorldParameters::declare(node, io.world())?,
        joints: JointParameters::declare(node, &io)?,
    };
    let keeper = WorldKeeper::new(io.simulated().map(SimulatedWorld::save));
    let robots = scene_robots(node, &io, &parameters)?;
    let is_simulated = io.world().is_some();
    if is_simulated {
        services::offer(node)?;
    }
    node.diagnose("robots", diagnosis::diagnose);
    node.on_parameters_changed(on_parameters_changed);
    node.after_events(go_on);
    node.wall_timer(Duration::from_secs(1), publish_statistics);
    let names: Vec<&str> = robots.iter().map(RobotTopics::name).collect();
    info!("{hardware}: {} at {:.0} Hz", names.join(", "), 1.0 / period);
    let namespace = parameters.outputs.world_namespace.get().trim_end_matches('/').to_owned();
    let clock = format!("{namespace}/clock");
    let tool = ToolTopic::new(node, &io, &robots)?;
    let mut pacer = Pacer::new(io, parameters.pacing());
    pacer.set_playing(!parameters.start_paused.get());
    let mut sim = Sim {
        pacer,
        keeper,
        pending: Pending::default(),
        is_stopped: false,
        settings,
        n_scene: robots.len(),
        robots,
        tool,
        topics: Topics {
            world: WorldTopics::new(node, &namespace)?,
            tf_static: node.publisher("/tf_static", qos::latched())?,
            clock: is_simulated.then(|| node.publisher(&clock, qos::clock())).transpose()?,
        },
        statistics: Statistics::new(node)?,
        load: LoadMeter::default(),
        health: Health {
            failure: None,
            sole_clock: is_simulated.then(|| node.sole_publisher(&clock)),
            rivals: RivalWatch::default(),
            waiting_said: Throttle::new(Duration::from_secs(5)),
        },
        clock: node.clock().clone(),
        pace: Some(node.wall_timer(Duration::ZERO, go_on)),
        started: Instant::now(),
        later: node.later(),
        stop: node.stop(),
        next_states: 0,
        has_changed: false,
        parameters,
    };
    sim.apply_settings();
    sim.publish_bases();
    sim.follow_tool();
    Ok(sim)
}

/// Topics of the scene's robots: below their names where there are several.
fn scene_robots(
    node: &mut Node<Sim>,
    io: &Backend,
    parameters: &Parameters,
) -> Result<Vec<RobotTopics>, karakuri_ros::RosError> {
    let is_alone = io.robots().len() == 1;
    let prefix = |name: &str| if is_alone { String::new() } else { format!("{name}/") };
    let robots = io.robots().iter().enumerate();
    robots
        .map(|(i, layout)| Sim::robot_topics(node, io, i, &prefix(&layout.name), parameters))
        .collect()
}

/// Takes as many samples as are due, and publishes each.
fn go_on(sim: &mut Sim) {
    let begun = sim.now();
    let mut wait = 0.0;
    loop {
        let now = sim.now();
        match sim.pacer.poll(now) {
            Ok(Tick::Advanced) => {
                sim.load.add(sim.now() - now);
                sim.publish();
                sim.pending.after_sample(&sim.pacer);
            }
            Ok(Tick::Repeat) => {
                sim.publish();
                say_what_is_awaited(sim);
            }
            Ok(Tick::Wait(seconds)) => {
                wait = seconds;
                break;
            }
            Err(e) => {
                error!("{e}; the simulation is paused, reset it to go on");
                sim.pacer.set_playing(false);
                sim.health.failure = Some(e.to_string());
                break;
            }
        }
        if now - begun > BURST {
            break;
        }
    }
    if let Some(pace) = &sim.pace {
        pace.set_period(Duration::from_secs_f64(wait.clamp(0.0, 0.05)));
    }
    sim.pending.check(&mut sim.pacer);
    report_events(sim);
}

fn report_events(sim: &mut Sim) {
    let robots = &sim.robots;
    for event in sim.pacer.take_events() {
        let (PacingEvent::CommandsLost { robot, .. } | PacingEvent::CommandsBack { robot }) = event;
        report(&event, robots[robot].name());
    }
}

/// Reports whom the simulation waits for, as in lockstep a silent partner stops time.
fn say_what_is_awaited(sim: &Sim) {
    if !sim.pacer.settings().lockstep || !sim.pacer.is_playing() {
        return;
    }
    let names: Vec<&str> = sim.pacer.awaited().map(|i| sim.robots[i].name()).collect();
    if !names.is_empty() && sim.health.waiting_said.ready() {
        info!("lockstep: waiting for joint_command of {}", names.join(", "));
    }
}

fn on_parameters_changed(sim: &mut Sim) {
    sim.pacer.set_settings(sim.parameters.pacing());
    sim.apply_settings();
    go_on(sim);
}

fn publish_statistics(sim: &mut Sim) {
    let stamp = sim.pacer.stamp();
    let load = sim.load.report(sim.now(), stamp);
    sim.statistics.publish(sim.pacer.io_mut(), &load, stamp);
}
