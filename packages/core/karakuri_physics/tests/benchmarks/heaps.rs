//! Heaps of boxes that lie on each other as they fell: one island of hundreds of contacts, many of them all but sliding.

use karakuri_physics::{BodyDescription, Integrator, StepOutcome, World};
use karakuri_spatial::{Motion, Vector3};

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

/// Twelve boxes in a row that slide; the first has most of the friction, and the others push it. The whole row slows down by what all of them have.
/// The way until it stands [m], and the largest gap between two of them there. [m]
fn row_stops(method: &'static str) -> (f64, f64) {
    let mut w = world(1e-3, [0.0, 0.0, -9.81], Integrator::default());
    let mut settings = *w.settings();
    settings.solver.method = method;
    w.set_settings(settings);
    w.add_ground(1.0, 0.0);
    let ids: Vec<_> = (0..12)
        .map(|i| {
            let friction = if i == 11 { 1.0 } else { 0.1 };
            let own = cuboid(&format!("box{i}"), [0.1; 3], 1.0, at(0.1 * f64::from(i), 0.0, 0.05));
            let id = w.add_body(BodyDescription { friction, ..own }).unwrap();
            let velocity = Motion::new(Vector3::zeros(), Vector3::x());
            w.set_body_state(id, at(0.1 * f64::from(i), 0.0, 0.05), velocity).unwrap();
            id
        })
        .collect();
    run(&mut w, 1.0);
    let x = |i: usize| w.body(ids[i]).pose().translation.x;
    let gaps = (1..12).map(|i| (x(i) - x(i - 1) - 0.1).abs());
    assert!(fastest(&w) < 1e-3, "{method}: {}", fastest(&w));
    (x(11) - 1.1, gaps.fold(0.0, f64::max))
}

/// Surfaces mix to the geometric mean: 0.316 eleven times and 1 once on the ground.
#[test]
fn a_row_that_slides_stops_where_it_should() {
    let friction = (11.0 * 0.1_f64.sqrt() + 1.0) / 12.0;
    let known = 1.0 / (2.0 * friction * 9.81);
    for (method, most) in [("newton", 0.01), ("automatic", 0.03)] {
        let (way, gap) = row_stops(method);
        println!(
            "{method}: {:.2} % of {known:.4} m more, gaps up to {gap:.1e} m",
            100.0 * (way / known - 1.0)
        );
        assert!((way / known - 1.0).abs() < most && gap < 1e-6, "{method}: {way} m, {gap} m");
    }
}
