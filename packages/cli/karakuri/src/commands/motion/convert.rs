//! `karakuri motion convert`: documents and files of other programs into each other.

use std::path::PathBuf;

use anyhow::{Context as _, Result, anyhow, bail};
use karakuri_files::write_atomic;
use karakuri_motion::formats::{Format, Note, export};
use karakuri_motion::{ReviewSettings, file, fit_to_limits, stretch};
use serde_json::json;

use super::source::{MotionArgs, format};
use crate::commands::Outcome;
use crate::output;

/// Converts a motion between documents and the files of other programs
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    #[command(flatten)]
    source: MotionArgs,
    /// File to write; `.yaml` is a document
    output: PathBuf,
    /// Format to write, where the name does not say it
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    to: Option<Format>,
    /// Make the motion slower by this factor [-]
    #[arg(long, value_name = "FACTOR", conflicts_with = "fit")]
    slower: Option<f64>,
    /// Make the motion as much slower as the speeds and torques of the joints ask
    #[arg(long)]
    fit: bool,
    /// Write what was rounded, clipped, guessed or left out as JSON to stdout
    #[arg(long)]
    json: bool,
}

const HELP: &str = "\
Formats: csv (a header of time and joints), editor-csv (robot_motion_editor), webots (.motion),
seq (Choreonoid), khr1-csv (degrees from the boards' home) and khr1-yaml (degrees of the
servos), both for `karakuri hardware upload`, trajectory (JointTrajectory as JSON), play-motion2
(PAL; written only), pseq (Choreonoid key poses; read only), rcb (HeartToHeart 3; read only).
What was rounded, clipped or guessed is listed.

  karakuri motion convert greet.yaml greet.csv
  karakuri motion convert greet.motion greet.yaml --urdf khr1.urdf --config khr1.yaml
  karakuri motion convert greet.yaml bow.csv --to khr1-csv --hardware config/hardware/khr1.yaml";

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Outcome> {
    let mut source = args.source.load()?;
    let mut notes = std::mem::take(&mut source.notes);
    let factor = match args.slower {
        Some(factor) if !(0.01..=100.0).contains(&factor) => {
            bail!("--slower {factor}: write a number from 0.01 to 100")
        }
        Some(factor) => Some(factor),
        None if args.fit => {
            Some(fit_to_limits(&mut source.performance()?, &ReviewSettings::default()).factor)
        }
        None => None,
    };
    if let Some(factor) = factor {
        let copies = stretch(&mut source.document, &source.name, factor);
        // A time may be beyond what a document can say.
        if let Some(problem) = source.document.check().first() {
            bail!("slower by a factor of {factor:.4}: {problem}");
        }
        notes.push(Note { line: 0, message: format!("slower by a factor of {factor:.4}") });
        if !copies.is_empty() {
            let message = format!("the motions that it plays are slower as {}", copies.join(", "));
            notes.push(Note { line: 0, message });
        }
    }
    let name = args.output.display().to_string();
    let ending = args.output.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let by_name = match ending.as_str() {
        "csv" => Some(Format::Csv),
        "motion" => Some(Format::Webots),
        "seq" => Some(Format::Seq),
        "json" => Some(Format::Trajectory),
        _ => None,
    };
    let is_document = args.to.is_none() && ["yaml", "yml"].contains(&ending.as_str());
    let text = if is_document {
        file::write(&source.document)
    } else {
        let to = args.to.or(by_name).with_context(|| {
            format!("{name}: the format to write is not known; give it with --to, or write a document: .yaml")
        })?;
        let mut performance = source.performance()?;
        let written = export(to, &source.name, &mut performance, &source.options());
        let written = written.map_err(|message| anyhow!("{name}: {message}"))?;
        notes.extend(written.notes);
        written.text
    };
    write_atomic(&args.output, text.as_bytes())?;
    if args.json {
        output::json(&json!({ "motion": source.name, "notes": notes }), None)?;
    } else {
        for note in &notes {
            match note.line {
                0 => output::print(&format!("{}\n", note.message))?,
                line => output::print(&format!("line {line}: {}\n", note.message))?,
            }
        }
    }
    let wrote = output::wrote(&[Some(&args.output)]);
    output::done(&format!("converted {} of {}{wrote}", source.name, args.source.file.display()));
    Ok(Outcome::Done)
}
