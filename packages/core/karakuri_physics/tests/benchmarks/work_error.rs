//! Work and error of every solver on recorded contact problems: what is left after so much time, for each number of iterations.
//!
//! A problem is what a step of a scene hands to the solver, with the impulses of the last step to start from. Methods run alone,
//! from the same start: without the ladder, the certificate or the memory of the best iterate. Points are processor time, the
//! least of several runs, and the natural map.

use std::ops::Range;
use std::time::Duration;

use karakuri_physics::solver::{
    Block, ContactSolver, Ladder, Problem, SOLVERS, SolverSettings, natural_map,
};
use karakuri_physics::{Stage, StageObserver, World};
use karakuri_spatial::Vector3;
use karakuri_testkit::cpu_seconds;

use crate::support::*;

/// Least residual that is asked for. [m/s or rad/s]
const EXACT: f64 = 1e-12;
/// Residual at which a curve ends: of what is above the tolerance of all scenes only a hundredth. [m/s or rad/s]
const SOLVED: f64 = 1e-11;
/// Runs of which the fastest counts, at least and at most, and the time after which there are no more.
const RUNS: [usize; 2] = [3, 50];
const ENOUGH: Duration = Duration::from_millis(100);
/// Time of a solve from which on no more iterations are tried.
const LONGEST: Duration = Duration::from_millis(300);
const MOST_ITERATIONS: usize = 5000;

/// Where a problem comes from: picture, scene, time [s], and whether it is solved from zero.
struct Recorded {
    name: &'static str,
    scene: &'static str,
    time: f64,
    from_zero: bool,
}

const PROBLEMS: [Recorded; 6] = [
    Recorded { name: "heap_falling", scene: "pile200", time: 0.25, from_zero: false },
    Recorded { name: "heap_landing", scene: "pile200", time: 0.5, from_zero: false },
    // The impulses of the last step are the solution there.
    Recorded { name: "heap_at_rest", scene: "../bench/heap200", time: 0.5, from_zero: true },
    Recorded { name: "humanoid_falling", scene: "humanoid_fall", time: 0.9, from_zero: false },
    Recorded { name: "clutter", scene: "clutter", time: 0.15, from_zero: false },
    Recorded { name: "dominoes", scene: "../bench/dominoes", time: 0.6, from_zero: false },
];

/// Keeps the problem of a step.
#[derive(Default)]
struct Recorder(Problem);

impl StageObserver for Recorder {
    fn enter(&mut self, _stage: Stage) {}

    fn problem(&mut self, problem: &Problem) {
        self.0.clone_from(problem);
    }
}

fn record(source: &Recorded) -> Problem {
    let mut w: World = scene(source.scene);
    run(&mut w, source.time);
    let mut recorder = Recorder::default();
    w.step_observed(&mut recorder);
    let mut problem = recorder.0;
    if source.from_zero {
        for block in &mut problem.blocks {
            block.impulse = Vector3::zeros();
        }
    }
    problem
}

/// `v ← v_f + Y λ`.
fn apply_impulses(problem: &mut Problem) {
    problem.velocity.clone_from(&problem.free_velocity);
    for i in 0..problem.blocks.len() {
        let block = problem.blocks[i];
        problem.apply(&block, &block.impulse);
    }
}

fn residual(problem: &mut Problem) -> f64 {
    apply_impulses(problem);
    problem.blocks.iter().map(|block| natural_map(problem, block)).fold(0.0, f64::max)
}

/// What a solve took. [s], [m/s or rad/s]
#[derive(Debug, Clone, Copy)]
struct Effort {
    seconds: f64,
    residual: f64,
    iterations: usize,
}

/// The fastest of several solves of copies of a problem.
fn fastest(start: &Problem, mut solve: impl FnMut(&mut Problem) -> usize) -> Effort {
    let mut best = Effort { seconds: f64::INFINITY, residual: 0.0, iterations: 0 };
    let began = cpu_seconds();
    for i in 0..RUNS[1] {
        let mut problem = start.clone();
        let before = cpu_seconds();
        best.iterations = solve(&mut problem);
        let seconds = cpu_seconds() - before;
        // The first solve makes room for all others.
        if i > 0 {
            best.seconds = best.seconds.min(seconds);
        }
        best.residual = residual(&mut problem);
        if i + 1 >= RUNS[0] && cpu_seconds() - began > ENOUGH.as_secs_f64() {
            break;
        }
    }
    best
}

fn islands(problem: &Problem) -> impl Iterator<Item = Range<usize>> {
    let firsts = std::iter::once(0).chain(problem.island_ends.iter().copied());
    firsts.zip(&problem.island_ends).map(|(first, end)| first..*end)
}

/// Points of a method, with at most twice the iterations from one to the next; none if an island is too large for it.
fn curve(start: &Problem, solver: &ContactSolver) -> Vec<Effort> {
    let islands: Vec<_> = islands(start).collect();
    let rows = |island: &Range<usize>| -> usize {
        start.blocks[island.clone()].iter().map(Block::rows).sum()
    };
    if islands.iter().any(|island| rows(island) > solver.most_rows) {
        return Vec::new();
    }
    let mut method = (solver.method)();
    let (mut points, mut iterations): (Vec<Effort>, _) = (Vec::new(), 1);
    while iterations <= MOST_ITERATIONS {
        let settings = SolverSettings {
            method: solver.name,
            iterations,
            tolerance: EXACT,
            escalate: false,
            ..SolverSettings::default()
        };
        let point = fastest(start, |problem| {
            let used = islands.iter().map(|i| method.solve(problem, i.clone(), &settings));
            used.max().unwrap_or(0)
        });
        // A method may give up early where it has few iterations.
        if points.last().is_none_or(|last| point.iterations > last.iterations) {
            points.push(point);
        }
        if point.residual <= SOLVED || point.seconds > LONGEST.as_secs_f64() {
            break;
        }
        iterations *= 2;
    }
    points
}

/// A step as the world takes it, by settings.
fn whole(start: &Problem, settings: &SolverSettings) -> Effort {
    let mut ladder = Ladder::default();
    fastest(start, |problem| {
        problem.velocity.clone_from(&problem.free_velocity);
        ladder.solve(problem, settings).iterations
    })
}

fn measure(source: &Recorded) {
    let mut start = record(source);
    start.free_velocity.clone_from(&start.velocity);
    let n = start.blocks.len();
    let first = residual(&mut start);
    let sizes: Vec<usize> = islands(&start).map(|island| island.len()).collect();
    println!("8 {}: {n} blocks, islands of {sizes:?}, the start leaves {first:.1e}", source.name);
    assert!(n > 0 && first > 0.0, "{}: {n} blocks, {first}", source.name);
    let show = |line: &str, efforts: &[Effort]| {
        let Some(last) = efforts.last() else { return };
        println!("  {line}: {last:?}");
        let points: Vec<_> = efforts.iter().map(|e| (e.seconds, e.residual)).collect();
        plot(&format!("work_error_{}", source.name), line, &points);
    };
    // Those that take islands of any size first, so that a method has one colour in all pictures.
    let (any, small): (Vec<&ContactSolver>, Vec<_>) = SOLVERS
        .iter()
        .filter(|solver| solver.name != "automatic")
        .partition(|solver| solver.most_rows == usize::MAX);
    for solver in any {
        show(solver.name, &curve(&start, solver));
    }
    for (line, settings) in [
        ("automatic, as in a step", SolverSettings::default()),
        ("realtime, as in a step", SolverSettings::realtime()),
    ] {
        show(line, &[whole(&start, &settings)]);
    }
    for solver in small {
        show(solver.name, &curve(&start, solver));
    }
}

#[test]
#[ignore = "times every solver, 3 min"]
fn work_and_error_of_every_solver() {
    for source in &PROBLEMS {
        measure(source);
    }
}
