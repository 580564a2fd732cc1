//! IFToMM multibody library (González, Dopico, Lugrís, Cuadrado 2006), section 3.

use karakuri_physics::{Integrator, RobotId, World, WorldSettings, loop_gap};
use karakuri_spatial::Vector3;

use crate::support::*;

fn gap(w: &World, id: RobotId) -> f64 {
    loop_gap(w.robot(id).model(), w.robot(id).data())
}

/// A01: a point of 1 kg on a massless bar of 1 m.
#[test]
fn a01_simple_pendulum() {
    for (integrator, dt, allowed) in
        [(Integrator::Default, 1e-3, 1e-4), (Integrator::RungeKutta4, 1e-3, 1e-9)]
    {
        let mut w = scene_at("a01_pendulum", dt);
        w.set_settings(WorldSettings { integrator, ..*w.settings() });
        let id = only_robot(&w);
        let initial = energy(&mut w);
        let mut drift: f64 = 0.0;
        for (time, expected) in [
            (5.0, [-0.94230543504398, -0.33475433841336]),
            (10.0, [-0.27508746257790, -0.96141920509862]),
        ] {
            while w.time() < time - 0.5 * dt {
                step(&mut w);
                drift = drift.max((energy(&mut w) - initial).abs());
            }
            let p = point(&w, id, "bob", [-1.0, 0.0, 0.0]);
            let error = (p.xy() - nalgebra::Vector2::from(expected)).norm();
            println!("A01 {}: off by {error:e} m at {time} s", integrator.name());
            assert!(error <= allowed, "off by {error:e} m at {time} s");
        }
        println!("A01 {}: energy within {drift:e} J", integrator.name());
        assert!(drift <= 5e-5, "{}: energy drifts by {drift:e} J", integrator.name());
    }
}

/// Largest drift of energy [J], largest gap [m], tip of the first crank after 5 s and 10 s.
fn swing(n: usize, dt: f64) -> (f64, f64, [Vector3; 2]) {
    let name = if n == 2 { "a02_two_windows" } else { "a02_forty_windows" };
    let mut w = scene_at(name, dt);
    let id = only_robot(&w);
    let initial = energy(&mut w);
    let (mut drift, mut open, mut tips) = (0.0_f64, 0.0_f64, [Vector3::zeros(); 2]);
    for (tip, time) in tips.iter_mut().zip([5.0, 10.0]) {
        while w.time() < time - 0.5 * dt {
            step(&mut w);
            drift = drift.max((energy(&mut w) - initial).abs());
            open = open.max(gap(&w, id));
            for i in 0..n {
                let q = joint(&w, id, &format!("tip{i}")) + joint(&w, id, &format!("pivot{i}"));
                assert!(q.abs() < 0.1, "coupler {i} leaves its branch at {} s: {q}", w.time());
            }
        }
        *tip = point(&w, id, "crank0", [0.0, 1.0, 0.0]);
    }
    (drift, open, tips)
}

fn check_windows(n: usize, dt: f64, expected: [[f64; 2]; 2], allowed: f64) {
    let kinetic = 0.5 * ((n + 1) as f64 / 3.0 + n as f64);
    let (drift, open, tips) = swing(n, dt);
    let errors = [0, 1].map(|i| (tips[i].xy() - nalgebra::Vector2::from(expected[i])).norm());
    println!(
        "A02, {n} windows, h = {dt}: energy {drift:e} of {kinetic} J, gap {open:e} m, {errors:?} m"
    );
    assert!(drift <= 0.05 * kinetic, "energy drifts by {drift:e} J");
    assert!(open <= 1e-9, "gap {open:e} m");
    assert!(errors[1] <= allowed, "{errors:?} m");
}

#[test]
fn a02_two_windows() {
    let expected = [[-0.8113104609996, -0.5846155453567], [0.3284581115331, 0.9445185383813]];
    check_windows(2, 1e-3, expected, 1e-3);
}

#[test]
fn a02_forty_windows() {
    let expected = [[f64::NAN; 2], [0.1805122266815, 0.9835727405833]];
    check_windows(40, 1e-2, expected, 0.05);
}

/// A04: five rods of 1 m and 1 kg, one redundant equation.
#[test]
fn a04_bricard() {
    let dt = 1e-3;
    let mut w = scene_at("a04_bricard", dt);
    let id = only_robot(&w);
    let initial = energy(&mut w);
    let (mut drift, mut open) = (0.0_f64, 0.0_f64);
    for (time, expected) in [
        (1.0, [0.5105014611872, -1.6491675993948, 0.1401231145532]),
        (2.0, [-0.9693403447776, -1.2212468949563, 0.7542780107798]),
        (10.0, [f64::NAN; 3]),
    ] {
        while w.time() < time - 0.5 * dt {
            step(&mut w);
            drift = drift.max((energy(&mut w) - initial).abs());
            open = open.max(gap(&w, id));
        }
        let P3 = point(&w, id, "rod2", [0.0, 0.0, 1.0]);
        let error = (P3 - Vector3::from(expected)).norm();
        println!("A04: off by {error:e} m at {time} s, energy {drift:e} J, gap {open:e} m");
        assert!(error.is_nan() || error <= 1e-4, "off by {error:e} m at {time} s");
    }
    assert!(drift <= 1e-3, "energy drifts by {drift:e} J");
    assert!(open <= 1e-9, "gap {open:e} m");
}

/// A03: Andrews' squeezer; the reference at 0.03 s is the Bari test set's.
#[test]
fn a03_squeezer() {
    let expected = [
        ("beta", 15.81077119904),
        ("theta", -15.75637105984),
        ("gamma", 0.04082224013073),
        ("phi", -0.5347301163226),
        ("delta", 0.5244099658805),
        ("omega", 0.5347301163226),
        ("epsilon", 1.048080741042),
    ];
    let dt = 5e-6;
    let mut w = scene_at("a03_squeezer", dt);
    let id = only_robot(&w);
    let start = joint(&w, id, "beta");
    assert!((start + 0.0617138900142764).abs() < 1e-9, "starts closed");
    let (initial, mut drift, mut open) = (energy(&mut w), 0.0_f64, 0.0_f64);
    for i in 0..n_steps(&w, 0.05) {
        if i == n_steps(&w, 0.03) {
            let errors = expected.map(|(name, q)| (joint(&w, id, name) - q).abs());
            let largest = errors.iter().fold(0.0_f64, |a, b| a.max(*b));
            println!("A03, h = {dt}: off by {largest:e} rad at 0.03 s");
            assert!(largest < 1e-2, "{errors:?}");
        }
        step(&mut w);
        let work = 0.033 * (joint(&w, id, "beta") - start);
        drift = drift.max((energy(&mut w) - initial - work).abs());
        open = open.max(gap(&w, id));
    }
    println!("A03, h = {dt}: energy balance {drift:e} J, gap {open:e} m");
    assert!(drift < 1e-3, "energy balance {drift:e} J");
    assert!(open <= 1e-9, "gap {open:e} m");
}

/// A05: a stiff flyball governor; slider height. [m]
fn governor(dt: f64, times: &[f64]) -> Vec<f64> {
    let mut w = scene_at("a05_governor", dt);
    let id = only_robot(&w);
    let mut heights = Vec::new();
    for time in times {
        while w.time() < time - 0.5 * dt {
            step(&mut w);
        }
        heights.push(joint(&w, id, "slide"));
    }
    heights
}

#[test]
fn a05_governor() {
    let reference = [
        (0.1, 0.5238364755696),
        (0.5, 0.7432494247863),
        (1.0, 0.5014209223796),
        (2.0, 0.5059092942967),
        (5.0, 0.5355631037216),
        (10.0, 0.6196229170613),
    ];
    let times = reference.map(|(t, _)| t);
    for (dt, allowed) in [(1e-3, 1e-3), (1e-2, 1e-3)] {
        let heights = governor(dt, &times);
        let errors: Vec<f64> =
            heights.iter().zip(reference).map(|(s, (_, expected))| (s - expected).abs()).collect();
        println!("A05, h = {dt}: off by {errors:?} m");
        assert!(errors.iter().all(|e| *e <= allowed), "h = {dt}: {errors:?} m");
    }
}

/// Largest error of the slider's height. [m]
fn governor_error(dt: f64) -> f64 {
    let (times, expected) = ([1.0, 10.0], [0.5014209223796, 0.6196229170613]);
    let heights = governor(dt, &times);
    heights.iter().zip(expected).map(|(s, e)| (s - e).abs()).fold(0.0, f64::max)
}

/// Error of the angle of the crank after 0.03 s. [rad]
fn squeezer_error(dt: f64) -> f64 {
    let mut w = scene_at("a03_squeezer", dt);
    run(&mut w, 0.03);
    (joint(&w, only_robot(&w), "beta") - 15.81077119904).abs()
}

/// Error of the end of the third rod after 2 s. [m]
fn bricard_error(dt: f64) -> f64 {
    let mut w = scene_at("a04_bricard", dt);
    run(&mut w, 2.0);
    let P3 = point(&w, only_robot(&w), "rod2", [0.0, 0.0, 1.0]);
    (P3 - Vector3::new(-0.9693403447776, -1.2212468949563, 0.7542780107798)).norm()
}

/// Error of the tip after 10 s. [m]
fn windows_error(dt: f64) -> f64 {
    let (_, _, [_, tip]) = swing(2, dt);
    (tip.xy() - nalgebra::Vector2::new(0.3284581115331, 0.9445185383813)).norm()
}

/// Drift of the energy in 10 s. [J]
fn windows_drift(dt: f64) -> f64 {
    swing(2, dt).0
}

/// The same of the pendulum. [J]
fn pendulum_drift(dt: f64) -> f64 {
    let mut w = scene_at("a01_pendulum", dt);
    let (initial, mut drift) = (energy(&mut w), 0.0_f64);
    for _ in 0..n_steps(&w, 10.0) {
        step(&mut w);
        drift = drift.max((energy(&mut w) - initial).abs());
    }
    drift
}

#[test]
#[ignore = "60 000 steps of mechanisms, 5 s"]
fn mechanisms_converge() {
    /// Error at a step. [s]
    type Error = fn(f64) -> f64;
    let mechanisms: [(&str, Error, f64); 6] = [
        ("A01 pendulum, energy [J]", pendulum_drift, 1e-3),
        ("A02 two windows, energy [J]", windows_drift, 1e-3),
        ("A02 two windows, tip [m]", windows_error, 1e-3),
        ("A03 squeezer, crank [rad]", squeezer_error, 5e-6),
        ("A04 Bricard, end of rod 3 [m]", bricard_error, 1e-3),
        ("A05 governor, slider [m]", governor_error, 1e-3),
    ];
    for (name, error, fine) in mechanisms {
        let points = [1.0, 2.0, 5.0, 10.0].map(|factor| (factor * fine, error(factor * fine)));
        plot("mechanisms", name, &points);
        // Second order: a tenth of the step, a hundredth of the error; half of that is asked for.
        assert!(points[3].1 > 50.0 * points[0].1, "{name}: {points:?}");
    }
}
