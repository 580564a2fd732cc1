//! March and search of the study beside the boundary value problem.

use std::fmt::Write as _;

use anyhow::{Result, anyhow};
use karakuri_gait::compensation::{
    Arms, Equation, Periodic, PeriodicOptions, Search, SearchOptions, SteadyGait, SteadySpec,
    ZmpSpec, find_main_family,
};

use super::super::steady::start_of;
use super::page::{Gaits, Page};

/// Numbers of intervals of the march to compare; the first is the study's.
const INTERVALS: [usize; 4] = [30, 60, 120, 240];

/// Writes the distance of the march's motion from that of the boundary value problem, and the outcome of the study's starts.
pub(super) fn write(page: &mut Page, gaits: &Gaits) -> Result<()> {
    let h9 = SteadyGait::new(&gaits.h9)?;
    let zmp = ZmpSpec { smoothed: true, ..gaits.h9.zmp.clone() };
    let smooth = SteadyGait::new(&SteadySpec { zmp, ..gaits.h9.clone() })?;
    let mut rows = String::new();
    for (name, gait) in [("H2", &gaits.h2), ("H9", &h9), ("H9, ZMP smoothed", &smooth)] {
        for arms in [Arms::Fixed, Arms::Active, Arms::Passive] {
            let e = Equation { body: &gaits.body, gait, arms };
            let exact = find_main_family(&e, &PeriodicOptions::default())?;
            write!(rows, "| {name} | {} |", format!("{arms:?}").to_lowercase())?;
            for intervals in INTERVALS {
                write!(rows, " {:.1e} |", gap(&e, &exact, intervals)?)?;
            }
            writeln!(rows)?;
        }
    }
    page.fill("march", &rows);
    let e = Equation { body: &gaits.body, gait: &h9, arms: Arms::Active };
    let mut rows = String::new();
    for numbers in &gaits.starts {
        let start = start_of(numbers).map_err(anyhow::Error::msg)?;
        let outcome = match Search::from_start(&e, &start, &SearchOptions::default()) {
            Ok(s) if s.converged => format!(
                "found: φ' = {:.4} rad/s, {} steps of the gradient method and {} of the local one",
                s.start[5],
                s.iterations - s.local_iterations,
                s.local_iterations
            ),
            Ok(s) => format!("stops at DE = {:.2}", s.error),
            Err(error) => format!("abnormal at {:.2} s", error.time),
        };
        writeln!(rows, "| {} | {outcome} |", start[5])?;
    }
    page.fill("nine_starts", &rows);
    Ok(())
}

/// Largest difference of the starts. [rad, rad/s]
fn gap(e: &Equation<'_>, exact: &Periodic, intervals: usize) -> Result<f64> {
    let options = SearchOptions { intervals, ..SearchOptions::default() };
    let search = Search::from_start(e, &exact.states[0], &options)?;
    if !search.converged {
        return Err(anyhow!(
            "the march in {intervals} intervals stops at DE = {:.1e}",
            search.error
        ));
    }
    Ok((search.start - exact.states[0]).amax())
}
