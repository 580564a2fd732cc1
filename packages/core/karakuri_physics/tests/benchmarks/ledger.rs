//! The energy ledger closes: physics.md's best debugging tool, as a law.

use std::sync::Arc;

use karakuri_model::{Base, Drive, JointSpec, Limits, LinkSpec, ModelBuilder};
use karakuri_physics::{Integrator, Ledger, World, WorldSettings};
use karakuri_spatial::{Force, Matrix3, Motion, Pose, Vector3};
use karakuri_testkit::chain;

use crate::support::*;

fn booked(w: &mut World) {
    w.set_settings(WorldSettings { energy_ledger: true, ..*w.settings() });
}

/// Nothing is missing: the change is the sum of all causes.
fn sum(l: &Ledger) -> f64 {
    let work = l.servos + l.external + l.contacts + l.limits + l.friction + l.dampers;
    work + l.loops + l.stabilisation + l.integration + l.unexplained
}

#[test]
fn free_motion_has_no_error_at_all() {
    let mut w = world(1e-2, EARTH, Integrator::Default);
    booked(&mut w);
    let mut description = cuboid("body", [0.1; 3], 1.0, at(0.0, 0.0, 50.0));
    description.inertia = Some(Matrix3::from_diagonal(&Vector3::new(0.1, 0.2, 0.3)));
    description.velocity = Motion::new(Vector3::new(1.0, 5.0, 2.0), Vector3::new(3.0, 1.0, 20.0));
    w.add_body(description).unwrap();
    let scale = energy(&mut w);
    run(&mut w, 5.0);
    let l = w.ledger();
    assert!(l.kinetic.abs() > 1.0, "{l:?}");
    assert!((l.kinetic + l.potential).abs() <= 1e-12 * scale, "{l:?}");
    assert!(l.unexplained.abs() <= 1e-12 * scale && l.integration.abs() <= 1e-12 * scale, "{l:?}");
}

#[test]
fn contact_scenes_are_explained() {
    let mut w = world(1e-3, EARTH, Integrator::Default);
    booked(&mut w);
    w.add_ground(0.5, 0.0);
    for i in 0..3 {
        let mut b = cuboid(
            &format!("box{i}"),
            [0.1; 3],
            1.0,
            at(0.02 * f64::from(i), 0.0, 0.06 + 0.12 * f64::from(i)),
        );
        b.friction = 0.5;
        b.velocity = Motion::new(Vector3::new(0.5, 0.0, 1.0), Vector3::new(1.0, 0.0, 0.0));
        w.add_body(b).unwrap();
    }
    let mut ball = sphere("ball", 0.05, 0.5, at(1.0, 0.0, 0.5));
    ball.restitution = 0.7;
    w.add_body(ball).unwrap();
    let mut worst: f64 = 0.0;
    for _ in 0..2000 {
        let before = w.ledger();
        step(&mut w);
        worst = worst.max((w.ledger().unexplained - before.unexplained).abs());
    }
    let l = w.ledger();
    println!("ledger of boxes: {l:?}");
    assert!(worst <= 1e-9, "{worst:e} J in a step");
    assert!((l.kinetic + l.potential - sum(&l)).abs() <= 1e-9, "{l:?}");
    assert!(l.contacts < -1.0, "contacts dissipate: {l:?}");
}

#[test]
fn servos_dampers_limits_and_pushes_are_booked() {
    let mut w = world(1e-3, EARTH, Integrator::Default);
    booked(&mut w);
    let hinge = JointSpec {
        drive: Some(Drive { stiffness: 100.0, damping: 2.0 }),
        limits: Limits { effort: 6.0, lower: -1.0, upper: 0.5, ..Limits::NONE },
        friction: 0.1,
        damping: 0.2,
        armature: 0.01,
        ..JointSpec::revolute("hinge", "base", "rod", Vector3::y())
    };
    let builder = ModelBuilder::new("arm", Base::Fixed(Pose::IDENTITY))
        .link(base())
        .link(LinkSpec::new("rod", diagonal(1.0, [0.0, 0.0, -0.5], [0.1, 0.1, 0.01])))
        .link(LinkSpec::new("tip", diagonal(0.5, [0.0, 0.0, -0.2], [0.02, 0.02, 0.01])))
        .joint(hinge)
        .joint(
            JointSpec { damping: 0.05, ..JointSpec::revolute("wrist", "rod", "tip", Vector3::x()) }
                .at(at(0.0, 0.0, -1.0)),
        );
    let (id, model) = add(&mut w, builder);
    let model = Arc::clone(&model);
    let tip = model.body("tip").unwrap();
    for i in 0..3000 {
        w.drive_mut(id).position[0] = if i < 1500 { 2.0 } else { -0.5 };
        let push = Vector3::new((f64::from(i) * 0.01).sin(), 0.0, 0.0);
        w.apply_link_wrench(id, tip, Force::new(Vector3::zeros(), push));
        let before = w.ledger();
        step(&mut w);
        let missing = w.ledger().unexplained - before.unexplained;
        assert!(missing.abs() <= 1e-9, "{missing:e} J at {} s", w.time());
    }
    let l = w.ledger();
    println!("ledger of an arm: {l:?}");
    assert!((l.kinetic + l.potential - sum(&l)).abs() <= 1e-9, "{l:?}");
    for (name, work) in [("dampers", l.dampers), ("limits", l.limits), ("friction", l.friction)] {
        assert!(work < -1e-4, "{name} dissipate: {l:?}");
    }
    assert!(l.servos > 0.0 && l.external.abs() > 1e-3, "{l:?}");
}

/// The ledger needs the mass matrix, which the factor of a long chain does not.
#[test]
fn a_long_chain_is_explained() {
    let mut w = World::new(WorldSettings::default());
    booked(&mut w);
    let drive = Some(Drive { stiffness: 10.0, damping: 0.1 });
    let q: Vec<f64> = (0..100).map(|i| 0.1 * f64::from(i).sin()).collect();
    w.add_robot("chain", Arc::new(chain(100, drive)), &q).unwrap();
    for _ in 0..100 {
        step(&mut w);
    }
    let l = w.ledger();
    assert!(l.servos.abs() > 1e-3 && l.unexplained.abs() < 1e-9, "{l:?}");
}
