//! Inverse dynamics by a step of simulation: the drives' velocities are constrained to the target, and the impulses that
//! this takes are read.
//!
//! One semi-implicit step of the robot alone, without contacts, from the state in hand:
//!
//! ```text
//! M̂ (v' − v) = h (Jᵀ λ − c(q, v)),   J v' = J v + h j,   A = J M̂⁻¹ Jᵀ,   h A λ = h (j + J M̂⁻¹ c)
//! ```
//!
//! with a row for every driven degree of freedom (`j = v̇`, so that `v' = w_t = v + h v̇`) and one for every one that follows
//! through loops and couplings, whose right side `−Ġ v` keeps moving starts right. `M̂` holds the armature; then
//! `λ = ID(q, v, (w_t − v)/h)` exactly, for any h: it divides out. The state is a copy, so there is nothing to restore.
//! Forward dynamics alone is used (mass matrix, bias), which makes it a check on the other methods.
//! docs/theory/parallel-inverse-dynamics.md, "Alternative methods". Units: SI.

use karakuri_dynamics::dense::solve_positive_definite;
use karakuri_dynamics::{Data, MassFactor, crba_at_position, rnea};
use karakuri_model::Model;
use karakuri_spatial::Vector3;

use super::completed::CompletedMotion;
use super::{DesiredMotion, InverseDynamics, Realised};

/// The method `simulated`; see the module.
#[derive(Debug, Clone)]
pub struct Simulated {
    completed: CompletedMotion,
    factor: MassFactor,
    armature: Vec<f64>,
    damping: Vec<f64>,
    /// Accelerations of the bias: zeros. (nv)
    still: Vec<f64>,
    /// Response `M̂⁻¹ c` to the bias: the acceleration of the robot without drives, with minus sign. (nv)
    fall: Vec<f64>,
    /// `J`, `J M̂⁻¹` and `A`, row-major; at most nv rows. (nv × nv) each
    jacobian: Vec<f64>,
    response: Vec<f64>,
    operator: Vec<f64>,
    /// Right sides, then `λ`. (nv)
    lambda: Vec<f64>,
    /// The velocity coordinate of each row. (rows)
    dofs: Vec<usize>,
}

impl Simulated {
    /// Scratch for a model under the earth's gravity along -z.
    pub fn new(model: &Model) -> Self {
        Self::under(model, Data::new(model).gravity)
    }

    /// Scratch for a model under another gravity. [m/s²] (3)
    pub fn under(model: &Model, gravity: Vector3) -> Self {
        let nv = model.nv;
        let mut completed = CompletedMotion::new(model);
        completed.data.gravity = gravity;
        let per_dof = |value: fn(&karakuri_model::Joint) -> f64| {
            let each = |j: &karakuri_model::Joint| core::iter::repeat_n(value(j), j.kind.nv());
            model.joints.iter().flat_map(each).collect()
        };
        Self {
            completed,
            factor: MassFactor::new(model),
            armature: per_dof(|j| j.armature),
            damping: per_dof(|j| j.damping),
            still: vec![0.0; nv],
            fall: vec![0.0; nv],
            jacobian: vec![0.0; nv * nv],
            response: vec![0.0; nv * nv],
            operator: vec![0.0; nv * nv],
            lambda: Vec::with_capacity(nv),
            dofs: Vec::with_capacity(nv),
        }
    }

    /// Rows of the driven and of the dependent coordinates, with their right sides `j`.
    fn fill_rows(&mut self, driven: &[bool]) {
        let nv = self.completed.v.len();
        self.dofs.clear();
        self.lambda.clear();
        self.jacobian.fill(0.0);
        for k in 0..nv {
            let row = &mut self.jacobian[self.dofs.len() * nv..][..nv];
            // A dependent coordinate has the row of its loops with −Ġ v, a driven one a unit row with v̇; others have none.
            if let Some(right) = self.completed.constraints.acceleration_row(k, row) {
                self.lambda.push(right);
            } else if driven[k] {
                row[k] = 1.0;
                self.lambda.push(self.completed.vdot[k]);
            } else {
                continue;
            }
            self.dofs.push(k);
        }
    }

    /// Solves `A λ = j + J M̂⁻¹ c`; the rows are independent, so A is positive definite.
    fn solve(&mut self) {
        let (nv, rows) = (self.completed.v.len(), self.dofs.len());
        for i in 0..rows {
            // Row i of J M̂⁻¹, of the right side j + J M̂⁻¹ c, and of the lower triangle of A = J M̂⁻¹ Jᵀ.
            let run = i * nv..(i + 1) * nv;
            self.response[run.clone()].copy_from_slice(&self.jacobian[run.clone()]);
            self.factor.solve(&mut self.response[run.clone()]);
            self.lambda[i] += dot(&self.jacobian[run.clone()], &self.fall);
            for j in 0..=i {
                self.operator[i * rows + j] =
                    dot(&self.response[run.clone()], &self.jacobian[j * nv..(j + 1) * nv]);
            }
        }
        if !solve_positive_definite(&mut self.operator[..rows * rows], &mut self.lambda) {
            // Dependent rows have no unique answer: NaN, which the controller does not pass on to a motor.
            self.lambda.fill(f64::NAN);
        }
    }

    /// Largest effort that undriven degrees of freedom would need for the desired motion: `Nᵀ M̂ (v̇ − v̇')`. [N·m or N]
    fn undone(&mut self, driven: &[bool]) -> f64 {
        let nv = self.completed.v.len();
        if (0..nv).all(|k| driven[k] || self.completed.constraints.is_dependent(k)) {
            return 0.0;
        }
        // v̇' = M̂⁻¹ (Jᵀ λ − c), from the rows' responses.
        for (row, lambda) in self.response.chunks_exact(nv).zip(&self.lambda) {
            self.fall.iter_mut().zip(row).for_each(|(fall, r)| *fall -= r * lambda);
        }
        // The velocities are not needed any more in this update: their vector serves as scratch.
        let mut effort = core::mem::take(&mut self.completed.v);
        for (k, effort) in effort.iter_mut().enumerate() {
            // M̂ (v̇ − v̇') with M̂ = M + armature; `fall` is −v̇' now.
            let row = self.completed.data.mass_matrix.row(k);
            let rest =
                self.completed.vdot.iter().zip(&self.fall).map(|(desired, fall)| desired + fall);
            *effort = row.iter().zip(rest.clone()).map(|(m, x)| m * x).sum::<f64>()
                + self.armature[k] * rest.clone().nth(k).unwrap_or(0.0);
        }
        // Nᵀ projects it on the independent coordinates.
        self.completed.constraints.reduce_effort(&mut effort);
        let undone = effort.iter().fold(0.0, |most: f64, x| {
            // NaN stays, so that the caller sees it.
            if most.is_nan() || x.abs() <= most { most } else { x.abs() }
        });
        self.completed.v = effort;
        undone
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl InverseDynamics for Simulated {
    fn name(&self) -> &'static str {
        "simulated"
    }

    fn set_gravity(&mut self, gravity: &Vector3) {
        self.completed.data.gravity = *gravity;
    }

    fn restart(&mut self) {
        self.completed.constraints.restart();
    }

    fn efforts(&mut self, model: &Model, motion: &DesiredMotion<'_>, tau: &mut [f64]) -> Realised {
        let driven = motion.driven;
        let loop_gap = self.completed.follow(model, motion);
        let mut realised = Realised { loop_gap, ..Realised::default() };
        // The bias c: efforts of the motion without acceleration, with the damping of the joints.
        let (q, v, still) = (&self.completed.q, &self.completed.v, &self.still);
        let c = rnea(model, &mut self.completed.data, q, v, still, motion.external);
        // M̂⁻¹ is applied below: until then `fall` holds the bias c.
        for (k, (fall, c)) in self.fall.iter_mut().zip(c).enumerate() {
            *fall = c + self.damping[k] * self.completed.v[k];
        }
        crba_at_position(model, &mut self.completed.data);
        tau.fill(0.0);
        if self.factor.factorize(&self.completed.data.mass_matrix, &self.armature).is_err() {
            // A moving link without mass: no step can be taken.
            realised.missing_effort = f64::INFINITY;
            return realised;
        }
        self.factor.solve(&mut self.fall);
        self.fill_rows(driven);
        self.solve();
        for (&k, lambda) in self.dofs.iter().zip(&self.lambda) {
            // Multipliers of dependent coordinates are forces inside the loops, which no drive gives.
            if !self.completed.constraints.is_dependent(k) {
                tau[k] = *lambda;
            }
        }
        let undone = self.undone(driven);
        realised.missing_effort =
            undone.max(self.completed.constraints.distribute_effort(driven, tau));
        realised
    }
}
