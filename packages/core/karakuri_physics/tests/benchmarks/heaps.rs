//! Heaps of boxes that lie on each other as they fell: one island of hundreds of contacts, many of them all but sliding.

use karakuri_physics::{StepOutcome, World};

use crate::support::*;

/// The fastest body. [m/s]
fn fastest(w: &World) -> f64 {
    w.body_ids().map(|id| w.body(id).velocity().linear.norm()).fold(0.0, f64::max)
}

/// Sixty boxes of `heap200`: they settle where gaps are left and the others are missing, and then lie.
fn check_that_a_heap_comes_to_rest(method: &'static str, most: f64) {
    let (mut scene, models) = read_scene("../bench/heap200");
    scene.bodies.truncate(60);
    scene.settings.solver.method = method;
    let mut w = World::from_scene(&scene, &models).unwrap();
    let mut worst = 0.0_f64;
    for _ in 0..300 {
        if let StepOutcome::MaxIterations { residual, .. } = w.step() {
            worst = worst.max(residual);
        }
    }
    let n = w.contacts().count();
    println!("{method}: {n} contacts; worst residual on the way {worst:.1e} m/s");
    assert!(worst < most, "{method}: {worst}");
    for _ in 0..20 {
        let outcome = w.step();
        assert!(matches!(outcome, StepOutcome::Solved { .. }), "{method}: {outcome:?}");
        assert!(fastest(&w) < 1e-7, "{method}: {}", fastest(&w));
    }
}

#[test]
fn a_heap_comes_to_rest() {
    check_that_a_heap_comes_to_rest("newton", 1e-6);
}

/// Sweeps while it moves, at a velocity of 0.02 m/s at most, Newton's method from there.
#[test]
fn a_heap_comes_to_rest_by_the_method_of_choice() {
    check_that_a_heap_comes_to_rest("automatic", 1e-3);
}
