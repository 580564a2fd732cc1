//! Contact points of what turns: a free body keeps all corners that may carry next, a link of a robot at most four.

use std::sync::Arc;

use karakuri_model::{Base, GeometrySpec, LinkSpec, ModelBuilder, Shape};
use karakuri_spatial::{Inertia, Matrix3, Motion, Pose, Vector3};

use crate::{BodyDescription, World, WorldSettings};

/// Rate at which corners 5 cm from the axis move by 0.1 mm a step, three times what counts as turning. [rad/s]
const RATE: f64 = 2.0;

fn cube() -> Shape {
    Shape::Box { size: Vector3::repeat(0.1) }
}

/// Where it stands on a fixed cube, turned by 45°, so that their overlap has eight corners.
fn turned() -> Pose {
    Pose::from_xyz_rpy([0.0, 0.0, 0.15], [0.0, 0.0, std::f64::consts::FRAC_PI_4])
}

fn pedestal() -> World {
    let mut world = World::new(WorldSettings::default());
    let pose = Pose::from_translation(Vector3::z() * 0.05);
    let below = BodyDescription::new("below", cube(), 1.0, pose);
    world.add_body(BodyDescription { fixed: true, ..below }).unwrap();
    world
}

/// Points that the first steps find; rows are made of fewer, as corners that rise touch nothing.
fn points(world: &mut World) -> [usize; 3] {
    std::array::from_fn(|_| {
        world.step();
        world.state.collision.manifolds().iter().map(|m| m.points().len()).sum()
    })
}

#[test]
fn a_body_that_tips_keeps_eight_points() {
    let mut world = pedestal();
    let velocity = Motion::new(Vector3::x() * RATE, Vector3::zeros());
    let cube = BodyDescription::new("cube", cube(), 1.0, turned());
    world.add_body(BodyDescription { velocity, ..cube }).unwrap();
    assert_eq!(points(&mut world), [4, 8, 8]);
}

#[test]
fn a_link_that_tips_keeps_four_points() {
    let mut world = pedestal();
    let about_com = Matrix3::from_diagonal_element(0.01 / 6.0);
    let mut link = LinkSpec::new("cube", Inertia { mass: 1.0, com: Vector3::zeros(), about_com });
    link.collisions.push(GeometrySpec::new(Pose::IDENTITY, cube()));
    let model = Arc::new(ModelBuilder::new("cube", Base::Floating).link(link).build().unwrap());
    let (pose, mut q) = (turned(), model.neutral_position());
    q[..3].copy_from_slice(pose.translation.as_slice());
    q[3..7].copy_from_slice(pose.quaternion().coords.as_slice());
    let id = world.add_robot("robot", model, &q).unwrap();
    world.set_robot_state(id, &q, &[0.0, 0.0, 0.0, RATE, 0.0, 0.0]).unwrap();
    assert_eq!(points(&mut world), [4, 4, 4]);
}
