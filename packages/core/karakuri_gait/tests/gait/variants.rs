//! What the study has beside its main tables: shifted waist and ZMP, a pitched foot, point masses; stops and smoothed starts.

#![expect(clippy::unwrap_used, reason = "a test")]

use karakuri_gait::compensation::*;
use karakuri_gait::geometry::Rectangle;
use serde::Deserialize;

#[derive(Deserialize)]
struct File {
    steady: Option<SteadySpec>,
    transient: Option<TransientSpec>,
}

fn file(name: &str) -> File {
    let text = match name {
        "h9" => include_str!("../../../../../config/gaits/h9.yaml"),
        "stop" => include_str!("../../../../../config/gaits/h2_stop.yaml"),
        _ => include_str!("../../../../../config/gaits/ah9_start.yaml"),
    };
    serde_yaml::from_str(text).unwrap()
}

fn h9() -> SteadyGait {
    SteadyGait::new(&file("h9").steady.unwrap()).unwrap()
}

fn solve(body: &BodyData, gait: &SteadyGait) -> Periodic {
    let e = Equation { body, gait, arms: Arms::Active };
    find_main_family(&e, &PeriodicOptions::default()).unwrap()
}

/// The ZMP is the prescribed one everywhere. [m]
fn follows(body: &BodyData, motion: &GaitMotion) {
    for i in 0..=300 {
        let s = motion.sample(body, f64::from(i) / 300.0);
        let zmp = s.reaction.zmp();
        let gap = (zmp[0] - s.zmp[0]).abs().max((zmp[1] - s.zmp[1]).abs());
        assert!(gap < 2e-6, "{gap} m at {} s", s.time);
    }
}

fn mean_pitch(p: &Periodic) -> f64 {
    p.states.iter().take(30).map(|s| s[1]).sum::<f64>() / 30.0
}

/// Value, rate and acceleration agree with differences of the value.
fn is_consistent(at: &dyn Fn(f64) -> Jet, t: f64) {
    let h = 1e-4;
    let [a, b, c] = [t - h, t, t + h].map(at);
    let (rate, acceleration) = ((c.value - a.value) / (2.0 * h), (c.rate - a.rate) / (2.0 * h));
    let close = |x: f64, y: f64| (x - y).abs() < 1e-3 * (1.0 + y.abs());
    assert!(close(rate, b.rate) && close(acceleration, b.acceleration), "{t}: {a:?} {b:?} {c:?}");
}

/// A waist that is shifted leaves both ankles where they were and moves the hips by the shift.
#[test]
fn a_shifted_waist_keeps_the_ankles() {
    let body = BodyData::default();
    let (gait, shift) = (h9(), [0.03, -0.02]);
    let shifted = gait.with_waist_shift(shift, &body.lengths).unwrap();
    let posture = |gait: &SteadyGait, t: f64| {
        let e = Equation { body: &body, gait, arms: Arms::Active };
        let s = state([0.0, 0.1], [0.0, 0.0], [[0.0; 2]; 2]);
        skeleton(&body, &e.posture(t, &s, &[0.0; 4]))
    };
    for i in 0..100 {
        let t = 0.005 + 0.01 * f64::from(i);
        let (was, is) = (posture(&gait, t), posture(&shifted, t));
        for side in [LEFT, RIGHT] {
            let (a, b) = (was.ankle[side].position(), is.ankle[side].position());
            let (from, to) = (was.hip[side].position(), is.hip[side].position());
            for axis in 0..3 {
                let moved = [shift[0], 0.0, shift[1]][axis];
                assert!((a[axis] - b[axis]).abs() < 1e-12, "{t}");
                assert!((to[axis] - from[axis] - moved).abs() < 1e-12, "{t}");
            }
            // The knee is in front.
            assert!(shifted.shank(t)[side].value > shifted.thigh(t)[side].value);
            is_consistent(&|t| shifted.thigh(t)[side], t);
            is_consistent(&|t| shifted.shank(t)[side], t);
        }
    }
    let motion = solve(&body, &shifted);
    follows(&body, &motion.motion);
    let lowered = solve(&body, &gait.with_waist_shift([0.0, -0.02], &body.lengths).unwrap());
    assert!(mean_pitch(&motion) < mean_pitch(&lowered) - 0.02, "waist forward, trunk back");
    match gait.with_waist_shift([0.0, 0.05], &body.lengths) {
        Err(error @ GaitError::Reach { .. }) => {
            assert!(error.to_string().contains("a leg is too short by"), "{error}");
        }
        other => panic!("{other:?}"),
    }
}

/// Conclusions 6, 8 and 10: the trunk goes with the ZMP, a narrow pelvis sways less, neither touches the other plane much.
#[test]
fn the_motion_follows_zmp_and_pelvis() {
    let body = BodyData::default();
    let plain = solve(&body, &h9());
    let forward = solve(&body, &h9().with_zmp_shift([0.02, 0.0]));
    follows(&body, &forward.motion);
    assert!(mean_pitch(&forward) > mean_pitch(&plain) + 0.02);
    let gap = |p: &Periodic, i: usize| {
        let both = p.states.iter().zip(&plain.states);
        both.map(|(a, b)| (a[i] - b[i]).abs()).fold(0.0, f64::max)
    };
    assert!(gap(&forward, 0) < 1e-3);
    let mut narrow = body;
    narrow.lengths.half_pelvis_width = 0.065;
    let narrow = solve(&narrow, &h9());
    let sway = |p: &Periodic| p.states.iter().map(|s| s[0].abs()).fold(0.0, f64::max);
    assert!(sway(&narrow) < 0.8 * sway(&plain) && gap(&narrow, 1) < 5e-3);
}

/// The swinging foot turns about its ankle; what that asks of the floor is in the equations.
#[test]
fn a_pitched_foot_turns_about_its_ankle() {
    let body = BodyData::default();
    let spec = |foot: &[(u32, f64)]| SteadySpec {
        foot: foot.iter().copied().collect(),
        ..file("h9").steady.unwrap()
    };
    let gait =
        SteadyGait::new(&spec(&[(1, 0.0), (25, 0.0), (34, 0.3), (55, 0.0), (61, 0.0)])).unwrap();
    let motion = solve(&body, &gait).motion;
    follows(&body, &motion);
    for i in 1..60 {
        let t = f64::from(i) / 60.0;
        let posture = motion.posture(t);
        let (bodies, s) = BodyMotion::all(&body, &posture);
        let (pitch, foot, ankle) = (posture.foot, bodies[10], s.ankle[RIGHT]);
        let expected = body.foot.inertia[1] * pitch.acceleration;
        assert!(
            (foot.momentum_rate[1] - expected).abs() < 1e-12 && foot.momentum_rate[0].abs() < 1e-15
        );
        let h = body.lengths.foot_to_ankle;
        let gaps = [
            foot.center.x.value - ankle.x.value + h * pitch.value.sin(),
            foot.center.z.value - ankle.z.value + h * pitch.value.cos(),
        ];
        assert!(gaps.iter().all(|gap| gap.abs() < 1e-12), "{gaps:?}");
    }
    match SteadyGait::new(&spec(&[(1, 0.0), (25, 0.1), (34, 0.3), (61, 0.0)])) {
        Err(GaitError::Foot { sample: 25, pitch }) => assert!((pitch - 0.1).abs() < 1e-12),
        other => panic!("{other:?}"),
    }
}

/// No moments of inertia: nothing turns the sum of forces and weights, and the ZMP is still followed.
#[test]
fn point_masses_have_no_moment_of_their_own() {
    let body = BodyData::default().as_point_masses();
    let motion = solve(&body, &h9()).motion;
    follows(&body, &motion);
    let (bodies, _) = BodyMotion::all(&body, &motion.posture(0.4));
    assert!(bodies.iter().all(|b| b.momentum_rate.iter().all(|m| m.abs() < 1e-15)));
    let whole = BodyData::default();
    assert!((body.mass() - whole.mass()).abs() < 1e-12);
    let gap = motion.posture(0.0).pitch.rate - solve(&whole, &h9()).states[0][5];
    assert!(gap.abs() > 0.05, "inertia counts: {gap} rad/s");
}

fn count(spec: &TransientSpec, grid: &SurveyGrid, region: Rectangle, right: f64) -> usize {
    let both = Rectangle { x: region.x, y: [right, region.y[1]] };
    let spec = TransientSpec { single_support: region, double_support: Some(both), ..spec.clone() };
    Transient::new(&spec, &BodyData::default()).unwrap().survey(grid, &|| true).len()
}

const COARSE: SurveyGrid = SurveyGrid { sway: published::COARSE, pitch: published::COARSE };

/// Table 3.7 with samples of our own: within a tenth where the motion takes 0.5 s, none at 0.3 s; table 3.8's second row within a quarter.
#[test]
fn stops_are_as_many_as_printed() {
    let stop = file("stop").transient.unwrap();
    let wide = |motion: f64, standstill: f64| {
        let spec = stop.with_times(motion, standstill);
        count(&spec, &COARSE, published::REGIONS[1], published::FIRST_RIGHT_EDGE)
    };
    let (motion, printed, _) = published::STOPS[1];
    for (standstill, printed) in [0.5, 1.0].into_iter().zip(printed) {
        let n = wide(motion, standstill);
        assert!(n.abs_diff(printed) * 10 <= printed, "{standstill} s: {n}, printed {printed}");
    }
    assert_eq!(wide(0.3, 0.5), 0);
    let (sway, pitch, printed) = published::STOP_SURVEYS[1];
    let n = count(&stop, &SurveyGrid { sway, pitch }, published::REGIONS[0], -0.10);
    assert!(n.abs_diff(printed) * 4 <= printed, "{n}, printed {printed}");
}

/// Table 3.4: no start with less than a second of standstill; of degree 4 none either, whichever coefficient is given.
#[test]
fn smoothed_starts_need_a_standstill() {
    let start = file("start").transient.unwrap();
    let region = published::REGIONS[1];
    for interpolation in [Interpolation::Smoothed, Interpolation::Linear] {
        let of = |standstill: f64, degree: Degree| {
            let spec = TransientSpec { interpolation, degree, ..start.with_times(1.0, standstill) };
            count(&spec, &COARSE, region, published::FIRST_RIGHT_EDGE)
        };
        assert_eq!([of(0.0, Degree::Five), of(0.0, Degree::Four), of(0.5, Degree::Five)], [0; 3]);
        assert!((1..10).contains(&of(1.5, Degree::Five)), "{interpolation:?}");
    }
}

/// Other times: samples of the motion go with it, those of the standstill fill it, and the same times change nothing that counts.
#[test]
fn times_of_a_transient_are_changed() {
    let start = file("start").transient.unwrap();
    let longer = start.with_times(1.0, 1.5);
    let expected = [1, 6, 11, 16, 21, 26, 31, 36, 41, 46, 66, 76];
    assert!(
        longer.thigh.right.samples.keys().eq(expected.iter()),
        "{:?}",
        longer.thigh.right.samples
    );
    assert!((longer.thigh.right.samples[&66] + 0.5).abs() < 1e-15);
    let stop = file("stop").transient.unwrap();
    assert_eq!(stop.with_times(stop.motion, stop.standstill), stop);
    let quick = stop.with_times(0.4, 0.2);
    assert!(quick.thigh.left.samples.keys().eq([1, 13, 18, 19].iter()));
}
