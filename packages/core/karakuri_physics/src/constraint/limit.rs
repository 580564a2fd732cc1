//! Limits of joints with one degree of freedom: of position, rigid or with a bumper, and of speed.
//!
//! A limit at distance `d` is the row `u ≥ −d/h`, so that the joint arrives there and does not pass. A position beyond it is
//! undone by a velocity that only moves positions. A bumper is backward Euler of its spring and damper from the limit on.
//! A joint with a restitution leaves its limit by the impacts of the step, see `pipeline::restitution`.

use karakuri_model::{Bumper, Joint};

use super::kind::{Constraint, SolvedRow};
use super::row::{Account, Correction, Row, RowBuilder};
use super::spring::SoftLaw;
use crate::solver::RowSpec;
use crate::state::State;
use crate::state::robot::Robot;

/// Limits of joints with one degree of freedom.
#[derive(Debug, Clone, Default)]
pub(crate) struct Limits;

/// Number of limits of a velocity coordinate; the remainder of a row's part by it says which one the row is.
const SIDES: usize = 3;
const LOWER: usize = 0;
const UPPER: usize = 1;
const SPEED: usize = 2;

impl Constraint for Limits {
    fn acts_on_joints(&self, _: &Robot) -> bool {
        true
    }

    fn add_joint_rows(&self, rows: &mut RowBuilder, robot: usize, joint: &Joint) {
        if joint.kind.single().is_none() {
            return;
        }
        let (h, dof) = (rows.settings.dt, joint.v_start);
        let Some(r) = &rows.robots[robot] else { return };
        let limits = r.limits[dof];
        let Some(q) = r.position_index[dof].map(|i| r.q[i]) else { return };
        let velocity = rows.problem.velocity[r.start + dof];
        let impulses = r.impulses[dof];
        // A row that could become active: the free motion reaches the limit within two steps, or it was active.
        // Two steps' motion, as the impulses of the step may make the joint faster.
        let reach = 2.0 * h * velocity;
        let (below, above) = (q - limits.lower, limits.upper - q);
        if below + reach.min(0.0) <= 0.0 || impulses.lower != 0.0 {
            let LimitLaw { target, compliance, undo } = law(rows, below, joint.bumper);
            let spec = RowSpec {
                lower: 0.0,
                bias: target,
                compliance,
                warm_start: impulses.lower,
                ..RowSpec::default()
            };
            push(rows, robot, SIDES * dof + LOWER, &spec, Some(Correction::push(undo)));
        }
        if above - reach.max(0.0) <= 0.0 || impulses.upper != 0.0 {
            let LimitLaw { target, compliance, undo } = law(rows, above, joint.bumper);
            let spec = RowSpec {
                upper: 0.0,
                bias: -target,
                compliance,
                warm_start: impulses.upper,
                ..RowSpec::default()
            };
            push(rows, robot, SIDES * dof + UPPER, &spec, Some(Correction::pull(-undo)));
        }
        // The limit of speed acts in the direction of motion.
        if velocity.abs() > limits.velocity || impulses.speed != 0.0 {
            let sign = velocity.signum();
            let (lower, upper) =
                if sign > 0.0 { (f64::NEG_INFINITY, 0.0) } else { (0.0, f64::INFINITY) };
            let spec = RowSpec {
                lower,
                upper,
                bias: sign * limits.velocity,
                compliance: 0.0,
                warm_start: impulses.speed,
            };
            push(rows, robot, SIDES * dof + SPEED, &spec, None);
        }
    }
    fn keep_impulse(&mut self, state: &mut State, solved: &SolvedRow) {
        let Some(robot) = &mut state.robots[solved.row.owner] else { return };
        let impulses = &mut robot.impulses[solved.row.part / SIDES];
        let impulse = solved.block.impulse.x;
        match solved.row.part % SIDES {
            LOWER => impulses.lower = impulse,
            UPPER => impulses.upper = impulse,
            _ => impulses.speed = impulse,
        }
    }
}

fn push(
    rows: &mut RowBuilder,
    robot: usize,
    part: usize,
    spec: &RowSpec,
    correction: Option<Correction>,
) {
    let row = Row { correction, ..Row::on_robot(robot, part, Account::Limits) };
    rows.push_on_robot(row, spec, &[(part / SIDES, 1.0)]);
}

/// Coefficient of restitution of a rigid limit, by its row. [-]
pub(crate) fn restitution(robots: &[Option<Robot>], row: &Row) -> f64 {
    let of_robot = |robot: &Robot| robot.limit_restitution.get(row.part / SIDES).copied();
    match robots[row.owner].as_ref().and_then(of_robot) {
        // A limit of speed is no stop: nothing bounces off it.
        Some(restitution) if row.part % SIDES != SPEED => restitution,
        _ => 0.0,
    }
}

/// Row of a limit, as it is for the lower one.
struct LimitLaw {
    /// Least velocity away from the limit. [rad/s or m/s]
    target: f64,
    /// Compliance `R` of the row. [1/kg or 1/(kg·m²)]
    compliance: f64,
    /// Velocity that undoes a position beyond it. [rad/s or m/s]
    undo: f64,
}

/// The row of a limit at distance `room`. A bumper does not act before the limit. [rad or m]
fn law(rows: &RowBuilder, room: f64, bumper: Option<Bumper>) -> LimitLaw {
    let h = rows.settings.dt;
    if let Some(bumper) = bumper {
        let row = SoftLaw::bumper_row(bumper, room, h);
        return LimitLaw { target: row.target, compliance: row.compliance, undo: 0.0 };
    }
    // `u ≥ −d/h`: the joint arrives at the limit and does not pass it.
    let undo = rows.settings.penetration_rate * (-room).max(0.0) / h;
    LimitLaw { target: -room.max(0.0) / h, compliance: 0.0, undo }
}
