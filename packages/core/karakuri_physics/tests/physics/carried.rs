//! Bodies that move as tables say: what lies on them, is taken along and bounces off them, by closed forms.
#![expect(clippy::unwrap_used, reason = "a test says so")]

use karakuri_model::Shape;
use karakuri_physics::{
    BodyDescription, MotionTable, ObjectId, Owner, PoseTable, Scene, StepOutcome, World,
    WorldSettings,
};
use karakuri_spatial::{Pose, Vector3};

const G: f64 = 9.81;

fn at(x: f64, z: f64) -> Pose {
    Pose::from_xyz_rpy([x, 0.0, z], [0.0; 3])
}

/// A table of 2 m whose top is at z = 0, and what is put on it.
fn world(gravity: f64, table: [Option<MotionTable>; 6]) -> (World, ObjectId) {
    let gravity = Vector3::new(0.0, 0.0, -gravity);
    let mut world = World::new(WorldSettings { gravity, ..WorldSettings::default() });
    let shape = Shape::Box { size: Vector3::new(2.0, 2.0, 0.2) };
    let mut description = BodyDescription::new("table", shape, 0.0, at(0.0, -0.1));
    description.fixed = true;
    let id = world.add_body(description).unwrap();
    world.prescribe_body(id, PoseTable(table)).unwrap();
    (world, id)
}

fn cube(world: &mut World, x: f64, z: f64) -> ObjectId {
    let shape = Shape::Box { size: Vector3::repeat(0.1) };
    world.add_body(BodyDescription::new("cube", shape, 1.5, at(x, z))).unwrap()
}

/// Samples of a law every 0.05 s, for two seconds.
fn table(law: impl Fn(f64) -> f64) -> MotionTable {
    let times: Vec<f64> = (0..=40).map(|i| 0.05 * f64::from(i)).collect();
    let positions = times.iter().map(|t| law(*t)).collect();
    MotionTable::new(times, positions, None).unwrap()
}

fn step(world: &mut World) {
    assert!(matches!(world.step(), StepOutcome::Solved { .. }));
}

#[test]
fn what_a_lift_carries_presses_by_its_weight_and_its_acceleration() {
    let lift = [None, None, Some(table(|t| t * t - 0.1)), None, None, None];
    let (mut world, id) = world(G, lift);
    let cube = cube(&mut world, 0.3, 0.05);
    while world.time() < 1.0 {
        step(&mut world);
        assert!((world.body(id).pose().translation.z - world.time().powi(2) + 0.1).abs() < 1e-12);
        if world.time() < 0.01 {
            continue;
        }
        let force = world.contact_wrench(Owner::Body(cube)).force.z;
        assert!((force - 1.5 * (G + 2.0)).abs() < 1e-6, "{}: {force}", world.time());
    }
    let given = 1.5 * (G * 1.0 + 0.5 * 4.0);
    assert!((world.work_done() - given).abs() < 5e-3 * given, "{} {given}", world.work_done());
}

#[test]
fn friction_takes_along_what_the_acceleration_lets_it() {
    // The coefficient is 0.5: 4 m/s² is held, 6 m/s² is not.
    for (acceleration, taken) in [(4.0, 4.0), (6.0, 0.5 * G)] {
        let motion = [Some(table(|t| 0.5 * acceleration * t * t)), None, None, None, None, None];
        let (mut world, _) = world(G, motion);
        let cube = cube(&mut world, 0.3, 0.05);
        while world.time() < 0.3 {
            step(&mut world);
        }
        let speed = world.body(cube).velocity().linear.x;
        assert!((speed - taken * 0.3).abs() < 0.01 * taken * 0.3, "{acceleration}: {speed}");
    }
}

#[test]
fn a_turntable_carries_its_load_round() {
    // Centripetal 4 · 0.3 m/s², below friction's 4.9.
    let turn = [None, None, None, None, None, Some(table(|t| 2.0 * t))];
    let (mut world, _) = world(G, turn);
    let cube = cube(&mut world, 0.3, 0.05);
    let going = karakuri_spatial::Motion::new(Vector3::z() * 2.0, Vector3::y() * 0.6);
    world.set_body_state(cube, at(0.3, 0.05), going).unwrap();
    while world.time() < 0.5 {
        step(&mut world);
    }
    let p = world.body(cube).pose().translation;
    let expected = Vector3::new(0.3 * 1.0_f64.cos(), 0.3 * 1.0_f64.sin(), 0.05);
    assert!((p - expected).norm() < 2e-3, "{p}");
}

#[test]
fn a_ball_leaves_a_racket_by_newtons_law() {
    // At 2 m/s against a racket of 3 m/s, e = 0.8: 3 + 0.8 · 5.
    let motion = [None, None, Some(table(|t| 3.0 * t - 0.1)), None, None, None];
    let (mut world, _) = world(0.0, motion);
    let shape = Shape::Sphere { radius: 0.05 };
    let mut ball = BodyDescription::new("ball", shape, 0.2, at(0.0, 0.55));
    ball.velocity.linear.z = -2.0;
    ball.restitution = 0.8;
    let ball = world.add_body(ball).unwrap();
    while world.time() < 0.2 {
        step(&mut world);
    }
    let speed = world.body(ball).velocity().linear.z;
    assert!((speed - 7.0).abs() < 1e-9, "{speed}");
}

#[test]
fn a_scene_prescribes_bodies_and_says_what_cannot_be() {
    let text = |motion: &str| {
        format!(
            "bodies:\n  - {{name: lift, fixed: true, shape: {{sphere: {{radius: 0.1}}}}, pose: {{xyz: [1, 2, 3]}}}}\n  \
             - {{name: free, mass: 1, shape: {{sphere: {{radius: 0.1}}}}}}\nprescribed:\n  - {motion}\n"
        )
    };
    let made = |motion: &str| {
        let scene = Scene::parse(&text(motion), "s.yaml").map_err(|e| e.to_string())?;
        World::from_scene(&scene, &[]).map_err(|e| e.to_string())
    };
    let turn = "{body: lift, times: [0, 1], rpy: [[0, 0, 0], [0, 0, 1]]}";
    let mut world = made(turn).unwrap();
    let id = world.find_body("lift").unwrap();
    for _ in 0..500 {
        step(&mut world);
    }
    let body = world.body(id);
    assert_eq!(body.pose().translation, Vector3::new(1.0, 2.0, 3.0));
    assert!((body.pose().quaternion().angle() - 0.5).abs() < 1e-12);
    assert!((body.velocity().angular.z - 1.0).abs() < 1e-12);
    for (motion, what) in [
        ("{body: free, times: [0], xyz: [[0, 0, 0]]}", "write `fixed: true`"),
        ("{body: lift, times: [0]}", "neither where nor how"),
        ("{body: lift, joint: a/b, times: [0], xyz: [[0, 0, 0]]}", "names no joint and no body"),
        ("{body: lift, times: [0, 1], xyz: [[0, 0, 0]]}", "for each time"),
        ("{body: world, times: [0], xyz: [[0, 0, 0]]}", "is no body"),
    ] {
        let said = made(motion).unwrap_err();
        assert!(said.contains(what) && said.contains("s.yaml:5"), "{said}");
    }
    let tied = format!("{}joints:\n  - {{name: j, a: lift, b: free, type: fixed}}\n", text(turn));
    let said = World::from_scene(&Scene::parse(&tied, "s.yaml").unwrap(), &[]).unwrap_err();
    assert!(said.to_string().contains("moves as prescribed"), "{said}");
}
