//! Solution of small dense systems.

use nalgebra::{DMatrix, DVector};

/// `x` of `A x = b`; `None` where A is singular.
pub(super) fn solve(a: DMatrix<f64>, b: &DVector<f64>) -> Option<DVector<f64>> {
    // A pivot that is rounding passes as regular; its solution is then not finite, or the caller's step does not help.
    a.lu().solve(b).filter(|x| x.iter().all(|v| v.is_finite()))
}
