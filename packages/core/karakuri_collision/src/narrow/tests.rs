//! Contacts with known answers.

use karakuri_spatial::{Pose, UnitQuaternion, Vector3};
use proptest::prelude::*;

use crate::{Collider, ColliderShape, CollisionScene, Manifold};

const CUBE: ColliderShape = ColliderShape::Box { half_extents: Vector3::new(0.05, 0.05, 0.05) };

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_translation(Vector3::new(x, y, z))
}

fn hull(half: f64) -> ColliderShape {
    let corner =
        |i: u32| Vector3::from([1, 2, 4].map(|bit| if i & bit > 0 { half } else { -half }));
    ColliderShape::ConvexHull { points: (0..8).map(corner).collect() }
}

/// The contacts of two colliders, the first fixed.
fn contacts(a: (ColliderShape, Pose), b: (ColliderShape, Pose), prediction: f64) -> Vec<Manifold> {
    let mut scene = CollisionScene::default();
    scene.add(&Collider::fixed(a.0, a.1));
    scene.add(&Collider::moving(b.0, b.1));
    scene.update(prediction);
    scene.manifolds().to_vec()
}

fn only(manifolds: &[Manifold]) -> Manifold {
    assert_eq!(manifolds.len(), 1, "{manifolds:?}");
    manifolds[0]
}

#[test]
fn boxes_face_to_face_meet_in_four_exact_points() {
    let m = only(&contacts((CUBE, at(1000.0, 0.0, 0.0)), (CUBE, at(1000.02, 0.01, 0.0995)), 1e-3));
    assert_eq!(m.normal, Vector3::z());
    assert_eq!(m.points().len(), 4);
    for p in m.points() {
        assert!((p.gap + 5e-4).abs() < 1e-15, "{p:?}");
    }
    let x: Vec<f64> = m.points().iter().map(|p| p.position.x - 1000.0).collect();
    let (low, high) = x.iter().fold((f64::MAX, f64::MIN), |(l, h), x| (l.min(*x), h.max(*x)));
    assert!((low + 0.03).abs() < 1e-12 && (high - 0.05).abs() < 1e-12, "{x:?}");
}

#[test]
fn boxes_turned_by_45_degrees_keep_four_of_eight_corners() {
    let turned = Pose::from_xyz_rpy([0.0, 0.0, 0.1], [0.0, 0.0, core::f64::consts::FRAC_PI_4]);
    let m = only(&contacts((CUBE, Pose::IDENTITY), (CUBE, turned), 1e-3));
    assert_eq!(m.points().len(), 4);
    let features: Vec<u64> = m.points().iter().map(|p| p.feature).collect();
    let again = only(&contacts((CUBE, Pose::IDENTITY), (CUBE, at(0.0, 0.0, 1e-9) * turned), 1e-3));
    assert_eq!(features, again.points().iter().map(|p| p.feature).collect::<Vec<_>>());
}

#[test]
fn crossed_edges_meet_in_one_point() {
    let quarter = core::f64::consts::FRAC_PI_4;
    let edge = 0.05 * 2.0_f64.sqrt();
    let a = Pose::from_xyz_rpy([0.0; 3], [quarter, 0.0, 0.0]);
    let b = Pose::from_xyz_rpy([0.0, 0.0, 2.0 * edge + 1e-4], [0.0, quarter, 0.0]);
    for (a_shape, b_shape) in [(CUBE, CUBE), (hull(0.05), hull(0.05)), (CUBE, hull(0.05))] {
        let m = only(&contacts((a_shape, a), (b_shape, b), 1e-3));
        assert_eq!(m.points().len(), 1);
        assert!((m.normal - Vector3::z()).norm() < 1e-7, "{}", m.normal);
        assert!((m.points()[0].gap - 1e-4).abs() < 1e-9);
    }
}

#[test]
fn a_hull_of_a_cube_touches_as_the_cube() {
    for pose in [at(0.01, 0.02, 0.0999), at(0.0, 0.0, 0.1003), at(0.03, -0.02, 0.09)] {
        let exact = only(&contacts((CUBE, Pose::IDENTITY), (CUBE, pose), 1e-3));
        let generic = only(&contacts((hull(0.05), Pose::IDENTITY), (hull(0.05), pose), 1e-3));
        assert!(
            (exact.normal - generic.normal).norm() < 1e-12,
            "{} {}",
            exact.normal,
            generic.normal
        );
        assert_eq!(exact.points().len(), generic.points().len());
        for (a, b) in exact.points().iter().zip(generic.points()) {
            assert!((a.gap - b.gap).abs() < 1e-12);
        }
    }
}

#[test]
fn a_cylinder_stands_on_its_cap_and_on_its_rim() {
    let can = ColliderShape::Cylinder { radius: 0.03, half_length: 0.06 };
    let table = ColliderShape::Box { half_extents: Vector3::new(0.5, 0.5, 0.1) };
    for (ground, below) in [(ColliderShape::HalfSpace, 0.0), (table, -0.1)] {
        let ground = (ground, at(0.0, 0.0, below));
        let m = only(&contacts(ground.clone(), (can.clone(), at(0.0, 0.0, 0.06)), 1e-4));
        assert_eq!(m.points().len(), 4);
        let square = m.points().iter().map(|p| p.position.xy().norm()).fold(f64::MAX, f64::min);
        assert!((square - 0.03).abs() < 1e-12, "points lie on the rim");
        for direction in [0.0_f64, 0.3, 2.0, 5.0] {
            let tilt = 0.2;
            let axis = Vector3::new(-direction.sin(), direction.cos(), 0.0);
            let mut pose = Pose::from_axis_angle(&axis, tilt);
            pose.translation.z = 0.06 * tilt.cos() + 0.03 * tilt.sin();
            let m = only(&contacts(ground.clone(), (can.clone(), pose), 1e-4));
            let deepest = m.points().iter().min_by(|a, b| a.gap.total_cmp(&b.gap)).unwrap();
            assert!(deepest.gap.abs() < 1e-9, "{deepest:?}");
            let towards = Vector3::new(direction.cos(), direction.sin(), 0.0);
            assert!((deepest.position.normalize().dot(&towards) - 1.0).abs() < 1e-6);
        }
        let lying = Pose::from_xyz_rpy([0.0, 0.0, 0.03], [core::f64::consts::FRAC_PI_2, 0.0, 0.4]);
        let m = only(&contacts(ground, (can.clone(), lying), 1e-4));
        assert_eq!(m.points().len(), 2);
        assert!(m.points().iter().all(|p| p.gap.abs() < 1e-12), "{m:?}");
    }
}

#[test]
fn balls_and_capsules_have_exact_gaps() {
    let ball = ColliderShape::Sphere { radius: 0.1 };
    let m = only(&contacts((CUBE, Pose::IDENTITY), (ball.clone(), at(0.0, 0.15, 0.15)), 0.1));
    let expected = 0.1 * 2.0_f64.sqrt() - 0.1;
    assert!((m.points()[0].gap - expected).abs() < 1e-15);
    let m = only(&contacts((ball.clone(), Pose::IDENTITY), (ball, at(0.0, 0.0, 0.19)), 0.1));
    assert_eq!(m.normal, Vector3::z());
    assert!((m.points()[0].gap + 0.01).abs() < 1e-15);
    let capsule = ColliderShape::Capsule { radius: 0.02, half_length: 0.03 };
    let lying = Pose::from_xyz_rpy([0.0, 0.0, 0.0701], [0.0, core::f64::consts::FRAC_PI_2, 0.0]);
    let m = only(&contacts((CUBE, Pose::IDENTITY), (capsule, lying), 1e-3));
    assert_eq!(m.points().len(), 2);
    assert_eq!(m.normal, Vector3::z());
    for p in m.points() {
        assert!((p.gap - 1e-4).abs() < 1e-12, "{p:?}");
        assert!((p.position.z - 0.05005).abs() < 1e-12, "{p:?}");
    }
}

#[test]
fn a_box_rests_on_triangles_as_on_a_plane() {
    let square = [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]];
    let vertices = square.map(Vector3::from).to_vec();
    let floor = ColliderShape::Triangles { vertices, triangles: vec![[0, 1, 2], [0, 2, 3]] };
    let manifolds = contacts((floor, Pose::IDENTITY), (CUBE, at(0.01, 0.0, 0.0499)), 1e-3);
    assert_eq!(manifolds.len(), 2);
    for p in manifolds.iter().flat_map(|m| m.points().iter().map(move |p| (m.normal, p))) {
        assert!((p.0 - Vector3::z()).norm() < 1e-12);
        assert!((p.1.gap + 1e-4).abs() < 1e-12);
    }
}

fn any_pose() -> impl Strategy<Value = Pose> {
    (prop::array::uniform3(-0.06..0.06_f64), prop::array::uniform3(-3.0..3.0_f64)).prop_map(
        |(p, r)| Pose::from_quaternion(&UnitQuaternion::from_scaled_axis(r.into()), p.into()),
    )
}

fn any_shape() -> impl Strategy<Value = ColliderShape> {
    prop_oneof![
        Just(CUBE),
        Just(ColliderShape::Sphere { radius: 0.04 }),
        Just(ColliderShape::Capsule { radius: 0.02, half_length: 0.05 }),
        Just(ColliderShape::Cylinder { radius: 0.03, half_length: 0.05 }),
        Just(hull(0.04)),
        Just(ColliderShape::HalfSpace),
    ]
}

proptest! {
    /// Whatever the pair: unit normal, finite points within the prediction, unique features, and moving B along the
    /// normal by the deepest overlap separates the pair.
    #[test]
    fn a_manifold_is_sound(a in any_shape(), b in any_shape(), X_WA in any_pose(), X_WB in any_pose()) {
        for m in contacts((a.clone(), X_WA), (b.clone(), X_WB), 1e-3) {
            prop_assert!((m.normal.norm() - 1.0).abs() < 1e-9);
            let mut features: Vec<u64> = m.points().iter().map(|p| p.feature).collect();
            features.sort_unstable();
            features.dedup();
            prop_assert_eq!(features.len(), m.points().len());
            for p in m.points() {
                prop_assert!(p.gap <= 1e-3 && p.position.norm() < 1.0, "{:?}", p);
            }
            let depth = m.points().iter().map(|p| -p.gap).fold(0.0, f64::max);
            let away = Pose::from_translation(m.normal * (depth + 2e-4)) * X_WB;
            for m in contacts((a.clone(), X_WA), (b.clone(), away), 1e-3) {
                for p in m.points() {
                    prop_assert!(p.gap > -1e-4, "still overlaps by {} after {}", -p.gap, depth);
                }
            }
        }
    }

    /// The contact of two shapes does not depend on which comes first.
    #[test]
    fn swapping_the_pair_turns_the_normal(a in any_shape(), X_WA in any_pose(), X_WB in any_pose()) {
        let (ab, ba) = (
            contacts((a.clone(), X_WA), (CUBE, X_WB), 1e-3),
            contacts((CUBE, X_WB), (a, X_WA), 1e-3),
        );
        prop_assert_eq!(ab.len(), ba.len());
        let depth = |m: &[Manifold]| {
            m.iter().flat_map(|m| m.points().iter().map(|p| -p.gap)).fold(0.0, f64::max)
        };
        prop_assert!((depth(&ab) - depth(&ba)).abs() < 1e-4, "{} {}", depth(&ab), depth(&ba));
    }
}
