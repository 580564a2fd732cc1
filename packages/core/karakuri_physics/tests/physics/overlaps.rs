//! Robots whose links overlap where they stand do not fly apart, or say why.

#![expect(clippy::unwrap_used, reason = "a test may stop")]

use std::sync::Arc;

use karakuri_model::{Base, GeometrySpec, JointSpec, LinkSpec, Model, ModelBuilder, Shape};
use karakuri_physics::{RobotId, World, WorldSettings};
use karakuri_spatial::{Inertia, Matrix3, Pose, Vector3};

/// Length of a box, and distance between joints. [m]
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
fn links_that_overlap_by_default_pass_through_each_other_and_are_named() {
    // Three joints apart they overlap by 25 mm.
    let (mut world_of, id) = world(chain(5, 0.025).build().unwrap());
    let through = world_of.links_let_through(id);
    let depths: Vec<f64> = through.iter().map(|o| o.depth).collect();
    assert_eq!(through.len(), 2, "{through:?}");
    assert!(depths.iter().all(|d| (d - 0.025).abs() < 1e-9), "{depths:?}");
    assert_eq!(world_of.link_overlaps(id), []);
    let warning = world_of.overlap_warning(id).unwrap();
    for line in [
        "2 pairs of its links overlap",
        "pass through each other",
        "collision:\n  ignore:\n",
        "    - [link0, link3]  # 25.0 mm",
        "    - [link1, link4]  # 25.0 mm",
    ] {
        assert!(warning.contains(line), "{warning}");
    }
    assert!(speed(&mut world_of, id) < 1e-12);
    let ignoring =
        chain(5, 0.025).ignore_contact("link0", "link3").ignore_contact("link1", "link4");
    let (mut world, id) = world(ignoring.build().unwrap());
    assert_eq!(world.overlap_warning(id), None);
    assert!(speed(&mut world, id) < 1e-12);
}

#[test]
fn overlapping_links_whose_contact_is_kept_push_each_other_apart_and_are_named() {
    let ignoring = chain(5, 0.025).ignore_contact("link0", "link3").keep_contact("link4", "link1");
    let (world, id) = world(ignoring.build().unwrap());
    assert_eq!(world.links_let_through(id), []);
    let overlaps = world.link_overlaps(id);
    assert_eq!(overlaps.len(), 1, "{overlaps:?}");
    let warning = world.overlap_warning(id).unwrap();
    assert!(warning.contains("push each other apart"), "{warning}");
    assert!(warning.contains("    - [link1, link4]  # 25.0 mm"), "{warning}");
}

#[test]
fn links_that_overlap_only_where_the_robot_starts_touch() {
    // Folded to a triangle, the fourth box is where the first is; folded by the last joint alone, it is not.
    let mut world = World::new(WorldSettings::default());
    let model = Arc::new(chain(4, 0.15).build().unwrap());
    let id = world.add_robot("chain", model, &[0.0, 0.0, 3.0]).unwrap();
    assert_eq!(world.links_let_through(id), []);
    assert_eq!(world.overlap_warning(id), None, "neighbours");
    let model = Arc::new(chain(4, 0.15).build().unwrap());
    let id = world.add_robot("folded", model, &[2.2, 2.2, 0.0]).unwrap();
    let warning = world.overlap_warning(id).unwrap();
    assert!(warning.contains("push each other apart"), "{warning}");
}

#[test]
fn joints_whose_limits_leave_zero_out_are_amid_them_by_default() {
    // Straight, links three joints apart are 20 mm clear; folded as the limits want it, they overlap.
    let mut model = chain(4, 0.12).build().unwrap();
    for joint in &mut model.joints[..2] {
        (joint.limits.lower, joint.limits.upper) = (2.0, 2.4);
    }
    assert_eq!(model.default_position(), [2.2, 2.2, 0.0]);
    let model = Arc::new(model);
    let mut world =
        World::new(WorldSettings { gravity: Vector3::zeros(), ..WorldSettings::default() });
    let id = world.add_robot("chain", Arc::clone(&model), &model.default_position()).unwrap();
    let through = world.links_let_through(id);
    assert_eq!(through.len(), 1, "{through:?}");
    assert_eq!(through[0].links, ["link0", "link3"]);
    assert!(speed(&mut world, id) < 1e-12);
}

#[test]
fn overlaps_that_are_asked_for_in_turn_are_those_of_each_state_alone() {
    let mut world = World::new(WorldSettings::default());
    let model = Arc::new(chain(5, 0.12).build().unwrap());
    let id = world.add_robot("chain", model, &[0.0; 4]).unwrap();
    let mut n_overlaps = 0;
    for k in 0..60 {
        let angle = f64::from(k) * 0.05;
        world.set_robot_state(id, &[angle, 0.8 * angle, angle, 0.3], &[0.0; 4]).unwrap();
        let alone = world.link_overlaps(id);
        assert_eq!(world.update_link_overlaps(id), alone, "at {angle} rad");
        n_overlaps += alone.len();
    }
    assert!(n_overlaps > 0, "the chain never met itself");
}
