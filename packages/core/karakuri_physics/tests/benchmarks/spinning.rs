//! Spinning bodies, section 5.

use std::f64::consts::TAU;

use karakuri_model::Shape;
use karakuri_physics::{BodyDescription, Integrator, JointDescription, Owner};
use karakuri_spatial::{Matrix3, Vector3};

use crate::support::*;

/// Flips about the intermediate axis: energy and world momentum stay, whatever the step.
#[test]
fn a_free_asymmetric_body_keeps_energy_and_momentum() {
    for dt in [1e-3, 1e-2, 5e-2] {
        let mut w = scene_at("flips", dt);
        let id = w.find_body("body").unwrap();
        let I = Matrix3::from_diagonal(&Vector3::new(1.0, 2.0, 3.0));
        let momentum = |w: &karakuri_physics::World| {
            let R = w.body(id).pose().rotation;
            R * I * R.transpose() * w.body(id).velocity().angular
        };
        let (L, E) = (momentum(&w), energy(&mut w));
        let (mut flips, mut up) = (0, true);
        let (mut off, mut points) = ([0.0_f64; 2], Vec::new());
        for _ in 0..n_steps(&w, 50.0) {
            step(&mut w);
            assert!(
                (momentum(&w) - L).norm() < 1e-10 * L.norm(),
                "{:e} at {} s",
                (momentum(&w) - L).norm(),
                w.time()
            );
            assert!((energy(&mut w) - E).abs() < 1e-10 * E, "at {} s", w.time());
            let now = [(momentum(&w) - L).norm() / L.norm(), (energy(&mut w) - E).abs() / E];
            off = [off[0].max(now[0]), off[1].max(now[1])];
            let rate = w.body(id).pose().rotation.tr_mul(&w.body(id).velocity().angular).y;
            if w.time() < 25.0 && w.time() > 0.1 * points.len() as f64 {
                points.push((w.time(), rate));
            }
            if (rate > 0.0) != up {
                (up, flips) = (rate > 0.0, flips + 1);
            }
        }
        println!("asymmetric body, h = {dt}: {flips} flips in 50 s");
        println!("5 free body, h = {dt}: momentum off by {:e}, energy by {:e}", off[0], off[1]);
        plot("flips", &format!("h = {:.0} ms", 1e3 * dt), &points);
        assert!(flips >= 5, "{flips} flips in 50 s");
    }
}

/// 4, 40 and 400 rad a step: the energy stays, and the world says that the step is too long.
#[test]
fn a_body_that_turns_by_radians_in_a_step_keeps_its_energy() {
    for dt in [1e-3, 1e-2, 1e-1] {
        let mut w = scene_at("fast_spin", dt);
        let E = energy(&mut w);
        assert!((E - 160_104.0).abs() < 1e-6);
        let mut off = 0.0_f64;
        for _ in 0..n_steps(&w, 2000.0 * dt) {
            step(&mut w);
            off = off.max((energy(&mut w) - E).abs() / E);
        }
        println!("5 fast spin, {:.0} rad a step: energy off by {off:.1e} in 2000 steps", 4e3 * dt);
        assert!(off < 1e-11);
        assert_eq!(w.long_turns().len(), 1);
    }
}

/// A top on a ball joint that is attached, in steady precession: second order, so that its tilt stays.
#[test]
fn a_top_on_an_attached_ball_joint_precesses() {
    let (tilt, precession, seconds) = (40.0_f64.to_radians(), 2.601_559, 5.0);
    let errors = [2e-3, 1e-3, 5e-4].map(|dt| {
        let mut w = scene_at("gyroscope", dt);
        let top = w.find_body("top").unwrap();
        for _ in 0..n_steps(&w, seconds) {
            step(&mut w);
        }
        let p = w.body(top).pose().translation - Vector3::z();
        let azimuth = (p.y.atan2(p.x) - precession * seconds).rem_euclid(TAU);
        let (off, lag) = ((p.z / p.norm()).acos() - tilt, azimuth.min(TAU - azimuth));
        println!("top, h = {dt}: tilt off by {:.1e} degrees, lags {lag:.1e} rad", off.to_degrees());
        (off.abs(), lag)
    });
    assert!(errors[1].0 < 0.1_f64.to_radians(), "{errors:?}");
    for pair in errors.windows(2) {
        let order = (pair[0].1 / pair[1].1).log2();
        assert!((1.9..2.1).contains(&order), "order {order}");
    }
}

/// Two rods on attached hinges, one below the other, let go from the side: their motion converges with the square of the step.
#[test]
fn a_double_pendulum_of_attached_joints_is_of_second_order() {
    let ends = [2e-3, 1e-3, 5e-4, 2.5e-4].map(|dt| {
        let mut w = world(dt, EARTH, Integrator::Default);
        let size = Vector3::new(0.4, 0.05, 0.05);
        let rod = |name: &str, x: f64| {
            BodyDescription::new(name, Shape::Box { size }, 1.0, at(x, 0.0, 0.0))
        };
        let [upper, lower] =
            [rod("upper", 0.25), rod("lower", 0.75)].map(|b| w.add_body(b).unwrap());
        let hinge = [true, false, true, true, true, true];
        let joint = |a, b, x: f64| JointDescription {
            a,
            b,
            pose_in_a: at(x, 0.0, 0.0),
            locked: hinge,
            bushing: None,
            strength: None,
        };
        let [a, b] = [upper, lower].map(Owner::Body);
        w.attach_joint("shoulder", joint(Owner::Ground, a, 0.0)).unwrap();
        w.attach_joint("elbow", joint(a, b, 0.25)).unwrap();
        for _ in 0..n_steps(&w, 1.0) {
            step(&mut w);
        }
        w.body(lower).pose().translation
    });
    let changes: Vec<f64> = ends.windows(2).map(|pair| (pair[1] - pair[0]).norm()).collect();
    for pair in changes.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        println!(
            "double pendulum: changes by {:.1e} and {:.1e} m, order {order:.2}",
            pair[0], pair[1]
        );
        assert!((1.8..2.2).contains(&order), "order {order}, {changes:?}");
    }
}
