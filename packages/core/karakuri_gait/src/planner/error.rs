//! Error of a part of a walk that cannot be planned.

/// A part of a walk that is out of the legs' reach.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "at {time:.3} s the legs do not reach (an error of {left:.1e} remains); lower `com_height`, or make the steps shorter"
)]
pub struct PlanError {
    /// Time from the start. [s]
    pub time: f64,
    /// Largest error that is left. [rad, or part of the height of the centre of mass]
    pub left: f64,
}
