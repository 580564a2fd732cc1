//! What the scenes share.

use std::path::Path;
use std::sync::Arc;

use karakuri_model::{LinkSpec, Model, ModelBuilder, NoAssets, Shape, Source, load};
use karakuri_physics::{
    BodyDescription, Integrator, ObjectId, RobotId, Scene, SceneRobot, StepOutcome, World,
    WorldSettings,
};
use karakuri_spatial::{Inertia, Matrix3, Pose, Vector3};

pub(crate) fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_translation(Vector3::new(x, y, z))
}

/// A world with a step, gravity and an integrator; all else as it comes.
pub(crate) fn world(dt: f64, gravity: [f64; 3], integrator: Integrator) -> World {
    let gravity = Vector3::from(gravity);
    World::new(WorldSettings { dt, gravity, integrator, ..WorldSettings::default() })
}

#[expect(clippy::disallowed_methods, reason = "a test reads its own scene")]
fn read(file: &Path) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../config/scenes/benchmarks");
    std::fs::read_to_string(folder.join(file)).unwrap()
}

/// A scene file of `config/scenes/benchmarks`, and the models of its robots.
pub(crate) fn read_scene(name: &str) -> (Scene, Vec<Arc<Model>>) {
    let file = format!("{name}.yaml");
    let scene = Scene::parse(&read(Path::new(&file)), &file).unwrap();
    let model = |robot: &SceneRobot| {
        let (urdf, config) = (read(&robot.urdf), robot.config.as_deref().map(read));
        let mut source = Source::urdf("robot.urdf", &urdf).with_base(robot.base());
        if let Some(config) = &config {
            source = source.with_config("robot.yaml", config);
        }
        Arc::new(load(&source, &mut NoAssets).unwrap().model)
    };
    let models = scene.robots.iter().map(model).collect();
    (scene, models)
}

/// The world of a scene file.
pub(crate) fn scene(name: &str) -> World {
    let (scene, models) = read_scene(name);
    World::from_scene(&scene, &models).unwrap()
}

/// The same at a step of its own.
pub(crate) fn scene_at(name: &str, dt: f64) -> World {
    let mut w = scene(name);
    w.set_settings(WorldSettings { dt, ..*w.settings() });
    w
}

/// The only robot of a world.
pub(crate) fn only_robot(w: &World) -> RobotId {
    w.robot_ids().next().unwrap()
}

/// Lets `./dev bench --physics` draw a line of points in a picture.
pub(crate) fn plot(picture: &str, line: &str, points: &[(f64, f64)]) {
    let points: Vec<String> = points.iter().map(|(x, y)| format!("{x} {y:e}")).collect();
    println!("plot {picture} | {line} | {}", points.join(" "));
}

pub(crate) const EARTH: [f64; 3] = [0.0, 0.0, -9.81];

pub(crate) fn add(world: &mut World, builder: ModelBuilder) -> (RobotId, Arc<Model>) {
    let model = Arc::new(builder.build().unwrap());
    let id = world.add_robot("robot", Arc::clone(&model), &model.neutral_position()).unwrap();
    (id, model)
}

pub(crate) fn joint(world: &World, id: RobotId, name: &str) -> f64 {
    let view = world.robot(id);
    view.q()[view.model().joints[view.model().joint(name).unwrap().0].q_start]
}

/// Velocity coordinate of a joint with one degree of freedom.
pub(crate) fn dof(world: &World, id: RobotId, name: &str) -> usize {
    let model = world.robot(id).model();
    model.joints[model.joint(name).unwrap().0].v_start
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

/// Runs, and shows the world every so many seconds, first before the first step.
pub(crate) fn watch(world: &mut World, seconds: f64, every: f64, mut look: impl FnMut(&World)) {
    let between = n_steps(world, every).max(1);
    for i in 0..n_steps(world, seconds) {
        if i % between == 0 {
            look(world);
        }
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
    BodyDescription { friction: 0.0, ..BodyDescription::new(name, shape, mass, pose) }
}

pub(crate) fn sphere(name: &str, radius: f64, mass: f64, pose: Pose) -> BodyDescription {
    body(name, Shape::Sphere { radius }, mass, pose)
}

pub(crate) fn cuboid(name: &str, size: [f64; 3], mass: f64, pose: Pose) -> BodyDescription {
    body(name, Shape::Box { size: Vector3::from(size) }, mass, pose)
}
