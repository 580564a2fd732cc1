//! The method `simulated` beside the exact relation it stands for, and in the physics whose step it inverts.
#![expect(clippy::unwrap_used, reason = "a test says so")]

use std::sync::Arc;

use karakuri_control::inverse_dynamics::{DesiredMotion, method};
use karakuri_dynamics::rnea;
use karakuri_model::{
    Base, JointKind, JointSpec, LinkSpec, LoopFrames, LoopSpec, Model, ModelBuilder,
};
use karakuri_physics::{World, WorldSettings};
use karakuri_spatial::{Force, Inertia, Matrix3, Pose, Vector3};
use karakuri_testkit::{Kind, Random, random_position, random_tree, random_vector};

/// Over the largest effort.
fn relative(a: &[f64], b: &[f64]) -> f64 {
    let scale = b.iter().fold(f64::MIN_POSITIVE, |s, x| s.max(x.abs()));
    a.iter().zip(b).fold(0.0, |e: f64, (a, b)| e.max((a - b).abs())) / scale
}

fn efforts(name: &str, model: &Model, state: [&[f64]; 3], driven: &[bool]) -> Vec<f64> {
    efforts_under(name, model, state, driven, &[])
}

fn efforts_under(
    name: &str,
    model: &Model,
    [q, v, vdot]: [&[f64]; 3],
    driven: &[bool],
    external: &[Force],
) -> Vec<f64> {
    let mut tau = vec![f64::NAN; model.nv];
    let motion = DesiredMotion { q, v, vdot, driven, external };
    let realised = method(name, model).unwrap().efforts(model, &motion, &mut tau);
    assert!(realised.missing_effort < 1e-6, "{name}: {realised:?}");
    tau
}

#[test]
fn two_hundred_random_trees_agree_with_newton_and_euler() {
    for (seed, n) in (0..200).zip((1..=12).cycle()) {
        let base = if seed % 3 == 0 { Base::Floating } else { Base::Fixed(Pose::IDENTITY) };
        let model = random_tree(seed, n, base, Kind::ALL);
        let mut random = Random::new(seed);
        let q = random_position(&model, &mut random);
        let [v, vdot] = [(); 2].map(|()| random_vector(model.nv, &mut random));
        let driven = vec![true; model.nv];
        let [force, moment] = [(); 2].map(|()| random_vector(3 * n, &mut random));
        let three = |x: &[f64], i: usize| Vector3::from_column_slice(&x[3 * i..3 * i + 3]);
        let given = |i: usize| Force::new(three(&moment, i), three(&force, i));
        let external: Vec<Force> = (0..model.bodies.len().min(n)).map(given).collect();
        let mut data = karakuri_dynamics::Data::new(&model);
        let truth = rnea(&model, &mut data, &q, &v, &vdot, &external).to_vec();
        for (name, tolerance) in [("simulated", 1e-9), ("nodal", 1e-5)] {
            let tau = efforts_under(name, &model, [&q, &v, &vdot], &driven, &external);
            let error = relative(&tau, &truth);
            assert!(error < tolerance, "{name}, seed {seed}: {error:.1e}");
        }
    }
}

fn rod(mass: f64, length: f64) -> Inertia {
    let i = mass * length * length / 12.0;
    let about_com = Matrix3::from_diagonal(&Vector3::new(0.01 * i, i, i));
    Inertia { mass, com: Vector3::new(0.5 * length, 0.0, 0.0), about_com }
}

fn at(x: f64, y: f64) -> Pose {
    Pose::from_translation(Vector3::new(x, y, 0.0))
}

/// Two chains of two links in the vertical plane x z that meet in a pin, and a link that branches off there.
fn branched_loop() -> Model {
    let hinge = Some(JointKind::Revolute { axis: Vector3::new(0.0, 0.0, 1.0) });
    let base = Pose::from_xyz_rpy([0.0; 3], [core::f64::consts::FRAC_PI_2, 0.0, 0.0]);
    ModelBuilder::new("branched_loop", Base::Fixed(base))
        .link(LinkSpec::new("ground", Inertia::ZERO))
        .link(LinkSpec::new("left", rod(0.4, 0.25)))
        .link(LinkSpec::new("left_coupler", rod(0.4, 0.25)))
        .link(LinkSpec::new("right", rod(0.4, 0.25)))
        .link(LinkSpec::new("right_coupler", rod(0.4, 0.25)))
        .link(LinkSpec::new("branch", rod(0.2, 0.2)))
        .joint(JointSpec::new("left", "ground", "left", hinge.clone()))
        .joint(
            JointSpec::new("left_coupler", "left", "left_coupler", hinge.clone()).at(at(0.25, 0.0)),
        )
        .joint(JointSpec::new("right", "ground", "right", hinge.clone()).at(at(0.2, 0.0)))
        .joint(
            JointSpec::new("right_coupler", "right", "right_coupler", hinge.clone())
                .at(at(0.25, 0.0)),
        )
        .joint(JointSpec::new("branch", "left_coupler", "branch", hinge.clone()).at(at(0.25, 0.0)))
        .loop_joint(LoopSpec {
            name: "pin".to_owned(),
            link_a: "left_coupler".to_owned(),
            link_b: "right_coupler".to_owned(),
            frames: LoopFrames::OnLinks { a: at(0.25, 0.0), b: at(0.25, 0.0) },
            locked: [false, false, false, true, true, false],
            posture: None,
        })
        .build()
        .unwrap()
}

#[test]
fn all_three_methods_agree_on_loops_from_moving_starts() {
    let model = branched_loop();
    let index = |name: &str| model.joint(name).unwrap().0;
    let mut random = Random::new(4);
    // Exactly actuated, and over-actuated by one motor and by two.
    for drives in [
        &["left", "right", "branch"][..],
        &["left", "left_coupler", "right", "branch"],
        &["left", "left_coupler", "right", "right_coupler", "branch"],
    ] {
        let mut driven = vec![false; model.nv];
        for name in drives {
            driven[index(name)] = true;
        }
        for _ in 0..40 {
            let mut q = vec![0.0; model.nq];
            let posture = [2.0, -1.3, 1.14, 1.3, 0.0];
            for (name, q0) in ["left", "left_coupler", "right", "right_coupler", "branch"]
                .into_iter()
                .zip(posture)
            {
                q[index(name)] = q0 + random.uniform(-0.2, 0.2);
            }
            let [v, vdot] = [(); 2].map(|()| random_vector(model.nv, &mut random));
            let state = [&q[..], &v, &vdot];
            let exact = efforts("recursive", &model, state, &driven);
            let simulated = efforts("simulated", &model, state, &driven);
            let error = relative(&simulated, &exact);
            assert!(error < 1e-9, "{drives:?}: simulated {error:.1e}, {simulated:?} {exact:?}");
            let error = relative(&efforts("nodal", &model, state, &driven), &exact);
            assert!(error < 1e-6, "{drives:?}: nodal {error:.1e}");
        }
    }
}

#[test]
fn a_step_of_the_physics_reaches_the_target_velocity() {
    let h = 2e-3;
    let kinds = [Kind::Revolute, Kind::Prismatic];
    for seed in 0..10 {
        let model = Arc::new(random_tree(seed, 6, Base::Fixed(Pose::IDENTITY), &kinds));
        let mut random = Random::new(seed);
        let start = random_position(&model, &mut random);
        let mut world = World::new(WorldSettings { dt: h, ..WorldSettings::default() });
        let robot = world.add_robot("tree", Arc::clone(&model), &start).unwrap();
        let v = random_vector(model.nv, &mut random);
        world.set_robot_state(robot, &start, &v).unwrap();
        let driven = vec![true; model.nv];
        for step in 0..50 {
            let desired = random_vector(model.nv, &mut random);
            let (q, v) = (world.robot(robot).q().to_vec(), world.robot(robot).v().to_vec());
            let vdot: Vec<f64> = desired.iter().zip(&v).map(|(w, v)| (w - v) / h).collect();
            let tau = efforts("simulated", &model, [&q, &v, &vdot], &driven);
            let drives = world.drive_mut(robot);
            drives.enabled.fill(true);
            drives.stiffness.fill(0.0);
            // Servos make the step semi-implicit; on their targets they give nothing.
            drives.damping.fill(1e-2);
            drives.velocity.copy_from_slice(&desired);
            drives.effort_limit.fill(f64::INFINITY);
            drives.effort.copy_from_slice(&tau);
            world.step();
            let error = relative(world.robot(robot).v(), &desired);
            assert!(error < 1e-9, "seed {seed}, step {step}: {error:.1e}");
        }
    }
}
