//! Periodic motions from any start: gaits H2 and H9, all kinds of arms, light and heavy ones.

#![expect(clippy::unwrap_used, reason = "a test")]

use core::f64::consts::FRAC_PI_2;

use karakuri_gait::compensation::*;
use karakuri_testkit::Random;
use serde::Deserialize;

#[derive(Deserialize)]
struct File {
    steady: SteadySpec,
}

fn spec(name: &str) -> SteadySpec {
    let text = match name {
        "h9" => include_str!("../../../../../config/gaits/h9.yaml"),
        _ => include_str!("../../../../../config/gaits/h2.yaml"),
    };
    serde_yaml::from_str::<File>(text).unwrap().steady
}

fn gait(name: &str) -> SteadyGait {
    SteadyGait::new(&spec(name)).unwrap()
}

/// One Runge-Kutta step an interval: enough to tell motions apart.
fn quick() -> PeriodicOptions {
    PeriodicOptions { substeps: 1, ..PeriodicOptions::default() }
}

/// Angles up to 0.8 rad (arms 2.4), rates up to 4 rad/s (arms 10).
fn random_start(random: &mut Random, arms: Arms) -> State {
    let largest = if arms == Arms::Passive {
        [0.3, 0.8, 2.4, 2.4, 1.5, 4.0, 10.0, 10.0]
    } else {
        [0.3, 0.8, 0.0, 0.0, 4.0, 8.0, 0.0, 0.0]
    };
    State::from(largest.map(|size| random.uniform(-size, size)))
}

/// Fixed and active arms: one motion, from wherever one starts.
#[test]
fn any_start_leads_to_the_one_motion() {
    let mut random = Random::new(1);
    for name in ["h2", "h9"] {
        let gait = gait(name);
        for arms in [Arms::Fixed, Arms::Active] {
            for factor in [20.0] {
                let body = BodyData::default().with_arm_factor(factor);
                let e = Equation { body: &body, gait: &gait, arms };
                let main = find_main_family(&e, &quick()).unwrap().states[0];
                for _ in 0..20 {
                    let start = random_start(&mut random, arms);
                    let found = find_periodic(&e, &start, &quick()).unwrap();
                    let gap = (found.states[0] - main).amax();
                    assert!(gap < 1e-8, "{name} {arms:?} {factor}: {gap} from {start}");
                }
            }
        }
    }
}

/// Passive arms: every start leads to a motion that repeats, mirrored, when it is integrated again in one go.
#[test]
fn any_start_leads_to_a_motion_that_repeats() {
    let mut random = Random::new(2);
    let mut of_main = 0;
    for name in ["h2", "h9"] {
        let gait = gait(name);
        for factor in [1.0, 20.0] {
            let body = BodyData::default().with_arm_factor(factor);
            let e = Equation { body: &body, gait: &gait, arms: Arms::Passive };
            let main = find_main_family(&e, &quick()).unwrap().states[0];
            for _ in 0..20 {
                let start = random_start(&mut random, Arms::Passive);
                let found = find_periodic(&e, &start, &quick()).unwrap();
                let end = runge_kutta(&e, &found.states[0]);
                let gap = (end - eta(&found.states[0])).amax();
                assert!(gap < 1e-6, "{name} {factor}: {gap} from {start}");
                of_main += usize::from((found.states[0] - main).amax() < 1e-6);
            }
        }
    }
    assert!(of_main > 20, "{of_main} of 80 on the main family");
}

/// One step in 30 Runge-Kutta steps.
fn runge_kutta(e: &Equation<'_>, start: &State) -> State {
    let h = 1.0 / 30.0;
    (0..30).fold(*start, |s, i| {
        let t = f64::from(i) * h;
        let k1 = e.derivative(t, &s).unwrap();
        let k2 = e.derivative(t + h / 2.0, &(s + k1 * (h / 2.0))).unwrap();
        let k3 = e.derivative(t + h / 2.0, &(s + k2 * (h / 2.0))).unwrap();
        let k4 = e.derivative(t + h, &(s + k3 * h)).unwrap();
        s + (k1 + (k2 + k3) * 2.0 + k4) * (h / 6.0)
    })
}

fn largest_arm(p: &Periodic) -> f64 {
    p.states.iter().map(|s| s[2].abs().max(s[3].abs())).fold(0.0, f64::max)
}

/// The main family has its arms hanging, swinging together and in the trunk's sense, further the heavier they are; the study's own
/// search, from nearby, ends in the same motion.
#[test]
fn the_main_family_goes_through_all_masses() {
    for name in ["h2", "h9"] {
        let gait = gait(name);
        let mut rate = 0.0;
        for factor in [0.1, 1.0, 5.0, 20.0, 50.0] {
            let body = BodyData::default().with_arm_factor(factor);
            let e = Equation { body: &body, gait: &gait, arms: Arms::Passive };
            let main = find_main_family(&e, &quick()).unwrap();
            let s = main.states[0];
            assert!(
                (s[2] - s[3]).abs() < 1e-7 && (s[6] - s[7]).abs() < 1e-7,
                "{name} {factor} {s}"
            );
            assert!(
                s[6] > rate && s[5] > 0.0 && largest_arm(&main) < FRAC_PI_2,
                "{name} {factor} {s}"
            );
            rate = s[6];
            if name == "h9" {
                continue; // its accelerations have corners each 1/30 s, which cost the study's multistep method 0.1 rad/s
            }
            let near = s.map(|x| (x * 50.0).round() / 50.0);
            let search = Search::from_start(&e, &near, &SearchOptions::default()).unwrap();
            let gap = (search.start - s).amax();
            assert!(search.converged && gap < 0.02, "{factor} {gap}");
        }
    }
}

/// Legs that do too much: how much is possible does not hang on how much was asked for.
#[test]
fn legs_beyond_the_turning_point_are_reported() {
    let body = BodyData::default();
    let most = |leg_factor: f64| {
        let gait = SteadyGait::new(&SteadySpec { leg_factor, ..spec("h2") }).unwrap();
        let e = Equation { body: &body, gait: &gait, arms: Arms::Fixed };
        match find_periodic(&e, &State::zeros(), &quick()) {
            Err(PeriodicError::LegsTooFar { part }) => part * leg_factor,
            other => panic!("{leg_factor}: {other:?}"),
        }
    };
    let (some, more) = (most(2.2), most(3.0));
    assert!((some - more).abs() < 0.01 && some > 1.8, "{some} {more}");
    // Just below it, where Newton's method fails with light arms from the upright posture, growing legs get there.
    let gait = SteadyGait::new(&SteadySpec { leg_factor: 1.75, ..spec("h2") }).unwrap();
    let heavy = body.with_arm_factor(50.0);
    let e = Equation { body: &heavy, gait: &gait, arms: Arms::Passive };
    let found = find_main_family(&e, &quick()).unwrap();
    assert!(found.residual < 1e-8 && found.states[0][6] > 0.0, "{}", found.states[0]);
}
