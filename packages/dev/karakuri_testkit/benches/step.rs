//! Times of `World::step` on the scenes of `packages/dev/peers/scenes.yaml`, and the accuracy of those steps.
//!
//! Each scene runs until it has settled; its window is then stepped again and again from the same state. The
//! accuracies go to `out/bench/karakuri_step.json`, where `packages/dev/peers/bench.py` sets them beside the peers'.

mod support;

use std::collections::BTreeMap;
use std::fs;

use criterion::{BenchmarkId, Criterion};
use karakuri_physics::{Snapshot, World};
use karakuri_spatial::{Pose, Vector3};
use karakuri_testkit::CpuTime;
use serde::{Deserialize, Serialize};

use support::{Case, cases, root, steps};

/// Entry of `scenes.yaml` with what its accuracy is.
#[derive(Deserialize)]
struct Measured {
    #[serde(flatten)]
    case: Case,
    #[serde(with = "serde_yaml::with::singleton_map")]
    accuracy: Accuracy,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Accuracy {
    Creep { body: Option<String>, link: Option<String> },
    Sag { body: String },
    Depth,
    Energy,
}

/// Accuracy and cost of one window.
#[derive(Serialize)]
struct Quality {
    accuracy: f64,
    unit: &'static str,
    contacts: f64,
    iterations: f64,
    residual: f64,
}

#[expect(clippy::unwrap_used, reason = "a bench says so")]
fn pose_of_body(world: &World, body: &str) -> Pose {
    world.body(world.find_body(body).unwrap()).pose()
}

/// Pose of a link of the only robot.
#[expect(clippy::unwrap_used, reason = "a bench says so")]
fn pose_of_link(world: &World, link: &str) -> Pose {
    let robot = world.robot(world.robot_ids().next().unwrap());
    let frame = robot.model().frame(link).unwrap();
    karakuri_dynamics::frame_pose(robot.model(), robot.data(), frame)
}

/// Positions of the parts whose creep is measured: a body in a link's frame, a body, a link, or all bodies. [m]
fn places(world: &World, body: Option<&str>, link: Option<&str>) -> Vec<Vector3> {
    let poses = match (body, link) {
        (Some(body), Some(link)) => {
            vec![pose_of_link(world, link).inverse() * pose_of_body(world, body)]
        }
        (Some(body), None) => vec![pose_of_body(world, body)],
        (None, Some(link)) => vec![pose_of_link(world, link)],
        (None, None) => world.body_ids().map(|id| world.body(id).pose()).collect(),
    };
    poses.iter().map(|pose| pose.translation).collect()
}

/// Deepest penetration of all contacts. [m]
fn depth(world: &World) -> f64 {
    world.contacts().map(|c| -c.gap).fold(0.0, f64::max)
}

/// World after settling, and its start.
struct Settled {
    world: World,
    start: World,
    snapshot: Snapshot,
    n_steps: usize,
}

impl Settled {
    fn new(case: &Case) -> Self {
        let mut world = case.world();
        let start = world.clone();
        for _ in 0..steps(&world, case.settle) {
            world.step();
        }
        let (snapshot, n_steps) = (world.snapshot(), steps(&world, case.window));
        Self { world, start, snapshot, n_steps }
    }

    /// Steps through the window once.
    fn quality(&mut self, Measured { case, accuracy }: &Measured) -> Quality {
        let world = &mut self.world;
        world.restore(&self.snapshot);
        let before = world.clone();
        let (mut contacts, mut iterations, mut residual) = (0, 0, 0.0_f64);
        let (mut kinetic, initial, mut deepest) = (0.0_f64, world.energy(), 0.0_f64);
        for _ in 0..self.n_steps {
            world.step();
            let statistics = world.statistics();
            contacts += statistics.n_contacts;
            iterations += statistics.iterations;
            residual = residual.max(statistics.residual);
            kinetic = kinetic.max(world.energy().kinetic);
            deepest = deepest.max(depth(world));
        }
        let (accuracy, unit) = match accuracy {
            Accuracy::Creep { body, link } => {
                let at = |world: &World| places(world, body.as_deref(), link.as_deref());
                let (now, then) = (at(world), at(&before));
                let moved = now.iter().zip(then).map(|(now, then)| (now - then).norm());
                (1e3 * moved.fold(0.0, f64::max) / case.window, "mm/s creep")
            }
            Accuracy::Sag { body } => {
                let height = |world: &World| pose_of_body(world, body).translation.z;
                (1e3 * (height(&self.start) - height(world)), "mm sag")
            }
            Accuracy::Depth => (1e3 * deepest, "mm deep"),
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

    /// CPU time of `n` steps, from whole windows: the steps of one need not be alike. [ns]
    fn time(&mut self, n: u64) -> f64 {
        use criterion::measurement::Measurement as _;
        let windows = n.div_ceil(self.n_steps as u64);
        let mut elapsed = 0.0;
        for _ in 0..windows {
            self.world.restore(&self.snapshot);
            let start = CpuTime.start();
            for _ in 0..self.n_steps {
                self.world.step();
            }
            elapsed += CpuTime.end(start);
        }
        elapsed * n as f64 / (windows * self.n_steps as u64) as f64
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
    let measured: Vec<Measured> = cases();
    let mut qualities = BTreeMap::new();
    for measured in &measured {
        let case = &measured.case;
        let mut group = criterion.benchmark_group("step");
        // Criterion calls this for each of its samples.
        let mut settled = None;
        group.bench_function(BenchmarkId::from_parameter(&case.name), |bencher| {
            let settled = settled.get_or_insert_with(|| Settled::new(case));
            qualities.entry(case.name.clone()).or_insert_with(|| settled.quality(measured));
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
