//! Noise of sensors: its statistics are those asked for, and it repeats.
#![expect(clippy::unwrap_used, reason = "a test says so")]

use std::sync::Arc;

use karakuri_model::{
    Base, JointSpec, LinkSpec, ModelBuilder, Noise, SensorKind, SensorNoise, SensorSpec,
};
use karakuri_physics::{RobotId, World, WorldSettings};
use karakuri_spatial::{Inertia, Matrix3, Pose, Vector3};

const H: f64 = 1e-3;
const QUIET: Noise = Noise { white: 0.0, bias: 0.0, walk: 0.0 };

/// A link that hangs at rest with an inertial and a wrench sensor.
fn hanging(noise: Option<SensorNoise>) -> (World, RobotId) {
    let inertia = Inertia {
        mass: 1.0,
        com: Vector3::new(0.0, 0.0, -0.1),
        about_com: Matrix3::identity() * 0.01,
    };
    let sensor = |name: &str, kind| SensorSpec {
        name: name.to_owned(),
        link: "link".to_owned(),
        kind,
        noise,
    };
    let model = ModelBuilder::new("hanging", Base::Fixed(Pose::IDENTITY))
        .link(LinkSpec::new("base", Inertia::ZERO))
        .link(LinkSpec::new("link", inertia))
        .joint(JointSpec::revolute("hinge", "base", "link", Vector3::y()))
        .sensor(sensor("imu", SensorKind::Imu))
        .sensor(sensor("wrist", SensorKind::JointWrench))
        .build()
        .unwrap();
    let mut world = World::new(WorldSettings { dt: H, ..WorldSettings::default() });
    let id = world.add_robot("hanging", Arc::new(model), &[0.0]).unwrap();
    (world, id)
}

/// Angular velocity and specific force of the inertial sensor, moment and force of the other.
fn read(world: &World, id: RobotId) -> [Vector3; 4] {
    let (imu, wrench) = (world.sensor_imu(id, 0), world.sensor_wrench(id, 1));
    [imu.angular_velocity, imu.linear_acceleration, wrench.moment, wrench.force]
}

const TRUTH: [Vector3; 4] = [
    Vector3::new(0.0, 0.0, 0.0),
    Vector3::new(0.0, 0.0, 9.81),
    Vector3::new(0.0, 0.0, 0.0),
    Vector3::new(0.0, 0.0, 9.81),
];

fn errors(world: &mut World, id: RobotId, n: usize) -> Vec<[Vector3; 4]> {
    let mut errors = Vec::with_capacity(n);
    for _ in 0..n {
        world.step();
        let reading = read(world, id);
        errors.push([0, 1, 2, 3].map(|k| reading[k] - TRUTH[k]));
    }
    errors
}

#[test]
fn without_noise_a_sensor_reads_the_truth_and_noise_moves_nothing() {
    let (mut quiet, a) = hanging(None);
    let white = Noise { white: 1.0, bias: 1.0, walk: 1.0 };
    let loud = SensorNoise { seed: 3, angular: white, linear: white, orientation: white };
    let (mut noisy, _) = hanging(Some(loud));
    for e in errors(&mut quiet, a, 10) {
        assert!(e.iter().all(|e| e.norm() < 1e-12), "{e:?}");
        noisy.step();
    }
    assert_eq!(quiet.state_hash(), noisy.state_hash());
}

#[test]
fn white_noise_has_its_density() {
    let white = |white| Noise { white, ..QUIET };
    let noise =
        SensorNoise { seed: 1, angular: white(0.01), linear: white(0.2), orientation: white(1e-3) };
    let (mut world, id) = hanging(Some(noise));
    let n = 20_000;
    let mut sums = [[0.0; 3]; 4];
    let mut turns = 0.0;
    let mut lagged = 0.0;
    let mut before = Vector3::zeros();
    for _ in 0..n {
        world.step();
        let reading = read(&world, id);
        for k in 0..4 {
            let e = reading[k] - TRUTH[k];
            for axis in 0..3 {
                sums[k][axis] += e[axis] * e[axis];
            }
        }
        lagged += reading[0].dot(&before);
        before = reading[0];
        turns += world.sensor_imu(id, 0).orientation.scaled_axis().norm_squared();
    }
    let count = 20_000.0;
    let densities = [0.01, 0.2, 0.01, 0.2];
    for (k, density) in densities.into_iter().enumerate() {
        for sum in sums[k] {
            let found = (sum / count).sqrt();
            let expected = density / H.sqrt();
            assert!((found / expected - 1.0).abs() < 0.03, "reading {k}: {found}, not {expected}");
            assert!((expected * expected / white(density).variance(H) - 1.0).abs() < 1e-12);
        }
    }
    let found = (turns / count / 3.0).sqrt();
    assert!((found * H.sqrt() / 1e-3 - 1.0).abs() < 0.03, "orientation: {found}");
    assert!(lagged.abs() / count < 0.03 * 3.0 * 1e-4 / H, "steps are independent: {lagged}");
}

#[test]
fn a_bias_stays_and_a_walk_goes_with_the_root_of_time() {
    let bias = Noise { bias: 0.5, ..QUIET };
    let mut sum = 0.0;
    for seed in 0..400 {
        let (mut world, id) =
            hanging(Some(SensorNoise { seed, angular: bias, ..SensorNoise::default() }));
        let errors = errors(&mut world, id, 2);
        assert!((errors[0][0] - errors[1][0]).norm() < 1e-12, "a bias does not move");
        assert!((errors[0][0] - errors[0][2]).norm() > 1e-6, "two sensors have two biases");
        sum += errors[0][0].norm_squared();
    }
    let found = (sum / 1200.0).sqrt();
    assert!((found / 0.5 - 1.0).abs() < 0.07, "{found}");
    let walk = Noise { walk: 0.3, ..QUIET };
    let mut sum = 0.0;
    for seed in 0..400 {
        let (mut world, id) =
            hanging(Some(SensorNoise { seed, linear: walk, ..SensorNoise::default() }));
        let errors = errors(&mut world, id, 101);
        sum += (errors[100][1] - errors[0][1]).norm_squared();
    }
    let (found, expected) = ((sum / 1200.0).sqrt(), 0.3 * 0.1_f64.sqrt());
    assert!((found / expected - 1.0).abs() < 0.07, "{found}, not {expected}");
}

#[test]
fn noise_repeats_by_its_seed_and_after_a_restore() {
    let any = Noise { white: 0.1, bias: 0.2, walk: 0.3 };
    let noise = |seed| SensorNoise { seed, angular: any, linear: any, orientation: any };
    let (mut a, id) = hanging(Some(noise(7)));
    let (mut b, _) = hanging(Some(noise(7)));
    let (mut c, _) = hanging(Some(noise(8)));
    let first = errors(&mut a, id, 50);
    assert_eq!(first, errors(&mut b, id, 50));
    assert_ne!(first, errors(&mut c, id, 50));
    let snapshot = a.snapshot();
    let next = errors(&mut a, id, 51);
    a.restore(&snapshot);
    assert_eq!(next, errors(&mut a, id, 51));
}

#[test]
fn a_run_of_another_number_has_other_noise_and_run_0_the_first() {
    let white = Noise { white: 1.0, bias: 1.0, walk: 0.0 };
    let noise = SensorNoise { seed: 3, angular: white, linear: white, orientation: QUIET };
    let run = |run: Option<u64>| {
        let (mut world, id) = hanging(Some(noise));
        if let Some(run) = run {
            world.restart_noise(id, run);
        }
        errors(&mut world, id, 20)
    };
    assert_eq!(run(None), run(Some(0)));
    assert_eq!(run(Some(7)), run(Some(7)));
    assert!(run(Some(7)) != run(Some(0)) && run(Some(7)) != run(Some(8)));
}
