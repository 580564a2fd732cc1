//! Robots whose links overlap where they stand do not fly apart, or say why.

#![expect(clippy::unwrap_used, reason = "a test may stop")]

use std::sync::Arc;

use karakuri_model::{Base, GeometrySpec, JointSpec, LinkSpec, Model, ModelBuilder, Shape};
use karakuri_physics::{RobotId, World, WorldSettings};
use karakuri_spatial::{Inertia, Matrix3, Pose, Vector3};

/// Length of a box, and of the way from joint to joint. [m]
const BOX: f64 = 0.1;

/// A chain of hinges about z, `spacing` apart along x, each with a box of 0.1 m. [m]
fn chain(n: usize, spacing: f64) -> ModelBuilder {
    let about_com = Matrix3::identity() * 1e-3;
    let mut builder = ModelBuilder::new("chain", Base::Fixed(Pose::IDENTITY));
    for i in 0..n {
        let inertia = Inertia { mass: 1.0, com: Vector3::zeros(), about_com };
        let mut link = LinkSpec::new(&format!("link{i}"), inertia);
        let shape = Shape::Box { size: Vector3::repeat(BOX) };
        link.collisions.push(GeometrySpec::new(Pose::IDENTITY, shape));
        builder = builder.link(link);
    }
    for i in 1..n {
        let (parent, child) = (format!("link{}", i - 1), format!("link{i}"));
        let joint = JointSpec::revolute(&format!("joint{i}"), &parent, &child, Vector3::z());
        builder = builder.joint(joint.at(Pose::from_translation(Vector3::x() * spacing)));
    }
    builder
}

fn world(model: Model) -> (World, RobotId) {
    let mut world =
        World::new(WorldSettings { gravity: Vector3::zeros(), ..WorldSettings::default() });
    let q = model.neutral_position();
    let id = world.add_robot("chain", Arc::new(model), &q).unwrap();
    (world, id)
}

/// Fastest joint after 0.1 s without gravity. [rad/s]
fn speed(world: &mut World, id: RobotId) -> f64 {
    for _ in 0..100 {
        world.step();
    }
    world.robot(id).v().iter().fold(0.0, |most, v| most.max(v.abs()))
}

#[test]
fn neighbours_two_joints_apart_that_overlap_at_neutral_pass_through_each_other() {
    // Links two joints apart overlap by 20 mm, those three apart are 20 mm clear.
    let (mut world, id) = world(chain(5, 0.04).build().unwrap());
    assert_eq!(world.link_overlaps(id), []);
    assert_eq!(world.overlap_warning(id), None);
    assert!(speed(&mut world, id) < 1e-12);
}

#[test]
fn overlapping_links_are_named_with_the_lines_that_the_yaml_lacks() {
    // Three joints apart they overlap by 25 mm.
    let (world_of, id) = world(chain(5, 0.025).build().unwrap());
    let overlaps = world_of.link_overlaps(id);
    let depths: Vec<f64> = overlaps.iter().map(|o| o.depth).collect();
    assert_eq!(overlaps.len(), 2, "{overlaps:?}");
    assert!(depths.iter().all(|d| (d - 0.025).abs() < 1e-9), "{depths:?}");
    let warning = world_of.overlap_warning(id).unwrap();
    for line in [
        "2 pairs of its links overlap",
        "collision:\n  ignore:\n",
        "    - [link0, link3]  # 25.0 mm",
    ] {
        assert!(warning.contains(line), "{warning}");
    }
    let told = chain(5, 0.025).ignore_contact("link0", "link3").ignore_contact("link1", "link4");
    let (mut world, id) = world(told.build().unwrap());
    assert_eq!(world.overlap_warning(id), None);
    assert!(speed(&mut world, id) < 1e-12);
}
