//! What the scenes share.

use std::sync::Arc;

use karakuri_model::{LinkSpec, Model, ModelBuilder, Shape};
use karakuri_physics::{
    BodyDescription, Integrator, ObjectId, RobotId, Scene, StepOutcome, World, WorldSettings,
};
use karakuri_spatial::{Inertia, Matrix3, Motion, Pose, Vector3};

pub(crate) fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_translation(Vector3::new(x, y, z))
}

/// A world with a step, gravity and an integrator; all else as it comes.
pub(crate) fn world(dt: f64, gravity: [f64; 3], integrator: Integrator) -> World {
    let gravity = Vector3::from(gravity);
    World::new(WorldSettings { dt, gravity, integrator, ..WorldSettings::default() })
}

/// The world of a scene file without robots, at a step of its own; every impact bounces, however slow.
pub(crate) fn world_of_bodies(scene: &str, dt: f64) -> World {
    let mut w = World::from_scene(&Scene::parse(scene, "scene.yaml").unwrap(), &[]).unwrap();
    w.set_settings(WorldSettings { dt, restitution_threshold: 0.0, ..*w.settings() });
    w
}

pub(crate) const EARTH: [f64; 3] = [0.0, 0.0, -9.81];
pub(crate) const WEIGHTLESS: [f64; 3] = [0.0; 3];

pub(crate) fn add(world: &mut World, builder: ModelBuilder) -> (RobotId, Arc<Model>) {
    let model = Arc::new(builder.build().unwrap());
    let id = world.add_robot("robot", Arc::clone(&model), &model.neutral_position()).unwrap();
    (id, model)
}

/// Puts joints at positions and rates by name.
pub(crate) fn set_joints(world: &mut World, id: RobotId, joints: &[(&str, f64, f64)]) {
    let model = Arc::clone(world.robot(id).model());
    let (mut q, mut v) = (world.robot(id).q().to_vec(), world.robot(id).v().to_vec());
    for (name, position, rate) in joints {
        let joint = &model.joints[model.joint(name).unwrap().0];
        (q[joint.q_start], v[joint.v_start]) = (*position, *rate);
    }
    world.set_robot_state(id, &q, &v).unwrap();
}

pub(crate) fn joint(world: &World, id: RobotId, name: &str) -> f64 {
    let view = world.robot(id);
    view.q()[view.model().joints[view.model().joint(name).unwrap().0].q_start]
}

/// Where a point of a link is. [m]
pub(crate) fn point(world: &World, id: RobotId, link: &str, p: [f64; 3]) -> Vector3 {
    let view = world.robot(id);
    let body = view.model().body(link).unwrap();
    view.data().pose_in_world[body.0].transform_point(&Vector3::from(p))
}

pub(crate) fn step(world: &mut World) {
    let outcome = world.step();
    assert!(!matches!(outcome, StepOutcome::NonFinite(_)), "{outcome:?} at {} s", world.time());
}

pub(crate) fn n_steps(world: &World, seconds: f64) -> usize {
    (seconds / world.settings().dt).round() as usize
}

pub(crate) fn run(world: &mut World, seconds: f64) {
    for _ in 0..n_steps(world, seconds) {
        step(world);
    }
}

pub(crate) fn height(world: &World, id: ObjectId) -> f64 {
    world.body(id).pose().translation.z
}

pub(crate) fn energy(world: &mut World) -> f64 {
    let energy = world.energy();
    energy.kinetic + energy.potential
}

pub(crate) fn inertia(mass: f64, com: [f64; 3], [xx, yy, zz, xy, xz, yz]: [f64; 6]) -> Inertia {
    let about_com = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
    Inertia { mass, com: Vector3::from(com), about_com }
}

pub(crate) fn diagonal(mass: f64, com: [f64; 3], [xx, yy, zz]: [f64; 3]) -> Inertia {
    inertia(mass, com, [xx, yy, zz, 0.0, 0.0, 0.0])
}

pub(crate) fn base() -> LinkSpec {
    LinkSpec::new("base", Inertia::ZERO)
}

pub(crate) fn body(name: &str, shape: Shape, mass: f64, pose: Pose) -> BodyDescription {
    BodyDescription {
        name: name.into(),
        shape,
        mass,
        inertia: None,
        pose,
        velocity: Motion::default(),
        friction: 0.0,
        restitution: 0.0,
        fixed: false,
        color: [1.0; 4],
    }
}

pub(crate) fn sphere(name: &str, radius: f64, mass: f64, pose: Pose) -> BodyDescription {
    body(name, Shape::Sphere { radius }, mass, pose)
}

pub(crate) fn cuboid(name: &str, size: [f64; 3], mass: f64, pose: Pose) -> BodyDescription {
    body(name, Shape::Box { size: Vector3::from(size) }, mass, pose)
}
