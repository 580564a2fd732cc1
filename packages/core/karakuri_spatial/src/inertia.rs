//! Rigid-body inertia. [Featherstone 2008, §2.13]

use crate::{Force, Matrix3, Matrix6, Motion, Pose, Vector3, skew};

/// Spatial inertia `M_BBo_B` of a body, at the origin and in the axes of its frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inertia {
    /// Mass of the body. [kg]
    pub mass: f64,
    /// Centre of mass `p_BCom`. [m] (3)
    pub com: Vector3,
    /// Rotational inertia about the centre of mass, in the frame's axes. [kg·m²] (3×3)
    pub about_com: Matrix3,
}

/// Why six numbers are not the inertia of a rigid body.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum InertiaError {
    /// A number is NaN or infinite.
    NotFinite,
    /// The mass is negative. [kg]
    NegativeMass(f64),
    /// A principal moment is negative. [kg·m²]
    NegativeMoment(f64),
    /// The largest principal moment exceeds the sum of the others: (largest, sum). [kg·m²]
    TriangleInequality(f64, f64),
}

impl Inertia {
    /// Inertia of nothing.
    pub const ZERO: Self = Self {
        mass: 0.0,
        com: Vector3::new(0.0, 0.0, 0.0),
        about_com: Matrix3::new(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    };

    /// Inertia of the same shape with another mass, as if it were filled otherwise; moments of what has no mass stay. [kg]
    #[must_use]
    pub fn at_mass(&self, mass: f64) -> Self {
        let scale = if self.mass > 0.0 { mass / self.mass } else { 1.0 };
        Self { mass, about_com: self.about_com * scale, ..*self }
    }

    /// Checks finiteness, sign, and the triangle inequality with a relative slack of 1e-6.
    ///
    /// # Errors
    /// When a number is not finite, the mass or a principal moment is negative, or one principal moment exceeds the
    /// sum of the others.
    pub fn validate(&self) -> Result<(), InertiaError> {
        // First, as NaN passes every comparison below.
        let finite = self.mass.is_finite()
            && self.com.iter().all(|x| x.is_finite())
            && self.about_com.iter().all(|x| x.is_finite());
        if !finite {
            return Err(InertiaError::NotFinite);
        }
        if self.mass < 0.0 {
            return Err(InertiaError::NegativeMass(self.mass));
        }
        let mut principal: [f64; 3] = self.about_com.symmetric_eigenvalues().into();
        principal.sort_by(f64::total_cmp);
        // Slack for moments rounded in a file: a thin plate has I₃ = I₁ + I₂ exactly.
        let slack = 1e-6 * principal[2].abs();
        if principal[0] < -slack {
            return Err(InertiaError::NegativeMoment(principal[0]));
        }
        // Triangle inequality of the principal moments: I₃ ≤ I₁ + I₂.
        if principal[2] > principal[0] + principal[1] + slack {
            return Err(InertiaError::TriangleInequality(
                principal[2],
                principal[0] + principal[1],
            ));
        }
        Ok(())
    }

    /// Rotational inertia about the frame's origin. [kg·m²] (3×3)
    #[inline]
    pub fn about_origin(&self) -> Matrix3 {
        // I_O = I_C + m [c]× [c]×ᵀ, with [c]×ᵀ = −[c]×. [Featherstone 2008, §2.13]
        let c = skew(&self.com);
        self.about_com - c * c * self.mass
    }

    /// Inertia in the parent frame A, given `X_AB`.
    #[inline]
    #[must_use]
    pub fn transformed(&self, X_AB: &Pose) -> Self {
        Self {
            mass: self.mass,
            com: X_AB.transform_point(&self.com),
            // Rotational inertia is about the centre of mass, so only its axes change: no parallel-axis term.
            about_com: X_AB.rotation * self.about_com * X_AB.rotation.transpose(),
        }
    }

    /// Inertia of two bodies welded together, both given in one frame.
    #[inline]
    #[must_use]
    pub fn combined(&self, other: &Self) -> Self {
        let mass = self.mass + other.mass;
        // A body without mass has no centre (0/0), but may have rotational inertia, as a rotor's reflected one.
        if mass == 0.0 {
            return Self { about_com: self.about_com + other.about_com, ..Self::ZERO };
        }
        let com = (self.com * self.mass + other.com * other.mass) / mass;
        // Steiner's theorem, to the common centre of mass: I − m [d]×².
        let steiner = |part: &Self| {
            let d = skew(&(part.com - com));
            part.about_com - d * d * part.mass
        };
        Self { mass, com, about_com: steiner(self) + steiner(other) }
    }

    /// Momentum of the body moving with `V`: linear and about the origin. [N·m·s; N·s]
    #[inline]
    pub fn mul_motion(&self, V: &Motion) -> Force {
        // v_C = v_O + ω × c, h_O = [I_C ω + c × m v_C; m v_C]: about the com, so that no m c² cancels.
        let v_com = V.linear + V.angular.cross(&self.com);
        let force = v_com * self.mass;
        Force { moment: self.about_com * V.angular + self.com.cross(&force), force }
    }

    /// Inertia as a 6×6 matrix, angular part first.
    #[inline]
    pub fn to_matrix(&self) -> Matrix6 {
        // [J, m [c]×; m [c]×ᵀ, m·1] with J about the origin.
        let mc = skew(&self.com) * self.mass;
        let mut m = Matrix6::zeros();
        m.fixed_view_mut::<3, 3>(0, 0).copy_from(&self.about_origin());
        m.fixed_view_mut::<3, 3>(0, 3).copy_from(&mc);
        m.fixed_view_mut::<3, 3>(3, 0).copy_from(&mc.transpose());
        m.fixed_view_mut::<3, 3>(3, 3).copy_from(&(Matrix3::identity() * self.mass));
        m
    }
}
