//! Grasp and hold under acceleration, section 7. A carriage that accelerates is a gravity that turns: the scenes stand
//! still and gravity is `g − a`.

use karakuri_model::{
    Base, Drive, GeometrySpec, JointSpec, LinkSpec, MimicSpec, ModelBuilder, Shape,
};
use karakuri_physics::{Integrator, ObjectId, RobotId, World};
use karakuri_spatial::{Pose, Vector3};

use crate::support::*;

const MU: f64 = 0.6;
const G: f64 = 9.81;

/// Two pads on rails with a block between them, each pushed with `force`; all present from the first step.
fn scene(dt: f64, gravity: [f64; 3], force: f64, mass: f64) -> (World, RobotId, ObjectId) {
    pads(world(dt, gravity, Integrator::Default), force, mass, false)
}

/// As above, the pads moving as one.
fn coupled_scene(gravity: [f64; 3], force: f64) -> (World, RobotId, ObjectId) {
    pads(world(1e-3, gravity, Integrator::Default), force, 0.2, true)
}

fn pads(mut w: World, force: f64, mass: f64, coupled: bool) -> (World, RobotId, ObjectId) {
    let size = Vector3::new(0.02, 0.04, 0.04);
    let mut builder = ModelBuilder::new("pads", Base::Fixed(Pose::IDENTITY)).link(base());
    for (name, side) in [("left", -1.0), ("right", 1.0)] {
        let [i, j] = [0.1 * (4e-4 + 16e-4) / 12.0, 0.1 * 32e-4 / 12.0];
        let mut pad = LinkSpec::new(name, diagonal(0.1, [0.0; 3], [j, i, i]));
        let shape = GeometrySpec::new(Pose::IDENTITY, Shape::Box { size });
        pad.collisions.push(GeometrySpec { friction: MU, ..shape });
        builder = builder.link(pad).joint(JointSpec {
            drive: Some(Drive { stiffness: 0.0, damping: 0.0 }),
            mimic: (coupled && side > 0.0).then(|| MimicSpec {
                leader: "rail_left".into(),
                multiplier: 1.0,
                offset: 0.0,
            }),
            ..JointSpec::prismatic(&format!("rail_{name}"), "base", name, Vector3::x() * -side)
                .at(at(0.035 * side, 0.0, 1.0))
        });
    }
    let (id, _) = add(&mut w, builder);
    w.drive_mut(id).effort.fill(force);
    let mut block = cuboid("block", [0.05, 0.04, 0.04], mass, at(0.0, 0.0, 1.0));
    block.friction = MU;
    let block = w.add_body(block).unwrap();
    (w, id, block)
}

/// How far the block slips across the pads. [m]
fn slip(dt: f64, gravity: [f64; 3], force: f64, mass: f64, seconds: f64) -> f64 {
    let (mut w, _, block) = scene(dt, gravity, force, mass);
    run(&mut w, seconds);
    (w.body(block).pose().translation - Vector3::new(0.0, 0.0, 1.0)).yz().norm()
}

#[test]
fn holds_against_gravity_at_the_limit() {
    for dt in [1e-3, 5e-3] {
        let mut w = scene_at("grasp", dt);
        let [held, lost] = ["held", "lost"].map(|name| w.find_body(name).unwrap());
        let fallen = |w: &World, id| 1.0 - height(w, id);
        let (mut first, mut lines) = (0.0, [Vec::new(), Vec::new()]);
        for i in 0..n_steps(&w, 10.0) {
            step(&mut w);
            if i + 1 == n_steps(&w, 0.2) {
                first = fallen(&w, lost);
            }
            let across = (w.body(held).pose().translation - Vector3::z()).yz().norm();
            if (i + 1) % n_steps(&w, 0.01) == 0 && w.time() < 1.0 {
                lines[0].push((w.time(), across));
                lines[1].push((w.time(), fallen(&w, lost)));
            }
        }
        let slip = (w.body(held).pose().translation - Vector3::z()).yz().norm();
        println!("grasp, h = {dt}: slips by {slip:e} m in 10 s at 1.01");
        assert!(slip <= 1e-6, "h = {dt}: slips by {slip} m");
        // One pad is wide, so what falls is held no more after some distance.
        let a = G - 0.99 * G;
        let expected = 0.5 * a * 0.2 * 0.2;
        assert!((first / expected - 1.0).abs() < 0.06, "h = {dt}: falls {first} of {expected} m");
        for (name, points) in ["1.01", "0.99"].into_iter().zip(lines) {
            plot("grasp", &format!("{name} of the limit, h = {dt}"), &points);
        }
    }
}

#[test]
fn holds_in_acceleration_up_and_sideways() {
    let up = 2.0 * MU * 5.0 / 0.2 - G;
    let side = ((2.0 * MU * 5.0 / 0.2_f64).powi(2) - G * G).sqrt();
    assert!((up - 20.19).abs() < 1e-9 && (side - 28.3507).abs() < 1e-4);
    for (factor, holds) in [(0.999, true), (1.001, false)] {
        for gravity in [[0.0, 0.0, -G - factor * up], [0.0, factor * side, -G]] {
            let slipped = slip(1e-3, gravity, 5.0, 0.2, 1.0);
            assert_eq!(slipped <= 1e-6, holds, "{factor}, {gravity:?}: slips by {slipped:e} m");
        }
    }
}

/// Along the pads in 24 directions: at 1.001 of the least force nothing moves, at 0.999 the block slides by `½ (1 − 0.999) g t²`
/// and does not turn. Uneven loads would turn it, and rigid mechanics allows them.
#[test]
fn slides_straight_just_below_the_limit() {
    let (mut off, mut turned, mut held) = (0.0_f64, 0.0_f64, 0.0_f64);
    for (i, dt) in (0..24).flat_map(|i| [1e-3, 5e-3].map(|dt| (i, dt))) {
        let (sin, cos) = (3.0 + 15.0 * f64::from(i)).to_radians().sin_cos();
        let down = Vector3::new(0.0, sin, -cos);
        let (mut w, _, block) = scene(dt, (down * G).into(), 0.999 * 0.2 * G / (2.0 * MU), 0.2);
        let start = w.body(block).pose();
        run(&mut w, 1.43);
        let expected = 0.5 * (1.0 - 0.999) * G * w.time() * (w.time() + dt);
        let pose = w.body(block).pose();
        off = off.max((pose.translation - start.translation - down * expected).norm());
        turned = turned.max(pose.quaternion().angle_to(&start.quaternion()));
        let force = 1.001 * 0.2 * G / (2.0 * MU);
        held = held.max(slip(dt, (down * G).into(), force, 0.2, 1.0));
    }
    println!(
        "grasp at 0.999: off its line by {off:e} m, turned by {turned:e} rad; at 1.001 {held:e} m"
    );
    assert!(off <= 1e-6 && turned <= 1e-5 && held <= 1e-9, "{off:e} {turned:e} {held:e}");
}

#[test]
fn holds_when_shaken() {
    let up = 2.0 * MU * 5.0 / 0.2 - G;
    for (factor, holds) in [(0.95, true), (1.1, false)] {
        let omega = (factor * up / 0.02_f64).sqrt();
        let (mut w, _, block) = scene(1e-3, EARTH, 5.0, 0.2);
        for _ in 0..2000 {
            let settings = *w.settings();
            let a = -factor * up * (omega * w.time()).sin();
            let gravity = Vector3::new(0.0, 0.0, -G - a);
            w.set_settings(karakuri_physics::WorldSettings { gravity, ..settings });
            step(&mut w);
        }
        let slipped = (height(&w, block) - 1.0).abs();
        assert_eq!(slipped <= 1e-6, holds, "{factor}: slips by {slipped:e} m");
    }
}

#[test]
fn holds_at_any_mass_ratio() {
    for ratio in [0.01, 0.1, 1.0, 10.0, 100.0, 500.0] {
        let mass = 0.1 * ratio;
        let force = 1.05 * mass * G / (2.0 * MU);
        let slipped = slip(2e-3, EARTH, force, mass, 10.0);
        println!("grasp, block/pad {ratio}: slips by {slipped:e} m in 10 s");
        assert!(slipped <= 1e-6, "block/pad {ratio}: slips by {slipped:e} m");
    }
}

/// Acceleration along the closing axis, jaws coupled: normals F ± ma/2, so one pad lets go at a = 2F/m.
#[test]
fn coupled_jaws_hold_along_their_axis() {
    for (factor, holds) in [(0.999, true), (1.001, false)] {
        let (mut w, id, block) = coupled_scene([-factor * 50.0, 0.0, -G], 5.0);
        assert_eq!(w.robot(id).v().len(), 2);
        run(&mut w, 0.5);
        let moved = (w.body(block).pose().translation - Vector3::new(0.0, 0.0, 1.0)).norm();
        println!("coupled jaws at {factor}: the block moves by {moved:e} m");
        assert_eq!(moved <= 1e-6, holds, "{factor}: moves by {moved:e} m");
    }
}

/// A carriage that steps between rest and 0.9 of the limit: no slip, both pads pressed at every step.
#[test]
fn holds_under_steps_of_the_carriage() {
    let up = 2.0 * MU * 5.0 / 0.2 - G;
    let (mut w, id, block) = scene(1e-3, EARTH, 5.0, 0.2);
    let body = karakuri_physics::Owner::Body(block);
    for i in 0..2000 {
        if i % 100 == 0 {
            let a = if i % 200 == 0 { 0.9 * up } else { 0.0 };
            let gravity = Vector3::new(0.0, 0.0, -G - a);
            w.set_settings(karakuri_physics::WorldSettings { gravity, ..*w.settings() });
        }
        step(&mut w);
        let mut normals = [0.0_f64; 2];
        for c in w.contacts().filter(|c| c.a == body || c.b == body) {
            let sign = if c.b == body { 1.0 } else { -1.0 };
            let push = c.force.dot(&c.normal).abs();
            normals[usize::from(c.normal.x * sign > 0.0)] += push;
        }
        assert!(normals.iter().all(|n| *n > 0.1), "at {} s: {normals:?} N", w.time());
    }
    assert!(w.robot(id).v().iter().all(|v| v.abs() < 1e-6));
    let slipped = (height(&w, block) - 1.0).abs();
    assert!(slipped <= 1e-6, "slips by {slipped:e} m");
}

/// The largest step that holds, section 2: gripped with 5 N and shaken at 2 Hz by ±5 cm.
#[test]
fn a_shaken_grasp_holds_at_large_steps() {
    let omega = 2.0 * std::f64::consts::TAU;
    for dt in [1e-3, 2e-3, 4e-3, 8e-3, 16e-3, 32e-3] {
        let (mut w, _, block) = scene(dt, EARTH, 5.0, 0.2);
        for _ in 0..n_steps(&w, 4.0) {
            let a = -0.05 * omega * omega * (omega * w.time()).sin();
            let gravity = Vector3::new(0.0, 0.0, -G - a);
            w.set_settings(karakuri_physics::WorldSettings { gravity, ..*w.settings() });
            step(&mut w);
        }
        let slipped = (height(&w, block) - 1.0).abs();
        println!("2 shaken grasp, h = {dt}: slips by {slipped:e} m in 4 s");
        assert!(slipped <= 1e-6, "h = {dt}: slips by {slipped:e} m");
    }
}
