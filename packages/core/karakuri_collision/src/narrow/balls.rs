//! Pairs with balls that have a closed form.

use karakuri_spatial::Vector3;

use super::clip::Patch;
use super::posed::Posed;

/// Two balls; a common centre separates along z.
pub(super) fn two_balls(patch: &mut Patch, A: &Posed, B: &Posed) {
    let between = B.pose.translation - A.pose.translation;
    let distance = between.norm();
    let normal = if distance > 0.0 { between / distance } else { Vector3::z() };
    let gap = distance - A.margin - B.margin;
    patch.normal = normal;
    // The middle between the surfaces: half the gap beyond A's.
    patch.add(0, A.pose.translation + normal * (A.margin + 0.5 * gap), gap);
}

/// A box and a ball; `sign` is 1 if the box is shape A, −1 if it is B.
pub(super) fn box_and_ball(
    patch: &mut Patch,
    half: &Vector3,
    cuboid: &Posed,
    ball: &Posed,
    sign: f64,
) {
    let R = &cuboid.pose.rotation;
    let c = R.tr_mul(&(ball.pose.translation - cuboid.pose.translation));
    // The box's point nearest to the centre has each coordinate clamped to the box.
    let nearest = c.zip_map(half, |c, h| c.clamp(-h, h));
    let outside = c - nearest;
    let distance = outside.norm();
    let (normal, distance) = if distance > 0.0 {
        (outside / distance, distance)
    } else {
        // The centre is inside: out through the nearest face.
        let depth = half - c.abs();
        let i = depth.imin();
        let mut n = Vector3::zeros();
        n[i] = 1.0_f64.copysign(c[i]);
        (n, -depth[i])
    };
    let normal = R * normal;
    // The core is the centre: the margin is the ball's whole radius.
    let gap = distance - ball.margin;
    patch.normal = normal * sign;
    patch.add(0, ball.pose.translation - normal * (ball.margin + 0.5 * gap), gap);
}
