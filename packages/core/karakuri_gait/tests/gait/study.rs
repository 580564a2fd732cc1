//! What the study printed, computed again. Source of the numbers: [Kume 1991].

#![expect(clippy::unwrap_used, reason = "a test")]

use karakuri_gait::compensation::*;
use karakuri_gait::geometry::Rectangle;
use serde::Deserialize;

#[derive(Deserialize)]
struct File {
    steady: Option<SteadySpec>,
    #[serde(default)]
    starts: Vec<[f64; 4]>,
    transient: Option<TransientSpec>,
}

fn file(name: &str) -> File {
    let text = match name {
        "h9" => include_str!("../../../../../config/gaits/h9.yaml"),
        "h2" => include_str!("../../../../../config/gaits/h2.yaml"),
        "stop" => include_str!("../../../../../config/gaits/h2_stop.yaml"),
        _ => include_str!("../../../../../config/gaits/ah2_start.yaml"),
    };
    serde_yaml::from_str(text).unwrap()
}

fn steady(name: &str) -> SteadyGait {
    SteadyGait::new(&file(name).steady.unwrap()).unwrap()
}

fn solve(body: &BodyData, gait: &SteadyGait, arms: Arms) -> Periodic {
    let e = Equation { body, gait, arms };
    find_periodic(&e, &State::zeros(), &PeriodicOptions::default()).unwrap()
}

/// Table 3.2: arm mass and upper body mass in percent against the factor.
#[test]
fn mass_ratios_are_those_of_table_3_2() {
    for [factor, arm, upper] in published::MASS_RATIOS {
        let body = BodyData::default().with_arm_factor(factor);
        let (a, u) =
            (100.0 * body.arm_mass() / body.mass(), 100.0 * body.upper_body_mass() / body.mass());
        assert!((a - arm).abs() < 0.02 && (u - upper).abs() < 0.02, "{factor}: {a} {u}");
    }
}

/// Fig B-1: rates and accelerations of the H2 splines at samples 25 (left) and 55 (right), before the factor.
#[test]
fn spline_ends_are_those_of_figure_b_1() {
    let gait = steady("h2");
    let (thigh, shank, arm) = (gait.thigh(1.0), gait.shank(1.0), gait.arm(1.0));
    let jets = [thigh[LEFT], thigh[RIGHT], shank[LEFT], shank[RIGHT], arm[LEFT], arm[RIGHT]];
    for (i, (jet, [rate, acceleration])) in jets.iter().zip(published::SPLINE_ENDS).enumerate() {
        let factor = if i < 4 { 0.85 } else { 1.0 };
        let (r, a) = (jet.rate / factor, jet.acceleration / factor);
        assert!((r - rate).abs() < 1e-4 && (a - acceleration).abs() < 1e-4, "{i}: {r} {a}");
    }
}

fn rms(p: &Periodic, index: usize, table: &[f64; 31]) -> f64 {
    let sum: f64 = p.states.iter().zip(table).map(|(s, t)| (s[index] - t).powi(2)).sum();
    (sum / 31.0).sqrt()
}

/// Table 3.3 with gait H9 and D = 0.17: θ within 0.006 rad rms.
#[test]
fn sway_is_that_of_table_3_3() {
    let mut body = BodyData::default();
    body.lengths.half_pelvis_width = 0.17;
    for gait in ["h9", "h2"] {
        for (arms, table) in
            [(Arms::Fixed, &published::FIXED_SWAY), (Arms::Active, &published::ACTIVE_SWAY)]
        {
            let p = solve(&body, &steady(gait), arms);
            let t = rms(&p, 0, table);
            assert!(t < 0.006, "{gait} {arms:?}: {t}");
        }
    }
}

fn phi_range(p: &Periodic) -> f64 {
    let phi = || p.states.iter().map(|s| s[1]);
    phi().fold(f64::MIN, f64::max) - phi().fold(f64::MAX, f64::min)
}

/// Fig 3.9: passive arms increase the amplitude of φ, active ones reduce it.
#[test]
fn passive_arms_increase_the_pitch() {
    let body = BodyData::default();
    let gait = steady("h9");
    let [fixed, active, passive] = [Arms::Fixed, Arms::Active, Arms::Passive]
        .map(|arms| phi_range(&solve(&body, &gait, arms)));
    assert!(passive > fixed && active < fixed, "fixed {fixed}, active {active}, passive {passive}");
}

/// Fig 3.9: arms that both go forward as the trunk leans forward reduce its motion.
#[test]
fn arms_that_move_with_the_trunk_reduce_the_pitch() {
    let body = BodyData::default();
    let spec = file("h9").steady.unwrap();
    let fixed = solve(&body, &steady("h9"), Arms::Fixed);
    let range = |gain: f64| {
        // Both arms do the same in every step: samples 30 apart are equal. Negative is forward.
        let value = |k: u32| gain * fixed.states[((k + 60 - spec.stance_sample) % 30) as usize][1];
        let arm: Samples = (1..=61).map(|k| (k, value(k))).collect();
        let gait = SteadyGait::new(&SteadySpec { arm, arm_factor: 1.0, ..spec.clone() }).unwrap();
        phi_range(&solve(&body, &gait, Arms::Active))
    };
    let (forward, backward, still) = (range(-2.0), range(2.0), phi_range(&fixed));
    assert!(forward < 0.8 * still && backward > still, "{forward} {backward} {still}");
}

/// The boundary-value solver and the study's search end in the same motion.
#[test]
fn both_solvers_agree() {
    let (body, gait) = (BodyData::default(), steady("h2"));
    for arms in [Arms::Fixed, Arms::Active, Arms::Passive] {
        let e = Equation { body: &body, gait: &gait, arms };
        let p = solve(&body, &gait, arms);
        let near = p.states[0].map(|x| (x * 50.0).round() / 50.0);
        let s = Search::from_start(&e, &near, &SearchOptions::default()).unwrap();
        let gap = (s.start - p.states[0]).amax();
        assert!(s.converged && gap < 5e-3, "{arms:?} {gap}");
    }
}

/// The ZMP of the solved motion is the prescribed one, between the grid points as well.
#[test]
fn zmp_follows_the_prescribed_path() {
    let (body, gait) = (BodyData::default(), steady("h2"));
    for arms in [Arms::Fixed, Arms::Active, Arms::Passive] {
        let motion = solve(&body, &gait, arms).motion;
        let worst = (0..=1000).fold(0.0_f64, |worst, i| {
            let s = motion.sample(&body, f64::from(i) / 1000.0);
            let zmp = s.reaction.zmp();
            worst.max((zmp[0] - s.zmp[0]).abs()).max((zmp[1] - s.zmp[1]).abs())
        });
        assert!(worst < 1e-6, "{arms:?} {worst}");
    }
}

/// Table 3.5 and the final box: cT -0.155..-0.135, cP 1.53..1.55.
#[test]
fn start_survey() {
    let start =
        Transient::new(&file("ah2_start").transient.unwrap(), &BodyData::default()).unwrap();
    // Box of the final survey: cT, cP. [rad/s³]
    let [sway, pitch] = [[-0.155, -0.135], [1.53, 1.55]];
    let in_box = |c: Coefficients| {
        (sway[0]..=sway[1]).contains(&c.sway) && (pitch[0]..=pitch[1]).contains(&c.pitch)
    };
    // The coarsest survey's 36 points stand for an area fifty times that of the other two.
    for (sway, pitch, count) in published::START_SURVEYS.into_iter().skip(1) {
        let grid = SurveyGrid { sway, pitch };
        let (least, most) = (count * 7 / 10, count * 3 / 2);
        let stable = start.survey(&grid, &|| true);
        assert!((least..most).contains(&stable.len()), "{grid:?}: {}", stable.len());
        if stable.len() > 1000 {
            let cost = |p: &&SurveyPoint| p.verdict.off_center;
            let best = stable.iter().min_by(|a, b| cost(a).total_cmp(&cost(b))).unwrap();
            assert!(in_box(best.coefficients), "{best:?}");
        }
    }
    let widest = start.maximize_margin(&OptimizeOptions::default());
    let best = start.minimize_off_center(&OptimizeOptions::default());
    assert!(widest.verdict.margin > 0.01 && widest.verdict.margin > best.verdict.margin);
    assert!(in_box(best.coefficients), "{best:?}");
}

/// A stop begins as the steady motion does, ends at rest, and its joints have no jump.
#[test]
fn a_stop_goes_from_the_steady_motion_to_rest() {
    let (body, gait) = (BodyData::default(), steady("h2"));
    let stop = Transient::new(&file("stop").transient.unwrap(), &body).unwrap();
    for coefficients in [[-1.41, 23.94], [3.0, -7.0]] {
        let [sway, pitch] = coefficients;
        let compensation = stop.compensation(Coefficients { sway, pitch });
        let (first, last) = (stop.posture(&compensation, 0.0), stop.posture(&compensation, 1.0));
        let [theta, phi, theta_rate, phi_rate] = file("stop").transient.unwrap().steady;
        let gaps = [
            first.sway.value - theta,
            first.pitch.value - phi,
            first.sway.rate - theta_rate,
            first.pitch.rate - phi_rate,
        ];
        assert!(gaps.iter().all(|gap| gap.abs() < 1e-12), "{gaps:?}");
        let still = |jet: Jet| jet.value.abs() + jet.rate.abs() + jet.acceleration.abs();
        assert!(still(last.sway) < 1e-9 && still(last.pitch) < 1e-9, "{last:?}");
        for side in [LEFT, RIGHT] {
            for (is, was) in [
                (first.thigh[side], gait.thigh(0.0)[side]),
                (first.shank[side], gait.shank(0.0)[side]),
                (first.arm[side], gait.arm(0.0)[side]),
            ] {
                let gap = [is.value - was.value, is.rate - was.rate];
                assert!(gap.iter().all(|x| x.abs() < 1e-3), "{side}: {is:?} {was:?}");
                assert!((is.acceleration - was.acceleration).abs() < 1e-3, "{is:?} {was:?}");
            }
            for jet in [last.thigh[side], last.shank[side], last.arm[side]] {
                assert!(still(jet) < 1e-9, "{jet:?}");
            }
        }
    }
}

/// Table 3.8's final survey is of cT -1.42 to -1.40; θ does not hang on the samples that it does not print.
/// The best stop is stable, better than its neighbours, and its margin is the least distance of its ZMP to the edge of where it may be.
#[test]
fn a_stop_is_found() {
    let spec = file("stop").transient.unwrap();
    let stop = Transient::new(&spec, &BodyData::default()).unwrap();
    let widest = stop.maximize_margin(&OptimizeOptions::default());
    let best = stop.minimize_off_center(&OptimizeOptions::default());
    assert!(widest.verdict.margin > best.verdict.margin && best.verdict.is_stable(), "{best:?}");
    assert!((best.coefficients.sway + 1.41).abs() < 0.03, "{best:?}");
    let inside = |[x, y]: [f64; 2], r: &Rectangle| {
        (x - r.x[0]).min(r.x[1] - x).min(y - r.y[0]).min(r.y[1] - y)
    };
    let both = spec.double_support.unwrap();
    let margin = stop
        .zmp_path(widest.coefficients)
        .iter()
        .map(|(t, zmp, _)| {
            inside(*zmp, if *t < spec.motion - 1e-9 { &spec.single_support } else { &both })
        })
        .fold(f64::INFINITY, f64::min);
    assert!((margin - widest.verdict.margin).abs() < 1e-12, "{margin} {widest:?}");
    for [sway, pitch] in [[0.05, 0.0], [-0.05, 0.0], [0.0, 0.5], [0.0, -0.5]] {
        let c = best.coefficients;
        let near = Coefficients { sway: c.sway + sway, pitch: c.pitch + pitch };
        let verdict = stop.verdict(near);
        let is_worse = !verdict.is_stable() || verdict.off_center > best.verdict.off_center;
        assert!(is_worse, "{near:?}: {verdict:?}");
    }
}

/// The study's integration: order 4 or better where the motion is smooth. Legs and ZMP stand still: at the knots of splines and at
/// corners of the ZMP's path derivatives jump, which leaves order 2.
#[test]
fn the_march_converges_as_its_order_says() {
    let body = BodyData::default();
    let level = |value: f64| Samples::from([(1, value), (31, value)]);
    let zmp = ZmpSpec { x: level(0.02), y: level(0.0), smoothed: false };
    let spec = SteadySpec { leg_factor: 0.0, zmp, ..file("h2").steady.unwrap() };
    let gait = SteadyGait::new(&spec).unwrap();
    let e = Equation { body: &body, gait: &gait, arms: Arms::Passive };
    let start = state([0.02, 0.05], [-0.3, 0.2], [[0.3, 0.1], [1.0, -2.0]]);
    let exact = march_in(&e, &start, 1920).unwrap().end();
    let error = |steps: usize| (march_in(&e, &start, steps).unwrap().end() - exact).amax();
    let errors = [60, 120, 240].map(error);
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((3.7..6.0).contains(&order), "order {order} of {errors:?}");
    }
}

/// The study's own march and search end in the motion of the boundary value problem as nearly as 30 intervals say: doubling them quarters
/// the gap, for accelerations have corners at the knots of splines. (H9 has a knot each 1/30 s: 0.15 rad/s at 30 intervals.)
#[test]
fn the_march_finds_the_motion_of_the_boundary_value_problem() {
    let body = BodyData::default();
    for (name, finest) in [("h2", 1e-4), ("h9", 3e-3)] {
        let gait = steady(name);
        for arms in [Arms::Fixed, Arms::Active, Arms::Passive] {
            let e = Equation { body: &body, gait: &gait, arms };
            let exact = solve(&body, &gait, arms).states[0];
            let gaps = [30, 60, 120, 240].map(|intervals| {
                let options = SearchOptions { intervals, ..Default::default() };
                let search = Search::from_start(&e, &exact, &options).unwrap();
                assert!(search.converged, "{name} {arms:?} {intervals}: {search:?}");
                (search.start - exact).amax()
            });
            let ratios = || gaps.windows(2).map(|pair| pair[0] / pair[1]);
            assert!(
                gaps[3] < finest && ratios().all(|r| (3.5..5.2).contains(&r)),
                "{name} {gaps:?}"
            );
        }
    }
}

/// From the study's list of nine starts: most are abnormal, as it says of starts whose rates are wrong; those that converge agree.
#[test]
fn of_the_nine_starts_some_lead_to_the_motion() {
    let (body, h9) = (BodyData::default(), file("h9"));
    let gait = SteadyGait::new(&h9.steady.unwrap()).unwrap();
    let e = Equation { body: &body, gait: &gait, arms: Arms::Active };
    let search = |s: &State| Search::from_start(&e, s, &SearchOptions::default());
    let found: Vec<_> = h9
        .starts
        .iter()
        .map(|[angle, pitch, rate, pitch_rate]| {
            search(&state([*angle, *pitch], [*rate, *pitch_rate], [[0.0; 2]; 2]))
        })
        .collect();
    assert_eq!(found.len(), 9);
    let good: Vec<_> = found.iter().flatten().filter(|s| s.converged).collect();
    assert!(good.len() == 2 && found.iter().filter(|s| s.is_err()).count() == 7, "{found:?}");
    assert!((good[0].start - good[1].start).amax() < 1e-6);
    assert!(good.iter().all(|s| s.local_iterations > 0 && s.iterations > s.local_iterations));
}
