//! Arguments of a sweep, and the shared parts of its kinds: cores, shards, the closing sentence.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rayon::prelude::*;

use crate::input::input_file;
use crate::interrupt::Interrupt;
use crate::output::{self, svg_file};
use crate::progress;

/// Largest number of combinations.
pub(super) const MOST: usize = 1_000_000;

/// Solves a steady gait, a start or a stop, walks, or simulates a scene, for every combination of parameters
///
/// A file with `scene` simulates that scene with other numbers in it: see config/sweeps/grip.yaml; exit code 3 where a run cannot go on.
/// A file with `walks` walks: see config/sweeps/walking.yaml; exit code 3 where one falls that may not. Else one row of CSV a combination, in a fixed order. A motion that is not found is a row with `converged` 0; of a start or
/// stop the row is the verdict of the coefficients `sway` and `pitch`, or, without them, the most central motion. With shards, each of
/// n processes takes every n-th combination; put their files together for the whole.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The parameters, YAML, such as `config/sweeps/arms.yaml`
    #[arg(value_parser = input_file())]
    pub(super) sweep: PathBuf,
    /// Where the rows go, CSV
    #[arg(long, value_name = "FILE.csv")]
    pub(super) output: PathBuf,
    /// Ranges of the angles over the arms' mass, or what else is varied first; of scenes what is measured at the end, over what is varied first
    #[arg(long, value_name = "FILE.svg", value_parser = svg_file)]
    pub(super) plot: Option<PathBuf>,
    /// A Markdown page whose tables, between `<!-- walks NAME -->` and `<!-- end -->`, become those of the walks
    #[arg(long, value_name = "FILE.md")]
    pub(super) page: Option<PathBuf>,
    /// Keeps the report of each walk here as it ends, JSON lines, and walks only what is not there yet
    #[arg(long, value_name = "FILE.jsonl")]
    pub(super) resume: Option<PathBuf>,
    /// Combinations at a time; all cores without it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) jobs: Option<u16>,
    /// Only a share of the combinations, such as 2/8: the second of eight
    #[arg(long, value_name = "I/N", value_parser = shard, default_value = "1/1")]
    pub(super) shard: Shard,
}

impl Args {
    pub(super) fn pool(&self) -> Result<rayon::ThreadPool> {
        rayon::ThreadPoolBuilder::new()
            .num_threads(self.jobs.map_or(0, usize::from))
            .build()
            .context("cannot start the worker threads")
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Shard {
    pub(super) index: usize,
    pub(super) count: usize,
}

impl Shard {
    pub(super) fn of<C>(self, cases: &[C]) -> Vec<&C> {
        cases.iter().skip(self.index - 1).step_by(self.count).collect()
    }
}

fn shard(text: &str) -> Result<Shard, String> {
    let numbers = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    match numbers {
        Some((index, count)) if index >= 1 && index <= count => Ok(Shard { index, count }),
        _ => Err("write two whole numbers, the first from 1 to the second, as 2/8".to_owned()),
    }
}

/// Reports that a sweep over this many combinations is done.
pub(super) fn say(args: &Args, combinations: usize) {
    let files = [Some(args.output.as_path()), args.plot.as_deref(), args.page.as_deref()];
    let (sweep, wrote) = (args.sweep.display(), output::wrote(&files));
    let plural = if combinations == 1 { "" } else { "s" };
    output::done(&format!("swept {combinations} combination{plural} of {sweep}{wrote}"));
}

/// Computes a row per case, on all cores; `None` after Ctrl-C.
pub(super) fn all<C: Sync, R: Send>(
    args: &Args,
    cases: &[&C],
    solve: impl Fn(&C, &Interrupt) -> R + Sync,
) -> Result<Option<Vec<R>>> {
    let interrupt = Interrupt::watch()?;
    let bar = progress::bar(cases.len() as u64, "sweeping");
    let rows = args.pool()?.install(|| {
        cases
            .par_iter()
            .map(|case| {
                let row = solve(case, &interrupt);
                bar.inc(1);
                (!interrupt.is_raised()).then_some(row)
            })
            .collect()
    });
    bar.finish_and_clear();
    Ok(rows)
}

/// Path of a file that a sweep names relative to its own.
pub(super) fn beside(sweep: &Path, file: &Path) -> PathBuf {
    sweep.parent().unwrap_or(Path::new(".")).join(file)
}
