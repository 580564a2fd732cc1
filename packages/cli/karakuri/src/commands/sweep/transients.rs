//! Starts and stops over masses, factors and the coefficients of the compensating motion.

use std::path::Path;

use anyhow::{Context, Result, bail};
use karakuri_files::{Column, Panel, Plot, Series, TraceWriter};
use karakuri_gait::compensation::{
    BodyData, Coefficients, OptimizeOptions, Transient, TransientSpec, Verdict,
};
use serde::Deserialize;

use super::args::{Args, MOST, all, say};
use super::{Sweep, axis, percent};
use crate::commands::Outcome;

/// Swept lists of a start or stop only.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Lists {
    /// Factors of the arms' samples, rates and accelerations. [-]
    arm_factor: Vec<f64>,
    /// Coefficients cT of the sway. [rad/s³]
    sway: Vec<f64>,
    /// Coefficients cP of the pitch. [rad/s³]
    pitch: Vec<f64>,
}

impl Lists {
    /// Name of the first list with values.
    pub(super) fn first_given(&self) -> Option<&'static str> {
        let Self { arm_factor, sway, pitch } = self;
        let lists = [("arm_factor", arm_factor), ("sway", sway), ("pitch", pitch)];
        lists.into_iter().find(|(_, list)| !list.is_empty()).map(|(name, _)| name)
    }
}

/// Combination of the swept parameters.
#[derive(Debug)]
struct Case {
    arm_mass_factor: f64,
    body: BodyData,
    spec: TransientSpec,
    /// Coefficients of the compensating motion; with `None` the most central ones are searched.
    coefficients: Option<Coefficients>,
}

type Row = (Coefficients, Verdict);

/// Runs the sweep.
pub(super) fn run(args: &Args, sweep: &Sweep) -> Result<Outcome> {
    if args.plot.is_some() && !sweep.lists.transient.sway.is_empty() {
        bail!(
            "--plot: draws the most central motions; `karakuri gait survey --plot` draws coefficients"
        );
    }
    let cases = cases(&args.sweep, sweep)?;
    let mine = args.shard.of(&cases);
    let Some(rows) = all(args, &mine, |case, _| solve(case))? else {
        return Ok(Outcome::Failed("interrupted; nothing is written".to_owned()));
    };
    let rows: Vec<Row> = rows.into_iter().collect::<Result<_>>()?;
    write(&args.output, &mine, &rows)?;
    if let Some(file) = &args.plot {
        plot(&args.sweep, &mine, &rows).write_svg(file)?;
    }
    say(args, rows.len());
    Ok(Outcome::Done)
}

fn cases(path: &Path, sweep: &Sweep) -> Result<Vec<Case>> {
    let Sweep { lists, gait, gait_path } = sweep;
    let place = || gait_path.display().to_string();
    let spec = gait.transient.as_ref().context("a start or stop")?;
    if !lists.arms.is_empty() {
        bail!(
            "{}: `arms` is of steady gaits; a start or stop moves them as its file says",
            path.display()
        );
    }
    if !lists.zmp_shift.is_empty() {
        bail!(
            "{}: `zmp_shift` is of steady gaits; of a start or stop the ZMP is the result",
            path.display()
        );
    }
    let width = gait.body.lengths.half_pelvis_width;
    let factors = axis(path, "arm_mass_factor", &lists.arm_mass_factor, 1.0)?;
    let widths = axis(path, "half_pelvis_width", &lists.half_pelvis_width, width)?;
    let height = gait.body.lengths.hip_to_pelvis;
    let heights = axis(path, "hip_to_pelvis", &lists.hip_to_pelvis, height)?;
    let legs = axis(path, "leg_factor", &lists.leg_factor, spec.leg_factor)?;
    let arms = axis(path, "arm_factor", &lists.transient.arm_factor, spec.arm_factor)?;
    let coefficients = coefficients(path, &lists.transient)?;
    let n = [&factors, &widths, &heights, &legs, &arms].map(Vec::len);
    if n.into_iter().product::<usize>() * coefficients.len() > MOST {
        bail!("{}: more than {MOST} combinations; shorten the lists", path.display());
    }
    let mut cases = Vec::new();
    let pelvises = widths.iter().flat_map(|w| heights.iter().map(move |h| (*w, *h)));
    for (half_pelvis_width, hip_to_pelvis) in pelvises {
        for &leg_factor in &legs {
            for &arm_factor in &arms {
                let spec = TransientSpec { leg_factor, arm_factor, ..spec.clone() };
                for &arm_mass_factor in &factors {
                    let mut body = gait.body.with_arm_factor(arm_mass_factor);
                    body.lengths.half_pelvis_width = half_pelvis_width;
                    body.lengths.hip_to_pelvis = hip_to_pelvis;
                    Transient::new(&spec, &body).with_context(place)?;
                    cases.extend(coefficients.iter().map(|&coefficients| Case {
                        arm_mass_factor,
                        body,
                        spec: spec.clone(),
                        coefficients,
                    }));
                }
            }
        }
    }
    Ok(cases)
}

/// Every pair of coefficients, or `None` where none is given.
fn coefficients(path: &Path, lists: &Lists) -> Result<Vec<Option<Coefficients>>> {
    let Lists { sway, pitch, .. } = lists;
    if sway.is_empty() != pitch.is_empty() {
        bail!(
            "{}: `sway` and `pitch` belong together; give both, or neither for the most central motion",
            path.display()
        );
    }
    if let Some(bad) = sway.iter().chain(pitch).find(|x| !x.is_finite()) {
        bail!("{}: a coefficient is {bad}; write finite numbers", path.display());
    }
    if sway.is_empty() {
        return Ok(vec![None]);
    }
    let pairs = sway
        .iter()
        .flat_map(|&sway| pitch.iter().map(move |&pitch| Some(Coefficients { sway, pitch })));
    Ok(pairs.collect())
}

fn solve(case: &Case) -> Result<Row> {
    let transient = Transient::new(&case.spec, &case.body)?;
    if let Some(coefficients) = case.coefficients {
        return Ok((coefficients, transient.verdict(coefficients)));
    }
    let best = transient.minimize_off_center(&OptimizeOptions::default());
    Ok((best.coefficients, best.verdict))
}

fn write(file: &Path, cases: &[&Case], rows: &[Row]) -> Result<()> {
    let columns = [
        ("arm_mass_factor", "-"),
        ("half_pelvis_width", "m"),
        ("leg_factor", "-"),
        ("arm_factor", "-"),
        ("arm_mass", "%"),
        ("sway", "rad/s³"),
        ("pitch", "rad/s³"),
        ("stable", "-"),
        ("margin", "m"),
        ("off_center", "-"),
        ("hip_to_pelvis", "m"),
    ]
    .map(|(name, unit)| Column::new(name, unit));
    let mut writer = TraceWriter::create(file, &columns)?;
    for (case, (c, verdict)) in cases.iter().zip(rows) {
        let (width, spec) = (case.body.lengths.half_pelvis_width, &case.spec);
        writer.row(&[
            case.arm_mass_factor,
            width,
            spec.leg_factor,
            spec.arm_factor,
            percent(&case.body),
            c.sway,
            c.pitch,
            f64::from(u8::from(verdict.is_stable())),
            verdict.margin,
            verdict.off_center,
            case.body.lengths.hip_to_pelvis,
        ])?;
    }
    writer.finish()?;
    Ok(())
}

fn plot(sweep: &Path, cases: &[&Case], rows: &[Row]) -> Plot {
    let panel = |label: &str, value: &dyn Fn(&Row) -> f64| {
        let points = cases.iter().zip(rows).map(|(case, row)| (percent(&case.body), value(row)));
        Panel {
            x_label: "arm mass [% of the whole]".to_owned(),
            y_label: label.to_owned(),
            series: vec![Series::new("most central".to_owned(), points.collect())],
            ..Panel::default()
        }
    };
    Plot {
        title: sweep.display().to_string(),
        panels: vec![
            panel("margin [mm]", &|(_, verdict)| 1e3 * verdict.margin),
            panel("cT [rad/s³]", &|(c, _)| c.sway),
            panel("cP [rad/s³]", &|(c, _)| c.pitch),
        ],
    }
}
