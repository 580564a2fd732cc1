//! Two directions in a plane, given its normal.

use crate::Vector3;

/// Largest x of a normal that the x axis still completes: beyond it the y axis does. A cross product with either has then a
/// length of at least 0.6, so that normalising it loses no digits.
const NEAR_X: f64 = 0.6;

/// Two unit vectors that make a right-handed frame with a unit `normal`: `t₁ × t₂ = normal`.
///
/// The cross product with a coordinate axis that is far from the normal [Hughes 1999]. No choice is continuous over all
/// normals; this one jumps where `|n_x| = 0.6`, far from the normals of floors and walls along the axes.
pub fn tangent_frame(normal: &Vector3) -> [Vector3; 2] {
    // |n × x| = √(1 − n_x²) is above 0.8 on this side; on the other n_y² ≤ 0.64, so that |n × y| is at least 0.6.
    let helper = if normal.x.abs() < NEAR_X { Vector3::x() } else { Vector3::y() };
    let first = normal.cross(&helper).normalize();
    // Of unit length already: the cross product of two unit vectors at right angles.
    [first, normal.cross(&first)]
}
