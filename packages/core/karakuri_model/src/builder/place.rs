//! Poses of all bodies in a posture: needed once, to close loops and to measure their gaps.

use karakuri_spatial::{Pose, Vector3};

use crate::{JointKind, Model};

/// Pose `X_WB` of every body, at position `q` (nq).
pub(super) fn body_poses(model: &Model, q: &[f64]) -> Vec<Pose> {
    let mut poses: Vec<Pose> = Vec::with_capacity(model.bodies.len());
    // `X_WB = X_WP X_PJ X_JB(q)`, parents first. Not the forward kinematics of `karakuri_dynamics`, which depends on this crate.
    for (body, joint) in model.bodies.iter().zip(&model.joints) {
        let X_WP = body.parent.map_or(Pose::IDENTITY, |parent| poses[parent.0]);
        poses.push(X_WP * joint.pose_in_parent * joint_pose(&joint.kind, &q[joint.q_start..]));
    }
    poses
}

/// Pose `X_JB` of the body frame in the joint frame.
fn joint_pose(kind: &JointKind, q: &[f64]) -> Pose {
    let quaternion = |q: &[f64]| {
        karakuri_spatial::UnitQuaternion::new_normalize(nalgebra::Quaternion::new(
            q[3], q[0], q[1], q[2],
        ))
    };
    match kind {
        JointKind::Revolute { axis } => Pose::from_axis_angle(axis, q[0]),
        JointKind::Prismatic { axis } => Pose::from_translation(axis * q[0]),
        JointKind::Planar { x, y } => {
            let rotation = Pose::from_axis_angle(&x.cross(y), q[2]).rotation;
            Pose::new(rotation, x * q[0] + y * q[1])
        }
        JointKind::Spherical => Pose::from_quaternion(&quaternion(q), Vector3::zeros()),
        JointKind::Custom(motion) => motion.pose(&q[..motion.dof_kinds().len()]),
        JointKind::Floating => {
            Pose::from_quaternion(&quaternion(&q[3..]), Vector3::new(q[0], q[1], q[2]))
        }
    }
}
