//! The error of a factorisation of the mass matrix.

/// A degree of freedom without inertia: the mass matrix is singular.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "the mass matrix is singular at velocity coordinate {dof} (pivot {pivot:e}): all that moves with it has no \
     mass; give its links an inertia or its joint an armature"
)]
pub struct SingularInertia {
    /// Index of the velocity coordinate.
    pub dof: usize,
    /// The diagonal entry of the factor. [kg·m² or kg]
    pub pivot: f64,
}

impl SingularInertia {
    #[inline]
    pub(crate) fn check(dof: usize, pivot: f64) -> Result<(), Self> {
        // Not `pivot <= 0.0` for the error: NaN from an inertia or a position that is not finite has to fail as well.
        if pivot > 0.0 { Ok(()) } else { Err(Self { dof, pivot }) }
    }
}
