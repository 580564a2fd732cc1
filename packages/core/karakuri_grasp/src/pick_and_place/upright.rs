//! Objects as they stand: any side of a box below, a round one on its end or on its side.
//!
//! The frame of an object is turned so that its z is vertical; the edges of its box go with the axes. What lies has its own axis along x then.
//! Units: m, rad.

use karakuri_spatial::{Pose, Vector3};

use super::types::{ObjectPose, ObjectShape, Profile};

/// Largest lean of an object from standing or lying. [rad]
const LEAN: f64 = 0.05;

/// An object in a frame whose z is vertical.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Upright {
    /// Pose of its centre.
    pub pose: ObjectPose,
    /// Edges of its box along the axes of that frame. [m] (3)
    pub size: Vector3,
    /// What it offers to a hand from above.
    pub profile: Profile,
}

/// An object neither stands nor lies.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "leans by {roll:.2} and {pitch:.2} rad; only upright objects can be picked; give a pose in which an edge of its box is vertical"
)]
pub struct Leaning {
    /// Roll of its pose. [rad]
    pub roll: f64,
    /// Pitch of its pose. [rad]
    pub pitch: f64,
}

/// An object with its box's edges along its own axes, at a pose of its centre in the world. [m] (3)
///
/// # Errors
/// When none of its axes is vertical, or the axis of a round one neither vertical nor horizontal.
pub fn upright(shape: ObjectShape, pose: &Pose, size: &Vector3) -> Result<Upright, Leaning> {
    let R = &pose.rotation;
    let position = pose.translation;
    let leaning = || {
        let [roll, pitch, _] = pose.rpy();
        Leaning { roll, pitch }
    };
    // Heading of an axis in the horizontal plane.
    let heading = |axis: usize| R[(1, axis)].atan2(R[(0, axis)]);
    let vertical = |axis: usize| R[(2, axis)].abs() >= LEAN.cos();
    let round = |straight: f64, has_flat_ends| {
        if vertical(2) {
            let pose = ObjectPose { position, yaw: heading(0) };
            let profile = Profile::Standing { straight, has_flat_ends };
            Ok(Upright { pose, size: *size, profile })
        } else if R[(2, 2)].abs() <= LEAN.sin() {
            let pose = ObjectPose { position, yaw: heading(2) };
            let size = Vector3::new(size.z, size.x, size.x);
            Ok(Upright { pose, size, profile: Profile::Lying { straight } })
        } else {
            Err(leaning())
        }
    };
    match shape {
        ObjectShape::Ball => {
            let pose = ObjectPose { position, yaw: 0.0 };
            Ok(Upright { pose, size: *size, profile: Profile::Ball })
        }
        ObjectShape::Cone if R[(2, 2)] >= LEAN.cos() => {
            let pose = ObjectPose { position, yaw: heading(0) };
            Ok(Upright { pose, size: *size, profile: Profile::Cone })
        }
        ObjectShape::Cone => Err(leaning()),
        ObjectShape::Cylinder => round(size.z, true),
        ObjectShape::Capsule => round((size.z - size.x).max(0.0), false),
        ObjectShape::Box => {
            let up = [2, 0, 1].into_iter().find(|&axis| vertical(axis)).ok_or_else(leaning)?;
            // The other two, in their order.
            let [x, y] = [[1, 2], [0, 2], [0, 1]][up];
            let yaw = if up == 2 { pose.rpy()[2] } else { heading(x) };
            let pose = ObjectPose { position, yaw };
            let size = Vector3::new(size[x], size[y], size[up]);
            Ok(Upright { pose, size, profile: Profile::Box })
        }
    }
}

/// Pose of an object at another place, turned as it is there from `from` to `to` in the world; `None` where that is more than a turn about
/// the vertical.
pub fn moved(object: &Upright, from: &Pose, to: &Pose) -> Option<ObjectPose> {
    let position = to.translation;
    if object.profile == Profile::Ball {
        return Some(ObjectPose { position, yaw: 0.0 });
    }
    let R = to.rotation * from.rotation.transpose();
    let yaw = object.pose.yaw + R[(1, 0)].atan2(R[(0, 0)]);
    (R[(2, 2)] >= LEAN.cos()).then_some(ObjectPose { position, yaw })
}

#[cfg(test)]
mod tests {
    use core::f64::consts::FRAC_PI_2;

    use karakuri_spatial::UnitQuaternion;

    use super::*;

    const SIZE: Vector3 = Vector3::new(0.05, 0.05, 0.12);

    fn pose(roll: f64, pitch: f64, yaw: f64) -> Pose {
        Pose::from_quaternion(&UnitQuaternion::from_euler_angles(roll, pitch, yaw), Vector3::z())
    }

    #[test]
    fn a_round_object_stands_or_lies() {
        let standing = upright(ObjectShape::Cylinder, &pose(0.0, 0.0, 0.4), &SIZE).unwrap();
        assert_eq!(standing.profile, Profile::Standing { straight: 0.12, has_flat_ends: true });
        assert_eq!(standing.size, SIZE);
        // Its axis, z, is turned to the world's x by a pitch, then by the yaw.
        let lying = upright(ObjectShape::Capsule, &pose(0.0, FRAC_PI_2, 0.4), &SIZE).unwrap();
        let Profile::Lying { straight } = lying.profile else { panic!("{lying:?}") };
        assert!((straight - 0.07).abs() < 1e-12 && (lying.pose.yaw - 0.4).abs() < 1e-12);
        assert_eq!(lying.size, Vector3::new(0.12, 0.05, 0.05));
        let leaning = upright(ObjectShape::Cylinder, &pose(0.0, 0.8, 0.0), &SIZE);
        assert!(leaning.unwrap_err().to_string().contains("0.80 rad"));
        assert!(upright(ObjectShape::Ball, &pose(0.3, 0.8, 0.0), &SIZE).is_ok());
    }

    #[test]
    fn any_side_of_a_box_may_be_below() {
        let size = Vector3::new(0.1, 0.2, 0.3);
        for (roll, pitch, expected) in [
            (0.0, 0.0, [0.1, 0.2, 0.3]),
            (core::f64::consts::PI, 0.0, [0.1, 0.2, 0.3]),
            (FRAC_PI_2, 0.0, [0.1, 0.3, 0.2]),
            (0.0, FRAC_PI_2, [0.2, 0.3, 0.1]),
        ] {
            let pose = pose(roll, pitch, 0.7);
            let stands = upright(ObjectShape::Box, &pose, &size).unwrap();
            assert_eq!(stands.size, Vector3::from(expected), "{roll} {pitch}");
            // Its box in the world is the same.
            let yaw = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), stands.pose.yaw);
            let reach = |R: &karakuri_spatial::Matrix3, size: &Vector3| R.map(f64::abs) * size;
            let again = reach(&yaw.to_rotation_matrix().into_inner(), &stands.size);
            assert!((reach(&pose.rotation, &size) - again).norm() < 1e-12, "{roll} {pitch}");
        }
        assert!(upright(ObjectShape::Box, &pose(0.3, 0.0, 0.0), &size).is_err());
    }

    #[test]
    fn a_place_is_a_turn_about_the_vertical() {
        let from = pose(0.0, FRAC_PI_2, 0.4);
        let lying = upright(ObjectShape::Cylinder, &from, &SIZE).unwrap();
        let to = moved(&lying, &from, &pose(0.0, FRAC_PI_2, 1.0)).unwrap();
        assert!((to.yaw - 1.0).abs() < 1e-12);
        assert_eq!(moved(&lying, &from, &pose(0.0, 0.0, 0.4)), None);
    }
}
