//! Conversion between our spatial types and `geometry_msgs`, and between seconds and `builtin_interfaces/Duration`.
//!
//! Quaternions are `x, y, z, w` and normalised when read; a zero or non-finite one is refused with `None`.

use karakuri_spatial::{Force, Motion, Pose, UnitQuaternion, Vector3};

use crate::msg::{
    builtin_interfaces::msg::{Duration as DurationMessage, Time as TimeMessage},
    geometry_msgs::msg as geometry,
};
use crate::time_from_message;

/// Conversion of a value to a message.
pub trait IntoMessage<M> {
    /// Converts to a message.
    fn to_message(&self) -> M;
}

/// Conversion of a message to a value.
pub trait FromMessage<M>: Sized {
    /// Converts a message; `None` if a number is not finite or a quaternion is zero.
    fn from_message(message: &M) -> Option<Self>;
}

impl IntoMessage<geometry::Vector3> for Vector3 {
    fn to_message(&self) -> geometry::Vector3 {
        geometry::Vector3 { x: self.x, y: self.y, z: self.z }
    }
}

impl FromMessage<geometry::Vector3> for Vector3 {
    fn from_message(message: &geometry::Vector3) -> Option<Self> {
        finite(message.x, message.y, message.z)
    }
}

impl IntoMessage<geometry::Point> for Vector3 {
    fn to_message(&self) -> geometry::Point {
        geometry::Point { x: self.x, y: self.y, z: self.z }
    }
}

impl FromMessage<geometry::Point> for Vector3 {
    fn from_message(message: &geometry::Point) -> Option<Self> {
        finite(message.x, message.y, message.z)
    }
}

fn finite(x: f64, y: f64, z: f64) -> Option<Vector3> {
    (x.is_finite() && y.is_finite() && z.is_finite()).then(|| Vector3::new(x, y, z))
}

impl IntoMessage<geometry::Quaternion> for UnitQuaternion {
    fn to_message(&self) -> geometry::Quaternion {
        geometry::Quaternion { x: self.i, y: self.j, z: self.k, w: self.w }
    }
}

impl FromMessage<geometry::Quaternion> for UnitQuaternion {
    fn from_message(message: &geometry::Quaternion) -> Option<Self> {
        let geometry::Quaternion { x, y, z, w } = *message;
        Pose::unit_quaternion([w, x, y, z])
    }
}

impl IntoMessage<geometry::Pose> for Pose {
    fn to_message(&self) -> geometry::Pose {
        geometry::Pose {
            position: self.translation.to_message(),
            orientation: self.quaternion().to_message(),
        }
    }
}

impl FromMessage<geometry::Pose> for Pose {
    fn from_message(message: &geometry::Pose) -> Option<Self> {
        let rotation = UnitQuaternion::from_message(&message.orientation)?;
        Some(Self::from_quaternion(&rotation, Vector3::from_message(&message.position)?))
    }
}

impl IntoMessage<geometry::Transform> for Pose {
    fn to_message(&self) -> geometry::Transform {
        geometry::Transform {
            translation: self.translation.to_message(),
            rotation: self.quaternion().to_message(),
        }
    }
}

impl FromMessage<geometry::Transform> for Pose {
    fn from_message(message: &geometry::Transform) -> Option<Self> {
        let rotation = UnitQuaternion::from_message(&message.rotation)?;
        Some(Self::from_quaternion(&rotation, Vector3::from_message(&message.translation)?))
    }
}

impl IntoMessage<geometry::Wrench> for Force {
    fn to_message(&self) -> geometry::Wrench {
        geometry::Wrench { force: self.force.to_message(), torque: self.moment.to_message() }
    }
}

impl FromMessage<geometry::Wrench> for Force {
    fn from_message(message: &geometry::Wrench) -> Option<Self> {
        Some(Self::new(
            Vector3::from_message(&message.torque)?,
            Vector3::from_message(&message.force)?,
        ))
    }
}

impl IntoMessage<geometry::Twist> for Motion {
    fn to_message(&self) -> geometry::Twist {
        geometry::Twist { linear: self.linear.to_message(), angular: self.angular.to_message() }
    }
}

impl FromMessage<geometry::Twist> for Motion {
    fn from_message(message: &geometry::Twist) -> Option<Self> {
        Some(Self::new(
            Vector3::from_message(&message.angular)?,
            Vector3::from_message(&message.linear)?,
        ))
    }
}

/// Seconds of a duration. [s]
pub fn duration_from_message(message: &DurationMessage) -> f64 {
    let time = TimeMessage { sec: message.sec, nanosec: message.nanosec };
    time_from_message(&time).seconds()
}

/// Duration of so many seconds, to the nearest nanosecond, clamped to the message's range. [s]
pub fn duration_to_message(seconds: f64) -> DurationMessage {
    let time = karakuri_spatial::Time::ZERO.plus_seconds(seconds).to_message();
    DurationMessage { sec: time.sec, nanosec: time.nanosec }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pose_survives_the_round_trip() {
        let pose = Pose::from_xyz_rpy([1.0, -2.0, 3.0], [0.3, -0.4, 2.9]);
        let message: geometry::Pose = pose.to_message();
        let back = Pose::from_message(&message).unwrap();
        assert!((back.translation - pose.translation).norm() < 1e-15);
        assert!((back.rotation - pose.rotation).norm() < 1e-14);
    }

    #[test]
    fn bad_numbers_are_refused_and_lengths_normalised() {
        let quaternion =
            |x, y, z, w| UnitQuaternion::from_message(&geometry::Quaternion { x, y, z, w });
        assert!(quaternion(0.0, 0.0, 0.0, 0.0).is_none());
        assert!(quaternion(f64::NAN, 0.0, 0.0, 1.0).is_none());
        assert!(quaternion(f64::INFINITY, 0.0, 0.0, 1.0).is_none());
        assert!((quaternion(0.0, 0.0, 0.0, 1e-200).unwrap().w - 1.0).abs() < f64::EPSILON);
        assert!((quaternion(0.0, 0.0, 1e300, 0.0).unwrap().k - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn durations_round_to_nanoseconds() {
        let message = duration_to_message(1.25);
        assert_eq!((message.sec, message.nanosec), (1, 250_000_000));
        assert!((duration_from_message(&duration_to_message(-0.1)) + 0.1).abs() < 1e-15);
        assert_eq!(duration_to_message(1e30).sec, i32::MAX);
    }
}
