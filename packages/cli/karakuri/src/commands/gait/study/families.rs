//! Table 3.2's solution types: the study's surveys of starts, and the families that they lie on.

use std::fmt::Write as _;

use anyhow::Result;
use karakuri_gait::compensation::{
    Arms, BranchPoint, ContinuationOptions, Equation, SearchOptions, State, SteadyGait,
    survey_solutions, survey_starts, trace_branch,
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
/// States nearer than this to a branch are on it. [rad, rad/s]
const SAME: f64 = 0.2;

/// Writes the table of the surveys and traces the family of each solution found.
pub(super) fn write(page: &mut Page, gaits: &Gaits) -> Result<()> {
    let h9 = SteadyGait::new(&gaits.h9)?;
    let (equal, pairs) = survey_starts();
    let (mut rows, mut found) = (String::new(), Vec::new());
    for factor in FACTORS {
        let body = gaits.body.with_arm_factor(factor);
        let equation = Equation { body: &body, gait: &h9, arms: Arms::Passive };
        let solutions = [&equal, &pairs]
            .map(|starts| survey_solutions(&equation, starts, &SearchOptions::default()));
        let [one, two] = solutions.each_ref().map(|solutions| {
            let kinds: Vec<String> = solutions
                .iter()
                .map(|(s, n)| format!("{:+.2}/{:+.2} ({n})", s.start[6], s.start[7]))
                .collect();
            kinds.join(", ")
        });
        writeln!(rows, "| {factor} | {one} | {two} |")?;
        let all = solutions.into_iter().flatten();
        found.extend(all.map(|(s, _)| BranchPoint { factor, start: s.start }));
    }
    let families = trace(gaits, &h9, &found);
    page.fill("families", &rows);
    page.fill("n_families", &families.len().to_string());
    page.figures.push(("families.svg", figures::families(&families)));
    Ok(())
}

/// The families through the points; a point on a family that is there already adds none.
fn trace(gaits: &Gaits, gait: &SteadyGait, found: &[BranchPoint]) -> Vec<Family> {
    let options = ContinuationOptions {
        factors: [0.1, 100.0],
        largest_arc: 0.3,
        max_points: 60,
        ..ContinuationOptions::default()
    };
    let mut families: Vec<Family> = Vec::new();
    let mut branches: Vec<Vec<BranchPoint>> = Vec::new();
    for point in found {
        if branches.iter().any(|branch| passes_through(branch, point)) {
            continue;
        }
        let Some(branch) = trace_branch(&gaits.body, gait, point, &options) else { continue };
        let member = |p: &BranchPoint| {
            let body = gaits.body.with_arm_factor(p.factor);
            Member { arm_percent: 100.0 * body.arm_mass() / body.mass(), start: p.start }
        };
        families.push(Family {
            name: format!("{}", families.len() + 1),
            members: branch.points.iter().map(member).collect(),
        });
        branches.push(branch.points);
    }
    families
}

/// Whether a branch, straight between its points, passes near a point.
fn passes_through(branch: &[BranchPoint], point: &BranchPoint) -> bool {
    branch.windows(2).any(|pair| {
        let (a, b) = (pair[0].factor.ln(), pair[1].factor.ln());
        let k = (point.factor.ln() - a) / (b - a);
        let between = (-1e-9..=1.0 + 1e-9).contains(&k);
        between && (pair[0].start.lerp(&pair[1].start, k) - point.start).amax() < SAME
    })
}
