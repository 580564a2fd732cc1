//! The best coefficients without a survey.
//!
//! First the margin is maximised (so that a stable motion is found from anywhere), then, among stable ones, SZ is
//! minimised if asked. Both objectives have kinks, so a compass search that needs no derivatives: eight directions,
//! the step doubles on success and halves on failure. [Kolda 2003, §3]

use serde::Serialize;

use super::{Coefficients, Transient, Verdict};

/// Steps of the search and their number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OptimizeOptions {
    /// Step at the beginning, of cT and cP. [rad/s³]
    pub first_step: f64,
    /// Step at which the search ends. [rad/s³]
    pub last_step: f64,
    /// Largest number of evaluations of the whole motion.
    pub max_evaluations: usize,
}

impl Default for OptimizeOptions {
    fn default() -> Self {
        // 16 + 32 + 64 rad/s³ lead from the origin to the edge of the coarse survey; 1e-5 is far below the finest step of any, 0.005.
        Self { first_step: 16.0, last_step: 1e-5, max_evaluations: 20_000 }
    }
}

/// The best coefficients.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Optimum {
    /// Coefficients of the optimum.
    pub coefficients: Coefficients,
    /// Stability of the motion with them.
    pub verdict: Verdict,
    /// Evaluations of the whole motion.
    pub evaluations: usize,
}

impl Transient {
    /// The coefficients of the largest margin.
    pub fn maximize_margin(&self, options: &OptimizeOptions) -> Optimum {
        let start = Coefficients { sway: 0.0, pitch: 0.0 };
        self.compass(start, options, |verdict| -verdict.margin)
    }

    /// The stable coefficients of the least SZ; those of the largest margin if none is stable.
    pub fn minimize_off_center(&self, options: &OptimizeOptions) -> Optimum {
        let start = self.maximize_margin(options);
        if !start.verdict.is_stable() {
            return start;
        }
        // An infinite cost keeps a search by comparisons among stable motions, which it starts from.
        let cost = |v: &Verdict| if v.is_stable() { v.off_center } else { f64::INFINITY };
        let best = self.compass(start.coefficients, options, cost);
        Optimum { evaluations: start.evaluations + best.evaluations, ..best }
    }

    fn compass(
        &self,
        start: Coefficients,
        options: &OptimizeOptions,
        cost: impl Fn(&Verdict) -> f64,
    ) -> Optimum {
        // The diagonals lead along the ridges of a margin, where both axes alone lead down.
        const DIRECTIONS: [[f64; 2]; 8] = [
            [1.0, 0.0],
            [-1.0, 0.0],
            [0.0, 1.0],
            [0.0, -1.0],
            [1.0, 1.0],
            [-1.0, -1.0],
            [1.0, -1.0],
            [-1.0, 1.0],
        ];
        let mut best =
            Optimum { coefficients: start, verdict: self.verdict(start), evaluations: 1 };
        let mut step = options.first_step;
        while step > options.last_step && best.evaluations < options.max_evaluations {
            let from = best.coefficients;
            let before = cost(&best.verdict);
            for [sway, pitch] in DIRECTIONS {
                let coefficients = Coefficients {
                    sway: from.sway + step * sway,
                    pitch: from.pitch + step * pitch,
                };
                let verdict = self.verdict(coefficients);
                best.evaluations += 1;
                if cost(&verdict) < cost(&best.verdict) {
                    (best.coefficients, best.verdict) = (coefficients, verdict);
                }
            }
            // The step doubles on success and halves on failure [Kolda 2003, §3].
            step *= if cost(&best.verdict) < before { 2.0 } else { 0.5 };
        }
        best
    }
}
