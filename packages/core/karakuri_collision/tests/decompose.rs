//! Convex parts of a mesh that is not convex.

#![expect(clippy::print_stdout, reason = "it shows what it measured")]
#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]

use karakuri_collision::{
    Collider, ColliderId, ColliderShape, CollisionScene, ShapeError, decompose,
};
use karakuri_spatial::{Pose, Vector3};

/// A prism along y, 0.2 m thick, of an outline in x and z, counter-clockwise seen from −y, with the triangles of its caps.
fn prism(outline: &[[f64; 2]], cap: &[[u32; 3]]) -> (Vec<Vector3>, Vec<[u32; 3]>) {
    let n = u32::try_from(outline.len()).unwrap();
    let at = |y: f64| outline.iter().map(move |&[x, z]| Vector3::new(x, y, z));
    let vertices: Vec<Vector3> = at(-0.1).chain(at(0.1)).collect();
    let back = cap.iter().map(|&[a, b, c]| [a + n, c + n, b + n]);
    let sides = (0..n).flat_map(|i| {
        let j = (i + 1) % n;
        [[i, j + n, j], [i, i + n, j + n]]
    });
    (vertices, cap.iter().copied().chain(back).chain(sides).collect())
}

/// An L of two bars, 0.3 high and 0.3 wide, 0.1 thick.
fn angle() -> (Vec<Vector3>, Vec<[u32; 3]>) {
    let outline = [[0.0, 0.0], [0.3, 0.0], [0.3, 0.1], [0.1, 0.1], [0.1, 0.3], [0.0, 0.3]];
    // From its inner corner.
    prism(&outline, &[[3, 4, 5], [3, 5, 0], [3, 0, 1], [3, 1, 2]])
}

/// A U upside down, 0.3 wide and 0.4 high, with a slot 0.1 wide below a ceiling at 0.3.
fn hook() -> (Vec<Vector3>, Vec<[u32; 3]>) {
    let outline = [
        [-0.15, 0.0],
        [-0.05, 0.0],
        [-0.05, 0.3],
        [0.05, 0.3],
        [0.05, 0.0],
        [0.15, 0.0],
        [0.15, 0.4],
        [-0.15, 0.4],
    ];
    prism(&outline, &[[0, 1, 2], [0, 2, 7], [2, 3, 7], [3, 6, 7], [3, 4, 5], [3, 5, 6]])
}

/// A plate with n × n bristles, 0.2 long and as wide as the gaps between them, 0.5 m wide.
fn brush(n: u32) -> (Vec<Vector3>, Vec<[u32; 3]>) {
    let width = 0.5 / f64::from(2 * n);
    let at = |i: u32| f64::from(2 * i) * width;
    let bristles = (0..n * n).map(|i| {
        let lower = Vector3::new(at(i % n), at(i / n), -0.2);
        [lower, lower + Vector3::new(width, width, 0.2)]
    });
    let plate = [Vector3::zeros(), Vector3::new(0.5, 0.5, 0.05)];
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for [lower, upper] in bristles.chain([plate]) {
        let first = u32::try_from(vertices.len()).unwrap();
        let corner = |i: usize| Vector3::from_fn(|k, _| [lower, upper][i >> k & 1][k]);
        vertices.extend((0..8).map(corner));
        let faces =
            [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        for [a, b, c, d] in faces.map(|face| face.map(|i: u32| i + first)) {
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    (vertices, triangles)
}

/// A ring about z: distance of the tube's middle from the axis, and the tube's radius. [m]
const RING: [f64; 2] = [0.2, 0.05];

fn ring(n: u32) -> (Vec<Vector3>, Vec<[u32; 3]>) {
    let turn = |i: u32| f64::from(i) * core::f64::consts::TAU / f64::from(n);
    let vertices = (0..n * n).map(|i| {
        let (u, v) = (turn(i / n), turn(i % n));
        let out = RING[0] + RING[1] * v.cos();
        Vector3::new(out * u.cos(), out * u.sin(), RING[1] * v.sin())
    });
    let triangles = (0..n * n).flat_map(|i| {
        let (u, v) = (i / n, i % n);
        let at = |u: u32, v: u32| (u % n) * n + v % n;
        let [a, b, c, d] = [at(u, v), at(u + 1, v), at(u + 1, v + 1), at(u, v + 1)];
        [[a, b, c], [a, c, d]]
    });
    (vertices.collect(), triangles.collect())
}

/// Distance of a point from the solid of [`ring`], to the sagitta of its facets. [m]
fn distance_to_ring(p: &Vector3) -> f64 {
    (p.xy().norm() - RING[0]).hypot(p.z) - RING[1]
}

/// Whether points are in one of some parts.
struct Inside {
    scene: CollisionScene,
    probe: ColliderId,
}

impl Inside {
    fn new(parts: &[Vec<Vector3>]) -> Self {
        let mut scene = CollisionScene::default();
        for part in parts {
            let hull = ColliderShape::ConvexHull { points: part.clone() };
            scene.add(&Collider::fixed(hull, Pose::IDENTITY));
        }
        let probe = ColliderShape::Sphere { radius: 1e-6 };
        let probe = scene.add(&Collider::moving(probe, Pose::IDENTITY));
        Self { scene, probe }
    }

    fn any(&mut self, point: &Vector3) -> bool {
        self.scene.set_pose(self.probe, &Pose::from_translation(*point));
        self.scene.update(1e-9);
        !self.scene.manifolds().is_empty()
    }
}

fn grid(lower: [f64; 3], upper: [f64; 3], n: u32) -> impl Iterator<Item = Vector3> {
    let at = move |k: usize, i: u32| {
        lower[k] + (upper[k] - lower[k]) * (f64::from(i) + 0.5) / f64::from(n)
    };
    (0..n * n * n).map(move |i| Vector3::new(at(0, i % n), at(1, i / n % n), at(2, i / n / n)))
}

#[test]
fn solids_of_bars_come_apart_into_bars() {
    for (name, (vertices, triangles), n_bars) in [("L", angle(), 2), ("U", hook(), 3)] {
        let found = decompose(&vertices, &triangles, None).unwrap();
        assert_eq!((found.parts.len(), found.deviation), (n_bars, 0.0), "{name}");
    }
    // The slot is free to its corners, and nowhere else.
    let (vertices, triangles) = hook();
    let found = decompose(&vertices, &triangles, Some(1e-3)).unwrap();
    let mut parts = Inside::new(&found.parts);
    for p in grid([-0.15, -0.1, 0.0], [0.15, 0.1, 0.4], 20) {
        let is_slot = p.x.abs() < 0.05 && p.z < 0.3;
        assert_eq!(parts.any(&p), !is_slot, "{p:?}");
    }
}

#[test]
fn parts_of_a_ring_keep_the_tolerance() {
    let (vertices, triangles) = ring(48);
    let sagitta = 1e-3;
    let mut n_parts = 0;
    for tolerance in [0.02, 0.01, 0.005] {
        let found = decompose(&vertices, &triangles, Some(tolerance)).unwrap();
        println!("{tolerance}: {} parts, {:.4} m", found.parts.len(), found.deviation);
        assert!(
            found.deviation <= tolerance && found.parts.len() > n_parts,
            "{}",
            found.parts.len()
        );
        n_parts = found.parts.len();
        let mut parts = Inside::new(&found.parts);
        for p in grid([-0.26, -0.26, -0.06], [0.26, 0.26, 0.06], 24) {
            let distance = distance_to_ring(&p);
            let is_in = parts.any(&p);
            assert!(is_in || distance > -sagitta, "{p:?} is {distance} m inside, and in no part");
            assert!(
                !is_in || distance < tolerance + sagitta,
                "{p:?} is {distance} m outside, and in a part"
            );
        }
    }
}

#[test]
fn a_tolerance_out_of_reach_is_refused_with_what_is_in_reach() {
    let refused = |(vertices, triangles): &(Vec<Vector3>, Vec<[u32; 3]>), tolerance| {
        decompose(vertices, triangles, Some(tolerance)).unwrap_err()
    };
    let said = refused(&hook(), 1e-5).to_string();
    assert!(said.contains("below 0.1 % of the mesh's size; write 0.00054 or more"), "{said}");
    let error = refused(&brush(12), 0.002);
    assert!(matches!(error, ShapeError::Deviation { n_parts: 100..=128, .. }), "{error}");
    let said = error.to_string();
    assert!(
        said.contains(" convex parts are up to ") && said.contains("write `tolerance: 0.0"),
        "{said}"
    );
}

#[test]
fn a_ball_fits_into_the_inside_of_an_angle() {
    let (vertices, triangles) = angle();
    let parts = decompose(&vertices, &triangles, None).unwrap().parts;
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
    let again = decompose(&vertices, &triangles, None).unwrap().parts;
    assert_eq!(parts, again);
}

#[test]
fn what_has_no_volume_is_refused() {
    let corners = [Vector3::zeros(), Vector3::x(), Vector3::y()];
    assert!(decompose(&corners, &[[0, 1, 2]], None).is_err());
    let nan = [Vector3::zeros(), Vector3::x(), Vector3::repeat(f64::NAN)];
    assert_eq!(decompose(&nan, &[[0, 1, 2]], None), Err(ShapeError::NotFinite { vertex: 2 }));
}
