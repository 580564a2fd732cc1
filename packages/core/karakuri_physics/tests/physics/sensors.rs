//! Readings against the equilibrium of free bodies.

#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]

use std::sync::Arc;

use karakuri_model::{
    Base, Drive, JointSpec, LinkSpec, LoopFrames, LoopSpec, ModelBuilder, SensorKind, SensorSpec,
};
use karakuri_physics::{RobotId, StepOutcome, World, WorldSettings};
use karakuri_spatial::{Force, Inertia, Matrix3, Pose, Vector3};

const G: f64 = 9.81;
const SENSORS: [&str; 3] = ["left", "coupler", "right"];

/// A parallelogram of bars of 0.2 kg in the xz plane, cranks of 0.2 m, driven at the left, with a sensor in every joint
/// but that which closes the loop.
fn parallelogram() -> (World, RobotId) {
    let bar = |length: f64, along: Vector3| Inertia {
        mass: 0.2,
        com: along * (0.5 * length),
        about_com: Matrix3::identity() * 1e-4,
    };
    let at = |x: f64, z: f64| Pose::from_translation(Vector3::new(x, 0.0, z));
    let crank = JointSpec {
        drive: Some(Drive { stiffness: 2000.0, damping: 20.0 }),
        ..JointSpec::revolute("crank", "base", "left", Vector3::y())
    };
    let builder = ModelBuilder::new("parallelogram", Base::Fixed(Pose::IDENTITY))
        .link(LinkSpec::new("base", Inertia::ZERO))
        .link(LinkSpec::new("left", bar(0.2, Vector3::z())))
        .link(LinkSpec::new("coupler", bar(0.3, Vector3::x())))
        .link(LinkSpec::new("right", bar(0.2, Vector3::z())))
        .joint(crank)
        .joint(JointSpec::revolute("elbow", "left", "coupler", Vector3::y()).at(at(0.0, 0.2)))
        .joint(JointSpec::revolute("rocker", "base", "right", Vector3::y()).at(at(0.3, 0.0)))
        .loop_joint(LoopSpec {
            name: "close".into(),
            link_a: "coupler".into(),
            link_b: "right".into(),
            frames: LoopFrames::OnLinks { a: at(0.3, 0.0), b: at(0.0, 0.2) },
            locked: [true, false, true, true, true, true],
            posture: None,
        });
    let sensor = |name: &str| SensorSpec {
        name: name.to_owned(),
        link: name.to_owned(),
        noise: None,
        kind: SensorKind::JointWrench,
    };
    let model = SENSORS.iter().fold(builder, |b, name| b.sensor(sensor(name))).build().unwrap();
    let q = model.neutral_position();
    let mut world = World::new(WorldSettings::default());
    let id = world.add_robot("robot", Arc::new(model), &q).unwrap();
    (world, id)
}

/// What the sensors of [`SENSORS`] read, in world axes.
fn readings(world: &World, id: RobotId) -> [Force; 3] {
    let robot = world.robot(id);
    [0, 1, 2].map(|i| {
        let R = robot.data().pose_in_world[i].rotation;
        let F = world.sensor_wrench(id, i);
        Force::new(R * F.moment, R * F.force)
    })
}

fn step(world: &mut World) {
    let outcome = world.step();
    assert!(matches!(outcome, StepOutcome::Solved { .. }), "{outcome:?}");
}

/// Each crank carries itself and half of the coupler, at any angle; no hinge without a drive carries a moment about its
/// axis; the drive holds the moment of all weights.
#[test]
fn joint_sensors_in_a_loop_read_what_its_bodies_need_at_rest() {
    for angle in [0.0, 0.4, -0.9] {
        let (mut world, id) = parallelogram();
        let (mut last, mut moved) = (0.0, f64::INFINITY);
        world.drive_mut(id).position[0] = angle;
        while moved > 1e-12 {
            step(&mut world);
            let q = world.robot(id).q()[0];
            (moved, last) = ((q - last).abs() + world.robot(id).v()[0].abs() * 1e-3, q);
        }
        let [left, coupler, right] = readings(&world, id);
        let weight = 0.2 * G;
        for (what, got, want) in [
            ("left", left.force.z, 1.5 * weight),
            ("coupler", coupler.force.z, 0.5 * weight),
            ("right", right.force.z, 1.5 * weight),
            ("sum along x", left.force.x + right.force.x, 0.0),
            ("hinge of the coupler", coupler.moment.y, 0.0),
            ("hinge of the right crank", right.moment.y, 0.0),
            ("drive", left.moment.y, world.robot(id).efforts()[0]),
        ] {
            assert!((got - want).abs() < 1e-6, "at {angle} rad, {what}: {got}, not {want}");
        }
    }
}

/// In motion too, hinges without a drive carry no moment about their axes.
#[test]
fn joint_sensors_in_a_loop_read_no_moment_at_free_hinges_in_motion() {
    let (mut world, id) = parallelogram();
    let (mut largest, mut force): (f64, f64) = (0.0, 0.0);
    for i in 0..1000 {
        world.drive_mut(id).position[0] = 0.8 * (f64::from(i) * 0.01).sin();
        step(&mut world);
        let [left, coupler, right] = readings(&world, id);
        largest = largest.max(coupler.moment.y.abs()).max(right.moment.y.abs());
        force = force.max(left.force.norm());
    }
    assert!(force > 4.0 && largest < 1e-8, "{largest} N·m, forces to {force} N");
}
