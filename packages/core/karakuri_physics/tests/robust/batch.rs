//! Copies in a batch are worlds stepped alone.

use karakuri_physics::{Batch, World, WorldSettings};
use karakuri_spatial::Vector3;

use crate::worlds::crowd;

fn change(i: usize, world: &mut World) {
    let gravity = Vector3::new(0.1 * i as f64, 0.0, -9.81);
    world.set_settings(WorldSettings { gravity, ..*world.settings() });
}

#[test]
fn every_copy_is_bit_equal_to_the_world_stepped_alone_on_any_number_of_threads() {
    let world = crowd(1);
    let alone: Vec<_> = (0..7)
        .map(|i| {
            let mut world = world.clone();
            change(i, &mut world);
            let outcomes: Vec<_> = (0..20).map(|_| world.step()).collect();
            (outcomes, world.state_hash())
        })
        .collect();
    for threads in [0, 1, 2, 4, 8] {
        let mut batch = Batch::new(&world, 7, threads);
        for (i, world) in batch.worlds_mut().iter_mut().enumerate() {
            change(i, world);
        }
        let first = batch.step();
        let together = batch.run(|i, world| {
            let mut outcomes = vec![first[i]];
            outcomes.extend((1..20).map(|_| world.step()));
            (outcomes, world.state_hash())
        });
        assert_eq!(together, alone, "{threads} threads");
    }
    assert!(Batch::new(&world, 0, 2).step().is_empty());
}
