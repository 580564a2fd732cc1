//! Heaps of boxes that lie on each other as they fell: one island of hundreds of contacts, many of them all but sliding.

use karakuri_physics::{StepOutcome, World};

use crate::support::*;

/// The fastest body. [m/s]
fn fastest(w: &World) -> f64 {
    w.body_ids().map(|id| w.body(id).velocity().linear.norm()).fold(0.0, f64::max)
}

/// Sixty boxes of `heap200`: they settle where gaps are left and the others are missing, and then lie.
#[test]
fn a_heap_comes_to_rest() {
    let (mut scene, models) = read_scene("../bench/heap200");
    scene.bodies.truncate(60);
    let mut w = World::from_scene(&scene, &models).unwrap();
    let mut worst = 0.0_f64;
    for _ in 0..300 {
        if let StepOutcome::MaxIterations { residual, .. } = w.step() {
            worst = worst.max(residual);
        }
    }
    println!("{} contacts; worst residual on the way {worst:.1e} m/s", w.contacts().count());
    assert!(worst < 1e-6, "{worst}");
    for _ in 0..20 {
        let outcome = w.step();
        assert!(matches!(outcome, StepOutcome::Solved { .. }), "{outcome:?}");
        assert!(fastest(&w) < 1e-7, "{}", fastest(&w));
    }
}
