//! The limits of a ball joint: where it stands between them, and what they did. [`crate::constraint::ball_limit`] has the
//! equations.

use karakuri_dynamics::Data;
use karakuri_model::{Cone, Model};
use karakuri_spatial::{Pose, Vector3};

/// Least sine of the swing for which its direction, and least `1 + cos` for which the twist, mean anything.
const DEFINITE: f64 = 1e-9;

/// The limits of a ball joint and what they did.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BallLimit {
    pub(crate) first_dof: usize,
    body: usize,
    pub(crate) cone: Cone,
    /// Impulses of the limits of swing, least and most twist in the last step. [N·m·s] (3)
    pub(crate) impulses: [f64; 3],
    /// Directions of swing and twist in the joint's frame.
    pub(crate) directions: [Vector3; 2],
}

impl BallLimit {
    pub(crate) fn of(model: &Model) -> Vec<Self> {
        let joints = model.joints.iter().enumerate();
        let ball = |(body, joint): (usize, &karakuri_model::Joint)| {
            let cone = joint.cone?;
            let (impulses, directions) = ([0.0; 3], [Vector3::zeros(); 2]);
            Some(Self { first_dof: joint.v_start, body, cone, impulses, directions })
        };
        joints.filter_map(ball).collect()
    }

    /// Impulse on each of the joint's degrees of freedom in the last step. [N·m·s] (3)
    pub(crate) fn push(&self) -> Vector3 {
        let [swing, least, most] = self.impulses;
        self.directions[0] * swing + self.directions[1] * (least + most)
    }
}

/// Swing and twist of a ball joint.
pub(crate) struct Stand {
    pub(crate) swing: f64,
    pub(crate) twist: f64,
    /// `∂θ/∂ω` and `∂ψ/∂ω`; zero where there is none.
    pub(crate) directions: [Vector3; 2],
}

/// Swing and twist of a ball joint at the position of the last kinematics.
pub(crate) fn stand(data: &Data, ball: &BallLimit) -> Stand {
    // The subspace of a ball joint is the three axes of its frame in the world.
    let S = &data.subspace[ball.first_dof..ball.first_dof + 3];
    // The body's rotation in the joint's frame, and where it takes the axis.
    let R_WJ = karakuri_spatial::Matrix3::from_columns(&[S[0].angular, S[1].angular, S[2].angular]);
    let R = R_WJ.transpose() * data.pose_in_world[ball.body].rotation;
    let a = ball.cone.axis;
    let b = R * a;
    let (across, along) = (a.cross(&b), a.dot(&b));
    let sine = across.norm();
    let quaternion = Pose::new(R, Vector3::zeros()).quaternion();
    // `ψ = 2 atan2(v·a, w)`.
    // The quaternions of one rotation, q and −q, give twists a full turn apart, which `wrapped` makes one.
    let twist = 2.0 * quaternion.imag().dot(&a).atan2(quaternion.w);
    let zero = Vector3::zeros();
    // `∂θ/∂ω = (a × b)/‖a × b‖` and `∂ψ/∂ω = (a + b)/(1 + a·b)`.
    let swing_direction = if sine > DEFINITE { across / sine } else { zero };
    let twist_direction = if 1.0 + along > DEFINITE { (a + b) / (1.0 + along) } else { zero };
    Stand {
        // By both sine and cosine: an arc cosine loses half of the digits near 0 and π.
        swing: sine.atan2(along),
        twist: wrapped(twist),
        directions: [swing_direction, twist_direction],
    }
}

/// Wraps an angle to −π to π. [rad]
fn wrapped(angle: f64) -> f64 {
    use std::f64::consts::{PI, TAU};
    if angle > PI {
        angle - TAU
    } else if angle < -PI {
        angle + TAU
    } else {
        angle
    }
}
