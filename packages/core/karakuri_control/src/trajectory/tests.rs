use core::f64::consts::PI;

use proptest::prelude::*;

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

fn any_knot() -> impl Strategy<Value = [f64; 3]> {
    prop::array::uniform3(-3.0..3.0_f64)
}

proptest! {
    /// A quintic has position, velocity and acceleration of its knots at both ends; a cubic position and velocity.
    #[test]
    fn splines_meet_their_knots(from in any_knot(), to in any_knot(), duration in 0.1..3.0_f64) {
        for has_acceleration in [true, false] {
            let [from, to] = [from, to].map(|[p, v, a]| knot(p, Some(v), has_acceleration.then_some(a)));
            let start = interpolate(&from, &to, duration, 0.0);
            let end = interpolate(&from, &to, duration, duration * (1.0 - 1e-12));
            for (sample, knot) in [(start, &from), (end, &to)] {
                prop_assert!((sample.position - knot.position).abs() < 1e-9);
                prop_assert!((sample.velocity - knot.sample().velocity).abs() < 1e-7);
                if let Some(acceleration) = knot.acceleration {
                    prop_assert!((sample.acceleration - acceleration).abs() < 1e-5);
                }
            }
        }
    }

    /// Backwards in time, a spline is the spline of the reversed knots.
    #[test]
    fn splines_are_symmetric_in_time(from in any_knot(), to in any_knot(), part in 0.01..0.99_f64) {
        let ahead = [from, to].map(|[p, v, a]| knot(p, Some(v), Some(a)));
        let back = [to, from].map(|[p, v, a]| knot(p, Some(-v), Some(a)));
        let one = interpolate(&ahead[0], &ahead[1], 1.0, part);
        let other = interpolate(&back[0], &back[1], 1.0, 1.0 - part);
        prop_assert!((one.position - other.position).abs() < 1e-11);
        prop_assert!((one.velocity + other.velocity).abs() < 1e-10);
        prop_assert!((one.acceleration - other.acceleration).abs() < 1e-9);
    }

    /// The shortest angle is at most π and leads to the target.
    #[test]
    fn the_shortest_angle_leads_to_the_target(from in -20.0..20.0_f64, to in -20.0..20.0_f64) {
        let angle = shortest_angle(from, to);
        prop_assert!(angle.abs() <= PI + 1e-12);
        let turns = (from + angle - to) / (2.0 * PI);
        prop_assert!((turns - turns.round()).abs() < 1e-12, "{turns} turns from the target");
    }
}
