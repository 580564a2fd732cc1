//! Table 3.2's solution types: the study's surveys of starts, and the families that they lie on.

use std::fmt::Write as _;

use anyhow::Result;
use karakuri_gait::compensation::{
    Arms, BodyData, BranchPoint, ContinuationOptions, Equation, FamilyKind, SearchOptions, State,
    SteadyGait, find_families, survey_solutions, survey_starts,
};

use super::{Gaits, Page, figures};

/// A family of periodic motions.
pub(super) struct Family {
    /// For the legend.
    pub(super) name: String,
    /// Over the arms' mass.
    pub(super) members: Vec<Member>,
}

/// One of them.
pub(super) struct Member {
    /// Arm mass. [%]
    pub(super) arm_percent: f64,
    /// At the start of the step.
    pub(super) start: State,
}

/// Factors at which starts are surveyed.
const FACTORS: [f64; 6] = [1.0, 5.0, 10.0, 14.0, 20.0, 50.0];

/// Factors at which each family's motion is printed.
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
                curves.push(drawn(&gaits.body, family.kind, &family.points));
            }
        }
    }
    page.fill("all_families", &rows);
    page.figures.push(("families.svg", figures::families(&curves)));
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

/// Arms in percent of the whole.
fn percent(body: &BodyData, factor: f64) -> f64 {
    let body = body.with_arm_factor(factor);
    100.0 * body.arm_mass() / body.mass()
}

/// Where a family begins; the options end it elsewhere.
fn range(body: &BodyData, first: f64, last: f64) -> String {
    if first < 0.2 {
        return format!("all, followed from {first:.2} to {last:.0}");
    }
    format!("from {first:.2} ({:.1} %)", percent(body, first))
}

fn drawn(body: &BodyData, kind: FamilyKind, points: &[BranchPoint]) -> Family {
    let member = |p: &BranchPoint| Member { arm_percent: percent(body, p.factor), start: p.start };
    Family { name: format!("{kind:?}"), members: points.iter().map(member).collect() }
}

/// Table 3.2 as the study made it.
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
