//! Length of a Newton step along its ray.

use super::Newton;
use crate::solver::Block;

/// The convex line search ends when the directional derivative is this part of the first. [-]
const LINE_SEARCH_SLOPE: f64 = 1e-2;

impl Newton {
    /// Length at which the derivative of the convex function along the ray vanishes, at most 1; 0 where it does not descend. [-]
    pub(super) fn convex_length(&self, blocks: &[Block]) -> f64 {
        // Derivative of the convex function at the length `t`: `Δuᵀ (α + t Δα − λ(u + t Δu))`, which grows with `t`.
        let derivative = |t: f64| -> f64 {
            let each = self.states.iter().zip(blocks);
            each.map(|(state, block)| {
                let lambda = state.impulse(&block.admissible, &(state.u + state.du * t));
                state.du.dot(&(state.alpha + state.dalpha * t - lambda))
            })
            .sum()
        };
        let first = derivative(0.0);
        // An ascent is rounding at the solution, or a factor that failed: no step is better.
        if first >= 0.0 {
            return 0.0;
        }
        let (mut low, mut at_low, mut high, mut at_high) = (0.0, first, 1.0, derivative(1.0));
        // Full steps keep the quadratic convergence near the solution.
        if at_high <= LINE_SEARCH_SLOPE * first.abs() {
            return high;
        }
        // The Illinois variant of false position.
        for _ in 0..30 {
            let t = (low * at_high - high * at_low) / (at_high - at_low);
            let at_t = derivative(t);
            if at_t.abs() <= LINE_SEARCH_SLOPE * first.abs() {
                return t;
            }
            if at_t < 0.0 {
                (low, at_low) = (t, at_t);
                at_high *= 0.5;
            } else {
                (high, at_high) = (t, at_t);
                at_low *= 0.5;
            }
        }
        low
    }

    /// Length out of 1, ½, ¼ … at which the mismatch falls, or the one at which it is least. [-]
    pub(super) fn coulomb_length(&self, blocks: &[Block]) -> f64 {
        // No convex function belongs to an unsymmetric system, so the residual itself is the merit.
        // Merit: the squared mismatch `Σ ‖(λ(u + t Δu) − α − t Δα) g‖²`.
        let mismatch = |t: f64| -> f64 {
            let each = self.states.iter().zip(blocks);
            each.map(|(state, block)| {
                let lambda = state.impulse(&block.admissible, &(state.u + state.du * t));
                let off =
                    (lambda - state.alpha - state.dalpha * t) * block.inverse_effective_mass();
                off.norm_squared()
            })
            .sum()
        };
        let first = mismatch(0.0);
        let (mut t, mut best) = (1.0, 1.0);
        let mut least = mismatch(t);
        // Backtracking to a sufficient decrease, 1e-4 of the length.
        // Armijo's condition; below a twentieth a shorter step is no use, and the round is repeated more regularised.
        while least > first * (1.0 - 1e-4 * best) && t > 0.05 {
            t *= 0.5;
            let now = mismatch(t);
            if now < least {
                (least, best) = (now, t);
            }
        }
        best
    }
}
