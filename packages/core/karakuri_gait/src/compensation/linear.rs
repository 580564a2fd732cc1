//! Solution of small dense systems.

use nalgebra::{DMatrix, DVector};

/// `x` of `A x = b`; `None` where A is singular.
pub(super) fn solve(a: DMatrix<f64>, b: &DVector<f64>) -> Option<DVector<f64>> {
    a.lu().solve(b).filter(|x| x.iter().all(|v| v.is_finite()))
}
