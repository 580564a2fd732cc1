//! Whole-body inverse kinematics: centre of mass, trunk and both soles where they shall be, one posture.
//!
//! Newton's method with a little damping on the stacked errors, over the floating base and the legs:
//! `δ = (JᵀJ + λ 1)⁻¹ Jᵀ r`; the inverse goes on from sample to sample, bettered by what each step does [Broyden 1965],
//! and is taken anew where the error does not become ten times smaller. Rows: centre of mass (3), trunk rotation (3), each sole's position (3) and rotation (3; 2
//! where the legs cannot turn, whose soles head as the trunk does). World axes, m and rad, lengths by the height of the
//! centre of mass. All other joints stay where `q` has them.

use karakuri_dynamics::{
    Data, center_of_mass, center_of_mass_jacobian, forward_kinematics, frame_jacobian, frame_pose,
    integrate,
};
use karakuri_model::FrameId;
use karakuri_spatial::{Matrix3, Pose, Vector3};
use nalgebra::{DMatrix, DVector, Matrix3xX, Matrix6xX};

use super::Biped;

/// Errors below this are gone after one more step, which nobody needs to check: it makes them at least [`SLOW`] times smaller.
/// [rad, or part of the height of the centre of mass]
const TOLERANCE: f64 = 1e-6;
/// Newton steps before it gives up.
const MOST_ITERATIONS: usize = 40;
/// Largest step. [rad, or part of the height]
const LARGEST_STEP: f64 = 0.4;
/// An error that is no smaller than this part of the last one asks for a new Jacobian. [-]
const SLOW: f64 = 0.1;
/// Damping: too small to be felt, large enough for a stretched knee. [-]
const DAMPING: f64 = 1e-10;

/// Where everything shall be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BodyTarget {
    /// `p_WCom`. [m] (3)
    pub com: Vector3,
    /// `R_WB` of the root link. (3×3)
    pub trunk: Matrix3,
    /// `X_WSole`, left and right. (2)
    pub soles: [Pose; 2],
}

/// The solver and its scratch.
#[derive(Debug, Clone)]
pub struct WholeBody {
    data: Data,
    /// Velocity coordinates that move.
    active: Vec<usize>,
    feet: [FrameId; 2],
    /// `X_SoleFoot`. (2)
    foot_in_sole: [Pose; 2],
    has_yaw: bool,
    length: f64,
    com_jacobian: Matrix3xX<f64>,
    foot_jacobian: Matrix6xX<f64>,
    jacobian: DMatrix<f64>,
    normal: DMatrix<f64>,
    residual: DVector<f64>,
    /// From residuals to steps.
    inverse: DMatrix<f64>,
    /// That inverse still is what it says.
    is_linearized: bool,
    step: DVector<f64>,
    /// Of the residual, by the last step.
    change: DVector<f64>,
    guess: DVector<f64>,
    row: DVector<f64>,
    rates: Vec<f64>,
    next: Vec<f64>,
}

/// How base and legs move, centre of mass, trunk and soles being held but for one thing. Rates by rates.
#[derive(Debug)]
pub(super) struct Follow {
    /// A sole moves: left one forward and left, right one forward and left. [1/m or 1] (nv × 4)
    pub(super) feet: DMatrix<f64>,
    /// A joint moves; that joint's own rate not counted. (nv × nv)
    pub(super) joints: DMatrix<f64>,
}

/// Not reached: the error that is left. [rad, or part of the height]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutOfReach(pub f64);

impl WholeBody {
    /// For a robot, errors of length counted by `length` [m].
    pub fn new(biped: &Biped, length: f64) -> Self {
        let model = &biped.model;
        let joints = biped.legs.iter().flat_map(|leg| &leg.joints);
        let mut active: Vec<usize> = (0..6).collect();
        active.extend(joints.map(|j| model.joints[j.0].v_start));
        active.sort_unstable();
        active.dedup();
        let rows = if biped.has_yaw { 18 } else { 16 };
        Self {
            data: Data::new(model),
            feet: biped.legs.each_ref().map(|leg| leg.foot),
            foot_in_sole: biped.legs.each_ref().map(|leg| leg.sole_in_foot.inverse()),
            has_yaw: biped.has_yaw,
            length,
            com_jacobian: Matrix3xX::zeros(model.nv),
            foot_jacobian: Matrix6xX::zeros(model.nv),
            jacobian: DMatrix::zeros(rows, active.len()),
            normal: DMatrix::zeros(0, 0),
            residual: DVector::zeros(rows),
            inverse: DMatrix::zeros(active.len(), rows),
            is_linearized: false,
            step: DVector::zeros(active.len()),
            change: DVector::zeros(rows),
            guess: DVector::zeros(active.len()),
            row: DVector::zeros(rows),
            rates: vec![0.0; model.nv],
            next: vec![0.0; model.nq],
            active,
        }
    }

    /// Moves `q` (nq) until all is where it shall be.
    pub fn solve(
        &mut self,
        biped: &Biped,
        target: &BodyTarget,
        q: &mut [f64],
    ) -> Result<(), OutOfReach> {
        let mut left = self.measure(biped, target, q);
        for _ in 0..MOST_ITERATIONS {
            if !self.is_linearized && !self.invert(biped, q) {
                break;
            }
            self.take_step(biped, q);
            if left < TOLERANCE {
                return Ok(());
            }
            self.change.copy_from(&self.residual);
            let before = left;
            left = self.measure(biped, target, q);
            self.is_linearized = left < SLOW * before;
            if self.is_linearized {
                self.learn();
            }
        }
        Err(OutOfReach(left))
    }

    /// How base and legs follow feet and joints, at `q` (nq).
    pub(super) fn follow(
        &mut self,
        biped: &Biped,
        target: &BodyTarget,
        q: &[f64],
    ) -> Option<Follow> {
        self.measure(biped, target, q);
        if !self.invert(biped, q) {
            return None;
        }
        self.forget();
        let nv = biped.model.nv;
        // From residuals to rates of all joints.
        let mut rates = DMatrix::zeros(nv, self.inverse.ncols());
        for (row, &k) in self.active.iter().enumerate() {
            let scale = if k < 3 { self.length } else { 1.0 };
            rates.row_mut(k).copy_from(&(self.inverse.row(row) * scale));
        }
        let per_length = 1.0 / self.length;
        let second = 9 + self.angles();
        let columns = [6, 7, second, second + 1].map(|row| rates.column(row) * per_length);
        let feet = DMatrix::from_columns(&columns);
        let joints = rates.columns(0, 3) * &self.com_jacobian * -per_length;
        Some(Follow { feet, joints })
    }

    /// Scratch of the robot's dynamics.
    pub(super) fn data_mut(&mut self) -> &mut Data {
        &mut self.data
    }

    /// `q` less the residual, as far as the inverse knows.
    fn take_step(&mut self, biped: &Biped, q: &mut [f64]) {
        self.step.gemv(1.0, &self.inverse, &self.residual, 0.0);
        let largest = self.step.amax();
        if largest > LARGEST_STEP {
            self.step *= LARGEST_STEP / largest;
        }
        self.rates.fill(0.0);
        for (k, x) in self.active.iter().zip(&self.step) {
            self.rates[*k] = if *k < 3 { x * self.length } else { *x };
        }
        integrate(&biped.model, q, &self.rates, 1.0, &mut self.next);
        q.copy_from_slice(&self.next);
    }

    /// The next posture has nothing to do with the last one.
    pub fn forget(&mut self) {
        self.is_linearized = false;
    }

    /// `(JᵀJ + λ 1)⁻¹ Jᵀ` at `q`, where the residual was last measured.
    fn invert(&mut self, biped: &Biped, q: &[f64]) -> bool {
        self.linearize(biped, q);
        let n = self.active.len();
        let mut normal = core::mem::replace(&mut self.normal, DMatrix::zeros(0, 0));
        if normal.nrows() != n {
            normal = DMatrix::zeros(n, n);
        }
        normal.gemm_tr(1.0, &self.jacobian, &self.jacobian, 0.0);
        for k in 0..n {
            normal[(k, k)] += DAMPING;
        }
        let Some(factor) = normal.cholesky() else { return false };
        self.jacobian.transpose_to(&mut self.inverse);
        factor.solve_mut(&mut self.inverse);
        self.normal = factor.unpack_dirty();
        self.is_linearized = true;
        true
    }

    /// Makes the inverse say what the last step did to the residual. [Broyden 1965]
    fn learn(&mut self) {
        self.change -= &self.residual;
        self.guess.gemv(1.0, &self.inverse, &self.change, 0.0);
        let along = self.step.dot(&self.guess);
        if along.abs() > 1e-3 * self.step.norm_squared() {
            self.row.gemv_tr(1.0, &self.inverse, &self.step, 0.0);
            self.guess -= &self.step;
            self.inverse.ger(-1.0 / along, &self.guess, &self.row, 1.0);
        }
    }

    fn angles(&self) -> usize {
        if self.has_yaw { 3 } else { 2 }
    }

    /// Residual at `q`; the sum of the errors, because the largest of numbers and NaN
    /// may be a number.
    fn measure(&mut self, biped: &Biped, target: &BodyTarget, q: &[f64]) -> f64 {
        let model = &biped.model;
        forward_kinematics(model, &mut self.data, q);
        let per_length = 1.0 / self.length;
        let com = (target.com - center_of_mass(model, &self.data)) * per_length;
        self.residual.fixed_rows_mut::<3>(0).copy_from(&com);
        let X_WB = self.data.pose_in_world[0];
        self.residual.fixed_rows_mut::<3>(3).copy_from(&turn(&X_WB.rotation, &target.trunk));
        let angles = self.angles();
        let mut first = 6;
        for (i, foot) in self.feet.iter().enumerate() {
            let X_WT = target.soles[i] * self.foot_in_sole[i];
            let X_WFoot = frame_pose(model, &self.data, *foot);
            let away = (X_WT.translation - X_WFoot.translation) * per_length;
            let turn = turn(&X_WFoot.rotation, &X_WT.rotation);
            self.residual.fixed_rows_mut::<3>(first).copy_from(&away);
            self.residual.rows_mut(first + 3, angles).copy_from(&turn.rows(0, angles));
            first += 3 + angles;
        }
        self.residual.iter().map(|r| r.abs()).sum()
    }

    /// Jacobian where the residual was last measured; lengths by `length` on both sides.
    fn linearize(&mut self, biped: &Biped, q: &[f64]) {
        center_of_mass_jacobian(&biped.model, &mut self.data, q, &mut self.com_jacobian);
        let (per_length, angles) = (1.0 / self.length, self.angles());
        for (column, &k) in self.active.iter().enumerate() {
            let scale = if k < 3 { 1.0 } else { per_length };
            for row in 0..3 {
                self.jacobian[(row, column)] = self.com_jacobian[(row, k)] * scale;
                self.jacobian[(3 + row, column)] = f64::from(u8::from(k == 3 + row));
            }
        }
        let mut first = 6;
        for foot in self.feet {
            frame_jacobian(&biped.model, &self.data, foot, &mut self.foot_jacobian);
            for (column, &k) in self.active.iter().enumerate() {
                let scale = if k < 3 { 1.0 } else { per_length };
                for row in 0..3 {
                    self.jacobian[(first + row, column)] = self.foot_jacobian[(3 + row, k)] * scale;
                }
                for row in 0..angles {
                    self.jacobian[(first + 3 + row, column)] =
                        if k < 3 { 0.0 } else { self.foot_jacobian[(row, k)] };
                }
            }
            first += 3 + angles;
        }
    }
}

/// Rotation vector from one orientation to another less than half a turn away, in world axes. [rad] (3)
fn turn(from: &Matrix3, to: &Matrix3) -> Vector3 {
    let R = to * from.transpose();
    let twice = Vector3::new(R.m32 - R.m23, R.m13 - R.m31, R.m21 - R.m12);
    let (sine, cosine) = (0.5 * twice.norm(), 0.5 * (R.trace() - 1.0));
    if sine < 1e-12 { twice * 0.5 } else { twice * (0.5 * sine.atan2(cosine) / sine) }
}
