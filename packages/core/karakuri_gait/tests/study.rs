//! What the study printed, computed again. Source of the numbers: [Kume 1991].

#![expect(clippy::unwrap_used, reason = "a test")]

use karakuri_gait::compensation::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct File {
    steady: Option<SteadySpec>,
    transient: Option<TransientSpec>,
}

fn file(name: &str) -> File {
    let text = match name {
        "h9" => include_str!("../../../../config/gaits/h9.yaml"),
        "h2" => include_str!("../../../../config/gaits/h2.yaml"),
        _ => include_str!("../../../../config/gaits/ah2_start.yaml"),
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
    for (factor, arm, upper) in [
        (0.1, 0.991, 48.63),
        (0.5, 4.77, 50.59),
        (1.0, 9.10, 52.84),
        (5.0, 33.36, 65.43),
        (10.0, 50.04, 74.08),
        (11.0, 52.42, 75.31),
        (14.0, 58.37, 78.40),
        (15.0, 60.03, 79.27),
        (20.0, 66.70, 82.73),
        (50.0, 83.35, 91.36),
    ] {
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
    let close = |jet: Jet, factor: f64, rate: f64, acceleration: f64| {
        let (r, a) = (jet.rate / factor, jet.acceleration / factor);
        (r - rate).abs() < 1e-4 && (a - acceleration).abs() < 1e-4
    };
    let (thigh, shank, arm) = (gait.thigh(1.0), gait.shank(1.0), gait.arm(1.0));
    assert!(close(thigh[LEFT], 0.85, -0.7045, -5.9158));
    assert!(close(thigh[RIGHT], 0.85, 0.6947, -4.3190));
    assert!(close(shank[LEFT], 0.85, 1.0238, 3.3682));
    assert!(close(shank[RIGHT], 0.85, 0.1991, 8.8129));
    assert!(close(arm[LEFT], 1.0, 0.7998, 1.1992));
    assert!(close(arm[RIGHT], 1.0, -0.8001, -1.2052));
}

/// Table 3.3, θ [rad] at each 1/30 s.
const THETA_FIXED: [f64; 31] = [
    -0.0022, -0.0244, -0.0441, -0.0615, -0.0770, -0.0905, -0.1023, -0.1125, -0.1212, -0.1285,
    -0.1345, -0.1393, -0.1430, -0.1455, -0.1470, -0.1473, -0.1466, -0.1449, -0.1420, -0.1381,
    -0.1333, -0.1273, -0.1200, -0.1113, -0.1009, -0.0885, -0.0742, -0.0582, -0.0402, -0.0202,
    0.0022,
];
const THETA_ACTIVE: [f64; 31] = [
    -0.0021, -0.0236, -0.0427, -0.0596, -0.0746, -0.0878, -0.0993, -0.1092, -0.1177, -0.1248,
    -0.1307, -0.1355, -0.1391, -0.1417, -0.1432, -0.1436, -0.1430, -0.1413, -0.1385, -0.1347,
    -0.1299, -0.1240, -0.1169, -0.1083, -0.0982, -0.0861, -0.0721, -0.0565, -0.0402, -0.0196,
    0.0021,
];
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
        for (arms, table) in [(Arms::Fixed, &THETA_FIXED), (Arms::Active, &THETA_ACTIVE)] {
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

/// Any start leads to the same motion, in one call.
#[test]
fn any_start_will_do() {
    let (body, gait) = (BodyData::default(), steady("h9"));
    for arms in [Arms::Fixed, Arms::Active] {
        let reference = solve(&body, &gait, arms).states[0];
        let e = Equation { body: &body, gait: &gait, arms };
        let quick = PeriodicOptions { substeps: 1, ..PeriodicOptions::default() };
        for (phi, rate, sway) in
            [(0.1, 2.0, 0.0), (0.1, -2.0, 0.0), (0.8, 5.0, 3.0), (-0.8, -8.0, -3.0)]
        {
            let start = state([0.0, phi], [sway, rate], [[0.0; 2]; 2]);
            let p = find_periodic(&e, &start, &quick).unwrap();
            assert!((p.states[0] - reference).amax() < 1e-4, "{start}");
        }
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
    let in_box =
        |c: Coefficients| (-0.155..=-0.135).contains(&c.sway) && (1.53..=1.55).contains(&c.pitch);
    // Published: 64 and 22190 stable points.
    for (grid, least, most) in [
        (SurveyGrid { sway: [-10.0, 10.0, 0.1], pitch: [-10.0, 10.0, 0.1] }, 50, 100),
        (SurveyGrid { sway: [-0.2, 0.1, 0.005], pitch: [0.0, 3.3, 0.005] }, 20_000, 30_000),
    ] {
        let stable = start.survey(&grid, &|| true);
        assert!((least..most).contains(&stable.len()), "{}", stable.len());
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
