//! Free motion of a tree by a symmetric midpoint rule.
//!
//! ```text
//! q_m = q ⊞ ½h v,   v' = v + h v̇(q_m, ½(v + v')),   q' = q_m ⊞ ½h v'
//! ```
//!
//! The rule is its own inverse under `h → −h`, so a conservative mechanism keeps its energy on average; it is exact
//! for constant forces and leapfrog where the inertia is constant. Loops act on the mean velocity, at `q_m`; the end
//! velocity is then put on the loops at `q'`, orthogonally in the mass metric.
//! [Hairer 2006, §V.4, §VII.1]

use std::sync::Arc;

use karakuri_dynamics::{
    SingularInertia, forward_kinematics, integrate, rnea_at_velocity, update_velocities,
};
use karakuri_spatial::{Force, Vector3};

use crate::constraint::spring::AttachedSpring;
use crate::state::free_motion::FreeMotion;
use crate::state::robot::Robot;

/// Most rounds of the fixed point for `v'`; each gains a factor of about `h` times the joint rates.
const ROUNDS: usize = 4;
/// Change of a rate in a round, over the largest rate, after which it is the last: what is left is less by such a factor. [-]
const CONVERGED: f64 = 1e-9;

impl Robot {
    /// Whether nothing in the robot itself asks for the implicit step: no servo, damper, friction, or limit near.
    pub(crate) fn moves_freely(&self, h: f64) -> bool {
        let quiet = |k: usize| {
            let driven = self.drives.enabled[k]
                && (self.drives.stiffness[k] != 0.0
                    || self.drives.damping[k] != 0.0
                    || self.drives.effort_limit[k].is_finite());
            !driven && self.joint_damping[k] == 0.0 && self.friction[k] == 0.0
        };
        let still = self.motors.iter().all(|motor| !motor.is_on());
        let free = self.loops.prescribed.is_empty();
        free && still && (0..self.v.len()).all(quiet) && self.clear_of_limits(h)
    }

    /// Whether no joint can reach a limit of position or speed in this step, by a margin of its present rate.
    pub(crate) fn clear_of_limits(&self, h: f64) -> bool {
        let single = self.model.joints.iter().filter(|j| j.kind.single().is_some());
        let clear = |joint: &karakuri_model::Joint| {
            let (q, v) = (self.q[joint.q_start], self.v[joint.v_start]);
            // Four times the present motion, and h² for what starts from rest: free motion has no rows to stop at a limit.
            let reach = 4.0 * h * (v.abs() + h);
            let limits = &self.limits[joint.v_start];
            let idle = self.impulses[joint.v_start];
            q - limits.lower > reach
                && limits.upper - q > reach
                // A tenth below, as the step may make the joint faster.
                && (limits.velocity.is_infinite() || v.abs() < 0.9 * limits.velocity)
                && idle.lower == 0.0
                && idle.upper == 0.0
                && idle.speed == 0.0
        };
        single.into_iter().all(clear) && self.clear_of_ball_limits(h)
    }

    /// Velocity after a step of free motion into `out`, position into `free_motion.target`. (nv)
    pub(crate) fn midpoint_motion(
        &mut self,
        h: f64,
        gravity: &Vector3,
        springs: &[Option<AttachedSpring>],
        out: &mut [f64],
    ) -> Result<(), SingularInertia> {
        let model = Arc::clone(&self.model);
        self.data.gravity = *gravity;
        let mut middle = std::mem::take(&mut self.free_motion.stage);
        // `q_m = q ⊞ ½h v`, with the loops closed there.
        integrate(&model, &self.q, &self.v, 0.5 * h, &mut middle);
        forward_kinematics(&model, &mut self.data, &middle);
        // Rows of open loops would push the joints apart that the mean velocity has to keep together.
        self.loops.close(&model, &mut self.data, &mut middle);
        if let Err(singular) = self.factor.factorize(&model, &mut self.data, &self.armature) {
            self.free_motion.stage = middle;
            return Err(singular);
        }
        self.loops.factorize(&model, &self.data, &mut self.factor);
        self.prepare_springs(springs, h);
        let mut mean = std::mem::take(&mut self.free_motion.velocity);
        self.predict_mean(h, &mut mean);
        for ((out, mean), v) in out.iter_mut().zip(&mean).zip(&self.v) {
            *out = 2.0 * mean - v;
        }
        let mut last = std::mem::take(&mut self.free_motion.displacement);
        // Wrenches of zero are spared the rounds.
        let pushed = self.is_pushed();
        for _ in 0..ROUNDS {
            last.copy_from_slice(out);
            // `v_m = v + ½h M⁻¹ (τ − c(q_m, v_m))`, on the loops; then `v' = 2 v_m − v`, pulled by the springs.
            update_velocities(&model, &mut self.data, &mean);
            let applied: &[Force] = if pushed { &self.applied } else { &[] };
            rnea_at_velocity(&model, &mut self.data, &mean, &self.zeros, applied);
            for (k, (mean, bias)) in mean.iter_mut().zip(&self.data.effort).enumerate() {
                *mean = self.feedforward(k) - bias;
            }
            self.factor.solve(&model, &mut mean);
            for (mean, v) in mean.iter_mut().zip(&self.v) {
                *mean = v + 0.5 * h * *mean;
            }
            // Loops constrain the mean, as it is by the mean that positions pass `q_m`.
            self.loops.project(&mut mean);
            for ((out, mean), v) in out.iter_mut().zip(&mean).zip(&self.v) {
                *out = 2.0 * mean - v;
            }
            // Springs pull the end velocity: their law is by the mean length and the end rate.
            self.pull_springs(out);
            for ((out, mean), v) in out.iter().zip(&mut mean).zip(&self.v) {
                *mean = 0.5 * (out + v);
            }
            let largest = |most: f64, x: f64| most.max(x.abs());
            let change = out.iter().zip(&last).map(|(out, last)| out - last).fold(0.0, largest);
            if change <= CONVERGED * out.iter().copied().fold(0.0, largest) {
                break;
            }
        }
        self.free_motion.displacement = last;
        // `q' = q_m ⊞ ½h v'`.
        integrate(&model, &middle, out, 0.5 * h, &mut self.free_motion.target);
        self.free_motion.velocity = mean;
        self.free_motion.stage = middle;
        Ok(())
    }

    /// Mean velocity of a step as the last two let expect it: `v + ½h (2 a₁ − a₂)`. (nv)
    fn predict_mean(&self, h: f64, mean: &mut [f64]) {
        let [last, before] = &self.free_motion.recent;
        for (k, (mean, v)) in mean.iter_mut().zip(&self.v).enumerate() {
            let acceleration = match self.free_motion.n_recent {
                0 => 0.0,
                1 => last[k],
                _ => 2.0 * last[k] - before[k],
            };
            *mean = v + 0.5 * h * acceleration;
        }
    }

    /// Takes the position where the free motion ended, with the velocity `after`. (nv)
    pub(crate) fn land(&mut self, after: &[f64], h: f64) {
        let FreeMotion { recent, n_recent, .. } = &mut self.free_motion;
        recent.swap(0, 1);
        for ((a, after), v) in recent[0].iter_mut().zip(after).zip(&self.v) {
            *a = (after - v) / h;
        }
        *n_recent = (*n_recent + 1).min(recent.len());
        self.v.copy_from_slice(after);
        self.q.copy_from_slice(&self.free_motion.target);
        forward_kinematics(&self.model, &mut self.data, &self.q);
        if self.loops.is_empty() {
            return;
        }
        // The end velocity on the loops at `q'`, orthogonally in the mass metric.
        self.loops.close(&self.model, &mut self.data, &mut self.q);
        // Positions have moved, so a singular inertia leaves the velocity rather than the step undone.
        if self.factor.factorize(&self.model, &mut self.data, &self.armature).is_ok() {
            self.loops.factorize(&self.model, &self.data, &mut self.factor);
            self.loops.project(&mut self.v);
        }
    }
}
