//! The search: starts, steps, limits.

use karakuri_model::{BodyId, JointKind, Model};
use karakuri_spatial::Vector3;

use super::step::{self, CENTER_OF_MASS_ROWS, Errors, ROWS};
use super::{IkError, IkMethod, IkObstacle, IkOptions, IkOutcome, IkProblem, IkTarget};
use crate::crba::update_composites;
use crate::{Data, Reduction, forward_kinematics, integrate, random_position};

/// Longest step of a coordinate: beyond it the linear picture says little. [rad or m]
const LONGEST_STEP: f64 = 1.0;
/// Damping at the start, relative to the mean of `J Jᵀ`'s diagonal. Ten times less or more costs a step or two.
const FIRST_DAMPING: f64 = 1e-3;
/// Least damping: keeps `J Jᵀ` solvable at singular postures, far below what slows convergence.
const LEAST_DAMPING: f64 = 1e-12;
/// Most damping: steps this short no longer help.
const MOST_DAMPING: f64 = 1e8;
/// Relative gain of a step below which a start counts as stuck.
const LEAST_GAIN: f64 = 1e-6;

/// Workspace of inverse kinematics.
#[derive(Debug, Clone)]
pub struct InverseKinematics {
    /// The best position found. (nq)
    pub position: Vec<f64>,
    data: Data,
    reduction: Reduction,
    /// Limits of the independent coordinates that are joints with one degree of freedom; infinite elsewhere. (nr)
    bounds: Vec<Bound>,
    /// Coordinates that keep their place. (nr)
    locked: Vec<bool>,
    /// The position of a start, and that after a step on trial. (nq)
    q: Vec<f64>,
    trial: Vec<f64>,
    gradient: Vec<f64>,
    delta: Vec<f64>,
    rates: Vec<f64>,
    /// Errors at `q` and at `trial`. (n rows)
    residual: Vec<f64>,
    trial_residual: Vec<f64>,
    jacobian: Vec<f64>,
    square: Vec<f64>,
    solution: Vec<f64>,
}

/// Limits of an independent coordinate and the place where its position is.
#[derive(Debug, Clone, Copy)]
struct Bound {
    joint: usize,
    /// `None` for joints with several degrees of freedom, which have no limits.
    q: Option<usize>,
    lower: f64,
    upper: f64,
}

/// The result of one start.
#[derive(Debug, Clone, Copy)]
struct Attempt {
    errors: Errors,
    iterations: usize,
    converged: bool,
}

impl InverseKinematics {
    /// Allocates for a model and up to `n_targets` targets; more are allocated when they come.
    pub fn new(model: &Model, n_targets: usize) -> Self {
        let reduction = Reduction::new(model);
        let n = reduction.n_independent;
        let m = ROWS * n_targets + CENTER_OF_MASS_ROWS;
        Self {
            position: model.neutral_position(),
            data: Data::new(model),
            bounds: bounds(model, &reduction),
            locked: vec![false; n],
            q: model.neutral_position(),
            trial: model.neutral_position(),
            gradient: vec![0.0; n],
            delta: vec![0.0; n],
            rates: vec![0.0; model.nv],
            residual: Vec::with_capacity(m),
            trial_residual: Vec::with_capacity(m),
            jacobian: Vec::with_capacity(m * n),
            square: Vec::with_capacity(m * m),
            solution: Vec::with_capacity(m),
            reduction,
        }
    }

    /// Searches; `position` holds the solution, or the best position found.
    ///
    /// # Errors
    ///
    /// If the problem is invalid. A target that is not reached is an outcome, not an error.
    pub fn solve(
        &mut self,
        model: &Model,
        problem: &IkProblem<'_>,
        options: &IkOptions,
    ) -> Result<IkOutcome, IkError> {
        problem.check(model)?;
        self.prepare(model, problem);
        let mut random = SplitMix64(options.seed);
        let mut best: Option<Attempt> = None;
        let hopeless = self.hopeless(model, problem.targets).is_some();
        let (mut iterations, mut restarts) = (0, 0);
        for start in 0..=options.restarts {
            if start == 0 {
                self.q.copy_from_slice(problem.start);
            } else {
                restarts += 1;
                random_position(model, &mut || random.uniform(), &mut self.trial);
                self.keep_locked(model);
            }
            clamp(&self.bounds, &self.locked, &mut self.q);
            self.reduction.project_position(&mut self.q);
            let attempt = self.search(model, problem, options);
            iterations += attempt.iterations;
            let is_better = best.is_none_or(|best| attempt.errors.cost < best.errors.cost);
            if attempt.converged || is_better {
                self.position.copy_from_slice(&self.q);
                best = Some(attempt);
            }
            // Out of reach as well one start is searched: the position nearest to the target is part of the answer.
            if attempt.converged || hopeless {
                break;
            }
        }
        let Some(best) = best else { return Err(IkError::NoTarget) };
        let obstacle = if best.converged { None } else { Some(self.obstacle(model, problem)) };
        Ok(IkOutcome {
            converged: best.converged,
            position_error: best.errors.position,
            orientation_error: best.errors.orientation,
            iterations,
            restarts,
            obstacle,
        })
    }

    fn prepare(&mut self, model: &Model, problem: &IkProblem<'_>) {
        let (m, n) = (problem.n_rows(), self.delta.len());
        self.residual.resize(m, 0.0);
        self.trial_residual.resize(m, 0.0);
        self.jacobian.resize(m * n, 0.0);
        self.square.resize(m * m, 0.0);
        self.solution.resize(m, 0.0);
        self.locked.fill(false);
        for joint in problem.locked {
            let first = model.joints[joint.0].v_start;
            for k in first..first + model.joints[joint.0].kind.nv() {
                // To hold a mimic joint is to hold its leader, and with it all that follow.
                self.locked[self.reduction.row(k).0] = true;
            }
        }
    }

    /// Makes the random start in `trial` the start, locked joints excepted.
    fn keep_locked(&mut self, model: &Model) {
        for joint in &model.joints {
            if !self.locked[self.reduction.row(joint.v_start).0] {
                let range = joint.q_start..joint.q_start + joint.kind.nq();
                self.q[range.clone()].copy_from_slice(&self.trial[range]);
            }
        }
    }

    /// Iterates from `q`, in place, until convergence or no progress.
    fn search(&mut self, model: &Model, problem: &IkProblem<'_>, options: &IkOptions) -> Attempt {
        forward_kinematics(model, &mut self.data, &self.q);
        let mut errors = step::errors(model, &self.data, problem, &mut self.residual);
        let mut damping = FIRST_DAMPING;
        let mut iterations = 0;
        loop {
            // By the errors that a user states, not by the cost, in which the weights count.
            let converged = errors.position <= options.position_tolerance
                && errors.orientation <= options.orientation_tolerance;
            if converged || iterations >= options.max_iterations {
                return Attempt { errors, iterations, converged };
            }
            self.linearize(model, problem);
            let after = match options.method {
                IkMethod::Newton { gain, damping } => {
                    // Not judged by its error, as in the programs that it follows: `max_iterations` ends what does not converge.
                    iterations += 1;
                    self.try_step(model, problem, damping, gain)
                }
                IkMethod::DampedLeastSquares => loop {
                    iterations += 1;
                    let tried = self.try_step(model, problem, damping, 1.0);
                    // Levenberg-Marquardt: less damping after a step that gains, more after one that does not.
                    let gain = tried.map_or(0.0, |after| errors.cost - after.cost);
                    if gain > LEAST_GAIN * errors.cost {
                        // Lowered by less than it is raised below, because a refused step costs no new Jacobian.
                        damping = (0.2 * damping).max(LEAST_DAMPING);
                        break tried;
                    }
                    damping *= 8.0;
                    if damping > MOST_DAMPING || iterations >= options.max_iterations {
                        break None;
                    }
                },
            };
            // No step gains at any damping: a local minimum, which only another start avoids.
            let Some(after) = after else { return Attempt { errors, iterations, converged } };
            errors = after;
            std::mem::swap(&mut self.q, &mut self.trial);
            std::mem::swap(&mut self.residual, &mut self.trial_residual);
        }
    }

    /// Jacobian and gradient at the last position evaluated; freezes what is locked or held by a limit.
    fn linearize(&mut self, model: &Model, problem: &IkProblem<'_>) {
        if problem.center_of_mass.is_some() {
            update_composites(model, &mut self.data);
        }
        step::jacobian(model, &self.data, problem, &self.reduction, &mut self.jacobian);
        step::gradient(&self.jacobian, &self.residual, &mut self.gradient);
        let n = self.delta.len();
        for (k, bound) in self.bounds.iter().enumerate() {
            // A coordinate without a column gets no step.
            // Only what the error pushes outwards is frozen, so a coordinate leaves its limit as soon as the push turns round.
            if self.locked[k] || bound.held(&self.q, self.gradient[k]).is_some() {
                for x in self.jacobian.iter_mut().skip(k).step_by(n) {
                    *x = 0.0;
                }
            }
        }
    }

    /// Errors after a step, whose position `trial` then holds; `None` if there is no step.
    fn try_step(
        &mut self,
        model: &Model,
        problem: &IkProblem<'_>,
        damping: f64,
        gain: f64,
    ) -> Option<Errors> {
        let (J, r) = (&self.jacobian, &self.residual);
        let (A, y) = (&mut self.square, &mut self.solution);
        let solved = step::damped_step(J, r, damping, A, y, &mut self.delta);
        if !solved {
            return None;
        }
        // A step beyond the reach of the linear picture is shortened as a whole.
        let longest = self.delta.iter().fold(0.0_f64, |longest, x| longest.max(x.abs()));
        let fraction = if longest > LONGEST_STEP { gain * LONGEST_STEP / longest } else { gain };
        self.reduction.expand_velocity(&self.delta, &mut self.rates);
        integrate(model, &self.q, &self.rates, fraction, &mut self.trial);
        clamp(&self.bounds, &self.locked, &mut self.trial);
        // After the clamp: bounds are those of leaders, with the limits of their followers in them.
        self.reduction.project_position(&mut self.trial);
        forward_kinematics(model, &mut self.data, &self.trial);
        Some(step::errors(model, &self.data, problem, &mut self.trial_residual))
    }

    /// The obstacle at `position`.
    fn obstacle(&mut self, model: &Model, problem: &IkProblem<'_>) -> IkObstacle {
        if let Some(obstacle) = self.hopeless(model, problem.targets) {
            return obstacle;
        }
        self.q.copy_from_slice(&self.position);
        forward_kinematics(model, &mut self.data, &self.q);
        step::errors(model, &self.data, problem, &mut self.residual);
        self.linearize(model, problem);
        // Columns of held coordinates are zero now, but the gradient, taken before, still has the pushes against their limits.
        let held = self.bounds.iter().enumerate().filter(|(k, _)| !self.locked[*k]);
        let held = held.filter_map(|(k, bound)| {
            let push = self.gradient[k];
            bound.held(&self.q, push).map(|is_upper| (push.abs(), bound, is_upper))
        });
        let hardest = held.max_by(|a, b| a.0.total_cmp(&b.0));
        hardest.map_or(IkObstacle::Stuck, |(_, bound, is_upper)| IkObstacle::Limit {
            joint: BodyId(bound.joint),
            limit: if is_upper { bound.upper } else { bound.lower },
            is_upper,
        })
    }

    /// A reason why no position at all meets a target.
    fn hopeless(&self, model: &Model, targets: &[IkTarget]) -> Option<IkObstacle> {
        targets.iter().enumerate().find_map(|(i, target)| {
            let chain = Chain::of(model, target);
            let moves = chain.joints().any(|joint| {
                // A mimic joint moves if its leader may.
                let first = model.joints[joint].v_start;
                !self.locked[self.reduction.row(first).0]
            });
            if !moves {
                return Some(IkObstacle::NothingMoves { target: i });
            }
            // With a free axis the target is a line or a plane, whose nearest point may be within reach.
            let is_bound = target.position_weight.iter().all(|w| *w > 0.0);
            let (distance, reach) = chain.distance_and_reach(target);
            (is_bound && distance > reach).then_some(IkObstacle::OutOfReach {
                target: i,
                distance,
                reach,
            })
        })
    }
}

impl Bound {
    /// Whether the limit holds the coordinate against this push: at the upper one, or the lower.
    fn held(&self, q: &[f64], push: f64) -> Option<bool> {
        let x = q[self.q?];
        if x >= self.upper && push > 0.0 {
            Some(true)
        } else if x <= self.lower && push < 0.0 {
            Some(false)
        } else {
            None
        }
    }
}

/// Limits of every independent coordinate, those of the joints that follow it included.
fn bounds(model: &Model, reduction: &Reduction) -> Vec<Bound> {
    let none = Bound { joint: 0, q: None, lower: f64::NEG_INFINITY, upper: f64::INFINITY };
    let mut bounds = vec![none; reduction.n_independent];
    for (i, joint) in model.joints.iter().enumerate() {
        for k in joint.v_start..joint.v_start + joint.kind.nv() {
            let (r, factor) = reduction.row(k);
            let bound = &mut bounds[r];
            if reduction.independent(r) == k {
                bound.joint = i;
                bound.q = (joint.kind.nv() == 1).then_some(joint.q_start);
            }
            // A follower with multiplier zero stands still and limits nothing.
            if joint.kind.nv() == 1 && factor != 0.0 {
                // The joint's limits in its leader's coordinate; a negative factor exchanges them.
                let at = |limit: f64| (limit - reduction.offset(k)) / factor;
                let (a, b) = (at(joint.limits.lower), at(joint.limits.upper));
                bound.lower = bound.lower.max(a.min(b));
                bound.upper = bound.upper.min(a.max(b));
            }
        }
    }
    bounds
}

/// Brings the coordinates inside their limits, locked ones excepted.
fn clamp(bounds: &[Bound], locked: &[bool], q: &mut [f64]) {
    for (bound, locked) in bounds.iter().zip(locked) {
        if let (Some(i), false) = (bound.q, locked) {
            // Not `clamp`, which panics where limits of followers exclude each other and leave the bounds in the wrong order.
            q[i] = q[i].max(bound.lower).min(bound.upper);
        }
    }
}

/// The joints from a frame to the root.
#[derive(Clone, Copy)]
struct Chain<'a> {
    model: &'a Model,
    frame: &'a karakuri_model::Frame,
}

impl<'a> Chain<'a> {
    fn of(model: &'a Model, target: &IkTarget) -> Self {
        Self { model, frame: &model.frames[target.frame.0] }
    }

    /// Joints of the chain, tip first.
    fn joints(self) -> impl Iterator<Item = usize> + 'a {
        let tip = self.frame.body.map(|body| body.0);
        std::iter::successors(tip, move |i| self.model.bodies[*i].parent.map(|p| p.0))
    }

    /// Distance of the target from the first joint, and the length of all links and strokes after it. [m]
    fn distance_and_reach(self, target: &IkTarget) -> (f64, f64) {
        // The triangle inequality: no posture brings the frame farther than the sum of all offsets and strokes.
        let mut reach = self.frame.pose_in_body.translation.norm();
        let mut root = Vector3::zeros();
        for i in self.joints() {
            let joint = &self.model.joints[i];
            let p = joint.pose_in_parent.translation;
            match self.model.bodies[i].parent {
                Some(_) => reach += p.norm(),
                // The first joint's own place is where the reach begins.
                None => root = p,
            }
            reach += match joint.kind {
                JointKind::Revolute { .. } | JointKind::Spherical => 0.0,
                JointKind::Prismatic { .. } => {
                    joint.limits.lower.abs().max(joint.limits.upper.abs())
                }
                // Nothing bounds how far these go, so no target is proven to be out of reach.
                JointKind::Planar { .. } | JointKind::Floating | JointKind::Custom(_) => {
                    f64::INFINITY
                }
            };
        }
        ((target.pose_in_world.translation - root).norm(), reach)
    }
}

/// A seeded source of numbers. [Steele et al. 2014, Fig. 10]
#[derive(Debug, Clone, Copy)]
struct SplitMix64(u64);

impl SplitMix64 {
    /// Uniform number in [0, 1).
    fn uniform(&mut self) -> f64 {
        // 2⁶⁴ over the golden ratio, made odd: every state is passed once before any repeats.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        // The upper 53 bits are as many as a double holds, so every number is exact and 1 is never reached.
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}
