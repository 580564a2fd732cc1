//! `karakuri motion check`: a motion's limits, balance, and its run in the physics simulation.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use karakuri_files::write_json;
use karakuri_motion::{Check, Finding, ReviewSettings, fit_to_limits};
use karakuri_simulation::{
    ClipChunk, ClipLayout, PreviewReport, PreviewSettings, PreviewSink, Surroundings, Verdict,
    preview,
};
use serde_json::json;

use super::source::{MotionArgs, MotionSource};
use crate::commands::Outcome;
use crate::interrupt::Interrupt;
use crate::output;

/// Checks a motion, in the physics simulation as well
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    #[command(flatten)]
    source: MotionArgs,
    /// Write the report as JSON to stdout
    #[arg(long)]
    json: bool,
    /// Write the report as JSON to this file
    #[arg(long, value_name = "FILE.json")]
    report: Option<PathBuf>,
}

const HELP: &str = "\
Looks at every frame: limits of position, speed and torque, links that run into each other, the
margins of the centre of mass and of the zero moment point, the friction that the feet need. Then
the robot performs the motion in the simulation: the verdict is ok, falls, limit, torque, slip or
collision, with the first time and scene. Exit code 3 unless it is ok.

  karakuri motion check config/motions/khr1_greet.yaml
  karakuri motion check walk.motion --urdf urdf/khr1/khr1.urdf --config config/khr1.yaml --json";

/// A clip that nobody sees.
struct Unseen;

impl PreviewSink for Unseen {
    fn layout(&mut self, _: &ClipLayout) {}
    fn chunk(&mut self, _: ClipChunk) {}
}

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Outcome> {
    let source = args.source.load()?;
    let interrupt = Interrupt::watch()?;
    let began = Instant::now();
    let report = perform(&source, &args.source, &interrupt, &mut Unseen)?;
    let wall = began.elapsed().as_secs_f64();
    let fit = fit_to_limits(&mut source.performance()?, &ReviewSettings::default());
    let mut value = json!(report);
    value["motion"] = source.name.as_str().into();
    value["fit_to_limits"] = json!(fit);
    value["import_notes"] = json!(source.notes);
    value["steps_per_s"] = (report.steps as f64 / wall).into();
    if let Some(file) = &args.report {
        write_json(file, &value)?;
    }
    if args.json {
        output::json(&value, None)?;
    } else {
        output::print(&text(&source, &report))?;
        if fit.factor > 1.0 || !fit.too_weak.is_empty() {
            output::print(&advice(fit.joint.as_deref(), fit.factor, &fit.too_weak))?;
        }
    }
    Ok(match verdict(&report) {
        None => Outcome::Done,
        Some(reason) => Outcome::Failed(reason),
    })
}

/// Performs a motion in the simulation.
pub(super) fn perform(
    source: &MotionSource,
    args: &MotionArgs,
    interrupt: &Interrupt,
    sink: &mut dyn PreviewSink,
) -> Result<PreviewReport> {
    let surroundings = Surroundings { scene: &source.document.scene, file: &args.file };
    let settings = PreviewSettings::default();
    let mut performance = source.performance()?;
    Ok(preview(&mut performance, &surroundings, &settings, interrupt.flag(), sink)?)
}

/// Reason why a motion cannot be performed.
pub(super) fn verdict(report: &PreviewReport) -> Option<String> {
    let first = report.first.as_ref()?;
    let (time, scene) = (first.time, first.scene);
    let (what, value, limit) = (&first.what, first.value, first.limit);
    Some(match first.kind {
        Verdict::Falls => format!("the robot falls at {time:.2} s, in scene {scene}"),
        Verdict::Slip => {
            format!(
                "the {what} slides at {time:.2} s, in scene {scene}, by {:.1} cm",
                100.0 * value
            )
        }
        Verdict::Collision => {
            format!("{what} run into each other at {time:.2} s, in scene {scene}")
        }
        Verdict::Torque => format!(
            "`{what}` lacks torque at {time:.2} s, in scene {scene}: {value:.3} of {limit:.3} N·m or N"
        ),
        _ => format!(
            "`{what}` is beyond its limit at {time:.2} s, in scene {scene}: {value:.4}, not {limit:.4}"
        ),
    })
}

fn text(source: &MotionSource, report: &PreviewReport) -> String {
    let mut text = String::new();
    let review = &report.review;
    let scenes = source.document.motions.get(&source.name).map_or(0, |m| m.scenes.len());
    text.extend([format!(
        "{}: {:.3} s, {scenes} scenes, {} joints of {}\n",
        source.name,
        review.duration,
        review.peaks.len(),
        source.performer.model.name
    )]);
    for note in &source.notes {
        text.extend([format!("  line {}: {}\n", note.line, note.message)]);
    }
    if let (Some(margin), Some(at_rest)) = (review.least_margin, review.least_static_margin) {
        text.extend([format!(
            "  least margin: zero moment point {:.1} mm, centre of mass {:.1} mm\n",
            1e3 * margin,
            1e3 * at_rest
        )]);
    }
    for finding in &review.findings {
        text.extend([format!("  {}\n", sentence(finding))]);
    }
    let peak = report.peaks.iter().max_by(|a, b| a.torque.total_cmp(&b.torque));
    if let Some(peak) = peak {
        text.extend([format!("  largest torque: {:.3} N·m, of `{}`\n", peak.torque, peak.joint)]);
    }
    let verdict = serde_json::to_value(report.verdict).unwrap_or_default();
    text.extend([format!(
        "  simulated: {}, digest {}\n",
        verdict.as_str().unwrap_or("?"),
        report.digest
    )]);
    text
}

fn sentence(finding: &Finding) -> String {
    let Finding { what, time, scene, value, limit, worst, worst_time, .. } = finding;
    let kind = match finding.check {
        Check::Position => "position beyond its limit",
        Check::Speed => "faster than its limit",
        Check::Torque => "needs more torque than it has",
        Check::TorqueAtSpeed => "needs more torque than a motor has at that speed",
        Check::Impulse => "jumps in velocity",
        Check::Collision => "run into each other",
        Check::Slip => "needs more friction than the floor has",
        Check::Static => "centre of mass outside the feet",
        Check::Balance => "zero moment point outside the feet",
        Check::Sole => "a standing sole is off the floor",
    };
    let mark = if finding.check.is_error() { "!" } else { "-" };
    format!(
        "{mark} {what}: {kind} from {time:.2} s (scene {scene}): {value:.4}, limit {limit:.4}; worst {worst:.4} at {worst_time:.2} s"
    )
}

fn advice(joint: Option<&str>, factor: f64, too_weak: &[String]) -> String {
    let mut text = String::new();
    if let Some(joint) = joint {
        text.extend([format!(
            "  slower by a factor of {factor:.2} `{joint}` would keep its limits\n"
        )]);
    }
    if !too_weak.is_empty() {
        text.extend([format!(
            "  no slowing helps {}: too weak to hold the pose\n",
            too_weak.join(", ")
        )]);
    }
    text
}
