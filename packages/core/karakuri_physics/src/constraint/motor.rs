//! Motors beside the drives: any law, implicit.
//!
//! A law is linearised where the step ends, `τ(q + h v', v') ≈ b − g v'` with `g = h k + c` of its slopes there. Then it
//! is a servo: `g` goes into the operator's diagonal, `b` to the forces. A law that is not linear is linearised again
//! until the effort applied is the law's at the end of the step (backward Euler); the next place comes from the scalar
//! problem `v' = v₀ + w h τ(q + h v', v')`, `w` the degree of freedom's inverse inertia, so that walls of any steepness converge.
//!
//! Backward Euler takes energy from what pulls back. Where a law pushes on in the direction of motion (`k < 0`) its effort
//! at the step's start is the lesser, and is taken; so neither kind gives more work than the law holds. A motor at its
//! largest effort leaves the operator and becomes a bounded row, as a drive does.

use super::kind::{Constraint, Solved, SolvedRow};
use super::row::{Account, RELEASE, Row, RowBuilder};
use crate::solver::RowSpec;
use crate::state::State;
use crate::state::motor_unit::MotorReport;
use crate::state::robot::Robot;

/// Largest part of a law's effort that may be missing at the end of a step before it is linearised again. [-]
const MATCH: f64 = 1e-10;

impl Robot {
    /// Linearises all motors where the step ends if rates stay.
    pub(crate) fn prepare_motors(&mut self, h: f64) {
        for unit in self.motors.iter_mut().filter(|u| u.enabled) {
            let (q, v) = (self.q[unit.position], self.v[unit.dof]);
            let start = unit.motor.law.respond(&unit.state(q, v, h));
            unit.pushes = start.stiffness < 0.0;
            unit.linearise(q, v, h);
        }
    }

    /// Turns motors that ask for more than their limit into rows; true if there was one.
    pub(crate) fn saturate_motors(&mut self, after: &[f64]) -> bool {
        let mut found = false;
        for unit in self.motors.iter_mut().filter(|u| u.enabled && !u.saturated && u.gain > 0.0) {
            // Beyond rounding: a motor exactly at its limit is in the operator.
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
            // Pushing on in the direction of motion: the effort at the step's start is the lesser.
            let turned = !unit.pushes && {
                // Over the step as a whole: slopes at its ends may say otherwise.
                let at = |place| unit.motor.law.respond(&unit.state(place, v, h)).effort;
                (at(q + h * v) - at(q)) * v > 0.0
            };
            if !turned && missing.abs() <= MATCH * (1.0 + unit.demand(v).abs()) {
                continue;
            }
            found = true;
            // `w`: the motor's own entry of `Â⁻¹`.
            self.residual.fill(0.0);
            self.residual[k] = 1.0;
            let mut response = std::mem::take(&mut self.residual);
            self.respond(&mut response);
            let within = response[k];
            self.residual = response;
            let unit = &mut self.motors[i];
            // The same without this motor in the operator.
            // Sherman and Morrison: (Â − h g e eᵀ)⁻¹ has the entry w/(1 − h g w).
            let without = 1.0 - h * unit.gain * within;
            // Nearly all of the inertia is the motor's own gain: the difference has no digits left.
            let w = if without > f64::EPSILON { within / without } else { within };
            unit.pushes |= turned;
            // None where the law pushes on from the free rate: the effort at the start is then the lesser.
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
            // By the effort at the end of the step, as the next step starts there.
            unit.memory = unit.motor.law.remember(&unit.state(q + h * v, v, h));
            self.efforts[unit.dof] += effort;
        }
    }
}

/// Motors at their largest effort.
#[derive(Debug, Clone, Default)]
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
            // The linearised law as a row: R = 1/(h g) and u* = b/g, as of a servo at its limit.
            let spec = RowSpec {
                lower: -limit,
                upper: limit,
                bias: unit.constant / unit.gain,
                compliance: 1.0 / (h * unit.gain),
                warm_start: unit.impulse,
            };
            let row = Row::on_robot(robot, motor, Account::Drive);
            rows.push_on_robot(row, &spec, &[(dof, 1.0)]);
        }
    }

    fn clear_impulses(&mut self, state: &mut State) {
        for unit in state.robots.iter_mut().flatten().flat_map(|robot| &mut robot.motors) {
            unit.impulse = 0.0;
        }
    }

    fn keep_impulse(&mut self, state: &mut State, solved: &SolvedRow) {
        if let Some(robot) = &mut state.robots[solved.row.owner] {
            robot.motors[solved.row.part].impulse = solved.block.impulse.x;
        }
    }

    /// Adds the efforts of motors to those of the drives.
    fn finish_step(&mut self, state: &mut State, solved: &Solved) {
        for robot in state.robots.iter_mut().flatten() {
            let run = robot.start..robot.start + robot.v.len();
            robot.remember_motors(&solved.problem.velocity[run], solved.h);
        }
    }
}
