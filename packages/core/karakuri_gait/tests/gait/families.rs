//! Families of periodic motions with passive arms.

#![expect(clippy::unwrap_used, reason = "a test")]

use core::f64::consts::FRAC_PI_2;

use karakuri_gait::compensation::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct File {
    steady: SteadySpec,
}

fn gait(text: &str) -> SteadyGait {
    SteadyGait::new(&serde_yaml::from_str::<File>(text).unwrap().steady).unwrap()
}

fn families(gait: &SteadyGait) -> Vec<Family> {
    let options = ContinuationOptions { factors: [0.1, 200.0], ..ContinuationOptions::default() };
    find_families(&BodyData::default(), gait, &[50.0], &options)
}

fn of(families: &[Family], kind: FamilyKind) -> &Family {
    families.iter().find(|f| f.kind == kind).unwrap()
}

/// The families of table 3.2, and what the study says about each of them.
#[test]
fn all_families_of_the_study_are_found() {
    for text in [
        include_str!("../../../../../config/gaits/h9.yaml"),
        include_str!("../../../../../config/gaits/h2.yaml"),
    ] {
        let gait = gait(text);
        let found = families(&gait);
        let [a, b, cl, cr, d] =
            [FamilyKind::A, FamilyKind::B, FamilyKind::CL, FamilyKind::CR, FamilyKind::D]
                .map(|kind| of(&found, kind));
        every_point_is_a_solution(&gait, &found);

        let arms = |s: &State| [s[6], s[7]];
        let ends = |f: &Family| [f.points[0], f.points[f.points.len() - 1]].map(|p| arms(&p.start));
        // A: together, with the trunk, growing; from the lightest arms on.
        assert!(a.points[0].factor < 0.2);
        let rates = a.points.iter().map(|p| p.start[6]);
        assert!(rates.clone().all(|rate| rate > 0.0));
        assert!(rates.is_sorted_by(|x, y| x < y));
        // B and D: together, opposite; they begin as one, B shrinks, D grows.
        let ([[b0, _], [b1, _]], [[d0, _], [d1, _]]) = (ends(b), ends(d));
        assert!((b.points[0].factor / d.points[0].factor - 1.0).abs() < 0.01);
        assert!(b0 < b1 && b1 < 0.0 && d1 < d0 && d0 < 0.0, "{b0} {b1}, {d0} {d1}");
        // CL and CR: in the same sense, unequal, nearly mirror images; they branch off A.
        let first = &cl.points[0];
        let on_a = a.at(first.factor).unwrap();
        assert!((on_a - first.start).amax() < 0.1, "{}", on_a - first.start);
        let factor = ends_at(cl).min(ends_at(cr));
        let (l, r) = (arms(&cl.at(factor).unwrap()), arms(&cr.at(factor).unwrap()));
        assert!(l[0] > l[1] + 0.1 && l[1] > 0.0 && r[1] > r[0] + 0.1 && r[0] > 0.0, "{l:?} {r:?}");
        assert!((l[0] - r[1]).abs() < 0.1 && (l[1] - r[0]).abs() < 0.1, "{l:?} {r:?}");
    }
}

/// Greatest factor. [-]
fn ends_at(family: &Family) -> f64 {
    family.points[family.points.len() - 1].factor
}

/// Each fifth point: a start from there is a periodic motion at once, and stays below the horizontal.
fn every_point_is_a_solution(gait: &SteadyGait, families: &[Family]) {
    let quick = PeriodicOptions { substeps: 1, ..PeriodicOptions::default() };
    for family in families {
        for point in family.points.iter().step_by(5) {
            let body = BodyData::default().with_arm_factor(point.factor);
            let e = Equation { body: &body, gait, arms: Arms::Passive };
            let found = find_periodic(&e, &point.start, &quick).unwrap();
            let gap = point.distance(&found.states[0]);
            assert!(gap < 1e-4, "{:?} {}: {gap}", family.kind, point.factor);
            let arm = found.states.iter().map(|s| s[2].abs().max(s[3].abs())).fold(0.0, f64::max);
            assert!(arm < FRAC_PI_2, "{:?} {}: {arm}", family.kind, point.factor);
        }
    }
}

/// The step along a branch does not decide what is found.
#[test]
fn crossings_and_turns_do_not_hang_on_the_step() {
    let gait = gait(include_str!("../../../../../config/gaits/h2.yaml"));
    let body = BodyData::default();
    let heavy = body.with_arm_factor(10.0);
    let e = Equation { body: &heavy, gait: &gait, arms: Arms::Passive };
    let quick = PeriodicOptions { substeps: 1, ..PeriodicOptions::default() };
    let start = find_main_family(&e, &quick).unwrap().states[0];
    let from = BranchPoint { factor: 10.0, start };
    let crossings = [0.3, 0.2].map(|largest_arc| {
        let options =
            ContinuationOptions { factors: [10.0, 100.0], largest_arc, ..Default::default() };
        let branch = trace_branch(&body, &gait, &from, &options).unwrap();
        branch.crossings.iter().map(|c| c.point.factor).collect::<Vec<_>>()
    });
    let [coarse, fine] = crossings;
    assert!(coarse.len() == 2 && fine.len() == 2, "{coarse:?} {fine:?}");
    for (a, b) in coarse.iter().zip(&fine) {
        assert!((a / b - 1.0).abs() < 1e-4, "{coarse:?} {fine:?}");
    }
}
