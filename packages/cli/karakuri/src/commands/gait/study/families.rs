//! Solution types of table 3.2: the study's surveys of starts, and the families that they lie on.

use std::fmt::Write as _;

use anyhow::Result;
use karakuri_gait::compensation::{
    Arms, BodyData, BranchPoint, ContinuationOptions, Equation, FamilyKind, PeriodicOptions,
    SearchOptions, State, SteadyGait, find_families, find_periodic, survey_solutions,
    survey_starts,
};
use rayon::prelude::*;

use super::page::{Gaits, Page};
use super::{figures, masses};

/// Family of periodic motions.
pub(super) struct Family {
    /// Kind of the family.
    pub(super) kind: FamilyKind,
    /// Name for the legend.
    pub(super) name: String,
    /// Members over the arms' mass.
    pub(super) members: Vec<Member>,
}

/// Motion of a family.
pub(super) struct Member {
    /// Mass of the arms in the whole. [%]
    pub(super) arm_percent: f64,
    /// State at the start of the step.
    pub(super) start: State,
    /// Half the range of `θ, φ, ψL, ψR` over the step. [rad] (4)
    pub(super) amplitude: [f64; 4],
}

/// Factors of the arms' mass at which starts are surveyed.
const FACTORS: [f64; 6] = [1.0, 5.0, 10.0, 14.0, 20.0, 50.0];

/// Factors of the arms' mass at which each family's motion is printed.
const PRINTED: [f64; 5] = [1.0, 10.0, 30.0, 60.0, 100.0];

/// Writes the tables of the surveys and of all families.
pub(super) fn write(page: &mut Page, gaits: &Gaits) -> Result<()> {
    let h9 = SteadyGait::new(&gaits.h9)?;
    surveys(page, gaits, &h9)?;
    let mut rows = String::new();
    let mut curves = Vec::new();
    for (name, gait) in [("H9", &h9), ("H2", &gaits.h2)] {
        for family in families(&gaits.body, gait) {
            let [first, last] = [0, family.points.len() - 1].map(|i| family.points[i].factor);
            write!(rows, "| {name} | {:?} | {} |", family.kind, range(&gaits.body, first, last))?;
            for factor in PRINTED {
                let rates = family.at(factor).map(|s| format!("{:+.2}/{:+.2}", s[6], s[7]));
                write!(rows, " {} |", rates.unwrap_or_default())?;
            }
            writeln!(rows)?;
            if name == "H9" {
                curves.push(drawn(gaits, gait, &family));
            }
        }
    }
    page.fill("all_families", &rows);
    page.figures.push(("families.svg", figures::families(&curves)));
    let [first, second] = [[FamilyKind::A, FamilyKind::B], [FamilyKind::CR, FamilyKind::D]];
    // Of several families of a kind, the one that begins at the smallest mass is shown.
    let of = |kinds: [FamilyKind; 2]| {
        let first = |kind: &FamilyKind| {
            let begins = |f: &&Family| f.members.first().map_or(f64::MAX, |m| m.arm_percent);
            let of_kind = curves.iter().filter(|f| f.kind == *kind);
            of_kind.min_by(|a, b| begins(a).total_cmp(&begins(b)))
        };
        kinds.iter().filter_map(first).collect::<Vec<_>>()
    };
    let title = "Fig 3.6: passive arms, survey 1, at the start, gait H9";
    page.figures.push(("passive_starts.svg", figures::passive_starts(title, &of(first))));
    page.figures.push(("passive_amplitudes.svg", figures::passive_amplitudes(&of(first))));
    let title = "Fig 3.8: passive arms, survey 2, at the start, gait H9";
    page.figures.push(("passive_starts_2.svg", figures::passive_starts(title, &of(second))));
    Ok(())
}

fn families(body: &BodyData, gait: &SteadyGait) -> Vec<karakuri_gait::compensation::Family> {
    let options = ContinuationOptions {
        factors: [0.1, 200.0],
        largest_arc: 0.2,
        ..ContinuationOptions::default()
    };
    find_families(body, gait, &[1.0, 50.0], &options)
}

/// Mass of the arms in the whole. [%]
fn percent(body: &BodyData, factor: f64) -> f64 {
    let body = body.with_arm_factor(factor);
    100.0 * body.arm_mass() / body.mass()
}

/// Range of the factor over which a family exists: its begin, as the options set its end.
fn range(body: &BodyData, first: f64, last: f64) -> String {
    if first < 0.2 {
        return format!("all, followed from {first:.2} to {last:.0}");
    }
    format!("from {first:.2} ({:.1} %)", percent(body, first))
}

/// Family with the ranges of its angles; where it has many points, not all of them.
fn drawn(gaits: &Gaits, gait: &SteadyGait, family: &karakuri_gait::compensation::Family) -> Family {
    const MOST: usize = 80;
    let quick = PeriodicOptions { substeps: 1, ..PeriodicOptions::default() };
    let member = |p: &BranchPoint| {
        let body = gaits.body.with_arm_factor(p.factor);
        let e = Equation { body: &body, gait, arms: Arms::Passive };
        let motion = find_periodic(&e, &p.start, &quick).ok();
        let amplitude = [0, 1, 2, 3]
            .map(|i| motion.as_ref().map_or(f64::NAN, |m| masses::summary(m, i).amplitude));
        Member { arm_percent: percent(&gaits.body, p.factor), start: p.start, amplitude }
    };
    let step = family.points.len().div_ceil(MOST);
    let members = family.points.par_iter().step_by(step).map(member).collect();
    Family { kind: family.kind, name: format!("{:?}", family.kind), members }
}

/// Writes table 3.2 in the form of the study.
fn surveys(page: &mut Page, gaits: &Gaits, h9: &SteadyGait) -> Result<()> {
    let (equal, pairs) = survey_starts();
    let mut rows = String::new();
    for factor in FACTORS {
        let body = gaits.body.with_arm_factor(factor);
        let equation = Equation { body: &body, gait: h9, arms: Arms::Passive };
        let [one, two] = [&equal, &pairs].map(|starts| {
            let solutions = survey_solutions(&equation, starts, &SearchOptions::default());
            let kind = |(s, n): &(karakuri_gait::compensation::Search, usize)| {
                format!("{:+.2}/{:+.2} ({n})", s.start[6], s.start[7])
            };
            solutions.iter().map(kind).collect::<Vec<_>>().join(", ")
        });
        writeln!(rows, "| {factor} | {one} | {two} |")?;
    }
    page.fill("families", &rows);
    Ok(())
}
