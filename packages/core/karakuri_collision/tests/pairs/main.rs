//! Every pair of shapes, in random and in aligned poses, against formulas that share nothing with the library's.
//!
//! `CASES=20000 cargo test --release -p karakuri_collision --test pairs` looks longer.
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]
#![expect(clippy::print_stdout, reason = "it shows what it measured")]

mod reference;

use karakuri_collision::{Collider, ColliderShape, CollisionScene, Manifold};
use karakuri_spatial::{Pose, UnitQuaternion, Vector3};

use self::reference::{Shape, most_room, room};

/// Splitmix64: the cases are the same on every machine.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform.
    fn within(&mut self, low: f64, high: f64) -> f64 {
        let unit = (self.bits() >> 11) as f64 / (1_u64 << 53) as f64;
        low + (high - low) * unit
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.bits() % n as u64).unwrap_or(0)
    }

    fn vector(&mut self, reach: f64) -> Vector3 {
        Vector3::from_fn(|_, _| self.within(-reach, reach))
    }

    fn direction(&mut self) -> Vector3 {
        loop {
            let v = self.vector(1.0);
            if (0.01..1.0).contains(&v.norm()) {
                return v.normalize();
            }
        }
    }

    /// Any; or quarter turns about the axes, and a little more.
    fn rotation(&mut self) -> UnitQuaternion {
        let any =
            |r: &mut Self, angle: f64| UnitQuaternion::from_scaled_axis(r.direction() * angle);
        if self.below(2) == 0 {
            let angle = self.within(0.0, 3.2);
            return any(self, angle);
        }
        let quarter = core::f64::consts::FRAC_PI_2;
        let [r, p, y] = [0; 3].map(|_: i32| self.below(4) as f64 * quarter);
        let little = if self.below(3) == 0 { 0.0 } else { 10.0_f64.powf(self.within(-12.0, -0.5)) };
        any(self, little) * UnitQuaternion::from_euler_angles(r, p, y)
    }
}

fn shapes(random: &mut Random) -> Vec<Shape> {
    let mut size = || 10.0_f64.powf(random.within(-2.0, -0.9));
    let (radius, half_length) = (size(), size());
    let half_extents = Vector3::from_fn(|_, _| size());
    let semi_axes = Vector3::from_fn(|_, _| size());
    let sides = 3 + random.below(6);
    let (r, h) =
        (10.0_f64.powf(random.within(-2.0, -1.0)), 10.0_f64.powf(random.within(-2.0, -1.0)));
    let corner = |i: usize| {
        let angle = core::f64::consts::TAU * (i % sides) as f64 / sides as f64;
        Vector3::new(r * angle.cos(), r * angle.sin(), if i < sides { h } else { -h })
    };
    let prism = (0..2 * sides).map(corner).collect();
    let crystal = loop {
        let points: Vec<Vector3> =
            (0..6 + random.below(4)).map(|_| random.direction() * r).collect();
        let crystal = Shape::new("crystal", ColliderShape::ConvexHull { points });
        // Faces that meet at less than 0.2 mrad are one face.
        if crystal.smallest_fold() > 2e-4 {
            break crystal;
        }
    };
    let mesh = crystal.as_mesh();
    vec![
        mesh,
        Shape::new("box", ColliderShape::Box { half_extents }),
        Shape::new("sphere", ColliderShape::Sphere { radius }),
        Shape::new("cylinder", ColliderShape::Cylinder { radius, half_length }),
        Shape::new("capsule", ColliderShape::Capsule { radius, half_length }),
        Shape::new("prism", ColliderShape::ConvexHull { points: prism }),
        crystal,
        Shape::new("ellipsoid", ColliderShape::Ellipsoid { semi_axes }),
        Shape::new("half-space", ColliderShape::HalfSpace),
    ]
}

/// By how much a point is off a surface, the deepest point is not as deep as the room along the normal says, and another
/// normal has more room. [m]
fn errors(a: (&Shape, &Pose), b: (&Shape, &Pose), m: &Manifold) -> [f64; 3] {
    let along = room(a, b, &m.normal);
    let deepest = m.points().iter().map(|p| p.gap).fold(f64::MAX, f64::min);
    let mut surface = 0.0_f64;
    for p in m.points() {
        for ((shape, pose), side) in [(a, -0.5), (b, 0.5)] {
            let p = pose.inverse().transform_point(&(p.position + m.normal * (side * p.gap)));
            surface = surface.max(shape.signed_distance(&p).abs());
        }
    }
    let plane = |(shape, _): (&Shape, &Pose)| shape.collider == ColliderShape::HalfSpace;
    let most = if plane(a) || plane(b) { along } else { most_room(a, b, &m.normal).0 };
    [surface, (along - deepest).abs(), most - along]
}

/// Two shapes, B moved along the normal to a small gap or overlap.
struct Case {
    a: (Shape, Pose),
    b: (Shape, Pose),
    found: Vec<Manifold>,
    gap: f64,
}

fn case(random: &mut Random, i: usize, j: usize) -> Case {
    let mut take = |i: usize| {
        let shape = shapes(random).swap_remove(i);
        (shape, Pose::from_quaternion(&random.rotation(), random.vector(0.1)))
    };
    let (a, mut b) = (take(i), take(j));
    let target = [-1e-4, -1e-6, 0.0, 1e-6, 3e-4][random.below(5)];
    let mut scene = CollisionScene::default();
    let [ia, ib] = [&a, &b].map(|s| scene.add(&Collider::moving(s.0.collider.clone(), s.1)));
    let mut gap = f64::NAN;
    for _ in 0..4 {
        let Some(near) = scene.closest_points(ia, ib, f64::INFINITY) else { break };
        gap = near.gap;
        b.1.translation += near.normal * (target - near.gap);
        scene.set_pose(ib, &b.1);
    }
    scene.update(1e-3);
    Case { a, b, found: scene.manifolds().to_vec(), gap }
}

/// To which all must be right. [m]
const LIMIT: f64 = 1e-6;

#[test]
fn points_normals_and_depths_are_right_for_every_pair() {
    let number = |name| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let (cases, first) = (number("CASES").unwrap_or(100), number("FIRST").unwrap_or(0));
    let names = shapes(&mut Random(0)).iter().map(|s| s.name).collect::<Vec<_>>();
    let mut wrong = Vec::new();
    for (i, j) in (0..names.len()).flat_map(|i| (0..names.len()).map(move |j| (i, j))) {
        let pair = format!("{} {}", names[i], names[j]);
        // Two that have no inside do not touch.
        let hollow = |name: &str| ["mesh", "half-space"].contains(&name);
        if hollow(names[i]) && hollow(names[j]) {
            continue;
        }
        let mut worst = [0.0_f64; 3];
        for n in first..first + cases {
            let mut random = Random(n << 16 | (i as u64) << 8 | j as u64);
            let Case { a, b, found, gap } = case(&mut random, i, j);
            let deepest = |m: &Manifold| m.points().iter().map(|p| p.gap).fold(f64::MAX, f64::min);
            // A mesh has a manifold for every face; the deepest is that of the two shapes.
            let all = found.iter().map(|m| (deepest(m), errors((&a.0, &a.1), (&b.0, &b.1), m)));
            let all: Vec<(f64, [f64; 3])> = all.collect();
            let Some(first) = all.iter().min_by(|x, y| x.0.total_cmp(&y.0)) else {
                wrong.push(format!("case {n} of {pair}: nothing found at {gap}"));
                continue;
            };
            let surface = all.iter().map(|(_, e)| e[0]).fold(0.0, f64::max);
            // What overlaps a mesh leaves it through a face, which need not be the shortest way.
            let mesh = names[i] == "mesh" || names[j] == "mesh";
            let errors = if mesh { [surface, 0.0, 0.0] } else { [surface, first.1[1], first.1[2]] };
            if errors.iter().any(|e| *e > LIMIT) {
                wrong.push(format!("case {n} of {pair}: {errors:?} {found:?}"));
            }
            worst = core::array::from_fn(|k| worst[k].max(errors[k]));
        }
        let [surface, depth, normal] = worst;
        println!("{pair:22} surface {surface:.1e} m, depth {depth:.1e} m, normal {normal:.1e} m");
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(5)].join("\n"));
}
