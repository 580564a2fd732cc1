//! Curves of a root link's pose: its position axis by axis, its rotation along shortest arcs.
//!
//! The rotation goes by the logarithm of each interval's turn, `R(t) = R_k exp(r(t) − r_k)` with the curve `r` through the sums of
//! these logarithms: slerp for the eases of one interval, a cubic on the logarithm for splines [Kim 1995].

use karakuri_spatial::{Matrix3, Pose, UnitQuaternion, Vector3, skew};

use crate::curve::Curve;
use crate::motion::Key;
use crate::score::RootKey;

/// Angle below which series stand for quotients. [rad]
// The series' next terms are below 1e-18; at this angle the quotients still have 7 digits, and are multiplied by the angle.
const SMALL: f64 = 1e-4;
/// Half the time over which the angular velocity is differentiated where the axis turns. [s]
const STEP: f64 = 1e-5;

/// Pose, velocity and acceleration of a root link, in world axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RootState {
    pub(crate) pose: Pose,
    /// Velocity of the origin, angular velocity. [m/s; rad/s]
    pub(crate) velocity: [Vector3; 2],
    /// Acceleration of the origin, angular acceleration. [m/s²; rad/s²]
    pub(crate) acceleration: [Vector3; 2],
}

/// A curve through poses.
#[derive(Debug, Clone, Default)]
pub(crate) struct RootCurve {
    times: Vec<f64>,
    rotations: Vec<UnitQuaternion>,
    /// Sum of the logarithms until each key. [rad] (n × 3)
    turned: Vec<Vector3>,
    position: [Curve; 3],
    turn: [Curve; 3],
}

impl RootCurve {
    pub(crate) fn new(keys: &[RootKey]) -> Self {
        let times: Vec<f64> = keys.iter().map(|key| key.t).collect();
        let rotations: Vec<UnitQuaternion> = keys.iter().map(|key| key.pose.quaternion()).collect();
        let mut turned = Vec::with_capacity(keys.len());
        let mut sum = Vector3::zeros();
        for (i, rotation) in rotations.iter().enumerate() {
            if i > 0 {
                // The shorter of the two arcs: nalgebra's logarithm takes q and −q apart.
                let turn = rotations[i - 1].inverse() * rotation;
                // Summed in each key's own axes, as `R_k exp(r − r_k)` multiplies from the right.
                sum += if turn.w < 0.0 {
                    UnitQuaternion::new_unchecked(-turn.into_inner())
                } else {
                    turn
                }
                .scaled_axis();
            }
            turned.push(sum);
        }
        // Six scalar curves with the eases of the keys, so the root moves by the same laws as the joints.
        let curve = |value: &dyn Fn(usize) -> f64| {
            let keys = keys.iter().enumerate();
            let keys: Vec<Key> =
                keys.map(|(i, key)| Key { t: key.t, y: value(i), ease: key.ease }).collect();
            Curve::new(&keys)
        };
        let position = [0, 1, 2].map(|axis| curve(&|i| keys[i].pose.translation[axis]));
        let turn = [0, 1, 2].map(|axis| curve(&|i| turned[i][axis]));
        Self { times, rotations, turned, position, turn }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Rotation, and angular velocity in its own axes.
    fn rotation(&self, t: f64) -> (UnitQuaternion, Vector3) {
        let after = self.times.partition_point(|&key| key <= t);
        // Before the first key its pose holds, as `delta` is zero there.
        let k = after.saturating_sub(1).min(self.times.len() - 1);
        let points = self.turn.each_ref().map(|curve| curve.at(t));
        // Within the interval the curve starts from the sum at its first key: `delta` is zero there and one logarithm at its end.
        let delta = Vector3::from(points.map(|point| point.position)) - self.turned[k];
        let rate = Vector3::from(points.map(|point| point.velocity));
        let rotation = self.rotations[k] * UnitQuaternion::from_scaled_axis(delta);
        // `ω_B = J_r(δ) δ̇`: the logarithm's rate is the angular velocity only where its axis stays [Solà 2018, eq. 143].
        (rotation, right_jacobian(&delta) * rate)
    }

    /// State at a time; there is a key at least.
    pub(crate) fn at(&self, t: f64) -> RootState {
        let points = self.position.each_ref().map(|curve| curve.at(t));
        let (rotation, rate) = self.rotation(t);
        // Inside the interval: across a key the rate may jump.
        let after = self.times.partition_point(|&key| key <= t);
        let low = after.checked_sub(1).map_or(f64::NEG_INFINITY, |i| self.times[i]);
        let high = self.times.get(after).copied().unwrap_or(f64::INFINITY);
        let (from, to) = ((t - STEP).max(low), (t + STEP).min(high.next_down()));
        let world = |t: f64| {
            let (rotation, rate) = self.rotation(t);
            rotation * rate
        };
        let angular_acceleration =
            if to > from { (world(to) - world(from)) / (to - from) } else { Vector3::zeros() };
        RootState {
            pose: Pose::from_quaternion(&rotation, Vector3::from(points.map(|p| p.position))),
            velocity: [Vector3::from(points.map(|p| p.velocity)), rotation * rate],
            acceleration: [Vector3::from(points.map(|p| p.acceleration)), angular_acceleration],
        }
    }
}

/// `J_r(δ) = 1 − (1−cos θ)/θ² [δ]× + (θ−sin θ)/θ³ [δ]×²`: angular velocity for a rate of the logarithm.
fn right_jacobian(delta: &Vector3) -> Matrix3 {
    let angle = delta.norm();
    let k = skew(delta);
    let (a, b) = if angle < SMALL {
        (0.5 - angle * angle / 24.0, 1.0 / 6.0 - angle * angle / 120.0)
    } else {
        ((1.0 - angle.cos()) / (angle * angle), (angle - angle.sin()) / angle.powi(3))
    };
    Matrix3::identity() - k * a + k * k * b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::Ease;

    fn key(t: f64, rpy: [f64; 3], ease: Ease) -> RootKey {
        RootKey { t, pose: Pose::from_xyz_rpy([t, 0.0, 1.0], rpy), ease }
    }

    #[test]
    fn one_interval_is_a_slerp_over_the_shorter_arc() {
        let (a, b) = ([0.3, -0.2, 3.0], [0.1, 0.4, -3.0]);
        let curve = RootCurve::new(&[key(0.0, a, Ease::Linear), key(2.0, b, Ease::Linear)]);
        let quaternion = |rpy| Pose::from_xyz_rpy([0.0; 3], rpy).quaternion();
        let state = curve.at(0.5);
        let expected = quaternion(a).slerp(&quaternion(b), 0.25);
        assert!(state.pose.quaternion().angle_to(&expected) < 1e-7);
        assert!(state.pose.quaternion().angle_to(&quaternion(a)) < 0.3);
    }

    #[test]
    fn splines_pass_their_keys_and_their_rates_are_differences() {
        let turns = [[0.0, 0.0, 0.0], [0.5, 0.2, 1.0], [0.1, -0.6, 2.0], [0.0, 0.3, 2.5]];
        let keys: Vec<RootKey> =
            turns.iter().enumerate().map(|(i, rpy)| key(i as f64, *rpy, Ease::Natural)).collect();
        let curve = RootCurve::new(&keys);
        for key in &keys {
            let found = curve.at(key.t).pose;
            assert!((found.rotation - key.pose.rotation).amax() < 1e-9);
        }
        for t in [0.3, 1.7, 2.2] {
            let (step, here) = (1e-6, curve.at(t));
            let [before, after] = [t - step, t + step].map(|t| curve.at(t).pose.rotation);
            let omega = (after - before) / (2.0 * step) * here.pose.rotation.transpose();
            let found = here.velocity[1];
            let expected = Vector3::new(omega[(2, 1)], omega[(0, 2)], omega[(1, 0)]);
            assert!((found - expected).amax() < 1e-6, "{found} and {expected}");
        }
    }

    /// Just before a key, and at it, the angular acceleration is that of the interval, as a moment earlier and later.
    #[test]
    fn angular_accelerations_go_on_up_to_keys() {
        let turns = [[0.0, 0.0, 0.0], [0.5, 0.2, 1.0], [0.1, -0.6, 2.0]];
        let keys: Vec<RootKey> = turns
            .iter()
            .enumerate()
            .map(|(i, rpy)| key(i as f64, *rpy, Ease::MinimumJerk))
            .chain([key(3.0, [0.4, 0.4, 2.5], Ease::Linear)])
            .collect();
        let curve = RootCurve::new(&keys);
        // Near a key of rest the jerk of this ease is 60/s³ of the turn.
        for t in [1.0, 2.0] {
            for (inside, near) in [(t - 5e-5, t - 3e-6), (t - 2e-5, t - 5e-12), (t + 5e-5, t)] {
                let [a, b] = [inside, near].map(|t| curve.at(t).acceleration[1]);
                assert!((a - b).amax() < 0.02, "{a} at {inside}, {b} at {near}");
            }
        }
        // A turn about a fixed axis at an even rate has none; a smooth one begins and ends with the largest.
        let smooth = [key(0.0, [0.0; 3], Ease::Smooth), key(1.0, [0.0, 0.0, 1.0], Ease::Smooth)];
        let curve = RootCurve::new(&smooth);
        for (t, expected) in
            [(0.0, 6.0), (4e-6, 6.0), (1.0 - 4e-6, -6.0), (1.0 - 1e-9, -6.0), (1.0, 0.0)]
        {
            let found = curve.at(t).acceleration[1].z;
            assert!((found - expected).abs() < 1e-3, "{found}, not {expected}, at {t}");
        }
    }
}
