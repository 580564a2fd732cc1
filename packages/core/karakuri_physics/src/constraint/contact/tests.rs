//! Rows that are kept from step to step against rows that are computed afresh.

use karakuri_model::Shape;
use karakuri_spatial::{Motion, Pose, Vector3};

use crate::state::mover::Mover;
use crate::{BodyDescription, ObjectId, World, WorldSettings};

/// A few times what the solver leaves; a lever as of the step before is off by a hundred times that. [m/s or rad/s]
const SAME: f64 = 1e-8;

fn cuboid(world: &mut World, name: &str, size: Vector3, friction: f64, p: [f64; 3]) -> ObjectId {
    let description = BodyDescription {
        friction,
        ..BodyDescription::new(
            name,
            Shape::Box { size },
            0.5,
            Pose::from_translation(Vector3::from(p)),
        )
    };
    world.add_body(description).unwrap()
}

/// What the velocities and impulses of a step differ by, at most, from those of the same step with all rows computed afresh.
fn difference(world: &mut World) -> f64 {
    let mut fresh = world.clone();
    fresh.pipeline.generation += 1;
    fresh.step();
    world.step();
    let (own, other) = (&world.pipeline.problem.velocity, &fresh.pipeline.problem.velocity);
    let velocities = own.iter().zip(other).map(|(a, b)| (a - b).abs());
    let contacts = world.constraints.contacts.active.iter().zip(&fresh.constraints.contacts.active);
    let impulses = contacts.map(|(a, b)| (a.impulse - b.impulse).amax());
    velocities.chain(impulses).fold(0.0, f64::max)
}

fn n_kept(world: &World) -> usize {
    world.state.collision.manifolds().iter().filter(|m| m.kept).count()
}

#[test]
fn rows_of_what_rests_are_kept_and_those_of_what_moves_are_not() {
    let mut world = World::new(WorldSettings { dt: 1e-3, ..WorldSettings::default() });
    world.add_ground(0.6, 0.0);
    let size = Vector3::repeat(0.1);
    let boxes: Vec<_> = (0..3)
        .map(|i| {
            cuboid(&mut world, &format!("box{i}"), size, 0.6, [0.0, 0.0, 0.05 + 0.1 * f64::from(i)])
        })
        .collect();
    let apart = cuboid(&mut world, "apart", size, 0.6, [1.0, 0.0, 0.05]);
    for _ in 0..200 {
        assert!(difference(&mut world) < SAME);
    }
    assert!(n_kept(&world) >= 3, "of 4");
    // The stack is knocked, the other box is not.
    let pose = world.body(boxes[2]).pose();
    let knock = Motion::new(Vector3::new(0.5, 1.0, 0.0), Vector3::new(0.3, 0.0, 0.0));
    world.set_body_state(boxes[2], pose, knock).unwrap();
    let mut kept = 0;
    for _ in 0..300 {
        assert!(difference(&mut world) < SAME);
        kept += n_kept(&world);
    }
    assert!(kept >= 250, "{kept}");
    world.remove_body(boxes[0]);
    for _ in 0..300 {
        assert!(difference(&mut world) < SAME);
    }
    assert!((world.body(apart).pose().translation - Vector3::new(1.0, 0.0, 0.05)).norm() < 1e-6);
}

/// The points of contact stay where they are, at the corners of the small box, and so does that one; its support moves.
#[test]
fn rows_follow_a_support_that_slides_away_below() {
    let mut world = World::new(WorldSettings { dt: 1e-3, ..WorldSettings::default() });
    world.add_ground(0.0, 0.0);
    let plate = cuboid(&mut world, "plate", Vector3::new(1.0, 1.0, 0.1), 0.0, [0.0, 0.0, 0.05]);
    cuboid(&mut world, "small", Vector3::repeat(0.1), 0.0, [0.1, 0.0, 0.15]);
    for _ in 0..100 {
        assert!(difference(&mut world) < SAME);
    }
    let pose = world.body(plate).pose();
    let slide = Motion::new(Vector3::zeros(), Vector3::new(0.2, 0.0, 0.0));
    world.set_body_state(plate, pose, slide).unwrap();
    for _ in 0..500 {
        assert!(difference(&mut world) < SAME);
    }
    assert!((world.body(plate).pose().translation.x - 0.1).abs() < 1e-6);
}

/// A plank over two plates: their drifts on the ground ask the plates to come together, and those on the plank to stay.
#[test]
fn drifts_that_contradict_each_other_around_a_loop_are_forgotten() {
    let mut world = World::new(WorldSettings { dt: 1e-3, ..WorldSettings::default() });
    world.add_ground(1.0, 0.0);
    // Flat, so that friction tips none of them.
    let plates = [-0.2, 0.2].map(|x| {
        cuboid(&mut world, &format!("plate{x}"), Vector3::new(0.2, 0.2, 0.02), 1.0, [x, 0.0, 0.01])
    });
    cuboid(&mut world, "plank", Vector3::new(0.6, 0.1, 0.02), 1.0, [0.0, 0.0, 0.03]);
    for _ in 0..100 {
        world.step();
    }
    // Asks for a velocity of 1e-9 m/s: more than what is left unsolved, with impulses far inside the cones.
    let drift = Vector3::new(5e-12, 0.0, 0.0);
    for contact in &mut world.constraints.contacts.active {
        if contact.movers.contains(&Mover::Fixed) {
            contact.drift = drift * contact.position.x.signum();
        }
    }
    let before = plates.map(|plate| world.body(plate).pose().translation);
    for _ in 0..100 {
        world.step();
    }
    for contact in &world.constraints.contacts.active {
        assert!(contact.drift.norm() < 0.2 * drift.x, "{:?}", contact.drift);
    }
    // Two a step for ever where such drifts are kept.
    let iterations: usize = (0..100)
        .map(|_| {
            world.step();
            world.statistics().iterations
        })
        .sum();
    assert!(iterations < 40, "{iterations}");
    for (plate, before) in plates.iter().zip(before) {
        assert!((world.body(*plate).pose().translation - before).norm() < 1e-11);
    }
}
