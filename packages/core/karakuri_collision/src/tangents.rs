//! Frames of planes.

use karakuri_spatial::Vector3;

/// Two unit vectors that make a right-handed frame with `n`.
pub(crate) fn tangents(n: &Vector3) -> (Vector3, Vector3) {
    let away = if n.x.abs() < 0.7 { Vector3::x() } else { Vector3::y() };
    let t1 = (away - n * n.dot(&away)).normalize();
    (t1, n.cross(&t1))
}
