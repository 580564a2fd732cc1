//! The prescribed compensating motion: a polynomial of time with one coefficient free.
//!
//! `x(t) = a t⁵ + b t⁴ + c t³ + d t² + e t + f`. Start: at rest at `t = 0`, the steady solution's angle and rate at the end.
//! Stop: the steady solution's angle and rate at `t = 0`, at rest at the end. Of degree 5 the acceleration at rest is zero, too;
//! of degree 4 it is not prescribed. In both cases one of a, b, c is the input, and the others follow from a linear system.
//! [Kume 1991]

use nalgebra::{SMatrix, SVector};
use serde::{Deserialize, Serialize};

use super::super::{GaitError, Jet};

/// Kind of a transient: from or to standstill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Standstill, then motion.
    Start,
    /// Motion, then standstill.
    Stop,
}

/// A coefficient that may be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// Coefficient a, of `t⁵`. [rad/s⁵]
    A,
    /// Coefficient b, of `t⁴`. [rad/s⁴]
    B,
    /// Coefficient c, of `t³`. [rad/s³]
    #[default]
    C,
}

impl Input {
    fn power(self) -> usize {
        match self {
            Self::A => 5,
            Self::B => 4,
            Self::C => 3,
        }
    }
}

/// Coefficient that is given for each angle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Inputs {
    /// Input of θ.
    pub sway: Input,
    /// Input of φ.
    pub pitch: Input,
}

/// Degree of the polynomials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub enum Degree {
    /// The acceleration at rest is not prescribed: it jumps there.
    Four,
    /// The acceleration at rest is zero.
    #[default]
    Five,
}

impl TryFrom<u32> for Degree {
    type Error = String;

    fn try_from(degree: u32) -> Result<Self, String> {
        match degree {
            4 => Ok(Self::Four),
            5 => Ok(Self::Five),
            _ => Err(format!("`degree` is {degree}; write 4 or 5")),
        }
    }
}

impl From<Degree> for u32 {
    fn from(degree: Degree) -> Self {
        if degree == Degree::Four { 4 } else { 5 }
    }
}

/// The input coefficients of `θ` and `φ`. [rad/sⁿ]
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Coefficients {
    /// cT, or bT, aT where those are the input. [rad/s³, rad/s⁴, rad/s⁵]
    pub sway: f64,
    /// cP, or bP, aP. [rad/s³, rad/s⁴, rad/s⁵]
    pub pitch: f64,
}

/// The prescribed compensating motion, ascending powers of time. [rad/sⁿ] (6)
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compensation {
    /// Coefficients of θ: f, e, d, c, b, a. [rad/sⁿ] (6)
    pub sway: [f64; 6],
    /// Coefficients of φ: f, e, d, c, b, a. [rad/sⁿ] (6)
    pub pitch: [f64; 6],
}

/// Value, rate and acceleration of a polynomial, ascending powers.
pub(super) fn polynomial(c: &[f64; 6], t: f64) -> Jet {
    Jet {
        value: c.iter().rev().fold(0.0, |sum, c| sum * t + c),
        rate: (1..6).rev().fold(0.0, |sum, k| sum * t + k as f64 * c[k]),
        acceleration: (2..6).rev().fold(0.0, |sum, k| sum * t + (k * (k - 1)) as f64 * c[k]),
    }
}

/// All polynomials that meet the conditions: `base + input · direction`, ascending powers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Polynomials {
    base: [f64; 6],
    direction: [f64; 6],
}

/// Conditions on a polynomial.
#[derive(Debug, Clone, Copy)]
pub(super) struct Conditions {
    pub(super) kind: Kind,
    pub(super) degree: Degree,
    pub(super) input: Input,
    /// Time of standstill and motion together. [s]
    pub(super) duration: f64,
    /// Angle and rate where it joins the steady motion. [rad, rad/s] (2)
    pub(super) steady: [f64; 2],
}

impl Polynomials {
    pub(super) fn new(c: &Conditions) -> Result<Self, GaitError> {
        let duration = c.duration;
        // In u = t/T all numbers are of one size: p(u) = Σ k_i uⁱ, k_i = c_i Tⁱ. Derivatives at u = 0 and u = 1.
        let order = |derivative: usize, u: f64| {
            SVector::<f64, 6>::from_fn(|power, _| {
                let factor: usize = (0..derivative).map(|i| power.saturating_sub(i)).product();
                // At u = 0 only the term of that very power is left.
                let is_left = power == derivative || (power > derivative && u > 0.0);
                if is_left { factor as f64 } else { 0.0 }
            })
        };
        // Six rows: rest at one end, the steady angle and rate at the other, the degree's condition, the input coefficient.
        let [rest, moving] = if c.kind == Kind::Start { [0.0, 1.0] } else { [1.0, 0.0] };
        let fifth = match c.degree {
            Degree::Five => order(2, rest),
            // a = 0 takes the place of the condition on the acceleration.
            Degree::Four => SVector::ith(5, 1.0),
        };
        let rows = [
            order(0, rest),
            order(1, rest),
            fifth,
            order(0, moving),
            order(1, moving),
            SVector::ith(c.input.power(), 1.0),
        ];
        let matrix = SMatrix::<f64, 6, 6>::from_fn(|row, column| rows[row][column]);
        // Numerically singular counts as singular: in u a regular system has entries near one.
        let inverse = matrix.try_inverse().filter(|m| m.iter().all(|x| x.abs() < 1e6));
        let inverse = inverse.ok_or(GaitError::Degree)?;
        // `base` meets the steady motion with input 0, `direction` is the change with a unit input; `c_i = k_i/Tⁱ` returns to t.
        let [angle, rate] = c.steady;
        let base = inverse * SVector::from([0.0, 0.0, 0.0, angle, rate * duration, 0.0]);
        let direction = inverse * SVector::<f64, 6>::ith(5, 1.0);
        let powers: [f64; 6] = core::array::from_fn(|i| (0..i).map(|_| duration).product());
        let input = powers[c.input.power()];
        Ok(Self {
            base: core::array::from_fn(|i| base[i] / powers[i]),
            direction: core::array::from_fn(|i| direction[i] * input / powers[i]),
        })
    }

    #[inline]
    pub(super) fn with(&self, input: f64) -> [f64; 6] {
        core::array::from_fn(|i| self.base[i] + input * self.direction[i])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn polynomials(
        kind: Kind,
        degree: Degree,
        input: Input,
        duration: f64,
        steady: [f64; 2],
    ) -> Polynomials {
        Polynomials::new(&Conditions { kind, degree, input, duration, steady }).unwrap()
    }

    /// Closed forms of the others from each input, by hand from the conditions: `t³ (c + b t + a t²)` of a start.
    #[test]
    fn starts_are_those_by_hand() {
        let (x, v, t) = (0.054_670_97_f64, 1.016_159_85_f64, 2.0_f64);
        let of = |input| polynomials(Kind::Start, Degree::Five, input, t, [x, v]);
        for given in [-3.0, 0.0, 1.54] {
            let [f, e, d, c, b, a] = of(Input::C).with(given);
            let gaps = [
                f,
                e,
                d,
                c - given,
                b - ((5.0 * x - t * v) / t.powi(4) - 2.0 * c / t),
                a - ((t * v - 4.0 * x) / t.powi(5) + c / (t * t)),
            ];
            assert!(gaps.iter().all(|gap| gap.abs() < 1e-13), "{gaps:?}");
            // The same motion, whichever coefficient is given.
            for (input, value) in [(Input::B, b), (Input::A, a)] {
                let same = of(input).with(value);
                assert!(
                    (0..6).all(|i| (same[i] - [f, e, d, c, b, a][i]).abs() < 1e-12),
                    "{input:?}"
                );
            }
        }
        let [.., bP, aP] = of(Input::C).with(1.54);
        assert!((bP + 1.649_935_30).abs() < 1e-8 && (aP - 0.441_676_12).abs() < 1e-8, "{bP} {aP}");
    }

    #[test]
    fn stops_are_those_by_hand() {
        let of =
            |input| polynomials(Kind::Stop, Degree::Five, input, 1.0, [0.054_670_97, 1.016_159_85]);
        let [f, e, d, c, b, a] = of(Input::C).with(23.94);
        let gaps = [
            f - 0.054_670_97,
            e - 1.016_159_85,
            d + 10.194_556_27,
            c - 23.94,
            b + 21.634_325_45,
            a - 6.818_050_90,
        ];
        assert!(gaps.iter().all(|gap| gap.abs() < 1e-8), "{gaps:?}");
        for (input, value) in [(Input::B, b), (Input::A, a)] {
            let same = of(input).with(value);
            assert!((0..6).all(|i| (same[i] - [f, e, d, c, b, a][i]).abs() < 1e-11), "{input:?}");
        }
    }

    #[test]
    fn quartics_meet_their_ends() {
        for (kind, input) in [
            (Kind::Start, Input::B),
            (Kind::Start, Input::C),
            (Kind::Stop, Input::B),
            (Kind::Stop, Input::C),
        ] {
            let (x, v, t) = (-0.1, 0.7, 1.3);
            let p = polynomials(kind, Degree::Four, input, t, [x, v]).with(2.5);
            let (rest, moving) = if kind == Kind::Start { (0.0, t) } else { (t, 0.0) };
            let (at_rest, joins) = (polynomial(&p, rest), polynomial(&p, moving));
            let gaps = [
                at_rest.value,
                at_rest.rate,
                joins.value - x,
                joins.rate - v,
                p[5],
                p[input.power()] - 2.5,
            ];
            assert!(gaps.iter().all(|gap| gap.abs() < 1e-12), "{kind:?} {input:?}: {gaps:?}");
            assert!(at_rest.acceleration.abs() > 0.1);
        }
        let c = Conditions {
            kind: Kind::Start,
            degree: Degree::Four,
            input: Input::A,
            duration: 1.0,
            steady: [0.0; 2],
        };
        assert_eq!(Polynomials::new(&c), Err(GaitError::Degree));
    }
}
