//! A cube of the table, gripped from many places and lifted.

use karakuri_dynamics::{Data, gravity_effort};
use karakuri_testkit::Random;

use super::{Cell, PERIOD, scene};

/// Positions of the arm's joints along 50 mm straight up from the cube of the scene, the tool looking down. [rad] (6 × 5)
const UP: [[f64; 5]; 6] = [
    [0.578_898, 0.311_283, 0.055_422, 1.204_091, 0.578_898],
    [0.578_898, 0.285_407, 0.015_850, 1.269_540, 0.578_898],
    [0.578_898, 0.264_976, -0.030_852, 1.336_672, 0.578_898],
    [0.578_898, 0.250_307, -0.085_103, 1.405_592, 0.578_898],
    [0.578_898, 0.241_788, -0.147_522, 1.476_531, 0.578_898],
    [0.578_898, 0.239_947, -0.219_047, 1.549_896, 0.578_898],
];
/// Time of the way up. [s]
const LIFT: f64 = 1.5;
/// Samples of the way up and half a second after it.
const SAMPLES: u32 = 200;

/// Positions of the arm's joints a time after the start of the lift: a cubic in time along the path. [rad] (5)
fn at(time: f64) -> [f64; 5] {
    let share = (time / LIFT).clamp(0.0, 1.0);
    let mut along = (3.0 - 2.0 * share) * share * share * 5.0;
    let mut k = 0;
    while along > 1.0 && k < 4 {
        (along, k) = (along - 1.0, k + 1);
    }
    std::array::from_fn(|joint| UP[k][joint] * (1.0 - along) + UP[k + 1][joint] * along)
}

/// How far a cube moves in the hand while it is lifted. The cube stood up to 0.5 mm beside its place, the joints are up to `error` off. [m, rad]
fn slip(seed: u64, is_rigid: bool, error: f64) -> f64 {
    let mut random = Random::new(seed);
    let mut scene = scene();
    let cube = scene.bodies.iter_mut().find(|body| body.description.name == "cube").unwrap();
    cube.description.pose.translation.x += random.uniform(-5e-4, 5e-4);
    cube.description.pose.translation.y += random.uniform(-5e-4, 5e-4);
    if is_rigid {
        (cube.material, cube.description.friction) = (None, 0.6);
    }
    let off: [f64; 5] = std::array::from_fn(|_| random.uniform(-error, error));
    let mut cell = Cell::of(scene, &std::array::from_fn::<f64, 5, _>(|k| UP[0][k] + off[k]));
    let mut data = Data::new(&cell.model);
    let mut follow = |cell: &mut Cell, time: f64| {
        let (now, next) = (at(time), at(time + PERIOD));
        let weight = gravity_effort(&cell.model, &mut data, cell.world.robot(cell.robot).q());
        let drives = cell.world.drive_mut(cell.robot);
        drives.effort[..5].copy_from_slice(&weight[..5]);
        for k in 0..5 {
            drives.position[k] = now[k] + off[k];
            drives.velocity[k] = (next[k] - now[k]) / PERIOD;
        }
        cell.step();
    };
    (0..20).for_each(|_| follow(&mut cell, -1.0));
    let report = cell.command(0.0, 5.0);
    assert!(report.stalled, "{seed}: {report:?}");
    let before = cell.in_hand();
    let mut most: f64 = 0.0;
    for n in 0..SAMPLES {
        follow(&mut cell, PERIOD * f64::from(n));
        most = most.max((cell.in_hand() - before).norm());
    }
    most
}

/// A block between faces that lean can be held, and can fall so fast that both let it go; either is a solution of Coulomb's law.
#[test]
fn a_rigid_cube_that_is_held_goes_on_being_held() {
    for seed in 0..20 {
        let slip = slip(seed, true, 3e-5);
        assert!(slip < 1e-4, "{seed}: it slips by {slip} m");
    }
}

/// Jaws that are not quite parallel to it press on one end of an edge, unless the surface yields.
#[test]
fn a_cube_of_rubber_is_held_by_jaws_that_are_a_little_askew() {
    for seed in 0..20 {
        let slip = slip(seed, false, 1e-3);
        assert!(slip < 2e-5, "{seed}: it slips by {slip} m");
    }
}
