//! Any scene of any numbers within the limits of scene files.

use karakuri_physics::solver::SOLVERS;
use karakuri_physics::{Integrator, Sleeping, SolverSettings, StepOutcome, World, WorldSettings};
use karakuri_spatial::Motion;
use karakuri_testkit::Random;
use proptest::prelude::*;

use crate::honest::{finite, step};
use crate::worlds::{body, shape, tied_crowd};

/// A number of any size between powers of ten.
fn power(random: &mut Random, from: f64, to: f64) -> f64 {
    10.0_f64.powf(random.uniform(from, to))
}

fn any_world(seed: u64, n: usize, dt: f64) -> World {
    let random = &mut Random::new(seed);
    let gravity = random.vector(20.0);
    let solver = SolverSettings { iterations: 30, ..SolverSettings::default() };
    let mut world = World::new(WorldSettings { dt, gravity, solver, ..WorldSettings::default() });
    world.add_ground(random.uniform(0.0, 10.0), random.uniform(0.0, 1.0));
    let scale = power(random, -2.0, 1.0);
    for i in 0..n {
        let size = scale * power(random, -1.5, 0.5);
        let (shape, mass) = (shape(random, size), power(random, -6.0, 6.0));
        let mut any = body(&format!("body{i}"), shape, mass, random.vector(scale));
        let (fast, spin) = (power(random, -3.0, 3.0), power(random, -3.0, 3.0));
        any.velocity = Motion::new(random.vector(spin), random.vector(fast));
        any.friction = random.uniform(0.0, 10.0);
        any.fixed = random.below(8) == 0;
        world.add_body(any).unwrap();
    }
    world
}

fn run(seed: u64, n: usize, dt: f64) {
    let mut world = any_world(seed, n, dt);
    let what = format!("seed {seed}, {n} bodies, step of {dt} s");
    for _ in 0..10 {
        step(&mut world, &what);
    }
}

/// Drawn once: 1e-6 kg against 1e6 kg, where round-off of early iterates stayed in a velocity.
#[test]
fn no_iterate_leaves_a_trace_in_the_velocity() {
    run(4_808_600_464_201_052_669, 6, 10.0_f64.powf(-4.668_885_439_982_178));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn any_scene_is_stepped_honestly(seed in any::<u64>(), n in 1..8_usize, exponent in -6.0..-1.0_f64) {
        run(seed, n, 10.0_f64.powf(exponent));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    /// Robots with loops, motors and limits among bodies, tied by joints, bushings, gears and springs, at any step and by any solver:
    /// finite, and its word is true; the ladder never gives up.
    #[test]
    fn any_crowd_is_stepped_honestly(
        seed in any::<u64>(),
        exponent in -6.0..-1.0_f64,
        solver in 0..SOLVERS.len(),
        iterations in 1..60_usize,
        escalate in any::<bool>(),
        integrator in 0..Integrator::ALL.len(),
        sleeping in any::<bool>(),
    ) {
        let mut world = tied_crowd(seed);
        let method = SOLVERS[solver].name;
        world.set_settings(WorldSettings {
            dt: 10.0_f64.powf(exponent),
            solver: SolverSettings { method, iterations, escalate, ..SolverSettings::default() },
            integrator: Integrator::ALL[integrator],
            sleeping: sleeping.then(Sleeping::default),
            energy_ledger: true,
            ..*world.settings()
        });
        let what = format!("crowd {seed}, {method}, step of {} s", world.settings().dt);
        for _ in 0..10 {
            let tolerance = world.settings().solver.tolerance;
            match world.step() {
                StepOutcome::Solved { residual, .. } => {
                    prop_assert!(residual <= tolerance.max(world.statistics().tolerance), "{what}");
                }
                StepOutcome::MaxIterations { residual, .. } => {
                    prop_assert!(residual > tolerance && residual.is_finite(), "{what}");
                }
                // Alone, a method may diverge where a wedge is jammed; it says so, and nothing moves.
                StepOutcome::NonFinite(_) => {
                    prop_assert!(!escalate, "{what}: {}", world.non_finite_report());
                }
            }
            finite(&world, &what);
        }
    }
}
