//! Forward dynamics: `v̇ = (M + diag(extra))⁻¹ (τ − c(q, v) + Σ Jᵀ F_ext)`.
//!
//! The articulated-body algorithm in three stages that are useful alone: bias by recursive Newton-Euler, the
//! articulated factor, one application of its inverse. [Featherstone 2008, §7.3]

use karakuri_model::Model;
use karakuri_spatial::Force;

use crate::rnea::bias_at_velocity;
use crate::{Articulated, Data, SingularInertia, forward_kinematics, update_velocities};

/// Generalized accelerations under the efforts `tau`. [rad/s² or m/s²] (nv)
///
/// `external`: wrench on every body at its frame's origin, in world axes, or empty. [N·m; N] (n bodies)
/// Rigid bodies only; for armature use [`aba_at_velocity`], which takes a diagonal and keeps the factor.
///
/// # Errors
///
/// If the mass matrix is singular.
#[doc(alias = "forward dynamics")]
pub fn aba<'a>(
    model: &Model,
    data: &'a mut Data,
    q: &[f64],
    v: &[f64],
    tau: &[f64],
    external: &[Force],
) -> Result<&'a [f64], SingularInertia> {
    forward_kinematics(model, data, q);
    update_velocities(model, data, v);
    let mut factor = data.articulated.take().unwrap_or_else(|| Box::new(Articulated::new(model)));
    let result = factor
        .factorize(model, data, &[])
        .map(|()| solve(model, data, &mut factor, v, tau, external));
    data.articulated = Some(factor);
    result.map(|()| data.vdot.as_slice())
}

/// As [`aba`], at the position and velocity of the last `forward_kinematics` and `update_velocities`, with a
/// factor computed there.
pub fn aba_at_velocity<'a>(
    model: &Model,
    data: &'a mut Data,
    factor: &mut Articulated,
    v: &[f64],
    tau: &[f64],
    external: &[Force],
) -> &'a [f64] {
    solve(model, data, factor, v, tau, external);
    &data.vdot
}

fn solve(
    model: &Model,
    data: &mut Data,
    factor: &mut Articulated,
    v: &[f64],
    tau: &[f64],
    external: &[Force],
) {
    bias_at_velocity(model, data, v, external);
    // v̇ = M̂⁻¹ (τ − c), with the external wrenches in c.
    for ((vdot, tau), c) in data.vdot.iter_mut().zip(tau).zip(&data.effort) {
        *vdot = tau - c;
    }
    factor.apply_inverse(model, &mut data.vdot);
}
