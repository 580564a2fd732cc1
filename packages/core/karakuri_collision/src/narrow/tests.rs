//! Contacts with known answers.

use karakuri_spatial::{Pose, UnitQuaternion, Vector3};
use proptest::prelude::*;

use super::Memory;
use crate::{Collider, ColliderId, ColliderShape, CollisionScene, ContactPoint, Manifold};

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

/// Points of a cube on a fixed one, turned by 45° so that all eight corners of their overlap could carry, before and after it tilts by
/// an angle in a step. [rad]
fn points_of_tilting_cube(jointed: bool, tilt: f64) -> [usize; 2] {
    let turned = Pose::from_xyz_rpy([0.0, 0.0, 0.1], [0.0, 0.0, core::f64::consts::FRAC_PI_4]);
    let mut scene = CollisionScene::default();
    scene.add(&Collider::fixed(CUBE, Pose::IDENTITY));
    let cube = scene.add(&Collider { jointed, ..Collider::moving(CUBE, turned) });
    scene.update(1e-3);
    let before = only(scene.manifolds()).points().len();
    scene.set_pose(cube, &(turned * Pose::from_axis_angle(&Vector3::x(), tilt)));
    scene.update(1e-3);
    [before, only(scene.manifolds()).points().len()]
}

#[test]
fn what_turns_keeps_all_eight_corners() {
    // The corners move by up to 50 µm, and by 5 µm: less than what counts as turning.
    assert_eq!(points_of_tilting_cube(false, 1e-3), [4, 8]);
    assert_eq!(points_of_tilting_cube(false, 1e-4), [4, 4]);
}

#[test]
fn what_joints_hold_keeps_four_corners_as_it_turns() {
    assert_eq!(points_of_tilting_cube(true, 1e-3), [4, 4]);
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
    let m = only(&contacts((floor, Pose::IDENTITY), (CUBE, at(0.01, 0.0, 0.0499)), 1e-3));
    assert_eq!(m.points().len(), 4);
    assert!((m.normal - Vector3::z()).norm() < 1e-12);
    for p in m.points() {
        assert!((p.gap + 1e-4).abs() < 1e-12);
    }
}

/// A flat square of 2 · `n`² triangles as a soup, each with its own corners, as STL has them.
fn tessellated(n: u32, half: f64) -> ColliderShape {
    let place = |i: u32| half * (2.0 * f64::from(i) / f64::from(n) - 1.0);
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
        let corner = |di, dj| Vector3::new(place(i + di), place(j + dj), 0.0);
        let [a, b, c, d] = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
        for triangle in [[a, b, c], [a, c, d]] {
            let first = u32::try_from(vertices.len()).unwrap();
            vertices.extend(triangle);
            triangles.push([first, first + 1, first + 2]);
        }
    }
    ColliderShape::Triangles { vertices, triangles }
}

#[test]
fn everything_slides_over_a_tessellated_plane_as_over_a_plane() {
    let can = ColliderShape::Cylinder { radius: 0.03, half_length: 0.06 };
    let pill = ColliderShape::Capsule { radius: 0.02, half_length: 0.05 };
    let side = core::f64::consts::FRAC_PI_2;
    let bodies = [
        (CUBE, [0.0, 0.0, 0.3], 0.05),
        (hull(0.05), [0.0, 0.0, 0.3], 0.05),
        (ColliderShape::Sphere { radius: 0.04 }, [0.0; 3], 0.04),
        (can.clone(), [0.0; 3], 0.06),
        (can, [0.0, side, 0.2], 0.03),
        (pill, [0.0, side, 0.2], 0.02),
    ];
    for (shape, rpy, height) in bodies {
        for gap in [-1e-3, -1e-6, 1e-6, 5e-4] {
            let mut mesh = CollisionScene::default();
            mesh.add(&Collider::fixed(tessellated(40, 1.0), Pose::IDENTITY));
            let mut plane = CollisionScene::default();
            plane.add(&Collider::fixed(ColliderShape::HalfSpace, Pose::IDENTITY));
            let collider = Collider::moving(shape.clone(), Pose::IDENTITY);
            let (on_mesh, on_plane) = (mesh.add(&collider), plane.add(&collider));
            let mut features = Vec::new();
            for i in 0..200 {
                let x = -0.5 + 0.005 * f64::from(i);
                let pose = Pose::from_xyz_rpy([x, 0.31 * x, height + gap], rpy);
                mesh.set_pose(on_mesh, &pose);
                plane.set_pose(on_plane, &pose);
                mesh.update(1e-3);
                plane.update(1e-3);
                let (m, p) = (only(mesh.manifolds()), only(plane.manifolds()));
                assert!((m.normal - Vector3::z()).norm() < 1e-9, "{shape:?} {gap} {x} {m:?}");
                assert_eq!(m.points().len(), p.points().len(), "{shape:?} {gap} {x} {m:?} {p:?}");
                for a in m.points() {
                    let same = p.points().iter().map(|b| (b.position - a.position).norm());
                    let nearest = same.fold(f64::MAX, f64::min);
                    assert!(nearest < 1e-8, "{shape:?} {gap} {x} {nearest}");
                    assert!((a.gap - gap).abs() < 1e-9, "{shape:?} {gap} {x} {a:?}");
                }
                let now: Vec<u64> = m.points().iter().map(|p| p.feature).collect();
                assert!(i == 0 || now == features, "{shape:?} {gap} {x}: {now:x?} {features:x?}");
                features = now;
            }
        }
    }
}

#[test]
fn a_ball_rolls_off_the_ridge_of_a_roof_and_not_into_a_valley() {
    // Two slopes of 45° that meet at x = 0.
    for rise in [-1.0, 1.0] {
        let vertices = [
            [-1.0, -1.0, rise],
            [-1.0, 1.0, rise],
            [0.0, -1.0, 0.0],
            [0.0, 1.0, 0.0],
            [1.0, -1.0, rise],
            [1.0, 1.0, rise],
        ];
        let triangles = vec![[0, 2, 1], [1, 2, 3], [2, 4, 3], [3, 4, 5]];
        let vertices = vertices.map(Vector3::from).to_vec();
        let roof = ColliderShape::Triangles { vertices, triangles };
        let ball = ColliderShape::Sphere { radius: 0.1 };
        let half = core::f64::consts::FRAC_1_SQRT_2;
        if rise < 0.0 {
            let m = only(&contacts((roof, Pose::IDENTITY), (ball, at(0.01, 0.0, 0.09)), 1e-2));
            let expected = Vector3::new(0.01, 0.0, 0.09);
            assert!((m.normal - expected.normalize()).norm() < 1e-9, "{m:?}");
            assert!((m.points()[0].gap - (expected.norm() - 0.1)).abs() < 1e-12);
        } else {
            let height = 0.1 / half;
            let found = contacts((roof, Pose::IDENTITY), (ball, at(0.0, 0.0, height)), 1e-3);
            assert_eq!(found.len(), 2, "{found:?}");
            for m in found {
                assert!((m.normal.z - half).abs() < 1e-9 && m.points()[0].gap.abs() < 1e-12);
            }
        }
    }
}

/// A prism of `n` sides about z.
fn prism(n: u32, radius: f64, half: f64) -> ColliderShape {
    let corner = |i: u32| {
        let angle = core::f64::consts::TAU * f64::from(i % n) / f64::from(n);
        let z = if i < n { half } else { -half };
        Vector3::new(radius * angle.cos(), radius * angle.sin(), z)
    };
    ColliderShape::ConvexHull { points: (0..2 * n).map(corner).collect() }
}

fn table() -> ColliderShape {
    ColliderShape::Box { half_extents: Vector3::new(0.5, 0.5, 0.1) }
}

/// Area of the polygon that points span in the xy-plane, by their hull. [m²]
fn area(points: impl Iterator<Item = Vector3>) -> f64 {
    let mut p: Vec<Vector3> = points.collect();
    let middle = p.iter().sum::<Vector3>() / p.len() as f64;
    p.sort_by(|a, b| {
        let angle = |v: &Vector3| (v.y - middle.y).atan2(v.x - middle.x);
        angle(a).total_cmp(&angle(b))
    });
    (0..p.len()).map(|i| 0.5 * p[i].xy().perp(&p[(i + 1) % p.len()].xy())).sum()
}

/// Normal from A to B and all corners of the contact patch of two convex colliders, before it is reduced to the points that carry
/// the load.
fn contact_polygon(
    scene: &mut CollisionScene,
    [a, b]: [ColliderId; 2],
    prediction: f64,
) -> (Vector3, Vec<ContactPoint>) {
    let (placed, narrow) = scene.parts();
    let [a, b] = [a, b].map(|id| placed[id.0].as_ref().unwrap());
    let origin = a.pose_in_world.translation;
    let (A, B) = (a.posed(&origin), b.posed(&origin));
    narrow.patch.reset(Vector3::zeros(), [A.margin, B.margin], prediction);
    narrow.touch(&A, &B, &mut Memory::NONE.clone());
    let points = narrow.patch.points.iter();
    let points = points.map(|p| ContactPoint { position: p.position + origin, ..*p }).collect();
    (narrow.patch.normal, points)
}

#[test]
fn a_can_over_the_edge_of_a_table_stands_on_a_segment_of_its_cap() {
    let can = ColliderShape::Cylinder { radius: 0.03, half_length: 0.06 };
    let mut scene = CollisionScene::default();
    let ground = scene.add(&Collider::fixed(table(), at(0.0, 0.0, -0.1)));
    let can = scene.add(&Collider::moving(can, at(0.49, 0.0, 0.06)));
    scene.update(1e-4);
    // The chord at 0.01 from the middle ends at ± √(0.03² − 0.01²).
    let chord = (0.03_f64 * 0.03 - 0.01 * 0.01).sqrt();
    let (normal, polygon) = contact_polygon(&mut scene, [ground, can], 1e-4);
    assert_eq!(normal, Vector3::z());
    for y in [chord, -chord] {
        let end = Vector3::new(0.5, y, 0.0);
        assert!(polygon.iter().any(|p| (p.position - end).norm() < 1e-12), "{polygon:?}");
    }
    for p in &polygon {
        assert!(
            p.position.x <= 0.5 + 1e-9
                && (p.position.xy() - Vector3::x().xy() * 0.49).norm() < 0.03 + 1e-9
        );
    }
    let m = scene.manifolds()[0];
    assert_eq!(m.points().len(), 4);
    let largest = area(polygon.iter().map(|p| p.position));
    assert!(area(m.points().iter().map(|p| p.position)) > 0.6 * largest);
}

#[test]
fn a_prism_stands_on_all_its_corners_and_the_four_that_matter() {
    for n in [3_u32, 5, 6, 8, 24] {
        for (ground, below) in [(ColliderShape::HalfSpace, 0.0), (table(), -0.1)] {
            let mut scene = CollisionScene::default();
            let ground = scene.add(&Collider::fixed(ground, at(0.0, 0.0, below)));
            let pose = Pose::from_xyz_rpy([0.1, 0.2, 0.05 - 1e-6], [0.0, 0.0, 0.3]);
            let foot = scene.add(&Collider::moving(prism(n, 0.04, 0.05), pose));
            scene.update(1e-4);
            let (_, polygon) = contact_polygon(&mut scene, [ground, foot], 1e-4);
            let sides = f64::from(n);
            let exact = 0.5 * sides * 0.04 * 0.04 * (core::f64::consts::TAU / sides).sin();
            assert!((area(polygon.iter().map(|p| p.position)) - exact).abs() < 1e-9);
            let m = scene.manifolds()[0];
            assert_eq!(m.points().len(), 4.min(n as usize));
            let four = area(m.points().iter().map(|p| p.position));
            let mut best: f64 = 0.0;
            for i in 0..polygon.len() {
                for j in 0..i {
                    for k in 0..j {
                        for l in 0..k {
                            let of = [i, j, k, l].map(|i| polygon[i].position);
                            best = best.max(area(of.into_iter()));
                        }
                    }
                }
            }
            assert!(n < 4 || four > 0.95 * best, "{n}: {four} of {best}");
        }
    }
}

#[test]
fn unusable_meshes_are_refused_by_name_and_others_are_cleaned() {
    let mut scene = CollisionScene::default();
    let mut refuse = |shape: ColliderShape| {
        scene.try_add(&Collider::fixed(shape, Pose::IDENTITY)).unwrap_err().to_string()
    };
    let a = Vector3::zeros();
    let (b, c) = (Vector3::x(), Vector3::y());
    let nan = Vector3::new(0.0, f64::NAN, 0.0);
    let mesh = |vertices: &[Vector3], triangles: &[[u32; 3]]| ColliderShape::Triangles {
        vertices: vertices.to_vec(),
        triangles: triangles.to_vec(),
    };
    assert!(refuse(mesh(&[a, b, nan], &[[0, 1, 2]])).starts_with("vertex 2 is not finite"));
    assert!(refuse(mesh(&[a, b, b * 2.0], &[[0, 1, 2]])).contains("none has an area"));
    assert!(refuse(mesh(&[], &[])).contains("none has an area"));
    assert!(
        refuse(mesh(&[a, b, c], &[[0, 1, 3]])).contains("corner 3 is not among its 3 vertices")
    );
    let hull = |points: &[Vector3]| ColliderShape::ConvexHull { points: points.to_vec() };
    assert!(refuse(hull(&[a, b, c, b + c])).contains("no volume"));
    assert!(refuse(hull(&[a, b, c, nan])).starts_with("vertex 3 is not finite"));
    // One good triangle among flat ones, duplicates and turned duplicates.
    let triangles = [[0, 1, 2], [0, 0, 1], [1, 2, 0], [0, 1, 2], [0, 1, 3]];
    let floor = mesh(&[a - b - c, b - c, c, b * 3.0 - c * 1.0], &triangles);
    let ball = ColliderShape::Sphere { radius: 0.1 };
    let m = only(&contacts((floor, Pose::IDENTITY), (ball, at(0.0, 0.0, 0.0995)), 1e-3));
    assert_eq!((m.normal, m.points().len()), (Vector3::z(), 1));
    assert!((m.points()[0].gap + 5e-4).abs() < 1e-12);
}

/// Resting pairs: the ground and its height, the body and its pose on it.
fn resting() -> Vec<(ColliderShape, f64, ColliderShape, Pose)> {
    let can = ColliderShape::Cylinder { radius: 0.03, half_length: 0.06 };
    let pill = ColliderShape::Capsule { radius: 0.02, half_length: 0.05 };
    let side = core::f64::consts::FRAC_PI_2;
    let mut pairs = Vec::new();
    for (ground, below) in
        [(ColliderShape::HalfSpace, 0.0), (table(), -0.1), (tessellated(20, 0.5), 0.0)]
    {
        for (body, rpy, height) in [
            (CUBE, [0.0, 0.0, 0.3], 0.05),
            (hull(0.05), [0.0, 0.0, 0.3], 0.05),
            (prism(6, 0.04, 0.05), [0.0, 0.0, 0.1], 0.05),
            (can.clone(), [0.0, 0.0, 0.2], 0.06),
            (can.clone(), [0.0, side, 0.2], 0.03),
            (pill.clone(), [0.0, side, 0.7], 0.02),
            (ColliderShape::Sphere { radius: 0.04 }, [0.0; 3], 0.04),
        ] {
            let pose = Pose::from_xyz_rpy([0.013, 0.021, height], rpy);
            pairs.push((ground.clone(), below, body, pose));
        }
    }
    pairs
}

#[test]
fn a_body_that_trembles_keeps_its_points() {
    // Tilts and shifts of a body at rest in a solver: far below anything one sees.
    for (ground, below, body, X_WB) in resting() {
        let mut scene = CollisionScene::default();
        scene.add(&Collider::fixed(ground.clone(), at(0.0, 0.0, below)));
        let id = scene.add(&Collider::moving(body.clone(), X_WB));
        let mut first: Option<Manifold> = None;
        for i in 0..200 {
            let wave = |k: f64| 1e-6 * (k * f64::from(i)).sin();
            let tremble = Pose::from_xyz_rpy(
                [wave(1.3), wave(1.7), -1e-7 + 0.1 * wave(2.3)],
                [wave(0.7), wave(1.1), wave(1.9)],
            );
            let mut pose = Pose::new(tremble.rotation * X_WB.rotation, X_WB.translation);
            pose.translation += tremble.translation;
            scene.set_pose(id, &pose);
            scene.update(1e-4);
            let m = only(scene.manifolds());
            let known = *first.get_or_insert(m);
            let names = |m: &Manifold| m.points().iter().map(|p| p.feature).collect::<Vec<_>>();
            assert_eq!(names(&m), names(&known), "{ground:?} {body:?} {i}");
            assert!((m.normal - known.normal).norm() < 3e-6, "{ground:?} {body:?} {i}");
            for (p, q) in m.points().iter().zip(known.points()) {
                assert!((p.position - q.position).norm() < 2e-4, "{ground:?} {body:?} {i}");
            }
        }
    }
}

#[test]
fn a_body_that_tilts_and_turns_has_points_that_move_as_fast() {
    for (ground, below, body, X_WB) in resting() {
        let mut scene = CollisionScene::default();
        scene.add(&Collider::fixed(ground.clone(), at(0.0, 0.0, below)));
        let id = scene.add(&Collider::moving(body.clone(), X_WB));
        let mut last: Option<Manifold> = None;
        let mut changes = 0;
        for i in 0..1000 {
            // A coin that spins down: a tilt of 1e-3 rad that goes around as the body turns.
            let t = 1e-3 * f64::from(i);
            let axis = Vector3::new((6.0 * t).cos(), (6.0 * t).sin(), 0.0);
            let tilt = Pose::from_axis_angle(&axis, 1e-3);
            let turn = Pose::from_xyz_rpy([0.01 * t, 0.0, 0.0], [0.0, 0.0, 0.5 * t]);
            let rotation = tilt.rotation * turn.rotation * X_WB.rotation;
            let mut pose = Pose::new(rotation, X_WB.translation + turn.translation);
            pose.translation.z += 2e-5;
            scene.set_pose(id, &pose);
            scene.update(1e-3);
            let m = only(scene.manifolds());
            if let Some(last) = last {
                assert!((m.normal - last.normal).norm() < 1e-4, "{ground:?} {body:?} {i}");
                let deepest =
                    |m: &Manifold| m.points().iter().map(|p| p.gap).fold(f64::MAX, f64::min);
                assert!((deepest(&m) - deepest(&last)).abs() < 3e-6, "{ground:?} {body:?} {i}");
                for p in m.points() {
                    let same = last.points().iter().find(|q| q.feature == p.feature);
                    changes += usize::from(same.is_none());
                    let step = same.map_or(0.0, |q| (q.position - p.position).norm());
                    assert!(step < 5e-4, "{ground:?} {body:?} {i}: {p:?} {same:?}");
                }
            }
            last = Some(m);
        }
        assert!(changes <= 40, "{changes} new points: {ground:?} {body:?}");
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

proptest! {
    /// Half the gap on either side of a point are the two surfaces.
    #[test]
    fn points_lie_between_the_surfaces(a in any_shape(), b in any_shape(), X_WA in any_pose(), X_WB in any_pose()) {
        let mut scene = CollisionScene::default();
        let a = scene.add(&Collider::fixed(a, X_WA));
        let b = scene.add(&Collider::moving(b, X_WB));
        scene.update(1e-3);
        // As deep as contacts are: 0.1 mm.
        for _ in 0..3 {
            let Some(m) = scene.manifolds().first() else { break };
            let depth = m.points().iter().map(|p| -p.gap).fold(0.0, f64::max);
            let away = Pose::from_translation(m.normal * (depth - 1e-4));
            scene.set_pose(b, &(away * scene.pose(b).unwrap()));
            scene.update(1e-3);
        }
        let manifolds = scene.manifolds().to_vec();
        let probe = ColliderShape::Sphere { radius: 1e-6 };
        for m in manifolds {
            for p in m.points() {
                for (body, side) in [(a, -0.5), (b, 0.5)] {
                    let place = Pose::from_translation(p.position + m.normal * (side * p.gap));
                    let id = scene.add(&Collider::moving(probe.clone(), place));
                    let near = scene.closest_points(body, id, f64::INFINITY).unwrap();
                    prop_assert!((near.gap + 1e-6).abs() < 2e-6 + 0.02 * p.gap.abs(), "{:?} {:?} {:?}", m, p, near);
                    scene.remove(id);
                }
            }
        }
    }

    /// Two shapes in exchanged order have the same contact.
    #[test]
    fn exchanged_shapes_have_the_mirrored_contact(a in any_shape(), b in any_shape(), X_WA in any_pose(), X_WB in any_pose()) {
        let ab = contacts((a.clone(), X_WA), (b.clone(), X_WB), 1e-3);
        let ba = contacts((b, X_WB), (a, X_WA), 1e-3);
        prop_assert_eq!(ab.len(), ba.len());
        for (m, w) in ab.iter().zip(&ba) {
            let depth = |m: &Manifold| m.points().iter().map(|p| p.gap).fold(f64::MAX, f64::min);
            prop_assert!((depth(m) - depth(w)).abs() < 1e-5, "{:?} {:?}", m, w);
            // Overlaps of which two directions are as good may choose either.
            if (m.normal + w.normal).norm() < 1e-3 {
                for p in m.points() {
                    let near = w.points().iter().map(|q| (q.position - p.position).norm());
                    let near = near.fold(f64::MAX, f64::min);
                    prop_assert!(near < 1e-4 || m.points().len() >= 3, "{:?} {:?}", m, w);
                }
            }
        }
    }
}
