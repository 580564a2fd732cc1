use super::{Profile, SCurve};

#[test]
fn peaks_are_those_of_the_table() {
    for profile in [Profile::Quintic, Profile::Cycloid, Profile::Septic] {
        let (mut v, mut a): (f64, f64) = (0.0, 0.0);
        for i in 0..=20_000 {
            let at = profile.sample(f64::from(i) / 20_000.0, 1.0);
            (v, a) = (v.max(at.velocity), a.max(at.acceleration));
        }
        assert!((v - profile.peak_speed()).abs() < 1e-6, "{profile:?} {v}");
        assert!((a - profile.peak_acceleration()).abs() < 1e-5, "{profile:?} {a}");
    }
}

#[test]
fn s_curves_keep_their_limits_and_arrive() {
    for (length, v, a, j) in [(1.0, 0.5, 2.0, 20.0), (0.01, 0.5, 2.0, 20.0), (0.3, 5.0, 2.0, 1e3)] {
        let curve = SCurve::new(length, v, a, j);
        let (n, total) = (20_000, curve.duration());
        let dt = total / f64::from(n);
        let mut last = curve.sample(0.0);
        for i in 1..=n {
            let at = curve.sample(f64::from(i) * dt);
            assert!(at.velocity <= v * (1.0 + 1e-9) && at.acceleration.abs() <= a * (1.0 + 1e-9));
            assert!((at.acceleration - last.acceleration).abs() <= j * dt * (1.0 + 1e-6) + 1e-9);
            let mean = 0.5 * (at.velocity + last.velocity) * dt;
            assert!((at.s - last.s - mean).abs() < j * dt.powi(3) + 1e-12);
            last = at;
        }
        assert!((last.s - length).abs() < 1e-9, "{} of {length}", last.s);
    }
}
