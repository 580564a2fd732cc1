//! Nodal inverse dynamics beside the recursive algorithm: torque vectors of a planned motion and of single updates.
#![expect(clippy::unwrap_used, reason = "a bench says so")]

mod support;

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use karakuri_control::inverse_dynamics::{DesiredMotion, METHODS, method};
use karakuri_control::nodal::Nodes;
use karakuri_dynamics::{Data, rnea};
use karakuri_testkit::CpuTime;
use support::{Plan, SAMPLES, robots};

fn main() {
    let mut criterion = Criterion::default()
        .with_measurement(CpuTime)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(500))
        .sample_size(20)
        .configure_from_args();
    // On this thread, so that times compare core with core.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().unwrap();
    for (name, model) in robots() {
        let mut data = Data::new(&model);
        let mut motion = criterion.benchmark_group(format!("motion/{name}"));
        motion.throughput(Throughput::Elements(SAMPLES as u64));
        let plan = Plan::new(&model, Nodes::Com);
        motion.bench_function(BenchmarkId::from_parameter("rnea"), |bencher| {
            bencher.iter(|| {
                for i in 0..SAMPLES {
                    let [q, v, vdot] = plan.sample(i);
                    black_box(rnea(&model, &mut data, q, v, vdot, &[]));
                }
            });
        });
        for nodes in [Nodes::Com, Nodes::Point] {
            let plan = Plan::new(&model, nodes);
            motion.bench_function(BenchmarkId::from_parameter(format!("{nodes:?}")), |bencher| {
                bencher.iter(|| pool.install(|| plan.scheme.torques(&plan.target()).unwrap()));
            });
        }
        motion.finish();
        let driven = plan.scheme.mechanism.driven.clone();
        let mut update = criterion.benchmark_group(format!("update/{name}"));
        for method_name in METHODS {
            let mut method = method(method_name, &model).unwrap();
            let (mut tau, mut i) = (vec![0.0; model.nv], 0);
            update.bench_function(BenchmarkId::from_parameter(method_name), |bencher| {
                bencher.iter(|| {
                    i = (i + 1) % SAMPLES;
                    let [q, v, vdot] = plan.sample(i);
                    method.efforts(
                        &model,
                        &DesiredMotion { q, v, vdot, driven: &driven, external: &[] },
                        &mut tau,
                    );
                    black_box(&tau);
                });
            });
        }
        update.finish();
    }
    criterion.final_summary();
}
