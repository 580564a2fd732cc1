//! Step time of a scene of free bodies in Rapier (f32), and the accuracy that goes with it, as JSON.
//!
//! `rapier_step NAME`, in the repository's root, for a line of `packages/dev/peers/scenes.yaml`: the CPU time of one thread for a
//! step once the scene has settled, and how much lower a body is than at time zero or how fast one moves. Settings: *default*, and *stiff*:
//! contacts with a natural frequency of a quarter of the step rate, Coulomb friction at every point.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;

use rapier3d::dynamics::FrictionModel;
use rapier3d::math::{Rotation, Vector};
use rapier3d::na::Unit;
use rapier3d::prelude::*;
use serde::{Deserialize, Serialize};

/// Medians of this many batches of at least this long. [s]
const BATCHES: usize = 7;
const BATCH: f64 = 0.1;

/// A line of `scenes.yaml`.
#[derive(Deserialize)]
struct Case {
    scene: String,
    settle: f32,
    window: f32,
    #[serde(with = "serde_yaml::with::singleton_map")]
    accuracy: Accuracy,
}

/// How much lower a body is at the end, or how fast the one moves that moves most.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Accuracy {
    Sag { body: String },
    Creep {},
}

#[derive(Deserialize)]
struct Scene {
    #[serde(default = "millisecond")]
    dt: f32,
    ground: Option<Ground>,
    #[serde(default)]
    robots: Vec<serde_yaml::Value>,
    #[serde(default)]
    bodies: Vec<Body>,
}

#[derive(Deserialize)]
struct Ground {
    #[serde(default = "ground_friction")]
    friction: f32,
}

#[derive(Deserialize)]
struct Body {
    name: String,
    #[serde(with = "serde_yaml::with::singleton_map")]
    shape: Shape,
    mass: f32,
    #[serde(default = "body_friction")]
    friction: f32,
    #[serde(default)]
    pose: Pose,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Shape {
    Box([f32; 3]),
    Sphere { radius: f32 },
}

#[derive(Deserialize, Default)]
struct Pose {
    #[serde(default)]
    xyz: [f32; 3],
    #[serde(default)]
    rpy: [f32; 3],
}

fn millisecond() -> f32 {
    1e-3
}

fn ground_friction() -> f32 {
    0.8
}

fn body_friction() -> f32 {
    0.5
}

#[derive(Serialize)]
struct Measured {
    us: f64,
    accuracy: f64,
    contacts: f64,
    iterations: usize,
}

/// CPU time of this thread. [s]
fn cpu_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

/// The world, and its bodies in the scene's order.
fn build(scene: &Scene, stiff: bool) -> Result<(PhysicsWorld, Vec<RigidBodyHandle>), Box<dyn Error>> {
    if !scene.robots.is_empty() {
        return Err("scenes with robots are not translated to Rapier".into());
    }
    let mut world =
        PhysicsWorld { gravity: Vector::new(0.0, 0.0, -9.81), ..PhysicsWorld::default() };
    let parameters = &mut world.integration_parameters;
    parameters.dt = scene.dt;
    if stiff {
        parameters.contact_softness.natural_frequency = 0.25 / scene.dt;
        parameters.static_contact_softness.natural_frequency = 0.25 / scene.dt;
        parameters.friction_model = FrictionModel::Coulomb;
    }
    if let Some(ground) = &scene.ground {
        let slab =
            ColliderBuilder::halfspace(Unit::new_unchecked(Vector::Z)).friction(ground.friction);
        world.insert(RigidBodyBuilder::fixed(), slab);
    }
    let mut handles = Vec::new();
    for b in &scene.bodies {
        let shape = match b.shape {
            Shape::Box([x, y, z]) => ColliderBuilder::cuboid(x / 2.0, y / 2.0, z / 2.0),
            Shape::Sphere { radius } => ColliderBuilder::ball(radius),
        };
        let [roll, pitch, yaw] = b.pose.rpy;
        let turned = Rotation::from_rotation_z(yaw)
            * Rotation::from_rotation_y(pitch)
            * Rotation::from_rotation_x(roll);
        let moving = RigidBodyBuilder::dynamic()
            .translation(Vector::from(b.pose.xyz))
            .rotation(turned.to_scaled_axis())
            .can_sleep(false);
        let (handle, _) = world.insert(moving, shape.mass(b.mass).friction(b.friction));
        handles.push(handle);
    }
    Ok((world, handles))
}

fn measure(scene: &Scene, case: &Case, stiff: bool) -> Result<Measured, Box<dyn Error>> {
    let (mut world, bodies) = build(scene, stiff)?;
    let places = |world: &PhysicsWorld| -> Vec<Vector> {
        bodies.iter().map(|&body| world.bodies[body].translation()).collect()
    };
    let start = places(&world);
    let steps = |time: f32| (time / scene.dt).round() as usize;
    for _ in 0..steps(case.settle) {
        world.step();
    }
    let mut times = Vec::new();
    for _ in 0..BATCHES {
        let (begin, mut n) = (cpu_time(), 0);
        while cpu_time() - begin < BATCH {
            for _ in 0..100 {
                world.step();
            }
            n += 100;
        }
        times.push(1e6 * (cpu_time() - begin) / n as f64);
    }
    times.sort_by(f64::total_cmp);
    let before = places(&world);
    for _ in 0..steps(case.window) {
        world.step();
    }
    let after = places(&world);
    let accuracy = match &case.accuracy {
        Accuracy::Sag { body } => {
            let watched = scene.bodies.iter().position(|b| b.name == *body);
            let watched = watched.ok_or_else(|| format!("no body `{body}`"))?;
            start[watched].z - after[watched].z
        }
        Accuracy::Creep {} => {
            let moved = before.iter().zip(&after).map(|(before, after)| (after - before).length());
            moved.fold(0.0, f32::max) / case.window
        }
    };
    let contacts = world
        .narrow_phase
        .contact_pairs()
        .map(|pair| pair.manifolds().iter().map(|m| m.points.len()).sum::<usize>())
        .sum::<usize>();
    let iterations = world.integration_parameters.num_solver_iterations;
    let (us, accuracy) = (times[BATCHES / 2], 1e3 * f64::from(accuracy));
    Ok(Measured { us, accuracy, contacts: contacts as f64, iterations })
}

fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1).ok_or("usage: rapier_step NAME")?;
    let cases: Vec<serde_yaml::Value> =
        serde_yaml::from_str(&fs::read_to_string("packages/dev/peers/scenes.yaml")?)?;
    let case = cases
        .into_iter()
        .find(|case| case["name"] == name.as_str())
        .ok_or_else(|| format!("no scene `{name}`"))?;
    let case: Case = serde_yaml::from_value(case)?;
    let scene: Scene = serde_yaml::from_str(&fs::read_to_string(&case.scene)?)?;
    let mut results = BTreeMap::new();
    for (setting, stiff) in [("rapier_default", false), ("rapier_stiff", true)] {
        results.insert(setting, measure(&scene, &case, stiff)?);
    }
    println!("{}", serde_json::to_string(&results)?);
    Ok(())
}
