//! Times of impact against closed forms.

use karakuri_collision::{Collider, ColliderShape, CollisionScene, Impact, Sweep, Swept};
use karakuri_spatial::{Motion, Pose, Vector3};
use proptest::prelude::*;

const TOUCH: f64 = 1e-9;

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_translation(Vector3::new(x, y, z))
}

fn moving(pose: Pose, linear: [f64; 3], angular: [f64; 3]) -> Sweep {
    Sweep::new(pose, Motion::new(angular.into(), linear.into()))
}

fn cuboid(x: f64, y: f64, z: f64) -> ColliderShape {
    ColliderShape::Box { half_extents: Vector3::new(x, y, z) }
}

fn impact(a: (&ColliderShape, Sweep), b: (&ColliderShape, Sweep), duration: f64) -> Option<Impact> {
    let mut scene = CollisionScene::default();
    let id_a = scene.add(&Collider::moving(a.0.clone(), a.1.start));
    let id_b = scene.add(&Collider::moving(b.0.clone(), b.1.start));
    let a = Swept { collider: id_a, sweep: &a.1 };
    let b = Swept { collider: id_b, sweep: &b.1 };
    scene.time_of_impact(a, b, duration, TOUCH)
}

#[test]
fn a_bullet_does_not_pass_a_thin_wall() {
    let ball = ColliderShape::Sphere { radius: 0.01 };
    let wall = cuboid(0.0025, 1.0, 1.0);
    let h = 1.0 / 60.0;
    let sweep = moving(at(0.0, 0.1, 0.2), [300.0, 0.0, 0.0], [0.0; 3]);
    let hit = impact((&ball, sweep), (&wall, Sweep::at_rest(at(1.0025, 0.0, 0.0))), h).unwrap();
    assert!((hit.time - 0.99 / 300.0).abs() < 1e-11, "{hit:?}");
    assert!((hit.approach - 300.0).abs() < 1e-9);
    assert!((hit.normal - Vector3::x()).norm() < 1e-9, "{hit:?}");
    assert!((hit.points[1] - Vector3::new(1.0, 0.1, 0.2)).norm() < 1e-7, "{hit:?}");
    let slow = moving(at(0.0, 0.0, 0.0), [59.0, 0.0, 0.0], [0.0; 3]);
    assert_eq!(impact((&ball, slow), (&wall, Sweep::at_rest(at(1.0025, 0.0, 0.0))), h), None);
}

#[test]
fn a_falling_body_meets_the_ground_with_its_lowest_point() {
    let quarter = core::f64::consts::FRAC_PI_4;
    let tilted = Pose::from_xyz_rpy([0.0, 0.0, 2.0], [quarter, 0.0, 0.0]);
    let can = ColliderShape::Cylinder { radius: 0.03, half_length: 0.06 };
    let pill = ColliderShape::Capsule { radius: 0.03, half_length: 0.06 };
    let hull = ColliderShape::ConvexHull {
        points: (0..8u32)
            .map(|i| Vector3::from([1, 2, 4].map(|bit| if i & bit > 0 { 0.05 } else { -0.05 })))
            .collect(),
    };
    let half = core::f64::consts::FRAC_1_SQRT_2;
    let lows = [
        (cuboid(0.05, 0.05, 0.05), 0.1 * half),
        (hull, 0.1 * half),
        (can, 0.09 * half),
        (pill, 0.03 + 0.06 * half),
    ];
    let floor = Sweep::at_rest(Pose::IDENTITY);
    for (shape, low) in lows {
        let fall = moving(tilted, [0.1, 0.0, -2.0], [0.0; 3]);
        let hit = impact((&ColliderShape::HalfSpace, floor), (&shape, fall), 2.0).unwrap();
        assert!((hit.time - (2.0 - low) / 2.0).abs() < 1e-9, "{shape:?} {hit:?}");
        let hit = impact((&shape, fall), (&ColliderShape::HalfSpace, floor), 2.0).unwrap();
        assert!((hit.time - (2.0 - low) / 2.0).abs() < 1e-9, "{shape:?} {hit:?}");
        assert_eq!(hit.normal, -Vector3::z());
    }
}

#[test]
fn a_spinning_rod_hits_when_its_tip_arrives() {
    // The tip of a thin rod of half length 1 about z meets a small ball at 0.9 from the axis, 90° on.
    let rod = ColliderShape::Capsule { radius: 0.01, half_length: 0.99 };
    let along_x = Pose::from_xyz_rpy([0.0; 3], [0.0, core::f64::consts::FRAC_PI_2, 0.0]);
    let ball = ColliderShape::Sphere { radius: 0.02 };
    let spin = moving(along_x, [0.0; 3], [0.0, 0.0, 10.0]);
    let hit = impact((&rod, spin), (&ball, Sweep::at_rest(at(0.0, 0.9, 0.0))), 1.0).unwrap();
    let expected = (core::f64::consts::FRAC_PI_2 - (0.03_f64 / 0.9).asin()) / 10.0;
    assert!((hit.time - expected).abs() < 1e-9, "{} {expected}", hit.time);
}

#[test]
fn a_ball_meets_the_first_triangle_of_a_mesh_on_its_way() {
    let mut vertices = Vec::new();
    let mut triangles = Vec::new();
    for x in [1.0, 1.5, 2.0] {
        let n = u32::try_from(vertices.len()).unwrap();
        vertices.extend(
            [[x, -1.0, -1.0], [x, 1.0, -1.0], [x, 1.0, 1.0], [x, -1.0, 1.0]].map(Vector3::from),
        );
        triangles.extend([[n, n + 1, n + 2], [n, n + 2, n + 3]]);
    }
    let mesh = ColliderShape::Triangles { vertices, triangles };
    let ball = ColliderShape::Sphere { radius: 0.1 };
    let shot = moving(at(0.0, 0.3, 0.1), [50.0, 0.0, 0.0], [3.0, 2.0, 1.0]);
    let wall = Sweep::at_rest(Pose::IDENTITY);
    let hit = impact((&ball, shot), (&mesh, wall), 1.0).unwrap();
    assert!((hit.time - 0.9 / 50.0).abs() < 1e-10, "{hit:?}");
    assert!((hit.normal - Vector3::x()).norm() < 1e-9);
    let back = impact((&mesh, wall), (&ball, shot), 1.0).unwrap();
    assert_eq!((back.time, back.normal), (hit.time, -hit.normal));
}

fn any_shape() -> impl Strategy<Value = ColliderShape> {
    prop_oneof![
        Just(cuboid(0.05, 0.04, 0.03)),
        Just(ColliderShape::Sphere { radius: 0.04 }),
        Just(ColliderShape::Capsule { radius: 0.02, half_length: 0.05 }),
        Just(ColliderShape::Cylinder { radius: 0.03, half_length: 0.05 }),
    ]
}

fn any_sweep(x: f64, speed: f64) -> impl Strategy<Value = Sweep> {
    let three = |range: f64| prop::array::uniform3(-range..range);
    (three(0.05), three(3.0), three(1.0), three(5.0)).prop_map(move |(p, r, v, w)| {
        let rotation = karakuri_spatial::UnitQuaternion::from_scaled_axis(r.into());
        let p = Vector3::new(x, 0.0, 0.0) + Vector3::from(p);
        let v = Vector3::new(speed, 0.0, 0.0) + Vector3::from(v);
        Sweep::new(Pose::from_quaternion(&rotation, p), Motion::new(w.into(), v))
    })
}

proptest! {
    /// At the impact the colliders are apart by the gap asked for; at no earlier time do they overlap.
    #[test]
    fn nothing_overlaps_before_the_impact(
        a in any_shape(), b in any_shape(),
        sweep_a in any_sweep(0.0, 2.0), sweep_b in any_sweep(0.5, -2.0),
    ) {
        let hit = impact((&a, sweep_a), (&b, sweep_b), 0.2);
        let mut scene = CollisionScene::default();
        let id_a = scene.add(&Collider::moving(a, sweep_a.start));
        let id_b = scene.add(&Collider::moving(b, sweep_b.start));
        let end = hit.map_or(0.2, |hit| hit.time);
        for i in 0..=20 {
            let t = end * f64::from(i) / 20.0;
            scene.set_pose(id_a, &sweep_a.pose_at(t));
            scene.set_pose(id_b, &sweep_b.pose_at(t));
            let near = scene.closest_points(id_a, id_b, f64::INFINITY).unwrap();
            prop_assert!(near.gap > 0.0, "overlap by {} at {t} of {end}", -near.gap);
        }
        if let Some(hit) = hit {
            prop_assert!(hit.gap <= TOUCH && hit.approach > 0.0, "{hit:?}");
            let again = scene.closest_points(id_a, id_b, f64::INFINITY).unwrap();
            prop_assert!((again.gap - hit.gap).abs() < 1e-7, "{hit:?} {again:?}");
        }
    }
}
