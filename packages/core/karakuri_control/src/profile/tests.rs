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

#[test]
fn profiles_never_go_back_and_are_symmetric() {
    for profile in [Profile::Quintic, Profile::Cycloid, Profile::Septic] {
        let mut last = 0.0;
        for i in 0..=1000 {
            let u = f64::from(i) / 1000.0;
            let (here, mirrored) = (profile.sample(u, 1.0), profile.sample(1.0 - u, 1.0));
            assert!(here.s >= last - 1e-15, "{profile:?} goes back at {u}");
            assert!((here.s + mirrored.s - 1.0).abs() < 1e-14, "{profile:?} at {u}");
            last = here.s;
        }
    }
}

/// The duration keeps both limits, and reaches one of them: no shorter move does.
#[test]
fn a_move_takes_the_least_time_under_its_limits() {
    for profile in [Profile::Quintic, Profile::Cycloid, Profile::Septic] {
        for (length, speed, acceleration) in [(0.5, 1.0, 2.0), (3.0, 0.7, 9.0), (0.01, 2.0, 1.0)] {
            let duration = profile.duration(length, speed, acceleration);
            let peak_speed = profile.peak_speed() * length / duration;
            let peak_acceleration = profile.peak_acceleration() * length / (duration * duration);
            let use_of_limits = (peak_speed / speed).max(peak_acceleration / acceleration);
            assert!((use_of_limits - 1.0).abs() < 1e-12, "{profile:?}: {use_of_limits}");
        }
    }
}
