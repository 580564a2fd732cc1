//! Compensation of the legs' angular momentum by waist and arms, which the floor then need not take.
//!
//! With the feet at `u` from the centre of mass (forward, left; both feet) the legs' angular momentum about it is `h = L_f u̇`,
//! that of waist and arms `L_u δ̇`; both with centre of mass and trunk held by base and legs. The joints satisfy
//! `L_u δ = −D L_f (u − u_stand)`, `D` the desired parts about each axis, with the least `δᵀ W⁻¹ δ`, `W` the squares of the
//! joints' ranges. Linear about the standing posture, so that nothing drifts: the feet's positions determine those of the arms.
//!
//! Centroidal momentum: [Orin, Goswami & Lee 2013]. Units: SI; axes of the walker: forward, left, up.

use karakuri_dynamics::centroidal_momentum_matrix;
use karakuri_model::JointKind;
use nalgebra::{DMatrix, Matrix3, Matrix6xX};

use super::biped::Biped;
use super::place::turned;
use super::settings::UpperBodySettings;
use super::whole_body::{BodyTarget, WholeBody};

/// Largest swing of a joint from its posture. [rad]
// 34 degrees, about as far as people swing their arms; the relation is linear about the posture and wrong far from it.
const WIDEST: f64 = 0.6;
/// Damping, by the trace of what is inverted: too small to be felt where an axis can be served at all. [-]
const DAMPING: f64 = 1e-6;

/// A joint that belongs to no leg.
#[derive(Debug, Clone, Copy)]
struct Swinging {
    q: usize,
    v: usize,
    /// Position in the posture, and greatest swing from there. [rad]
    rest: f64,
    room: f64,
}

/// Positions of waist and arms as a function of the feet's.
#[derive(Debug, Clone)]
pub(super) struct UpperBody {
    joints: Vec<Swinging>,
    /// Gain `−W L_uᵀ (L_u W L_uᵀ)⁻¹ D L_f`. [rad/m] (n × 4)
    gain: DMatrix<f64>,
    /// Positions of the feet from the centre of mass in standing, `u_stand`. [m] (4)
    standing: [f64; 4],
}

impl UpperBody {
    /// Compensation of a robot at a standing target; where it cannot stand so, waist and arms stay in their posture.
    pub(super) fn new(
        biped: &Biped,
        standing: &BodyTarget,
        kinematics: &mut WholeBody,
        parts: &UpperBodySettings,
    ) -> Self {
        let joints = swinging(biped);
        let n = joints.len();
        let mut upper = Self { gain: DMatrix::zeros(n, 4), standing: away(standing), joints };
        let mut q = biped.posture.clone();
        q[2] = standing.com.z;
        if kinematics.solve(biped, standing, &mut q).is_err() {
            return upper;
        }
        let Some(follow) = kinematics.follow(biped, standing, &mut q) else { return upper };
        let model = &biped.model;
        let mut matrix = Matrix6xX::zeros(model.nv);
        centroidal_momentum_matrix(model, kinematics.data_mut(), &q, &mut matrix);
        // `L_f` and `L_u` from the centroidal momentum matrix: a foot or a joint moves, and base and legs follow.
        let angular = turned_back(standing) * matrix.fixed_rows::<3>(0);
        let feet = &angular * follow.feet;
        let moves = DMatrix::from_fn(3, n, |row, k| {
            let v = upper.joints[k].v;
            angular[(row, v)] + (angular.row(row) * follow.joints.column(v))[0]
        });
        // `−W L_uᵀ (L_u W L_uᵀ)⁻¹ D L_f`: of all motions with the desired momentum the one of least norm
        // of joints over their ranges.
        let weighted =
            DMatrix::from_fn(n, 3, |k, row| upper.joints[k].room.powi(2) * moves[(row, k)]);
        let normal = &moves * &weighted;
        let damped = Matrix3::from_fn(|i, j| normal[(i, j)])
            // Without joints the trace is 0, and the matrix must have an inverse all the same.
            + Matrix3::identity() * (DAMPING * normal.trace()).max(f64::MIN_POSITIVE);
        let Some(inverse) = damped.try_inverse() else { return upper };
        let desired = Matrix3::from_diagonal(&[parts.roll, parts.pitch, parts.yaw].into()) * feet;
        upper.gain = -(weighted * inverse * desired);
        upper
    }

    /// Writes the positions of waist and arms into `q` (nq).
    pub(super) fn write(&self, target: &BodyTarget, q: &mut [f64]) {
        let u = away(target);
        for (k, joint) in self.joints.iter().enumerate() {
            let angle: f64 = (0..4).map(|i| self.gain[(k, i)] * (u[i] - self.standing[i])).sum();
            // Saturates smoothly at the range of the joint.
            let part = if joint.room > 0.0 { angle / joint.room } else { 0.0 };
            q[joint.q] = joint.rest + angle / (1.0 + part.powi(4)).sqrt().sqrt();
        }
    }
}

/// Revolute joints without coupling that are in no leg.
fn swinging(biped: &Biped) -> Vec<Swinging> {
    let model = &biped.model;
    // Joints in couplings move others along, which this Jacobian does not know of.
    let is_free = |i: usize| {
        let leads_a_foot = biped.legs.iter().any(|leg| leg.joints.iter().any(|j| j.0 == i));
        !leads_a_foot && model.couplings.iter().all(|c| c.follower.0 != i && c.leader.0 != i)
    };
    let joints = model.joints.iter().enumerate();
    let joints =
        joints.filter(|(i, j)| matches!(j.kind, JointKind::Revolute { .. }) && is_free(*i));
    joints
        .map(|(_, joint)| {
            let rest = biped.posture[joint.q_start];
            // The nearer limit counts: arms swing to both sides alike.
            let room = (joint.limits.upper - rest).min(rest - joint.limits.lower);
            Swinging { q: joint.q_start, v: joint.v_start, rest, room: room.clamp(0.0, WIDEST) }
        })
        .collect()
}

/// Positions of the feet from the centre of mass: forward, left. [m] (4)
fn away(target: &BodyTarget) -> [f64; 4] {
    let R_HW = turned_back(target);
    let [left, right] = target.soles.map(|sole| R_HW * (sole.translation - target.com));
    [left.x, left.y, right.x, right.y]
}

/// Rotation from the world's axes to those of a walker that heads as the trunk does, `R_HW`. (3×3)
fn turned_back(target: &BodyTarget) -> Matrix3<f64> {
    turned(target.trunk.m21.atan2(target.trunk.m11)).transpose()
}
