//! Poses: rotation and translation from one frame to another.
//!
//! `X_AB` is the pose of frame B in frame A; `X_AC = X_AB * X_BC`.

use core::ops::Mul;

use nalgebra::{Quaternion, Rotation3};

use crate::{Force, Matrix3, Motion, UnitQuaternion, Vector3};

/// Pose `X_AB` of a frame B in a frame A.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose {
    /// Rotation `R_AB`: takes components in B to components in A. (3×3)
    pub rotation: Matrix3,
    /// Position `p_AB` of B's origin, in A. [m] (3)
    pub translation: Vector3,
}

impl Pose {
    /// Pose of frames that coincide.
    pub const IDENTITY: Self = Self {
        rotation: Matrix3::new(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
        translation: Vector3::new(0.0, 0.0, 0.0),
    };

    /// Pose of a rotation matrix and a translation. [m]
    #[inline]
    pub fn new(rotation: Matrix3, translation: Vector3) -> Self {
        Self { rotation, translation }
    }

    /// Pose of a translation alone. [m]
    #[inline]
    pub fn from_translation(translation: Vector3) -> Self {
        Self { translation, ..Self::IDENTITY }
    }

    /// Pose of a unit quaternion and a translation. [m]
    #[inline]
    pub fn from_quaternion(rotation: &UnitQuaternion, translation: Vector3) -> Self {
        Self { rotation: *rotation.to_rotation_matrix().matrix(), translation }
    }

    /// Unit quaternion of the components `w, x, y, z` of one of any length; `None` of zero and of what is not finite. (4)
    pub fn unit_quaternion(components: [f64; 4]) -> Option<UnitQuaternion> {
        // Scaled first: squares of tiny or huge components would underflow or overflow.
        let scale = components.iter().fold(0.0_f64, |scale, c| scale.max(c.abs()));
        let finite = components.iter().all(|c| c.is_finite());
        let [w, x, y, z] = components.map(|c| c / scale);
        let quaternion = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
        (finite && scale > 0.0).then_some(quaternion)
    }

    /// The same pose to the bits that it has after a message, whose orientation is a quaternion.
    #[must_use]
    pub fn through_quaternion(&self) -> Self {
        let q = self.quaternion();
        let read = Self::unit_quaternion([q.w, q.i, q.j, q.k]);
        read.map_or(*self, |q| Self::from_quaternion(&q, self.translation))
    }

    /// Pose of a translation [m] and fixed-axis roll, pitch, yaw [rad], as URDF's `origin` (REP 103).
    #[inline]
    pub fn from_xyz_rpy(xyz: [f64; 3], rpy: [f64; 3]) -> Self {
        // nalgebra's order is R_z(yaw) R_y(pitch) R_x(roll), which is that of fixed axes.
        let rotation = Rotation3::from_euler_angles(rpy[0], rpy[1], rpy[2]);
        Self { rotation: *rotation.matrix(), translation: Vector3::from(xyz) }
    }

    /// Rotation by `angle` [rad] about a unit `axis` through the origin (Rodrigues).
    #[inline]
    pub fn from_axis_angle(axis: &Vector3, angle: f64) -> Self {
        let (sin, cos) = angle.sin_cos();
        // R = 1 + sin θ [k]× + (1 − cos θ) [k]×².
        let k = crate::skew(axis);
        let rotation = Matrix3::identity() + k * sin + k * k * (1.0 - cos);
        Self { rotation, translation: Vector3::zeros() }
    }

    /// Rotation as a unit quaternion.
    #[inline]
    pub fn quaternion(&self) -> UnitQuaternion {
        // Unchecked: `from_matrix` iterates for an orthonormality that products of rotations have to rounding.
        UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(self.rotation))
    }

    /// Fixed-axis roll, pitch, yaw. [rad]
    #[inline]
    pub fn rpy(&self) -> [f64; 3] {
        // At a pitch of ±π/2 only the sum or difference of roll and yaw is determined.
        let (r, p, y) = Rotation3::from_matrix_unchecked(self.rotation).euler_angles();
        [r, p, y]
    }

    /// Inverse pose `X_BA`.
    #[inline]
    #[must_use]
    pub fn inverse(&self) -> Self {
        // R⁻¹ = Rᵀ, as R is orthonormal: no inverse is computed, and p_BA = −Rᵀ p_AB.
        let rotation = self.rotation.transpose();
        Self { rotation, translation: -(rotation * self.translation) }
    }

    /// Point given in B, expressed in A. [m]
    #[inline]
    pub fn transform_point(&self, p_B: &Vector3) -> Vector3 {
        self.rotation * p_B + self.translation
    }

    /// Free vector given in B, expressed in A.
    #[inline]
    pub fn transform_vector(&self, v_B: &Vector3) -> Vector3 {
        self.rotation * v_B
    }

    /// Motion vector given in B (at B's origin), expressed in A (at A's origin).
    #[inline]
    pub fn transform_motion(&self, V_B: &Motion) -> Motion {
        // v at A's origin is v_B + ω × (p_A − p_B) = v_B + p_AB × ω. [Featherstone 2008, §2.8]
        let angular = self.rotation * V_B.angular;
        Motion { angular, linear: self.rotation * V_B.linear + self.translation.cross(&angular) }
    }

    /// Motion vector given in A (at A's origin), expressed in B (at B's origin).
    #[inline]
    pub fn inverse_transform_motion(&self, V_A: &Motion) -> Motion {
        Motion {
            // Shifted before it is turned: p_AB is in A's axes.
            angular: self.rotation.tr_mul(&V_A.angular),
            linear: self.rotation.tr_mul(&(V_A.linear - self.translation.cross(&V_A.angular))),
        }
    }

    /// Force vector given in B (about B's origin), expressed in A (about A's origin).
    #[inline]
    pub fn transform_force(&self, F_B: &Force) -> Force {
        // X* = X⁻ᵀ, the dual of the motion's transform, so that power is the same in A and in B. [Featherstone 2008, §2.8]
        let force = self.rotation * F_B.force;
        Force { moment: self.rotation * F_B.moment + self.translation.cross(&force), force }
    }

    /// Force vector given in A (about A's origin), expressed in B (about B's origin).
    #[inline]
    pub fn inverse_transform_force(&self, F_A: &Force) -> Force {
        // As for motions, shifted before it is turned.
        Force {
            moment: self.rotation.tr_mul(&(F_A.moment - self.translation.cross(&F_A.force))),
            force: self.rotation.tr_mul(&F_A.force),
        }
    }
}

impl Default for Pose {
    #[inline]
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Mul for Pose {
    type Output = Self;

    #[inline]
    fn mul(self, X_BC: Self) -> Self {
        Self {
            rotation: self.rotation * X_BC.rotation,
            translation: self.rotation * X_BC.translation + self.translation,
        }
    }
}
