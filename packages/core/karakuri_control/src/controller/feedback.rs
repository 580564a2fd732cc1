//! Feedback of one joint beside its drive's servo.
//!
//! `τ = K_u (q_d − q) + K_i ∫(q_d − q) dt + K_v (v_d − v)` [Isobe 2003, eq. 7]. Against wind-up the integral is clamped, and
//! stands still while all efforts together are at the joint's limit and the error would drive them further. It is kept
//! as an effort, so that a new gain makes no step.
//! Units: rad or m, s, N·m or N.

use crate::trajectory::JointSample;

/// Gains of one joint, added to its drive's.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Gains {
    /// `K_u`. [N·m/rad or N/m]
    pub p: f64,
    /// `K_i`; at 0 the integral is empty. [N·m/(rad·s) or N/(m·s)]
    pub i: f64,
    /// `K_v`. [N·m·s/rad or N·s/m]
    pub d: f64,
    /// Largest effort of the integral; 0 is the joint's limit. [N·m or N]
    pub i_clamp: f64,
}

/// The memory of one joint's feedback.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Feedback {
    /// Effort of the integral, `K_i ∫(q_d − q) dt`. [N·m or N]
    integral: f64,
}

/// The drive whose effort the feedback shares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DriveEffort {
    /// Effort of all else at the joint. [N·m or N]
    pub(super) others: f64,
    /// Largest effort of the drive. [N·m or N]
    pub(super) limit: f64,
}

impl Feedback {
    /// The effort for a period `dt`. [s]
    pub(super) fn effort(
        &mut self,
        gains: &Gains,
        error: &JointSample,
        drive: DriveEffort,
        dt: f64,
    ) -> f64 {
        let DriveEffort { others, limit } = drive;
        let proportional = gains.p * error.position + gains.d * error.velocity;
        // With the integral as it stands: whether this step is taken depends on it.
        let total = others + proportional + self.integral;
        let step = gains.i * error.position * dt;
        // At the limit of all efforts together the integral takes only steps that lead back from it.
        if gains.i == 0.0 {
            self.integral = 0.0;
        } else if step.is_finite() && (total.abs() < limit || step * total < 0.0) {
            // More than the joint's limit would only take longer to unwind.
            let clamp = if gains.i_clamp > 0.0 { gains.i_clamp.min(limit) } else { limit };
            self.integral = (self.integral + step).clamp(-clamp, clamp);
        }
        proportional + self.integral
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;
    use proptest::prelude::*;

    use super::*;

    const GAINS: Gains = Gains { p: 0.0, i: 10.0, d: 0.0, i_clamp: 2.0 };

    const IDLE: DriveEffort = DriveEffort { others: 0.0, limit: 50.0 };
    const SATURATED: DriveEffort = DriveEffort { others: 50.0, limit: 50.0 };

    fn behind(position: f64) -> JointSample {
        JointSample::at_rest(position)
    }

    #[test]
    fn the_integral_is_clamped_and_forgotten_with_its_gain() {
        let mut feedback = Feedback::default();
        for _ in 0..1000 {
            feedback.effort(&GAINS, &behind(0.1), IDLE, 0.01);
        }
        assert_abs_diff_eq!(feedback.integral, 2.0);
        let none = Gains { p: 3.0, d: 2.0, ..Gains::default() };
        let error = JointSample { velocity: 0.5, ..behind(0.1) };
        assert_abs_diff_eq!(feedback.effort(&none, &error, IDLE, 0.01), 1.3);
        assert_eq!(feedback, Feedback::default());
    }

    #[test]
    fn at_the_limit_it_only_unwinds() {
        let mut feedback = Feedback { integral: 1.0 };
        // The error would drive it further.
        feedback.effort(&GAINS, &behind(0.1), SATURATED, 0.01);
        assert_abs_diff_eq!(feedback.integral, 1.0);
        feedback.effort(&GAINS, &behind(-0.1), SATURATED, 0.01);
        assert!(feedback.integral < 1.0, "the error drives it back");
    }

    #[test]
    fn a_new_gain_makes_no_step() {
        let mut feedback = Feedback { integral: 1.0 };
        let stronger = Gains { i: 100.0, ..GAINS };
        assert_abs_diff_eq!(feedback.effort(&stronger, &behind(0.0), IDLE, 0.01), 1.0);
    }

    proptest! {
        /// However the error moves, the integral stays within its clamp and the effort is odd in the error.
        #[test]
        fn the_integral_is_bounded_and_the_law_is_odd(
            errors in prop::collection::vec((-1.0..1.0_f64, -5.0..5.0_f64), 1..200),
            clamp in 0.0..4.0_f64,
        ) {
            let gains = Gains { p: 3.0, i: 25.0, d: 0.5, i_clamp: clamp };
            let bound = if clamp > 0.0 { clamp } else { IDLE.limit };
            let (mut feedback, mut mirrored) = (Feedback::default(), Feedback::default());
            for (position, velocity) in errors {
                let error = JointSample { velocity, ..behind(position) };
                let opposite = JointSample { velocity: -velocity, ..behind(-position) };
                let effort = feedback.effort(&gains, &error, IDLE, 0.01);
                let other = mirrored.effort(&gains, &opposite, IDLE, 0.01);
                prop_assert!((effort + other).abs() < 1e-12, "{effort} and {other}");
                prop_assert!(feedback.integral.abs() <= bound);
            }
        }

        /// A feed-forward that leaves no error leaves nothing to the feedback.
        #[test]
        fn without_error_there_is_no_effort(p in 0.0..1e3_f64, i in 0.0..1e3_f64, d in 0.0..1e2_f64, others in -60.0..60.0_f64) {
            let mut feedback = Feedback::default();
            let drive = DriveEffort { others, ..IDLE };
            for _ in 0..10 {
                let effort = feedback.effort(&Gains { p, i, d, i_clamp: 0.0 }, &behind(0.0), drive, 0.01);
                prop_assert!(effort.abs() < 1e-300, "{effort}");
            }
        }
    }
}
