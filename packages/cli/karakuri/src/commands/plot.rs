//! `karakuri plot`: curves of a recorded CSV over time, one panel a unit, or a figure that a YAML file describes.

use std::path::PathBuf;

use anyhow::{Result, bail};
use karakuri_files::{
    Column, DISTINCT_SERIES, Guide, GuideAt, Panel, Plot, Series, read_trace, read_yaml,
};

use super::Outcome;
use crate::output::svg_file;

/// Draws the columns of a trace over its time, one panel a unit, or a figure
///
/// A figure is YAML or JSON: `title`, and `panels` of `x_label`, `y_label`, `log: [false, true]` (logarithmic axes), `rows` (names in the
/// place of numbers along the vertical axis), `guides` (`{name: limit, y: 15}`) and `series` (`{name: left, points: [[0, 1], [1, 2]], style: dots}`; styles are
/// `line`, `dots`, `rings`, `crosses`, `line_dots`, `line_rings`).
#[derive(Debug, clap::Args)]
pub struct Args {
    /// CSV with units in its header, the first column the time; or a figure, .yaml or .json
    trace: PathBuf,
    /// Columns to draw, by name without unit; all when left out
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    columns: Vec<String>,
    /// A vertical line where a phase begins [s]; may be repeated
    #[arg(long, value_name = "T=NAME", value_parser = instant)]
    phase: Vec<Guide>,
    /// A horizontal line at a limit or a desired value, in the panels of its unit; may be repeated
    #[arg(long, value_name = "VALUE[UNIT]=NAME", value_parser = level, allow_hyphen_values = true)]
    level: Vec<Level>,
    /// What stands above
    #[arg(long, default_value = "")]
    title: String,
    /// The plot
    #[arg(long, value_name = "FILE.svg", value_parser = svg_file)]
    output: PathBuf,
}

/// Level and the unit of the panels that it belongs to.
#[derive(Debug, Clone)]
struct Level {
    unit: String,
    guide: Guide,
}

fn instant(text: &str) -> Result<Guide, String> {
    let parsed = text.split_once('=').and_then(|(time, name)| {
        let time = time.trim().parse::<f64>().ok().filter(|t| t.is_finite())?;
        Some(Guide { name: name.trim().to_owned(), at: GuideAt::X(time) })
    });
    parsed.ok_or_else(|| "write the time in seconds and a name, as 1.25=LIFT".to_owned())
}

fn level(text: &str) -> Result<Level, String> {
    let parsed = text.split_once('=').and_then(|(value, name)| {
        let (value, unit) = value.trim().strip_suffix(']')?.split_once('[')?;
        let value = value.trim().parse::<f64>().ok().filter(|v| v.is_finite())?;
        let guide = Guide { name: name.trim().to_owned(), at: GuideAt::Y(value) };
        Some(Level { unit: unit.trim().to_owned(), guide })
    });
    parsed.ok_or_else(|| "write a value with its unit and a name, as 10[N]=desired".to_owned())
}

/// Quantity of a column, from the end of its name and its unit: `arm.elbow.q [rad]` is a position.
fn quantity(column: &Column) -> &'static str {
    let part = column.name.rsplit(['.', ' ', '/']).next().unwrap_or_default();
    match (part, column.unit.as_str()) {
        ("q", _) => "joint position",
        ("v", _) => "joint velocity",
        ("tau", _) => "joint effort",
        ("qx" | "qy" | "qz" | "qw", _) => "orientation",
        (_, "m" | "mm") => "position",
        (_, "rad" | "deg" | "mrad") => "angle",
        (_, "m/s" | "mm/s") => "velocity",
        (_, "rad/s" | "deg/s") => "angular velocity",
        (_, "m/s²" | "m/s^2") => "acceleration",
        (_, "rad/s²" | "rad/s^2") => "angular acceleration",
        (_, "N") => "force",
        (_, "N·m" | "Nm" | "N m") => "torque",
        (_, "N·s") => "impulse",
        (_, "J") => "energy",
        (_, "W") => "power",
        (_, "s") => "duration",
        _ => "value",
    }
}

/// Runs the command.
///
/// # Errors
/// When the trace or figure cannot be read, lacks a named column or has nothing to draw, or the plot cannot be
/// written.
pub fn run(args: &Args) -> Result<Outcome> {
    let is_figure = |extension| ["yaml", "yml", "json"].iter().any(|e| extension == *e);
    let plot = if args.trace.extension().is_some_and(is_figure) {
        figure(args)?
    } else {
        over_time(args)?
    };
    plot.write_svg(&args.output)?;
    Ok(Outcome::Done)
}

/// Plot that a figure file describes.
fn figure(args: &Args) -> Result<Plot> {
    let place = || args.trace.display().to_string();
    if !(args.columns.is_empty() && args.phase.is_empty() && args.level.is_empty()) {
        bail!("{}: a figure has its `series` and `guides` in its file", place());
    }
    let mut plot: Plot = read_yaml(&args.trace)?;
    if plot.panels.is_empty() {
        bail!("{}: no `panels`; there is nothing to draw", place());
    }
    if !args.title.is_empty() {
        plot.title.clone_from(&args.title);
    }
    Ok(plot)
}

/// Plot of the columns of a trace, a panel per quantity and unit.
fn over_time(args: &Args) -> Result<Plot> {
    let trace = read_trace(&args.trace)?;
    let mut panels: Vec<Panel> = Vec::new();
    for name in &args.columns {
        if !trace.columns.iter().any(|c| c.name == *name) {
            let names: Vec<&str> = trace.columns.iter().skip(1).map(|c| c.name.as_str()).collect();
            bail!("{}: no column `{name}`; there are {}", args.trace.display(), names.join(", "));
        }
    }
    for (index, column) in trace.columns.iter().enumerate().skip(1) {
        if !args.columns.is_empty() && !args.columns.contains(&column.name) {
            continue;
        }
        let unit = if column.unit.is_empty() { "-" } else { &column.unit };
        let label = format!("{} [{unit}]", quantity(column));
        let points = trace.rows.iter().map(|row| (row[0], row[index])).collect();
        let series = Series::new(column.name.clone(), points);
        let with_room = |p: &&mut Panel| p.y_label == label && p.series.len() < DISTINCT_SERIES;
        if let Some(panel) = panels.iter_mut().find(with_room) {
            panel.series.push(series);
            continue;
        }
        let levels = args.level.iter().filter(|level| level.unit == column.unit);
        let guides = levels.map(|level| &level.guide).chain(&args.phase).cloned().collect();
        let x_label = "time [s]".to_owned();
        panels.push(Panel {
            x_label,
            y_label: label,
            series: vec![series],
            guides,
            ..Panel::default()
        });
    }
    if trace.rows.is_empty() {
        bail!("{}: a header and no rows; nothing was recorded", args.trace.display());
    }
    if panels.is_empty() {
        bail!("{}: nothing to draw besides the time", args.trace.display());
    }
    Ok(Plot { title: args.title.clone(), panels })
}
