use core::f64::consts::PI;

use super::{Knot, interpolate, shortest_angle};

fn knot(position: f64, velocity: Option<f64>, acceleration: Option<f64>) -> Knot {
    Knot { position, velocity, acceleration, effort: None }
}

#[test]
fn the_degree_follows_the_fields_of_both_ends() {
    let (p, v, a) =
        (knot(0.0, None, None), knot(1.0, Some(0.0), None), knot(1.0, Some(0.0), Some(0.0)));
    assert!((interpolate(&p, &a, 2.0, 0.5).position - 0.25).abs() < 1e-15);
    let start = knot(0.0, Some(0.0), Some(0.0));
    assert!((interpolate(&start, &v, 1.0, 0.25).position - 0.156_25).abs() < 1e-15);
    assert!((interpolate(&start, &a, 1.0, 0.25).position - 0.103_515_625).abs() < 1e-15);
}

#[test]
fn derivatives_agree_with_differences() {
    let (from, to) = (knot(0.3, Some(-1.0), Some(2.0)), knot(1.1, Some(0.5), Some(-3.0)));
    let h = 1e-5;
    for i in 1..10 {
        let t = 0.07 * f64::from(i);
        let [a, b, c] = [t - h, t, t + h].map(|t| interpolate(&from, &to, 0.7, t));
        if i < 10 && t + h < 0.7 {
            assert!(((c.position - a.position) / (2.0 * h) - b.velocity).abs() < 1e-7);
            assert!(((c.velocity - a.velocity) / (2.0 * h) - b.acceleration).abs() < 1e-6);
        }
    }
}

#[test]
fn the_short_way_round() {
    assert!((shortest_angle(3.0, -3.0) - (2.0 * PI - 6.0)).abs() < 1e-12);
    assert!((shortest_angle(0.0, PI) - PI).abs() < 1e-12);
    assert!((shortest_angle(0.0, -PI) + PI).abs() < 1e-12);
}
