//! A quantity with its first and second derivative in time, and the arithmetic that carries them along.
//!
//! `(uv)' = u'v + uv'`, `(uv)'' = u''v + 2u'v' + uv''`: positions written with jets give velocities and
//! accelerations for nothing, exact to rounding.

use core::ops::{Add, AddAssign, Mul, Neg, Sub};

/// Value, rate and acceleration of a quantity. [u, u/s, u/s²]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Jet {
    /// Value of the quantity. [u]
    pub value: f64,
    /// First derivative in time. [u/s]
    pub rate: f64,
    /// Second derivative in time. [u/s²]
    pub acceleration: f64,
}

impl Jet {
    /// Jet from its three parts. [u, u/s, u/s²]
    #[inline]
    pub const fn new(value: f64, rate: f64, acceleration: f64) -> Self {
        Self { value, rate, acceleration }
    }

    /// Quantity at rest. [u]
    #[inline]
    pub const fn constant(value: f64) -> Self {
        Self::new(value, 0.0, 0.0)
    }

    /// Sine and cosine of an angle. [-]
    #[inline]
    pub fn sin_cos(self) -> (Self, Self) {
        // `(sin u)'' = u'' cos u − u'² sin u`, `(cos u)'' = −u'' sin u − u'² cos u`.
        let (s, c) = self.value.sin_cos();
        let (w, a) = (self.rate, self.acceleration);
        (Self::new(s, c * w, c * a - s * w * w), Self::new(c, -s * w, -s * a - c * w * w))
    }

    /// Jet of `f(u)` from `f`, `f'` and `f''` at the value: `(f(u))'' = f' u'' + f'' u'²`.
    #[inline]
    fn through(self, value: f64, first: f64, second: f64) -> Self {
        let rate = first * self.rate;
        Self::new(value, rate, first * self.acceleration + second * self.rate * self.rate)
    }

    /// Square root of a positive quantity.
    #[must_use]
    pub fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        // `f' = ½ u^{−1/2}`, `f'' = −¼ u^{−3/2}`.
        self.through(root, 0.5 / root, -0.25 / (root * self.value))
    }

    /// Reciprocal of a quantity that is not zero.
    #[must_use]
    pub fn recip(self) -> Self {
        let r = self.value.recip();
        // `f' = −u⁻²`, `f'' = 2 u⁻³`.
        self.through(r, -r * r, 2.0 * r * r * r)
    }

    /// Angle of a cosine between -1 and 1. [rad]
    #[must_use]
    pub fn acos(self) -> Self {
        // At ±1 the rate is infinite; callers keep the knee bent.
        let sine_squared = 1.0 - self.value * self.value;
        let first = -sine_squared.sqrt().recip();
        // `f' = −(1 − u²)^{−1/2}`, `f'' = −u (1 − u²)^{−3/2}`.
        self.through(self.value.acos(), first, first * self.value / sine_squared)
    }

    /// Angle from the second axis to the first. [rad]
    pub fn atan2(first: Self, second: Self) -> Self {
        let (y, x) = (first, second);
        let square = x.value * x.value + y.value * y.value;
        // `φ' = (x y' − y x')/r²`, `φ'' = (x y'' − y x'' − 2 (x x' + y y') φ')/r²`.
        let rate = (x.value * y.rate - y.value * x.rate) / square;
        let stretch = 2.0 * (x.value * x.rate + y.value * y.rate);
        let turn = x.value * y.acceleration - y.value * x.acceleration;
        Self::new(y.value.atan2(x.value), rate, (turn - stretch * rate) / square)
    }
}

impl Add for Jet {
    type Output = Self;
    #[inline]
    fn add(self, o: Self) -> Self {
        Self::new(self.value + o.value, self.rate + o.rate, self.acceleration + o.acceleration)
    }
}

impl AddAssign for Jet {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Jet {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Neg for Jet {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self::new(-self.value, -self.rate, -self.acceleration)
    }
}

impl Mul<f64> for Jet {
    type Output = Self;
    #[inline]
    fn mul(self, k: f64) -> Self {
        Self::new(self.value * k, self.rate * k, self.acceleration * k)
    }
}

impl Mul for Jet {
    type Output = Self;
    #[inline]
    fn mul(self, o: Self) -> Self {
        Self::new(
            self.value * o.value,
            self.rate * o.value + self.value * o.rate,
            self.acceleration * o.value + 2.0 * self.rate * o.rate + self.value * o.acceleration,
        )
    }
}
