//! `karakuri plot`: curves of a recorded CSV over time, one panel a unit.

use std::path::PathBuf;

use anyhow::{Result, bail};
use karakuri_files::{Panel, Plot, Series, read_trace};

use super::Outcome;
use crate::output::svg_file;

/// Most curves of a panel that can still be told apart.
const CURVES: usize = 12;

/// Draws the columns of a trace over its time, one panel a unit
#[derive(Debug, clap::Args)]
pub struct Args {
    /// CSV with units in its header, the first column the time
    trace: PathBuf,
    /// Columns to draw, by name without unit; all when left out
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    columns: Vec<String>,
    /// What stands above
    #[arg(long, default_value = "")]
    title: String,
    /// The plot
    #[arg(long, value_name = "FILE.svg", value_parser = svg_file)]
    output: PathBuf,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Outcome> {
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
        let label = format!("[{}]", column.unit);
        let points = trace.rows.iter().map(|row| (row[0], row[index])).collect();
        let series = Series::new(column.name.clone(), points);
        match panels.iter_mut().find(|p| p.y_label == label && p.series.len() < CURVES) {
            Some(panel) => panel.series.push(series),
            None => panels.push(Panel {
                x_label: "time [s]".to_owned(),
                y_label: label,
                series: vec![series],
            }),
        }
    }
    if panels.is_empty() {
        bail!("{}: nothing to draw besides the time", args.trace.display());
    }
    let plot = Plot { title: args.title.clone(), panels };
    plot.write_svg(&args.output)?;
    Ok(Outcome::Done)
}
