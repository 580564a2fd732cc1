//! Bodies that turn by radians in a step.

#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]
#![expect(clippy::print_stdout, reason = "a benchmark shows what it measured")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts of steps are small"
)]
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]

use std::sync::Arc;

use karakuri_model::{Base, JointSpec, LinkSpec, ModelBuilder, Shape};
use karakuri_physics::{
    BodyDescription, Integrator, JointDescription, ObjectId, Owner, StepOutcome, World,
    WorldSettings,
};
use karakuri_spatial::{Inertia, Matrix3, Motion, Pose, UnitQuaternion, Vector3};
use karakuri_testkit::{Kind, Random, random_position, random_tree, random_vector};

/// A world without gravity.
fn world(dt: f64) -> World {
    World::new(WorldSettings { dt, gravity: Vector3::zeros(), ..WorldSettings::default() })
}

/// Moments of a rigid body whose largest is up to a hundred times the least. [kg·m²] (3)
fn moments(random: &mut Random) -> Vector3 {
    // Of three orthogonal extents: the triangle inequality holds.
    let extent = |random: &mut Random| 10.0_f64.powf(random.uniform(-2.0, 0.0));
    let [x, y, z] = [0; 3].map(|_| extent(random));
    Vector3::new(y + z, x + z, x + y) * 10.0_f64.powf(random.uniform(-4.0, 0.0))
}

fn spinning_body(w: &mut World, inertia: Matrix3, rate: Vector3, turn: Vector3) -> ObjectId {
    let pose = Pose::from_quaternion(&UnitQuaternion::from_scaled_axis(turn), Vector3::zeros());
    let body = BodyDescription::new("b", Shape::Sphere { radius: 0.1 }, 1.0, pose);
    let velocity = Motion::new(rate, Vector3::new(0.1, -0.2, 0.3));
    w.add_body(BodyDescription { inertia: Some(inertia), velocity, ..body }).unwrap()
}

/// Angular momentum in the world. [N·m·s] (3)
fn momentum(w: &World, id: ObjectId, inertia: &Matrix3) -> Vector3 {
    let R = w.body(id).pose().rotation;
    R * (inertia * R.tr_mul(&w.body(id).velocity().angular))
}

/// Any inertia, any spin, any step: energy and angular momentum stay but for round-off, whether a step is short or turns it a
/// thousand times.
#[test]
fn a_free_body_keeps_energy_and_momentum_at_any_spin() {
    let mut random = Random::new(7);
    let (mut gained, mut turned) = (0.0_f64, 0.0_f64);
    for case in 0..2000 {
        let dt = 10.0_f64.powf(random.uniform(-4.0, -2.0));
        let rate = random.unit_vector() * 10.0_f64.powf(random.uniform(0.0, 5.0));
        let I = Matrix3::from_diagonal(&moments(&mut random));
        let mut w = world(dt);
        let id = spinning_body(&mut w, I, rate, random.vector(3.0));
        let (E, L) = (w.energy().kinetic, momentum(&w, id, &I));
        for _ in 0..200 {
            w.step();
            let off = (w.energy().kinetic - E).abs() / E;
            let moved = (momentum(&w, id, &I) - L).norm() / L.norm();
            (gained, turned) = (gained.max(off), turned.max(moved));
            let what =
                format!("case {case}: {:.2} rad a step: {off:e}, {moved:e}", rate.norm() * dt);
            assert!(off < 1e-10 && moved < 1e-10, "{what}");
        }
    }
    println!("spins to 1000 rad a step: energy off by {gained:.1e}, momentum by {turned:.1e}");
}

/// Half a turn in a step is reported, once, and less is not.
#[test]
fn a_step_of_more_than_half_a_turn_is_reported_once_a_body() {
    let I = Matrix3::from_diagonal(&Vector3::new(0.01, 0.02, 0.03));
    let mut w = world(1e-3);
    spinning_body(&mut w, I, Vector3::new(40.0, 4000.0, 80.0), Vector3::zeros());
    for _ in 0..2000 {
        w.step();
    }
    let turns = w.long_turns();
    assert_eq!(turns.len(), 1);
    let report = turns[0].to_string();
    assert!(
        report.starts_with("body `b` turned by up to 4.0 rad in a step of 0.001 s"),
        "{report}"
    );

    let mut w = world(1e-3);
    spinning_body(&mut w, I, Vector3::new(30.0, 3000.0, 60.0), Vector3::zeros());
    for _ in 0..2000 {
        w.step();
    }
    assert!(w.long_turns().is_empty());
}

/// What spins fast among contacts is slowed down by them, not driven.
#[test]
fn a_fast_spin_on_the_ground_only_loses_energy() {
    for rad in [1.0, 4.0, 30.0] {
        let mut w = World::new(WorldSettings::default());
        w.add_ground(0.5, 0.0);
        let pose = Pose::from_translation(Vector3::new(0.0, 0.0, 0.051));
        let shape = Shape::Box { size: Vector3::new(0.3, 0.2, 0.1) };
        let velocity = Motion::new(Vector3::new(10.0, 40.0, rad * 1e3), Vector3::zeros());
        let body = BodyDescription::new("b", shape, 1.0, pose);
        w.add_body(BodyDescription { velocity, ..body }).unwrap();
        // Corners that go into the ground within a step are lifted out of it.
        let most = w.energy().kinetic + 9.81 * 0.1;
        for step in 0..2000 {
            w.step();
            let now = w.energy().kinetic;
            assert!(now <= most, "{rad} rad, step {step}: {now:e} of {most:e} J");
        }
    }
}

/// A top on an attached ball joint at 0.2 to 20 rad a step: rows halfway through a step end where it is too long for them.
#[test]
fn a_fast_top_on_an_attached_joint_gains_no_energy() {
    for dt in [2e-3, 5e-3, 1e-2] {
        for rate in [100.0, 200.0, 400.0, 2000.0] {
            let mut w = World::new(WorldSettings { dt, ..WorldSettings::default() });
            let lean = UnitQuaternion::from_scaled_axis(Vector3::new(0.0, 0.7, 0.0));
            let axis = lean * Vector3::z();
            let pose = Pose::from_quaternion(&lean, axis * 0.1);
            let shape = Shape::Cylinder { radius: 0.05, length: 0.02 };
            let velocity = Motion::new(axis * rate, Vector3::zeros());
            let body = BodyDescription::new("top", shape, 1.0, pose);
            let id = w.add_body(BodyDescription { velocity, ..body }).unwrap();
            let joint = JointDescription {
                a: Owner::Ground,
                b: Owner::Body(id),
                pose_in_a: Pose::IDENTITY,
                locked: [false, false, false, true, true, true],
                bushing: None,
                strength: None,
            };
            w.attach_joint("tip", joint).unwrap();
            let first = w.energy();
            let most = first.kinetic + 9.81 * 0.2;
            let mut largest = 0.0_f64;
            for _ in 0..300 {
                w.step();
                largest = largest.max(w.energy().kinetic);
            }
            println!("top at {:.1} rad a step: at most {:.3}", rate * dt, largest / most);
            assert!(largest < 1.1 * most, "{} rad a step: {largest:e} of {most:e} J", rate * dt);
        }
    }
}

/// Random trees of hinges, sliders and balls, fixed and floating, with and without dampers, at 1 to 1000 rad a step and every
/// integrator: their energy stays bounded. Below a radian a step that of free motion may grow to what it is at a radian.
#[test]
fn a_tree_gains_no_energy_at_any_spin() {
    const KINDS: &[Kind] = &[Kind::Revolute, Kind::Prismatic, Kind::Spherical];
    let (mut most, mut most_kept) = (0.0_f64, 0.0_f64);
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let base = if seed % 2 == 0 { Base::Floating } else { Base::Fixed(Pose::IDENTITY) };
        let mut model = random_tree(seed, 1 + random.below(6), base, KINDS);
        if seed % 3 == 0 {
            model.joints.iter_mut().for_each(|joint| joint.damping = 1e-6);
        }
        let dt = 10.0_f64.powf(random.uniform(-4.0, -2.0));
        let turn = 10.0_f64.powf(random.uniform(0.0, 3.0));
        let q = random_position(&model, &mut random);
        let mut v = random_vector(model.nv, &mut random);
        let fastest = v.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
        for v in &mut v {
            *v *= turn / (dt * fastest);
        }
        let integrator = Integrator::ALL[random.below(4)];
        let gravity = Vector3::zeros();
        let mut w =
            World::new(WorldSettings { dt, gravity, integrator, ..WorldSettings::default() });
        let id = w.add_robot("robot", Arc::new(model), &q).unwrap();
        w.set_robot_state(id, &q, &v).unwrap();
        let first = w.energy().kinetic;
        let mut largest = 0.0_f64;
        for _ in 0..300 {
            let outcome = w.step();
            assert!(!matches!(outcome, StepOutcome::NonFinite(_)), "tree {seed}: {outcome:?}");
            largest = largest.max(w.energy().kinetic / first);
        }
        // What keeps its angular momentum has the energy that this asks for in its posture.
        let keeps_spin = matches!(integrator, Integrator::Momentum | Integrator::Variational);
        if keeps_spin && seed % 2 == 0 {
            most_kept = most_kept.max(largest);
            assert!(largest < 20.0, "tree {seed}, {}, {turn} rad: {largest}", integrator.name());
        } else {
            most = most.max(largest);
            assert!(largest < 20.0, "tree {seed}, {}, {turn} rad: {largest}", integrator.name());
        }
    }
    println!(
        "trees at 1 to 1000 rad a step: at most {most:.4} of their energy, {most_kept:.2} at L"
    );
}

/// A wheel on an arm at 4 rad a step: its rotation changes no inertia, so the arm is integrated as ever, and its energy stays.
#[test]
fn an_arm_with_a_fast_wheel_keeps_its_order() {
    let inertia = |com: f64, xx: f64, yy: f64, zz: f64| Inertia {
        mass: 1.0,
        com: Vector3::new(com, 0.0, 0.0),
        about_com: Matrix3::from_diagonal(&Vector3::new(xx, yy, zz)),
    };
    let model = ModelBuilder::new("arm", Base::Fixed(Pose::IDENTITY))
        .link(LinkSpec::new("base", Inertia::ZERO))
        .link(LinkSpec::new("arm", inertia(0.1, 0.01, 0.01, 0.01)))
        .link(LinkSpec::new("wheel", inertia(0.0, 0.01, 0.01, 0.02)))
        .joint(JointSpec::revolute("shoulder", "base", "arm", Vector3::y()))
        .joint(
            JointSpec::revolute("spin", "arm", "wheel", Vector3::z())
                .at(Pose::from_translation(Vector3::new(0.2, 0.0, 0.0))),
        )
        .build()
        .unwrap();
    let model = Arc::new(model);
    let ends = [4e-3, 2e-3, 1e-3].map(|dt| {
        let mut w = World::new(WorldSettings { dt, ..WorldSettings::default() });
        let id = w.add_robot("robot", Arc::clone(&model), &model.neutral_position()).unwrap();
        w.set_robot_state(id, &model.neutral_position(), &[0.0, 4000.0]).unwrap();
        let first = w.energy().total();
        for _ in 0..(1.0 / dt).round() as usize {
            w.step();
        }
        assert!((w.energy().total() - first).abs() < 1e-6 * first);
        assert!(w.long_turns()[0].joint.as_deref() == Some("spin"));
        w.robot(id).q()[0]
    });
    let order = ((ends[1] - ends[0]) / (ends[2] - ends[1])).abs().log2();
    println!("arm with a fast wheel: order {order:.2}");
    assert!(order > 1.9, "{order}");
}

/// Most by which the energy of a random round body that rolls, wobbles and slides on the ground with up to 40 rad/s
/// rises above its least so far, in 1.5 s, as a part of that at the start. [-]
fn growth_on_the_ground(seed: u64, dt: f64) -> f64 {
    let mut random = Random::new(seed);
    let size = Vector3::from_fn(|_, _| random.uniform(0.02, 0.1));
    let shape = match seed % 3 {
        0 => Shape::Ellipsoid { semi_axes: size },
        1 => Shape::Cylinder { radius: size.x, length: 0.2 * size.y },
        _ => Shape::Capsule { radius: size.x, length: size.y },
    };
    let turn = Vector3::from_fn(|_, _| random.uniform(-2.0, 2.0));
    let angular = Vector3::from_fn(|_, _| random.uniform(-1.0, 1.0)) * random.uniform(0.0, 40.0);
    let linear = Vector3::new(random.uniform(-1.0, 1.0), random.uniform(-1.0, 1.0), 0.0);
    let pose = Pose::from_quaternion(&UnitQuaternion::from_scaled_axis(turn), Vector3::z() * 0.16);
    let velocity = Motion::new(angular, linear);
    let friction = random.uniform(0.0, 1.2);
    let mut w = World::new(WorldSettings { dt, ..WorldSettings::default() });
    w.add_ground(friction, 0.0);
    let body = BodyDescription::new("body", shape, 1.0, pose);
    w.add_body(BodyDescription { velocity, friction, ..body }).unwrap();
    let (mut start, mut least, mut growth) = (f64::NAN, f64::INFINITY, 0.0_f64);
    for _ in 0..(1.5 / dt).round() as usize {
        let now = w.energy();
        let now = now.kinetic + now.potential;
        start = if start.is_nan() { now } else { start };
        least = least.min(now);
        growth = growth.max(now - least);
        w.step();
    }
    growth / start
}

/// What rolls by the midpoint of the step gains nothing but the lifting of what it entered with; what slides may gain the error of the
/// step's start, 1.3 % for a disc that slides at 43 rad/s, which falls with the step.
#[test]
fn what_rolls_and_slides_on_the_ground_gains_no_more_than_its_error() {
    let worst = |dt: f64| (0..200).map(|seed| growth_on_the_ground(seed, dt)).fold(0.0, f64::max);
    let [coarse, fine] = [1e-3, 2.5e-4].map(worst);
    println!("energy above its least so far: at most {coarse:e} at 1 ms, {fine:e} at 0.25 ms");
    assert!(coarse < 0.02 && fine < 0.3 * coarse, "{coarse:e} {fine:e}");
}
