//! Free motion of a tree by the classical Runge-Kutta method on the Lie group of positions.
//!
//! Stages are displacements `u` from the start, `q_i = q ⊞ u_i`, and their rates are `dexp⁻¹_u v`; for a rotation in
//! the parent's axes `dexp⁻¹_u ω = ω − ½ u × ω + 1/12 u × (u × ω)`, enough for order four. Servos and dampers are
//! forces of the stages, which is stable while they are soft: `h B + h² K` at most a quarter of the inertia they
//! move. [Hairer 2006, §IV.8]

use std::sync::Arc;

use karakuri_dynamics::{
    SingularInertia, crba_at_position, forward_kinematics, integrate, rnea_at_velocity,
    update_velocities,
};
use karakuri_model::{JointKind, Model};
use karakuri_spatial::Vector3;

use crate::state::motor_unit::MotorUnit;
use crate::state::robot::Robot;

/// Largest `h B + h² K` against the inertia of the degree of freedom: at that inertia an oscillation turns by at most ½ rad
/// a step, where the method is stable up to 2√2; with the other joints free a joint moves less inertia. [-]
const SOFT: f64 = 0.25;

impl Robot {
    /// Whether forces at points inside the step do: no spring, friction, motor or limit, and all servos soft.
    pub(crate) fn moves_softly(&mut self, h: f64) -> bool {
        if self.springs.any() || !self.loops.prescribed.is_empty() || !self.clear_of_limits(h) {
            return false;
        }
        // Their laws change within a step, by sign or by state, which stages at points inside it do not resolve.
        if self.friction.iter().any(|f| *f != 0.0) || self.motors.iter().any(MotorUnit::is_on) {
            return false;
        }
        let implicit = |robot: &Self, k: usize| {
            let (stiffness, damping) = robot.inner_gains(k);
            h * (robot.joint_damping[k] + damping) + h * h * stiffness
        };
        let n = self.v.len();
        // `h B + h² K` against the inertia that each degree of freedom moves.
        if (0..n).all(|k| implicit(self, k) == 0.0) {
            return true;
        }
        // Bounded by the diagonal of `M`: with other joints free a joint moves less, which the margin of `SOFT` is for.
        crba_at_position(&self.model, &mut self.data);
        (0..n).all(|k| {
            let inertia = self.data.mass_matrix[(k, k)] + self.armature[k];
            implicit(self, k) <= SOFT * inertia
        })
    }

    /// Effort of the servo and the damper at a position and velocity. [N·m or N] (nq, nv)
    pub(crate) fn soft_effort(&self, k: usize, q: &[f64], v: &[f64]) -> f64 {
        let (drives, limit) = (&self.drives, self.drives.effort_limit[k]);
        let servo = self.position_index[k]
            .map_or(0.0, |i| drives.stiffness[k] * (drives.position[k] - q[i]))
            + drives.damping[k] * (drives.velocity[k] - v[k]);
        let effort = if drives.enabled[k] { servo + drives.effort[k] } else { 0.0 };
        // Limited as the drive is; joint damping is no part of its effort.
        effort.clamp(-limit, limit) - self.joint_damping[k] * v[k]
    }

    /// Velocity after a step of free motion into `out`, position into `free_motion.target`. (nv)
    pub(crate) fn runge_kutta_motion(
        &mut self,
        h: f64,
        gravity: &Vector3,
        out: &mut [f64],
    ) -> Result<(), SingularInertia> {
        let model = Arc::clone(&self.model);
        self.data.gravity = *gravity;
        let mut free_motion = std::mem::take(&mut self.free_motion);
        for stage in 0..4 {
            let part = [0.0, 0.5 * h, 0.5 * h, h][stage];
            // `u_i = a_i u̇_{i−1}` and `v_i = v + a_i v̇_{i−1}` with `a = (0, ½h, ½h, h)`.
            for k in 0..model.nv {
                // The first stage is the start itself; its rates are those of nothing before.
                let (rate, acceleration) = if stage == 0 {
                    (0.0, 0.0)
                } else {
                    (free_motion.rates[stage - 1][k], free_motion.accelerations[stage - 1][k])
                };
                free_motion.displacement[k] = part * rate;
                free_motion.velocity[k] = self.v[k] + part * acceleration;
            }
            integrate(&model, &self.q, &free_motion.displacement, 1.0, &mut free_motion.stage);
            // `u̇_i = dexp⁻¹_u v_i`.
            free_motion.rates[stage].copy_from_slice(&free_motion.velocity);
            untwist(&model, &free_motion.displacement, &mut free_motion.rates[stage]);
            let acceleration = &mut free_motion.accelerations[stage];
            let moved = self.accelerate(&free_motion.stage, &free_motion.velocity, acceleration);
            if let Err(singular) = moved {
                self.free_motion = free_motion;
                return Err(singular);
            }
        }
        // `u = h/6 (k₁ + 2 k₂ + 2 k₃ + k₄)`, of rates and accelerations alike.
        for (k, out) in out.iter_mut().enumerate() {
            let sum = |x: &[Vec<f64>; 4]| x[0][k] + 2.0 * (x[1][k] + x[2][k]) + x[3][k];
            free_motion.displacement[k] = h / 6.0 * sum(&free_motion.rates);
            *out = self.v[k] + h / 6.0 * sum(&free_motion.accelerations);
        }
        integrate(&model, &self.q, &free_motion.displacement, 1.0, &mut free_motion.target);
        self.free_motion = free_motion;
        Ok(())
    }

    /// Accelerations at a position and velocity, servos and dampers as forces. (nq, nv, nv)
    fn accelerate(&mut self, q: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), SingularInertia> {
        let model = Arc::clone(&self.model);
        forward_kinematics(&model, &mut self.data, q);
        update_velocities(&model, &mut self.data, v);
        rnea_at_velocity(&model, &mut self.data, v, &self.zeros, &self.applied);
        for (k, out) in out.iter_mut().enumerate() {
            *out = self.soft_effort(k, q, v) - self.data.effort[k];
        }
        self.factor.factorize(&model, &mut self.data, &self.armature)?;
        self.factor.solve(&model, out);
        Ok(())
    }
}

/// `v ← dexp⁻¹_u v`. (nv)
fn untwist(model: &Model, u: &[f64], v: &mut [f64]) {
    // Coordinates of one rate commute with themselves: only rotations with three degrees of freedom need `dexp⁻¹`.
    for joint in &model.joints {
        let k = match joint.kind {
            JointKind::Spherical => joint.v_start,
            JointKind::Floating => joint.v_start + 3,
            _ => continue,
        };
        let u = Vector3::new(u[k], u[k + 1], u[k + 2]);
        let omega = Vector3::new(v[k], v[k + 1], v[k + 2]);
        let turned = u.cross(&omega);
        let rate = omega - turned * 0.5 + u.cross(&turned) / 12.0;
        v[k..k + 3].copy_from_slice(rate.as_slice());
    }
}
