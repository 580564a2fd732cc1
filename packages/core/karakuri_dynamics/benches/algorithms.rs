//! Times of the algorithms on real robots and on chains; `packages/dev/peers/bench.py` sets them beside Pinocchio's.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion};
use karakuri_dynamics::{
    Data, MassFactor, RneaDerivatives, aba, centroidal_momentum_matrix, crba, forward_kinematics,
    frame_jacobian, rnea, rnea_derivatives,
};
use karakuri_model::{Base, FrameId, Model, NoAssets, Source, load};
use karakuri_spatial::Pose;
use karakuri_testkit::{CpuTime, Random, chain, random_position, random_vector};
use nalgebra::Matrix6xX;

/// As many as fit the caches and still keep branch predictors honest.
const N_STATES: usize = 16;

macro_rules! robot {
    ($name:literal, $base:expr) => {
        (
            $name.to_owned(),
            robot(
                include_str!(concat!("../../../../tests/robots/", $name, "/", $name, ".urdf")),
                $base,
            ),
        )
    };
}

#[expect(clippy::unwrap_used, reason = "a bench says so")]
fn robot(urdf: &str, base: Base) -> Model {
    load(&Source::urdf("robot.urdf", urdf).with_base(base), &mut NoAssets).unwrap().model
}

/// States in turn, without end.
struct States {
    all: Vec<[Vec<f64>; 3]>,
    next: usize,
}

impl States {
    fn new(model: &Model) -> Self {
        let mut random = Random::new(0);
        let mut state = || {
            let q = random_position(model, &mut random);
            [q, random_vector(model.nv, &mut random), random_vector(model.nv, &mut random)]
        };
        Self { all: (0..N_STATES).map(|_| state()).collect(), next: 0 }
    }

    fn next(&mut self) -> &[Vec<f64>; 3] {
        self.next = (self.next + 1) % N_STATES;
        &self.all[self.next]
    }
}

fn measure(criterion: &mut Criterion<CpuTime>, name: &str, model: &Model) {
    let mut data = Data::new(model);
    let mut states = States::new(model);
    let mut derivatives = RneaDerivatives::new(model);
    let mut factor = MassFactor::new(model);
    let mut six = Matrix6xX::zeros(model.nv);
    let tip = FrameId(model.frames.len() - 1);
    let mut time = |algorithm: &str, call: &mut dyn FnMut(&mut Data, &[Vec<f64>; 3])| {
        let mut group = criterion.benchmark_group(algorithm);
        group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
            bencher.iter(|| call(&mut data, black_box(states.next())));
        });
        group.finish();
    };
    time("fk", &mut |data, [q, ..]| forward_kinematics(model, data, q));
    time("rnea", &mut |data, [q, v, a]| {
        black_box(rnea(model, data, q, v, a, &[]));
    });
    time("aba", &mut |data, [q, v, a]| {
        assert!(aba(model, data, q, v, a, &[]).is_ok());
    });
    time("crba", &mut |data, [q, ..]| {
        black_box(crba(model, data, q));
    });
    time("jacobians", &mut |data, [q, ..]| {
        forward_kinematics(model, data, q);
        frame_jacobian(model, data, tip, &mut six);
    });
    time("centroidal", &mut |data, [q, ..]| centroidal_momentum_matrix(model, data, q, &mut six));
    time("rnea_derivatives", &mut |data, [q, v, a]| {
        rnea_derivatives(model, data, q, v, a, &mut derivatives);
    });
    time("crba_ldl", &mut |data, [q, ..]| {
        crba(model, data, q);
        assert!(factor.factorize(&data.mass_matrix, &[]).is_ok());
    });
}

fn main() {
    let mut criterion = Criterion::default()
        .with_measurement(CpuTime)
        .warm_up_time(std::time::Duration::from_millis(50))
        .measurement_time(std::time::Duration::from_millis(250))
        .sample_size(20)
        .configure_from_args();
    let fixed = Base::Fixed(Pose::IDENTITY);
    let mut models = vec![
        robot!("ur5", fixed),
        robot!("panda", fixed),
        robot!("anymal_c", Base::Floating),
        robot!("solo12", Base::Floating),
        robot!("simple_humanoid", Base::Floating),
        robot!("g1", Base::Floating),
        robot!("talos", Base::Floating),
    ];
    models.extend([10, 50, 200].map(|n| (format!("chain_{n}"), chain(n, None))));
    for (name, model) in &models {
        measure(&mut criterion, name, model);
    }
    criterion.final_summary();
}
