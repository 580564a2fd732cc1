//! All families of periodic motions with passive arms.
//!
//! The main family is followed from light arms; families that cross it are taken at the crossings, and theirs at their
//! own; families apart from these are met by Newton's method from the study's starts at several masses of the arms.
//! Branches are cut where they turn round, so that a family has one motion for each mass. [Kume 1991, table 3.2]

use core::f64::consts::FRAC_PI_2;

use rayon::prelude::*;

use super::{
    Arms, BodyData, Branch, BranchPoint, ContinuationOptions, Equation, PeriodicOptions, State,
    SteadyGait, find_main_family, find_periodic, march, survey_starts, trace_branch,
    trace_crossing,
};

/// Kind of a family by the motion of its arms; the study's letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub enum FamilyKind {
    /// Together, at the start of the step forward with the trunk's rate; more so the heavier they are.
    A,
    /// Together, in the opposite sense; less so the heavier they are.
    B,
    /// In the same sense, at the start of the step the left one (on the supporting side) faster.
    CL,
    /// In the same sense, the right one faster.
    CR,
    /// Together, in the sense of B; more so the heavier they are.
    D,
}

/// Periodic motions over the arms' mass.
#[derive(Debug, Clone, PartialEq)]
pub struct Family {
    /// Kind by the motion of the arms.
    pub kind: FamilyKind,
    /// Periodic motions, in the order of the factor.
    pub points: Vec<BranchPoint>,
}

impl Family {
    /// The start at a factor, near the solution; `None` where the family has none. [rad, rad/s]
    pub fn at(&self, factor: f64) -> Option<State> {
        between(&self.points, factor).next()
    }
}

/// Starts at a factor, on straight lines between neighbouring points.
pub(super) fn between(points: &[BranchPoint], factor: f64) -> impl Iterator<Item = State> + '_ {
    points.windows(2).filter_map(move |pair| {
        // As in the continuation, whose points are spread over the logarithm.
        let (a, b) = (pair[0].factor.ln(), pair[1].factor.ln());
        let k = (factor.ln() - a) / (b - a);
        (0.0..=1.0).contains(&k).then(|| pair[0].start.lerp(&pair[1].start, k))
    })
}

/// Finds the families whose arms stay below the horizontal, those of the study among them. `factors`: of the arms' mass at which
/// families apart from the main one are looked for. [-]
pub fn find_families(
    body: &BodyData,
    gait: &SteadyGait,
    factors: &[f64],
    options: &ContinuationOptions,
) -> Vec<Family> {
    let mut branches: Vec<Branch> = Vec::new();
    // A solution on a known branch is no new family; else its branch is followed, then all that cross it, then theirs.
    for point in solutions(body, gait, factors) {
        if branches.iter().any(|branch| branch.passes_near(&point, SAME)) {
            continue;
        }
        let Some(branch) = trace_branch(body, gait, &point, options) else { continue };
        let mut crossings = branch.crossings.clone();
        branches.push(branch);
        while let Some(crossing) = crossings.pop() {
            let other = trace_crossing(body, gait, &crossing, options);
            let mut ends = other.points.first().into_iter().chain(other.points.last());
            if ends.any(|end| branches.iter().all(|b| !b.passes_near(end, SAME))) {
                // Only those of new branches: known ones would be followed round for ever.
                crossings.extend(&other.crossings);
                branches.push(other);
            }
        }
    }
    let mut families: Vec<Family> = branches
        .iter()
        .flat_map(|branch| between_turns(&branch.points))
        .filter_map(|points| Some(Family { kind: kind(body, gait, &points)?, points }))
        .collect();
    families.sort_by_key(|family| family.kind);
    families
}

/// Starts nearer than this to a branch are on it. [rad, rad/s]
// Families nearer than this at one mass would be taken for one; the straight lines between a branch's points are nearer to it.
const SAME: f64 = 0.1;

/// Motions that the upright posture and the study's starts with equal rates of the arms lead to, that of the main family first.
fn solutions(body: &BodyData, gait: &SteadyGait, factors: &[f64]) -> Vec<BranchPoint> {
    // Guesses only: the branch through them is corrected point by point.
    let quick = PeriodicOptions { substeps: 1, ..PeriodicOptions::default() };
    let starts: Vec<State> = [State::zeros()].into_iter().chain(survey_starts().0).collect();
    let at = |&factor: &f64| {
        let body = body.with_arm_factor(factor);
        let e = Equation { body: &body, gait, arms: Arms::Passive };
        let main = find_main_family(&e, &quick).ok();
        let others: Vec<_> =
            // Collected in the order of the starts, whatever the threads do.
            starts.par_iter().filter_map(|start| find_periodic(&e, start, &quick).ok()).collect();
        let all = main.into_iter().chain(others).map(|found| found.states[0]);
        all.filter(|start| largest_arms(&e, start).is_some_and(|[l, r]| l.max(r) < FRAC_PI_2))
            .map(|start| BranchPoint { factor, start })
            .collect::<Vec<_>>()
    };
    factors.iter().flat_map(at).collect()
}

/// Largest angle of the left and of the right arm during the step. [rad] (2)
fn largest_arms(e: &Equation<'_>, start: &State) -> Option<[f64; 2]> {
    let states = march(e, start).ok()?.states;
    Some([2, 3].map(|arm| states.iter().map(|s| s[arm].abs()).fold(0.0, f64::max)))
}

/// The pieces of a branch between its turns, each in the order of the factor.
fn between_turns(points: &[BranchPoint]) -> Vec<Vec<BranchPoint>> {
    // A turn is where the factor's direction changes; the piece after it starts with the turn's point.
    let mut pieces: Vec<Vec<BranchPoint>> = Vec::new();
    for pair in points.windows(2) {
        let goes_up = |a: &BranchPoint, b: &BranchPoint| a.factor < b.factor;
        match pieces.last_mut() {
            Some(piece)
                if goes_up(&piece[piece.len() - 2], &pair[0]) == goes_up(&pair[0], &pair[1]) =>
            {
                piece.push(pair[1]);
            }
            _ => pieces.push(pair.to_vec()),
        }
    }
    for piece in &mut pieces {
        piece.sort_by(|a, b| a.factor.total_cmp(&b.factor));
    }
    pieces
}

/// Kind of a piece of a branch; `None` where the arms swing above the horizontal.
fn kind(body: &BodyData, gait: &SteadyGait, points: &[BranchPoint]) -> Option<FamilyKind> {
    let (light, heavy) = (points.first()?, points.last()?);
    // Kinds differ most at the heaviest arms of a family.
    let scaled = body.with_arm_factor(heavy.factor);
    let e = Equation { body: &scaled, gait, arms: Arms::Passive };
    let [left, right] = largest_arms(&e, &heavy.start)?;
    if left.max(right) > FRAC_PI_2 {
        return None;
    }
    // The arms move together where their starts are equal; otherwise the faster one gives the letter.
    let together =
        (heavy.start[2] - heavy.start[3]).abs() + (heavy.start[6] - heavy.start[7]).abs();
    // Motions with equal arms are equal to Newton's accuracy, far below this.
    Some(if together > 1e-3 {
        if heavy.start[6] > heavy.start[7] { FamilyKind::CL } else { FamilyKind::CR }
    } else if heavy.start[6] > 0.0 {
        FamilyKind::A
    } else if heavy.start[6] > light.start[6] {
        FamilyKind::B
    } else {
        FamilyKind::D
    })
}
