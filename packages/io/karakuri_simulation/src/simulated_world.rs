//! Robots of a [`World`], which takes a whole number of steps per control period.

use std::sync::Arc;

use karakuri_hardware::{
    Fault, ImuReading, JointCommand, RobotIo, RobotIoError, RobotLayout, RobotState,
};
use karakuri_model::{Base, Model, SensorKind};
use karakuri_physics::{RobotId, Snapshot, StepOutcome, World};
use karakuri_spatial::{Motion, Pose, UnitQuaternion, Vector3};

use crate::Tally;
use crate::suction::SuctionCups;
use crate::tools::{Tools, layout_of};

/// Speed of a joint up to which its drive gives what bears its load, and nothing that speeds it up. [rad/s or m/s]
const AT_REST: f64 = 0.02;

/// World with its robots behind [`RobotIo`].
#[derive(Debug, Clone)]
pub struct SimulatedWorld {
    pub(crate) world: World,
    pub(crate) robots: Vec<RobotId>,
    pub(crate) layouts: Vec<RobotLayout>,
    /// Suction cups of each robot.
    cups: Vec<SuctionCups>,
    /// Tools of one robot, if it changes them.
    pub(crate) tools: Option<Tools>,
    steps_per_period: usize,
    tally: Tally,
}

/// State of the world and of the vacuums in its robots' cups.
#[derive(Debug, Clone)]
pub struct SimulatedState {
    /// State of the world.
    pub world: Snapshot,
    /// Cups of each robot, and the model that they belong to.
    cups: Vec<(Arc<Model>, SuctionCups)>,
}

impl SimulatedWorld {
    /// All robots of a world, sampled every `steps_per_period` physics steps.
    pub fn new(world: World, steps_per_period: usize) -> Self {
        let robots: Vec<RobotId> = world.robot_ids().collect();
        let layouts: Vec<RobotLayout> = robots.iter().map(|&id| layout_of(&world, id)).collect();
        let cups = layouts.iter().map(cups_of).collect();
        let mut simulated = Self {
            world,
            robots,
            layouts,
            cups,
            tools: None,
            steps_per_period: steps_per_period.max(1),
            tally: Tally::default(),
        };
        for robot in 0..simulated.robots.len() {
            simulated.hold(robot, false);
        }
        simulated
    }

    /// Multiplies the leak of each suction lip of a robot that seals, now and later. [-]
    pub fn scale_leaks(&mut self, robot: usize, factor: f64) {
        self.cups[robot].scale_leaks(factor);
    }

    /// Simulated world of the robots.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Simulated world, to spawn, move or restore things between two samples.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// State now, to go back to.
    pub fn save(&self) -> SimulatedState {
        let models = self.layouts.iter().map(|layout| Arc::<Model>::clone(&layout.model));
        SimulatedState {
            world: self.world.snapshot(),
            cups: models.zip(self.cups.iter().cloned()).collect(),
        }
    }

    /// Goes back to a state. Cups of robots that came later are without vacuum.
    pub fn restore(&mut self, state: &SimulatedState) {
        self.world.restore(&state.world);
        self.set_cups(state);
    }

    /// Goes back to the states of what was there, as [`World::restore_states`], and to the vacuums of its cups.
    pub fn restore_states(&mut self, state: &SimulatedState) {
        self.world.restore_states(&state.world);
        self.set_cups(state);
    }

    fn set_cups(&mut self, state: &SimulatedState) {
        self.follow_tool();
        for (i, cups) in self.cups.iter_mut().enumerate() {
            let layout = &self.layouts[i];
            let saved = state.cups.get(i).filter(|(model, _)| Arc::ptr_eq(model, &layout.model));
            *cups = saved.map_or_else(|| cups_of(layout), |(_, cups)| cups.clone());
        }
    }

    /// Renews the layout of a robot whose model was replaced; its cups are without vacuum.
    pub(crate) fn follow_model(&mut self, robot: usize) {
        let layout = layout_of(&self.world, self.robots[robot]);
        if !Arc::ptr_eq(&layout.model, &self.layouts[robot].model) {
            self.cups[robot] = cups_of(&layout);
            self.layouts[robot] = layout;
        }
    }

    /// Cost of the steps since the last call.
    pub fn take_tally(&mut self) -> Tally {
        std::mem::take(&mut self.tally)
    }

    /// Adds a robot that was spawned in the world. Returns its index, which is that of a robot of the same name and layout that
    /// is gone, or a new one.
    pub fn adopt(&mut self, robot: RobotId) -> usize {
        let layout = layout_of(&self.world, robot);
        let gone = |i: &usize| !self.is_present(*i) && self.layouts[*i].has_the_topics_of(&layout);
        let place = (0..self.robots.len()).find(gone);
        let index = place.unwrap_or(self.robots.len());
        if place.is_some() {
            self.cups[index] = cups_of(&layout);
            (self.robots[index], self.layouts[index]) = (robot, layout);
        } else {
            self.robots.push(robot);
            self.cups.push(cups_of(&layout));
            self.layouts.push(layout);
        }
        index
    }
}

impl RobotIo for SimulatedWorld {
    fn robots(&self) -> &[RobotLayout] {
        &self.layouts
    }

    fn period(&self) -> f64 {
        self.world.settings().dt * self.steps_per_period as f64
    }

    fn time(&self) -> f64 {
        self.world.time()
    }

    fn write(&mut self, robot: usize, command: &JointCommand) -> Result<(), RobotIoError> {
        let layout = &self.layouts[robot];
        layout.check(command)?;
        if !self.is_present(robot) {
            return Ok(());
        }
        let id = self.robots[robot];
        for (i, joint) in layout.joints.iter().enumerate() {
            // A drive that pushes against its own limit gains nothing; NaN, not commanded, stays NaN.
            let limits = self.world.robot(id).joint_limits(joint.v);
            let position = command.position[i].clamp(limits.lower, limits.upper);
            let drives = self.world.drive_mut(id);
            for (target, value) in [
                (&mut drives.position[joint.v], position),
                (&mut drives.velocity[joint.v], command.velocity[i]),
                (&mut drives.effort[joint.v], command.effort[i]),
            ] {
                if value.is_finite() {
                    *target = value;
                }
            }
        }
        for (generator, vacuum) in command.vacuum.iter().enumerate() {
            if vacuum.is_finite() {
                self.cups[robot].command(generator, *vacuum);
            }
        }
        Ok(())
    }

    fn hold(&mut self, robot: usize, gripping: bool) {
        if !self.is_present(robot) {
            return;
        }
        let id = self.robots[robot];
        let driven = || self.layouts[robot].joints.iter().filter(|joint| joint.driven);
        let view = self.world.robot(id);
        // What the drives of a robot at rest give bears its load: without it, it would sag on their springs.
        let is_at_rest = driven().all(|joint| view.v()[joint.v].abs() <= AT_REST);
        for joint in driven() {
            let view = self.world.robot(id);
            let position = view.q()[joint.q];
            let effort = if is_at_rest { view.drive_effort(joint.v) } else { 0.0 };
            let drives = self.world.drive_mut(id);
            drives.velocity[joint.v] = 0.0;
            if !(gripping && joint.grips) {
                drives.position[joint.v] = position;
                drives.effort[joint.v] = effort;
            }
        }
    }

    fn advance(&mut self) -> Result<(), RobotIoError> {
        for _ in 0..self.steps_per_period {
            for robot in 0..self.robots.len() {
                if !self.cups[robot].is_empty() && self.is_present(robot) {
                    self.cups[robot].step(&mut self.world, self.robots[robot]);
                }
            }
            if let StepOutcome::NonFinite { .. } = self.tally.step(&mut self.world) {
                return Err(RobotIoError::Device { what: self.world.non_finite_report() });
            }
        }
        Ok(())
    }

    fn read(&self, robot: usize, state: &mut RobotState) {
        if !self.is_present(robot) {
            return;
        }
        let layout = &self.layouts[robot];
        let view = self.world.robot(self.robots[robot]);
        for (i, joint) in layout.joints.iter().enumerate() {
            state.position[i] = view.q()[joint.q];
            state.velocity[i] = view.v()[joint.v];
            state.effort[i] = view.motor_effort(joint.v);
        }
        state.base = base_state(&layout.model, view.q(), view.v());
        for (reading, sensor) in state.wrenches.iter_mut().zip(&layout.wrenches) {
            *reading = self.world.sensor_wrench(self.robots[robot], sensor.index);
        }
        for (reading, sensor) in state.imus.iter_mut().zip(&layout.imus) {
            debug_assert_eq!(layout.model.sensors[sensor.index].kind, SensorKind::Imu);
            let imu = self.world.sensor_imu(self.robots[robot], sensor.index);
            *reading = ImuReading {
                orientation: imu.orientation,
                angular_velocity: imu.angular_velocity,
                linear_acceleration: imu.linear_acceleration,
            };
        }
        for (reading, vacuum) in state.vacuums.iter_mut().zip(self.cups[robot].vacuums()) {
            *reading = vacuum;
        }
    }

    fn fault(&self, robot: usize) -> Option<&Fault> {
        // The id alone is not enough: a restored world may have given it away again.
        let (id, layout) = (self.robots[robot], &self.layouts[robot]);
        let same = self.world.find_robot(&layout.name) == Some(id)
            && Arc::ptr_eq(self.world.robot(id).original_model(), &layout.model);
        (!same).then_some(&Fault::Absent)
    }
}

fn cups_of(layout: &RobotLayout) -> SuctionCups {
    SuctionCups::new(&layout.name, &layout.model.suctions)
}

/// World pose and velocity (at the root link's origin, world axes) of a floating base.
fn base_state(model: &Model, q: &[f64], v: &[f64]) -> Option<(Pose, Motion)> {
    matches!(model.base, Base::Floating).then(|| {
        let rotation =
            UnitQuaternion::new_normalize(nalgebra::Quaternion::new(q[6], q[3], q[4], q[5]));
        let pose = Pose::from_quaternion(&rotation, Vector3::new(q[0], q[1], q[2]));
        (pose, Motion::new(Vector3::new(v[3], v[4], v[5]), Vector3::new(v[0], v[1], v[2])))
    })
}
