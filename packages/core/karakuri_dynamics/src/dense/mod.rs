//! Dense factorisations of small matrices, in place and without allocation.
//!
//! Matrices are slices in row-major order. All sums run in index order, so results repeat bit for bit; nalgebra's
//! factorisations allocate for sizes known only at run time. The factor of the mass matrix, which has the pattern of the
//! tree, is [`crate::MassFactor`].

mod cholesky;
mod gauss;
mod pivoted_cholesky;
mod row_echelon;
mod semidefinite;
#[cfg(test)]
mod tests;

pub use cholesky::solve_positive_definite;
pub use gauss::{general_stride, solve_general};
pub use pivoted_cholesky::PivotedCholesky;
pub use row_echelon::{PivotStep, reduce_column};
pub use semidefinite::solve_semidefinite;
