//! The motion that a command is about: a document, or a file of another program with its robot.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, bail};
use karakuri_files::{FileAssets, load_robot, read_text, read_yaml};
use karakuri_model::Base;
use karakuri_motion::formats::{Format, FormatOptions, Note, Servo, import};
use karakuri_motion::{AngleUnit, Document, Performance, Performer, Problem, Units, file};
use serde::Deserialize;

use crate::input::input_file;

/// Which motion a command is about.
#[derive(Debug, clap::Args)]
pub(super) struct MotionArgs {
    /// The motion: a document, YAML (docs/motion.md), or a file of another program
    #[arg(value_parser = input_file())]
    pub(super) file: PathBuf,
    /// Motion of the document; the first one, if not given
    #[arg(long, value_name = "NAME")]
    pub(super) motion: Option<String>,
    /// The robot's URDF; that of the document, if not given
    #[arg(long, value_parser = input_file())]
    urdf: Option<PathBuf>,
    /// Robot YAML; that of the document, if not given
    #[arg(long, value_parser = input_file())]
    config: Option<PathBuf>,
    /// Format of the file, where its name does not say it
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    from: Option<Format>,
    /// Hardware file that says which channel turns which joint, for tables of boards
    #[arg(long, value_name = "FILE", value_parser = input_file())]
    hardware: Option<PathBuf>,
    /// Frames a second of files that do not say
    #[arg(long, value_name = "N", default_value_t = 50.0)]
    fps: f64,
}

/// Reads the name of a format.
pub(super) fn format(text: &str) -> Result<Format, String> {
    let found = Format::ALL.iter().find(|(name, _)| *name == text).map(|(_, format)| *format);
    found.ok_or_else(|| {
        let names: Vec<&str> = Format::ALL.iter().map(|(name, _)| *name).collect();
        format!("write one of {}", names.join(", "))
    })
}

/// A motion and its robot.
pub(super) struct MotionSource {
    pub(super) document: Document,
    /// Name of the motion.
    pub(super) name: String,
    pub(super) performer: Arc<Performer>,
    pub(super) servos: Vec<Servo>,
    pub(super) fps: f64,
    /// Remarks of a reader.
    pub(super) notes: Vec<Note>,
}

impl MotionArgs {
    /// A document by itself.
    pub(super) fn of(file: &Path) -> Self {
        let file = file.to_owned();
        Self { file, motion: None, urdf: None, config: None, from: None, hardware: None, fps: 50.0 }
    }

    pub(super) fn load(&self) -> Result<MotionSource> {
        if !(self.fps > 0.0 && self.fps <= 10_000.0) {
            bail!("--fps {}: write a number above 0, at most 10000", self.fps);
        }
        let text = read_text(&self.file)?;
        let shown = self.file.display().to_string();
        let servos = self.hardware.as_deref().map(servos).transpose()?.unwrap_or_default();
        let guess = || Format::guess(&shown, &text);
        let is_document = self.from.is_none() && text.contains(file::KEY);
        let (document, performer, notes) = if is_document {
            let document = file::read(&shown, &text)?;
            let performer = self.robot_of(&document)?;
            (document, performer, Vec::new())
        } else {
            let Some(format) = self.from.or_else(guess) else {
                bail!(
                    "{shown}: the format is not known; give it with --from, or write a document, which begins with `{}: 1`",
                    file::KEY
                );
            };
            let Some(urdf) = &self.urdf else {
                bail!(
                    "{shown} does not name its robot; give its --urdf, and --config for its robot YAML"
                );
            };
            let performer = performer(urdf, self.config.as_deref())?;
            let options = FormatOptions {
                performer: &performer,
                unit: AngleUnit::Deg,
                frames_per_second: self.fps,
                servos: &servos,
            };
            let imported = import(format, &shown, &text, &options)?;
            let mut document =
                Document { units: Units { angle: AngleUnit::Deg }, ..Document::default() };
            document.robot.model.clone_from(&performer.model.name);
            document.robot.urdf = urdf.display().to_string();
            document.robot.config = self.config.as_ref().map(|path| path.display().to_string());
            let notes = imported.notes.clone();
            let ops = imported.ops(&document);
            document.commit(&ops)?;
            (document, performer, notes)
        };
        let name = self.name_in(&document, &shown)?;
        Ok(MotionSource { document, name, performer, servos, fps: self.fps, notes })
    }

    fn name_in(&self, document: &Document, shown: &str) -> Result<String> {
        let names: Vec<&str> = document.motions.keys().map(String::as_str).collect();
        match &self.motion {
            Some(name) if names.contains(&name.as_str()) => Ok(name.clone()),
            Some(name) if names.is_empty() => bail!("{shown} has no motions, so no `{name}`"),
            Some(name) => bail!("{shown} has no motion `{name}`; it has {}", names.join(", ")),
            None => {
                let first = names.first().map(|name| (*name).to_owned());
                first.with_context(|| format!("{shown} has no motion; add one under `motions`"))
            }
        }
    }

    /// The robot that a document names, or the command line.
    fn robot_of(&self, document: &Document) -> Result<Arc<Performer>> {
        let assets = FileAssets::from_env();
        let find = |given: &Option<PathBuf>, named: Option<&str>, key: &str| match (given, named) {
            (Some(path), _) => Ok(Some(path.clone())),
            (None, Some(name)) if !name.is_empty() => assets
                .resolve(name, &self.file)
                .map(Some)
                .with_context(|| format!("{}: robot.{key}", self.file.display())),
            _ => Ok(None),
        };
        let urdf = find(&self.urdf, Some(&document.robot.urdf), "urdf")?;
        let Some(urdf) = urdf else {
            bail!(
                "{} names no robot; write `robot: {{urdf: ...}}`, or give --urdf",
                self.file.display()
            );
        };
        let config = find(&self.config, document.robot.config.as_deref(), "config")?;
        performer(&urdf, config.as_deref())
    }
}

fn performer(urdf: &Path, config: Option<&Path>) -> Result<Arc<Performer>> {
    // Without a robot YAML a walker would be nailed to the world.
    let base = config.is_none().then_some(Base::Floating);
    let model = load_robot(urdf, config, base)?.model;
    Ok(Arc::new(Performer::new(Arc::new(model))))
}

impl MotionSource {
    /// The motion, ready for its robot.
    pub(super) fn performance(&self) -> Result<Performance> {
        self.performance_of(&self.name)
    }

    /// Another motion of the document, ready for its robot.
    pub(super) fn performance_of(&self, name: &str) -> Result<Performance> {
        Performance::new(&self.document, name, &self.performer).map_err(|all| listed(&all))
    }

    /// Options for formats.
    pub(super) fn options(&self) -> FormatOptions<'_> {
        FormatOptions {
            performer: &self.performer,
            unit: self.document.units.angle,
            frames_per_second: self.fps,
            servos: &self.servos,
        }
    }
}

/// All problems, a line each.
fn listed(problems: &[Problem]) -> anyhow::Error {
    let mut text = String::new();
    for problem in problems.iter().take(20) {
        text.extend([format!("{problem}\n")]);
    }
    anyhow!("{}", text.trim_end())
}

#[derive(Deserialize)]
struct HardwareServos {
    bus: String,
    servos: std::collections::BTreeMap<String, ServoEntry>,
}

#[derive(Deserialize)]
struct ServoEntry {
    id: usize,
    #[serde(default)]
    zero: f64,
    #[serde(default)]
    reversed: bool,
}

/// Servos of a hardware file of RCB-1 boards.
fn servos(path: &Path) -> Result<Vec<Servo>> {
    let HardwareServos { bus, servos } = read_yaml(path)?;
    if bus != "rcb1" {
        bail!("{}: tables of channels are of `bus: rcb1`, not {bus}", path.display());
    }
    let servo = |(joint, ServoEntry { id, zero, reversed })| Servo {
        joint,
        channel: id,
        zero_deg: zero,
        reversed,
    };
    Ok(servos.into_iter().map(servo).collect())
}
