//! Springs and dampers in all six degrees of freedom between two things, implicit: the soft half of an attached joint.
//!
//! With the rotation vector `φ` of B against A and the displacement `x` of B's point, both along A's axes, the energy is
//! `½ Σ kᵢ φᵢ² + ½ Σ kᵢ xᵢ²`. Each degree of freedom is a row of its rate, by backward Euler as a spring in line is
//! ([`crate::Spring`]): `λ = −h (k (g + h u') + c u')`. The rates of a rotation vector are `φ̇ = J⁻¹(φ) ω` with the left
//! Jacobian `J` of SO(3), so that the force is the energy's exact gradient for any stiffness, whatever the angle (below
//! half a turn).

use karakuri_spatial::{Matrix3, Pose, Vector3};

use super::spring::SoftLaw;

/// Stiffness and damping of the degrees of freedom that a joint does not lock: rotation x y z [N·m/rad, N·m·s/rad],
/// translation x y z [N/m, N·s/m]. (6)
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bushing {
    /// Stiffness of rotations and translations. [N·m/rad, N/m] (6)
    pub stiffness: [f64; 6],
    /// Damping of rotations and translations. [N·m·s/rad, N·s/m] (6)
    pub damping: [f64; 6],
}

impl Bushing {
    pub(crate) fn is_usable(&self) -> bool {
        self.stiffness.iter().chain(&self.damping).all(|x| x.is_finite() && *x >= 0.0)
    }

    /// Whether it holds a degree of freedom at all.
    pub(crate) fn holds(&self, axis: usize) -> bool {
        self.stiffness[axis] > 0.0 || self.damping[axis] > 0.0
    }

    /// The spring and damper of a degree of freedom.
    pub(crate) fn law(&self, axis: usize) -> SoftLaw {
        SoftLaw { stiffness: self.stiffness[axis], damping: self.damping[axis] }
    }

    /// Energy `½ Σ k x²` of stretches. [J] (6)
    pub(crate) fn energy(&self, stretch: &[f64; 6]) -> f64 {
        self.stiffness.iter().zip(stretch).map(|(k, x)| 0.5 * k * x * x).sum()
    }
}

/// Rotation vector and displacement of B against A along A's axes. [rad; m] (6)
pub(crate) fn displacement(X_WA: &Pose, X_WB: &Pose) -> [f64; 6] {
    let X_AB = X_WA.inverse() * *X_WB;
    // Good below half a turn, where the rotation vector jumps, and the bushing's force with it.
    let (rotation, translation) = (X_AB.quaternion().scaled_axis(), X_AB.translation);
    [rotation.x, rotation.y, rotation.z, translation.x, translation.y, translation.z]
}

/// `J⁻ᵀ(φ)`: its columns are the axes, in A's frame, along which the rates of the rotation vector are measured. (3×3)
/// Barfoot, *State Estimation for Robotics*, (7.76).
pub(crate) fn rate_axes(turn: &Vector3) -> Matrix3 {
    let angle = turn.norm();
    let cross = turn.cross_matrix();
    // `(1 − ½θ cot ½θ)/θ²`, and its limit where that would divide by zero.
    // Below it the next term of the series, θ²/720, is lost beside 1/12; the quotient cancels instead.
    let second = if angle < 1e-4 {
        1.0 / 12.0
    } else {
        (1.0 - 0.5 * angle / (0.5 * angle).tan()) / (angle * angle)
    };
    // Transposed: the cross product changes its sign.
    Matrix3::identity() + cross * 0.5 + cross * cross * second
}
