//! Springs and dampers in six degrees of freedom between two things.

#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts of steps are small"
)]

use std::f64::consts::TAU;

use karakuri_model::Shape;
use karakuri_physics::{
    BodyDescription, Bushing, Failure, JointDescription, ObjectId, Owner, Scene, StepOutcome,
    Strength, World, WorldSettings,
};
use karakuri_spatial::{Motion, Pose, UnitQuaternion, Vector3};

const G: f64 = 9.81;
const MASS: f64 = 2.0;
/// Edge of the cubes. [m]
const EDGE: f64 = 0.1;
const INERTIA: f64 = MASS * EDGE * EDGE / 6.0;

fn cube(name: &str, position: Vector3) -> BodyDescription {
    BodyDescription::new(
        name,
        Shape::Box { size: Vector3::repeat(EDGE) },
        MASS,
        Pose::from_translation(position),
    )
}

fn world(dt: f64, g: f64) -> World {
    let gravity = Vector3::new(0.0, 0.0, -g);
    World::new(WorldSettings { dt, gravity, energy_ledger: true, ..WorldSettings::default() })
}

fn soft(a: Owner, b: Owner, bushing: Bushing) -> JointDescription {
    let (pose_in_a, locked) = (Pose::IDENTITY, [false; 6]);
    JointDescription { a, b, pose_in_a, locked, bushing: Some(bushing), strength: None }
}

/// A cube held at the origin.
fn held(dt: f64, g: f64, bushing: Bushing, strength: Option<Strength>) -> (World, ObjectId) {
    let mut world = world(dt, g);
    let id = world.add_body(cube("cube", Vector3::zeros())).unwrap();
    let joint = JointDescription { strength, ..soft(Owner::Ground, Owner::Body(id), bushing) };
    world.attach_joint("mount", joint).unwrap();
    (world, id)
}

fn step(world: &mut World) {
    let outcome = world.step();
    assert!(matches!(outcome, StepOutcome::Solved { .. }), "{outcome:?} at {} s", world.time());
}

/// Rotation vector and place. (6)
fn displacement(world: &World, id: ObjectId) -> [f64; 6] {
    let pose = world.body(id).pose();
    let (rotation, translation) = (pose.quaternion().scaled_axis(), pose.translation);
    [rotation.x, rotation.y, rotation.z, translation.x, translation.y, translation.z]
}

fn place(world: &mut World, id: ObjectId, at: [f64; 6]) {
    let [a, b, c, x, y, z] = at;
    let turn = UnitQuaternion::from_scaled_axis(Vector3::new(a, b, c));
    let pose = Pose::from_quaternion(&turn, Vector3::new(x, y, z));
    world.set_body_state(id, pose, Motion::default()).unwrap();
}

/// Along each degree of freedom alone the cube swings with sqrt(k/m) or sqrt(k/I), and decays with c/2m or c/2I.
#[test]
fn each_dof_swings_with_its_own_frequency_and_damping() {
    let stiffness = [20.0, 30.0, 40.0, 5000.0, 6000.0, 7000.0];
    let damping = stiffness.map(|k| k * 1e-3);
    for axis in 0..6 {
        let inertia = if axis < 3 { INERTIA } else { MASS };
        let (k, c) = (stiffness[axis], damping[axis]);
        let decay = c / (2.0 * inertia);
        let frequency = (k / inertia - decay * decay).sqrt();
        let period = TAU / frequency;
        let steps = 20_000;
        let (mut world, id) =
            held(period / f64::from(steps), 0.0, Bushing { stiffness, damping }, None);
        let mut start = [0.0; 6];
        start[axis] = 0.01;
        place(&mut world, id, start);
        for _ in 0..steps {
            step(&mut world);
        }
        // Backward Euler takes k h/2 for damping on top.
        let expected = 0.01 * (-decay * period).exp();
        let end = displacement(&world, id);
        assert!((end[axis] / expected - 1.0).abs() < 2e-3, "axis {axis}: {end:?}, {expected}");
        let others = (0..6).filter(|&k| k != axis).fold(0.0_f64, |m, k| m.max(end[k].abs()));
        assert!(others < 1e-12, "axis {axis}: {end:?}");
    }
}

/// Gravity stretches it by m g/k, whatever the stiffness: no step is too long for it.
#[test]
fn any_stiffness_comes_to_rest_under_its_load() {
    for k in [1e2, 1e4, 1e8, 1e12] {
        let stiffness = [k; 6];
        let damping = stiffness.map(|k| 0.1 * k);
        let (mut world, id) = held(1e-2, G, Bushing { stiffness, damping }, None);
        for _ in 0..1000 {
            step(&mut world);
        }
        let sag = -world.body(id).pose().translation.z;
        let expected = MASS * G / k;
        assert!((sag - expected).abs() < 1e-9 * expected + 1e-11, "{k} N/m: {sag} m");
        let report = world.joint(world.find_joint("mount").unwrap()).unwrap();
        assert!((report.wrench.force.z - MASS * G).abs() < 1e-6, "{report:?}");
    }
}

/// The force is the energy's gradient, for unequal stiffness and turns beyond a right angle too.
#[test]
fn the_force_is_the_gradient_of_the_energy() {
    let stiffness = [20.0, 3.0, 110.0, 500.0, 6000.0, 70.0];
    let bushing = Bushing { stiffness, damping: [0.0; 6] };
    let h = 1e-6;
    let (mut world, id) = held(h, 0.0, bushing, None);
    let mut settings = *world.settings();
    settings.solver.tolerance = 1e-10;
    world.set_settings(settings);
    for at in [[0.3, -0.2, 0.5, 0.01, 0.02, -0.03], [1.1, 1.4, -1.6, 0.2, -0.1, 0.3]] {
        place(&mut world, id, at);
        step(&mut world);
        let V = world.body(id).velocity();
        let F = [V.angular * INERTIA / h, V.linear * MASS / h];
        for (part, force) in F.iter().enumerate() {
            for axis in 0..3 {
                let nudged = |displacement: f64, world: &mut World| {
                    place(world, id, at);
                    let pose = world.body(id).pose();
                    let mut e = Vector3::zeros();
                    e[axis] = displacement;
                    let turn = UnitQuaternion::from_scaled_axis(if part == 0 {
                        e
                    } else {
                        Vector3::zeros()
                    });
                    let shift = if part == 0 { Vector3::zeros() } else { e };
                    let pose = Pose {
                        rotation: *turn.to_rotation_matrix().matrix() * pose.rotation,
                        translation: pose.translation + shift,
                    };
                    world.set_body_state(id, pose, Motion::default()).unwrap();
                    world.energy().potential
                };
                let d = 1e-5;
                let slope = (nudged(d, &mut world) - nudged(-d, &mut world)) / (2.0 * d);
                let error = (force[axis] + slope).abs() / (1.0 + slope.abs());
                assert!(
                    error < 1e-6,
                    "part {part} axis {axis}: {} against {}",
                    force[axis],
                    -slope
                );
            }
        }
    }
}

/// Two cubes on a bushing fly, turning: their momentum stays, and the ledger knows where the energy went.
#[test]
fn inner_forces_give_no_momentum_and_their_work_is_booked() {
    let mut world = world(1e-3, 0.0);
    let mut a = cube("a", Vector3::new(0.0, 0.0, 0.0));
    a.velocity = Motion::new(Vector3::new(1.0, 2.0, -3.0), Vector3::new(0.5, 0.0, 0.2));
    let b = cube("b", Vector3::new(0.2, 0.1, -0.1));
    let ids = [a, b].map(|body| world.add_body(body).unwrap());
    let bushing = Bushing {
        stiffness: [5.0, 8.0, 11.0, 300.0, 500.0, 800.0],
        damping: [0.01, 0.02, 0.03, 1.0, 2.0, 3.0],
    };
    let [end_a, end_b] = ids.map(Owner::Body);
    world.attach_joint("mount", soft(end_a, end_b, bushing)).unwrap();
    let momentum = |world: &World| {
        ids.iter().fold((Vector3::zeros(), Vector3::zeros()), |(p, L), &id| {
            let (x, V) = (world.body(id).pose().translation, world.body(id).velocity());
            (p + V.linear * MASS, L + x.cross(&(V.linear * MASS)) + V.angular * INERTIA)
        })
    };
    let (p, L) = momentum(&world);
    for _ in 0..2000 {
        step(&mut world);
        let (p_now, L_now) = momentum(&world);
        assert!((p_now - p).norm() < 1e-12, "linear momentum changed by {}", p_now - p);
        assert!((L_now - L).norm() < 1e-10, "angular momentum changed by {}", L_now - L);
    }
    let ledger = world.ledger();
    assert!(ledger.unexplained.abs() < 1e-12, "{ledger:?}");
    assert!(ledger.dampers < -0.01 && ledger.loops == 0.0, "{ledger:?}");
}

/// What the ledger's `integration` holds is the method's own: it goes with the step.
#[test]
fn the_integrations_error_goes_with_the_step() {
    let error = |dt: f64| {
        let bushing = Bushing { stiffness: [20.0, 30.0, 40.0, 2e3, 3e3, 4e3], damping: [0.0; 6] };
        let (mut world, id) = held(dt, G, bushing, None);
        place(&mut world, id, [0.8, -0.5, 0.3, 0.02, 0.01, 0.03]);
        for _ in 0..(0.2 / dt).round() as usize {
            step(&mut world);
        }
        world.ledger().integration
    };
    let (coarse, fine) = (error(2e-4), error(1e-4));
    assert!((1.8..2.2).contains(&(coarse / fine)), "{coarse} J, at half the step {fine} J");
}

/// Loaded above its strength it bends at constant force; unloaded it springs back by what it bears.
#[test]
fn a_yielding_mount_springs_back_by_what_it_bears() {
    let stiffness = [100.0, 100.0, 100.0, 1e4, 1e4, 1e4];
    let bushing = Bushing { stiffness, damping: stiffness.map(|k| 0.02 * k) };
    let bears = 0.9 * MASS * G;
    let strength = Strength { force: bears, torque: 100.0, failure: Failure::Yields };
    let (mut world, id) = held(1e-3, G, bushing, Some(strength));
    for _ in 0..300 {
        step(&mut world);
    }
    let report = world.joint(world.find_joint("mount").unwrap()).unwrap();
    assert!(report.yields && (report.wrench.force.z - bears).abs() < 1e-6, "{report:?}");
    let low = world.body(id).pose().translation.z;
    assert!(low < -1e-2, "it bent by {low} m");
    let settings = *world.settings();
    world.set_settings(WorldSettings { gravity: Vector3::zeros(), ..settings });
    let pose = world.body(id).pose();
    world.set_body_state(id, pose, Motion::default()).unwrap();
    for _ in 0..3000 {
        step(&mut world);
    }
    let back = world.body(id).pose().translation.z - low;
    assert!((back - bears / 1e4).abs() < 1e-5, "back by {back} m");
}

#[test]
fn breaks_above_its_strength() {
    let bushing = Bushing { stiffness: [1e4; 6], damping: [1e2; 6] };
    let strength = Strength { force: 0.99 * MASS * G, torque: 1.0, failure: Failure::Breaks };
    let (mut world, id) = held(1e-3, G, bushing, Some(strength));
    for _ in 0..500 {
        step(&mut world);
    }
    assert!(world.joint(world.find_joint("mount").unwrap()).unwrap().broken);
    assert!(world.body(id).pose().translation.z < -0.5);
}

#[test]
fn what_holds_nothing_or_cannot_be_is_refused() {
    let refused = |stiffness, damping| {
        let mut world = world(1e-3, G);
        let id = world.add_body(cube("cube", Vector3::zeros())).unwrap();
        let joint = soft(Owner::Ground, Owner::Body(id), Bushing { stiffness, damping });
        world.attach_joint("mount", joint).unwrap_err().to_string()
    };
    assert!(refused([0.0; 6], [0.0; 6]).contains("holds nothing"));
    assert!(refused([f64::NAN; 6], [0.0; 6]).contains("bushing"));
    assert!(refused([1.0; 6], [-1.0; 6]).contains("bushing"));
}

#[test]
fn scenes_have_them() {
    let text = "
bodies:
  - {name: engine, shape: {box: [0.1, 0.1, 0.1]}, mass: 2, pose: {xyz: [0, 0, 1]}}
joints:
  - name: mount
    a: world
    b: engine
    type: custom
    locked: []
    pose: {xyz: [0, 0, 1]}
    bushing: {linear_stiffness: [1000, 1000, 500], linear_damping: [50, 50, 50], angular_stiffness: [10, 10, 10]}
";
    let scene = Scene::parse(text, "mount.yaml").unwrap();
    let mut world = World::from_scene(&scene, &[]).unwrap();
    for _ in 0..5000 {
        step(&mut world);
    }
    let id = world.find_body("engine").unwrap();
    let sag = 1.0 - world.body(id).pose().translation.z;
    assert!((sag - MASS * G / 500.0).abs() < 1e-6, "{sag}");
}
