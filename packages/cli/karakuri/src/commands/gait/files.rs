//! Input files of the commands of the study of 1991, and the output of their reports.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use karakuri_files::{read_text, read_yaml, write_json};
use karakuri_gait::compensation::{
    Arms, BodyData, Cards, CardsError, SteadySpec, SurveyGrid, TransientSpec,
};
use serde::Deserialize;
use serde_json::Value;

use crate::input::input_file;
use crate::output;

#[derive(Debug, clap::Args)]
pub(super) struct Files {
    /// The gait, YAML: of those in config/gaits, `h2.yaml` is steady, `ah2_start.yaml` a start and `h2_stop.yaml` a stop
    #[arg(value_parser = input_file())]
    pub(super) gait: PathBuf,
    /// GAIT is a card file of the study's programs (its Appendix A-1, or B-1 for starts and stops), and this the cards of its compensation
    /// (A-2, B-2)
    #[arg(long, value_name = "FILE")]
    pub(super) cards: Option<PathBuf>,
    /// All masses in their centres: no moments of inertia
    #[arg(long)]
    pub(super) point_masses: bool,
    /// What the arms do, instead of the file's word: fixed, active or passive
    #[arg(long)]
    pub(super) arms: Option<ArmsKind>,
    /// Factor of the arms' mass and inertia
    #[arg(long, default_value_t = 1.0)]
    pub(super) arm_mass_factor: f64,
    /// A folder for figures, SVG
    #[arg(long, value_name = "FOLDER")]
    pub(super) plot: Option<PathBuf>,
    /// Write the report here instead of to stdout
    #[arg(long, value_name = "FILE.json")]
    pub(super) report: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(super) enum ArmsKind {
    Fixed,
    Active,
    Passive,
}

impl From<ArmsKind> for Arms {
    fn from(kind: ArmsKind) -> Self {
        match kind {
            ArmsKind::Fixed => Self::Fixed,
            ArmsKind::Active => Self::Active,
            ArmsKind::Passive => Self::Passive,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct GaitFile {
    #[serde(default)]
    pub(in super::super) body: BodyData,
    #[serde(default = "active")]
    pub(in super::super) arms: Arms,
    pub(in super::super) steady: Option<SteadySpec>,
    pub(in super::super) transient: Option<TransientSpec>,
    pub(super) survey: Option<SurveyGrid>,
    /// Starts of the march: four or eight numbers each, as `--start` takes them.
    #[serde(default)]
    pub(super) starts: Vec<Vec<f64>>,
}

fn active() -> Arms {
    Arms::Active
}

pub(super) fn read(files: &Files) -> Result<GaitFile> {
    let factor = files.arm_mass_factor;
    if !(factor > 0.0 && factor <= 1000.0) {
        bail!("--arm-mass-factor {factor}: write a number above 0, at most 1000");
    }
    let mut file: GaitFile = match &files.cards {
        None => read_yaml(&files.gait)?,
        Some(cards) => from_cards(&files.gait, &read_text(&files.gait)?, cards)?,
    };
    file.body = file.body.with_arm_factor(factor);
    if files.point_masses {
        file.body = file.body.as_point_masses();
    }
    file.arms = files.arms.map_or(file.arms, Arms::from);
    Ok(file)
}

/// Gait file from cards of the study's programs, with its person.
fn from_cards(gait: &Path, text: &str, compensation: &Path) -> Result<GaitFile> {
    let more = read_text(compensation)?;
    let cards = Cards::read(text, &more).map_err(|error| match error {
        CardsError::Gait(e) => anyhow!("{}: {e}", gait.display()),
        CardsError::Compensation(e) => anyhow!("{}: {e}", compensation.display()),
    })?;
    let empty = GaitFile {
        body: BodyData::default(),
        arms: Arms::Active,
        steady: None,
        transient: None,
        survey: None,
        starts: Vec::new(),
    };
    Ok(match cards {
        Cards::Steady(steady, starts) => {
            let starts = starts.iter().map(|start| start.to_vec()).collect();
            GaitFile { steady: Some(steady), starts, ..empty }
        }
        Cards::Transient(transient, grid) => {
            GaitFile { transient: Some(*transient), survey: Some(grid), ..empty }
        }
    })
}

pub(super) fn missing(files: &Files, key: &str) -> anyhow::Error {
    let gait = files.gait.display();
    let like = if key == "steady" { "h2" } else { "ah2_start" };
    anyhow!("{gait}: there is no `{key}`; give it one as config/gaits/{like}.yaml has")
}

pub(super) fn write(files: &Files, report: &Value) -> Result<()> {
    match &files.report {
        Some(path) => Ok(write_json(path, report)?),
        None => output::json(report, None),
    }
}

pub(super) fn name(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}
