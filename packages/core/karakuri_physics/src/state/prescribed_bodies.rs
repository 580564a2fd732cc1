//! Bodies that move as prescribed: fixed ones whose pose is a table over time, under any force.
//!
//! What touches such a body sees its surface come and go: the velocity `w` that its motion over the step has at the point
//! of contact is taken off the relative velocity, so normal and friction act on `u − w`. Over a step the pose goes from
//! table to table by a mean twist, so contacts close where the surface will be; position and velocity at the end of each
//! step are the table's.

use std::sync::Arc;

use karakuri_spatial::{Motion, Pose, Vector3};

use crate::state::motion_table::MotionTable;

/// Pose of a body over time: `x y z` of its centre of mass, and roll, pitch, yaw; those without a table stay. Where one of the
/// angles has a table, those that have none are 0. [m; rad] (6)
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PoseTable(pub [Option<MotionTable>; 6]);

impl PoseTable {
    /// Pose, and velocity of the centre of mass in world axes, of a body that rests in a pose. [rad/s; m/s]
    pub fn at(&self, time: f64, rest: &Pose) -> (Pose, Motion) {
        let at = |i: usize, rest: f64| self.0[i].as_ref().map_or((rest, 0.0), |t| t.at(time));
        let p = &rest.translation;
        let [(x, vx), (y, vy), (z, vz)] = [at(0, p.x), at(1, p.y), at(2, p.z)];
        let linear = Vector3::new(vx, vy, vz);
        // Without a table of an angle the attitude stays a matrix: angles taken from it are not unique at ±90° of pitch.
        if self.0[3..].iter().all(Option::is_none) {
            let pose = Pose::new(rest.rotation, Vector3::new(x, y, z));
            return (pose, Motion::new(Vector3::zeros(), linear));
        }
        let [(roll, d_roll), (pitch, d_pitch), (yaw, d_yaw)] = [at(3, 0.0), at(4, 0.0), at(5, 0.0)];
        // R = Rz(yaw) Ry(pitch) Rx(roll): the axes about which each angle turns.
        let about_roll =
            Vector3::new(yaw.cos() * pitch.cos(), yaw.sin() * pitch.cos(), -pitch.sin());
        let about_pitch = Vector3::new(-yaw.sin(), yaw.cos(), 0.0);
        let angular = about_roll * d_roll + about_pitch * d_pitch + Vector3::z() * d_yaw;
        let pose = Pose::from_xyz_rpy([x, y, z], [roll, pitch, yaw]);
        (pose, Motion::new(angular, linear))
    }
}

/// The motion of a body in the world.
#[derive(Debug, Clone)]
pub(crate) struct Course {
    pub(crate) table: Arc<PoseTable>,
    /// Pose of the body when the motion began.
    pub(crate) rest: Pose,
    /// Pose and velocity at the end of the step.
    pub(crate) end: (Pose, Motion),
}
