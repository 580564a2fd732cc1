//! Springs that a robot has all of, while it is in free motion.

use karakuri_dynamics::dense::PivotedCholesky;

/// Springs of a robot in free motion: scratch.
#[derive(Debug, Clone, Default)]
pub(crate) struct InnerSprings {
    /// Whether a spring holds the robot to the world or to something else.
    pub(crate) hold_elsewhere: bool,
    /// Indices among the world's springs. (n)
    pub(crate) indices: Vec<usize>,
    /// `J` and `Y`, row by row. (n × nv)
    pub(crate) jacobian: Vec<f64>,
    pub(crate) response: Vec<f64>,
    /// Compliance `R` and desired velocity `u*` of each spring. (n)
    pub(crate) laws: Vec<(f64, f64)>,
    /// Delassus matrix with the compliances, `J Y + R`. (n × n)
    pub(crate) delassus: Vec<f64>,
    pub(crate) factor: PivotedCholesky,
    pub(crate) impulses: Vec<f64>,
}

impl InnerSprings {
    pub(crate) fn any(&self) -> bool {
        !self.indices.is_empty()
    }
}
