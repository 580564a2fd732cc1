//! The rattleback of `config/scenes/benchmarks/rattleback.yaml`: section 5.
//!
//! Beside the rule that one sense of spin reverses and the other does not, the whole motion against the equations of an
//! ellipsoid that rolls without slipping, integrated on their own: `d(I ω)/dt = r × F`, `v = r × ω`, `m v̇ = F + m g`, with
//! `r` from the centre of mass to the contact. [Garcia and Hubbard 1988]

use karakuri_spatial::{Matrix3, UnitQuaternion, Vector3};

use crate::support::*;

const MASS: f64 = 0.1;
const SEMI_AXES: Vector3 = Vector3::new(0.1, 0.02, 0.015);
const CENTER: Vector3 = Vector3::new(0.0, 0.0, -0.005625);

/// Pose and angular velocity in the body's axes.
#[derive(Clone, Copy)]
struct Rolling {
    turn: UnitQuaternion,
    omega: Vector3,
}

impl Rolling {
    /// Rate of the angular velocity, in the body's axes.
    ///
    /// With `v = r × ω` (all in the body's axes) `I ω̇ + ω × I ω = r × m (v̇ + ω × v + g u)`, where `v̇ = ṙ × ω + r × ω̇` and
    /// `u` is up; `ṙ` follows from `u̇ = −ω × u`.
    fn acceleration(&self, inertia: &Matrix3) -> Vector3 {
        let up = self.turn.inverse() * Vector3::z();
        let contact = |up: &Vector3| {
            let scaled = SEMI_AXES.component_mul(up);
            -SEMI_AXES.component_mul(&scaled.normalize()) - CENTER
        };
        let r = contact(&up);
        let rate = -self.omega.cross(&up);
        // d r = −(S² − p pᵀ) du / ‖S u‖ with p = S² u / ‖S u‖.
        let length = SEMI_AXES.component_mul(&up).norm();
        let square = SEMI_AXES.component_mul(&SEMI_AXES);
        let p = square.component_mul(&up) / length;
        let r_rate = -(square.component_mul(&rate) - p * p.dot(&rate)) / length;
        let v = r.cross(&self.omega);
        let known = r_rate.cross(&self.omega) + self.omega.cross(&v) + up * 9.81;
        let skew = r.cross_matrix();
        let moment = r.cross(&known) * MASS - self.omega.cross(&(inertia * self.omega));
        // r × (r × ω̇) = [r]² ω̇ goes to the left.
        (inertia - skew * skew * MASS).lu().solve(&moment).unwrap()
    }

    /// A step of the classical Runge-Kutta method.
    fn advance(&mut self, inertia: &Matrix3, h: f64) {
        let after = |rate: &Vector3, acceleration: &Vector3, h: f64| Self {
            turn: self.turn * UnitQuaternion::from_scaled_axis(rate * h),
            omega: self.omega + acceleration * h,
        };
        let stage = |at: &Self| (at.omega, at.acceleration(inertia));
        let k1 = stage(self);
        let k2 = stage(&after(&k1.0, &k1.1, 0.5 * h));
        let k3 = stage(&after(&k2.0, &k2.1, 0.5 * h));
        let k4 = stage(&after(&k3.0, &k3.1, h));
        let mean = |f: fn(&(Vector3, Vector3)) -> Vector3| {
            (f(&k1) + f(&k2) * 2.0 + f(&k3) * 2.0 + f(&k4)) / 6.0
        };
        *self = after(&mean(|k| k.0), &mean(|k| k.1), h);
    }

    fn spin(&self) -> f64 {
        (self.turn * self.omega).z
    }
}

#[test]
fn a_rattleback_turns_back_as_one_that_rolls_without_slipping() {
    let mut w = scene("rattleback");
    let bodies = ["left", "right"].map(|name| w.find_body(name).unwrap());
    let inertia = w.body(bodies[0]).description().inertia.unwrap();
    let dt = w.settings().dt;
    let mut rolling = bodies.map(|id| {
        let turn = w.body(id).pose().quaternion();
        Rolling { turn, omega: turn.inverse() * w.body(id).velocity().angular }
    });
    let (mut worst, mut turned) = (0.0_f64, [[f64::NAN; 2]; 2]);
    let mut lines = [const { Vec::new() }; 4];
    for n in 0..n_steps(&w, 2.2) {
        let time = w.time();
        let before = [0, 1].map(|k| [w.body(bodies[k]).velocity().angular.z, rolling[k].spin()]);
        step(&mut w);
        for k in 0..2 {
            for (i, every) in [100, 1000].into_iter().enumerate() {
                if n % every == 0 {
                    lines[2 * i + k].push((time, before[k][i]));
                }
            }
            rolling[k].advance(&inertia, dt);
            let now = [w.body(bodies[k]).velocity().angular.z, rolling[k].spin()];
            for i in 0..2 {
                if now[i] * before[k][i] <= 0.0 && turned[k][i].is_nan() {
                    turned[k][i] = time + dt * before[k][i] / (before[k][i] - now[i]);
                }
            }
            if time < 1.0 {
                worst = worst.max((now[0] - now[1]).abs());
            }
        }
    }
    println!(
        "rattleback: turns back at {turned:?} s (ours, rolling); spins differ by {worst} rad/s in 1 s"
    );
    let names = ["spun at +5 rad/s", "spun at −5 rad/s", "exact, +5 rad/s", "exact, −5 rad/s"];
    for (name, points) in names.into_iter().zip(&lines) {
        plot("rattleback", name, points);
    }
    let [left, right] = turned;
    assert!((right[0] - right[1]).abs() < 2e-3 && right[1] < 0.65, "{right:?}");
    assert!((left[0] - left[1]).abs() < 2e-2 && left[1] > 1.8, "{left:?}");
    assert!(worst < 0.1, "{worst} rad/s");
}

#[test]
fn a_worn_rattleback_turns_back_in_one_sense_only() {
    let mut w = scene("rattleback");
    let bodies = ["left_worn", "right_worn"].map(|name| w.find_body(name).unwrap());
    let mut extreme = [f64::INFINITY, f64::NEG_INFINITY];
    let mut lines = [const { Vec::new() }; 2];
    for n in 0..n_steps(&w, 6.0) {
        step(&mut w);
        let [left, right] = bodies.map(|id| w.body(id).velocity().angular.z);
        if n % 100 == 99 && w.time() < 2.2 {
            lines[0].push((w.time(), left));
            lines[1].push((w.time(), right));
        }
        extreme = [extreme[0].min(left), extreme[1].max(right)];
    }
    println!(
        "worn rattlebacks: +5 rad/s falls to {}, −5 rad/s turns to {} rad/s",
        extreme[0], extreme[1]
    );
    for (name, points) in ["worn, +5 rad/s", "worn, −5 rad/s"].into_iter().zip(&lines) {
        plot("rattleback", name, points);
    }
    assert!(extreme[0] > -0.05, "the favoured sense turns back to {} rad/s", extreme[0]);
    assert!(extreme[1] > 0.5, "the other does not turn back: {} rad/s", extreme[1]);
}
