//! Scratch of the solvers: no state, so a copy of a problem takes none of it along.

use nalgebra::Vector3;

use super::{accelerated_gradient, admm, newton};

/// Buffers that keep their memory from step to step.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    /// Velocity without impulses. (n)
    pub(crate) free: Vec<f64>,
    /// Impulses of the best iterate so far. (blocks)
    pub(crate) best: Vec<Vector3<f64>>,
    pub(crate) newton: newton::Scratch,
    pub(crate) admm: admm::Scratch,
    pub(crate) gradient: accelerated_gradient::Scratch,
}

impl Clone for Workspace {
    fn clone(&self) -> Self {
        Self::default()
    }
}
