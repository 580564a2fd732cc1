//! Robots against closed forms and laws of mechanics.

#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts of steps are small"
)]

use std::sync::Arc;

use karakuri_dynamics::{Data, centroidal_momentum};
use karakuri_model::{
    Base, Bumper, Drive, GeometrySpec, JointSpec, Limits, LinkSpec, LoopFrames, LoopSpec,
    MimicSpec, Model, ModelBuilder, Shape,
};
use karakuri_physics::{
    BodyDescription, JointDynamics, RobotId, StepOutcome, World, WorldSettings, loop_gap,
};
use karakuri_spatial::{Inertia, Matrix3, Pose, Vector3};

const G: f64 = 9.81;

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_translation(Vector3::new(x, y, z))
}

fn solid(mass: f64, size: f64, com: Vector3) -> Inertia {
    Inertia { mass, com, about_com: Matrix3::identity() * (mass * size * size / 6.0) }
}

fn base() -> LinkSpec {
    LinkSpec::new("base", Inertia::ZERO)
}

fn world(dt: f64) -> World {
    World::new(WorldSettings { dt, ..WorldSettings::default() })
}

fn add(world: &mut World, builder: ModelBuilder) -> (RobotId, Arc<Model>) {
    let model = Arc::new(builder.build().unwrap());
    let id = world.add_robot("robot", Arc::clone(&model), &model.neutral_position()).unwrap();
    (id, model)
}

fn step(world: &mut World) {
    let outcome = world.step();
    assert!(matches!(outcome, StepOutcome::Solved { .. }), "{outcome:?} at {} s", world.time());
}

fn run(world: &mut World, seconds: f64) {
    for _ in 0..(seconds / world.settings().dt).round() as usize {
        step(world);
    }
}

/// A rod of 1 kg and 1 m on a hinge about y.
fn pendulum() -> ModelBuilder {
    let rod = solid(1.0, 0.1, Vector3::new(0.0, 0.0, -0.5));
    ModelBuilder::new("pendulum", Base::Fixed(Pose::IDENTITY))
        .link(base())
        .link(LinkSpec::new("rod", rod))
        .joint(JointSpec::revolute("hinge", "base", "rod", Vector3::y()))
}

#[test]
fn a_pendulum_keeps_its_period_and_its_energy_does_not_grow() {
    let mut w = world(1e-4);
    let (id, _) = add(&mut w, pendulum());
    w.set_robot_state(id, &[0.01], &[0.0]).unwrap();
    let energy = |w: &mut World| w.energy().kinetic + w.energy().potential;
    let initial = energy(&mut w);
    let inertia: f64 = 0.1 * 0.1 / 6.0 + 0.25;
    let period = std::f64::consts::TAU * (inertia / (G * 0.5)).sqrt();
    run(&mut w, (period / 1e-4).round() * 1e-4);
    let q = w.robot(id).q()[0];
    assert!((q - 0.01).abs() < 1e-6, "after one period at {q} rad instead of 0.01");
    let drift = energy(&mut w) - initial;
    assert!(drift.abs() < 1e-3 * (0.5 * G * 0.5 * 1e-4), "energy changed by {drift} J");
}

#[test]
fn a_servo_of_any_gain_is_stable_and_ends_at_its_target() {
    for stiffness in [1.0e2, 1.0e5, 1.0e9] {
        let mut w = world(1e-2);
        let mut builder = pendulum();
        builder = builder.link(LinkSpec::new("tip", solid(0.5, 0.1, Vector3::z() * -0.2))).joint(
            JointSpec {
                drive: Some(Drive { stiffness, damping: 0.1 * stiffness }),
                origin: at(0.0, 0.0, -1.0),
                ..JointSpec::revolute("servo", "rod", "tip", Vector3::y())
            },
        );
        let (id, model) = add(&mut w, builder);
        w.drive_mut(id).position[1] = 0.7;
        run(&mut w, 4.0);
        let tip = model.joint("servo").unwrap().0;
        let q = w.robot(id).q()[tip];
        let allowed = 20.0 / stiffness + 1e-9;
        assert!((q - 0.7).abs() < allowed, "K = {stiffness}: at {q} rad instead of 0.7");
        assert!(w.robot(id).v().iter().all(|v| v.abs() < 50.0), "{:?}", w.robot(id).v());
    }
}

#[test]
fn a_servo_gives_no_more_than_its_limit() {
    let mut w = world(1e-3);
    w.set_settings(WorldSettings { gravity: Vector3::zeros(), ..*w.settings() });
    let cart = JointSpec {
        drive: Some(Drive { stiffness: 1e4, damping: 1e2 }),
        limits: Limits { effort: 2.0, ..Limits::NONE },
        ..JointSpec::prismatic("rail", "base", "cart", Vector3::x())
    };
    let builder = ModelBuilder::new("cart", Base::Fixed(Pose::IDENTITY))
        .link(base())
        .link(LinkSpec::new("cart", solid(4.0, 0.1, Vector3::zeros())))
        .joint(cart);
    let (id, _) = add(&mut w, builder);
    w.drive_mut(id).position[0] = 100.0;
    run(&mut w, 1.0);
    // 2 N on 4 kg for 1 s.
    let v = w.robot(id).v()[0];
    assert!((v - 0.5).abs() < 1e-9, "speed {v} m/s instead of 0.5");
    assert!((w.robot(id).efforts()[0] - 2.0).abs() < 1e-9, "{:?}", w.robot(id).efforts());
}

#[test]
fn joint_limits_stop_and_hold() {
    let mut w = world(1e-3);
    let builder = ModelBuilder::new("drop", Base::Fixed(Pose::IDENTITY))
        .link(base())
        .link(LinkSpec::new("weight", solid(3.0, 0.1, Vector3::zeros())))
        .joint(JointSpec {
            limits: Limits { lower: -0.2, upper: 0.1, ..Limits::NONE },
            ..JointSpec::prismatic("rail", "base", "weight", Vector3::z())
        });
    let (id, _) = add(&mut w, builder);
    for _ in 0..1000 {
        step(&mut w);
        assert!(w.robot(id).q()[0] > -0.2 - 1e-9, "at {}", w.robot(id).q()[0]);
    }
    assert!((w.robot(id).q()[0] + 0.2).abs() < 1e-9 && w.robot(id).v()[0].abs() < 1e-9);
}

/// A weight on a rail with a spring of `stiffness` and a damper at its lower end, 0.1 m below.
fn onto_a_bumper(dt: f64, stiffness: f64, damping: f64) -> (World, RobotId) {
    let mut w = world(dt);
    let builder = ModelBuilder::new("drop", Base::Fixed(Pose::IDENTITY))
        .link(base())
        .link(LinkSpec::new("weight", solid(3.0, 0.1, Vector3::zeros())))
        .joint(JointSpec {
            limits: Limits { lower: -0.1, upper: 0.1, ..Limits::NONE },
            bumper: Some(Bumper { stiffness, damping }),
            ..JointSpec::prismatic("rail", "base", "weight", Vector3::z())
        });
    let (id, _) = add(&mut w, builder);
    (w, id)
}

#[test]
fn a_soft_limit_is_a_spring_and_a_damper_beyond_it() {
    let (k, d, m, dt) = (3e3, 30.0, 3.0, 1e-5);
    let (mut w, id) = onto_a_bumper(dt, k, d);
    let (mut x, mut v) = (0.0_f64, 0.0_f64);
    let mut lowest: f64 = 0.0;
    for _ in 0..40_000 {
        step(&mut w);
        // The same motion in steps so much finer that its own error does not count.
        for _ in 0..10 {
            let depth = (-0.1 - x).max(0.0);
            let push = if depth > 0.0 { (k * depth - d * v).max(0.0) } else { 0.0 };
            v += 0.1 * dt * (push / m - G);
            x += 0.1 * dt * v;
        }
        let q = w.robot(id).q()[0];
        assert!((q - x).abs() < 1e-4, "at {q} m instead of {x}");
        lowest = lowest.min(q);
    }
    assert!(lowest < -0.13, "it gives way: {lowest} m");
    run(&mut w, 2.0);
    let (q, v) = (w.robot(id).q()[0], w.robot(id).v()[0]);
    assert!((q + 0.1 + m * G / k).abs() < 1e-5 && v.abs() < 1e-4, "rests at {q} m, {v} m/s");
}

#[test]
fn a_soft_limit_of_any_stiffness_is_stable_and_pulls_nothing_back() {
    for stiffness in [1e2, 1e5, 1e9, 1e15] {
        let (mut w, id) = onto_a_bumper(1e-2, stiffness, 0.0);
        let start = w.energy().total();
        for _ in 0..1000 {
            step(&mut w);
            let bound = 0.5 * stiffness * (-0.1 - w.robot(id).q()[0]).max(0.0).powi(2);
            let now = w.energy().total() + bound;
            assert!(now < start + 0.15, "K = {stiffness}: from {start} J to {now} J");
        }
        let (mut w, id) = onto_a_bumper(1e-3, stiffness, 1e3);
        w.set_robot_state(id, &[-0.11], &[1.0]).unwrap();
        step(&mut w);
        assert!(
            w.robot(id).v()[0] > 0.99 - 1e-3 * G,
            "leaves a damper freely: {}",
            w.robot(id).v()[0]
        );
    }
}

#[test]
fn dry_friction_holds_below_its_limit_and_slows_above() {
    for (friction, expected) in [(10.0, 0.0), (5.0, (1.0 * G - 5.0) / 1.0 * 0.5)] {
        let mut w = world(1e-3);
        let builder = ModelBuilder::new("brake", Base::Fixed(Pose::IDENTITY))
            .link(base())
            .link(LinkSpec::new("weight", solid(1.0, 0.1, Vector3::zeros())))
            .joint(JointSpec {
                friction,
                ..JointSpec::prismatic("rail", "base", "weight", Vector3::z())
            });
        let (id, _) = add(&mut w, builder);
        run(&mut w, 0.5);
        let v = -w.robot(id).v()[0];
        assert!(
            (v - expected).abs() < 1e-9,
            "friction {friction} N: {v} m/s instead of {expected}"
        );
    }
}

#[test]
fn inertia_and_friction_of_a_joint_change_while_it_falls() {
    let mut w = world(1e-3);
    let weight = |mass: f64| {
        let inertia = if mass > 0.0 { solid(mass, 0.1, Vector3::zeros()) } else { Inertia::ZERO };
        let rail = JointSpec::prismatic("rail", "base", "weight", Vector3::z());
        ModelBuilder::new("brake", Base::Fixed(Pose::IDENTITY))
            .link(base())
            .link(LinkSpec::new("weight", inertia))
            .joint(JointSpec { armature: 1.0, ..rail })
    };
    let (id, _) = add(&mut w, weight(1.0));
    let falls = |w: &mut World| {
        let before = w.robot(id).v()[0];
        step(w);
        (before - w.robot(id).v()[0]) / w.settings().dt
    };
    // 1 kg that its gear lets feel 2, then 5 kg, then 1 kg against 4 N, then against a damper, at the end of the step
    assert!((falls(&mut w) - G / 2.0).abs() < 1e-9);
    w.set_joint_dynamics(id, 0, JointDynamics { armature: 4.0, ..JointDynamics::default() })
        .unwrap();
    assert!((falls(&mut w) - G / 5.0).abs() < 1e-9);
    let saved = w.snapshot();
    w.set_joint_dynamics(id, 0, JointDynamics { friction: 4.0, ..JointDynamics::default() })
        .unwrap();
    assert!((falls(&mut w) - (G - 4.0)).abs() < 1e-9);
    let (v, dt) = (w.robot(id).v()[0], w.settings().dt);
    w.set_joint_dynamics(id, 0, JointDynamics { viscous: 20.0, ..JointDynamics::default() })
        .unwrap();
    step(&mut w);
    let expected = (v - G * dt) / (1.0 + 20.0 * dt);
    assert!((w.robot(id).v()[0] - expected).abs() < 1e-12);
    w.restore(&saved);
    assert!(w.robot(id).joint_dynamics(0).armature.to_bits() == 4.0_f64.to_bits());
    for wrong in [-1.0, f64::NAN, f64::INFINITY] {
        let wrong = JointDynamics { viscous: wrong, ..JointDynamics::default() };
        let refused = w.set_joint_dynamics(id, 0, wrong).unwrap_err().to_string();
        assert!(refused.contains("joint `rail`") && refused.contains("from 0"), "{refused}");
    }
    // nothing but the armature gives this one inertia
    let mut w = world(1e-3);
    let (id, _) = add(&mut w, weight(0.0));
    let refused = w.set_joint_dynamics(id, 0, JointDynamics::default()).unwrap_err().to_string();
    assert!(refused.contains("rail") && refused.contains("moves no mass"), "{refused}");
    assert!(w.robot(id).joint_dynamics(0).armature.to_bits() == 1.0_f64.to_bits());
}

#[test]
fn a_mimic_joint_follows_exactly_and_shares_the_load() {
    let mut w = world(1e-3);
    let weight = || solid(1.0, 0.1, Vector3::zeros());
    let builder = ModelBuilder::new("pulley", Base::Fixed(Pose::IDENTITY))
        .link(base())
        .link(LinkSpec::new("a", weight()))
        .link(LinkSpec::new("b", solid(3.0, 0.1, Vector3::zeros())))
        .joint(JointSpec::prismatic("lead", "base", "a", Vector3::z()))
        .joint(JointSpec {
            mimic: Some(MimicSpec { leader: "lead".into(), multiplier: -1.0, offset: 0.0 }),
            origin: at(1.0, 0.0, 0.0),
            ..JointSpec::prismatic("follow", "base", "b", Vector3::z())
        });
    let (id, _) = add(&mut w, builder);
    run(&mut w, 0.5);
    let (q, v) = (w.robot(id).q().to_vec(), w.robot(id).v().to_vec());
    // Atwood's machine: a = g (m_b − m_a)/(m_a + m_b).
    assert!((v[0] - 0.5 * G * 2.0 / 4.0).abs() < 1e-9, "{v:?}");
    assert!((q[0] + q[1]).abs() < 1e-12 && (v[0] + v[1]).abs() < 1e-12, "{q:?} {v:?}");
}

/// A parallelogram of bars, 0.3 m wide and 0.2 m high, driven at the first crank.
fn four_bar() -> ModelBuilder {
    open_four_bar().loop_joint(LoopSpec {
        name: "close".into(),
        link_a: "coupler".into(),
        link_b: "right".into(),
        frames: LoopFrames::OnLinks { a: at(0.3, 0.0, 0.0), b: at(0.0, 0.0, 0.2) },
        // All six but the hinge: redundant by three in the plane.
        locked: [true, false, true, true, true, true],
        posture: None,
    })
}

/// The bars without the joint that closes them.
fn open_four_bar() -> ModelBuilder {
    let bar = |length: f64, up: Vector3| solid(0.2, 0.05, up * (0.5 * length));
    let crank = JointSpec {
        drive: Some(Drive { stiffness: 200.0, damping: 5.0 }),
        ..JointSpec::revolute("crank", "base", "left", Vector3::y())
    };
    ModelBuilder::new("four_bar", Base::Fixed(Pose::IDENTITY))
        .link(base())
        .link(LinkSpec::new("left", bar(0.2, Vector3::z())))
        .link(LinkSpec::new("coupler", bar(0.3, Vector3::x())))
        .link(LinkSpec::new("right", bar(0.2, Vector3::z())))
        .joint(crank)
        .joint(JointSpec::revolute("elbow", "left", "coupler", Vector3::y()).at(at(0.0, 0.0, 0.2)))
        .joint(JointSpec::revolute("rocker", "base", "right", Vector3::y()).at(at(0.3, 0.0, 0.0)))
}

#[test]
fn a_driven_four_bar_stays_closed() {
    let mut w = world(1e-3);
    let (id, model) = add(&mut w, four_bar());
    let mut worst: f64 = 0.0;
    for i in 0..2000 {
        w.drive_mut(id).position[0] = 0.8 * (f64::from(i) * 0.01).sin();
        step(&mut w);
        worst = worst.max(loop_gap(&model, w.robot(id).data()));
    }
    assert!(worst <= 1e-9, "loop opens by {worst} m");
    let q = w.robot(id).q();
    assert!((q[0] - q[2]).abs() < 1e-9, "the cranks of a parallelogram stay parallel: {q:?}");
    assert!(q[0].abs() > 0.05, "it moved");
}

/// A loop that is opened leaves the tree it closed, at the same place and rates, and a snapshot from before has it closed.
#[test]
fn an_opened_loop_leaves_the_tree() {
    let mut w = world(1e-3);
    let (id, closed) = add(&mut w, four_bar());
    run(&mut w, 0.1);
    let before = w.snapshot();
    let (q, v) = (w.robot(id).q().to_vec(), w.robot(id).v().to_vec());
    let unknown = w.open_loop(id, "clasp").unwrap_err().to_string();
    assert_eq!(unknown, "there is no `clasp`; there are: close");
    w.open_loop(id, "close").unwrap();
    let mut alone = world(1e-3);
    let (other, _) = add(&mut alone, open_four_bar());
    *alone.drive_mut(other) = w.robot(id).drives().clone();
    alone.set_robot_state(other, &q, &v).unwrap();
    for _ in 0..300 {
        step(&mut w);
        step(&mut alone);
        assert_eq!(w.robot(id).q(), alone.robot(other).q(), "at {} s", w.time());
    }
    assert!(loop_gap(&closed, w.robot(id).data()) > 0.1, "it came apart");
    w.restore(&before);
    run(&mut w, 0.3);
    assert!(loop_gap(&closed, w.robot(id).data()) < 1e-9, "closed as before");
}

#[test]
fn a_floating_robot_keeps_its_momentum() {
    let mut w = world(1e-3);
    w.set_settings(WorldSettings { gravity: Vector3::zeros(), ..*w.settings() });
    let arm = JointSpec {
        drive: Some(Drive { stiffness: 50.0, damping: 1.0 }),
        origin: at(0.1, 0.0, 0.0),
        ..JointSpec::revolute("shoulder", "base", "arm", Vector3::y())
    };
    let builder = ModelBuilder::new("swimmer", Base::Floating)
        .link(LinkSpec::new("base", solid(2.0, 0.2, Vector3::zeros())))
        .link(LinkSpec::new("arm", solid(1.0, 0.1, Vector3::new(0.3, 0.0, 0.1))))
        .joint(arm);
    let (id, model) = add(&mut w, builder);
    let (q, mut v) = (w.robot(id).q().to_vec(), w.robot(id).v().to_vec());
    v[0] = 0.3;
    v[4] = 0.2;
    w.set_robot_state(id, &q, &v).unwrap();
    let momentum = |w: &World| {
        let mut data = Data::new(&model);
        centroidal_momentum(&model, &mut data, w.robot(id).q(), w.robot(id).v())
    };
    let before = momentum(&w);
    for i in 0..1000 {
        w.drive_mut(id).position[6] = (f64::from(i) * 5e-3).sin();
        step(&mut w);
    }
    let after = momentum(&w);
    let linear = (after.linear - before.linear).norm();
    let angular = (after.angular - before.angular).norm();
    assert!(linear < 2e-3 * before.linear.norm(), "linear momentum drifts by {linear} N·s in 1 s");
    assert!(angular < 2e-2, "angular momentum drifts by {angular} N·m·s in 1 s");
}

/// Two pads on rails that squeeze a cube.
fn pads() -> ModelBuilder {
    let pad = |name: &str| {
        let mut link = LinkSpec::new(name, solid(0.1, 0.03, Vector3::zeros()));
        let shape = Shape::Box { size: Vector3::new(0.02, 0.03, 0.03) };
        link.collisions
            .push(GeometrySpec { friction: 0.6, ..GeometrySpec::new(Pose::IDENTITY, shape) });
        link
    };
    let rail = |name: &str, child: &str, axis: f64| JointSpec {
        drive: Some(Drive { stiffness: 0.0, damping: 2.0 }),
        origin: at(-0.035 * axis, 0.0, 0.5),
        ..JointSpec::prismatic(name, "base", child, Vector3::x() * axis)
    };
    ModelBuilder::new("pads", Base::Fixed(Pose::IDENTITY))
        .link(base())
        .link(pad("left"))
        .link(pad("right"))
        .joint(rail("left_rail", "left", 1.0))
        .joint(rail("right_rail", "right", -1.0))
}

fn held_cube() -> BodyDescription {
    BodyDescription {
        friction: 0.6,
        ..BodyDescription::new(
            "cube",
            Shape::Box { size: Vector3::repeat(0.05) },
            0.2,
            at(0.0, 0.0, 0.5),
        )
    }
}

/// Squeezed with `force` on each side; how far the cube sinks in `seconds`. [m]
fn sinking(force: f64, seconds: f64) -> f64 {
    let mut w = world(1e-3);
    let (id, _) = add(&mut w, pads());
    let cube = w.add_body(held_cube()).unwrap();
    w.drive_mut(id).effort.copy_from_slice(&[force; 2]);
    let steps = (seconds / 1e-3).round() as usize;
    for _ in 0..steps {
        w.step();
    }
    0.5 - w.body(cube).pose().translation.z
}

#[test]
fn two_pads_hold_a_cube_by_friction_without_creep() {
    // 2 μ N ≥ m g: the limit is 1.635 N a side.
    let sunk = sinking(15.0, 10.0);
    assert!(sunk.abs() < 1e-5, "held with 15 N, sinks by {sunk} m in 10 s");
    let fallen = sinking(1.5, 0.5);
    assert!(fallen > 5e-3, "held with 1.5 N, which is too little: sinks by {fallen} m only");
}

#[test]
fn a_grasp_restores_bit_by_bit() {
    let mut w = world(1e-3);
    let (id, _) = add(&mut w, pads());
    w.add_body(held_cube()).unwrap();
    w.drive_mut(id).effort.copy_from_slice(&[15.0; 2]);
    for round in 0..50 {
        for _ in 0..7 {
            w.step();
        }
        let saved = w.snapshot();
        for _ in 0..20 {
            w.step();
        }
        let first = w.state_hash();
        w.restore(&saved);
        for _ in 0..20 {
            w.step();
        }
        assert_eq!(w.state_hash(), first, "round {round}");
    }
}
