//! Curves against values of `SciPy` and closed forms.

use proptest::prelude::*;

use super::*;

fn keys(ease: Ease, times: &[f64], values: &[f64]) -> Vec<Key> {
    times.iter().zip(values).map(|(&t, &y)| Key { t, y, ease }).collect()
}

/// `CubicSpline` and `PchipInterpolator` of `SciPy` through t = 0, 1, 2, 4.
#[test]
fn splines_have_the_values_of_scipy() {
    let t = [0.0, 1.0, 2.0, 4.0];
    let y = [0.0, 1.0, 0.0, 2.0];
    let cases = [
        (Ease::Natural, y, [0.728_260_870, 0.565_217_391, 0.347_826_087]),
        (Ease::Clamped, y, [0.482_954_545, 0.585_227_273, 0.863_636_364]),
        (Ease::Monotone, y, [0.75, 0.5, 0.416_666_667]),
        (Ease::Periodic, [0.0, 1.0, 0.0, 0.0], [0.65, 0.65, -0.6]),
    ];
    for (ease, y, golden) in cases {
        let curve = Curve::new(&keys(ease, &t, &y));
        for (t, value) in [0.5, 1.5, 3.0].into_iter().zip(golden) {
            let found = curve.at(t).position;
            assert!((found - value).abs() < 1e-9, "{ease:?} at {t}: {found}, not {value}");
        }
    }
    let natural = Curve::new(&keys(Ease::Natural, &t, &y));
    for (t, speed) in [(0.5, 1.152_173_913), (1.5, -1.260_869_565), (3.0, 1.217_391_304)] {
        let found = natural.at(t).velocity;
        assert!((found - speed).abs() < 1e-9, "{found}, not {speed}");
    }
}

#[test]
fn eases_of_one_interval_are_their_polynomials() {
    for (ease, quarter, speed, acceleration) in [
        (Ease::Linear, 0.25, 1.0, 0.0),
        (Ease::Smooth, 0.156_25, 1.5, 6.0),
        (Ease::MinimumJerk, 0.103_515_625, 1.875, 10.0 / 3.0_f64.sqrt()),
        (Ease::Hold, 0.0, 0.0, 0.0),
        (Ease::Bezier([1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]), 0.25, 1.0, 0.0),
    ] {
        let curve = Curve::new(&keys(ease, &[1.0, 3.0], &[10.0, 14.0]));
        let found = curve.at(1.5).position;
        assert!((found - (10.0 + 4.0 * quarter)).abs() < 1e-12, "{ease:?}: {found}");
        let peak = curve.peak_speed().unwrap();
        assert!((peak.value - speed * 2.0).abs() < 1e-9, "{ease:?}: {}", peak.value);
        let grid = (0..=100_000).map(|i| curve.at(1.0 + 2e-5 * f64::from(i)).acceleration.abs());
        let largest = grid.take(100_000).fold(0.0, f64::max);
        assert!((largest - acceleration).abs() < 1e-6, "{ease:?}: {largest}");
    }
}

#[test]
fn a_hold_jumps_at_its_key() {
    let curve = Curve::new(&keys(Ease::Hold, &[0.0, 1.0, 2.0], &[1.0, 2.0, 5.0]));
    let at = |t| curve.at(t).position;
    assert_eq!(
        (at(-1.0), at(0.5), at(1.0), at(1.5), at(2.0), at(9.0)),
        (1.0, 1.0, 2.0, 2.0, 5.0, 5.0)
    );
}

#[test]
fn velocity_jumps_are_where_eases_meet_with_speed() {
    let mut keys = keys(Ease::Linear, &[0.0, 1.0, 2.0, 3.0], &[0.0, 1.0, 1.0, 0.0]);
    keys[2].ease = Ease::Smooth;
    let jumps = Curve::new(&keys).velocity_jumps();
    let times: Vec<f64> = jumps.iter().map(|jump| jump.t).collect();
    assert_eq!(times, [0.0, 1.0, 2.0, 3.0]);
    assert_eq!((jumps[1].before, jumps[1].after), (1.0, 0.0));
    let spline = Curve::new(&super::tests::keys(Ease::Clamped, &[0.0, 1.0, 2.5], &[0.0, 3.0, 1.0]));
    assert!(spline.velocity_jumps().is_empty());
}

fn ease() -> impl Strategy<Value = Ease> {
    let unit = 0.0..=1.0_f64;
    prop_oneof![
        Just(Ease::Hold),
        Just(Ease::Linear),
        Just(Ease::Smooth),
        Just(Ease::MinimumJerk),
        Just(Ease::Natural),
        Just(Ease::Clamped),
        Just(Ease::Monotone),
        Just(Ease::Periodic),
        (unit.clone(), -1.0..2.0_f64, unit, -1.0..2.0_f64)
            .prop_map(|(a, b, c, d)| Ease::Bezier([a, b, c, d])),
    ]
}

prop_compose! {
    fn random_keys()(
        steps in prop::collection::vec((0.05..2.0_f64, -3.0..3.0_f64, ease(), any::<bool>()), 2..12)
    ) -> Vec<Key> {
        let mut t = -0.5;
        let mut last = Ease::Linear;
        steps.into_iter().map(|(step, y, ease, same)| {
            t += step;
            last = if same { last } else { ease };
            Key { t, y, ease: last }
        }).collect()
    }
}

proptest! {
    #[test]
    fn curves_pass_their_keys(keys in random_keys()) {
        let curve = Curve::new(&keys);
        for key in &keys {
            let found = curve.at(key.t).position;
            prop_assert!((found - key.y).abs() < 1e-9, "{} at {}, not {}", found, key.t, key.y);
        }
    }

    /// Velocity and acceleration are derivatives of the position.
    #[test]
    fn derivatives_are_differences(keys in random_keys(), part in 0.05..0.95_f64) {
        let curve = Curve::new(&keys);
        for pair in keys.windows(2) {
            // Near a vertical handle of a Bézier curve differences say nothing.
            if let Ease::Bezier([a, _, b, _]) = pair[1].ease && (a < 0.1 || b > 0.9) { continue; }
            if let Ease::Bezier([a, _, b, _]) = pair[1].ease && a - b > 0.5 { continue; }
            let t = pair[0].t + part * (pair[1].t - pair[0].t);
            let step = 1e-5;
            let [before, here, after] = [t - step, t, t + step].map(|t| curve.at(t));
            let velocity = (after.position - before.position) / (2.0 * step);
            let acceleration = (after.velocity - before.velocity) / (2.0 * step);
            let scale = 1.0 + here.acceleration.abs();
            prop_assert!((velocity - here.velocity).abs() < 1e-4 * scale, "{velocity}, {here:?}");
            prop_assert!((acceleration - here.acceleration).abs() < 1e-2 * scale, "{acceleration}, {here:?}");
        }
    }

    #[test]
    fn extents_are_those_of_a_fine_grid(keys in random_keys()) {
        let curve = Curve::new(&keys);
        let extent = curve.extent().unwrap();
        let (start, length) = (keys[0].t, keys[keys.len() - 1].t - keys[0].t);
        let times = (0..=4000).map(|i| start + length * f64::from(i) / 4000.0);
        // The end itself as well, where a curve that holds jumps.
        let times = times.chain([keys[keys.len() - 1].t]);
        let grid: Vec<f64> = times.map(|t| curve.at(t).position).collect();
        let (low, high) = grid.iter().fold((f64::MAX, f64::MIN), |(a, b), y| (a.min(*y), b.max(*y)));
        prop_assert!(extent.least <= low + 1e-9 && low - extent.least < 0.05, "{extent:?}, {low}");
        prop_assert!(extent.largest >= high - 1e-9 && extent.largest - high < 0.05, "{extent:?}, {high}");
        prop_assert!((curve.at(extent.least_at).position - extent.least).abs() < 1e-6
            || keys.iter().any(|key| key.ease == Ease::Hold));
    }

    #[test]
    fn monotone_curves_stay_between_their_keys(
        steps in prop::collection::vec((0.05..2.0_f64, -3.0..3.0_f64), 2..10)
    ) {
        let mut t = 0.0;
        let keys: Vec<Key> = steps.iter().map(|(step, y)| {
            t += step;
            Key { t, y: *y, ease: Ease::Monotone }
        }).collect();
        let curve = Curve::new(&keys);
        for pair in keys.windows(2) {
            let (low, high) = (pair[0].y.min(pair[1].y), pair[0].y.max(pair[1].y));
            for i in 0..=20 {
                let y = curve.at(pair[0].t + (pair[1].t - pair[0].t) * f64::from(i) / 20.0).position;
                prop_assert!((low - 1e-9..=high + 1e-9).contains(&y), "{y} of {low} to {high}");
            }
        }
    }
}
