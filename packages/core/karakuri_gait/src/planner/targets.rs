//! Targets of the joints' servos.

use karakuri_model::Model;

/// Targets of the joints' servos. Floating base entries are not used.
#[derive(Debug, Clone, PartialEq)]
pub struct JointTargets {
    /// Desired positions. [rad or m] (nq)
    pub position: Vec<f64>,
    /// Desired velocities. [rad/s or m/s] (nv)
    pub velocity: Vec<f64>,
    /// Feed-forward efforts, with those of the stabiliser. [N·m or N] (nv)
    pub effort: Vec<f64>,
}

/// Writes targets for servos without a torque input: positions shifted by the servo's sag under the effort, `τ/K`.
pub fn with_servo_sag(model: &Model, targets: &JointTargets, position: &mut [f64]) {
    position.copy_from_slice(&targets.position);
    for joint in &model.joints {
        // A joint without stiffness has no target to shift.
        if let Some(drive) = joint.drive.filter(|d| d.stiffness > 0.0) {
            // A stiff spring `τ = K (q_d − q)` at the desired q gives τ with q_d = q + τ/K.
            position[joint.q_start] += targets.effort[joint.v_start] / drive.stiffness;
        }
    }
}
