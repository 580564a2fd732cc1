//! Spatial motion and force vectors. [Featherstone 2008, §2]

use core::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

use crate::{Matrix3, Vector3, Vector6};

/// Spatial velocity or acceleration: angular part first.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Motion {
    /// Angular velocity or acceleration. [rad/s or rad/s²] (3)
    pub angular: Vector3,
    /// Linear velocity or acceleration of the frame's origin. [m/s or m/s²] (3)
    pub linear: Vector3,
}

/// Wrench: moment about the frame's origin first.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Force {
    /// Moment about the frame's origin. [N·m] (3)
    pub moment: Vector3,
    /// Force through the frame's origin. [N] (3)
    pub force: Vector3,
}

/// The matrix with `skew(a) * b = a × b`. (3×3)
#[inline]
pub fn skew(a: &Vector3) -> Matrix3 {
    Matrix3::new(0.0, -a.z, a.y, a.z, 0.0, -a.x, -a.y, a.x, 0.0)
}

impl Motion {
    /// Motion of angular [rad/s] and linear [m/s] parts.
    #[inline]
    pub fn new(angular: Vector3, linear: Vector3) -> Self {
        Self { angular, linear }
    }

    /// Cross product `self × other` of motions. [Featherstone 2008, eq. 2.31]
    #[inline]
    #[must_use]
    pub fn cross_motion(&self, other: &Self) -> Self {
        // Rate of change of `other` carried along with `self`: both the axes and the origin move. [Featherstone 2008, §2.9]
        Self {
            angular: self.angular.cross(&other.angular),
            linear: self.angular.cross(&other.linear) + self.linear.cross(&other.angular),
        }
    }

    /// Cross product `self ×* f` of a motion and a force. [Featherstone 2008, eq. 2.32]
    #[inline]
    pub fn cross_force(&self, f: &Force) -> Force {
        // ×* = −(×)ᵀ: the power V · F is a scalar, so it does not change where both are carried along. [Featherstone 2008, §2.9]
        Force {
            moment: self.angular.cross(&f.moment) + self.linear.cross(&f.force),
            force: self.angular.cross(&f.force),
        }
    }

    /// Power of a wrench on this velocity. [W]
    #[inline]
    pub fn dot(&self, f: &Force) -> f64 {
        // A pairing of dual spaces, not an inner product: the sum has a unit only between a motion and a force.
        self.angular.dot(&f.moment) + self.linear.dot(&f.force)
    }

    /// Six components, angular part first. (6)
    #[inline]
    pub fn to_vector(&self) -> Vector6 {
        let (a, l) = (&self.angular, &self.linear);
        Vector6::new(a.x, a.y, a.z, l.x, l.y, l.z)
    }

    /// Motion of six components, angular part first. (6)
    #[inline]
    pub fn from_vector(v: &Vector6) -> Self {
        Self::new(Vector3::new(v[0], v[1], v[2]), Vector3::new(v[3], v[4], v[5]))
    }
}

impl Force {
    /// Wrench of a moment [N·m] and a force [N].
    #[inline]
    pub fn new(moment: Vector3, force: Vector3) -> Self {
        Self { moment, force }
    }

    /// Six components, moment first. (6)
    #[inline]
    pub fn to_vector(&self) -> Vector6 {
        let (m, f) = (&self.moment, &self.force);
        Vector6::new(m.x, m.y, m.z, f.x, f.y, f.z)
    }

    /// Wrench of six components, moment first. (6)
    #[inline]
    pub fn from_vector(v: &Vector6) -> Self {
        Self::new(Vector3::new(v[0], v[1], v[2]), Vector3::new(v[3], v[4], v[5]))
    }
}

macro_rules! linear_space {
    ($type:ident, $a:ident, $b:ident) => {
        impl Add for $type {
            type Output = Self;
            #[inline]
            fn add(self, o: Self) -> Self {
                Self { $a: self.$a + o.$a, $b: self.$b + o.$b }
            }
        }
        impl Sub for $type {
            type Output = Self;
            #[inline]
            fn sub(self, o: Self) -> Self {
                Self { $a: self.$a - o.$a, $b: self.$b - o.$b }
            }
        }
        impl Neg for $type {
            type Output = Self;
            #[inline]
            fn neg(self) -> Self {
                Self { $a: -self.$a, $b: -self.$b }
            }
        }
        impl Mul<f64> for $type {
            type Output = Self;
            #[inline]
            fn mul(self, s: f64) -> Self {
                Self { $a: self.$a * s, $b: self.$b * s }
            }
        }
        impl AddAssign for $type {
            #[inline]
            fn add_assign(&mut self, o: Self) {
                self.$a += o.$a;
                self.$b += o.$b;
            }
        }
        impl SubAssign for $type {
            #[inline]
            fn sub_assign(&mut self, o: Self) {
                self.$a -= o.$a;
                self.$b -= o.$b;
            }
        }
    };
}
linear_space!(Motion, angular, linear);
linear_space!(Force, moment, force);
