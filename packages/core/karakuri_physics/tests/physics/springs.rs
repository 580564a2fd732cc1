//! Springs between points of a robot and the world.

#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]

use std::sync::Arc;

use karakuri_model::{Base, BodyId, JointSpec, LinkSpec, ModelBuilder};
use karakuri_physics::{Anchor, Spring, StepOutcome, World, WorldSettings};
use karakuri_spatial::{Inertia, Matrix3, Pose, Vector3};

/// Angle after half a second of a rod of 1 kg and 1 m on a hinge about y, whose end springs pull towards a point. [rad]
fn angle(springs: &[[f64; 2]]) -> f64 {
    let com = Vector3::new(0.0, 0.0, -0.5);
    let rod = Inertia { mass: 1.0, com, about_com: Matrix3::identity() / 12.0 };
    let builder = ModelBuilder::new("pendulum", Base::Fixed(Pose::IDENTITY))
        .link(LinkSpec::new("base", Inertia::ZERO))
        .link(LinkSpec::new("rod", rod))
        .joint(JointSpec::revolute("hinge", "base", "rod", Vector3::y()));
    let mut world = World::new(WorldSettings::default());
    let robot = world.add_robot("robot", Arc::new(builder.build().unwrap()), &[0.0]).unwrap();
    for &[stiffness, damping] in springs {
        let a = Anchor::World(Vector3::new(1.0, 0.0, 0.0));
        let b = Anchor::Link(robot, BodyId(0), 2.0 * com);
        world.add_spring(Spring { a, b, stiffness, damping, rest_length: 0.5 }).unwrap();
    }
    while world.time() < 0.5 {
        assert!(matches!(world.step(), StepOutcome::Solved { .. }));
    }
    world.robot(robot).q()[0]
}

#[test]
fn a_spring_of_no_stiffness_and_damping_changes_nothing() {
    let (none, alone) = (angle(&[]), angle(&[[200.0, 0.5]]));
    assert!(none.abs() < 1e-12 && alone.abs() > 0.1, "{none} {alone}");
    for (springs, expected) in [
        (&[[0.0, 0.0]][..], none),
        (&[[0.0, 0.0], [200.0, 0.5]], alone),
        (&[[200.0, 0.5], [0.0, 0.0]], alone),
    ] {
        let found = angle(springs);
        assert!((found - expected).abs() < 1e-12, "{springs:?}: {found} rad, not {expected}");
    }
}
