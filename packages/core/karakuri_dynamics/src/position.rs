//! Operations on positions: the manifold `ℝⁿ × SO(3)ᵏ`.
//!
//! Rates of spherical and floating joints are measured in the axes of the joint's parent side, so a rotation
//! advances by `R ← exp(ω dt) R` and a floating joint's translation by `p ← p + v dt`. [Solà 2018, §4]

use karakuri_model::{DofKind, JointKind, Model};
use karakuri_spatial::{UnitQuaternion, Vector3};
use nalgebra::Quaternion;

/// `q_out = q ⊕ v dt`, exact for constant rates. (nq)
pub fn integrate(model: &Model, q: &[f64], v: &[f64], dt: f64, q_out: &mut [f64]) {
    for joint in &model.joints {
        let (i, k) = (joint.q_start, joint.v_start);
        let plain = |n: usize, q_out: &mut [f64]| {
            for j in 0..n {
                q_out[i + j] = q[i + j] + v[k + j] * dt;
            }
        };
        match &joint.kind {
            JointKind::Revolute { .. } | JointKind::Prismatic { .. } => plain(1, q_out),
            JointKind::Custom(motion) => plain(motion.dof_kinds().len(), q_out),
            JointKind::Planar { .. } => plain(3, q_out),
            JointKind::Spherical => turn(&q[i..i + 4], &v[k..k + 3], dt, &mut q_out[i..i + 4]),
            JointKind::Floating => {
                plain(3, q_out);
                // Not the exponential of SE(3): the rates are those of the origin in fixed axes (docs/theory/integrators.md).
                turn(&q[i + 3..i + 7], &v[k + 3..k + 6], dt, &mut q_out[i + 3..i + 7]);
            }
        }
    }
}

/// The rates `dv` that lead from `q0` to `q1` in unit time: `q1 = q0 ⊕ dv`. (nv)
pub fn difference(model: &Model, q0: &[f64], q1: &[f64], dv: &mut [f64]) {
    for joint in &model.joints {
        let (i, k) = (joint.q_start, joint.v_start);
        let plain = |n: usize, dv: &mut [f64]| {
            for j in 0..n {
                dv[k + j] = q1[i + j] - q0[i + j];
            }
        };
        match &joint.kind {
            JointKind::Revolute { .. } | JointKind::Prismatic { .. } => plain(1, dv),
            JointKind::Custom(motion) => plain(motion.dof_kinds().len(), dv),
            JointKind::Planar { .. } => plain(3, dv),
            JointKind::Spherical => {
                dv[k..k + 3].copy_from_slice(&angle_between(&q0[i..i + 4], &q1[i..i + 4]));
            }
            JointKind::Floating => {
                plain(3, dv);
                let turn = angle_between(&q0[i + 3..i + 7], &q1[i + 3..i + 7]);
                dv[k + 3..k + 6].copy_from_slice(&turn);
            }
        }
    }
}

/// Makes every quaternion in `q` unit again; a zero quaternion becomes the identity. (nq)
pub fn normalize(model: &Model, q: &mut [f64]) {
    for joint in &model.joints {
        let first = match joint.kind {
            JointKind::Spherical => joint.q_start,
            JointKind::Floating => joint.q_start + 3,
            _ => continue,
        };
        let xyzw = &mut q[first..first + 4];
        let norm = xyzw.iter().map(|x| x * x).sum::<f64>().sqrt();
        if norm > 0.0 {
            for x in xyzw {
                *x /= norm;
            }
        } else {
            // Zero has no direction; dividing by its norm would make the whole pose NaN.
            xyzw.copy_from_slice(&[0.0, 0.0, 0.0, 1.0]);
        }
    }
}

/// A position inside the joint limits, from `uniform`, a source of numbers in [0, 1). (nq)
///
/// Revolute joints without limits get an angle in ±π, other lengths without limits lie in ±1 m, rotations are
/// uniform over SO(3).
pub fn random_position(model: &Model, uniform: &mut dyn FnMut() -> f64, q: &mut [f64]) {
    use std::f64::consts::PI;
    for joint in &model.joints {
        let i = joint.q_start;
        let mut within = |half: f64| half * (2.0 * uniform() - 1.0);
        if let Some(kind) = joint.kind.single() {
            let half = if kind == DofKind::Angle { PI } else { 1.0 };
            let (lower, upper) = (joint.limits.lower, joint.limits.upper);
            let (lower, upper) = match (lower.is_finite(), upper.is_finite()) {
                (true, true) => (lower, upper),
                // A single limit: as wide a range as without limits, from that side.
                (true, false) => (lower, lower + 2.0 * half),
                (false, true) => (upper - 2.0 * half, upper),
                (false, false) => (-half, half),
            };
            q[i] = lower + (upper - lower) * uniform();
            continue;
        }
        match &joint.kind {
            JointKind::Revolute { .. } | JointKind::Prismatic { .. } => {}
            JointKind::Custom(motion) => {
                for (x, kind) in q[i..].iter_mut().zip(motion.dof_kinds()) {
                    *x = within(if *kind == DofKind::Angle { PI } else { 1.0 });
                }
            }
            JointKind::Planar { .. } => {
                (q[i], q[i + 1], q[i + 2]) = (within(1.0), within(1.0), within(PI));
            }
            JointKind::Spherical => random_rotation(uniform, &mut q[i..i + 4]),
            JointKind::Floating => {
                for x in &mut q[i..i + 3] {
                    *x = within(1.0);
                }
                random_rotation(uniform, &mut q[i + 3..i + 7]);
            }
        }
    }
}

/// Random rotation, uniform over SO(3). [Shoemake 1992]
fn random_rotation(uniform: &mut dyn FnMut() -> f64, xyzw: &mut [f64]) {
    let (u, a, b) = (uniform(), uniform(), uniform());
    let (sa, ca) = (std::f64::consts::TAU * a).sin_cos();
    let (sb, cb) = (std::f64::consts::TAU * b).sin_cos();
    // Two points on circles whose squared radii 1 − u and u add up to one.
    let (r0, r1) = ((1.0 - u).sqrt(), u.sqrt());
    xyzw.copy_from_slice(&[r0 * sa, r0 * ca, r1 * sb, r1 * cb]);
}

#[inline]
fn quaternion(xyzw: &[f64]) -> UnitQuaternion {
    UnitQuaternion::new_unchecked(Quaternion::new(xyzw[3], xyzw[0], xyzw[1], xyzw[2]))
}

/// `exp(w dt) · q`, kept unit.
fn turn(xyzw: &[f64], w: &[f64], dt: f64, out: &mut [f64]) {
    let step = UnitQuaternion::from_scaled_axis(Vector3::new(w[0], w[1], w[2]) * dt);
    // A product of unit quaternions is unit up to round-off only, which adds up over many steps to a rotation that scales.
    let turned = (step * quaternion(xyzw)).into_inner().normalize();
    out.copy_from_slice(turned.coords.as_slice());
}

/// `log(q1 q0⁻¹)`, at most π. [rad] (3)
fn angle_between(q0: &[f64], q1: &[f64]) -> [f64; 3] {
    // The increment is on the left, q1 = exp(w) q0, because rates are in the axes of the parent side.
    let turn = quaternion(q1) * quaternion(q0).inverse();
    rotation_vector(&turn).into()
}

/// `log(R)`, accurate near zero and near π. [rad] (3)
pub(crate) fn rotation_vector(turn: &UnitQuaternion) -> Vector3 {
    let (w, v) = (turn.w, turn.imag());
    // Of q and −q, the same rotation, the one with w ≥ 0 has the turn of at most π.
    let (w, v) = if w < 0.0 { (-w, -v) } else { (w, v) };
    // `acos(w)` would lose half of the digits near w = 1, where most increments are; `atan2` of both parts does not.
    let sin = v.norm();
    // 2 atan2(s, w)/s → 2/w as s → 0.
    if sin < 1e-12 { v * (2.0 / w) } else { v * (2.0 * sin.atan2(w) / sin) }
}
