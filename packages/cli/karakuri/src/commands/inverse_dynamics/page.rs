//! Page about a mechanism: the content of its file, the errors, a figure.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use karakuri_files::{Guide, GuideAt, Panel, Plot, Series, Style, write_atomic};

use super::contact::Press;
use super::dofs::dof_names;
use super::errors::Study;
use super::file::Read;
use super::tracking::Run;

/// Approximate number of points of a curve.
const POINTS: usize = 400;

/// Figure of torques, errors and convergence.
pub(super) fn figure(read: &Read, study: &Study) -> Plot {
    let names = dof_names(&read.mechanism);
    let nv = names.len();
    let dt = study.samples.dt;
    let last = (study.torques.tau.len() / nv).saturating_sub(1);
    let driven: Vec<usize> =
        (0..nv).filter(|k| read.mechanism.driven[*k] || read.mechanism.supported[*k]).collect();
    let every = (last / POINTS).max(1);
    let curve = |k: usize, value: &dyn Fn(usize) -> f64, range: core::ops::Range<usize>| {
        Series::new(
            names[k].0.clone(),
            range.step_by(every).map(|i| (i as f64 * dt, value(i * nv + k))).collect(),
        )
    };
    let (effort, position) = units(&driven.iter().map(|&k| names[k].1).collect::<Vec<_>>());
    let tau = &study.torques.tau;
    let error = |i: usize| tau[i] - study.exact.tau[i];
    let panel = |x_label: &str, y_label: &str, series| Panel {
        x_label: x_label.to_owned(),
        y_label: y_label.to_owned(),
        series,
        ..Panel::default()
    };
    let order = |c: &super::errors::Convergence| {
        let points = c.steps_s.iter().zip(&c.errors).map(|(dt, e)| (1e3 * dt, *e));
        Series { style: Style::LineDots, ..Series::new(c.variant, points.collect()) }
    };
    let mut panels = vec![
        panel(
            "time [s]",
            &format!("effort [{effort}]"),
            driven.iter().map(|&k| curve(k, &|i| tau[i], 0..last + 1)).collect(),
        ),
        panel(
            "time [s]",
            &format!("error [{effort}]"),
            driven.iter().map(|&k| curve(k, &error, 1..last)).collect(),
        ),
        Panel {
            log: [true, true],
            ..panel(
                "step [ms]",
                "error over the largest effort [-]",
                study.convergence.iter().map(order).collect(),
            )
        },
    ];
    if !study.dynamics.is_empty() {
        let (dynamics, force) =
            (|i: usize| study.dynamics[i], |i: usize| tau[i] - study.dynamics[i]);
        let parts: [(&str, &dyn Fn(usize) -> f64); 2] =
            [("part of dynamics", &dynamics), ("part of force", &force)];
        let parts = parts.map(|(label, part)| {
            let label = format!("{label} [{effort}]");
            panel("time [s]", &label, driven.iter().map(|&k| curve(k, part, 0..last + 1)).collect())
        });
        panels.splice(1..1, parts);
    }
    if !study.tracking.is_empty() {
        let distance = |run: &Run| {
            let points = run.errors.iter().enumerate().step_by(every);
            Series::new(run.name, points.map(|(i, e)| (i as f64 * dt, *e)).collect())
        };
        let series = study.tracking.iter().map(distance).collect();
        panels.push(panel("time [s]", &format!("distance from the target [{position}]"), series));
    }
    if !study.contact.is_empty() {
        let force = |press: &Press| {
            let points = press.forces.iter().enumerate().step_by(every);
            Series::new(press.name, points.map(|(i, f)| (i as f64 * dt, *f)).collect())
        };
        let series = study.contact.iter().map(force).collect();
        let desired = read.contact.iter().map(|contact| Guide {
            name: "desired".to_owned(),
            at: GuideAt::Y(contact.part.force),
        });
        let panel = panel("time [s]", "contact force, mean over 20 ms [N]", series);
        panels.push(Panel { guides: desired.collect(), ..panel });
    }
    Plot { title: read.title.clone(), panels }
}

/// Units of the efforts and positions of joints with efforts in these units.
fn units(efforts: &[&str]) -> (&'static str, &'static str) {
    match (efforts.contains(&"N·m"), efforts.contains(&"N")) {
        (true, true) => ("N·m or N", "rad or m"),
        (false, true) => ("N", "m"),
        _ => ("N·m", "rad"),
    }
}

/// Writes the page and its figure.
pub(super) fn write(folder: &Path, path: &Path, read: &Read, study: &Study) -> Result<()> {
    let name = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let error = study.error(read.mechanism.model.nv);
    let mut text = String::new();
    writeln!(text, "# {}\n", read.title)?;
    writeln!(
        text,
        "Made by `karakuri inverse-dynamics config/mechanisms/{name}.yaml --page {}`; theory: \
         [parallel inverse dynamics](../../theory/parallel-inverse-dynamics.md).\n",
        folder.display()
    )?;
    writeln!(
        text,
        "Largest error against the recursive algorithm over the largest effort ({:.4} N·m or N), and the order between \
         the last two steps:\n",
        error.scale
    )?;
    let steps = study.convergence.first().map(|c| c.steps_s.clone()).unwrap_or_default();
    let header: Vec<String> = steps.iter().map(|dt| format!("{:.3} ms", 1e3 * dt)).collect();
    writeln!(text, "| variant | {} | order |", header.join(" | "))?;
    writeln!(text, "|---|{}---|", "---|".repeat(steps.len()))?;
    for c in &study.convergence {
        let errors: Vec<String> = c.errors.iter().map(|e| format!("{e:.1e}")).collect();
        let order = c.orders.last().copied().unwrap_or(f64::NAN);
        writeln!(text, "| {} | {} | {order:.2} |", c.variant, errors.join(" | "))?;
    }
    writeln!(text)?;
    if !study.tracking.is_empty() {
        writeln!(
            text,
            "In the physics simulation, largest distance of a driven joint from its target:\n"
        )?;
        writeln!(text, "| | rad or m |\n|---|---|")?;
        for run in &study.tracking {
            writeln!(text, "| {} | {:.2e} |", run.name, run.peak_error)?;
        }
        writeln!(text)?;
    }
    if let Some(contact) = &read.contact {
        writeln!(text, "{}", contact.describe())?;
        writeln!(
            text,
            "| | force, mean over 20 ms | force, rms of single steps | object from its target |\n|---|---|---|---|"
        )?;
        for press in &study.contact {
            let percent = |x: f64| format!("{:.2} %", 100.0 * x);
            // A distance beyond its own size means that the object was dropped.
            let distance = |d: f64| {
                if d < 0.1 { format!("{:.2} mm", 1e3 * d) } else { "dropped".to_owned() }
            };
            writeln!(
                text,
                "| {} | {} | {} | {} |",
                press.name,
                percent(press.largest_force_error),
                percent(press.rms_force_error),
                press.largest_distance.map_or_else(|| "-".to_owned(), distance)
            )?;
        }
        writeln!(text)?;
    }
    for warning in &study.torques.warnings {
        writeln!(text, "Warning: {warning}\n")?;
    }
    writeln!(text, "![torques, errors, convergence]({name}.svg)")?;
    write_atomic(&folder.join(format!("{name}.md")), text.as_bytes())?;
    figure(read, study).write_svg(&folder.join(format!("{name}.svg")))?;
    Ok(())
}
