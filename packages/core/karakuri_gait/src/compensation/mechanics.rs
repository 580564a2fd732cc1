//! Floor reaction, ZMP and joint moments of a moving posture.
//!
//! About a point P, over a set of bodies, with `a + g ẑ` in place of the acceleration:
//! `M_x = Σ m [(Y - P_y)(Z'' + g) - (Z - P_z) Y''] + Σ M_Rx`,
//! `M_y = Σ m [(Z - P_z) X'' - (X - P_x)(Z'' + g)] + Σ M_Ry`; the ZMP is the floor point where both vanish.
//! `M_R` is the rate of the angular momentum about the body's centre. [Kume 1991]

use karakuri_spatial::{Force, Vector3};

use super::{BodyData, Jet, LEFT, Part, Point, Posture, RIGHT, Skeleton, skeleton};
use crate::zmp::zero_moment_point;

/// One body's mass, motion and rate of angular momentum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BodyMotion {
    /// Mass of the body. [kg]
    pub mass: f64,
    /// Centre of mass. [m]
    pub center: Point,
    /// Rate of angular momentum about the centre of mass, X and Y. [N·m] (2)
    pub momentum_rate: [f64; 2],
}

impl BodyMotion {
    /// Motions of all twelve bodies, in the order of [`super::BODIES`].
    pub fn all(body: &BodyData, posture: &Posture) -> ([Self; 12], Skeleton) {
        let skeleton = skeleton(body, posture);
        let p = posture;
        let leg = |part: Part, b: Jet| (part, leg_rate(&part, p.sway, b));
        // Turning about Y alone: `J_y ω` without a gyroscopic part; a forearm's inward bend is left out of its inertia.
        let planar = |part: Part, angle: Jet| (part, [0.0, part.inertia[1] * angle.acceleration]);
        // The pelvis only translates, as both hips sway alike; the standing foot does not move.
        let still = |part: Part| (part, [0.0; 2]);
        let parts = [
            leg(body.shank, p.shank[LEFT]),
            leg(body.thigh, p.thigh[LEFT]),
            still(body.pelvis),
            planar(body.trunk, p.pitch),
            planar(body.upper_arm, p.arm[LEFT]),
            planar(body.forearm, p.arm[LEFT]),
            planar(body.upper_arm, p.arm[RIGHT]),
            planar(body.forearm, p.arm[RIGHT]),
            leg(body.thigh, p.thigh[RIGHT]),
            leg(body.shank, p.shank[RIGHT]),
            planar(body.foot, p.foot),
            still(body.foot),
        ];
        let motion = |i: usize| {
            let (part, momentum_rate) = parts[i];
            Self { mass: part.mass, center: skeleton.center[i], momentum_rate }
        };
        (core::array::from_fn(motion), skeleton)
    }

    /// Moment about P that accelerates the body and carries its weight, X and Y. [N·m] (2)
    #[inline]
    fn moment_about(&self, p: [f64; 3], gravity: f64) -> [f64; 2] {
        let Point { x, y, z } = self.center;
        // `M = (c − P) × m (c̈ + g ẑ) + L̇`, its X and Y.
        let lift = z.acceleration + gravity;
        [
            self.mass * ((y.value - p[1]) * lift - (z.value - p[2]) * y.acceleration)
                + self.momentum_rate[0],
            self.mass * ((z.value - p[2]) * x.acceleration - (x.value - p[0]) * lift)
                + self.momentum_rate[1],
        ]
    }
}

/// Rate of angular momentum of a leg link oriented `Rx(θ) Ry(b)`, X and Y. [N·m] (2)
#[inline]
fn leg_rate(part: &Part, sway: Jet, b: Jet) -> [f64; 2] {
    let [jx, jy, jz] = part.inertia;
    let d = jx - jz;
    let (s, c) = b.value.sin_cos();
    let (s_sway, c_sway) = sway.value.sin_cos();
    let (w, wb) = (sway.rate, b.rate);
    // `d/dt (R J Rᵀ ω)` with `ω = θ' x̂ + Rx(θ) b' ŷ`: inertial terms in θ'' and b'', gyroscopic ones in θ' b' and θ'².
    let x = sway.acceleration * (jx * c * c + jz * s * s) - 2.0 * d * w * wb * s * c;
    let y = sway.acceleration * d * s * c * s_sway
        + b.acceleration * jy * c_sway
        + w * wb * s_sway * (d * (c * c - s * s) - jy)
        + w * w * d * s * c * c_sway;
    [x, y]
}

/// Moment about a point that a set of bodies needs, X and Y. [N·m] (2)
pub(super) fn moment_about(
    bodies: impl IntoIterator<Item = BodyMotion>,
    point: [f64; 3],
    gravity: f64,
) -> [f64; 2] {
    bodies.into_iter().fold([0.0; 2], |sum, body| {
        let [x, y] = body.moment_about(point, gravity);
        [sum[0] + x, sum[1] + y]
    })
}

/// Reaction of the floor on the walker.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reaction {
    /// Force. [N] (3)
    pub force: [f64; 3],
    /// Moment about the origin (under the left ankle), X and Y. [N·m] (2)
    pub moment: [f64; 2],
}

impl Reaction {
    /// Reaction to a posture.
    pub fn of(body: &BodyData, posture: &Posture) -> Self {
        Self::of_bodies(&BodyMotion::all(body, posture).0, body.gravity)
    }

    /// Reaction to a set of body motions.
    pub fn of_bodies(bodies: &[BodyMotion; 12], gravity: f64) -> Self {
        // Newton: the floor accelerates all masses and carries their weight.
        let mut force = [0.0; 3];
        for b in bodies {
            force[0] += b.mass * b.center.x.acceleration;
            force[1] += b.mass * b.center.y.acceleration;
            force[2] += b.mass * (b.center.z.acceleration + gravity);
        }
        Self { force, moment: moment_about(bodies.iter().copied(), [0.0; 3], gravity) }
    }

    /// Moment about a floor point, X and Y. [N·m] (2)
    pub fn moment_about(&self, point: [f64; 2]) -> [f64; 2] {
        // `M_P = M_O − P × F`, of a point on the floor, where horizontal forces have no lever.
        [self.moment[0] - point[1] * self.force[2], self.moment[1] + point[0] * self.force[2]]
    }

    /// Zero moment point. [m] (2)
    pub fn zmp(&self) -> [f64; 2] {
        let [mx, my] = self.moment;
        // The moment about Z has no part in the ZMP.
        let wrench = Force::new(Vector3::new(mx, my, 0.0), self.force.into());
        zero_moment_point(&wrench, &Vector3::zeros())
    }

    /// Friction coefficient that the floor must have. [-]
    pub fn friction(&self) -> f64 {
        // Coulomb's cone: a floor with less lets the foot slide.
        self.force[0].hypot(self.force[1]) / self.force[2]
    }
}

/// Moment in a joint and the joint's name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointMoment {
    /// Name of the joint, such as `left_knee`.
    pub joint: &'static str,
    /// Moment on the bodies farther from the supporting foot, X and Y. [N·m] (2)
    pub moment: [f64; 2],
}

/// Moments in all joints, from the supporting foot outwards.
pub fn joint_moments(body: &BodyData, posture: &Posture) -> [JointMoment; 11] {
    let (bodies, s) = BodyMotion::all(body, posture);
    let at = |joint, point: Point, beyond: &[usize]| {
        // The study's numbers of bodies begin at 1.
        let beyond = beyond.iter().map(|&i| bodies[i - 1]);
        JointMoment { joint, moment: moment_about(beyond, point.position(), body.gravity) }
    };
    [
        at("left_ankle", s.ankle[LEFT], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
        at("left_knee", s.knee[LEFT], &[2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
        at("left_hip", s.hip[LEFT], &[3, 4, 5, 6, 7, 8, 9, 10, 11]),
        at("waist", s.waist, &[4, 5, 6, 7, 8]),
        at("left_shoulder", s.shoulder[LEFT], &[5, 6]),
        at("left_elbow", s.elbow[LEFT], &[6]),
        at("right_shoulder", s.shoulder[RIGHT], &[7, 8]),
        at("right_elbow", s.elbow[RIGHT], &[8]),
        at("right_hip", s.hip[RIGHT], &[9, 10, 11]),
        at("right_knee", s.knee[RIGHT], &[10, 11]),
        at("right_ankle", s.ankle[RIGHT], &[11]),
    ]
}
