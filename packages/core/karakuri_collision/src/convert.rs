//! The border to parry's `glam` types.

use karakuri_spatial::{Pose, Vector3};
use parry3d_f64::math::{Pose3, Rot3, Vec3};

pub(crate) fn vector(v: &Vector3) -> Vec3 {
    Vec3::new(v.x, v.y, v.z)
}

pub(crate) fn from_vector(v: Vec3) -> Vector3 {
    Vector3::new(v.x, v.y, v.z)
}

pub(crate) fn pose(X: &Pose) -> Pose3 {
    let q = X.quaternion();
    Pose3::from_parts(vector(&X.translation), Rot3::from_xyzw(q.i, q.j, q.k, q.w))
}
