//! Survey of all coefficients on a grid, in parallel.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Coefficients, Transient, Verdict};

/// A rectangular grid of coefficients: from, to, step. [rad/s³] (3)
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SurveyGrid {
    /// Values of cT: from, to, step. [rad/s³] (3)
    pub sway: [f64; 3],
    /// Values of cP: from, to, step. [rad/s³] (3)
    pub pitch: [f64; 3],
}

/// A stable point of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SurveyPoint {
    /// Coefficients of the point.
    pub coefficients: Coefficients,
    /// Stability at the point.
    pub verdict: Verdict,
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts of grid points"
)]
fn values([from, to, step]: [f64; 3]) -> Vec<f64> {
    // Rounded, and points from their number: repeated addition of the step would drift off the grid's end.
    let n = ((to - from) / step).round().max(0.0) as u32;
    (0..=n).map(|i| from + f64::from(i) * step).collect()
}

impl SurveyGrid {
    /// Number of rows, one a value of cT.
    pub fn n_rows(&self) -> usize {
        values(self.sway).len()
    }

    /// Number of grid points.
    pub fn n_points(&self) -> usize {
        self.n_rows() * values(self.pitch).len()
    }

    /// Whether the steps are positive and there are at most a thousand million points.
    pub fn is_sensible(&self) -> bool {
        let axis =
            // Also keeps the number of points within `u32` before it is computed.
            |[from, to, step]: [f64; 3]| step > 0.0 && to >= from && (to - from) / step < 1e6;
        axis(self.sway) && axis(self.pitch) && self.n_points() <= 1_000_000_000
    }
}

impl Transient {
    /// Stable points of a grid, in its order, computed on all cores. `on_row` is called after each row and
    /// says whether to go on.
    pub fn survey(
        &self,
        grid: &SurveyGrid,
        on_row: &(dyn Fn() -> bool + Sync),
    ) -> Vec<SurveyPoint> {
        let pitches = values(grid.pitch);
        let row = |sway: f64| {
            let point = |&pitch: &f64| {
                let coefficients = Coefficients { sway, pitch };
                // Most points of a grid are unstable, and are left at the first instant that shows it.
                let verdict = self.verdict_above(coefficients, 0.0)?;
                Some(SurveyPoint { coefficients, verdict })
            };
            let stable: Vec<SurveyPoint> = pitches.iter().filter_map(point).collect();
            on_row().then_some(stable)
        };
        let rows: Vec<Option<Vec<SurveyPoint>>> =
            values(grid.sway).into_par_iter().map(row).while_some().map(Some).collect();
        rows.into_iter().flatten().flatten().collect()
    }
}
