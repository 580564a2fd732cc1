//! Objects as they stand: any side of a box below, a round one on its end or on its side.
//!
//! The frame of an object is turned so that its z is vertical; the edges of its box go with the axes. What lies has its own axis along x then.
//! A convex polyhedron may rest on any of its faces: its frame is turned about the vertical as one of its own axes, and has its box along its axes.
//! Units: m, rad.

use std::sync::Arc;

use karakuri_spatial::{Matrix3, Pose, Vector3};

use super::types::{Grasp, ObjectPose, ObjectShape, PickAndPlaceGoal, Profile};

/// Largest lean of an object from standing or lying. [rad]
const LEAN: f64 = 0.05;

/// Sine of an axis' angle against the horizontal above which it does not give the heading of a hull. [-]
const STEEP: f64 = 0.8;

/// An object in a frame whose z is vertical.
#[derive(Debug, Clone, PartialEq)]
pub struct Upright {
    /// Pose of its centre.
    pub pose: ObjectPose,
    /// Edges of its box along the axes of that frame. [m] (3)
    pub size: Vector3,
    /// What it offers to a hand from above.
    pub profile: Profile,
}

impl Upright {
    /// Makes it the object that a goal takes: the same one, seen elsewhere.
    pub(super) fn replace_in(self, goal: &mut PickAndPlaceGoal) {
        let Self { mut pose, size, profile } = self;
        let is_turned = (size - goal.size).xy().norm() > (size.yxz() - goal.size).xy().norm();
        // With its edges as they are seen: x and y may be exchanged against the goal's, and the yaw fits only these. Grasps go with the goal's.
        if goal.grasps.is_empty() || !is_turned {
            goal.size = size;
        } else {
            pose.yaw += core::f64::consts::FRAC_PI_2;
        }
        (goal.pick, goal.profile) = (pose, profile);
    }
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

/// A grasp whose tool does not look down.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "its tool's x is {:.1} degrees off the downward vertical; at most {:.1} are taken",
    tilt.to_degrees(), LEAN.to_degrees()
)]
pub struct Tilted {
    /// Angle of the tool's x against the downward vertical. [rad]
    pub tilt: f64,
}

/// An object with its box's edges along its own axes, at a pose of its centre in the world. [m] (3)
///
/// # Errors
/// When none of its axes is vertical, or the axis of a round one neither vertical nor horizontal.
pub fn upright(shape: &ObjectShape, pose: &Pose, size: &Vector3) -> Result<Upright, Leaning> {
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
        ObjectShape::Hull(hull) => {
            // By its own x, or by its y where x is steep and would turn with the least error.
            let (axis, quarter) =
                if R[(2, 0)].abs() < STEEP { (0, 0.0) } else { (1, -core::f64::consts::FRAC_PI_2) };
            let yaw = heading(axis) + quarter;
            let R_WO = Pose::from_axis_angle(&Vector3::z(), yaw).rotation;
            let stands = hull.turned(&(R_WO.transpose() * R));
            let pose = ObjectPose { position: position + R_WO * stands.middle(), yaw };
            let (size, profile) = (stands.size(), Profile::Hull(Arc::new(stands)));
            Ok(Upright { pose, size, profile })
        }
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

/// Pose of the middle of an object's box, where `pose` is that of its own frame: elsewhere where that is the frame of a hull's vertices. [m]
pub fn centered(shape: &ObjectShape, pose: &Pose) -> Pose {
    match shape {
        ObjectShape::Hull(hull) => *pose * Pose::from_translation(hull.middle()),
        _ => *pose,
    }
}

/// Pose of an object at another place, turned as it is there from `from` to `to` in the world; `None` where that is more than a turn about
/// the vertical.
pub fn moved(object: &Upright, from: &Pose, to: &Pose) -> Option<ObjectPose> {
    let position = to.translation;
    if object.profile == Profile::Ball {
        return Some(ObjectPose { position, yaw: 0.0 });
    }
    let turn = turn(&(to.rotation * from.rotation.transpose()))?;
    let yaw = object.pose.yaw + turn;
    let position = if let Profile::Hull(_) = object.profile {
        // The middles of its two boxes, as it stands and along its own axes, are not the same point.
        let off = object.pose.position - from.translation;
        position + Pose::from_axis_angle(&Vector3::z(), turn).transform_vector(&off)
    } else {
        position
    };
    Some(ObjectPose { position, yaw })
}

/// Place and turn about the vertical that a pose means for what is in the hand; `None` where it leans.
pub fn turned(pose: &Pose) -> Option<ObjectPose> {
    Some(ObjectPose { position: pose.translation, yaw: turn(&pose.rotation)? })
}

/// Turn about the vertical; `None` of more than that. [rad]
fn turn(R: &Matrix3) -> Option<f64> {
    (R[(2, 2)] >= LEAN.cos()).then(|| R[(1, 0)].atan2(R[(0, 0)]))
}

/// A grasp of an object that stands, by the pose of the tool in the object's own frame, `X_OT`, and the pose of that in the world, `X_WO`. Without a
/// width or a score.
///
/// # Errors
/// When the tool's x is not vertical.
pub fn grasp(object: &Upright, X_WO: &Pose, X_OT: &Pose) -> Result<Grasp, Tilted> {
    let X_WT = *X_WO * *X_OT;
    let x = X_WT.rotation.column(0);
    let tilt = x.xy().norm().atan2(-x.z);
    if tilt > LEAN {
        return Err(Tilted { tilt });
    }
    let y = X_WT.rotation.column(1);
    let back = Pose::from_axis_angle(&Vector3::z(), -object.pose.yaw);
    Ok(Grasp {
        turn: (-y.x).atan2(y.y) - object.pose.yaw,
        position: back.transform_vector(&(X_WT.translation - object.pose.position)),
        width: None,
        score: 0.0,
    })
}

#[cfg(test)]
mod tests {
    use core::f64::consts::FRAC_PI_2;

    use karakuri_spatial::UnitQuaternion;

    use super::*;
    use crate::hull::Hull;

    const SIZE: Vector3 = Vector3::new(0.05, 0.05, 0.12);

    fn pose(roll: f64, pitch: f64, yaw: f64) -> Pose {
        Pose::from_quaternion(&UnitQuaternion::from_euler_angles(roll, pitch, yaw), Vector3::z())
    }

    #[test]
    fn a_round_object_stands_or_lies() {
        let standing = upright(&ObjectShape::Cylinder, &pose(0.0, 0.0, 0.4), &SIZE).unwrap();
        assert_eq!(standing.profile, Profile::Standing { straight: 0.12, has_flat_ends: true });
        assert_eq!(standing.size, SIZE);
        // Its axis, z, is turned to the world's x by a pitch, then by the yaw.
        let lying = upright(&ObjectShape::Capsule, &pose(0.0, FRAC_PI_2, 0.4), &SIZE).unwrap();
        let Profile::Lying { straight } = lying.profile else { panic!("{lying:?}") };
        assert!((straight - 0.07).abs() < 1e-12 && (lying.pose.yaw - 0.4).abs() < 1e-12);
        assert_eq!(lying.size, Vector3::new(0.12, 0.05, 0.05));
        let leaning = upright(&ObjectShape::Cylinder, &pose(0.0, 0.8, 0.0), &SIZE);
        assert!(leaning.unwrap_err().to_string().contains("0.80 rad"));
        assert!(upright(&ObjectShape::Ball, &pose(0.3, 0.8, 0.0), &SIZE).is_ok());
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
            let stands = upright(&ObjectShape::Box, &pose, &size).unwrap();
            assert_eq!(stands.size, Vector3::from(expected), "{roll} {pitch}");
            // Its box in the world is the same.
            let yaw = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), stands.pose.yaw);
            let reach = |R: &karakuri_spatial::Matrix3, size: &Vector3| R.map(f64::abs) * size;
            let again = reach(&yaw.to_rotation_matrix().into_inner(), &stands.size);
            assert!((reach(&pose.rotation, &size) - again).norm() < 1e-12, "{roll} {pitch}");
        }
        assert!(upright(&ObjectShape::Box, &pose(0.3, 0.0, 0.0), &size).is_err());
    }

    /// A wedge that lies on its slope: its box is another one, and where it is placed the wedge is at the pose that was asked for.
    #[test]
    fn a_hull_stands_on_any_face_and_is_moved_as_a_whole() {
        let section = [[0.0, 0.0], [0.06, 0.0], [0.0, 0.08]];
        let vertices =
            section.iter().flat_map(|[y, z]| [0.0, 0.1].map(|x| Vector3::new(x, *y, *z)));
        let hull = Hull::around(&vertices.collect::<Vec<_>>()).unwrap();
        let shape = ObjectShape::Hull(Arc::new(hull.clone()));
        let slope = core::f64::consts::PI + (0.08_f64).atan2(0.06);
        // Its own x is level, or as it stands on an end, vertical.
        for (roll, pitch, expected) in
            [(slope, 0.0, [0.1, 0.1, 0.048]), (0.0, FRAC_PI_2, [0.08, 0.06, 0.1])]
        {
            let from = centered(&shape, &pose(roll, pitch, 0.7));
            let stands = upright(&shape, &from, &hull.size()).unwrap();
            let Profile::Hull(standing) = &stands.profile else { panic!("{stands:?}") };
            let mut edges = [stands.size.x, stands.size.y];
            edges.sort_by(|a, b| b.total_cmp(a));
            let known = Vector3::from(expected);
            assert!(
                (Vector3::new(edges[0], edges[1], stands.size.z) - known).norm() < 1e-12,
                "{stands:?}"
            );
            let place = centered(&shape, &pose(roll, pitch, 1.9));
            let moved = moved(&stands, &from, &place).unwrap();
            for (object, at) in [(stands.pose, from), (moved, place)] {
                let yaw = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), object.yaw);
                let seen =
                    Pose::from_quaternion(&yaw, object.position).transform_point(&standing.com());
                assert!((seen - at.transform_point(&hull.com())).norm() < 1e-12);
            }
        }
    }

    /// The tool looks down and is turned by 0.3 against an object that lies: its own x is up.
    #[test]
    fn a_grasp_is_found_in_the_frame_of_what_stands() {
        let (from, size) = (pose(0.0, -FRAC_PI_2, 0.4), Vector3::new(0.03, 0.05, 0.12));
        let stands = upright(&ObjectShape::Box, &from, &size).unwrap();
        let down = UnitQuaternion::from_euler_angles(0.0, FRAC_PI_2, 0.0);
        let turned = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), stands.pose.yaw + 0.3);
        let at = Pose::from_quaternion(&(turned * down), from.translation + Vector3::z() * 0.01);
        let found = grasp(&stands, &from, &(from.inverse() * at)).unwrap();
        assert!((found.turn - 0.3).abs() < 1e-12, "{found:?}");
        assert!((found.position - Vector3::z() * 0.01).norm() < 1e-12, "{found:?}");
        let tilted = UnitQuaternion::from_euler_angles(0.0, FRAC_PI_2 - 0.2, 0.0);
        let tilted = Pose::from_quaternion(&(turned * tilted), from.translation);
        let refused = grasp(&stands, &from, &(from.inverse() * tilted)).unwrap_err().to_string();
        assert!(refused.contains("11.5 degrees off the downward vertical"), "{refused}");
    }

    #[test]
    fn a_place_is_a_turn_about_the_vertical() {
        let from = pose(0.0, FRAC_PI_2, 0.4);
        let lying = upright(&ObjectShape::Cylinder, &from, &SIZE).unwrap();
        let to = moved(&lying, &from, &pose(0.0, FRAC_PI_2, 1.0)).unwrap();
        assert!((to.yaw - 1.0).abs() < 1e-12);
        assert_eq!(moved(&lying, &from, &pose(0.0, 0.0, 0.4)), None);
    }
}
