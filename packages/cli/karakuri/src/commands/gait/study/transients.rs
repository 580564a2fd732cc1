//! Tables 3.4 to 3.8 and Figs 3.10 to 3.16: starts and stops.

use std::fmt::Write as _;

use anyhow::{Result, anyhow};
use karakuri_gait::compensation::{
    Coefficients, Degree, Interpolation, OptimizeOptions, Optimum, SurveyGrid, SurveyPoint,
    Transient, TransientSpec, published,
};
use karakuri_gait::geometry::Rectangle;

use super::super::figures as plots;
use super::figures;
use super::page::{Gaits, Page};

const COARSE: SurveyGrid = SurveyGrid { sway: published::COARSE, pitch: published::COARSE };

/// Starts: tables 3.4 and 3.5, Figs 3.1, 3.10 to 3.14.
pub(super) fn starts(page: &mut Page, gaits: &Gaits) -> Result<()> {
    smoothed(page, gaits)?;
    let transient = Transient::new(&gaits.start, &gaits.body)?;
    let (rows, (grid, stable)) = surveys(gaits, &gaits.start, &published::START_SURVEYS)?;
    page.fill("surveys", &rows);
    let [survey, central, widest] = chosen(&transient, &stable)?;
    page.fill("best_start", &best_rows([&survey, &central, &widest])?);
    page.fill("evaluations", &central.evaluations.to_string());
    let marks = [("most central", central.coefficients), ("largest margin", widest.coefficients)];
    let all = SurveyGrid { sway: [-0.4, 0.3, 0.005], pitch: [-3.0, 6.0, 0.05] };
    let title = "Table 3.5: stable starts into H2 at cT, cP";
    let surveyed = Some(("surveyed in print", &grid));
    let region = plots::survey(title, &all, &transient.survey(&all, &|| true), &marks, surveyed);
    page.figures.push(("start_survey.svg", region));
    let title = "Fig 3.14: the most central start into H2";
    page.figures.push(("start.svg", figures::transient(title, &transient, central.coefficients)));
    let limbs = figures::limbs_of_transient("Fig 3.13: start AH2 into H2", &transient);
    page.figures.push(("ah2_limbs.svg", limbs));
    let h9 = karakuri_gait::compensation::SteadyGait::new(&gaits.h9)?;
    page.figures
        .push(("h9_limbs.svg", figures::limbs_of_gait("Fig 3.1, with H9: limbs and ZMP", &h9)));
    page.figures
        .push(("h2_limbs.svg", figures::limbs_of_gait("Fig 3.12: H2, limbs and ZMP", &gaits.h2)));
    Ok(())
}

/// Stops: tables 3.6 to 3.8, Figs 3.15 and 3.16.
pub(super) fn stops(page: &mut Page, gaits: &Gaits) -> Result<()> {
    let [region_1, region_2] = published::REGIONS;
    let count = |motion: f64, standstill: f64, region: Rectangle| -> Result<usize> {
        let spec = within(&gaits.stop.with_times(motion, standstill), region);
        Ok(Transient::new(&spec, &gaits.body)?.survey(&COARSE, &|| true).len())
    };
    let mut slow = String::new();
    for (standstill, [one, two]) in published::SLOW_STOPS {
        let (a, b) = (count(1.0, standstill, region_1)?, count(1.0, standstill, region_2)?);
        writeln!(slow, "| {standstill} | {one} | {a} | {two} | {b} |")?;
    }
    page.fill("slow_stops", &slow);
    let mut rows = String::new();
    for (motion, printed, rest) in published::STOPS {
        write!(rows, "| {motion} |")?;
        for (standstill, printed) in [0.5, 1.0, 1.5].into_iter().zip(printed) {
            write!(rows, " {printed} | {} |", count(motion, standstill, region_2)?)?;
        }
        let printed = rest.map_or_else(|| "-".to_owned(), |n| n.to_string());
        writeln!(rows, " {printed} | {} |", count(motion, 1.0 - motion, region_2)?)?;
    }
    page.fill("stops", &rows);
    let transient = Transient::new(&gaits.stop, &gaits.body)?;
    let (rows, (grid, stable)) = surveys(gaits, &gaits.stop, &published::STOP_SURVEYS)?;
    page.fill("stop_surveys", &rows);
    let [survey, central, widest] = chosen(&transient, &stable)?;
    page.fill("best_stop", &best_rows([&survey, &central, &widest])?);
    let marks = [("most central", central.coefficients), ("largest margin", widest.coefficients)];
    let all = SurveyGrid { sway: [-2.2, -0.8, 0.01], pitch: [5.0, 40.0, 0.1] };
    let title = "Table 3.8: stable stops out of H2 at cT, cP";
    let surveyed = Some(("surveyed in print", &grid));
    let region = plots::survey(title, &all, &transient.survey(&all, &|| true), &marks, surveyed);
    page.figures.push(("stop_survey.svg", region));
    let title = "Fig 3.16: the most central stop out of H2";
    page.figures.push(("stop.svg", figures::transient(title, &transient, central.coefficients)));
    let limbs = figures::limbs_of_transient("Fig 3.15: stop out of H2", &transient);
    page.figures.push(("stop_limbs.svg", limbs));
    Ok(())
}

/// Specification with the regions of the first surveys, whose right edge in double support is as far out as the study had it.
fn within(spec: &TransientSpec, region: Rectangle) -> TransientSpec {
    let both = Rectangle { x: region.x, y: [published::FIRST_RIGHT_EDGE, region.y[1]] };
    TransientSpec { single_support: region, double_support: Some(both), ..spec.clone() }
}

/// Table 3.4 and Figs 3.10, 3.11.
fn smoothed(page: &mut Page, gaits: &Gaits) -> Result<()> {
    let mut rows = String::new();
    for (standstill, printed) in published::SMOOTHED_STARTS {
        write!(rows, "| {standstill} |")?;
        for (region, printed) in published::REGIONS.into_iter().zip(printed) {
            write!(rows, " {printed} |")?;
            for interpolation in [Interpolation::Smoothed, Interpolation::Linear] {
                let spec = within(&gaits.smoothed_start.with_times(1.0, standstill), region);
                let spec = TransientSpec { interpolation, ..spec };
                let stable = Transient::new(&spec, &gaits.body)?.survey(&COARSE, &|| true);
                write!(rows, " {} |", stable.len())?;
            }
        }
        writeln!(rows)?;
    }
    page.fill("smoothed_starts", &rows);
    let at_once = gaits.smoothed_start.with_times(1.0, 0.0);
    let quartic = TransientSpec { degree: Degree::Four, ..at_once };
    let mut found = String::new();
    for (file, title, spec) in [
        ("quartic_start.svg", "Fig 3.10: start of 1 s, degree 4, smoothed", quartic),
        (
            "smoothed_start.svg",
            "Fig 3.11: standstill 1 s, degree 5, smoothed",
            gaits.smoothed_start.clone(),
        ),
    ] {
        let transient = Transient::new(&within(&spec, published::REGIONS[0]), &gaits.body)?;
        let best = transient.maximize_margin(&OptimizeOptions::default());
        writeln!(found, "| {title} | {:.1} |", 1e3 * best.verdict.margin)?;
        page.figures.push((file, figures::transient(title, &transient, best.coefficients)));
    }
    page.fill("first_starts", &found);
    Ok(())
}

type Survey = (SurveyGrid, Vec<SurveyPoint>);

/// Rows of a table of surveys with the wider double support and with the specification's own, and the last survey of these.
fn surveys(
    gaits: &Gaits,
    spec: &TransientSpec,
    printed: &[([f64; 3], [f64; 3], usize)],
) -> Result<(String, Survey)> {
    let wide = Transient::new(&within(spec, spec.single_support), &gaits.body)?;
    let own = Transient::new(spec, &gaits.body)?;
    let mut rows = String::new();
    let mut finest = (COARSE, Vec::new());
    for &(sway, pitch, count) in printed {
        let grid = SurveyGrid { sway, pitch };
        finest = (grid, own.survey(&grid, &|| true));
        let (first, later) = (wide.survey(&grid, &|| true).len(), finest.1.len());
        let axis = |[from, to, step]: [f64; 3]| format!("{from} to {to}, step {step}");
        writeln!(rows, "| {} | {} | {count} | {first} | {later} |", axis(sway), axis(pitch))?;
    }
    Ok((rows, finest))
}

/// Best point of a survey, and those that are found directly: the most central one and that of the largest margin.
fn chosen(transient: &Transient, stable: &[SurveyPoint]) -> Result<[Optimum; 3]> {
    let order =
        |a: &&SurveyPoint, b: &&SurveyPoint| a.verdict.off_center.total_cmp(&b.verdict.off_center);
    let best = stable.iter().min_by(order).ok_or_else(|| anyhow!("the survey finds none"))?;
    let survey = Optimum {
        coefficients: best.coefficients,
        verdict: best.verdict,
        evaluations: stable.len(),
    };
    let options = OptimizeOptions::default();
    Ok([survey, transient.minimize_off_center(&options), transient.maximize_margin(&options)])
}

fn best_rows(found: [&Optimum; 3]) -> Result<String> {
    let mut rows = String::new();
    let names = ["survey, step 0.005", "direct, most central", "direct, largest margin"];
    for (name, Optimum { coefficients: Coefficients { sway, pitch }, verdict, .. }) in
        names.into_iter().zip(found)
    {
        let (margin, off) = (1e3 * verdict.margin, verdict.off_center);
        writeln!(rows, "| {name} | {sway:.4} | {pitch:.4} | {off:.3} | {margin:.2} |")?;
    }
    Ok(rows)
}
