//! The study's search for a start that repeats: gradient descent far away, Newton's method nearby.
//!
//! `DE = |η s0 - s1|` over the unknowns; sensitivities by one-sided differences of 0.005;
//! `A = ds1/ds0 - η`. Far: `s0 -= ε ∇DE`, `∇DE = Aᵀ(s1 - η s0)/DE`. Near: `s0 += ε A⁻¹(η s0 - s1)`. `ε` is halved
//! when `DE` does not fall. [Kume 1991]

use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;

use super::linear::solve;
use super::{Equation, MarchError, STEPS_A_STEP, State, eta, march_in, state};

/// Difference for the sensitivities. [rad or rad/s]
const DIFFERENCE: f64 = 0.005;

/// Thresholds between the methods and at the end of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchOptions {
    /// `DE` below which Newton's method replaces the gradient. [rad, rad/s]
    pub near: f64,
    /// `DE` at which the search is done. [rad, rad/s]
    pub tolerance: f64,
    /// Largest number of steps of both methods together.
    pub max_iterations: usize,
    /// Intervals of the march; the study's are 30.
    pub intervals: usize,
}

impl Default for SearchOptions {
    /// The study prints no thresholds.
    fn default() -> Self {
        Self { near: 1.0, tolerance: 1e-8, max_iterations: 200, intervals: STEPS_A_STEP }
    }
}

/// Result of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search {
    /// The best start found.
    pub start: State,
    /// `DE` of the start. [rad, rad/s]
    pub error: f64,
    /// Whether `DE` is within the tolerance.
    pub converged: bool,
    /// Steps of both methods.
    pub iterations: usize,
    /// Steps of Newton's method among them.
    pub local_iterations: usize,
}

/// Starts of the study's surveys with passive arms: `(0, 0, 0.3, 1.5)`, shoulders at 0, and the shoulders' rates
/// equal from -10 to 10, then all pairs from -6 to 6. [rad, rad/s]
pub fn survey_starts() -> (Vec<State>, Vec<State>) {
    let start = |left: i32, right: i32| {
        let rates = [f64::from(left), f64::from(right)];
        state([0.0, 0.0], [0.3, 1.5], [[0.0; 2], rates])
    };
    let equal = (-10..=10).map(|r| start(r, r)).collect();
    let pairs = (-6..=6).flat_map(|l| (-6..=6).map(move |r| start(l, r))).collect();
    (equal, pairs)
}

/// Distinct periodic motions that a survey of starts ends in, each with the number of starts that led there,
/// in the order of the starts. Computed on all cores.
pub fn survey_solutions(
    e: &Equation<'_>,
    starts: &[State],
    options: &SearchOptions,
) -> Vec<(Search, usize)> {
    /// Solutions nearer than this are the same. [rad, rad/s]
    const SAME: f64 = 1e-3;
    let found: Vec<Result<Search, MarchError>> =
        starts.par_iter().map(|s| Search::from_start(e, s, options)).collect();
    let mut distinct: Vec<(Search, usize)> = Vec::new();
    for search in found.into_iter().flatten().filter(|s| s.converged) {
        match distinct.iter_mut().find(|(d, _)| (d.start - search.start).amax() < SAME) {
            Some((_, count)) => *count += 1,
            None => distinct.push((search, 1)),
        }
    }
    distinct
}

/// March from a start, and the residual of its end.
struct Marcher<'a> {
    e: &'a Equation<'a>,
    intervals: usize,
}

impl Marcher<'_> {
    /// Residual `s1 - η s0` over the unknowns. [rad, rad/s] (2 n)
    fn residual(&self, s: &State) -> Result<DVector<f64>, MarchError> {
        let difference = march_in(self.e, s, self.intervals)?.end() - eta(s);
        let indices = self.e.indices();
        Ok(DVector::from_fn(indices.len(), |i, _| difference[indices[i]]))
    }

    /// Sensitivity `A = ds1/ds0 - η`; `None` where a neighbour cannot be marched. (2 n×2 n)
    fn sensitivity(&self, s: &State, at: &DVector<f64>) -> Option<DMatrix<f64>> {
        let indices = self.e.indices();
        let mut a = DMatrix::zeros(indices.len(), indices.len());
        for (column, &i) in indices.iter().enumerate() {
            let mut moved = *s;
            moved[i] += DIFFERENCE;
            // One-sided, as the study's: another difference would take other steps to the solution.
            a.set_column(column, &((self.residual(&moved).ok()? - at) / DIFFERENCE));
        }
        Some(a)
    }

    /// First of `ε = 1, 1/2, 1/4 ...` with a smaller error.
    fn halving(
        &self,
        s: &State,
        r: &DVector<f64>,
        step: &DVector<f64>,
    ) -> Option<(State, DVector<f64>)> {
        let mut epsilon = 1.0;
        // 2⁻³⁰ of a step is below what the march resolves.
        for _ in 0..30 {
            let mut next = *s;
            for (k, &i) in self.e.indices().iter().enumerate() {
                next[i] += epsilon * step[k];
            }
            if let Ok(next_r) = self.residual(&next)
                && next_r.norm() < r.norm()
            {
                return Some((next, next_r));
            }
            epsilon /= 2.0;
        }
        None
    }
}

impl Search {
    /// Searches from one start; an error where the first march breaks off.
    ///
    /// # Errors
    /// When the first march breaks off. A search that does not converge says so in [`Self::converged`].
    pub fn from_start(
        e: &Equation<'_>,
        start: &State,
        options: &SearchOptions,
    ) -> Result<Self, MarchError> {
        let marcher = Marcher { e, intervals: options.intervals };
        let mut s = *start;
        let mut r = marcher.residual(&s)?;
        let (mut iterations, mut local_iterations) = (0, 0);
        while iterations < options.max_iterations && r.norm() > options.tolerance {
            let Some(a) = marcher.sensitivity(&s, &r) else { break };
            // Near: Newton's step `−A⁻¹ r`. Far, or where A is singular: down the gradient of DE, `−Aᵀ r/DE`.
            let newton = if r.norm() < options.near { solve(a.clone(), &-&r) } else { None };
            let is_local = newton.is_some();
            let step = newton.unwrap_or_else(|| a.tr_mul(&r) * (-1.0 / r.norm()));
            let Some((next, next_r)) = marcher.halving(&s, &r, &step) else { break };
            (s, r) = (next, next_r);
            iterations += 1;
            local_iterations += usize::from(is_local);
        }
        let error = r.norm();
        let converged = error <= options.tolerance;
        Ok(Self { start: s, error, converged, iterations, local_iterations })
    }
}
