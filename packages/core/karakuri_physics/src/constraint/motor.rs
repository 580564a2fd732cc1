//! Motors beside the drives: any law, implicit.
//!
//! A law is linearised where the step ends, `τ(q + h v', v') ≈ b − g v'` with `g = h k + c` of its slopes there. Then it
//! is a servo: `g` goes into the operator's diagonal, `b` to the forces. A law that is not linear is linearised again
//! until the effort applied is the law's at the end of the step (backward Euler); the next place comes from the scalar
//! problem `v' = v₀ + w h τ(q + h v', v')`, `w` the freedom's inverse inertia, so that walls of any steepness converge.
//!
//! Backward Euler takes energy from what pulls back. Where a law pushes on in the direction of motion (`k < 0`) its effort
//! at the step's start is the lesser, and is taken; so neither kind gives more work than the law holds. A motor at its
//! largest effort leaves the operator and becomes a bounded row, as a drive does.

use karakuri_model::{Model, Motor, MotorCommand, MotorSpec, MotorState};

use super::row::{Row, RowBuilder};
use super::{Account, Constraint, ConstraintSet, Solved, SolvedRow};
use crate::errors::WorldError;
use crate::solver::RowSpec;
use crate::state::State;
use crate::state::robot::Robot;
use crate::world::{RobotId, World};

/// Largest part of a law's effort that may be missing at the end of a step before it is linearised again. [-]
const MATCH: f64 = 1e-10;
/// Most rounds of the scalar problem.
const ROUNDS: usize = 80;
/// A motor at its limit goes back into the operator when it asks for less than this part of it. [-]
const RELEASE: f64 = 0.98;

/// How a motor is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MotorReport {
    /// Mean effort in the last step. [N·m or N]
    pub effort: f64,
    /// What is missing to the law's effort at the step's end. [N·m or N]
    pub mismatch: f64,
    /// Whether it gave its largest effort.
    pub saturated: bool,
}

/// A motor of a robot in the world.
#[derive(Debug, Clone)]
pub(crate) struct Unit {
    motor: Motor,
    pub(crate) dof: usize,
    position: usize,
    command: MotorCommand,
    enabled: bool,
    memory: f64,
    /// `b` and `g` of the step in progress.
    constant: f64,
    gain: f64,
    /// The law pushes on: its position is that of the step's start.
    pushes: bool,
    saturated: bool,
    impulse: f64,
    report: MotorReport,
}

impl Unit {
    fn new(model: &Model, motor: Motor) -> Self {
        let joint = &model.joints[motor.joint.0];
        Self {
            dof: joint.v_start,
            position: joint.q_start,
            command: motor.command,
            enabled: true,
            memory: 0.0,
            constant: 0.0,
            gain: 0.0,
            pushes: false,
            saturated: false,
            impulse: 0.0,
            report: MotorReport { effort: 0.0, mismatch: 0.0, saturated: false },
            motor,
        }
    }

    pub(crate) fn all(model: &Model) -> Vec<Self> {
        model.motors.iter().map(|motor| Self::new(model, motor.clone())).collect()
    }

    pub(crate) fn is_on(&self) -> bool {
        self.enabled
    }

    /// Puts the motor at rest in a new place.
    pub(crate) fn forget(&mut self) {
        (self.memory, self.impulse, self.saturated) = (0.0, 0.0, false);
    }

    /// `h b` and `h g` of the motor while it is in the operator.
    pub(crate) fn inner(&self, h: f64) -> (f64, f64) {
        if self.enabled && !self.saturated {
            (h * self.constant, h * self.gain)
        } else {
            (0.0, 0.0)
        }
    }

    fn state(&self, (q, v): (f64, f64), h: f64) -> MotorState {
        MotorState { position: q, velocity: v, command: self.command, memory: self.memory, dt: h }
    }

    /// The law's effort and gain where a step from `q` ends with the rate `v`.
    fn respond(&self, q: f64, v: f64, h: f64) -> (f64, f64) {
        let place = if self.pushes { q } else { q + h * v };
        let response = self.motor.law.respond(&self.state((place, v), h));
        let stiffness = if self.pushes {
            0.0
        } else if response.stiffness < 0.0 && v != 0.0 {
            // It pushes on at the end, yet pulls back over the step: by the chord.
            let start = self.motor.law.respond(&self.state((q, v), h)).effort;
            ((start - response.effort) / (h * v)).max(0.0)
        } else {
            response.stiffness.max(0.0)
        };
        (response.effort, h * stiffness + response.damping.max(0.0))
    }

    fn linearise(&mut self, q: f64, v: f64, h: f64) {
        let (effort, gain) = self.respond(q, v, h);
        (self.constant, self.gain) = (effort + gain * v, gain);
        if gain == 0.0 {
            let limit = self.motor.effort;
            self.constant = self.constant.clamp(-limit, limit);
        }
    }

    fn demand(&self, v: f64) -> f64 {
        self.constant - self.gain * v
    }

    /// What is missing to the law's effort at the end of a step.
    fn mismatch(&self, q: f64, v: f64, h: f64) -> f64 {
        let wanted = self.respond(q, v, h).0;
        let limit = self.motor.effort;
        wanted.clamp(-limit, limit) - self.demand(v).clamp(-limit, limit)
    }

    /// Solves `v' = v₀ + w h τ(v')` for the end of the step; the linearised motor led to `v`. `None` where the law pushes
    /// on from the free rate.
    fn settle(&self, q: f64, v: f64, w: f64, h: f64) -> Option<f64> {
        let free = v - w * h * self.demand(v);
        let error = |x: f64| {
            let (effort, gain) = self.respond(q, x, h);
            (x - free - w * h * effort, 1.0 + w * h * gain)
        };
        // The effort pulls back, so the solution is between the free rate and the rate that its effort there gives.
        let far = free - error(free).0;
        let (mut low, mut high) = (free.min(far), free.max(far));
        if error(low).0 > 0.0 || error(high).0 < 0.0 {
            return None;
        }
        let mut x = v.clamp(low, high);
        for _ in 0..ROUNDS {
            let (e, slope) = error(x);
            if e > 0.0 {
                high = x;
            } else {
                low = x;
            }
            let newton = x - e / slope;
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if (next - x).abs() <= 4.0 * f64::EPSILON * (1.0 + x.abs()) {
                break;
            }
            x = next;
        }
        Some(x)
    }
}

impl Robot {
    /// Linearises all motors where the step ends if rates stay.
    pub(crate) fn prepare_motors(&mut self, h: f64) {
        for unit in self.motors.iter_mut().filter(|u| u.enabled) {
            let (q, v) = (self.q[unit.position], self.v[unit.dof]);
            let start = unit.motor.law.respond(&unit.state((q, v), h));
            unit.pushes = start.stiffness < 0.0;
            unit.linearise(q, v, h);
        }
    }

    /// Turns motors that ask for more than their limit into rows; true if there was one.
    pub(crate) fn saturate_motors(&mut self, after: &[f64]) -> bool {
        let mut found = false;
        for unit in self.motors.iter_mut().filter(|u| u.enabled && !u.saturated && u.gain > 0.0) {
            if unit.demand(after[unit.dof]).abs() > unit.motor.effort * (1.0 + 1e-9) {
                (unit.saturated, unit.impulse) = (true, 0.0);
                found = true;
            }
        }
        found
    }

    /// Linearises again the motors whose effort is not their law's at the end of the step; true if there was one.
    pub(crate) fn refine_motors(&mut self, after: &[f64], h: f64) -> bool {
        let mut found = false;
        for i in 0..self.motors.len() {
            let unit = &self.motors[i];
            let (k, inside) = (unit.dof, unit.enabled && !unit.saturated);
            let (q, v) = (self.q[unit.position], after[k]);
            if !inside {
                continue;
            }
            let missing = unit.mismatch(q, v, h);
            let turned = !unit.pushes && {
                let at = |place| unit.motor.law.respond(&unit.state((place, v), h)).effort;
                (at(q + h * v) - at(q)) * v > 0.0
            };
            if !turned && missing.abs() <= MATCH * (1.0 + unit.demand(v).abs()) {
                continue;
            }
            found = true;
            self.residual.fill(0.0);
            self.residual[k] = 1.0;
            let mut response = std::mem::take(&mut self.residual);
            self.respond(&mut response);
            let within = response[k];
            self.residual = response;
            let unit = &mut self.motors[i];
            // The same without this motor in the operator.
            let without = 1.0 - h * unit.gain * within;
            let w = if without > f64::EPSILON { within / without } else { within };
            unit.pushes |= turned;
            let end = unit.settle(q, v, w, h);
            unit.pushes |= end.is_none();
            unit.linearise(q, end.unwrap_or(v), h);
        }
        found
    }

    /// Efforts and memories at the end of a step, added to the joints' efforts.
    pub(crate) fn remember_motors(&mut self, after: &[f64], h: f64) {
        for unit in self.motors.iter_mut().filter(|u| u.enabled) {
            let (q, v) = (self.q[unit.position], after[unit.dof]);
            let demand = unit.demand(v);
            let effort = if unit.saturated { unit.impulse / h } else { demand };
            let mismatch = unit.mismatch(q, v, h);
            unit.report = MotorReport { effort, mismatch, saturated: unit.saturated };
            unit.saturated &= demand.abs() > RELEASE * unit.motor.effort;
            unit.memory = unit.motor.law.remember(&unit.state((q + h * v, v), h));
            self.efforts[unit.dof] += effort;
        }
    }
}

/// The kind of this file.
#[derive(Debug)]
pub(crate) struct Motors;

impl Constraint for Motors {
    /// Rows of the motors at their largest effort.
    fn add_robot_rows(&self, rows: &mut RowBuilder, robot: usize) {
        let h = rows.settings.dt;
        let n = rows.robots[robot].as_ref().map_or(0, |r| r.motors.len());
        for motor in 0..n {
            let Some(r) = &rows.robots[robot] else { return };
            let unit = &r.motors[motor];
            if !unit.enabled || !unit.saturated || unit.gain <= 0.0 {
                continue;
            }
            let (limit, dof) = (h * unit.motor.effort, unit.dof);
            let spec = RowSpec {
                lower: -limit,
                upper: limit,
                bias: unit.constant / unit.gain,
                compliance: 1.0 / (h * unit.gain),
                warm_start: unit.impulse,
            };
            let row = Row::on_robot(&Motors, robot, motor, Account::Drive);
            rows.push_on_robot(row, &spec, &[(dof, 1.0)]);
        }
    }

    fn clear_impulses(&self, state: &mut State, _: &mut ConstraintSet) {
        for unit in state.robots.iter_mut().flatten().flat_map(|robot| &mut robot.motors) {
            unit.impulse = 0.0;
        }
    }

    fn keep_impulse(&self, state: &mut State, _: &mut ConstraintSet, solved: &SolvedRow) {
        if let Some(robot) = &mut state.robots[solved.row.owner] {
            robot.motors[solved.row.part].impulse = solved.block.impulse.x;
        }
    }

    /// Adds the efforts of motors to those of the drives.
    fn finish_step(&self, state: &mut State, _: &mut ConstraintSet, solved: &Solved) {
        for robot in state.robots.iter_mut().flatten() {
            let run = robot.start..robot.start + robot.v.len();
            robot.remember_motors(&solved.problem.velocity[run], solved.h);
        }
    }
}

impl World {
    /// Adds a motor to a robot, beside those of its model.
    pub fn add_motor(&mut self, id: RobotId, spec: MotorSpec) -> Result<usize, WorldError> {
        let refuse = |reason| Err(WorldError::Motor { name: spec.name.clone(), reason });
        let robot = self.robot_mut(id);
        if robot.motors.iter().any(|u| u.motor.name == spec.name) {
            return refuse("the robot has a motor of this name; choose another");
        }
        let joint = robot.model.joint(&spec.joint);
        let Some(joint) = joint.filter(|j| robot.model.joints[j.0].kind.single().is_some()) else {
            return refuse("it acts on no joint with one freedom; name one");
        };
        if robot.model.couplings.iter().any(|c| c.follower == joint) {
            return refuse("its joint follows another; name the one that leads");
        }
        if spec.effort.is_nan() || spec.effort < 0.0 {
            return refuse("its largest effort is negative; write its magnitude");
        }
        let MotorSpec { name, law, command, effort, .. } = spec;
        let unit = Unit::new(&robot.model, Motor { name, joint, law, command, effort });
        robot.motors.push(unit);
        Ok(robot.motors.len() - 1)
    }

    /// The motors of a robot, in order: those of its model first.
    ///
    /// # Panics
    /// When it was removed.
    pub fn motors(&self, id: RobotId) -> impl ExactSizeIterator<Item = (&Motor, MotorReport)> {
        self.robot_ref(id).motors.iter().map(|u| (&u.motor, u.report))
    }

    /// What a motor is told to do. Live.
    ///
    /// # Panics
    /// When the robot was removed, or has no such motor.
    pub fn motor_command_mut(&mut self, id: RobotId, motor: usize) -> &mut MotorCommand {
        &mut self.robot_mut(id).motors[motor].command
    }

    /// Switches a motor on or off; one that is off gives no effort.
    ///
    /// # Panics
    /// When the robot was removed, or has no such motor.
    pub fn enable_motor(&mut self, id: RobotId, motor: usize, enabled: bool) {
        let unit = &mut self.robot_mut(id).motors[motor];
        unit.enabled = enabled;
        unit.forget();
        unit.report = MotorReport { effort: 0.0, mismatch: 0.0, saturated: false };
    }
}
