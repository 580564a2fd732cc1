//! The periodic motion by multiple shooting: from any start, in one call.
//!
//! The step is cut at its 31 grid points; the states there are unknown, and so is where each interval leads:
//! `Φ_i(s_i) = s_{i+1}`, `Φ_29(s_29) = η s_0`. Errors grow only over 1/30 s instead of over the whole step, so
//! that Newton's method converges from far away. Its linear system is condensed onto `s_0`.
//! [Stoer 2002, §7.3.5], [Ascher 1995, §4.3]

use nalgebra::{DMatrix, DVector};

use super::linear::solve;
use super::march::runge_kutta;
use super::{
    Arms, BranchPoint, ContinuationOptions, Equation, GaitMotion, STEPS_A_STEP, State, SteadyGait,
    eta, trace_branch,
};

/// Accuracy and limits of the search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PeriodicOptions {
    /// Runge-Kutta steps in each of the 30 intervals.
    pub substeps: usize,
    /// Largest jump between intervals that counts as none. [rad, rad/s]
    pub tolerance: f64,
    /// Largest number of Newton steps.
    pub max_iterations: usize,
}

impl Default for PeriodicOptions {
    /// With 16 substeps the ZMP between grid points is within 1e-6 m (with 8: 2e-6 m for gait H9).
    fn default() -> Self {
        Self { substeps: 16, tolerance: 1e-10, max_iterations: 60 }
    }
}

/// A motion that repeats, mirrored, with each step.
#[derive(Debug, Clone)]
pub struct Periodic {
    /// States at `t = 0, 1/30, ... 1` s. (31)
    pub states: Vec<State>,
    /// Largest jump between intervals that is left. [rad, rad/s]
    pub residual: f64,
    /// Newton steps of the route that succeeded.
    pub iterations: usize,
    /// Route that succeeded.
    pub route: Route,
    /// The motion itself, between the grid points too.
    pub motion: GaitMotion,
}

/// Route to a periodic motion: the first guess of Newton's method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Route {
    /// The start given.
    Start,
    /// A part of the start, nearer to the upright posture.
    Nearer,
    /// The upright posture at rest.
    Upright,
    /// The motion with less motion of the legs, increased step by step.
    Legs,
    /// The main family over the arms' mass, from light arms.
    MainFamily,
}

/// Cause of a search without a periodic motion.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PeriodicError {
    /// The equation has no solution at the start.
    #[error("the equations have no solution at the start; start with smaller angles")]
    Start,
    /// The jumps did not vanish.
    #[error("after {iterations} steps the states still jump by {residual:.1e}; start elsewhere")]
    NotConverged {
        /// Newton steps taken.
        iterations: usize,
        /// Largest jump. [rad, rad/s]
        residual: f64,
    },
    /// The trunk cannot compensate the motion of the legs.
    #[error("motions are found up to {part:.3} of what the legs do; let them do less")]
    LegsTooFar {
        /// Part of the legs' angles. [-]
        part: f64,
    },
    /// The family does not go on to these arms.
    #[error(
        "the motions that light arms have end at arms of {mass:.2} kg, {percent:.1} % of the whole; \
         take lighter arms, or a start of another family"
    )]
    FamilyEnds {
        /// Heaviest arms of the family. [kg]
        mass: f64,
        /// Their part of the whole mass. [%]
        percent: f64,
    },
}

/// Flow of one interval: the state at its end from `s` at its start.
fn flow(e: &Equation<'_>, interval: usize, s: &State, substeps: usize) -> Option<State> {
    let h = SteadyGait::DURATION / (STEPS_A_STEP * substeps) as f64;
    let start = interval * substeps;
    (0..substeps).try_fold(*s, |s, k| runge_kutta(e, (start + k) as f64 * h, &s, h))
}

/// Jumps at the ends of the intervals; `None` where an interval cannot be integrated.
fn jumps(e: &Equation<'_>, states: &[State], substeps: usize) -> Option<Vec<State>> {
    (0..STEPS_A_STEP)
        .map(|i| {
            let next = if i + 1 < STEPS_A_STEP { states[i + 1] } else { eta(&states[0]) };
            Some(flow(e, i, &states[i], substeps)? - next)
        })
        .collect()
}

fn largest(jumps: &[State]) -> f64 {
    jumps.iter().map(State::amax).fold(0.0, f64::max)
}

fn norm(jumps: &[State]) -> f64 {
    // Smooth in the step, as a damped Newton method needs it; the largest jump, which decides at the end, is not.
    jumps.iter().map(State::norm_squared).sum::<f64>().sqrt()
}

/// Finds a periodic motion from any start, in one call. In this order, until one succeeds:
///
/// 1. Newton's method from the start;
/// 2. from half and a quarter as far from the upright posture at rest, and from that posture;
/// 3. [`find_main_family`].
///
/// Passive arms have several periodic motions; the start chooses among them.
///
/// # Errors
/// That of [`find_main_family`], when no start leads to a periodic motion.
pub fn find_periodic(
    e: &Equation<'_>,
    start: &State,
    options: &PeriodicOptions,
) -> Result<Periodic, PeriodicError> {
    let starts =
        [(1.0, Route::Start), (0.5, Route::Nearer), (0.25, Route::Nearer), (0.0, Route::Upright)];
    let found =
        starts.into_iter().find_map(|(k, route)| solve_near(e, &(start * k), route, options).ok());
    found.map_or_else(|| find_main_family(e, options), Ok)
}

/// Finds the periodic motion of the main family, which goes on from arms without mass: with passive arms the family
/// is followed over the arms' mass, from a thousandth of it, which Newton's method solves from the upright posture.
/// Other arms have one motion only, found from that posture. Where that fails, the legs' motion is
/// grown from none to the whole, each motion the start for the next.
///
/// # Errors
/// When Newton's method does not converge at the last guess, the legs' motion cannot be grown to the whole, or the
/// family ends before the arms have their mass.
pub fn find_main_family(
    e: &Equation<'_>,
    options: &PeriodicOptions,
) -> Result<Periodic, PeriodicError> {
    // Arms of nearly no mass leave one motion of the trunk, and swing as pendulums of a prescribed pivot.
    const LIGHT: f64 = 1e-3;
    let upright = State::zeros();
    if e.arms != Arms::Passive {
        return solve_near(e, &upright, Route::Upright, options).or_else(|_| grow_legs(e, options));
    }
    let light = Equation { body: &e.body.with_arm_factor(LIGHT), ..*e };
    let quick = PeriodicOptions { substeps: 1, ..*options };
    let first = solve_near(&light, &upright, Route::Upright, &quick)
        .or_else(|_| grow_legs(&light, &quick))?;
    let from = BranchPoint { factor: LIGHT, start: first.states[0] };
    // Beyond the mass in question, so that it lies between two points.
    let over_the_mass = ContinuationOptions { factors: [LIGHT, 2.0], ..Default::default() };
    let branch = trace_branch(e.body, e.gait, &from, &over_the_mass).ok_or(PeriodicError::Start)?;
    let Some(guess) = branch.at(1.0).first().copied() else {
        let body = e.body.with_arm_factor(branch.factors()[1]);
        let percent = 100.0 * body.arm_mass() / body.mass();
        return Err(PeriodicError::FamilyEnds { mass: body.arm_mass(), percent });
    };
    solve_near(e, &guess, Route::MainFamily, options)
}

/// Newton's method with legs that move ever further, from the motion before; the steps are halved where it fails.
fn grow_legs(e: &Equation<'_>, options: &PeriodicOptions) -> Result<Periodic, PeriodicError> {
    // Coarse on the way; only the last motion, of the whole legs, is found with the substeps that were asked for.
    let quick = PeriodicOptions { substeps: 1, ..*options };
    let (mut part, mut growth, mut start) = (0.0, 0.5, State::zeros());
    // Finer, the part that is reported would be exact beyond any use.
    while growth > 1e-3 {
        let next = f64::min(part + growth, 1.0);
        let gait = e.gait.with_legs(next);
        let scaled = Equation { gait: &gait, ..*e };
        let accuracy = if next < 1.0 { &quick } else { options };
        match solve_near(&scaled, &start, Route::Legs, accuracy) {
            Ok(found) if next >= 1.0 => return Ok(found),
            Ok(found) => (part, start) = (next, found.states[0]),
            Err(_) => growth /= 2.0,
        }
    }
    Err(PeriodicError::LegsTooFar { part })
}

/// First guess of the states at the grid points: where the start leads, if that nearly repeats; else a straight line from the
/// start to its mirror image. (30)
fn first_states(e: &Equation<'_>, start: &State, substeps: usize) -> Vec<State> {
    /// Distance of the march's end from the mirrored start beyond which it is a worse guess than the line. [rad, rad/s]
    const NEAR: f64 = 0.5;
    let states: Option<Vec<State>> = (0..STEPS_A_STEP)
        .scan(*start, |s, i| Some(flow(e, i, s, substeps).inspect(|next| *s = *next)))
        .collect();
    if let Some(states) = states
        && (states[STEPS_A_STEP - 1] - eta(start)).amax() < NEAR
    {
        return [*start].into_iter().chain(states).take(STEPS_A_STEP).collect();
    }
    let part = |i: usize| i as f64 / STEPS_A_STEP as f64;
    // A march that runs away is no guess; on the line all jumps are moderate.
    (0..STEPS_A_STEP).map(|i| start.lerp(&eta(start), part(i))).collect()
}

/// Newton's method from one start; each step is halved until the jumps become smaller.
fn solve_near(
    e: &Equation<'_>,
    start: &State,
    route: Route,
    options: &PeriodicOptions,
) -> Result<Periodic, PeriodicError> {
    let substeps = options.substeps.max(1);
    let mut states = first_states(e, start, substeps);
    let mut r = jumps(e, &states, substeps).ok_or(PeriodicError::Start)?;
    let mut iterations = 0;
    while largest(&r) > options.tolerance && iterations < options.max_iterations {
        // Damped Newton: the step is halved until the norm of all jumps falls.
        let Some(step) = newton_step(e, &states, &r, substeps) else { break };
        let mut epsilon = 1.0;
        let better = loop {
            let moved: Vec<State> =
                states.iter().zip(&step).map(|(s, d)| s + d * epsilon).collect();
            if let Some(next) = jumps(e, &moved, substeps)
                && norm(&next) < norm(&r)
            {
                break Some((moved, next));
            }
            epsilon /= 2.0;
            // A step that helps only at this size leads nowhere: the Jacobian is nearly singular.
            if epsilon < 1e-4 {
                break None;
            }
        };
        let Some((moved, next)) = better else { break };
        (states, r) = (moved, next);
        iterations += 1;
    }
    let residual = largest(&r);
    // A search that rounding stops above its tolerance has found the motion all the same.
    if residual > options.tolerance.max(1e-8) {
        return Err(PeriodicError::NotConverged { iterations, residual });
    }
    states.push(eta(&states[0]));
    let motion = GaitMotion::new(e, &states, substeps).ok_or(PeriodicError::Start)?;
    Ok(Periodic { states, residual, iterations, route, motion })
}

/// Newton's step for all states at the grid points. (30)
fn newton_step(
    e: &Equation<'_>,
    states: &[State],
    r: &[State],
    substeps: usize,
) -> Option<Vec<State>> {
    const DIFFERENCE: f64 = 1e-6;
    let indices = e.indices();
    let m = indices.len();
    let pick = |s: &State| DVector::from_fn(m, |k, _| s[indices[k]]);
    // Sensitivities `A_i = ∂Φ_i/∂s_i` of each interval, by central differences.
    let mut sensitivities = Vec::with_capacity(STEPS_A_STEP);
    for (i, state) in states.iter().enumerate() {
        let mut a = DMatrix::zeros(m, m);
        for (column, &k) in indices.iter().enumerate() {
            let moved = |d: f64| {
                let mut s = *state;
                s[k] += d;
                flow(e, i, &s, substeps)
            };
            let slope = (moved(DIFFERENCE)? - moved(-DIFFERENCE)?) / (2.0 * DIFFERENCE);
            a.set_column(column, &pick(&slope));
        }
        sensitivities.push(a);
    }
    // δ_{i+1} = A_i δ_i + r_i, condensed: δ_30 = P δ_0 + c, and δ_30 = η δ_0.
    let (mut p, mut c) = (DMatrix::identity(m, m), DVector::zeros(m));
    for (a, jump) in sensitivities.iter().zip(r) {
        p = a * p;
        c = a * c + pick(jump);
    }
    // `(P − η) δ_0 = −c`: the columns of η are the mirrored unit states.
    for (column, &k) in indices.iter().enumerate() {
        let mut unit = State::zeros();
        unit[k] = 1.0;
        let mirrored = pick(&eta(&unit));
        for row in 0..m {
            p[(row, column)] -= mirrored[row];
        }
    }
    // Back to all grid points by the same recursion.
    let mut delta = solve(p, &-c)?;
    let mut step = Vec::with_capacity(STEPS_A_STEP);
    for (a, jump) in sensitivities.iter().zip(r) {
        let mut whole = State::zeros();
        for (k, &i) in indices.iter().enumerate() {
            whole[i] = delta[k];
        }
        step.push(whole);
        delta = a * delta + pick(jump);
    }
    Some(step)
}
