use proptest::prelude::*;

use super::*;
use crate::{Collider, ColliderShape, CollisionScene};
use karakuri_spatial::{Pose, UnitQuaternion};

fn build(points: &[Vector3]) -> Option<Hull> {
    Hull::around(points).map(|(hull, _)| hull)
}

/// Properties of every hull: each vertex on a face, each face convex, nothing far above it.
fn check(hull: &Hull, points: &[Vector3]) {
    let size = (hull.bounds.upper - hull.bounds.lower).norm();
    for (i, &(first, len)) in hull.vertex_runs.iter().enumerate() {
        assert!(len > 0, "vertex {i} is on no face");
        assert!((first + len) as usize <= hull.vertex_faces.len());
    }
    for face in &hull.faces {
        let corners = &hull.corners[face.first as usize..(face.first + face.len) as usize];
        let p = |k: usize| hull.vertices[corners[k % corners.len()] as usize];
        for k in 0..corners.len() {
            let turn = (p(k + 1) - p(k)).cross(&(p(k + 2) - p(k + 1))).dot(&face.normal);
            assert!(turn > 0.0, "corner {k} of {corners:?} turns by {turn}");
        }
        let above = points.iter().map(|q| face.normal.dot(&(q - p(0)))).fold(0.0, f64::max);
        assert!(above < 4e-4 * size, "a point stands {above} m above a face, of {size} m");
    }
}

/// A square prism whose faces have a corner in the middle that stands proud by `bulge`.
fn bulging_prism(bulge: f64) -> Vec<Vector3> {
    let corner =
        |i: u32| Vector3::from([1, 2, 4].map(|bit| if i & bit > 0 { 0.05 } else { -0.05 }));
    let mut points: Vec<Vector3> = (0..8).map(corner).collect();
    for axis in 0..3 {
        for side in [-1.0, 1.0] {
            let mut p = Vector3::zeros();
            p[axis] = side * (0.05 + bulge);
            points.push(p);
        }
    }
    points
}

#[test]
fn faces_that_bulge_by_a_rounding_are_flat_and_no_corner_is_without_a_face() {
    for exponent in 4..16 {
        let points = bulging_prism(10.0_f64.powi(-exponent));
        let hull = build(&points).unwrap();
        check(&hull, &points);
        if exponent >= 6 {
            assert_eq!((hull.vertices.len(), hull.faces.len()), (8, 6), "1e-{exponent}");
        }
    }
}

#[test]
fn a_tetrahedron_whose_corners_are_in_one_plane_but_for_a_rounding_is_a_plate() {
    let points = [
        Vector3::new(
            -0.001_901_500_942_859_440_2,
            0.005_704_500_640_198_044,
            -0.003_802_999_571_387_701_5,
        ),
        Vector3::new(
            -0.001_901_501_196_873_384_7,
            0.005_704_500_642_955_505,
            -0.003_803_000_426_798_696,
        ),
        Vector3::new(0.003_803_000_996_435_097, 0.0, 0.0),
        Vector3::new(0.0, 0.0, 0.003_803_000_426_798_696),
    ];
    let hull = build(&points).unwrap();
    check(&hull, &points);
    let size = (hull.bounds.upper - hull.bounds.lower).norm();
    assert!(hull.half_width < 2e-5 * size, "{}", hull.half_width);
}

#[test]
fn a_smooth_surface_of_many_small_steps_is_not_one_face() {
    // A lens of 20 mm, whose rings are inclined by less than a face's tolerance against one another.
    let mut points = Vec::new();
    for ring in 1..=120 {
        let radius = 0.02 * f64::from(ring) / 120.0;
        let height = 1e-3 * (1.0 - (radius / 0.02).powi(2));
        points.extend((0..12).map(|k| {
            let (sin, cos) = (core::f64::consts::TAU * f64::from(k) / 12.0).sin_cos();
            Vector3::new(radius * cos, radius * sin, height)
        }));
    }
    points.push(Vector3::new(0.0, 0.0, -0.01));
    let hull = build(&points).unwrap();
    check(&hull, &points);
    let top = hull.vertices[hull.support(&Vector3::z())].z;
    assert!((top - 1e-3).abs() < 1e-6, "{top}");
}

/// Points as of a mesh: of few different coordinates, with the rounding of a file.
fn points() -> impl Strategy<Value = Vec<Vector3>> {
    let point = prop::array::uniform3(-3..=3_i32);
    let noise = prop::array::uniform3(-1.0..1.0_f64);
    let point = (point, noise);
    (prop::collection::vec(point, 4..40), -12.0..-3.0_f64, -3.0..0.0_f64).prop_map(
        |(points, exponent, size)| {
            let (noise, size) = (10.0_f64.powf(exponent), 10.0_f64.powf(size));
            let point = |(p, n): ([i32; 3], [f64; 3])| {
                (Vector3::from(p.map(f64::from)) + Vector3::from(n) * noise) * size
            };
            points.into_iter().map(point).collect()
        },
    )
}

fn pose() -> impl Strategy<Value = Pose> {
    let turn = prop::array::uniform3(-3.0..3.0_f64);
    (turn, prop::array::uniform3(-2.0..2.0_f64)).prop_map(|(turn, p)| {
        let turn = UnitQuaternion::from_scaled_axis(Vector3::from(turn));
        Pose::new(*turn.to_rotation_matrix().matrix(), Vector3::from(p))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever the points, the hull is one, or there is none; and it touches all that it meets.
    #[test]
    fn no_hull_of_points_of_a_mesh_panics(a in points(), b in points(), X in pose()) {
        for points in [&a, &b] {
            if let Some(hull) = build(points) {
                check(&hull, points);
            }
        }
        let mut scene = CollisionScene::default();
        let shape = |points: &Vec<Vector3>| ColliderShape::ConvexHull { points: points.clone() };
        let (A, B) = (shape(&a), shape(&b));
        if A.unit_inertia().is_err() || B.unit_inertia().is_err() {
            return Ok(());
        }
        let size = a.iter().chain(&b).map(Vector3::norm).fold(0.0, f64::max);
        let X = Pose::new(X.rotation, X.translation * size);
        scene.add(&Collider::fixed(ColliderShape::HalfSpace, Pose::IDENTITY));
        scene.add(&Collider::moving(A, Pose::IDENTITY));
        scene.add(&Collider::moving(B, X));
        scene.update(1e-3);
        for m in scene.manifolds() {
            prop_assert!((m.normal.norm() - 1.0).abs() < 1e-9, "{m:?}");
            for p in m.points() {
                prop_assert!(p.gap.is_finite() && p.position.iter().all(|x| x.is_finite()));
            }
        }
    }
}

proptest! {
    /// Points on a coarse grid have many equals.
    #[test]
    fn the_farthest_is_that_of_a_look_at_every_point(
        cells in proptest::collection::vec([-3_i8..4, -3_i8..4, -3_i8..4], 1..200),
        fine in proptest::bool::ANY,
        directions in proptest::collection::vec([-2_i8..3, -2_i8..3, -2_i8..3], 20),
    ) {
        let scale = if fine { 0.1 } else { 1.0 };
        let vector = |v: [i8; 3]| Vector3::from(v.map(f64::from));
        let points: Vec<Vector3> = cells.into_iter().map(|c| scale * vector(c)).collect();
        let farthest = farthest::Farthest::of(&points);
        for direction in directions.into_iter().map(vector) {
            let mut best = (0, f64::NEG_INFINITY);
            for (i, p) in points.iter().enumerate() {
                if p.dot(&direction) > best.1 {
                    best = (i, p.dot(&direction));
                }
            }
            prop_assert_eq!(farthest.along(&direction), best);
        }
    }
}
