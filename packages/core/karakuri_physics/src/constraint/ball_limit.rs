//! Limits of ball joints: how far the body's axis swings, and how far the body turns about it.
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
//! one row on the joint's three freedoms, as the limits of other joints are. [Grassia 1998] [Baerlocher 2001]

use karakuri_model::{Cone, Model};
use karakuri_spatial::{Pose, Vector3};

use super::row::{Correction, Row, RowBuilder};
use super::{Account, Constraint, ConstraintSet, Solved, SolvedRow};
use crate::solver::RowSpec;
use crate::state::State;
use crate::state::robot::Robot;

/// Least sine of the swing for which its direction, and least `1 + cos` for which the twist, mean anything.
const DEFINITE: f64 = 1e-9;

/// Limits of a ball joint; row `i` of ball limit `k` is part `SIDES · k + i`.
const SIDES: usize = 3;

/// Which limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Swing,
    LeastTwist,
    MostTwist,
}

/// The limits of a ball joint and what they did.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BallLimit {
    pub(crate) first_dof: usize,
    body: usize,
    cone: Cone,
    /// Of swing, least and most twist in the last step. [N·m·s]
    pub(crate) impulses: [f64; 3],
    /// Directions of swing and twist in the joint's frame.
    directions: [Vector3; 2],
}

impl BallLimit {
    pub(crate) fn of(model: &Model) -> Vec<Self> {
        let joints = model.joints.iter().enumerate();
        let ball = |(body, joint): (usize, &karakuri_model::Joint)| {
            let cone = joint.cone?;
            let (impulses, directions) = ([0.0; 3], [Vector3::zeros(); 2]);
            Some(Self { first_dof: joint.v_start, body, cone, impulses, directions })
        };
        joints.filter_map(ball).collect()
    }

    /// Impulse on each of the joint's freedoms in the last step. [N·m·s] (3)
    pub(crate) fn push(&self) -> Vector3 {
        let [swing, least, most] = self.impulses;
        self.directions[0] * swing + self.directions[1] * (least + most)
    }
}

/// Where a ball joint stands.
struct Stand {
    swing: f64,
    twist: f64,
    /// `∂θ/∂ω` and `∂ψ/∂ω`; zero where there is none.
    directions: [Vector3; 2],
}

fn stand(robot: &Robot, ball: &BallLimit) -> Stand {
    let S = &robot.data.subspace[ball.first_dof..ball.first_dof + 3];
    let R_WJ = karakuri_spatial::Matrix3::from_columns(&[S[0].angular, S[1].angular, S[2].angular]);
    let R = R_WJ.transpose() * robot.data.pose_in_world[ball.body].rotation;
    let a = ball.cone.axis;
    let b = R * a;
    let (across, along) = (a.cross(&b), a.dot(&b));
    let sine = across.norm();
    let quaternion = Pose::new(R, Vector3::zeros()).quaternion();
    let twist = 2.0 * quaternion.imag().dot(&a).atan2(quaternion.w);
    let zero = Vector3::zeros();
    let swing_direction = if sine > DEFINITE { across / sine } else { zero };
    let twist_direction = if 1.0 + along > DEFINITE { (a + b) / (1.0 + along) } else { zero };
    Stand {
        swing: sine.atan2(along),
        twist: wrapped(twist),
        directions: [swing_direction, twist_direction],
    }
}

/// The same angle from −π to π.
fn wrapped(angle: f64) -> f64 {
    use std::f64::consts::{PI, TAU};
    if angle > PI {
        angle - TAU
    } else if angle < -PI {
        angle + TAU
    } else {
        angle
    }
}

impl Robot {
    /// Whether no ball joint can reach a limit in this step, by a margin of its present rate.
    pub(crate) fn clear_of_ball_limits(&self, h: f64) -> bool {
        self.ball_limits.iter().all(|ball| {
            let (stand, cone) = (stand(self, ball), &ball.cone);
            let rate =
                self.v[ball.first_dof..ball.first_dof + 3].iter().map(|v| v.abs()).sum::<f64>();
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

/// The kind of this file.
#[derive(Debug)]
pub(crate) struct BallLimits;

impl Constraint for BallLimits {
    /// Rows of the ball joints that could be at a limit at the step's end, or were.
    fn add_robot_rows(&self, rows: &mut RowBuilder, robot: usize) {
        let h = rows.settings.dt;
        let n = rows.robots[robot].as_ref().map_or(0, |r| r.ball_limits.len());
        for index in 0..n {
            let Some(r) = &mut rows.robots[robot] else { return };
            let ball = r.ball_limits[index];
            let Stand { swing, twist, directions } = stand(r, &ball);
            r.ball_limits[index].directions = directions;
            let velocity = &rows.problem.velocity[r.start + ball.first_dof..][..3];
            let omega = Vector3::new(velocity[0], velocity[1], velocity[2]);
            let (least, most) = ball.cone.twist;
            let pi = std::f64::consts::PI;
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
                    || direction == Vector3::zeros()
                {
                    continue;
                }
                let undo = rows.settings.penetration_rate * (-room).max(0.0) / h;
                let (lower, upper) = side.bounds();
                let spec = RowSpec {
                    lower,
                    upper,
                    bias: sign * room.max(0.0) / h,
                    compliance: 0.0,
                    warm_start,
                };
                let row = Row {
                    correction: Some(Correction { velocity: -sign * undo, lower, upper }),
                    ..Row::on_robot(
                        &BallLimits,
                        robot,
                        SIDES * index + side as usize,
                        Account::Limits,
                    )
                };
                let entries = [0, 1, 2].map(|i| (ball.first_dof + i, direction[i]));
                rows.push_on_robot(row, &spec, &entries);
            }
        }
    }

    fn clear_impulses(&self, state: &mut State, _: &mut ConstraintSet) {
        for ball in state.robots.iter_mut().flatten().flat_map(|robot| &mut robot.ball_limits) {
            ball.impulses = [0.0; SIDES];
        }
    }

    fn keep_impulse(&self, state: &mut State, _: &mut ConstraintSet, solved: &SolvedRow) {
        if let Some(robot) = &mut state.robots[solved.row.owner] {
            let part = solved.row.part;
            robot.ball_limits[part / SIDES].impulses[part % SIDES] = solved.block.impulse.x;
        }
    }

    /// Gives the robots' coordinates what their ball limits do to them.
    fn finish_step(&self, state: &mut State, _: &mut ConstraintSet, _: &Solved) {
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
