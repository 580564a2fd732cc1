//! Step time of a scene of free bodies in Rapier (f32), and the accuracy that goes with it, as JSON.
//!
//! `rapier_step NAME`, in the repository's root, for a line of `packages/dev/peers/scenes.yaml`: the CPU time of one thread for a
//! step of the window, from where the scene has settled, and how much lower a body is than at time zero, how fast one moves or how deep one gets.
//! Settings: *default*; *stiff*: contacts with a natural frequency of a quarter of the step rate, Coulomb friction at every point; *exact*: the same with
//! all contacts found again in every step, where Rapier keeps those of bodies that hardly moved.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;

use rapier3d::dynamics::FrictionModel;
use rapier3d::math::{Rotation, Vector};
use rapier3d::na::Unit;
use rapier3d::prelude::*;
use serde::{Deserialize, Serialize};

/// Medians of this many batches of at least this long [s]; of batches that take longer than `LONG` of `FEW`.
const BATCHES: usize = 7;
const BATCH: f64 = 0.1;
const FEW: usize = 3;
const LONG: f64 = 1.0;

/// How Rapier steps.
#[derive(Clone, Copy)]
struct Setting {
    is_stiff: bool,
    finds_all: bool,
}

/// A line of `scenes.yaml`.
#[derive(Deserialize)]
struct Case {
    scene: String,
    settle: f32,
    window: f32,
    #[serde(with = "serde_yaml::with::singleton_map")]
    accuracy: Accuracy,
}

/// How much lower a body is at the end, how fast the one moves that moves most, or how deep contacts get.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Accuracy {
    Sag { body: String },
    Creep {},
    Depth,
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
    #[serde(default)]
    mass: f32,
    #[serde(default)]
    fixed: bool,
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

/// A collider of this friction, of which that of a pair is the geometric mean, as ours is: the product of two roots.
fn rubbing(collider: ColliderBuilder, friction: f32) -> ColliderBuilder {
    collider.friction(friction.sqrt()).friction_combine_rule(CoefficientCombineRule::Multiply)
}

/// The world, and its bodies in the scene's order.
fn build(
    scene: &Scene,
    setting: Setting,
) -> Result<(PhysicsWorld, Vec<RigidBodyHandle>), Box<dyn Error>> {
    if !scene.robots.is_empty() {
        return Err("scenes with robots are not translated to Rapier".into());
    }
    let mut world =
        PhysicsWorld { gravity: Vector::new(0.0, 0.0, -9.81), ..PhysicsWorld::default() };
    let parameters = &mut world.integration_parameters;
    parameters.dt = scene.dt;
    parameters.contact_recycling &= !setting.finds_all;
    if setting.is_stiff {
        parameters.contact_softness.natural_frequency = 0.25 / scene.dt;
        parameters.static_contact_softness.natural_frequency = 0.25 / scene.dt;
        parameters.friction_model = FrictionModel::Coulomb;
    }
    if let Some(ground) = &scene.ground {
        let slab =
            rubbing(ColliderBuilder::halfspace(Unit::new_unchecked(Vector::Z)), ground.friction);
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
        let body = if b.fixed { RigidBodyBuilder::fixed() } else { RigidBodyBuilder::dynamic() };
        let body = body
            .translation(Vector::from(b.pose.xyz))
            .rotation(turned.to_scaled_axis())
            .can_sleep(false);
        let (handle, _) = world.insert(body, rubbing(shape.mass(b.mass), b.friction));
        handles.push(handle);
    }
    Ok((world, handles))
}

/// Points of all contacts.
fn points(world: &PhysicsWorld) -> impl Iterator<Item = &TrackedContact<ContactData>> {
    world
        .narrow_phase
        .contact_pairs()
        .flat_map(|pair| pair.manifolds().iter().flat_map(|manifold| &manifold.points))
}

fn measure(scene: &Scene, case: &Case, setting: Setting) -> Result<Measured, Box<dyn Error>> {
    let steps = |time: f32| (time / scene.dt).round() as usize;
    // The window again and again, each time from the start: its steps need not be alike.
    let settled = || -> Result<_, Box<dyn Error>> {
        let (mut world, bodies) = build(scene, setting)?;
        for _ in 0..steps(case.settle) {
            world.step();
        }
        Ok((world, bodies))
    };
    let (mut times, mut longest) = (Vec::new(), 0.0_f64);
    while times.len() < if longest > LONG { FEW } else { BATCHES } {
        let (mut elapsed, mut n) = (0.0, 0);
        while elapsed < BATCH {
            let (mut world, _) = settled()?;
            let begin = cpu_time();
            for _ in 0..steps(case.window) {
                world.step();
            }
            elapsed += cpu_time() - begin;
            n += steps(case.window);
        }
        longest = longest.max(elapsed);
        times.push(1e6 * elapsed / n as f64);
    }
    times.sort_by(f64::total_cmp);
    let (mut world, bodies) = settled()?;
    let places = |world: &PhysicsWorld| -> Vec<Vector> {
        bodies.iter().map(|&body| world.bodies[body].translation()).collect()
    };
    let start: Vec<f32> = scene.bodies.iter().map(|b| b.pose.xyz[2]).collect();
    let before = places(&world);
    let (mut contacts, mut deepest) = (0, 0.0_f32);
    for _ in 0..steps(case.window) {
        world.step();
        contacts += points(&world).count();
        deepest = points(&world).fold(deepest, |most, point| most.max(-point.dist));
    }
    let after = places(&world);
    let accuracy = match &case.accuracy {
        Accuracy::Sag { body } => {
            let watched = scene.bodies.iter().position(|b| b.name == *body);
            let watched = watched.ok_or_else(|| format!("no body `{body}`"))?;
            start[watched] - after[watched].z
        }
        Accuracy::Creep {} => {
            let moved = before.iter().zip(&after).map(|(before, after)| (after - before).length());
            moved.fold(0.0, f32::max) / case.window
        }
        Accuracy::Depth => deepest,
    };
    let iterations = world.integration_parameters.num_solver_iterations;
    let (us, accuracy) = (times[times.len() / 2], 1e3 * f64::from(accuracy));
    let contacts = contacts as f64 / steps(case.window) as f64;
    Ok(Measured { us, accuracy, contacts, iterations })
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
    for (name, is_stiff, finds_all) in [
        ("rapier_default", false, false),
        ("rapier_stiff", true, false),
        ("rapier_exact", true, true),
    ] {
        results.insert(name, measure(&scene, &case, Setting { is_stiff, finds_all })?);
    }
    println!("{}", serde_json::to_string(&results)?);
    Ok(())
}
