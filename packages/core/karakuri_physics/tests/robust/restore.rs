//! A restored world goes on bit by bit as the saved one did, whatever happened in between.

use karakuri_physics::solver::SOLVERS;
use karakuri_physics::{ContactReport, SolverSettings, StepOutcome, World, WorldSettings};
use karakuri_testkit::Random;

use crate::worlds::{crowd, tied_crowd};

const WORLDS: u64 = 100;
const CASES_A_WORLD: usize = 10;

/// All that a step tells: equal bits, equal text.
fn step(world: &mut World) -> (u64, StepOutcome, Vec<ContactReport>, String) {
    let outcome = world.step();
    let robots = world.robot_ids().map(|id| world.robot(id).efforts());
    let efforts = format!("{:?} {:?}", robots.collect::<Vec<_>>(), world.statistics());
    (world.state_hash(), outcome, world.contacts().collect(), efforts)
}

#[test]
fn restore_and_step_is_bit_equal_in_a_thousand_worlds_of_robots_and_bodies() {
    let (mut cases, mut contacts) = (0, 0);
    for seed in 0..WORLDS {
        let mut world = if seed % 2 == 0 { crowd(seed) } else { tied_crowd(seed) };
        // Most of them by few iterations: what is not solved must be repeatable too.
        if seed % 20 != 0 {
            let solver = SOLVERS[Random::new(seed).below(SOLVERS.len())];
            let few = SolverSettings {
                method: solver.name,
                iterations: 8,
                escalate: false,
                ..SolverSettings::default()
            };
            world.set_settings(WorldSettings { solver: few, ..*world.settings() });
        }
        let mut random = Random::new(seed);
        for _ in 0..CASES_A_WORLD {
            for _ in 0..random.below(3) {
                world.step();
            }
            let saved = world.snapshot();
            let first = step(&mut world);
            for _ in 0..random.below(3) {
                world.step();
            }
            world.restore(&saved);
            assert_eq!(step(&mut world), first, "world {seed} at {} s", world.time());
            cases += 1;
            contacts += first.2.len();
        }
    }
    assert_eq!(cases, 1000);
    assert!(contacts > 3 * cases, "{contacts} contacts in {cases} cases");
}

#[test]
fn a_snapshot_goes_on_in_a_world_that_never_stepped() {
    let mut world = crowd(7);
    let mut fresh = crowd(7);
    for _ in 0..50 {
        world.step();
    }
    fresh.restore(&world.snapshot());
    for _ in 0..50 {
        assert_eq!(step(&mut world), step(&mut fresh), "at {} s", world.time());
    }
}
