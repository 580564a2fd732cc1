//! Targets of joints.

use karakuri_model::Model;

/// Targets of the joints' servos. Floating base entries are not used.
#[derive(Debug, Clone, PartialEq)]
pub struct JointTargets {
    /// [rad or m] (nq)
    pub position: Vec<f64>,
    /// [rad/s or m/s] (nv)
    pub velocity: Vec<f64>,
    /// Feed-forward, and what the stabiliser adds. [N·m or N] (nv)
    pub effort: Vec<f64>,
}

/// Targets for servos without a torque input: positions moved by what the servo's stiffness gives way under the effort.
pub fn with_servo_sag(model: &Model, targets: &JointTargets, position: &mut [f64]) {
    position.copy_from_slice(&targets.position);
    for joint in &model.joints {
        if let Some(drive) = joint.drive.filter(|d| d.stiffness > 0.0) {
            position[joint.q_start] += targets.effort[joint.v_start] / drive.stiffness;
        }
    }
}
