//! Convex parts of a mesh that is not convex.

use karakuri_collision::{Collider, ColliderShape, CollisionScene, ShapeError, decompose};
use karakuri_spatial::{Pose, Vector3};

/// An L of two bars, 0.3 high and 0.3 wide, 0.1 thick: a prism of its outline along y.
fn angle() -> (Vec<Vector3>, Vec<[u32; 3]>) {
    let outline = [[0.0, 0.0], [0.3, 0.0], [0.3, 0.1], [0.1, 0.1], [0.1, 0.3], [0.0, 0.3]];
    let at = |y: f64| outline.map(move |[x, z]| Vector3::new(x, y, z));
    let vertices: Vec<Vector3> = at(-0.1).into_iter().chain(at(0.1)).collect();
    // The outline from its inner corner, seen from −y; turned on the other side.
    let cap = [[3, 4, 5], [3, 5, 0], [3, 0, 1], [3, 1, 2]];
    let back = cap.map(|[a, b, c]| [a + 6, c + 6, b + 6]);
    let sides = (0..6u32).flat_map(|i| {
        let j = (i + 1) % 6;
        [[i, i + 6, j + 6], [i, j + 6, j]].map(|[a, b, c]| [a, c, b])
    });
    (vertices, cap.into_iter().chain(back).chain(sides).collect())
}

#[test]
fn a_ball_fits_into_the_inside_of_an_angle() {
    let (vertices, triangles) = angle();
    let parts = decompose(&vertices, &triangles).unwrap();
    assert!((2..=4).contains(&parts.len()), "{} parts", parts.len());
    let mut scene = CollisionScene::default();
    for points in &parts {
        let hull = ColliderShape::ConvexHull { points: points.clone() };
        scene.add(&Collider::fixed(hull, Pose::IDENTITY));
    }
    let ball = |x: f64, z: f64| {
        let pose = Pose::from_translation(Vector3::new(x, 0.0, z));
        Collider::moving(ColliderShape::Sphere { radius: 0.03 }, pose)
    };
    let free = scene.add(&ball(0.15, 0.15));
    scene.update(1e-4);
    assert!(scene.manifolds().is_empty(), "{:?}", scene.manifolds());
    // The parts' faces are the mesh's, not the voxels'.
    scene.set_pose(free, &ball(0.2, 0.1301).pose);
    scene.update(1e-3);
    let gap = scene.manifolds()[0].points()[0].gap;
    assert!((gap - 1e-4).abs() < 1e-6, "{gap}");
    let again = decompose(&vertices, &triangles).unwrap();
    assert_eq!(parts, again);
}

#[test]
fn what_has_no_volume_is_refused() {
    let corners = [Vector3::zeros(), Vector3::x(), Vector3::y()];
    assert!(decompose(&corners, &[[0, 1, 2]]).is_err());
    let nan = [Vector3::zeros(), Vector3::x(), Vector3::repeat(f64::NAN)];
    assert_eq!(decompose(&nan, &[[0, 1, 2]]), Err(ShapeError::NotFinite { vertex: 2 }));
}
