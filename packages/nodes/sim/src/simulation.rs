//! State of the node, and the actions of services and timers on it.

use std::time::Instant;

use karakuri_hardware::{LoadMeter, Pacer, RobotIo};
use karakuri_physics::{RobotId, SolverSettings, World};
use karakuri_ros::msg::rosgraph_msgs::msg::Clock as ClockMessage;
use karakuri_ros::msg::sensor_msgs::msg::JointState;
use karakuri_ros::msg::tf2_msgs::msg::TFMessage;
use karakuri_ros::{
    Clock, IntoMessage, Later, Node, Publisher, RivalWatch, RosError, SolePublisher, Stop,
    Throttle, Timer, qos, warn,
};
use karakuri_spatial::Time;

use crate::backend::Backend;
use crate::joint_parameters::JointParameters;
use crate::parameters::Parameters;
use crate::pending::Pending;
use crate::robot::RobotTopics;
use crate::states::WorldTopics;
use crate::statistics::Statistics;
use crate::tools::ToolTopic;
use crate::world::{Entity, Scope, WorldKeeper};
use crate::world_parameters::WorldParameters;

/// State of the node.
#[derive(Debug)]
pub(crate) struct Sim {
    pub(crate) pacer: Pacer<Backend>,
    pub(crate) keeper: WorldKeeper,
    pub(crate) pending: Pending,
    /// Whether `set_simulation_state` put it back to the start, and it has not moved since.
    pub(crate) is_stopped: bool,
    pub(crate) parameters: Parameters,
    pub(crate) settings: LiveSettings,
    /// Robots of the scene, then those that came while it runs.
    pub(crate) robots: Vec<RobotTopics>,
    pub(crate) n_scene: usize,
    pub(crate) topics: Topics,
    /// Topic of the tool on the flange, where a robot changes tools.
    pub(crate) tool: Option<ToolTopic>,
    pub(crate) statistics: Statistics,
    pub(crate) load: LoadMeter,
    pub(crate) health: Health,
    pub(crate) clock: Clock,
    pub(crate) pace: Option<Timer>,
    pub(crate) started: Instant,
    pub(crate) later: Later<Self>,
    pub(crate) stop: Stop,
    pub(crate) next_states: i64,
    /// Whether a service has changed the world since it was published.
    pub(crate) has_changed: bool,
}

/// Settings of the simulation that change while it runs.
#[derive(Debug)]
pub(crate) struct LiveSettings {
    /// Parameters of the world; none without a simulated one.
    pub(crate) world: Option<WorldParameters>,
    pub(crate) joints: JointParameters,
    /// Solver settings of the scene.
    pub(crate) scene_solver: Option<SolverSettings>,
}

/// Topics of all robots together.
#[derive(Debug)]
pub(crate) struct Topics {
    pub(crate) world: WorldTopics,
    pub(crate) tf_static: Publisher<TFMessage>,
    /// Publisher of `/clock`; none without a simulated world.
    pub(crate) clock: Option<Publisher<ClockMessage>>,
}

/// Lasting problems, for diagnostics.
#[derive(Debug)]
pub(crate) struct Health {
    /// Reason why the simulation paused by itself, until it is reset or goes on.
    pub(crate) failure: Option<String>,
    /// Check of the clock's only publisher, where this node is one.
    pub(crate) sole_clock: Option<SolePublisher>,
    pub(crate) rivals: RivalWatch,
    /// Throttle of the report whom the simulation waits for.
    pub(crate) waiting_said: Throttle,
}

impl Sim {
    /// Wall time since the start. [s]
    pub(crate) fn now(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Topics below `prefix`, which is empty or ends in a slash, of robot `index` of `io`, its commands among them.
    pub(crate) fn robot_topics(
        node: &mut Node<Self>,
        io: &Backend,
        index: usize,
        prefix: &str,
        parameters: &Parameters,
    ) -> Result<RobotTopics, RosError> {
        let commands = qos::samples(parameters.lockstep.get());
        let on_command = move |sim: &mut Self, message: &JointState| sim.on_command(index, message);
        node.subscribe(&format!("{prefix}joint_command"), commands, on_command)?;
        let layout = io.robots()[index].clone();
        let motors = io.world().map_or_else(Vec::new, |world| motor_names(world, &layout.name));
        let frames = parameters.outputs.frame_prefix.get();
        RobotTopics::new(node, layout, prefix, &frames)?.with_motors(node, motors)
    }

    /// Gives a robot that came to the world its topics below `prefix`, once the present handler has returned.
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

    /// Follows robots that came or went with the parameters of their joints, once the present handler has returned.
    pub(crate) fn follow_robots(&self) {
        self.later.run(|node, sim| {
            if let Err(error) = sim.settings.joints.follow(node, sim.pacer.io()) {
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
        let io = self.pacer.io();
        let Some(layout) = io.robots().get(index).cloned() else { return Ok(()) };
        if let Some(topics) = self.robots.get_mut(index) {
            topics.take_over(layout);
        } else {
            if index > self.robots.len() {
                return Ok(()); // a robot before it has no topics, and that was reported
            }
            let topics = Self::robot_topics(node, io, index, prefix, &self.parameters)?;
            self.robots.push(topics);
        }
        self.publish_bases();
        Ok(())
    }

    /// Publishes the bases of fixed robots, and `odom`, in which floating robots move.
    pub(crate) fn publish_bases(&self) {
        let io = self.pacer.io();
        let present = self.robots.iter().enumerate().filter(|(i, _)| io.is_present(*i));
        let bases = present.map(|(_, robot)| robot.joints.base_transform(self.clock.now()));
        self.topics.tf_static.publish(&TFMessage { transforms: bases.collect() });
    }

    /// Passes on a command for robot `index`.
    fn on_command(&mut self, index: usize, message: &JointState) {
        let now = self.now();
        let Some(robot) = self.robots.get_mut(index) else { return };
        robot.joints.pass_on(message, &mut self.pacer, index, now);
    }

    /// Publishes the present sample: the clock first, the joints last.
    pub(crate) fn publish(&mut self) {
        let sample = Time::from_nanoseconds(self.pacer.stamp());
        let time = if self.topics.clock.is_some() { sample } else { self.clock.now() };
        let stamp = time.to_message();
        if let Some(clock) = &self.topics.clock {
            clock.publish(&ClockMessage { clock: stamp.clone() });
        }
        let io = self.pacer.io();
        for (i, robot) in self.robots.iter_mut().enumerate().filter(|(i, _)| io.is_present(*i)) {
            robot.publish(io, i, &stamp);
        }
        let is_first = self.pacer.stamp() == self.pacer.first_stamp();
        let is_due = self.pacer.stamp() >= self.next_states || is_first;
        if is_due {
            let period = self.parameters.outputs.state_period.get();
            self.next_states = sample.plus_seconds(period).nanoseconds();
        }
        if core::mem::take(&mut self.has_changed) || is_due {
            self.topics.world.publish(io, self.n_scene, &stamp);
            for (_, robot) in self.robots.iter().enumerate().filter(|(i, _)| io.is_present(*i)) {
                robot.publish_odometry(&stamp);
                robot.publish_transforms(io, &stamp);
            }
        }
    }

    /// Publishes objects and contacts with the next sample, or with its repetition: a service has changed them.
    pub(crate) fn show_changes(&mut self) {
        self.has_changed = true;
    }

    /// Applies the settings of the parameters to the world.
    pub(crate) fn apply_settings(&mut self) {
        let Some(scene) = self.settings.scene_solver else { return };
        let Some(world) = self.pacer.io_mut().world_mut() else { return };
        let mut settings = *world.settings();
        settings.solver = self.parameters.solver(scene);
        settings.energy_ledger = self.parameters.outputs.energy_ledger.get();
        if let Some(parameters) = &self.settings.world {
            settings = parameters.over(settings);
        }
        world.set_settings(settings);
        if let Err(error) = self.settings.joints.apply(world) {
            warn!("not applied: {error}");
        }
    }

    /// The simulated world, for changes between two samples.
    pub(crate) fn world(&mut self) -> Result<&mut World, String> {
        self.pacer.io_mut().world_mut().ok_or_else(|| "no world".to_owned())
    }

    /// Whether a robot came while the simulation ran.
    pub(crate) fn is_spawned(&self, id: RobotId) -> bool {
        self.keeper.is_spawned(id)
    }

    /// The robot or object of this name.
    pub(crate) fn entity(&self, name: &str) -> Option<Entity> {
        self.pacer.io().world().and_then(|world| crate::world::find(world, name))
    }

    /// Resets to the start, as far as `scope` goes.
    pub(crate) fn reset(&mut self, scope: Scope) -> Result<(), String> {
        let posture = self.parameters.reset_posture.get();
        self.keeper.reset(self.pacer.io_mut(), scope, &posture)?;
        self.health.failure = None;
        self.apply_settings();
        self.follow_robots();
        self.follow_tool();
        if scope.time {
            self.pacer.reset_time();
            self.next_states = 0;
        } else {
            self.pacer.forget_commands();
        }
        Ok(())
    }

    /// Deletes the entities that were not there at the start.
    pub(crate) fn delete_spawned(&mut self) {
        if let Some(world) = self.pacer.io_mut().world_mut() {
            self.keeper.delete_spawned(world);
        }
        self.follow_robots();
    }

    /// Goes back to a kept snapshot, time included.
    pub(crate) fn restore(&mut self, name: &str) -> Result<(i64, u64), String> {
        let simulated = self.pacer.io_mut().simulated_mut().ok_or("there is no simulated world")?;
        let (stamp, digest) = self.keeper.restore(name, simulated)?;
        self.pacer.set_stamp(stamp);
        // Parameters that were changed since hold; the others change nothing.
        self.apply_settings();
        self.follow_tool();
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

/// Names of a robot's motors.
fn motor_names(world: &World, robot: &str) -> Vec<String> {
    let motors = world.find_robot(robot).map(|id| world.motors(id));
    motors.into_iter().flatten().map(|(motor, _)| motor.name.clone()).collect()
}
