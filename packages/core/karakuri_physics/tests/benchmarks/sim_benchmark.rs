//! SimBenchmark (Hwangbo, Kang et al., ETH 2018), section 1.

use karakuri_physics::{Integrator, World, WorldSettings};
use karakuri_spatial::Vector3;

use crate::support::*;

fn scene_with(name: &str, dt: f64, integrator: Integrator) -> World {
    let mut w = scene_at(name, dt);
    w.set_settings(WorldSettings { integrator, ..*w.settings() });
    w
}

/// 1.6: mean of (E − E₀)² over 2 s of free fall after a throw. [J²]
fn anymal_energy(dt: f64, integrator: Integrator) -> f64 {
    let mut w = scene_with("anymal_energy", dt, integrator);
    run(&mut w, 1.0);
    let (initial, n) = (energy(&mut w), n_steps(&w, 2.0));
    let mut sum = 0.0;
    for _ in 0..n {
        sum += (energy(&mut w) - initial).powi(2);
        step(&mut w);
    }
    sum / n as f64
}

#[test]
fn anymal_keeps_its_energy() {
    for (integrator, bar) in [
        (Integrator::Default, 1.2e-2),
        (Integrator::RungeKutta4, 1e-16),
        (Integrator::Variational, 1.2e-2),
    ] {
        for dt in [1e-3, 4e-3, 1e-2] {
            let error = anymal_energy(dt, integrator);
            println!("1.6 ANYmal energy, {}, h = {dt}: {error:e} J²", integrator.name());
            assert!(dt > 1e-3 || error <= bar, "{}: {error:e} J²", integrator.name());
        }
    }
}

/// 1.7: mean of |P − P₀|² over 10 s after a ball hits the weightless robot. [(kg m/s)²]
fn anymal_momentum(dt: f64, integrator: Integrator) -> (f64, f64) {
    let mut w = scene_with("anymal_momentum", dt, integrator);
    let (id, ball) = (only_robot(&w), w.find_body("ball").unwrap());
    let (mut sum, n) = (0.0, n_steps(&w, 10.0));
    for _ in 0..n {
        let own = karakuri_dynamics::centroidal_momentum(
            &w.robot(id).model().clone(),
            &mut w.robot(id).data().clone(),
            w.robot(id).q(),
            w.robot(id).v(),
        );
        let total = own.linear + w.body(ball).velocity().linear * 10.0;
        sum += (total - Vector3::new(0.0, 50.0, 0.0)).norm_squared();
        step(&mut w);
    }
    (sum / n as f64, w.body(ball).velocity().linear.y)
}

#[test]
fn anymal_keeps_its_momentum() {
    // The best of the class has 4.7e-5.
    for (integrator, bar) in [
        (Integrator::Default, 4.7e-5),
        (Integrator::Momentum, 1e-20),
        (Integrator::Variational, 1e-20),
    ] {
        for dt in [1e-3, 1e-2] {
            let (error, speed) = anymal_momentum(dt, integrator);
            println!("1.7 ANYmal momentum, {}, h = {dt}: {error:e} kg²m²/s²", integrator.name());
            assert!(speed < 4.0, "the ball hit the robot");
            assert!(dt > 1e-3 || error <= bar, "{}: {error:e}", integrator.name());
        }
    }
}

/// 1.1: 25 balls on a sliding box; mean squared error of the velocities of box and ball. [m²/s²]
fn rolling(name: &str, dt: f64, seconds: f64) -> f64 {
    let mut w = scene_at(&format!("rolling_{name}"), dt);
    let direction = match name {
        "y" => Vector3::y(),
        _ => Vector3::new(0.5, 0.8660254037844386, 0.0),
    };
    let (slab, ball) = (w.find_body("slab").unwrap(), w.find_body("ball0").unwrap());
    let (force, ground): (f64, f64) = (150.0, 0.4 * 35.0 * 9.81);
    let on_ball = (force - ground) / 10.0 / (3.5 + 2.5);
    let a = [(force - ground - 25.0 * on_ball) / 10.0, on_ball];
    assert!((a[0] - 0.7385).abs() < 1e-9 && (a[1] - 0.211).abs() < 1e-9, "{a:?}");
    let (mut sum, n) = (0.0, n_steps(&w, seconds));
    for _ in 0..n {
        for (id, a) in [slab, ball].into_iter().zip(a) {
            let expected = direction * (a * w.time());
            sum += (w.body(id).velocity().linear - expected).norm_squared();
        }
        step(&mut w);
    }
    sum / n as f64
}

fn check_rolling(steps: &[f64], seconds: f64) {
    for name in ["y", "xy"] {
        for &dt in steps {
            let error = rolling(name, dt, seconds);
            println!("1.1 rolling along {name}, h = {dt}, {seconds} s: {error:e} m²/s²");
            assert!(error <= 1e-9, "{name}, h = {dt}: {error:e} m²/s²");
        }
    }
}

#[test]
fn balls_roll_on_a_sliding_box() {
    check_rolling(&[1e-3], 0.5);
}

#[test]
#[ignore = "10 800 steps of 25 balls, 13 s"]
fn balls_roll_on_a_sliding_box_for_four_seconds() {
    check_rolling(&[1e-3, 4e-3, 1e-2], 4.0);
}

/// 1.8: stands on four feet at h = 5 ms under soft servos; every foot keeps its contact and does not creep.
#[test]
fn anymal_stands_without_creep() {
    let mut w = scene("anymal_stand");
    let id = only_robot(&w);
    let feet = |w: &World| {
        ["LF", "RF", "LH", "RH"].map(|leg| {
            let view = w.robot(id);
            let foot = view.model().frame(&format!("{leg}_foot")).unwrap();
            karakuri_dynamics::frame_pose(view.model(), view.data(), foot).translation
        })
    };
    run(&mut w, 5.0);
    let (start, mut lines) = (feet(&w), [const { Vec::new() }; 4]);
    for i in 0..n_steps(&w, 5.0) {
        step(&mut w);
        if i % 20 == 19 {
            for ((line, foot), start) in lines.iter_mut().zip(feet(&w)).zip(start) {
                line.push((w.time(), (foot - start).norm()));
            }
        }
        assert_eq!(w.contacts().count(), 4, "contacts at {} s", w.time());
    }
    for (leg, points) in ["LF", "RF", "LH", "RH"].into_iter().zip(&lines) {
        plot("stand", &format!("foot {leg}"), points);
    }
    let creep = feet(&w).iter().zip(start).map(|(a, b)| (a - b).norm()).fold(0.0_f64, f64::max);
    println!("1.8 stand: feet creep by {creep:e} m in 5 s, base at {} m", w.robot(id).q()[2]);
    assert!(creep <= 1e-6, "feet creep by {creep:e} m");
    assert!(w.robot(id).q()[2] > 0.3, "stands");
}
