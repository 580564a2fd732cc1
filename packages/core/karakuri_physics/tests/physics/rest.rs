//! Convex meshes come to rest on every floor: with an uneven underside, as those of real robots have, and dropped stones.

#![expect(clippy::unwrap_used, reason = "a test may stop")]
#![expect(clippy::print_stdout, reason = "it shows what it measured")]

use std::sync::Arc;

use karakuri_model::{Convex, Mesh, Shape};
use karakuri_physics::{BodyDescription, World, WorldSettings};
use karakuri_spatial::{Pose, UnitQuaternion, Vector3};
use karakuri_testkit::Random;

/// Steps of 1 ms until a foot rests, and a stone, which rocks for a while.
const STEPS: [usize; 2] = [4000, 8000];
/// The last steps of those, in which it must.
const LAST: usize = 200;
/// Speed of a corner of a body at rest. [m/s]
const REST: f64 = 1e-9;
/// The same for stones: three contacts within a few millimetres amplify the residual of their velocities, 1e-10 m/s, at the far corners.
/// [m/s]
const STONE_REST: f64 = 10.0 * REST;
const N_BODIES: usize = 200;
/// Semi-axes of a stone. [m] (3)
const STONE: Vector3 = Vector3::new(0.1, 0.07, 0.06);
/// Distance of the farthest corner from the centre. [m]
const CORNER: f64 = 0.15;

/// A foot of 0.2 m × 0.12 m × 0.1 m, its sole uneven by `unevenness`. [m]
fn foot(random: &mut Random, unevenness: f64) -> Shape {
    let mut points: Vec<Vector3> = (0..40)
        .map(|_| {
            let (x, y) = (random.uniform(-0.1, 0.1), random.uniform(-0.06, 0.06));
            Vector3::new(x, y, random.uniform(-0.05, unevenness - 0.05))
        })
        .collect();
    for (x, y) in [(-0.06, -0.04), (0.06, -0.04), (0.06, 0.04), (-0.06, 0.04)] {
        points.push(Vector3::new(x, y, 0.05));
    }
    let vertices = points.iter().map(|p| [p.x, p.y, p.z]).collect();
    mesh(vertices, vec![[0, 1, 2]])
}

fn mesh(vertices: Vec<[f64; 3]>, triangles: Vec<[u32; 3]>) -> Shape {
    let convex = Convex::Hull;
    Shape::Mesh(Arc::new(Mesh { path: "foot.stl".into(), vertices, triangles, convex }))
}

/// A stone, the hull of random points on an ellipsoid. [m] (3)
pub(crate) fn stone(random: &mut Random, semi_axes: &Vector3) -> Shape {
    let n_points = 8 + random.below(40);
    let vertices = (0..n_points).map(|_| {
        let p = Vector3::from_fn(|_, _| random.uniform(-1.0, 1.0)).normalize();
        semi_axes.component_mul(&p).into()
    });
    mesh(vertices.collect(), vec![[0, 1, 2]])
}

/// A field of 4 m × 4 m in cells of 0.15 m with bumps up to a height. [m]
fn field(bumps: f64) -> Shape {
    let n = 30_u32;
    let place = |i: u32| 0.15 * f64::from(i) - 2.3;
    let mut random = Random::new(7);
    let vertices = (0..n * n)
        .map(|i| [place(i % n), place(i / n), bumps * random.uniform(-1.0, 1.0)])
        .collect();
    let cells = (0..n * n).filter(|i| i % n + 1 < n && i / n + 1 < n);
    let triangles = cells.flat_map(|i| [[i, i + 1, i + n], [i + 1, i + n + 1, i + n]]).collect();
    mesh(vertices, triangles)
}

fn world(floor: &str) -> World {
    let mut w = World::new(WorldSettings { dt: 1e-3, ..WorldSettings::default() });
    let fixed = |shape, z: f64| BodyDescription {
        fixed: true,
        friction: 0.8,
        ..BodyDescription::new("floor", shape, 1.0, Pose::from_translation(Vector3::z() * z))
    };
    match floor {
        "ground" => {
            w.add_ground(0.8, 0.0);
        }
        "box" => {
            w.add_body(fixed(Shape::Box { size: Vector3::new(4.0, 4.0, 1.0) }, -0.5)).unwrap();
        }
        "field" => {
            w.add_body(fixed(field(0.0), 0.0)).unwrap();
        }
        "bumpy field" => {
            w.add_body(fixed(field(0.01), 0.0)).unwrap();
        }
        _ => {
            let corners = [[-9.0, -9.0], [9.0, -9.0], [9.0, 9.0], [-9.0, 9.0]];
            let vertices = corners.map(|[x, y]| [x, y, 0.0]).to_vec();
            w.add_body(fixed(mesh(vertices, vec![[0, 1, 2], [0, 2, 3]]), 0.0)).unwrap();
        }
    }
    w
}

/// Speeds of a body's corners in the last steps: mean, by the distance, and largest. [m/s]
#[derive(Debug, Clone, Copy)]
struct LastSpeed {
    mean: f64,
    largest: f64,
}

fn last_speed(floor: &str, body: &BodyDescription, steps: usize) -> LastSpeed {
    let mut w = world(floor);
    let id = w.add_body(body.clone()).unwrap();
    for _ in 0..steps - LAST {
        w.step();
    }
    let start = w.body(id).pose();
    let mut largest = 0.0_f64;
    for _ in 0..LAST {
        w.step();
        let v = w.body(id).velocity();
        let speed = v.linear.norm() + CORNER * v.angular.norm();
        assert!(speed.is_finite(), "{} on {floor}", body.name);
        largest = largest.max(speed);
    }
    let end = w.body(id).pose();
    let distance = (end.translation - start.translation).norm()
        + CORNER * (end.rotation - start.rotation).norm();
    LastSpeed { mean: distance / (1e-3 * LAST as f64), largest }
}

fn uneven_foot(seed: u64) -> BodyDescription {
    let mut random = Random::new(seed);
    let unevenness = [1e-3, 1e-4, 1e-5, 3e-3][random.below(4)];
    let shape = foot(&mut random, unevenness);
    let pose = Pose::from_translation(Vector3::z() * 0.0505);
    BodyDescription { friction: 0.8, ..BodyDescription::new("foot", shape, 40.0, pose) }
}

fn dropped_stone(seed: u64) -> BodyDescription {
    let mut random = Random::new(seed);
    let shape = stone(&mut random, &STONE);
    let turn = Vector3::from_fn(|_, _| random.uniform(-2.0, 2.0));
    let pose = Pose::from_quaternion(&UnitQuaternion::from_scaled_axis(turn), Vector3::z() * 0.15);
    BodyDescription { friction: 0.8, ..BodyDescription::new("stone", shape, 3.0, pose) }
}

#[test]
fn uneven_feet_rest_on_the_ground() {
    rest_on("ground", uneven_foot, REST);
}

#[test]
fn uneven_feet_rest_on_a_box() {
    rest_on("box", uneven_foot, REST);
}

#[test]
fn uneven_feet_rest_on_a_height_field() {
    rest_on("field", uneven_foot, REST);
}

#[test]
fn dropped_stones_rest_on_the_ground() {
    rest_on("ground", dropped_stone, STONE_REST);
}

#[test]
fn dropped_stones_rest_on_a_box() {
    rest_on("box", dropped_stone, STONE_REST);
}

#[test]
fn dropped_stones_rest_on_a_mesh() {
    rest_on("mesh", dropped_stone, STONE_REST);
}

#[test]
fn dropped_stones_rest_on_a_height_field() {
    rest_on("field", dropped_stone, STONE_REST);
}

#[test]
fn dropped_stones_rest_on_a_bumpy_height_field() {
    rest_on("bumpy field", dropped_stone, STONE_REST);
}

/// Mean speeds stay below [`REST`], each below `largest`, which is larger for stones. [m/s]
fn rest_on(floor: &str, body: fn(u64) -> BodyDescription, largest: f64) {
    let steps = if largest > REST { STEPS[1] } else { STEPS[0] };
    let speeds = (0..N_BODIES as u64).map(|seed| (last_speed(floor, &body(seed), steps), seed));
    let moves = |speed: &LastSpeed| speed.mean > REST || speed.largest > largest;
    let moving: Vec<(LastSpeed, u64)> = speeds.filter(|(speed, _)| moves(speed)).collect();
    println!("on {floor}: {} of {N_BODIES} move: {moving:?}", moving.len());
    assert!(moving.is_empty(), "{floor}: {moving:?}");
}
