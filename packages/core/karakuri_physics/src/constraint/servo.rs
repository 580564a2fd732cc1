//! Servos at their effort limit.
//!
//! A servo is a part of its robot's operator (see [`crate::state::robot`]) until it asks for more than its effort limit.
//! Then it is a row: the same implicit law, `R = 1/(h (h K + D))` and `u* = (K (q_d − q) + D q̇_d)/(h K + D)`, with the
//! limit, less the feed-forward effort, as bounds of its impulse.

use karakuri_model::Joint;

use super::kind::{Constraint, Solved, SolvedRow};
use super::row::{Account, RELEASE, Row, RowBuilder};
use crate::solver::RowSpec;
use crate::state::State;
use crate::state::robot::Robot;

/// Servos at their effort limit.
#[derive(Debug, Clone, Default)]
pub(crate) struct Servos;

impl Constraint for Servos {
    fn acts_on_joints(&self, robot: &Robot) -> bool {
        // Below its limit a servo is part of the implicit operator `Â`.
        robot.saturated.contains(&true)
    }

    fn add_joint_rows(&self, rows: &mut RowBuilder, robot: usize, joint: &Joint) {
        for dof in joint.v_start..joint.v_start + joint.kind.nv() {
            Self::add_row(rows, robot, dof);
        }
    }

    fn keep_impulse(&mut self, state: &mut State, solved: &SolvedRow) {
        if let Some(robot) = &mut state.robots[solved.row.owner] {
            robot.impulses[solved.row.part].servo = solved.block.impulse.x;
        }
    }

    /// Efforts that the drives gave, and which of them are still at their limit.
    fn finish_step(&mut self, state: &mut State, solved: &Solved) {
        let h = solved.h;
        for robot in state.robots.iter_mut().flatten() {
            for k in 0..robot.v.len() {
                // The law's demand at the solved velocity, not the row's effort, tells whether the limit still binds.
                let demand = robot.servo_demand(k, solved.problem.velocity[robot.start + k], h);
                if robot.saturated[k] {
                    // The row is the servo's part; the feed-forward has acted as a force.
                    robot.efforts[k] = robot.impulses[k].servo / h + robot.drives.effort[k];
                    robot.saturated[k] = demand.abs() > RELEASE * robot.drives.effort_limit[k];
                } else {
                    robot.efforts[k] = demand;
                }
            }
        }
    }
}

impl Servos {
    fn add_row(rows: &mut RowBuilder, robot: usize, dof: usize) {
        let h = rows.settings.dt;
        let Some(r) = &rows.robots[robot] else { return };
        let d = &r.drives;
        if !r.saturated[dof] || !d.enabled[dof] {
            return;
        }
        // Neither stiffness nor damping: a feed-forward effort alone needs no row.
        let gain = d.damping[dof] + h * d.stiffness[dof];
        if gain <= 0.0 {
            return;
        }
        // The servo's law as a row: `R = 1/(h (h K + D))`, `u* = (K (q_d − q) + D q̇_d)/(h K + D)`.
        let error = r.position_index[dof].map_or(0.0, |i| d.position[dof] - r.q[i]);
        // The bounds are of servo and feed-forward together, the row is the servo's part.
        let (limit, feedforward) = (h * d.effort_limit[dof], h * d.effort[dof]);
        let spec = RowSpec {
            lower: -limit - feedforward,
            upper: limit - feedforward,
            bias: (d.stiffness[dof] * error + d.damping[dof] * d.velocity[dof]) / gain,
            compliance: 1.0 / (h * gain),
            warm_start: r.impulses[dof].servo,
        };
        let row = Row::on_robot(robot, dof, Account::Drive);
        rows.push_on_robot(row, &spec, &[(dof, 1.0)]);
    }
}
