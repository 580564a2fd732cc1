//! `karakuri motion play`: a motion in the physics simulation, as a table over time.

use std::path::PathBuf;

use anyhow::Result;
use karakuri_files::write_atomic;
use karakuri_simulation::{ClipChunk, ClipLayout, PreviewSink};

use super::check::{perform, verdict};
use super::source::MotionArgs;
use crate::commands::Outcome;
use crate::interrupt::Interrupt;
use crate::output;

/// Performs a motion in the physics simulation and writes what happens
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    #[command(flatten)]
    source: MotionArgs,
    /// Write body poses, joint positions, velocities and efforts over time here, at 60 Hz
    #[arg(long, value_name = "FILE.csv")]
    trace: PathBuf,
}

const HELP: &str = "\
The columns are `time`, then `<body>.x` to `<body>.qw` of every body in world axes, then
`<joint>.q`, `<joint>.v` and `<joint>.tau`: SI units. Exit code 3 unless the motion is performed.

  karakuri motion play config/motions/khr1_greet.yaml --trace greet.csv
  karakuri plot greet.csv --columns l_hip_pitch.q,l_hip_pitch.tau";

/// A clip as a table.
#[derive(Default)]
struct Table {
    text: String,
    width: usize,
    period: f64,
}

impl PreviewSink for Table {
    fn layout(&mut self, layout: &ClipLayout) {
        (self.width, self.period) = (layout.width(), layout.period);
        self.text += "time";
        for body in &layout.bodies {
            for part in ["x", "y", "z", "qx", "qy", "qz", "qw"] {
                self.text.extend([format!(",{body}.{part}")]);
            }
        }
        for joint in &layout.joints {
            self.text.extend([format!(",{joint}.q,{joint}.v,{joint}.tau")]);
        }
        self.text.push('\n');
    }

    fn chunk(&mut self, chunk: ClipChunk) {
        for (k, row) in chunk.rows.chunks(self.width.max(1)).enumerate() {
            self.text.extend([format!("{:.6}", (chunk.first_row + k) as f64 * self.period)]);
            for value in row {
                self.text.extend([format!(",{value}")]);
            }
            self.text.push('\n');
        }
    }
}

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Outcome> {
    let source = args.source.load()?;
    let interrupt = Interrupt::watch()?;
    let mut table = Table::default();
    let report = perform(&source, &args.source, &interrupt, &mut table)?;
    write_atomic(&args.trace, table.text.as_bytes())?;
    let wrote = output::wrote(&[Some(&args.trace)]);
    output::done(&format!("performed {} in the simulation{wrote}", source.name));
    Ok(verdict(&report).map_or(Outcome::Done, Outcome::Failed))
}
