//! The node: samples out, commands in, time in between.

use std::time::{Duration, Instant};

use karakuri_hardware::{Fault, Pacer, PacingEvent, RobotIo, Tick};
use karakuri_physics::{Ledger, RobotId, Snapshot, SolverSettings};
use karakuri_ros::msg::karakuri_msgs::msg::{EnergyLedger, SimStatistics};
use karakuri_ros::msg::rosgraph_msgs::msg::Clock as ClockMessage;
use karakuri_ros::msg::sensor_msgs::msg::JointState;
use karakuri_ros::msg::std_msgs::msg::Header;
use karakuri_ros::msg::tf2_msgs::msg::TFMessage;
use karakuri_ros::{
    Clock, Later, Node, Publisher, RosError, SolePublisher, Status, Stop, Throttle, Time, Timer,
    error, info, qos, warn,
};

use crate::backend::Backend;
use crate::joint_parameters::JointParameters;
use crate::parameters::Parameters;
use crate::robot::RobotTopics;
use crate::states::WorldTopics;
use crate::stepping::Pending;
use crate::world::{Entity, Scope, WorldKeeper};
use crate::world_parameters::WorldParameters;

/// Wall time a burst of samples may take before other events are looked at. [s]
const BURST: f64 = 0.002;

/// State of the node.
#[derive(Debug)]
pub(crate) struct Sim {
    pub(crate) pacer: Pacer<Backend>,
    pub(crate) keeper: WorldKeeper,
    pub(crate) pending: Pending,
    /// Put back to the start and not moved since, by `set_simulation_state`.
    pub(crate) is_stopped: bool,
    pub(crate) parameters: Parameters,
    /// None without a simulated world.
    world_parameters: Option<WorldParameters>,
    joint_parameters: JointParameters,
    /// Solver settings of the scene.
    scene_solver: Option<SolverSettings>,
    /// Robots of the scene, then those that came while it runs.
    robots: Vec<RobotTopics>,
    n_scene: usize,
    later: Later<Self>,
    world_topics: WorldTopics,
    statistics: Publisher<SimStatistics>,
    /// Steps that the solver left above its tolerance and no diagnostics told of yet.
    unconverged: u64,
    /// Why the simulation paused by itself, until it is reset or goes on.
    failure: Option<String>,
    tf_static: Publisher<TFMessage>,
    clock_topic: Option<Publisher<ClockMessage>>,
    sole_clock: Option<SolePublisher>,
    rivals_said: Throttle,
    clock: Clock,
    pace: Option<Timer>,
    started: Instant,
    stop: Stop,
    next_states: i64,
    meter: Meter,
    waiting: Throttle,
}

/// What went by since the last message of statistics.
#[derive(Debug, Default)]
struct Meter {
    since: f64,
    stamp: i64,
    busy: f64,
    longest: f64,
    rate: f64,
}

impl Sim {
    pub(crate) fn new(node: &mut Node<Self>) -> Result<Self, Box<dyn std::error::Error>> {
        let parameters = Parameters::declare(node)?;
        let (hardware, period) = (parameters.hardware.get(), parameters.period.get());
        let (io, warnings) = crate::backend::open(&hardware, &parameters.scene.get(), period)?;
        for warning in warnings {
            warn!("{warning}");
        }
        let layouts = io.robots().to_vec();
        let simulated = io.world().is_some();
        let scene_solver = io.world().map(|world| world.settings().solver);
        let world_parameters = WorldParameters::declare(node, io.world())?;
        let joint_parameters = JointParameters::declare(node, &io)?;
        let initial: Option<Snapshot> = io.world().map(karakuri_physics::World::snapshot);
        let mut pacer = Pacer::new(io, parameters.pacing());
        pacer.set_playing(!parameters.start_paused.get());
        let alone = layouts.len() == 1;
        let commands = qos::samples(parameters.lockstep.get());
        let frames = parameters.outputs.frame_prefix.get();
        let namespace = parameters.outputs.world_namespace.get().trim_end_matches('/').to_owned();
        let clock = format!("{namespace}/clock");
        let mut robots = Vec::new();
        for (index, layout) in layouts.into_iter().enumerate() {
            let prefix = if alone { String::new() } else { format!("{}/", layout.name) };
            let motors = pacer.io().world().map_or_else(Vec::new, |w| motor_names(w, &layout.name));
            let names = (index, prefix.as_str(), frames.as_str());
            let topics = RobotTopics::new(node, layout, names, commands.clone())?;
            robots.push(topics.with_motors(node, &prefix, motors)?);
        }
        if simulated {
            crate::services::offer(node)?;
        }
        node.diagnose("robots", Self::diagnose);
        node.on_parameters_changed(Self::on_parameters_changed);
        node.after_events(Self::go_on);
        node.wall_timer(Duration::from_secs(1), Self::publish_statistics);
        let names: Vec<&str> = robots.iter().map(|r| r.layout.name.as_str()).collect();
        info!("{hardware}: {} at {:.0} Hz", names.join(", "), 1.0 / period);
        let mut sim = Self {
            keeper: WorldKeeper::new(initial),
            scene_solver,
            pending: Pending::default(),
            is_stopped: false,
            pacer,
            n_scene: robots.len(),
            later: node.later(),
            robots,
            world_topics: WorldTopics::new(node, &namespace)?,
            world_parameters,
            joint_parameters,
            statistics: node.publisher("~/statistics", qos::state())?,
            unconverged: 0,
            failure: None,
            tf_static: node.publisher("/tf_static", qos::latched())?,
            clock_topic: simulated.then(|| node.publisher(&clock, qos::clock())).transpose()?,
            sole_clock: simulated.then(|| node.sole_publisher(&clock)),
            rivals_said: Throttle::new(Duration::from_secs(30)),
            clock: node.clock().clone(),
            pace: Some(node.wall_timer(Duration::ZERO, Self::go_on)),
            started: Instant::now(),
            stop: node.stop(),
            next_states: 0,
            meter: Meter::default(),
            waiting: Throttle::new(Duration::from_secs(5)),
            parameters,
        };
        sim.apply_settings();
        sim.publish_bases();
        Ok(sim)
    }

    /// Gives a robot that came to the world its topics below `prefix`, as soon as what runs now is through.
    pub(crate) fn adopt(&mut self, id: RobotId, prefix: &str) {
        let Some(index) = self.pacer.io_mut().adopt(id) else { return };
        self.pacer.add_guest(index);
        let prefix = format!("{prefix}/");
        self.later.run(move |node, sim| {
            if let Err(error) = sim.connect(node, index, &prefix) {
                warn!("a spawned robot has no topics: {error}");
            }
        });
        self.follow_robots();
    }

    /// Robots came or went: the parameters of their joints do so, too, as soon as what runs now is through.
    pub(crate) fn follow_robots(&self) {
        self.later.run(|node, sim| {
            if let Err(error) = sim.joint_parameters.follow(node, sim.pacer.io()) {
                warn!("a spawned robot lacks parameters: {error}");
            }
        });
    }

    fn connect(
        &mut self,
        node: &mut Node<Self>,
        index: usize,
        prefix: &str,
    ) -> Result<(), RosError> {
        let Some(layout) = self.pacer.io().robots().get(index).cloned() else { return Ok(()) };
        if let Some(topics) = self.robots.get_mut(index) {
            topics.take_over(layout);
        } else {
            if index > self.robots.len() {
                return Ok(()); // one before it has no topics, and said so
            }
            let motors =
                self.pacer.io().world().map_or_else(Vec::new, |w| motor_names(w, &layout.name));
            let commands = qos::samples(self.parameters.lockstep.get());
            let frames = self.parameters.outputs.frame_prefix.get();
            let topics = RobotTopics::new(node, layout, (index, prefix, &frames), commands)?;
            self.robots.push(topics.with_motors(node, prefix, motors)?);
        }
        self.publish_bases();
        Ok(())
    }

    /// Says where the fixed robots stand, and where `odom` is, in which the others move.
    fn publish_bases(&self) {
        let there = self.robots.iter().enumerate().filter(|(i, _)| self.pacer.io().is_present(*i));
        let bases = there.map(|(_, robot)| robot.base_transform(self.clock.now()));
        self.tf_static.publish(&TFMessage { transforms: bases.collect() });
    }

    fn now(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// A command for robot `index`.
    pub(crate) fn on_command(&mut self, index: usize, message: &JointState) {
        let now = self.now();
        let Some(robot) = self.robots.get_mut(index) else { return };
        if !self.pacer.io().is_present(index) || !robot.read_command(message) {
            return;
        }
        let stamp = Time::from(&message.header.stamp).nanoseconds();
        if let Err(e) = self.pacer.command(index, stamp, &robot.command, now) {
            robot.refuse(&e);
        }
    }

    /// Takes as many samples as are due, and publishes each.
    pub(crate) fn go_on(&mut self) {
        let begun = self.now();
        let mut wait = 0.0;
        loop {
            let now = self.now();
            match self.pacer.poll(now) {
                Ok(Tick::Advanced) => {
                    let spent = self.now() - now;
                    self.meter.busy += spent;
                    self.meter.longest = self.meter.longest.max(spent);
                    self.publish();
                    self.pending.after_sample(&self.pacer);
                }
                Ok(Tick::Repeat) => {
                    self.publish();
                    self.say_what_is_awaited();
                }
                Ok(Tick::Wait(seconds)) => {
                    wait = seconds;
                    break;
                }
                Err(e) => {
                    error!("{e}; the simulation is paused, reset it to go on");
                    self.pacer.set_playing(false);
                    self.failure = Some(e.to_string());
                    break;
                }
            }
            if now - begun > BURST {
                break;
            }
        }
        if let Some(pace) = &self.pace {
            pace.set_period(Duration::from_secs_f64(wait.clamp(0.0, 0.05)));
        }
        self.pending.check(&mut self.pacer);
        self.report_events();
    }

    fn report_events(&mut self) {
        let events: Vec<PacingEvent> = self.pacer.take_events().collect();
        for event in events {
            match event {
                PacingEvent::CommandsLost { robot, silence } => warn!(
                    "robot `{}`: no joint_command for {silence:.3} s; it holds its place, and what it grips, until the controller returns",
                    self.robots[robot].layout.name
                ),
                PacingEvent::CommandsBack { robot } => {
                    info!("robot `{}`: commands are back", self.robots[robot].layout.name);
                }
            }
        }
    }

    /// In lockstep a silent partner stops time: say whom the simulation waits for.
    fn say_what_is_awaited(&self) {
        if !self.pacer.settings().lockstep || !self.pacer.is_playing() {
            return;
        }
        let names: Vec<&str> =
            self.pacer.awaited().map(|i| self.robots[i].layout.name.as_str()).collect();
        if !names.is_empty() && self.waiting.ready() {
            info!("lockstep: waiting for joint_command of {}", names.join(", "));
        }
    }

    /// Publishes the present sample: the clock first, the joints last.
    pub(crate) fn publish(&mut self) {
        let time = match self.clock_topic {
            Some(_) => Time::from_nanoseconds(self.pacer.stamp()),
            None => self.clock.now(),
        };
        let stamp = time.to_message();
        if let Some(clock) = &self.clock_topic {
            clock.publish(&ClockMessage { clock: stamp.clone() });
        }
        let io = self.pacer.io();
        for (index, robot) in self.robots.iter_mut().enumerate().filter(|(i, _)| io.is_present(*i))
        {
            robot.publish(io, index, &stamp);
        }
        let due = self.pacer.stamp() >= self.next_states
            || self.pacer.stamp() == self.pacer.first_stamp();
        if due {
            self.next_states = Time::from_nanoseconds(self.pacer.stamp())
                .plus_seconds(self.parameters.outputs.state_period.get())
                .nanoseconds();
            self.world_topics.publish(self.pacer.io(), self.n_scene, &stamp);
            let io = self.pacer.io();
            for (_, robot) in self.robots.iter().enumerate().filter(|(i, _)| io.is_present(*i)) {
                robot.publish_odometry(&stamp);
                robot.publish_transforms(io, &stamp);
            }
        }
    }

    fn on_parameters_changed(&mut self) {
        self.pacer.set_settings(self.parameters.pacing());
        self.apply_settings();
        self.go_on();
    }

    fn apply_settings(&mut self) {
        let Some(scene) = self.scene_solver else { return };
        if let Some(world) = self.pacer.io_mut().world_mut() {
            let mut settings = *world.settings();
            settings.solver = self.parameters.solver(scene);
            settings.energy_ledger = self.parameters.outputs.energy_ledger.get();
            if let Some(parameters) = &self.world_parameters {
                settings = parameters.over(settings);
            }
            world.set_settings(settings);
            if let Err(error) = self.joint_parameters.apply(world) {
                warn!("not applied: {error}");
            }
        }
    }

    fn publish_statistics(&mut self) {
        let now = self.now();
        let stamp = self.pacer.stamp();
        let meter = std::mem::take(&mut self.meter);
        let passed = now - meter.since;
        let rate = Time::from_nanoseconds(stamp).seconds_since(Time::from_nanoseconds(meter.stamp))
            / passed;
        self.meter = Meter { since: now, stamp, rate: rate.max(0.0), ..Meter::default() };
        let period = self.pacer.io().period();
        let Some(tally) = self.pacer.io_mut().take_tally() else { return };
        self.unconverged += tally.unconverged;
        let Some(world) = self.pacer.io_mut().world_mut() else { return };
        let (statistics, energy, dt) = (world.statistics(), world.energy(), world.settings().dt);
        let each = |total: f64| total / tally.steps.max(1) as f64;
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let [collision_time, free_motion_time, rows_time, solve_time, integrate_time] =
            tally.stage_times();
        self.statistics.publish(&SimStatistics {
            header: Header {
                stamp: Time::from_nanoseconds(stamp).to_message(),
                frame_id: "world".to_owned(),
            },
            step: statistics.steps,
            time_step: dt,
            real_time_factor: rate.max(0.0),
            step_time: each(meter.busy),
            step_time_max: meter.longest * dt / period,
            wait_time: each(passed - meter.busy),
            contacts: count(statistics.n_contacts),
            constraints: count(statistics.n_blocks),
            iterations: count(tally.most_iterations),
            residual: tally.worst_residual,
            unconverged: u32::try_from(tally.unconverged).unwrap_or(u32::MAX),
            collision_time,
            free_motion_time,
            rows_time,
            solve_time,
            integrate_time,
            kinetic_energy: energy.kinetic,
            potential_energy: energy.potential,
            ledger: ledger_message(&world.ledger()),
        });
    }

    fn diagnose(&mut self) -> Status {
        let unconverged = std::mem::take(&mut self.unconverged);
        let lost: Vec<&str> = (0..self.robots.len())
            .filter(|&i| self.pacer.is_lost(i) && self.pacer.io().is_present(i))
            .map(|i| self.robots[i].layout.name.as_str())
            .collect();
        let rivals = self.rivals();
        if self.pacer.is_playing() {
            self.failure = None;
        }
        let io = self.pacer.io();
        let broken = (0..self.robots.len()).find_map(|i| match io.fault(i) {
            Some(Fault::Device { what }) => Some(what),
            _ => None,
        });
        let status = if let Some(what) = broken {
            Status::error(what)
        } else if let Some(failure) = &self.failure {
            Status::error(format!("paused: {failure}; reset the simulation to go on"))
        } else if let Some(rivals) = rivals {
            Status::warn(rivals)
        } else if !lost.is_empty() {
            Status::warn(format!("{} in hold: no joint_command", lost.join(", ")))
        } else if unconverged > 0 {
            Status::warn(format!("contacts of {unconverged} steps are not solved to the tolerance"))
        } else {
            Status::ok(if self.pacer.is_playing() { "running" } else { "paused" })
        };
        status
            .value("real_time_factor", self.meter.rate)
            .value("lockstep", self.pacer.settings().lockstep)
    }

    /// Who else publishes what this node does, or commands what another does: two simulations, or two controllers.
    fn rivals(&self) -> Option<String> {
        let there = self.robots.iter().enumerate().filter(|(i, _)| self.pacer.io().is_present(*i));
        let mut topics = there.flat_map(|(_, robot)| &robot.sole).chain(&self.sole_clock);
        let rivals = topics.find_map(SolePublisher::rivals)?;
        if self.rivals_said.ready() {
            warn!("{rivals}");
        }
        Some(rivals)
    }

    /// Whether a robot came while the simulation ran.
    pub(crate) fn is_spawned(&self, id: RobotId) -> bool {
        self.keeper.is_spawned(id)
    }

    /// The robot or object of this name.
    pub(crate) fn entity(&self, name: &str) -> Option<Entity> {
        self.pacer.io().world().and_then(|world| crate::world::find(world, name))
    }

    /// Back to the start, as far as `scope` goes.
    pub(crate) fn reset(&mut self, scope: Scope) -> Result<(), String> {
        let posture = self.parameters.reset_posture.get();
        self.keeper.reset(self.pacer.io_mut(), scope, &posture)?;
        self.failure = None;
        self.apply_settings();
        self.follow_robots();
        if scope.time {
            self.pacer.reset_time();
            self.next_states = 0;
        } else {
            self.pacer.forget_commands();
        }
        Ok(())
    }

    /// Takes away what was not there at the start.
    pub(crate) fn delete_spawned(&mut self) {
        if let Some(world) = self.pacer.io_mut().world_mut() {
            self.keeper.delete_spawned(world);
        }
        self.follow_robots();
    }

    /// Goes back to a kept snapshot, time included.
    pub(crate) fn restore(&mut self, name: &str) -> Result<(i64, u64), String> {
        let world = self.pacer.io_mut().world_mut().ok_or("there is no simulated world")?;
        let (stamp, digest) = self.keeper.restore(name, world)?;
        self.pacer.set_stamp(stamp);
        // Parameters that were changed since hold; those that were not change nothing.
        self.apply_settings();
        self.follow_robots();
        self.next_states = 0;
        self.publish();
        Ok((stamp, digest))
    }

    /// Ends the node.
    pub(crate) fn quit(&self) {
        self.stop.stop();
    }
}

fn ledger_message(ledger: &Ledger) -> EnergyLedger {
    EnergyLedger {
        kinetic: ledger.kinetic,
        potential: ledger.potential,
        servos: ledger.servos,
        external: ledger.external,
        contacts: ledger.contacts,
        limits: ledger.limits,
        friction: ledger.friction,
        dampers: ledger.dampers,
        loops: ledger.loops,
        stabilisation: ledger.stabilisation,
        integration: ledger.integration,
        unexplained: ledger.unexplained,
    }
}

/// Names of a robot's motors.
fn motor_names(world: &karakuri_physics::World, robot: &str) -> Vec<String> {
    let motors = world.find_robot(robot).map(|id| world.motors(id));
    motors.into_iter().flatten().map(|(motor, _)| motor.name.clone()).collect()
}
