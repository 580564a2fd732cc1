//! What every solver owes, on problems of matrices only.

use crate::problems;

use karakuri_physics::SolverSettings;
use karakuri_physics::solver::{ContactSolver, Ladder, Problem, SOLVERS, Solution, natural_map};
use karakuri_spatial::{Matrix3, Vector3};
use problems::{Builder, Numbers, random};

const TOLERANCE: f64 = 1e-9;

fn settings(solver: &ContactSolver) -> SolverSettings {
    SolverSettings {
        method: solver.name,
        iterations: solver.iterations,
        tolerance: TOLERANCE,
        escalate: false,
        ..SolverSettings::default()
    }
}

/// Levels 1 to 4: those that know the cone.
fn exact() -> impl Iterator<Item = &'static ContactSolver> {
    SOLVERS.iter().filter(|s| s.level > 0)
}

fn solve(problem: &mut Problem, settings: &SolverSettings) -> Solution {
    Ladder::default().solve(problem, settings)
}

fn worst_residual(problem: &Problem) -> f64 {
    problem.blocks.iter().map(|b| natural_map(problem, b)).fold(0.0, f64::max)
}

/// Kinetic energy. [J]
fn energy(problem: &Problem, velocity: &[f64]) -> f64 {
    problem
        .runs
        .iter()
        .map(|run| {
            let v = &velocity[run.start..run.start + run.len];
            let mass = &problem.inertia[run.offset..run.offset + run.len * run.len];
            let momentum = mass
                .chunks_exact(run.len)
                .map(|m| m.iter().zip(v).map(|(m, v)| m * v).sum::<f64>());
            0.5 * momentum.zip(v).map(|(p, v)| p * v).sum::<f64>()
        })
        .sum()
}

/// A point of 2 kg on the ground (no arm, so no rotation) that moves by `velocity`.
fn point(velocity: Vector3, friction: f64) -> Problem {
    let mut b = Builder::default();
    let v = [velocity.x, velocity.y, velocity.z, 0.0, 0.0, 0.0];
    let body = b.body(2.0, Matrix3::identity(), Vector3::zeros(), v);
    b.contact(None, body, (Vector3::zeros(), Vector3::z()), friction);
    b.build()
}

#[test]
fn a_point_sticks_slides_and_takes_off() {
    for solver in exact() {
        for heading in [0.0, 0.4, 1.1, 2.0, 4.0] {
            let along = Vector3::new(f64::cos(heading), f64::sin(heading), 0.0);
            let cases = [
                (along * 0.49 - Vector3::z(), Vector3::zeros()),
                (along * 0.8 - Vector3::z(), along * 0.3),
                (along * 0.8 + Vector3::z(), along * 0.8 + Vector3::z()),
            ];
            for (before, after) in cases {
                let mut p = point(before, 0.5);
                let s = solve(&mut p, &settings(solver));
                let v = Vector3::new(p.velocity[0], p.velocity[1], p.velocity[2]);
                assert!(
                    (v - after).norm() < 1e-8,
                    "{}: {before:?} becomes {v:?}, not {after:?}; {s:?}",
                    solver.name
                );
            }
        }
    }
}

/// A contact of `G = ½` on springs `S` that sticks leaves `v S/(G + S)`, along each axis; one that slides is held by `μ λ_n`.
#[test]
fn a_contact_on_springs_yields_before_it_slides() {
    let series = Vector3::new(1.5, 4.5, 9.5);
    for solver in exact() {
        // Normal z, tangents x and y: the velocity of the point in that order.
        for (tangent, slides) in [(0.5, false), (6.0, true)] {
            let before = Vector3::new(-1.0, tangent, 0.0);
            let [t1, _] = karakuri_spatial::tangent_frame(&Vector3::z());
            let mut p = point(t1 * tangent - Vector3::z(), 0.5);
            p.blocks[0].series = Some(Matrix3::from_diagonal(&series));
            let s = solve(&mut p, &settings(solver));
            let v = Vector3::new(p.velocity[0], p.velocity[1], p.velocity[2]);
            let normal = 1.0 / (0.5 + series.x);
            let friction = (tangent / (0.5 + series.y)).min(0.5 * normal);
            assert_eq!(friction < 0.5 * normal, !slides);
            let after = t1 * (before.y - 0.5 * friction) + Vector3::z() * (0.5 * normal - 1.0);
            assert!((v - after).norm() < 1e-8, "{}: {v} not {after}; {s:?}", solver.name);
        }
    }
}

/// Among many contacts, too, all levels give the same velocities.
#[test]
fn contacts_on_springs_have_one_solution() {
    for seed in 0..30 {
        let of = |solver: &ContactSolver| {
            let mut p = random(seed, 4, 8, 0.4);
            let mut r = Numbers::new(seed + 100);
            for block in p.blocks.iter_mut().filter(|block| block.rows() == 3) {
                let root = Matrix3::from_fn(|_, _| r.next());
                block.series = Some(root * root.transpose() * 3.0);
            }
            let solution = solve(&mut p, &settings(solver));
            assert!(solution.is_unsolved || worst_residual(&p) <= TOLERANCE);
            (solution, p.velocity)
        };
        let (solution, reference) = of(&SOLVERS[2]);
        assert!(!solution.is_unsolved, "{seed}: {solution:?}");
        for solver in exact() {
            let (solution, velocity) = of(solver);
            let off =
                velocity.iter().zip(&reference).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            // Sweeps over blocks that share bodies may need more than they have.
            assert!(solution.level == 1 || !solution.is_unsolved, "{seed}: {solution:?}");
            let most = 1e-8 + 10.0 * solution.residual;
            assert!(off < most, "{} of {seed}: {off} m/s, {solution:?}", solver.name);
        }
    }
}

/// The least tangential speed that slides is μ times the normal one, to 0.1 %, in every direction.
#[test]
fn cones_are_round() {
    for solver in exact() {
        for degrees in (0..=90).step_by(5) {
            let heading = f64::from(degrees).to_radians();
            let along = Vector3::new(heading.cos(), heading.sin(), 0.0);
            for (part, slides) in [(0.999, false), (1.001, true)] {
                let mut p = point(along * (0.5 * part) - Vector3::z(), 0.5);
                solve(&mut p, &settings(solver));
                let v = Vector3::new(p.velocity[0], p.velocity[1], 0.0);
                let speed = v.norm();
                assert_eq!(speed > 1e-8, slides, "{} at {degrees}°: {speed} m/s", solver.name);
                let off = v.cross(&along).norm() / speed.max(1e-8);
                assert!(!slides || off < 1e-3, "{} at {degrees}°: {off} rad off", solver.name);
            }
        }
    }
}

/// The box of level 0 holds √2 of the friction across its axes: what it is there to show.
#[test]
fn level_0_is_a_box() {
    let along = Vector3::new(1.0, 1.0, 0.0).normalize();
    let solver = &SOLVERS[0];
    let held = |part: f64| {
        let mut p = point(along * (0.5 * part) - Vector3::z(), 0.5);
        solve(&mut p, &settings(solver));
        p.velocity[0].hypot(p.velocity[1]) < 1e-5
    };
    assert!(held(1.41) && !held(1.42));
}

/// The residual is what it says, and energy does not grow.
fn check(solver: &ContactSolver, p: &mut Problem, what: &str) -> Solution {
    check_budget(&settings(solver), p, what)
}

fn check_budget(settings: &SolverSettings, p: &mut Problem, what: &str) -> Solution {
    let before = energy(p, &p.velocity);
    let s = solve(p, settings);
    let name = settings.method;
    assert!(p.velocity.iter().all(|v| v.is_finite()), "{name}, {what}: not finite");
    let measured = worst_residual(p);
    assert!(
        (s.residual - measured).abs() <= 1e-12 + 1e-6 * measured,
        "{name}, {what}: says {}, is {measured}",
        s.residual
    );
    let after = energy(p, &p.velocity);
    let iterations = settings.iterations;
    assert!(
        after <= before * (1.0 + 1e-9) + 1e-9,
        "{name}, {what}, {iterations} iterations: energy {before} to {after} J, {s:?}"
    );
    s
}

#[test]
fn impulses_give_no_energy_at_any_budget_and_from_any_warm_start() {
    for solver in SOLVERS {
        for iterations in [1, 2, 3, 5, 10, 30] {
            for seed in 0..60 {
                let mut p = random(seed, 6, 12, 0.3 * (seed % 4) as f64);
                let mut numbers = Numbers::new(seed);
                for block in &mut p.blocks {
                    block.impulse = numbers.vector() * (seed % 3) as f64;
                }
                let settings = SolverSettings { iterations, ..settings(solver) };
                check_budget(&settings, &mut p, &format!("seed {seed}"));
            }
        }
    }
}

#[test]
fn random_problems_are_solved_or_said_not_to_be() {
    // Without friction every level must arrive; with it Newton's method or the next one.
    for solver in exact() {
        for (bodies, contacts) in [(1, 1), (1, 3), (3, 5), (6, 12)] {
            for seed in 0..20 {
                let what = format!("{bodies} bodies, {contacts} contacts, seed {seed}");
                let s = check(solver, &mut random(seed, bodies, contacts, 0.0), &what);
                let arrives = solver.level > 1;
                assert!(!arrives || s.residual <= TOLERANCE, "{}, {what}: {s:?}", solver.name);
                check(solver, &mut random(seed, bodies, contacts, 0.6), &what);
            }
        }
    }
}

#[test]
fn the_ladder_solves_what_one_level_does_not() {
    let (mut direct, mut climbed, mut unsolved) = (0, 0, 0);
    for seed in 0..40 {
        let mut p = random(seed, 3, 6, 0.5);
        let before = energy(&p, &p.velocity);
        let s =
            solve(&mut p, &SolverSettings { tolerance: TOLERANCE, ..SolverSettings::default() });
        assert!(energy(&p, &p.velocity) <= before * (1.0 + 1e-9), "seed {seed}: energy grows");
        match s {
            // The ladder does not climb for less.
            Solution { residual, .. } if residual > 1e-7 => unsolved += 1,
            Solution { level: 2, .. } => direct += 1,
            _ => climbed += 1,
        }
    }
    assert!(unsolved == 0, "{direct} by Newton, {climbed} higher, {unsolved} not at all");
}

/// Painlevé: a rod whose tip jams. The impulse is finite, the slip ends or the residual tells, no energy comes in.
#[test]
fn a_painleve_rod_gets_a_finite_impulse() {
    for solver in exact() {
        for degrees in [20, 30, 45, 60] {
            let angle = f64::from(degrees).to_radians();
            let (mass, half) = (1.0, 0.5);
            let mut b = Builder::default();
            let inertia = Matrix3::identity() * (mass * half * half / 3.0);
            let com = Vector3::new(half * angle.cos(), 0.0, half * angle.sin());
            let rod = b.body(mass, inertia, com, [-1.0, 0.0, -0.01, 0.0, 0.0, 0.0]);
            b.contact(None, rod, (Vector3::zeros(), Vector3::z()), 2.0);
            let mut p = b.build();
            let s = check(solver, &mut p, &format!("rod at {degrees}°"));
            assert!(s.residual <= TOLERANCE, "{} at {degrees}°: {s:?}", solver.name);
        }
    }
}

/// The same contact ten times, a mass ratio of a million, rows that contradict each other, contacts that touch nothing that moves.
#[test]
fn degenerate_problems_end_finite_with_an_honest_residual() {
    for solver in SOLVERS {
        let mut b = Builder::default();
        let body =
            b.body(1.0, Matrix3::identity(), Vector3::zeros(), [0.3, 0.1, -1.0, 0.0, 0.0, 0.0]);
        for _ in 0..10 {
            b.contact(None, body, (Vector3::new(0.1, 0.0, 0.0), Vector3::z()), 0.5);
        }
        let s = check(solver, &mut b.build(), "ten times the same");
        assert!(solver.level == 0 || s.residual <= TOLERANCE, "{}: {s:?}", solver.name);

        let mut b = Builder::default();
        let ton =
            b.body(1e3, Matrix3::identity() * 1e2, Vector3::z(), [0.0, 0.0, -0.01, 0.0, 0.0, 0.0]);
        let gram = b.body(1e-3, Matrix3::identity() * 1e-6, Vector3::zeros(), [0.0; 6]);
        for (x, y) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
            let p = Vector3::new(0.05 * x, 0.05 * y, 0.05);
            b.contact(Some(gram), ton, (p, Vector3::z()), 0.5);
            b.contact(None, gram, (p - Vector3::z() * 0.1, Vector3::z()), 0.5);
        }
        check(solver, &mut b.build(), "a ton on a gram");

        let mut b = Builder::default();
        let body = b.body(1.0, Matrix3::identity(), Vector3::zeros(), [0.0; 6]);
        let row = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        b.row(body, row, f64::NEG_INFINITY, f64::INFINITY);
        b.row(body, row, f64::NEG_INFINITY, f64::INFINITY);
        let mut p = b.build();
        p.blocks[0].bias.x = 1.0;
        p.blocks[1].bias.x = -1.0;
        let s = solve(&mut p, &settings(solver));
        let finite = p.velocity.iter().all(|v| v.is_finite());
        assert!(finite && s.residual > 0.1, "{}: {s:?}", solver.name);
    }
}

#[test]
fn a_velocity_that_is_not_finite_shows_in_the_residual() {
    for solver in SOLVERS {
        let mut p = point(Vector3::new(f64::NAN, 0.0, -1.0), 0.5);
        let s = solve(&mut p, &settings(solver));
        assert!(s.residual.is_infinite(), "{}: {s:?}", solver.name);
    }
}

/// Where the solution is unique, the start does not matter.
#[test]
fn warm_and_cold_starts_agree() {
    for solver in exact().filter(|s| s.level > 1) {
        for seed in 0..10 {
            let mut r = Numbers::new(seed + 100);
            let mut cold = random(seed, 3, 4, 0.2);
            let mut warm = cold.clone();
            for block in &mut warm.blocks {
                block.impulse = Vector3::new(0.1 + 0.1 * r.next().abs(), 0.01 * r.next(), 0.0);
            }
            let a = solve(&mut cold, &settings(solver));
            let b = solve(&mut warm, &settings(solver));
            if a.residual.max(b.residual) > TOLERANCE {
                continue;
            }
            let apart = cold
                .velocity
                .iter()
                .zip(&warm.velocity)
                .map(|(x, y)| (x - y).abs())
                .fold(0.0, f64::max);
            assert!(apart < 1e-6, "{}, seed {seed}: {apart} m/s apart", solver.name);
        }
    }
}

#[test]
fn the_same_problem_gives_the_same_bits() {
    for solver in SOLVERS {
        for seed in 0..5 {
            let fresh = random(seed, 5, 12, 0.5);
            let mut first = fresh.clone();
            solve(&mut first, &settings(solver));
            // A used workspace must not show.
            let mut second = random(seed + 1, 6, 15, 0.5);
            solve(&mut second, &settings(solver));
            second.velocity.clone_from(&fresh.velocity);
            second.blocks.clone_from(&fresh.blocks);
            second.island_ends.clone_from(&fresh.island_ends);
            second.jacobian.clone_from(&fresh.jacobian);
            second.response.clone_from(&fresh.response);
            second.runs.clone_from(&fresh.runs);
            second.inertia.clone_from(&fresh.inertia);
            solve(&mut second, &settings(solver));
            let bits = |p: &Problem| p.velocity.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&first), bits(&second), "{}, seed {seed}", solver.name);
        }
    }
}
