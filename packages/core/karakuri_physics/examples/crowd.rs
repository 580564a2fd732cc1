//! Steps of a scene that moves in contact: time by stage, mean and 99th percentile, work of the solver, overlap, energy.
//!
//! `cargo run --release -p karakuri_physics --example crowd -- config/scenes/benchmarks/pile200.yaml [key=value ...]` with the keys
//! `seconds`, `method`, `iterations`, `tolerance_rel`, `budget`, `threads`, `escalate` and `preset` (`realtime`). Times are of the
//! processor; with `threads`, of the wall.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::disallowed_methods,
    reason = "a program that reads a scene, takes the time and prints a table"
)]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use karakuri_model::{Model, NoAssets, Source, load};
use karakuri_physics::solver::{SOLVERS, SolverSettings};
use karakuri_physics::{
    Scene, SceneRobot, Stage, StageObserver, StepOutcome, World, WorldSettings,
};
use karakuri_testkit::cpu_seconds;

/// The world of a scene file.
fn read(path: &Path) -> World {
    let text = |file: &Path| std::fs::read_to_string(file).unwrap();
    let scene = Scene::parse(&text(path), &path.display().to_string()).unwrap();
    let folder = path.parent().unwrap();
    let model = |robot: &SceneRobot| -> Arc<Model> {
        let urdf = text(&folder.join(&robot.urdf));
        let config = robot.config.as_deref().map(|file| text(&folder.join(file)));
        let mut source = Source::urdf("robot.urdf", &urdf).with_base(robot.base());
        if let Some(config) = &config {
            source = source.with_config("robot.yaml", config);
        }
        Arc::new(load(&source, &mut NoAssets).unwrap().model)
    };
    let models: Vec<_> = scene.robots.iter().map(model).collect();
    World::from_scene(&scene, &models).unwrap()
}

/// Time of the stages. [s]
#[derive(Default)]
struct Clock {
    /// Since when the time of the wall is counted; none where that of the processor is.
    start: Option<Instant>,
    sums: [f64; Stage::ALL.len()],
    open: Option<(Stage, f64)>,
}

impl Clock {
    fn now(&self) -> f64 {
        self.start.map_or_else(cpu_seconds, |start| start.elapsed().as_secs_f64())
    }

    fn close(&mut self) {
        if let Some((stage, since)) = self.open.take() {
            self.sums[stage as usize] += self.now() - since;
        }
    }
}

impl StageObserver for Clock {
    fn enter(&mut self, stage: Stage) {
        self.close();
        self.open = Some((stage, self.now()));
    }
}

/// A setting of the command line.
fn set(settings: &mut WorldSettings, key: &str, value: &str) {
    let solver = &mut settings.solver;
    match key {
        "method" => {
            let found = SOLVERS.iter().find(|s| s.name == value).unwrap();
            (solver.method, solver.iterations) = (found.name, found.iterations);
        }
        "iterations" => solver.iterations = value.parse().unwrap(),
        "tolerance_rel" => solver.tolerance_rel = value.parse().unwrap(),
        "budget" => solver.budget = value.parse().unwrap(),
        "escalate" => solver.escalate = value.parse().unwrap(),
        "preset" => *solver = SolverSettings::realtime(),
        _ => panic!("unknown key `{key}`"),
    }
}

/// Sums and worst values over the steps.
#[derive(Default)]
struct Tally {
    clock: Clock,
    /// Time of each step. [s]
    times: Vec<f64>,
    contacts: usize,
    loaded: usize,
    warm: usize,
    iterations: usize,
    most: usize,
    unsolved: usize,
    /// Largest residual [m/s or rad/s], and overlap. [m]
    residual: f64,
    deepest: f64,
}

impl Tally {
    fn step(&mut self, world: &mut World) {
        let before = self.clock.now();
        let outcome = world.step_observed(&mut self.clock);
        self.clock.close();
        self.times.push(self.clock.now() - before);
        let s = world.statistics();
        self.contacts += s.n_contacts;
        self.loaded += s.n_loaded;
        self.warm += s.n_warm;
        self.iterations += s.iterations;
        self.most = self.most.max(s.iterations);
        self.residual = self.residual.max(s.residual);
        self.unsolved += usize::from(matches!(outcome, StepOutcome::MaxIterations { .. }));
        self.deepest = world.contacts().fold(self.deepest, |most, c| most.max(-c.gap));
    }

    fn print(&mut self) {
        let n = self.times.len();
        let mean = 1e6 * self.times.iter().sum::<f64>() / n as f64;
        self.times.sort_by(f64::total_cmp);
        let [p99, most] = [n * 99 / 100, n - 1].map(|i| 1e6 * self.times[i]);
        let [contacts, iterations] =
            [self.contacts, self.iterations].map(|sum| sum as f64 / n as f64);
        let Self { most: most_iterations, unsolved, residual, deepest, .. } = self;
        println!("mean {mean:.0} µs, p99 {p99:.0}, most {most:.0}; {contacts:.0} contacts");
        let warm = 100.0 * self.warm as f64 / self.loaded.max(1) as f64;
        println!(
            "{warm:.1} % of the contacts that carry force began with the impulse of the step before"
        );
        for stage in Stage::ALL {
            let each = 1e6 * self.clock.sums[stage as usize] / n as f64;
            println!("  {:12} {each:6.0} µs", stage.name());
        }
        println!(
            "{iterations:.1} iterations, {most_iterations} at most; {unsolved} of {n} unsolved, residual up to {residual:.1e} m/s, {:.3} mm deep",
            1e3 * *deepest,
        );
    }
}

fn main() {
    let mut args = std::env::args().skip(1);
    let mut world = read(Path::new(&args.next().unwrap()));
    let (mut settings, mut seconds) = (*world.settings(), 1.5);
    let mut tally = Tally::default();
    for arg in args {
        match arg.split_once('=').unwrap() {
            ("seconds", value) => seconds = value.parse().unwrap(),
            ("threads", value) => {
                settings.threads = value.parse().unwrap();
                tally.clock.start = Some(Instant::now());
            }
            (key, value) => set(&mut settings, key, value),
        }
    }
    world.set_settings(settings);
    let start = world.energy();
    let n = (seconds / settings.dt).round() as usize;
    let mut gained = f64::NEG_INFINITY;
    for i in 1..=n {
        tally.step(&mut world);
        let energy = world.energy();
        let given = start.kinetic + start.potential - energy.potential;
        gained = gained.max(energy.kinetic - given);
        if i % (n / 6).max(1) == 0 {
            let s = world.statistics();
            let speeds = world.body_ids().map(|id| world.body(id).velocity().linear.norm());
            println!(
                "{:.3} s: {} contacts, level {}, {} iterations, residual {:.1e}, kinetic {:.2e} J, fastest {:.1e} m/s",
                world.time(),
                s.n_contacts,
                s.level,
                s.iterations,
                s.residual,
                energy.kinetic,
                speeds.fold(0.0, f64::max),
            );
        }
    }
    tally.print();
    println!("kinetic energy at most {gained:.1e} J above what gravity gave");
}
