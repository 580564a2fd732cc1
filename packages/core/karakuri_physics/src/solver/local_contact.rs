//! A contact on its exact cone by itself, solved again and again as its neighbours change: what a sweep does at each visit.
//!
//! ```text
//! w = u + R λ_n e_n − (G + R) λ              without the contact's own impulse
//! λ ← 0 | −(G + R)⁻¹ w | λ_n (1, −μ d)       it opens | sticks | slides along d,  d × u_t = 0
//! ```
//!
//! `G + R` and its inverse are made once, and `d` is the root of one equation, found by Newton's method from the direction of the
//! last visit: one or two evaluations as a rule. [`solve_contact`] searches the whole turn where that fails.

use nalgebra::{Matrix3, Vector2, Vector3};

use super::cone::solve_contact;
use super::{Admissible, Block};

/// Newton steps for the direction of sliding before the whole turn is searched.
const DIRECTION_STEPS: usize = 8;
/// Turn of the direction in a step after which it is exact: the error that is left is about its square, and the next visit begins
/// from it. [rad]
const TURNED: f64 = 1e-2;
/// Least stiffness of sliding, over that of the normal: below it friction presses the contact together (Painlevé). [-]
const JAMMED: f64 = 1e-12;

/// A contact with its own stiffness.
#[derive(Debug, Clone, Copy)]
pub(super) struct LocalContact {
    /// `(G + R)⁻¹`.
    inverse: Matrix3<f64>,
    /// `G + R`.
    pub(super) stiffness: Matrix3<f64>,
    /// Compliance `R` of the normal. [1/kg]
    compliance: f64,
    /// Coefficient of friction. [-]
    pub(super) friction: f64,
    /// Direction of sliding that was found last; zero where it did not slide.
    direction: Vector2<f64>,
}

/// Coefficient of friction of a contact; zero of other blocks. [-]
pub(super) fn friction_of(block: &Block) -> f64 {
    match block.admissible {
        Admissible::Cone { friction } => friction,
        _ => 0.0,
    }
}

/// Largest entry, without its sign. `amax` takes care of numbers that are none, at four times the cost.
#[inline]
fn largest(v: &Vector3<f64>) -> f64 {
    let larger = |a: f64, b: f64| if a > b { a } else { b };
    larger(larger(v.x.abs(), v.y.abs()), v.z.abs())
}

impl LocalContact {
    /// None where nothing resists along some direction, of contacts on springs in series, and of rows of other kinds.
    pub(super) fn new(block: &Block) -> Option<Self> {
        if !block.is_contact() || block.series.is_some() {
            return None;
        }
        let mut stiffness = block.own_delassus();
        stiffness.m11 += block.compliance;
        Some(Self {
            inverse: stiffness.try_inverse()?,
            stiffness,
            compliance: block.compliance,
            friction: friction_of(block),
            direction: Vector2::zeros(),
        })
    }

    /// Change of the impulse `λ` that solves the contact where the velocity is `u − u*`, and the largest entry of the change of
    /// velocity that comes of it; none where nothing changes. [N·s] (3) and [m/s]; [m/s] (3)
    #[expect(clippy::inline_always, reason = "in sweeps of a crowd a call costs a twentieth")]
    #[inline(always)]
    pub(super) fn change(
        &mut self,
        impulse: &Vector3<f64>,
        mut u: Vector3<f64>,
    ) -> Option<(Vector3<f64>, f64)> {
        u.x += self.compliance * impulse.x;
        // What is apart and stays so: a fifth of a crowd's contacts.
        if *impulse == Vector3::zeros() && u.x >= 0.0 {
            return None;
        }
        let step = self.inverse * u;
        let sticking = impulse - step;
        let most = self.friction * sticking.x;
        let (delta, change) = if sticking.x >= 0.0 && sticking.yz().norm_squared() <= most * most {
            // It stops what moved.
            (-step, largest(&u))
        } else {
            let delta = self.sliding_or_open(impulse, &u, &sticking) - impulse;
            (delta, largest(&(self.stiffness * delta)))
        };
        // Exactly zero: a contact that is solved leaves no rounding in the velocity.
        (delta != Vector3::zeros()).then_some((delta, change))
    }

    /// The impulse of a contact that does not stick, where the present one leaves `u − u* + R λ`. [N·s] (3); [m/s] (3)
    #[inline]
    fn sliding_or_open(
        &mut self,
        impulse: &Vector3<f64>,
        u: &Vector3<f64>,
        sticking: &Vector3<f64>,
    ) -> Vector3<f64> {
        let w = u - self.stiffness * impulse;
        if w.x >= 0.0 {
            return Vector3::zeros();
        }
        if self.friction <= 0.0 {
            return Vector3::new(-w.x / self.stiffness.m11, 0.0, 0.0);
        }
        self.sliding(&w, sticking).unwrap_or_else(|| {
            self.direction = Vector2::zeros();
            solve_contact(&self.stiffness, &w, self.friction)
        })
    }

    /// The impulse of a contact that slides, by Newton's method on its direction; none where that does not lead to one.
    #[inline(never)]
    fn sliding(&mut self, w: &Vector3<f64>, sticking: &Vector3<f64>) -> Option<Vector3<f64>> {
        let (G, mu) = (&self.stiffness, self.friction);
        let b = Vector2::new(G.m12, G.m13);
        let mut d = self.direction;
        if d == Vector2::zeros() {
            // Against the sticking impulse, as friction opposes the slip that it would have stopped.
            d = -sticking.yz() / sticking.yz().norm();
        }
        for _ in 0..DIRECTION_STEPS {
            // `u_n = 0` with `λ_t = −μ λ_n d`.
            let stiffness = G.m11 - mu * b.dot(&d);
            if stiffness <= JAMMED * G.m11 {
                return None;
            }
            let inverse = 1.0 / stiffness;
            let normal = -w.x * inverse;
            let across = Vector2::new(-d.y, d.x);
            let times = |d: &Vector2<f64>| {
                Vector2::new(G.m22 * d.x + G.m23 * d.y, G.m23 * d.x + G.m33 * d.y) * mu
            };
            let slip = b - times(&d);
            let u = w.yz() + slip * normal;
            // `d × u_t`, and its derivative for a turn of `d`.
            let cross = across.dot(&u);
            let along = d.dot(&u);
            let normal_slope = normal * mu * b.dot(&across) * inverse;
            let u_slope = slip * normal_slope - times(&across) * normal;
            let slope = across.dot(&u_slope) - along;
            let turn = -cross / slope;
            if !turn.is_finite() {
                return None;
            }
            let turn = turn.clamp(-0.5, 0.5);
            let next = d + across * turn;
            d = next * (1.0 / next.norm());
            if turn.abs() <= TURNED {
                // The other root has friction along the slip.
                if along < 0.0 {
                    return None;
                }
                self.direction = d;
                let normal = -w.x / (G.m11 - mu * b.dot(&d));
                return Some(Vector3::new(normal, -mu * normal * d.x, -mu * normal * d.y));
            }
        }
        None
    }
}
