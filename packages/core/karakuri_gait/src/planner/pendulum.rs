//! The motion of the centre of mass by its divergent component, beside preview control.
//!
//! `ξ` follows from the ZMP ahead, backwards from rest on its last place ([`super::dcm`]), double support included, where the
//! ZMP goes from sole to sole; the centre of mass follows by `ċ = ω (ξ − c)`. A deviation from that `ξ` decays with `e^{−κt}`, so
//! that neither position nor velocity jumps where a plan changes. [Englsberger 2015]
//!
//! Along one axis, `ξ` straight within a period. The ZMP of the pendulum is the desired one; preview control smooths it.

use super::preview::CartState;

/// κ: rate at which a deviation from the planned ξ decays, by ω. [-]
// A deviation asks for a ZMP of (1 + κ) times as much beside its path: more brings ξ back sooner, but soon beyond the sole.
const BACK: f64 = 3.0;

/// Parameters of the pendulum.
#[derive(Debug, Clone, PartialEq)]
pub struct Pendulum {
    /// Natural frequency ω. [1/s]
    pub omega: f64,
    /// Time between two samples. [s]
    pub period: f64,
    /// Number of samples looked ahead.
    pub n_ahead: usize,
}

impl Pendulum {
    /// State one period on; `desired`: ZMP from now on, whose last value goes on for ever. [m] (n)
    #[must_use]
    pub fn step(&self, cart: &CartState, desired: &[f64]) -> CartState {
        let Self { omega, period, n_ahead } = *self;
        let seen = &desired[..desired.len().min(n_ahead + 2)];
        let decay = (-omega * period).exp();
        // Backwards from rest, to the next sample and to this one.
        // `ξ(0) = p₀ + ṗ/ω + e^{−ωt} (ξ(t) − p(t) − ṗ/ω)` from sample to sample.
        // With nothing ahead the walker comes to rest where it is.
        let (mut next, mut now) = (cart.position, cart.position);
        for (i, pair) in seen.windows(2).enumerate().rev() {
            let slope = (pair[1] - pair[0]) / (period * omega);
            if i + 2 == seen.len() {
                now = pair[1];
            }
            next = now;
            now = pair[0] + slope + decay * (now - pair[1] - slope);
        }
        // The deviation of the state's own ξ decays; within the period ξ is straight, and `ċ = ω (ξ − c)` has a closed form.
        let dcm = cart.position + cart.velocity / omega;
        // Open loop ξ diverges with e^{ωt}: without this decay round-off alone would grow by e over each 1/ω.
        let away = (dcm - now) * (-BACK * omega * period).exp();
        let then = next + away;
        // `c(h) = ξ(h) − ξ̇/ω + e^{−ωh} (c(0) − ξ(0) + ξ̇/ω)`: stable, as `c` follows ξ, so a coarse period costs no stability.
        let slope = (then - dcm) / (period * omega);
        let position = then - slope + decay * (cart.position - dcm + slope);
        let velocity = omega * (then - position);
        // ξ̇ = ω (ξ − p), with what brings ξ back.
        let zmp = seen.get(1).or(seen.first()).map_or(position, |p| *p) + (1.0 + BACK) * away;
        let acceleration = omega * omega * (position - zmp);
        CartState { position, velocity, acceleration, error_sum: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planner::{PreviewDesign, PreviewGains};

    const OMEGA: f64 = 7.6;

    fn pendulum() -> Pendulum {
        Pendulum { omega: OMEGA, period: 0.01, n_ahead: 80 }
    }

    /// Feet of 23 mm off the middle, 0.4 s of which 0.1 s on both, along one axis; a ramp in double support. [m]
    fn steps(k: usize) -> f64 {
        let (step, part) = ((k.max(100) - 100) / 40, ((k.max(100) - 100) % 40) as f64 / 10.0);
        let foot = |n: usize| match n {
            0 => 0.0,
            n if n % 2 == 0 => 0.023,
            _ => -0.023,
        };
        if k < 100 { 0.0 } else { foot(step) + part.min(1.0) * (foot(step + 1) - foot(step)) }
    }

    /// Largest error of the ZMP by second differences of the centre of mass.
    fn zmp_error(positions: &[f64], desired: &[f64]) -> f64 {
        let errors = positions.windows(3).zip(&desired[1..]).map(|(c, p)| {
            let acceleration = (c[2] - 2.0 * c[1] + c[0]) / 1e-4;
            (c[1] - acceleration / (OMEGA * OMEGA) - p).abs()
        });
        errors.fold(0.0, f64::max)
    }

    #[test]
    fn zmp_is_followed_closer_than_by_preview_control() {
        let design = PreviewDesign {
            com_height: 9.81 / (OMEGA * OMEGA),
            period: 0.01,
            gravity: 9.81,
            error_weight: 1.0,
            jerk_weight: 1e-6,
            n_ahead: 80,
        };
        let (pendulum, gains) = (pendulum(), PreviewGains::new(&design).unwrap());
        let desired: Vec<f64> = (0..800).map(steps).collect();
        let (mut by_dcm, mut by_preview) = (vec![CartState::default()], vec![CartState::default()]);
        for k in 0..600 {
            by_dcm.push(pendulum.step(&by_dcm[k], &desired[k..]));
            by_preview.push(gains.step(&by_preview[k], &desired[k + 1..]));
        }
        let path = |carts: &[CartState]| carts.iter().map(|c| c.position).collect::<Vec<_>>();
        let (dcm, preview) = (path(&by_dcm), path(&by_preview));
        let (a, b) = (zmp_error(&dcm, &desired), zmp_error(&preview, &desired));
        // What is left is the corners of the ramps between two samples.
        assert!(a < 0.35 * b, "{a} against {b}");
        // The same walk: both centres of mass are where the other is.
        let apart = dcm.iter().zip(&preview).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart < 1.5e-3, "{apart}");
    }

    #[test]
    fn a_state_beside_its_plan_comes_back_without_a_jump() {
        let pendulum = pendulum();
        let desired = [0.0; 200];
        let mut cart = CartState { position: 0.01, velocity: 0.02, ..CartState::default() };
        let dcm = |c: &CartState| c.position + c.velocity / OMEGA;
        let start = dcm(&cart);
        for k in 1..=100 {
            let next = pendulum.step(&cart, &desired);
            assert!((next.velocity - cart.velocity).abs() < 0.05, "{next:?} after {cart:?}");
            cart = next;
            let expected = start * (-BACK * OMEGA * 0.01 * f64::from(k)).exp();
            assert!((dcm(&cart) - expected).abs() < 1e-9, "{k}");
        }
        assert!(cart.position.abs() < 1e-4);
    }
}
