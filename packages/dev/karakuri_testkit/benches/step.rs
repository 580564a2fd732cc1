//! Times of `World::step` on the scenes of `packages/dev/peers/scenes.yaml`, and how accurate those steps are.
//!
//! Each scene runs until it has settled; its window is then stepped again and again from the same state. The
//! accuracies go to `out/bench/karakuri_step.json`, where `packages/dev/peers/bench.py` sets them beside the peers'.

#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use criterion::{BenchmarkId, Criterion};
use karakuri_files::load_scene;
use karakuri_physics::{Snapshot, World};
use karakuri_spatial::Pose;
use karakuri_testkit::CpuTime;
use serde::{Deserialize, Serialize};

/// A line of `scenes.yaml`, as far as it concerns us.
#[derive(Deserialize)]
struct Case {
    name: String,
    scene: PathBuf,
    settle: f64,
    window: f64,
    #[serde(with = "serde_yaml::with::singleton_map")]
    accuracy: Accuracy,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Accuracy {
    Creep { body: String, link: Option<String> },
    Sag { body: String },
    Depth,
    Energy,
}

/// What came out of one window.
#[derive(Serialize)]
struct Quality {
    accuracy: f64,
    unit: &'static str,
    contacts: f64,
    iterations: f64,
    residual: f64,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few thousand steps")]
fn steps(world: &World, duration: f64) -> usize {
    (duration / world.settings().dt).round() as usize
}

/// Pose of a body in a link's frame, or in the world.
#[expect(clippy::unwrap_used, reason = "a bench says so")]
fn pose_in(world: &World, body: &str, link: Option<&str>) -> Pose {
    let X_WB = world.body(world.find_body(body).unwrap()).pose();
    let Some(link) = link else { return X_WB };
    let robot = world.robot(world.robot_ids().next().unwrap());
    let frame = robot.model().frame(link).unwrap();
    karakuri_dynamics::frame_pose(robot.model(), robot.data(), frame).inverse() * X_WB
}

/// A settled world, and the height of everything at time zero.
struct Settled {
    world: World,
    start: World,
    snapshot: Snapshot,
    n_steps: usize,
}

impl Settled {
    #[expect(clippy::unwrap_used, reason = "a bench says so")]
    fn new(case: &Case) -> Self {
        let mut world = load_scene(&root().join(&case.scene)).unwrap().world().unwrap();
        let start = world.clone();
        for _ in 0..steps(&world, case.settle) {
            world.step();
        }
        let (snapshot, n_steps) = (world.snapshot(), steps(&world, case.window));
        Self { world, start, snapshot, n_steps }
    }

    /// Steps through the window once.
    fn quality(&mut self, case: &Case) -> Quality {
        let world = &mut self.world;
        world.restore(&self.snapshot);
        let before = world.clone();
        let (mut contacts, mut iterations, mut residual) = (0, 0, 0.0_f64);
        let (mut kinetic, initial) = (0.0_f64, world.energy());
        for _ in 0..self.n_steps {
            world.step();
            let statistics = world.statistics();
            contacts += statistics.n_contacts;
            iterations += statistics.iterations;
            residual = residual.max(statistics.residual);
            kinetic = kinetic.max(world.energy().kinetic);
        }
        let (accuracy, unit) = match &case.accuracy {
            Accuracy::Creep { body, link } => {
                let now = pose_in(world, body, link.as_deref()).translation;
                let moved = now - pose_in(&before, body, link.as_deref()).translation;
                (1e3 * moved.norm() / case.window, "mm/s creep")
            }
            Accuracy::Sag { body } => {
                let height = |world: &World| pose_in(world, body, None).translation.z;
                (1e3 * (height(&self.start) - height(world)), "mm sag")
            }
            Accuracy::Depth => {
                let deepest = world.contacts().map(|c| -c.gap).fold(0.0, f64::max);
                (1e3 * deepest, "mm deep")
            }
            Accuracy::Energy => {
                let now = world.energy();
                let change = now.kinetic + now.potential - initial.kinetic - initial.potential;
                (change.abs() / kinetic, "of the energy")
            }
        };
        let n = self.n_steps as f64;
        let (contacts, iterations) = (contacts as f64 / n, iterations as f64 / n);
        Quality { accuracy, unit, contacts, iterations, residual }
    }

    /// CPU time of `n` steps, window after window. [ns]
    fn time(&mut self, n: u64) -> f64 {
        use criterion::measurement::Measurement as _;
        let (mut left, mut elapsed) = (n, 0.0);
        while left > 0 {
            self.world.restore(&self.snapshot);
            let now = left.min(self.n_steps as u64);
            let start = CpuTime.start();
            for _ in 0..now {
                self.world.step();
            }
            elapsed += CpuTime.end(start);
            left -= now;
        }
        elapsed
    }
}

#[expect(clippy::unwrap_used, reason = "a bench says so")]
fn main() {
    let mut criterion = Criterion::default()
        .with_measurement(CpuTime)
        .warm_up_time(std::time::Duration::from_millis(100))
        .measurement_time(std::time::Duration::from_millis(800))
        .sample_size(20)
        .configure_from_args();
    let list = fs::read_to_string(root().join("packages/dev/peers/scenes.yaml")).unwrap();
    let cases: Vec<Case> = serde_yaml::from_str(&list).unwrap();
    let mut qualities = BTreeMap::new();
    for case in &cases {
        let mut group = criterion.benchmark_group("step");
        group.bench_function(BenchmarkId::from_parameter(&case.name), |bencher| {
            let mut settled = Settled::new(case);
            qualities.entry(case.name.clone()).or_insert_with(|| settled.quality(case));
            bencher.iter_custom(|n| settled.time(n));
        });
        group.finish();
    }
    criterion.final_summary();
    let folder = root().join("out/bench");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("karakuri_step.json"), serde_json::to_string_pretty(&qualities).unwrap())
        .unwrap();
}
