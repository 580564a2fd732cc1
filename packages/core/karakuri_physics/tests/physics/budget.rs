//! Steps whose solve is cut short: heaps gain no energy and stay within their walls.

#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]
#![expect(clippy::print_stdout, reason = "a benchmark shows what it measured")]

use karakuri_model::Shape;
use karakuri_physics::solver::{SOLVERS, SolverSettings};
use karakuri_physics::{BodyDescription, EnergyMonitor, StepOutcome, World, WorldSettings};
use karakuri_spatial::{Motion, Pose, UnitQuaternion, Vector3};
use karakuri_testkit::Random;

use crate::rest::stone;

/// Half the width between the walls, and half their thickness: what is beyond it leaves on the other side. [m]
const HALF: f64 = 0.3;
const WALL: f64 = 0.05;

fn shape(random: &mut Random) -> Shape {
    let mut length = || random.uniform(0.06, 0.12);
    let (x, y, z) = (length(), length(), length());
    match random.below(6) {
        0 => Shape::Box { size: Vector3::new(x, y, z) },
        1 => Shape::Sphere { radius: 0.5 * x },
        2 => Shape::Cylinder { radius: 0.5 * x, length: y },
        3 => Shape::Capsule { radius: 0.3 * x, length: y },
        4 => Shape::Ellipsoid { semi_axes: Vector3::new(x, y, z) * 0.5 },
        _ => stone(random, &(Vector3::new(x, y, z) * 0.5)),
    }
}

/// `n` bodies of all shapes with mass ratios up to 100 on a loose grid, between four walls.
fn heap(seed: u64, n: usize, settings: WorldSettings) -> World {
    let mut random = Random::new(seed);
    let mut world = World::new(settings);
    world.add_ground(0.6, 0.0);
    for (i, axis) in [Vector3::x(), -Vector3::x(), Vector3::y(), -Vector3::y()].iter().enumerate() {
        let extent = axis.abs() * (WALL - 1.5 * HALF) + Vector3::new(1.5, 1.5, 10.0) * HALF;
        let wall = BodyDescription {
            fixed: true,
            friction: 0.6,
            ..BodyDescription::new(
                format!("wall{i}"),
                Shape::Box { size: extent * 2.0 },
                1.0,
                Pose::from_translation(axis * (HALF + WALL) + Vector3::z() * 8.0 * HALF),
            )
        };
        world.add_body(wall).unwrap();
    }
    for i in 0..n {
        let cell = Vector3::new((i % 3) as f64 - 1.0, (i / 3 % 3) as f64 - 1.0, (i / 9) as f64);
        let p = cell * 0.18 + random.vector(0.01) + Vector3::z() * 0.15;
        let turn = UnitQuaternion::from_scaled_axis(random.vector(3.0));
        let body = BodyDescription {
            velocity: Motion::new(random.vector(3.0), random.vector(0.5) - Vector3::z()),
            friction: random.uniform(0.0, 1.2),
            restitution: if random.below(3) == 0 { random.uniform(0.0, 1.0) } else { 0.0 },
            ..BodyDescription::new(
                format!("body{i}"),
                shape(&mut random),
                10.0_f64.powf(random.uniform(-1.0, 1.0)),
                Pose::from_quaternion(&turn, p),
            )
        };
        world.add_body(body).unwrap();
    }
    world
}

/// What went wrong most, over heaps.
#[derive(Debug, Clone, Copy, Default)]
struct Worst {
    /// Growth of the energy relative to the turnover. [-]
    growth: f64,
    /// How far a centre came into a wall or the ground. [m]
    escape: f64,
    unsolved: usize,
    heaps: usize,
}

impl Worst {
    fn run(&mut self, mut world: World, duration: f64) -> f64 {
        let mut monitor = EnergyMonitor::new(&mut world);
        while world.time() < duration {
            let outcome = world.step();
            assert!(!matches!(outcome, StepOutcome::NonFinite(_)), "{outcome:?}");
            self.unsolved += usize::from(matches!(outcome, StepOutcome::MaxIterations { .. }));
            monitor.look(&mut world);
        }
        for id in world.body_ids().filter(|id| !world.body(*id).description().fixed) {
            let p = world.body(id).pose().translation;
            self.escape = self.escape.max(p.x.abs().max(p.y.abs()) - HALF).max(-p.z);
        }
        let growth = monitor.growth() / monitor.turnover();
        self.growth = self.growth.max(growth);
        self.heaps += 1;
        growth
    }
}

/// Heaps of every solver at every budget.
fn check(sizes: &[usize], seeds: u64, duration: f64) {
    let mut worst = Worst::default();
    for solver in SOLVERS {
        for iterations in [1, 2, 3, 5, 10, 20, 50] {
            for (i, n) in sizes.iter().enumerate() {
                for seed in 0..seeds {
                    let seed = 1000 * i as u64 + seed;
                    let solver = SolverSettings {
                        method: solver.name,
                        iterations,
                        escalate: false,
                        ..SolverSettings::default()
                    };
                    let settings = WorldSettings { solver, ..WorldSettings::default() };
                    let growth = worst.run(heap(seed, *n, settings), duration);
                    assert!(
                        growth < 1e-3 && worst.escape < WALL,
                        "{solver:?}, {n} bodies, seed {seed}: grows by {growth:e}, {worst:?}"
                    );
                }
            }
        }
    }
    println!("{worst:?}");
    assert!(worst.unsolved > worst.heaps, "{worst:?}: the budgets are too large to test anything");
}

#[test]
fn heaps_that_are_cut_short_gain_no_energy() {
    check(&[10, 20], 1, 0.4);
}

#[test]
fn heaps_that_are_cut_short_have_the_same_bits_on_any_number_of_threads() {
    for solver in SOLVERS {
        let settings = SolverSettings {
            method: solver.name,
            iterations: 3,
            escalate: false,
            ..SolverSettings::default()
        };
        let mut worlds = [1, 2, 4, 8].map(|threads| {
            heap(1, 30, WorldSettings { solver: settings, threads, ..WorldSettings::default() })
        });
        for step in 0..200 {
            let [serial, others @ ..] = worlds.each_mut().map(|w| (w.step(), w.state_hash()));
            for other in others {
                assert_eq!(other, serial, "{}, step {step}", solver.name);
            }
        }
    }
}

/// A smaller budget is less work, down to one iteration an island, and gives no energy either.
#[test]
fn a_budget_bounds_the_work_of_a_step() {
    let mut last = u64::MAX / 2;
    for budget in [100_000_000, 100_000, 10_000, 1000, 0] {
        let solver = SolverSettings { budget, ..SolverSettings::default() };
        let (mut work, mut most) = (0, 0);
        // A heap that a budget cuts short falls another way, which by itself may take more: of several that is evened out.
        for seed in 0..6 {
            let mut world = heap(seed, 30, WorldSettings { solver, ..WorldSettings::default() });
            let mut monitor = EnergyMonitor::new(&mut world);
            for _ in 0..400 {
                world.step();
                monitor.look(&mut world);
                let iterations = world.statistics().iterations;
                work += iterations as u64;
                most = most.max(iterations);
            }
            let growth = monitor.growth() / monitor.turnover();
            println!("budget {budget}, heap {seed}: {work} iterations so far, growth {growth:e}");
            assert!(growth < 1e-3, "{budget}, heap {seed}: {growth:e}");
        }
        assert!(work <= last, "{budget}: {work} of {last}");
        assert!(budget > 0 || most == 1, "{most}");
        last = work;
    }
}

/// What moves is not solved to the digits of what rests, and what rests keeps them.
#[test]
fn the_relative_tolerance_saves_work_and_keeps_rest() {
    let [exact, loose] = [0.0, 1e-4].map(|tolerance_rel| {
        let solver =
            SolverSettings { method: "newton", tolerance_rel, ..SolverSettings::default() };
        let settings = WorldSettings { solver, ..WorldSettings::default() };
        let mut falling = heap(5, 20, settings);
        let mut iterations = 0;
        for _ in 0..150 {
            falling.step();
            iterations += falling.statistics().iterations;
        }
        let mut tower = World::new(settings);
        tower.add_ground(0.6, 0.0);
        for i in 0..5 {
            let pose = Pose::from_translation(Vector3::z() * (0.06 + 0.11 * f64::from(i)));
            let shape = Shape::Box { size: Vector3::repeat(0.1) };
            let body = BodyDescription::new(format!("box{i}"), shape, 1.0, pose);
            tower.add_body(BodyDescription { friction: 0.6, ..body }).unwrap();
        }
        for _ in 0..1500 {
            tower.step();
        }
        let fastest = tower.body_ids().map(|id| tower.body(id).velocity().linear.norm());
        (iterations, fastest.fold(0.0, f64::max))
    });
    println!(
        "exact {exact:?}, relative {loose:?} (iterations of a heap, speed of a tower at rest)"
    );
    assert!(loose.0 < exact.0 && exact.1 < 1e-9 && loose.1 < 1e-9, "{exact:?} {loose:?}");
}

#[test]
#[ignore = "heaps of up to 200 bodies, 30 min"]
fn large_heaps_that_are_cut_short_gain_no_energy() {
    check(&[10, 40, 80, 200], 2, 0.6);
}
