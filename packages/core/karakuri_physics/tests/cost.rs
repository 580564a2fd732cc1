//! What a step costs, as a law: a chain's is linear in its links.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a test says what it measured")]

use std::sync::Arc;

use criterion::measurement::Measurement as _;
use karakuri_model::Drive;
use karakuri_physics::{World, WorldSettings};
use karakuri_testkit::{CpuTime, chain};

/// A hanging chain, bent a little.
fn bent_chain(n: usize, drive: Option<Drive>) -> World {
    let mut world = World::new(WorldSettings::default());
    let q: Vec<f64> = (0..n).map(|i| 0.1 * (i as f64).sin()).collect();
    world.add_robot("chain", Arc::new(chain(n, drive)), &q).unwrap();
    world
}

/// CPU time of a step, the least of many windows. [µs]
fn time(mut world: World) -> f64 {
    let window = |world: &mut World| {
        let start = CpuTime.start();
        for _ in 0..10 {
            world.step();
        }
        CpuTime.end(start) / 1e4
    };
    (0..20).map(|_| window(&mut world)).fold(f64::INFINITY, f64::min)
}

#[test]
fn a_chain_costs_as_many_times_more_as_it_is_longer() {
    for (what, drive) in
        [("free", None), ("with servos", Some(Drive { stiffness: 10.0, damping: 0.1 }))]
    {
        let times = [125, 250, 500].map(|n| time(bent_chain(n, drive)));
        println!("chains of 125, 250 and 500 links, {what}: {times:.0?} µs");
        // A quadratic cost would be 16 times as high; caches cost something.
        assert!(times[2] < 7.0 * times[0], "{what}: {times:?} µs");
    }
}

/// The ledger needs the mass matrix, which the factor of a long chain does not.
#[test]
fn the_ledger_of_a_long_chain_closes() {
    let mut world = bent_chain(100, Some(Drive { stiffness: 10.0, damping: 0.1 }));
    world.set_settings(WorldSettings { energy_ledger: true, ..*world.settings() });
    for _ in 0..100 {
        world.step();
    }
    let ledger = world.ledger();
    assert!(ledger.servos.abs() > 1e-3, "{ledger:?}");
    assert!(ledger.unexplained.abs() < 1e-9, "{ledger:?}");
}
