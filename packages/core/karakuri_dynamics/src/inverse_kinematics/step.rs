//! One step: errors, their Jacobian, and the damped least-squares solution.

use karakuri_model::Model;
use karakuri_spatial::Vector3;

use super::{IkCenterOfMass, IkProblem};
use crate::centroidal::{center_of_mass_velocity, total_inertia};
use crate::dense::solve_positive_definite;
use crate::frames::shifted;
use crate::position::rotation_vector;
use crate::topology::WORLD;
use crate::{Data, Reduction, center_of_mass, frame_pose};

/// Rows of one target: three of orientation, three of position.
pub(super) const ROWS: usize = 6;

/// Rows of the target of the centre of mass.
pub(super) const CENTER_OF_MASS_ROWS: usize = 3;

/// Errors of all targets at a position.
#[derive(Debug, Clone, Copy)]
pub(super) struct Errors {
    /// Cost `½ |r|²` of the weighted errors.
    pub(super) cost: f64,
    /// Largest position error of a target, free axes left out. [m]
    pub(super) position: f64,
    /// Largest orientation error of a target, free axes left out. [rad]
    pub(super) orientation: f64,
}

/// Weighted errors `r` at the position of the last `forward_kinematics`: of each target, then of the centre of mass. (n rows)
pub(super) fn errors(model: &Model, data: &Data, problem: &IkProblem<'_>, r: &mut [f64]) -> Errors {
    let mut worst = Errors { cost: 0.0, position: 0.0, orientation: 0.0 };
    let (of_frames, of_mass) = r.split_at_mut(ROWS * problem.targets.len());
    if let Some(IkCenterOfMass { position, weight }) = problem.center_of_mass {
        let shift = position - center_of_mass(model, data);
        of_mass.copy_from_slice(shift.component_mul(&weight).as_slice());
        worst.cost += 0.5 * of_mass.iter().map(|r| r * r).sum::<f64>();
        worst.position = counted(&shift, &weight);
    }
    for (target, r) in problem.targets.iter().zip(of_frames.chunks_exact_mut(ROWS)) {
        let (X_WT, X_WE) = (&target.pose_in_world, frame_pose(model, data, target.frame));
        // Frame E in the axes of T; the turn that is missing.
        let X_TE = X_WT.inverse() * X_WE;
        let turn = -rotation_vector(&X_TE.quaternion());
        let shift = -X_TE.translation;
        for (part, error, weight) in
            [(0, turn, target.orientation_weight), (3, shift, target.position_weight)]
        {
            for axis in 0..3 {
                r[part + axis] = weight[axis] * error[axis];
                worst.cost += 0.5 * r[part + axis] * r[part + axis];
            }
        }
        worst.orientation = worst.orientation.max(counted(&turn, &target.orientation_weight));
        worst.position = worst.position.max(counted(&shift, &target.position_weight));
    }
    worst
}

/// Length of the part of an error that is not free.
fn counted(error: &Vector3, weight: &Vector3) -> f64 {
    error.zip_map(weight, |e, w| if w > 0.0 { e } else { 0.0 }).norm()
}

/// Jacobian of the errors by the independent coordinates, row-major; needs `update_composites` where there is a target of the centre
/// of mass. (n rows × nr)
///
/// The Jacobian of the logarithm is left out: it is the identity at the solution, and along the error itself
/// everywhere, so the gradient is exact where the three axes of an orientation weigh the same.
pub(super) fn jacobian(
    model: &Model,
    data: &Data,
    problem: &IkProblem<'_>,
    reduction: &Reduction,
    J: &mut [f64],
) {
    let n = reduction.n_independent;
    J.fill(0.0);
    let (of_frames, of_mass) = J.split_at_mut(ROWS * n * problem.targets.len());
    if let Some(IkCenterOfMass { weight, .. }) = problem.center_of_mass {
        let mass = total_inertia(model, data).mass;
        for k in 0..data.subspace.len() {
            let velocity = center_of_mass_velocity(data, k, mass);
            let (column, factor) = reduction.row(k);
            for axis in 0..CENTER_OF_MASS_ROWS {
                of_mass[axis * n + column] += factor * weight[axis] * velocity[axis];
            }
        }
    }
    for (target, J) in problem.targets.iter().zip(of_frames.chunks_exact_mut(ROWS * n)) {
        let Some(body) = model.frames[target.frame.0].body else { continue };
        let R_WT = &target.pose_in_world.rotation;
        let p_OE = frame_pose(model, data, target.frame).translation - data.origin;
        let mut k = data.topology.last_dof[body.0];
        while k != WORLD {
            // A column of the frame's Jacobian in the target's axes; a follower adds to its leader's.
            let S = shifted(&data.subspace[k], &p_OE);
            let (turn, shift) = (R_WT.tr_mul(&S.angular), R_WT.tr_mul(&S.linear));
            let (column, factor) = reduction.row(k);
            for axis in 0..3 {
                J[axis * n + column] += factor * target.orientation_weight[axis] * turn[axis];
                J[(3 + axis) * n + column] += factor * target.position_weight[axis] * shift[axis];
            }
            k = data.topology.dof_parent[k];
        }
    }
}

/// Gradient `g = Jᵀ r`: push of the error on each coordinate. (nr)
pub(super) fn gradient(J: &[f64], r: &[f64], g: &mut [f64]) {
    g.fill(0.0);
    for (row, r) in J.chunks_exact(g.len()).zip(r) {
        for (g, J) in g.iter_mut().zip(row) {
            *g += J * r;
        }
    }
}

/// `δ = Jᵀ (J Jᵀ + λ t 1)⁻¹ r`, `t` the mean of the diagonal of `J Jᵀ`; false if that has no solution.
///
/// `A` (m × m) and `y` (m) are scratch.
pub(super) fn damped_step(
    J: &[f64],
    r: &[f64],
    damping: f64,
    A: &mut [f64],
    y: &mut [f64],
    delta: &mut [f64],
) -> bool {
    let (m, n) = (r.len(), delta.len());
    // `Jᵀ (J Jᵀ + λ)⁻¹ = (Jᵀ J + λ)⁻¹ Jᵀ`; the left side solves for the few errors instead of all joints. The solver reads the
    // lower triangle.
    for i in 0..m {
        for j in 0..=i {
            let rows = J[i * n..(i + 1) * n].iter().zip(&J[j * n..(j + 1) * n]);
            A[i * m + j] = rows.map(|(a, b)| a * b).sum();
        }
    }
    let trace: f64 = (0..m).map(|i| A[i * m + i]).sum();
    // Relative to the diagonal, a damping means the same for any size of the robot and any weights.
    let shift = damping * trace / m as f64;
    // No joint that may move acts on an error, or something is NaN.
    if !(trace > 0.0 && shift > 0.0) {
        return false;
    }
    for i in 0..m {
        A[i * m + i] += shift;
    }
    y.copy_from_slice(r);
    if !solve_positive_definite(A, y) {
        return false;
    }
    // δ = Jᵀ y.
    delta.fill(0.0);
    for (row, y) in J.chunks_exact(n).zip(y.iter()) {
        for (delta, J) in delta.iter_mut().zip(row) {
            *delta += J * y;
        }
    }
    delta.iter().all(|x| x.is_finite())
}
