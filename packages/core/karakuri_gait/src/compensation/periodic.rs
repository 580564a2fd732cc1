//! The periodic motion by multiple shooting: from any start, in one call.
//!
//! The step is cut at its 31 grid points; the states there are unknown, and so is where each interval leads:
//! `Φ_i(s_i) = s_{i+1}`, `Φ_29(s_29) = η s_0`. Errors grow only over 1/30 s instead of over the whole step, so
//! that Newton's method converges from far away. Its linear system is condensed onto `s_0`.
//! [Stoer 2002, §7.3.5], [Ascher 1995, §4.3]

use nalgebra::{DMatrix, DVector};

use super::linear::solve;
use super::march::runge_kutta;
use super::{Equation, Motion, STEPS_A_STEP, State, SteadyGait, eta};

/// How exactly, how long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PeriodicOptions {
    /// Runge-Kutta steps in each of the 30 intervals.
    pub substeps: usize,
    /// Largest jump between intervals that counts as none. [rad, rad/s]
    pub tolerance: f64,
    /// Newton steps.
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
    /// At `t = 0, 1/30, ... 1` s. (31)
    pub states: Vec<State>,
    /// Largest jump left. [rad, rad/s]
    pub residual: f64,
    /// Newton steps taken.
    pub iterations: usize,
    /// The motion itself, between the grid points too.
    pub motion: Motion,
}

/// Why there is no periodic motion.
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
}

/// One interval: where it leads from `s`.
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
    jumps.iter().map(State::norm_squared).sum::<f64>().sqrt()
}

/// Finds the periodic motion from any start. Where Newton's method fails from it, it begins again half as far from
/// the upright posture at rest, and at last there.
pub fn find_periodic(
    e: &Equation<'_>,
    start: &State,
    options: &PeriodicOptions,
) -> Result<Periodic, PeriodicError> {
    let nearer = [0.5, 0.25, 0.0].map(|k| start * k);
    let mut found = find_near(e, start, options);
    for start in &nearer {
        if found.is_ok() {
            break;
        }
        found = find_near(e, start, options);
    }
    found
}

/// The same from one start only: the states lie between it and its mirror image.
fn find_near(
    e: &Equation<'_>,
    start: &State,
    options: &PeriodicOptions,
) -> Result<Periodic, PeriodicError> {
    let substeps = options.substeps.max(1);
    let mut states: Vec<State> = (0..STEPS_A_STEP)
        .map(|i| start.lerp(&eta(start), i as f64 / STEPS_A_STEP as f64))
        .collect();
    let mut r = jumps(e, &states, substeps).ok_or(PeriodicError::Start)?;
    let mut iterations = 0;
    while largest(&r) > options.tolerance && iterations < options.max_iterations {
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
            if epsilon < 1e-4 {
                break None;
            }
        };
        let Some((moved, next)) = better else { break };
        (states, r) = (moved, next);
        iterations += 1;
    }
    let residual = largest(&r);
    if residual > options.tolerance.max(1e-8) {
        return Err(PeriodicError::NotConverged { iterations, residual });
    }
    states.push(eta(&states[0]));
    let motion = Motion::new(e, &states, substeps).ok_or(PeriodicError::Start)?;
    Ok(Periodic { states, residual, iterations, motion })
}

/// Newton's step for all states.
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
    for (column, &k) in indices.iter().enumerate() {
        let mut unit = State::zeros();
        unit[k] = 1.0;
        let mirrored = pick(&eta(&unit));
        for row in 0..m {
            p[(row, column)] -= mirrored[row];
        }
    }
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
