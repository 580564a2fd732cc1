//! Choice of the method by the size and the motion of an island.
//!
//! | island | method | aims at |
//! |---|---|---|
//! | a crowd of free bodies that moves | `cone_gauss_seidel`; of up to 60 contacts, then `newton` | a part of its change of velocity |
//! | a crowd that robots stir | `cone_gauss_seidel` | a smaller part of it |
//! | fewer free bodies that move beside others | `newton`, then `cone_gauss_seidel` | the tolerance; a part of their change |
//! | the same where the tolerance is relative | `cone_gauss_seidel`, then `newton` | the tolerance |
//! | a robot that nothing drives, and moves | `cone_gauss_seidel`, then `newton` | a smaller part of it |
//! | a slow crowd | `newton` | a part of its speed |
//! | all others | `newton` | the tolerance |
//!
//! What changes its velocity by 1e-2 m/s in a step has errors of that order by the step alone, and the next one starts from what came
//! about: digits beyond a part of the change are lost work. Sweeps cost the same in every step; Newton's steps do not, where hundreds of
//! contacts change between sticking and sliding. What rests is solved by Newton's method to all digits, in a few steps from a warm start.
//!
//! Counted and compared, never timed, so that the choice, and with it the bits, do not depend on the machine.

use std::ops::Range;

use nalgebra::Vector3;

use super::method::{ContactSolver, SolverSettings};
use super::{Admissible, Block, Problem, cone_gauss_seidel, newton};

/// Fewest blocks of a crowd: more than six boxes on their faces. Newton's method solves fewer to all digits, for little more.
// Thirty dominoes take 0.7 of their time with 12.
pub(crate) const CROWD: usize = 25;
/// Velocity at contacts at the start of a step up to which a crowd is solved to all digits: what stands, begins to move or comes to
/// rest. [m/s or rad/s]
// Below it sweeps never end: equal points of faces pass their loads to and fro, at 1e-6 to 1e-4 m/s.
const SLOW: f64 = 1e-3;
/// Change of velocity in a step up to which it settles: that of gravity in 1 ms. [m/s or rad/s]
const SETTLES: f64 = 1e-2;
/// Part of the change of velocity at which sweeps end. [-]
// 0.1 leaves heaps restless, 0.01 takes twice the sweeps for the same overlap.
const PART: f64 = 3e-2;
/// The same of robots: a limp one, whose few rows are swept in no time, or what they stir, some of which they may hold. [-]
// Of a limp robot 0.03 costs as much, for three times the residual; 0.001 leaves a tenth of the steps to Newton's method.
const FINE_PART: f64 = 1e-2;
/// Fewest blocks of a limp robot's island that is swept: Newton's method solves fewer to all digits, for little more.
const LIMP: usize = 4;
/// Velocity below which what a crowd that moves leaves counts as solved: a hundredth of what gravity gives in 1 ms. [m/s or rad/s]
const SMALL: f64 = 1e-4;
/// Parts of its speed at which a crowd below that counts as solved, and that Newton's method aims at, where that is more than the
/// tolerance. [-]
const SLOW_PART: f64 = 1e-2;
const SLOW_AIM: f64 = 1e-4;
/// Most steps of Newton's method for fewer blocks than a crowd's that move: what it does not solve by then ends in hundreds.
const NEWTON_STEPS: usize = 8;
/// Most visits of all blocks in a step, where that is more than the sweeps below: a small crowd is solved for the price of a large one.
const VISITS: usize = 36_000;
/// Most sweeps of a small one, and of a limp robot.
const MOST_SWEEPS: usize = 200;
/// Most blocks of a crowd that Newton's method takes over where sweeps do not solve it.
const SMALL_CROWD: usize = 60;
/// Most blocks of a crowd that is swept as often again where it is not solved by then.
const FEW: usize = 300;
/// Most sweeps of a large crowd, and of one that settles: the next steps go on.
const SWEEPS: usize = 60;
const SETTLING_SWEEPS: usize = 30;
/// The choice as a method: it hands on to others.
pub(super) const SOLVER: ContactSolver = ContactSolver { name: "automatic", ..newton::SOLVER };

/// A method, and how well an island is to be solved by it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice {
    pub(super) solver: &'static ContactSolver,
    pub(super) settings: SolverSettings,
    /// Residual at which it counts as solved. [m/s or rad/s]
    pub(super) tolerance: f64,
    /// Method that takes over where more than the tolerance is left, before the next level; none without one.
    pub(super) then: Option<(&'static ContactSolver, SolverSettings)>,
}

/// What an island is made of, as far as it decides the method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Contacts of free bodies, many of them.
    Crowd,
    /// A crowd with robots in it.
    StirredCrowd,
    /// Fewer contacts of free bodies, beside others.
    BesideCrowd,
    /// Contacts and limits of robots that nothing drives.
    Limp,
    /// All else: what holds, is held or stands, and the few.
    Other,
}

/// The method that was asked for, or that of choice, for an island with its warm start in the velocity, whose blocks then have the
/// velocities `J v`. (blocks × 3)
pub(super) fn choose(
    asked: &'static ContactSolver,
    problem: &Problem,
    island: Range<usize>,
    settings: &SolverSettings,
    velocities: &[Vector3<f64>],
) -> Choice {
    let blocks = &problem.blocks[island];
    let is_asked = asked.name == SOLVER.name;
    let (kind, usual) =
        if is_asked { (Kind::of(problem, blocks), &newton::SOLVER) } else { (Kind::Other, asked) };
    // Nothing else asks for it, and what is held is spared the search.
    let [speed, change] = if kind != Kind::Other || settings.tolerance_rel > 0.0 {
        speed_and_change(problem, blocks, velocities)
    } else {
        [0.0; 2]
    };
    let tolerance = settings.tolerance + settings.tolerance_rel * change;
    let settings = SolverSettings { tolerance, ..*settings };
    let is_crowd = matches!(kind, Kind::Crowd | Kind::StirredCrowd);
    if kind == Kind::Other || (speed <= SLOW && !is_crowd) {
        return Choice { solver: usual, settings, tolerance, then: None };
    }
    if speed <= SLOW {
        let aim = tolerance.max(SLOW_AIM * speed);
        let settings = SolverSettings { tolerance: aim, ..settings };
        let tolerance = tolerance.max(SLOW_PART * speed);
        return Choice { solver: usual, settings, tolerance, then: None };
    }
    let share = if change > SETTLES { 1 } else { SWEEPS / SETTLING_SWEEPS };
    let most = ((VISITS / blocks.len()).max(SWEEPS) / share).min(MOST_SWEEPS);
    let (aim, sweeps) = match kind {
        Kind::Limp => (FINE_PART * change, MOST_SWEEPS),
        Kind::StirredCrowd => ((FINE_PART * change).max(SLOW_AIM * speed), SWEEPS),
        _ => (PART * change, most),
    };
    let aim = tolerance.max(aim);
    let swept = (
        &cone_gauss_seidel::SOLVER,
        SolverSettings {
            iterations: settings.iterations.min(sweeps),
            tolerance: aim,
            escalate: false,
            ..settings
        },
    );
    let few_steps = SolverSettings {
        iterations: settings.iterations.min(NEWTON_STEPS),
        escalate: false,
        ..settings
    };
    let ((solver, settings), then) = match kind {
        // To fewer digits a few contacts are swept in less time than one step of Newton's method takes.
        Kind::BesideCrowd if settings.tolerance_rel > 0.0 => {
            let (sweeps, own) = swept;
            ((sweeps, SolverSettings { tolerance, ..own }), Some((usual, few_steps)))
        }
        Kind::BesideCrowd => ((usual, few_steps), Some(swept)),
        Kind::Limp => (swept, Some((usual, SolverSettings { tolerance: aim, ..settings }))),
        // Light bodies that heavy ones squeeze: sweeps end metres a second off.
        Kind::Crowd if blocks.len() <= SMALL_CROWD => {
            let own = SolverSettings { tolerance: aim, escalate: false, ..settings };
            (swept, Some((usual, own)))
        }
        // Newton's method has no more to give where a larger crowd moves, at many times the cost.
        Kind::Crowd | Kind::StirredCrowd if blocks.len() <= FEW => (swept, Some(swept)),
        _ => (swept, None),
    };
    Choice { solver, settings, tolerance: aim.max(SMALL), then }
}

impl Kind {
    fn of(problem: &Problem, blocks: &[Block]) -> Self {
        let of_bodies = blocks.iter().filter(|block| problem.is_of_bodies(block)).count();
        if of_bodies == blocks.len() {
            return Self::of_bodies(problem, blocks);
        }
        let touches_body =
            |block: &Block| block.sides.iter().any(|side| side.len > 0 && problem.is_of_body(side));
        // Springs and joints hold things, which sweeps would let go.
        let is_loose = |block: &Block| match block.admissible {
            Admissible::Cone { .. } => block.series.is_none(),
            Admissible::Interval { .. } => !touches_body(block),
            Admissible::FrictionMoment { .. } => true,
        };
        let is_limit = |block: &Block| match block.admissible {
            Admissible::Interval { lower, upper } => {
                block.compliance == 0.0 && (lower == 0.0 || upper == 0.0)
            }
            _ => true,
        };
        let is_limp =
            |block: &Block| is_limit(block) && block.sides.iter().all(|side| problem.is_limp(side));
        if !blocks.iter().all(is_loose) {
            Self::Other
        } else if of_bodies >= CROWD {
            Self::StirredCrowd
        } else if blocks.len() >= LIMP && blocks.iter().all(is_limp) {
            Self::Limp
        } else {
            Self::Other
        }
    }

    fn of_bodies(problem: &Problem, blocks: &[Block]) -> Self {
        if blocks.iter().any(|block| block.rows() != 3) {
            Self::Other
        } else if blocks.len() >= CROWD {
            Self::Crowd
        } else if is_beside_a_crowd(problem, blocks) {
            Self::BesideCrowd
        } else {
            Self::Other
        }
    }
}

/// Whether the island is of contacts only, and one of many that are solved in the step.
fn is_beside_a_crowd(problem: &Problem, blocks: &[Block]) -> bool {
    let rows_of_step = match problem.rows_of_step {
        // This is the whole step.
        0 => problem.blocks.iter().map(Block::rows).sum(),
        rows => rows,
    };
    rows_of_step >= 3 * CROWD && blocks.iter().all(|b| b.is_contact() && b.series.is_none())
}

/// Largest velocity of a block at the start of the step, and largest change of one since; 0 where that is not known. [m/s or rad/s]
fn speed_and_change(problem: &Problem, blocks: &[Block], now: &[Vector3<f64>]) -> [f64; 2] {
    if problem.start_velocity.is_empty() {
        return [0.0; 2];
    }
    let each = blocks.iter().zip(now).map(|(block, now)| {
        let before = problem.jacobian_times(&problem.start_velocity, block);
        [before.norm_squared(), (now - before).norm_squared()]
    });
    let larger = |most: f64, x: f64| if x.is_finite() { x.max(most) } else { most };
    each.fold([0.0; 2], |[speed, change], [v, dv]| [larger(speed, v), larger(change, dv)])
        .map(f64::sqrt)
}
