//! Motors beside the drives: laws against closed forms, energy, limits.
#![expect(clippy::unwrap_used, reason = "a test says so")]

use std::sync::Arc;

use karakuri_model::{
    Base, Drive, Exponential, ExponentialEnd, JointSpec, Linear, LinkSpec, Model, ModelBuilder,
    MotorCommand, MotorLaw, MotorSpec, MotorState, Plastic, SpeedTorque, Table, Viscoelastic,
};
use karakuri_physics::{RobotId, Scene, World, WorldSettings};
use karakuri_spatial::{Inertia, Matrix3, Pose, Vector3};
use karakuri_testkit::Random;

const MOMENT: f64 = 0.05;

fn motor(name: &str, law: impl MotorLaw + 'static) -> MotorSpec {
    let (name, joint) = (name.to_owned(), "wheel".to_owned());
    MotorSpec {
        name,
        joint,
        law: Arc::new(law),
        command: MotorCommand::default(),
        effort: f64::INFINITY,
    }
}

/// A wheel with a centre of mass 0.1 m off its axis, 1 kg, about y.
fn wheel(drive: Option<Drive>, off: f64, motors: Vec<MotorSpec>) -> Arc<Model> {
    let com = Vector3::new(off, 0.0, 0.0);
    let inertia = Inertia { mass: 1.0, com, about_com: Matrix3::identity() * MOMENT };
    let mut joint = JointSpec::revolute("wheel", "frame", "wheel", Vector3::y());
    joint.drive = drive;
    let builder = ModelBuilder::new("wheel", Base::Fixed(Pose::IDENTITY))
        .link(LinkSpec::new("frame", Inertia::ZERO))
        .link(LinkSpec::new("wheel", inertia))
        .joint(joint);
    Arc::new(motors.into_iter().fold(builder, ModelBuilder::motor).build().unwrap())
}

fn world(model: Arc<Model>, q: f64, dt: f64) -> (World, RobotId) {
    let settings = WorldSettings { dt, energy_ledger: true, ..WorldSettings::default() };
    let mut world = World::new(settings);
    let id = world.add_robot("wheel", model, &[q]).unwrap();
    (world, id)
}

fn state(world: &World, id: RobotId) -> (f64, f64) {
    (world.robot(id).q()[0], world.robot(id).v()[0])
}

#[test]
fn two_motors_are_one_servo_of_their_sum() {
    let drive = Drive { stiffness: 300.0, damping: 2.0 };
    let part = |share: f64| Linear { stiffness: 300.0 * share, damping: 2.0 * share };
    let (mut one, a) = world(wheel(Some(drive), 0.1, vec![]), 0.0, 1e-3);
    let motors = vec![motor("a", part(0.3)), motor("b", part(0.7))];
    let (mut two, b) = world(wheel(None, 0.1, motors), 0.0, 1e-3);
    for step in 0..2000 {
        let target = 0.5 * (1e-3 * f64::from(step)).sin();
        one.drive_mut(a).position[0] = target;
        for i in 0..2 {
            two.motor_command_mut(b, i).position = target;
        }
        one.step();
        two.step();
        let (p, q) = (state(&one, a), state(&two, b));
        assert!((p.0 - q.0).abs() < 1e-12 && (p.1 - q.1).abs() < 1e-10, "{p:?} {q:?}");
    }
    let efforts: Vec<f64> = two.motors(b).map(|(_, report)| report.effort).collect();
    assert!((efforts[0] * 7.0 - efforts[1] * 3.0).abs() < 1e-9, "{efforts:?}");
    assert!((one.robot(a).efforts()[0] - efforts.iter().sum::<f64>()).abs() < 1e-9);
    assert!((two.robot(b).efforts()[0] - efforts.iter().sum::<f64>()).abs() < 1e-12);
    let ledger = two.ledger();
    assert!((one.ledger().servos - ledger.servos).abs() < 1e-9, "{ledger:?}");
    assert!(ledger.unexplained.abs() < 1e-12, "{ledger:?}");
}

#[test]
fn any_gain_is_stable_and_a_limit_holds() {
    let mut strong = motor("strong", Linear { stiffness: 1e9, damping: 1e3 });
    strong.command.position = 1.0;
    strong.effort = 4.0;
    let (mut world, id) = world(wheel(None, 0.0, vec![strong]), 0.0, 5e-3);
    world.step();
    let (_, v) = state(&world, id);
    assert!((v - 4.0 / MOMENT * 5e-3).abs() < 1e-9, "{v}");
    assert!(world.motors(id).next().unwrap().1.saturated);
    for _ in 0..2000 {
        world.step();
        let effort = world.robot(id).efforts()[0];
        assert!(effort.abs() <= 4.0 * (1.0 + 1e-9), "{effort}");
    }
    let (q, v) = state(&world, id);
    assert!((q - 1.0).abs() < 1e-7 && v.abs() < 1e-6, "{q} {v}");
}

fn resistance(at: f64, effort: f64, rate: f64) -> Exponential {
    let end = |at| Some(ExponentialEnd { at, effort, rate });
    Exponential { lower: end(-at), upper: end(at), damping: 0.0 }
}

/// Hangs at `a e^{r (q − q₀)} − … = m g l cos q`.
#[test]
fn an_exponential_joint_carries_a_load_where_its_law_says() {
    let law = resistance(0.5, 0.3, 12.0);
    let mut damped = law;
    damped.damping = 0.2;
    let (mut world, id) = world(wheel(None, 0.1, vec![motor("skin", damped)]), 0.0, 1e-3);
    for _ in 0..20_000 {
        world.step();
    }
    let (q, v) = state(&world, id);
    let given = 0.3 * ((12.0 * (-0.5 - q)).exp() - (12.0 * (q - 0.5)).exp());
    let weight = 9.81 * 0.1 * q.cos();
    assert!((given + weight).abs() < 1e-9 && v.abs() < 1e-9, "at {q}, {v}: {given} {weight}");
    let report = world.motors(id).next().unwrap().1;
    assert!((report.effort - given).abs() < 1e-9 && report.mismatch.abs() < 1e-9, "{report:?}");
}

/// What a conservative law holds more at `to` than at `from`, by Simpson's rule. [J]
fn held(law: &dyn MotorLaw, from: f64, to: f64) -> f64 {
    let effort = |q: f64| {
        let command = MotorCommand::default();
        law.respond(&MotorState { position: q, velocity: 0.0, command, memory: 0.0, dt: 0.0 })
            .effort
    };
    let n = 1000;
    let h = (to - from) / f64::from(n);
    -(0..n)
        .map(|i| {
            let x = from + h * f64::from(i);
            h / 6.0 * (effort(x) + 4.0 * effort(x + 0.5 * h) + effort(x + h))
        })
        .sum::<f64>()
}

/// Whatever the step, the speed and the steepness: no law gives more than it holds.
#[test]
fn no_law_adds_energy() {
    let mut random = Random::new(5);
    for case in 0..60 {
        let law: Box<dyn MotorLaw> = if case % 2 == 0 {
            let rate = 10_f64.powf(random.uniform(0.0, 3.0));
            Box::new(resistance(random.uniform(0.1, 0.6), random.uniform(0.1, 5.0), rate))
        } else {
            // Snaps through between two wells.
            let a = random.uniform(0.2, 5.0);
            let points = vec![
                (-1.0, 3.0 * a),
                (-0.5, 0.0),
                (-0.25, -a),
                (0.25, a),
                (0.5, 0.0),
                (1.0, -3.0 * a),
            ];
            Box::new(Table::new(points, 0.0).unwrap())
        };
        let law: Arc<dyn MotorLaw> = law.into();
        let (name, joint) = ("law".to_owned(), "wheel".to_owned());
        let spec = MotorSpec {
            name,
            joint,
            law: Arc::clone(&law),
            command: MotorCommand::default(),
            effort: f64::INFINITY,
        };
        let dt = 10_f64.powf(random.uniform(-4.0, -1.5));
        let settings = WorldSettings { dt, gravity: Vector3::zeros(), ..WorldSettings::default() };
        let mut world = World::new(settings);
        let start = random.uniform(-0.5, 0.5);
        let id = world.add_robot("wheel", wheel(None, 0.0, vec![spec]), &[start]).unwrap();
        world.set_robot_state(id, &[start], &[random.uniform(-5.0, 5.0)]).unwrap();
        let (mut energy, mut from) = (world.energy().kinetic, start);
        for step in 0..60 {
            world.step();
            let (q, v) = state(&world, id);
            let stored = held(law.as_ref(), from, q);
            let now = world.energy().kinetic + stored;
            // Where a step crosses a corner of a table, neither of its ends is the law's least effort on the way.
            let slack = 1e-9 + if case % 2 == 0 { 0.0 } else { 0.05 * dt * v.abs() * 15.0 };
            assert!(
                now <= energy + slack * (1.0 + energy.abs()),
                "case {case}, {law:?}, dt {dt}, step {step}: {now} J from {energy} J at {q}, {v}"
            );
            let missing = world.motors(id).next().unwrap().1.mismatch;
            assert!(missing.abs() < 1e-6 * (1.0 + v.abs()), "case {case}: {missing}");
            (energy, from) = (world.energy().kinetic, q);
        }
    }
}

/// Backward Euler of `I v̇ = τ_s (u − v/v₀)`, to round-off, and so to the speed without load.
#[test]
fn a_direct_current_motor_follows_its_line() {
    let law = SpeedTorque { stall: 2.0, no_load: 30.0 };
    let mut spec = motor("dc", law);
    spec.command.effort = 0.8;
    let (mut world, id) = world(wheel(None, 0.0, vec![spec]), 0.0, 1e-3);
    let mut v = 0.0;
    for _ in 0..3000 {
        world.step();
        v = (v + 1e-3 * 2.0 * 0.8 / MOMENT) / (1.0 + 1e-3 * (2.0 / 30.0) / MOMENT);
        assert!((state(&world, id).1 - v).abs() < 1e-12 * (1.0 + v), "{v}");
    }
    world.motor_command_mut(id, 0).effort = 7.0;
    for _ in 0..20_000 {
        world.step();
    }
    assert!((state(&world, id).1 - 30.0).abs() < 1e-6, "full voltage is the most");
    world.enable_motor(id, 0, false);
    world.step();
    assert!(world.robot(id).efforts()[0].abs() < 1e-300);
}

/// Under a constant load it creeps at `τ/c₂`, springs back by `τ/k` when the load goes, and stays bent.
#[test]
fn a_viscoelastic_joint_is_bent_for_good() {
    let law = Viscoelastic { stiffness: 200.0, damping: 1.0, second_damping: 40.0 };
    let mut load = motor("load", Linear { stiffness: 0.0, damping: 0.0 });
    load.command.effort = 3.0;
    let (mut world, id) = world(wheel(None, 0.0, vec![motor("clay", law), load]), 0.0, 1e-3);
    for _ in 0..4000 {
        world.step();
    }
    let (bent, v) = state(&world, id);
    assert!((v - 3.0 / 40.0).abs() < 1e-6, "creeps at {v}");
    world.motor_command_mut(id, 1).effort = 0.0;
    for _ in 0..8000 {
        world.step();
    }
    let (rest, v) = state(&world, id);
    assert!(v.abs() < 1e-4, "{v}");
    assert!(rest > bent - 3.0 / 200.0 - 0.02 && rest > 0.2, "from {bent} back to {rest} rad");
}

/// Loaded beyond its yield effort it is bent by `(τ − Y)/η`; let go it springs back by `τ/k`, and bends the other way from
/// `2 Y − τ` on (Bauschinger's effect), each at rest after a damped swing.
#[test]
fn a_plastic_joint_keeps_what_bent_it_beyond_its_yield() {
    let law = Plastic { stiffness: 200.0, damping: 8.0, yield_effort: 2.0, hardening: 50.0 };
    let mut load = motor("load", Linear { stiffness: 0.0, damping: 0.0 });
    load.command.effort = 0.0;
    let (mut world, id) = world(wheel(None, 0.0, vec![motor("tin", law), load]), 0.0, 1e-3);
    let mut bend = |effort: f64| {
        let from = world.motor_command_mut(id, 1).effort;
        // Slowly, so that no swing bends it further.
        for step in 1..=7000 {
            let part = f64::from(step.min(3000)) / 3000.0;
            world.motor_command_mut(id, 1).effort = from + (effort - from) * part;
            world.step();
        }
        world.robot(id).q()[0]
    };
    let near = |q: f64, expected: f64| assert!((q - expected).abs() < 1e-6, "{q}, not {expected}");
    near(bend(1.9), 1.9 / 200.0);
    near(bend(0.0), 0.0);
    near(bend(3.0), 3.0 / 200.0 + 1.0 / 50.0);
    near(bend(0.0), 1.0 / 50.0);
    near(bend(-0.9), 1.0 / 50.0 - 0.9 / 200.0);
    near(bend(0.0), 1.0 / 50.0);
    near(bend(-2.0), -2.0 / 200.0);
    near(bend(0.0), 0.0);
}

/// A wheel that a plastic spring without hardening brakes: it loses `Y` times its path, and springs back by `Y/k` at most.
#[test]
fn a_plastic_joint_brakes_at_its_yield_effort() {
    let law = Plastic { stiffness: 5e4, damping: 0.0, yield_effort: 2.0, hardening: 0.0 };
    for dt in [1e-4, 1e-3, 5e-3] {
        let (mut world, id) = world(wheel(None, 0.0, vec![motor("tin", law)]), 0.0, dt);
        world.set_robot_state(id, &[0.0], &[10.0]).unwrap();
        let moment = MOMENT;
        let mut farthest: f64 = 0.0;
        while world.time() < 2.0 {
            world.step();
            farthest = farthest.max(state(&world, id).0);
        }
        // One step's share of the path, and the elastic part.
        let distance = 0.5 * moment * 100.0 / 2.0;
        assert!(
            (farthest - distance).abs() <= 10.0 * dt + 1e-3,
            "{farthest} rad, not {distance} at {dt} s"
        );
        let rest = state(&world, id).0;
        assert!(farthest - rest <= 2.0 * 2.0 / 5e4 + 1e-9, "back from {farthest} to {rest}");
        assert!(world.ledger().unexplained.abs() < 1e-9, "{:?}", world.ledger());
    }
}

#[test]
fn motors_repeat_bit_by_bit_after_a_restore() {
    let clay = Viscoelastic { stiffness: 200.0, damping: 1.0, second_damping: 40.0 };
    let motors = vec![motor("clay", clay), motor("skin", resistance(0.2, 0.5, 20.0))];
    let (mut world, id) = world(wheel(None, 0.1, motors), 0.1, 1e-3);
    for _ in 0..100 {
        world.step();
    }
    let snapshot = world.snapshot();
    let run = |world: &mut World| {
        for _ in 0..200 {
            world.step();
        }
        (world.state_hash(), world.robot(id).efforts()[0].to_bits())
    };
    let first = run(&mut world);
    world.restore(&snapshot);
    assert_eq!(run(&mut world), first);
}

#[test]
fn a_scene_names_motors() {
    let text = "robots:\n- name: w\n  urdf: w.urdf\n  motors:\n    servo: {joint: wheel, law: linear, stiffness: 50, damping: 1, position: 0.3}\n    \
                skin: {joint: wheel, law: exponential, upper: {at: 1, effort: 2, rate: 9}}\n";
    let scene = Scene::parse(text, "s.yaml").unwrap();
    let world = World::from_scene(&scene, &[wheel(None, 0.1, vec![])]).unwrap();
    let id = world.find_robot("w").unwrap();
    let names: Vec<&str> = world.motors(id).map(|(m, _)| m.law.name()).collect();
    assert_eq!(names, ["linear", "exponential"]);
    for (line, words) in [
        ("a: {joint: wheel}", "motors.a.law is missing"),
        ("a: {joint: wheel, law: liner}", "there is no motor law `liner`"),
        ("a: {law: linear}", "motors.a.joint is missing"),
        ("a: {joint: wheel, law: linear, rate: 1}", "unknown key"),
        ("a: {joint: wheel, law: table, points: [[0, 0], [0, 1]]}", "positions do not increase"),
        ("a: {joint: wheel, law: speed_torque, stall: 1}", "no_load is missing"),
        ("a: {joint: wheel, law: viscoelastic, stiffness: 1}", "second_damping is missing"),
        ("a: {joint: wheel, law: plastic, stiffness: 1}", "yield is missing"),
        ("a: {joint: wheel, law: exponential, lower: {at: 1}}", "effort is missing"),
    ] {
        let text = format!("robots:\n- name: w\n  urdf: w.urdf\n  motors:\n    {line}\n");
        let error = Scene::parse(&text, "s.yaml").unwrap_err().to_string();
        assert!(error.contains(words) && error.contains("s.yaml"), "{line}: {error}");
    }
    let text = text.replace("joint: wheel", "joint: spoke");
    let scene = Scene::parse(&text, "s.yaml").unwrap();
    let error = World::from_scene(&scene, &[wheel(None, 0.1, vec![])]).unwrap_err().to_string();
    assert!(error.contains("motor `servo`: it acts on no joint"), "{error}");
}
