//! Limits of ball joints: of the swing of the body's axis, and of the twist of the body about it.
//!
//! With the axis `a` of the joint's frame, `b = R a` that of the body, and the body's angular velocity `ω`, all in the
//! joint's frame:
//!
//! ```text
//! swing θ = ∠(a, b),               θ̇ = ω · (a × b)/‖a × b‖
//! twist ψ = 2 atan2(v·a, w),       ψ̇ = ω · (a + b)/(1 + a·b)
//! ```
//!
//! with the rotation's quaternion `(v, w)`: the shortest swing from `a` to `b`, after a twist about `a`. Each limit is
//! one row on the joint's three degrees of freedom, as the limits of other joints are. [Grassia 1998] [Baerlocher 2001]

use karakuri_spatial::Vector3;

use super::kind::{Constraint, Solved, SolvedRow};
use super::row::{Account, Correction, Row, RowBuilder};
use crate::solver::RowSpec;
use crate::state::State;
use crate::state::ball_limit::{Stand, stand};
use crate::state::robot::Robot;

/// Limits of a ball joint; row `i` of ball limit `k` is part `SIDES · k + i`.
const SIDES: usize = 3;

/// Limit of a ball joint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Swing,
    LeastTwist,
    MostTwist,
}

impl Robot {
    /// Whether no ball joint can reach a limit in this step, by a margin of its present rate.
    pub(crate) fn clear_of_ball_limits(&self, h: f64) -> bool {
        self.ball_limits.iter().all(|ball| {
            let (stand, cone) = (stand(&self.data, ball), &ball.cone);
            let rate =
                // |θ̇| ≤ ‖ω‖ and |ψ̇| ≤ √(2/(1 + a·b)) ‖ω‖: four times the sum of the rates covers both up to a swing of 150°.
                self.v[ball.first_dof..ball.first_dof + 3].iter().map(|v| v.abs()).sum::<f64>();
            // Four times the present motion, as for limits of single joints, and h² for what starts from rest.
            let reach = 4.0 * h * (rate + h);
            let (least, most) = cone.twist;
            let within = |room: f64, limited: bool| !limited || room > reach;
            let pi = std::f64::consts::PI;
            within(cone.swing - stand.swing, cone.swing < pi)
                && within(stand.twist - least, least > -pi)
                && within(most - stand.twist, most < pi)
                && ball.impulses.iter().all(|impulse| *impulse == 0.0)
        })
    }
}

/// Limits of ball joints.
#[derive(Debug, Clone, Default)]
pub(crate) struct BallLimits;

impl Constraint for BallLimits {
    /// Rows of the ball joints that could be at a limit at the step's end, or were.
    fn add_robot_rows(&self, rows: &mut RowBuilder, robot: usize) {
        let h = rows.settings.dt;
        let n = rows.robots[robot].as_ref().map_or(0, |r| r.ball_limits.len());
        for index in 0..n {
            let Some(r) = &mut rows.robots[robot] else { return };
            let ball = r.ball_limits[index];
            let Stand { swing, twist, directions } = stand(&r.data, &ball);
            r.ball_limits[index].directions = directions;
            let velocity = &rows.problem.velocity[r.start + ball.first_dof..][..3];
            let omega = Vector3::new(velocity[0], velocity[1], velocity[2]);
            let (least, most) = ball.cone.twist;
            let pi = std::f64::consts::PI;
            // Each limit's room until it is reached, and the axis of its coordinate's rate.
            let limits = [
                (Side::Swing, ball.cone.swing < pi, ball.cone.swing - swing, directions[0]),
                (Side::LeastTwist, least > -pi, twist - least, directions[1]),
                (Side::MostTwist, most < pi, most - twist, directions[1]),
            ];
            for (side, _, room, direction) in limits.into_iter().filter(|limit| limit.1) {
                let warm_start = ball.impulses[side as usize];
                // The coordinate's rate, positive towards the limit.
                let sign = if side == Side::LeastTwist { -1.0 } else { 1.0 };
                let approach = sign * direction.dot(&omega);
                if (room - 2.0 * h * approach.max(0.0) > 0.0 && warm_start == 0.0)
                    // At no swing, and at half a turn of it, the coordinate has no direction.
                    || direction == Vector3::zeros()
                {
                    continue;
                }
                // The row `u ≥ −d/h` of other limits, with the sign of the coordinate towards its limit.
                let undo = rows.settings.penetration_rate * (-room).max(0.0) / h;
                let (lower, upper) = side.bounds();
                let spec = RowSpec {
                    lower,
                    upper,
                    // Beyond the limit the target is zero: undoing gives no velocity.
                    bias: sign * room.max(0.0) / h,
                    compliance: 0.0,
                    warm_start,
                };
                let row = Row {
                    correction: Some(Correction { velocity: -sign * undo, lower, upper }),
                    ..Row::on_robot(robot, SIDES * index + side as usize, Account::Limits)
                };
                let entries = [0, 1, 2].map(|i| (ball.first_dof + i, direction[i]));
                rows.push_on_robot(row, &spec, &entries);
            }
        }
    }

    fn clear_impulses(&mut self, state: &mut State) {
        for ball in state.robots.iter_mut().flatten().flat_map(|robot| &mut robot.ball_limits) {
            ball.impulses = [0.0; SIDES];
        }
    }

    fn keep_impulse(&mut self, state: &mut State, solved: &SolvedRow) {
        if let Some(robot) = &mut state.robots[solved.row.owner] {
            let part = solved.row.part;
            robot.ball_limits[part / SIDES].impulses[part % SIDES] = solved.block.impulse.x;
        }
    }

    /// Gives the robots' coordinates what their ball limits do to them.
    fn finish_step(&mut self, state: &mut State, _: &Solved) {
        for robot in state.robots.iter_mut().flatten() {
            for ball in &robot.ball_limits {
                let dofs = &mut robot.impulses[ball.first_dof..ball.first_dof + SIDES];
                for (memory, push) in dofs.iter_mut().zip(&ball.push()) {
                    memory.other += push;
                }
            }
        }
    }
}

impl Side {
    /// Impulses that a limit may give along its coordinate.
    fn bounds(self) -> (f64, f64) {
        match self {
            Self::LeastTwist => (0.0, f64::INFINITY),
            Self::Swing | Self::MostTwist => (f64::NEG_INFINITY, 0.0),
        }
    }
}
