//! Whole-body inverse kinematics: the posture for a desired centre of mass, trunk attitude and both soles.
//!
//! The floating base has the desired attitude of the trunk, and carries the centre of mass to its place for any posture of the
//! legs. This leaves the joints of the legs, from both soles relative to the centre of mass: Newton's method with a little
//! damping, `δ = (JᵀJ + λ 1)⁻¹ Jᵀ r`, `J = J_Sole − J_Com`. A step leaves about the error times the error where J was taken; J is
//! computed again where that is slow. Rows: each sole's position (3) and rotation (3; 2 where the legs cannot turn, whose soles
//! have the heading of the trunk). World axes, m and rad, lengths by the height of the centre of mass. All other joints stay as
//! in `q`.

use karakuri_dynamics::{
    Data, center_of_mass_jacobian, forward_kinematics, forward_kinematics_of, frame_pose,
};
use karakuri_model::{BodyId, FrameId, Model};
use karakuri_spatial::{Matrix3, Pose, Vector3};
use nalgebra::{Cholesky, DMatrix, DVector, Dyn, Matrix3xX};

use super::biped::Biped;

/// The last step needs no check where the product of the error and of that where the Jacobian was taken is below this: what it
/// leaves is that product times at most 10, with legs as far stretched as they may be. [-]
const SQUARED_TOLERANCE: f64 = 1e-8;
/// Largest number of Newton steps.
// One is usual, from the extrapolation; a robot that is set up from its posture takes some more.
const MOST_ITERATIONS: usize = 40;
/// Largest step. [rad, or part of the height]
// 23 degrees: far from the target Newton's step may bend a knee the other way.
const LARGEST_STEP: f64 = 0.4;
/// An error that is no smaller than this part of that where the Jacobian was taken asks for a new one. [-]
const SLOW: f64 = 0.1;
/// Damping: too small to be felt, large enough for a stretched knee. [-]
const DAMPING: f64 = 1e-10;

/// Desired centre of mass, trunk and soles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BodyTarget {
    /// Position of the centre of mass, `p_WCom`. [m] (3)
    pub com: Vector3,
    /// Attitude of the root link, `R_WB`. (3×3)
    pub trunk: Matrix3,
    /// Poses of the soles, `X_WSole`, left and right. (2)
    pub soles: [Pose; 2],
}

/// A joint of a leg.
#[derive(Debug, Clone, Copy)]
struct LegJoint {
    body: usize,
    q: usize,
    v: usize,
    /// Whether it moves the left foot, the right foot.
    moves: [bool; 2],
}

/// Solver of the inverse kinematics, with its scratch.
#[derive(Debug, Clone)]
pub struct WholeBody {
    data: Data,
    joints: Vec<LegJoint>,
    /// Bodies that these joints move, in ascending order.
    bodies: Vec<usize>,
    feet: [FrameId; 2],
    /// Pose of the foot's link in the sole, `X_SoleFoot`. (2)
    foot_in_sole: [Pose; 2],
    has_yaw: bool,
    length: f64,
    /// Share of the robot's mass: each body's, and that of its subtree. [-] (n bodies)
    part: Vec<f64>,
    hanging: Vec<f64>,
    /// Centre of mass of each body's subtree from the origin, `p_OCom`, times its share of the mass. [m] (n bodies)
    moment: Vec<Vector3>,
    /// Jacobian of the centre of mass for the joints of the legs. [m] (3 × n)
    com_jacobian: Matrix3xX<f64>,
    jacobian: DMatrix<f64>,
    /// Cholesky factor of `JᵀJ + λ 1`.
    factor: Option<Cholesky<f64, Dyn>>,
    residual: DVector<f64>,
    step: DVector<f64>,
}

/// Response of base and legs to one sole or joint, centre of mass, trunk and other soles being held. Rates by rates.
#[derive(Debug)]
pub(super) struct Follow {
    /// Response to a sole: left one forward and left, right one forward and left. [1/m or 1] (nv × 4)
    pub(super) feet: DMatrix<f64>,
    /// Response to a joint of no leg, without its own rate. (nv × nv)
    pub(super) joints: DMatrix<f64>,
}

/// Target out of reach: the error that is left. [rad, or part of the height]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutOfReach(pub f64);

impl WholeBody {
    /// Solver for a robot, with lengths counted by `length` [m].
    pub fn new(biped: &Biped, length: f64) -> Self {
        let model = &biped.model;
        let all = model.joints.iter().enumerate();
        let of_a_leg = all.filter_map(|(body, joint)| {
            let moves = biped.legs.each_ref().map(|leg| leg.joints.contains(&BodyId(body)));
            let joint = LegJoint { body, q: joint.q_start, v: joint.v_start, moves };
            moves.contains(&true).then_some(joint)
        });
        let joints: Vec<LegJoint> = of_a_leg.collect();
        // Only what hangs on the legs is posed again in an iteration; the upper body keeps its place on the base.
        let mut is_moved = vec![false; model.bodies.len()];
        for (i, body) in model.bodies.iter().enumerate() {
            let is_carried = body.parent.is_some_and(|parent| is_moved[parent.0]);
            is_moved[i] = is_carried || joints.iter().any(|joint| joint.body == i);
        }
        let mass: f64 = model.bodies.iter().map(|body| body.inertia.mass).sum();
        let part: Vec<f64> = model.bodies.iter().map(|body| body.inertia.mass / mass).collect();
        let mut hanging = part.clone();
        add_up(model, &mut hanging);
        // Three positions and three or two angles of each sole.
        let rows = if biped.has_yaw { 12 } else { 10 };
        Self {
            data: Data::new(model),
            feet: biped.legs.each_ref().map(|leg| leg.foot),
            foot_in_sole: biped.legs.each_ref().map(|leg| leg.sole_in_foot.inverse()),
            has_yaw: biped.has_yaw,
            length,
            moment: vec![Vector3::zeros(); part.len()],
            part,
            hanging,
            bodies: (0..is_moved.len()).filter(|i| is_moved[*i]).collect(),
            com_jacobian: Matrix3xX::zeros(joints.len()),
            jacobian: DMatrix::zeros(rows, joints.len()),
            factor: None,
            residual: DVector::zeros(rows),
            step: DVector::zeros(joints.len()),
            joints,
        }
    }

    /// Moves `q` (nq) to the target.
    ///
    /// # Errors
    /// When the iteration does not reach the tolerance: the target is out of the legs' reach, or the Jacobian is
    /// singular.
    pub fn solve(
        &mut self,
        biped: &Biped,
        target: &BodyTarget,
        q: &mut [f64],
    ) -> Result<(), OutOfReach> {
        set_trunk(target, q);
        forward_kinematics(&biped.model, &mut self.data, q);
        // The error now, and where the Jacobian was taken.
        let (mut left, mut taken) = (f64::INFINITY, 0.0);
        for _ in 0..MOST_ITERATIONS {
            left = self.measure(biped, target, q);
            // The Jacobian is taken again where the error has not decreased tenfold since the last time.
            if left >= SLOW * taken {
                if !self.linearize(biped) {
                    break;
                }
                taken = left;
            }
            self.take_step(q);
            // After the step, because a step leaves about the product of both errors: the check needs no further kinematics.
            if left * taken < SQUARED_TOLERANCE {
                return Ok(());
            }
            forward_kinematics_of(&biped.model, &mut self.data, q, &self.bodies);
        }
        Err(OutOfReach(left))
    }

    /// Response of base and legs to feet and joints, at `q` (nq).
    pub(super) fn follow(
        &mut self,
        biped: &Biped,
        target: &BodyTarget,
        q: &mut [f64],
    ) -> Option<Follow> {
        forward_kinematics(&biped.model, &mut self.data, q);
        self.measure(biped, target, q);
        if !self.linearize(biped) {
            return None;
        }
        let model = &biped.model;
        // `(JᵀJ + λ 1)⁻¹ Jᵀ`, from residuals to rates of the legs.
        let mut inverse = self.jacobian.transpose();
        self.factor.as_ref()?.solve_mut(&mut inverse);
        let sole = 3 + self.angles();
        // Forward and left of each sole; per length, as the rows are counted by it.
        let sole_to_legs = [0, 1, sole, sole + 1].map(|row| inverse.column(row) / self.length);
        let sole_to_legs = DMatrix::from_columns(&sole_to_legs);
        let both_to_legs = (inverse.columns(0, 3) + inverse.columns(sole, 3)) / self.length;
        let mut com = Matrix3xX::zeros(model.nv);
        center_of_mass_jacobian(model, &mut self.data, q, &mut com);
        // Both soles go where a joint takes the centre of mass.
        let joint_to_legs = both_to_legs * &com;
        Some(Follow {
            feet: self.with_base(model.nv, &sole_to_legs, None),
            joints: self.with_base(model.nv, &joint_to_legs, Some(&com)),
        })
    }

    /// Rates of the legs, and of the base that holds the centre of mass, moved besides by `com`. (nv × n)
    fn with_base(
        &self,
        nv: usize,
        legs: &DMatrix<f64>,
        com: Option<&Matrix3xX<f64>>,
    ) -> DMatrix<f64> {
        let mut rates = DMatrix::zeros(nv, legs.ncols());
        let mut base = -(&self.com_jacobian * legs);
        if let Some(com) = com {
            // And what the joint itself moves the centre of mass by.
            base -= com;
        }
        rates.rows_mut(0, 3).copy_from(&base);
        for (row, joint) in self.joints.iter().enumerate() {
            rates.row_mut(joint.v).copy_from(&legs.row(row));
        }
        rates
    }

    /// Scratch of the robot's dynamics.
    pub(super) fn data_mut(&mut self) -> &mut Data {
        &mut self.data
    }

    /// Moves the legs by a damped Newton step, and the base against the centre of mass.
    fn take_step(&mut self, q: &mut [f64]) {
        let Some(factor) = &self.factor else { return };
        self.step.gemv_tr(1.0, &self.jacobian, &self.residual, 0.0);
        factor.solve_mut(&mut self.step);
        let largest = self.step.amax();
        if largest > LARGEST_STEP {
            // All joints alike, so that the direction stays Newton's.
            self.step *= LARGEST_STEP / largest;
        }
        for (joint, x) in self.joints.iter().zip(&self.step) {
            q[joint.q] += x;
        }
        // The base gives back what the legs move the centre of mass by.
        let com = &self.com_jacobian * &self.step;
        for (q, moved) in q.iter_mut().zip(&com) {
            *q -= moved;
        }
    }

    fn angles(&self) -> usize {
        if self.has_yaw { 3 } else { 2 }
    }

    /// Residual at the position of the last `forward_kinematics`, but for the base, which then has the centre of mass at its
    /// place; the sum of the errors, because the largest of numbers and NaN may be a number.
    fn measure(&mut self, biped: &Biped, target: &BodyTarget, q: &mut [f64]) -> f64 {
        let model = &biped.model;
        // The centre of mass from the base's origin, as the sum over the tree; the base puts it at its desired place.
        for ((moment, part), com) in self.moment.iter_mut().zip(&self.part).zip(&self.data.com) {
            *moment = com * *part;
        }
        add_up(model, &mut self.moment);
        // Body 0 carries all others, and the shares of the mass add up to one.
        let p_OCom = self.moment[0];
        q[..3].copy_from_slice((target.com - p_OCom).as_slice());
        let (per_length, angles) = (1.0 / self.length, self.angles());
        let rows = self.residual.as_mut_slice().chunks_exact_mut(3 + angles);
        for (i, residual) in rows.enumerate() {
            let X_WT = target.soles[i] * self.foot_in_sole[i];
            let X_WFoot = frame_pose(model, &self.data, self.feet[i]);
            let p_ComFoot = X_WFoot.translation - self.data.origin - p_OCom;
            let away = (X_WT.translation - target.com - p_ComFoot) * per_length;
            let turn = turn(&X_WFoot.rotation, &X_WT.rotation);
            write(residual, &away, &turn);
        }
        self.residual.iter().map(|r| r.abs()).sum()
    }

    /// Jacobian where the residual was last measured, lengths by `length`, and the factor that goes with it.
    fn linearize(&mut self, biped: &Biped) -> bool {
        // `J_Com` of a leg's joint: it moves its subtree's share of the mass at the subtree's centre of mass.
        for (column, joint) in self.joints.iter().enumerate() {
            let S = &self.data.subspace[joint.v];
            let com =
                S.linear * self.hanging[joint.body] + S.angular.cross(&self.moment[joint.body]);
            self.com_jacobian.set_column(column, &com);
        }
        let (per_length, angles) = (1.0 / self.length, self.angles());
        // `J_Sole − J_Com`, sole by sole: a joint moves its own leg's sole, and both soles by the base that holds the CoM.
        let p_OFeet = self
            .feet
            .map(|foot| frame_pose(&biped.model, &self.data, foot).translation - self.data.origin);
        let rows = self.jacobian.nrows();
        let columns = self.jacobian.as_mut_slice().chunks_exact_mut(rows);
        for ((joint, com), column) in
            self.joints.iter().zip(self.com_jacobian.column_iter()).zip(columns)
        {
            let S = &self.data.subspace[joint.v];
            for (i, column) in column.chunks_exact_mut(3 + angles).enumerate() {
                let (mut away, mut turn) = (-com, Vector3::zeros());
                if joint.moves[i] {
                    away += S.linear + S.angular.cross(&p_OFeet[i]);
                    turn = S.angular;
                }
                write(column, &(away * per_length), &turn);
            }
        }
        let n = self.joints.len();
        // The memory of the last factor.
        let normal = self.factor.take().map(Cholesky::unpack_dirty);
        let mut normal = normal.unwrap_or_else(|| DMatrix::zeros(n, n));
        // The factorisation reads the lower half.
        for (k, column) in self.jacobian.as_slice().chunks_exact(rows).enumerate() {
            for (i, other) in self.jacobian.as_slice().chunks_exact(rows).enumerate().skip(k) {
                normal[(i, k)] = column.iter().zip(other).map(|(a, b)| a * b).sum();
            }
            normal[(k, k)] += DAMPING;
        }
        self.factor = normal.cholesky();
        self.factor.is_some()
    }
}

/// Gives the base the desired attitude of the trunk, by the quaternion nearer to the one it has.
fn set_trunk(target: &BodyTarget, q: &mut [f64]) {
    let desired = Pose::new(target.trunk, Vector3::zeros()).quaternion();
    let along: f64 = desired.coords.iter().zip(&q[3..7]).map(|(a, b)| a * b).sum();
    for (q, x) in q[3..7].iter_mut().zip(&desired.coords) {
        // The other sign is the same rotation, but interpolation and differences would go the long way round.
        *q = if along < 0.0 { -x } else { *x };
    }
}

/// Adds to each body's sum those of its children. (n bodies)
fn add_up<T: Copy + core::ops::AddAssign>(model: &Model, sums: &mut [T]) {
    for (i, body) in model.bodies.iter().enumerate().rev() {
        if let Some(parent) = body.parent {
            let sum = sums[i];
            sums[parent.0] += sum;
        }
    }
}

/// Writes the rows of a foot. (3 + 3 or 3 + 2)
fn write(rows: &mut [f64], away: &Vector3, turn: &Vector3) {
    for (row, x) in rows.iter_mut().zip(away.iter().chain(turn)) {
        *row = *x;
    }
}

/// Rotation vector from one orientation to another less than half a turn away, in world axes. [rad] (3)
fn turn(from: &Matrix3, to: &Matrix3) -> Vector3 {
    // `R − Rᵀ = 2 sin α [a]×` gives the axis, `tr R = 1 + 2 cos α` the angle.
    let R = to * from.transpose();
    let twice = Vector3::new(R.m32 - R.m23, R.m13 - R.m31, R.m21 - R.m12);
    let (sine, cosine) = (0.5 * twice.norm(), 0.5 * (R.trace() - 1.0));
    // For small turns `sin α = α`, and the quotient would be 0/0.
    if sine < 1e-12 { twice * 0.5 } else { twice * (0.5 * sine.atan2(cosine) / sine) }
}
