//! First-order derivatives of inverse and forward dynamics, analytic.
//!
//! A small turn about dof j moves its subtree. With `W_j`, `B_j` the velocity and acceleration (gravity
//! included) in which dof j's point and axis stand, `Ψ̇_j = W_j × S_j` and `Ψ̈_j = B_j × S_j + W_j × Ψ̇_j`,
//! the wrench on a body i beyond j changes by
//!
//! ```text
//! ∂F_i/∂q_j = S_j ×* F_i + I_i Ψ̈_j + 2B_i Ψ̇_j
//! ∂F_i/∂v_j = I_i (Ṡ_j + Ψ̇_j) + 2B_i S_j,    2B X = V ×* I X + X ×* I V − I (V × X)
//! ```
//!
//! `I_i`, `B_i` and `F_i` add up along the tree in world axes, so each pair of dofs on one path to the root costs
//! two dot products. In world axes `B` sees only the angular part of X: one 3×3 matrix and the linear momentum.
//! [Carpentier & Mansard 2018; Singh, Russo & Wensing 2022]
//! Forward dynamics: `∂v̇/∂x = −M⁻¹ ∂τ/∂x` at `v̇ = aba(q, v, τ)`.
//!
//! Columns are by small changes of position in the model's velocity coordinates, `q ⊕ δ`: for a floating base the
//! translation and the turn of the root link, both in world axes (Pinocchio's free-flyer uses body axes). A floating or planar
//! joint turns about a point that it carries along, so its axes stand still in the joint's translation only.
//! The columns of a custom joint's own dofs, whose derivatives only the joint knows, are differences of inverse
//! dynamics: by velocity exact, for `τ` is quadratic in it, by position of fourth order.
//! Limits: no external wrenches; rigid bodies without armature.

use karakuri_model::{JointKind, Model};
use karakuri_spatial::{Force, Matrix3, Motion, Vector3, skew};
use nalgebra::DMatrix;

use crate::crba::update_inertias;
use crate::inertia::RigidInertia;
use crate::{
    Data, MassFactor, SingularInertia, aba, forward_kinematics, rnea, rnea_at_velocity,
    update_velocities,
};

/// Step of the differences: truncation and round-off are both near 1e-12. [rad or m]
const STEP: f64 = 1e-3;

/// Derivatives of the efforts `τ = rnea(q, v, v̇)`.
#[derive(Debug, Clone)]
pub struct RneaDerivatives {
    /// `∂τ/∂q`. (nv × nv)
    pub by_position: DMatrix<f64>,
    /// `∂τ/∂v`. (nv × nv)
    pub by_velocity: DMatrix<f64>,
    /// `∂τ/∂v̇ = M`. (nv × nv)
    pub by_acceleration: DMatrix<f64>,
    /// Rates of the axis of each dof. (nv)
    rates: Vec<AxisRates>,
    /// `B` of a body or of its subtree. (n bodies)
    quadratic: Vec<Quadratic>,
    /// Position and velocity at which differences are taken. (nq, nv)
    moved: (Vec<f64>, Vec<f64>),
}

/// Derivatives of the accelerations `v̇ = aba(q, v, τ)`.
#[derive(Debug, Clone)]
pub struct AbaDerivatives {
    /// `∂v̇/∂q`. (nv × nv)
    pub by_position: DMatrix<f64>,
    /// `∂v̇/∂v`. (nv × nv)
    pub by_velocity: DMatrix<f64>,
    /// `∂v̇/∂τ = M⁻¹`. (nv × nv)
    pub by_effort: DMatrix<f64>,
    inverse: RneaDerivatives,
    factor: MassFactor,
}

impl RneaDerivatives {
    /// Allocates for a model.
    pub fn new(model: &Model) -> Self {
        let matrix = DMatrix::zeros(model.nv, model.nv);
        Self {
            by_position: matrix.clone(),
            by_velocity: matrix.clone(),
            by_acceleration: matrix,
            rates: vec![AxisRates::default(); model.nv],
            quadratic: vec![Quadratic::default(); model.bodies.len()],
            moved: (vec![0.0; model.nq], vec![0.0; model.nv]),
        }
    }
}

impl AbaDerivatives {
    /// Allocates for a model.
    pub fn new(model: &Model) -> Self {
        let matrix = DMatrix::zeros(model.nv, model.nv);
        Self {
            by_position: matrix.clone(),
            by_velocity: matrix.clone(),
            by_effort: matrix,
            inverse: RneaDerivatives::new(model),
            factor: MassFactor::new(model),
        }
    }
}

/// Derivatives of inverse dynamics, written to `out`; `data.effort` holds the efforts afterwards.
pub fn rnea_derivatives(
    model: &Model,
    data: &mut Data,
    q: &[f64],
    v: &[f64],
    vdot: &[f64],
    out: &mut RneaDerivatives,
) {
    // First, because each difference runs inverse dynamics elsewhere; all below leaves `data` at q, v and v̇.
    if data.topology.has_custom() {
        fill_custom_columns(model, data, [q, v, vdot], out);
    }
    forward_kinematics(model, data, q);
    update_velocities(model, data, v);
    rnea_at_velocity(model, data, v, vdot, &[]);
    update_inertias(model, data);
    for (i, quadratic) in out.quadratic.iter_mut().enumerate() {
        *quadratic = Quadratic::of_body(&data.composite[i], &data.velocity[i]);
    }
    update_axis_rates(model, data, &mut out.rates);
    // From the leaves on: when a joint is reached, `I`, `2B` and `F` of its body are sums over its subtree.
    for (i, body) in model.bodies.iter().enumerate().rev() {
        for k in data.topology.dofs(i) {
            fill_columns(data, k, out);
            fill_rows(data, k, out);
        }
        if let Some(p) = body.parent {
            let (inertia, quadratic) = (data.composite[i], out.quadratic[i]);
            data.composite[p.0].add(&inertia);
            out.quadratic[p.0].add(&quadratic);
        }
    }
}

/// Derivatives of forward dynamics, written to `out`; `data.vdot` holds the accelerations afterwards.
///
/// # Errors
///
/// If the mass matrix is singular.
pub fn aba_derivatives(
    model: &Model,
    data: &mut Data,
    q: &[f64],
    v: &[f64],
    tau: &[f64],
    out: &mut AbaDerivatives,
) -> Result<(), SingularInertia> {
    aba(model, data, q, v, tau, &[])?;
    // ∂v̇/∂x = −M⁻¹ ∂τ/∂x at this v̇, with the factor of M = ∂τ/∂v̇. [Carpentier & Mansard 2018]
    // The bias efforts depend on x at a fixed v̇, which therefore has to be that of the forward dynamics.
    let vdot = std::mem::take(&mut data.vdot);
    rnea_derivatives(model, data, q, v, &vdot, &mut out.inverse);
    data.vdot = vdot;
    out.factor.factorize(&out.inverse.by_acceleration, &[])?;
    out.by_effort.fill_with_identity();
    out.by_position.copy_from(&out.inverse.by_position);
    out.by_velocity.copy_from(&out.inverse.by_velocity);
    out.by_position.neg_mut();
    out.by_velocity.neg_mut();
    for matrix in [&mut out.by_effort, &mut out.by_position, &mut out.by_velocity] {
        for column in matrix.as_mut_slice().chunks_exact_mut(model.nv) {
            out.factor.solve(column);
        }
    }
    Ok(())
}

/// Rates of the axis of a dof.
#[derive(Debug, Clone, Copy, Default)]
struct AxisRates {
    /// Rate `Ψ̇ = W × S`.
    psi_rate: Motion,
    /// Second rate `Ψ̈ = B × S + W × Ψ̇`.
    psi_acceleration: Motion,
    /// Sum `Ṡ + Ψ̇`.
    rate_sum: Motion,
    /// Whether the other axes of the same joint stand still when this dof moves.
    is_rotation: bool,
}

fn update_axis_rates(model: &Model, data: &Data, rates: &mut [AxisRates]) {
    for (i, (body, joint)) in model.bodies.iter().zip(&model.joints).enumerate() {
        // Coordinates of a joint begin with its translations: one number parts them from its turns.
        let n_translations = match joint.kind {
            JointKind::Prismatic { .. } => 1,
            JointKind::Planar { .. } => 2,
            JointKind::Floating => 3,
            JointKind::Revolute { .. } | JointKind::Spherical | JointKind::Custom(_) => 0,
        };
        let parent = body.parent.map_or(Motion::default(), |p| data.acceleration[p.0]);
        let C = data.carrier[i];
        for k in data.topology.dofs(i) {
            let is_rotation = k >= joint.v_start + n_translations;
            // Only the angular part counts for a translation, and that is the parent's.
            // A turn about S_j turns what moves beyond body i: `∂V_k/∂q_j = S_j × (V_k − V_i)`, hence W = V_i for rotations.
            let (W, mut B) =
                if is_rotation { (data.velocity[i], data.acceleration[i]) } else { (C, parent) };
            // Gravity counts as the acceleration −g of the base.
            B.linear -= data.gravity;
            let S = &data.subspace[k];
            let psi_rate = W.cross_motion(S);
            rates[k] = AxisRates {
                psi_rate,
                psi_acceleration: B.cross_motion(S) + W.cross_motion(&psi_rate),
                rate_sum: C.cross_motion(S) + psi_rate,
                is_rotation,
            };
        }
    }
}

/// Columns of the dofs of custom joints, by differences: wrong within two steps of where a joint's own rate is not smooth.
fn fill_custom_columns(
    model: &Model,
    data: &mut Data,
    [q, v, vdot]: [&[f64]; 3],
    out: &mut RneaDerivatives,
) {
    for joint in model.joints.iter().filter(|j| matches!(j.kind, JointKind::Custom(_))) {
        for i in 0..joint.kind.nv() {
            let (at, k) = (joint.q_start + i, joint.v_start + i);
            out.by_position.column_mut(k).fill(0.0);
            out.by_velocity.column_mut(k).fill(0.0);
            out.moved.0.copy_from_slice(q);
            out.moved.1.copy_from_slice(v);
            // By position five points, of fourth order; by velocity two, exact where efforts are quadratic in the rates.
            for (steps, weight) in [(-2.0, 1.0), (-1.0, -8.0), (1.0, 8.0), (2.0, -1.0)] {
                out.moved.0[at] = q[at] + steps * STEP;
                let tau = rnea(model, data, &out.moved.0, v, vdot, &[]);
                for (out, tau) in out.by_position.column_mut(k).iter_mut().zip(tau) {
                    *out += weight * tau / (12.0 * STEP);
                }
            }
            for sign in [-1.0, 1.0] {
                // The central difference of a quadratic is exact at any step; one as large as 1 has the least round-off.
                out.moved.1[k] = v[k] + sign;
                let tau = rnea(model, data, q, &out.moved.1, vdot, &[]);
                for (out, tau) in out.by_velocity.column_mut(k).iter_mut().zip(tau) {
                    *out += 0.5 * sign * tau;
                }
            }
        }
    }
}

/// Effect of dof k on the efforts of its own joint and of all before it.
fn fill_columns(data: &Data, k: usize, out: &mut RneaDerivatives) {
    let topology = &data.topology;
    let i = topology.dof_body[k];
    let (inertia, quadratic, S) = (&data.composite[i], &out.quadratic[i], &data.subspace[k]);
    let AxisRates { psi_rate, psi_acceleration, rate_sum, is_rotation } = out.rates[k];
    // Change of the subtree's wrench by q_k: I Ψ̈ + 2B Ψ̇ and S ×* F; by v_k: I (Ṡ + Ψ̇) + 2B S; by v̇_k: I S.
    let inside = inertia.mul(&psi_acceleration) + quadratic.mul(&psi_rate.angular);
    let before = inside + S.cross_force(&data.joint_force[i]);
    let by_velocity = inertia.mul(&rate_sum) + quadratic.mul(&S.angular);
    let momentum = inertia.mul(S);
    let first = topology.first_dof[i];
    // From the joint's own last dof on, as all dofs of one joint act on each other.
    for j in topology.chain(topology.last_dof[i]) {
        let S_j = &data.subspace[j];
        if !topology.is_custom[k] {
            // A translation carries the joint's own axes along, which cancels S ×* F there.
            let by_position = if j >= first && !is_rotation { &inside } else { &before };
            out.by_position[(j, k)] = S_j.dot(by_position);
            out.by_velocity[(j, k)] = S_j.dot(&by_velocity);
        }
        out.by_acceleration[(j, k)] = S_j.dot(&momentum);
    }
}

/// Effect on the effort of dof k of all dofs in the joints before its own.
fn fill_rows(data: &Data, k: usize, out: &mut RneaDerivatives) {
    let topology = &data.topology;
    let i = topology.dof_body[k];
    let S = &data.subspace[k];
    let momentum = data.composite[i].mul(S);
    let spin = out.quadratic[i].tr_mul(S);
    for j in topology.chain(topology.dof_parent[topology.first_dof[i]]) {
        let rates = &out.rates[j];
        // S · (I Ψ̈_j + 2B Ψ̇_j) and S · (I (Ṡ_j + Ψ̇_j) + 2B S_j), with the products with S taken once.
        if !topology.is_custom[j] {
            out.by_position[(k, j)] =
                rates.psi_acceleration.dot(&momentum) + spin.dot(&rates.psi_rate.angular);
            out.by_velocity[(k, j)] =
                rates.rate_sum.dot(&momentum) + spin.dot(&data.subspace[j].angular);
        }
        // M is symmetric, and `fill_columns` has computed this entry.
        out.by_acceleration[(k, j)] = out.by_acceleration[(j, k)];
    }
}

/// `2B` of one or several bodies: moment and force for an angular velocity; blind to linear ones.
#[derive(Debug, Clone, Copy, Default)]
struct Quadratic {
    /// `[ω]× (2J − tr J) − 2 m [c]× [u]×`, J and u about O. [kg·m²/s]
    moment: Matrix3,
    /// Twice the linear momentum. [kg·m/s]
    momentum: Vector3,
}

impl Quadratic {
    fn of_body(inertia: &RigidInertia, V: &Motion) -> Self {
        let J = inertia.rotational.to_matrix();
        // `[Jω]× = tr(J) [ω]× − [ω]× J − J [ω]×` turns the three terms of the rotation into this one.
        let spin = skew(&V.angular) * (J * 2.0 - Matrix3::identity() * J.trace());
        let shift = skew(&inertia.first_moment) * skew(&V.linear) * 2.0;
        Self { moment: spin - shift, momentum: inertia.mul(V).force * 2.0 }
    }

    fn add(&mut self, o: &Self) {
        self.moment += o.moment;
        self.momentum += o.momentum;
    }

    #[inline]
    fn mul(&self, angular: &Vector3) -> Force {
        Force::new(self.moment * angular, angular.cross(&self.momentum))
    }

    /// Transpose times a motion; the linear part of the result is zero.
    #[inline]
    fn tr_mul(&self, S: &Motion) -> Vector3 {
        self.moment.tr_mul(&S.angular) + self.momentum.cross(&S.linear)
    }
}
