//! A grip by friction alone, at its limit, from a cold start.

use crate::scenes;

use karakuri_physics::StepOutcome;

/// How far the block of two pads sinks in `seconds`. [m]
fn sinks(method: &'static str, dt: f64, ratio: f64, seconds: f64) -> f64 {
    let (mut w, block) = scenes::grasp(method, dt, ratio);
    let start = w.body(block).pose().translation.z;
    while w.time() < seconds - 0.5 * dt {
        let outcome = w.step();
        assert!(matches!(outcome, StepOutcome::Solved { .. }), "{method}, {ratio}: {outcome:?}");
    }
    start - w.body(block).pose().translation.z
}

/// Squeeze and gravity both from the first step, 10 s, 1 and 5 ms.
#[test]
fn the_least_force_and_a_thousandth_hold_without_creep() {
    for method in ["newton", "admm", "accelerated_gradient"] {
        for dt in [1e-3, 5e-3] {
            for ratio in [1.001, 1.01] {
                let sunk = sinks(method, dt, ratio, 10.0);
                assert!(sunk.abs() < 1e-9, "{method}, {dt} s, {ratio}: sinks by {sunk} m");
            }
        }
    }
}

/// Under the limit the pads brake: a = g − 2 μ F / m.
#[test]
fn less_than_the_least_force_drops_at_the_rate_that_is_left() {
    for method in ["newton", "admm", "accelerated_gradient"] {
        for dt in [1e-3, 5e-3] {
            let (seconds, a) = (0.5, 0.01 * 9.81);
            let sunk = sinks(method, dt, 0.99, seconds);
            // The scheme's own: x = ½ a t (t + h).
            let exact = 0.5 * a * seconds * (seconds + dt);
            assert!((sunk - exact).abs() < 1e-3 * exact, "{method}, {dt} s: {sunk} m, not {exact}");
        }
    }
}

#[test]
fn a_tower_of_ten_does_not_sag() {
    let (mut w, top) = scenes::stack("newton");
    for _ in 0..500 {
        let outcome = w.step();
        assert!(matches!(outcome, StepOutcome::Solved { .. }), "{outcome:?}");
    }
    let sag = 0.95 - w.body(top).pose().translation.z;
    assert!(sag.abs() < 1e-9, "the top sags by {sag} m");
    let forces: Vec<f64> = w.contacts().map(|c| c.force.z).collect();
    let ground: f64 = forces.iter().filter(|f| **f > 0.0).take(4).sum();
    assert!((ground - 98.1).abs() < 1e-3, "the ground carries {ground} N of 98.1");
}

#[test]
fn a_ton_rests_on_a_kilogram() {
    let (mut w, heavy) = scenes::mass_ratio("newton");
    for _ in 0..1000 {
        w.step();
        assert!(w.statistics().residual < 1e-9, "{:?}", w.statistics());
    }
    let sag = 0.15 - w.body(heavy).pose().translation.z;
    assert!(sag.abs() < 1e-8, "sinks by {sag} m");
}
