//! Shared parts of commands about one robot: loading it, naming its links, numbers on the command line.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result, anyhow, bail};
use karakuri_files::{LoadError, load_robot, read_text};
use karakuri_model::{Base, FrameId, Loaded, Model};
use karakuri_spatial::Pose;

use crate::input::input_file;

/// Base of a robot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum BaseKind {
    /// The root link is fixed at the world's origin
    Fixed,
    /// The root link is free
    Floating,
}

impl From<BaseKind> for Base {
    fn from(kind: BaseKind) -> Self {
        match kind {
            BaseKind::Fixed => Self::Fixed(Pose::IDENTITY),
            BaseKind::Floating => Self::Floating,
        }
    }
}

/// Which robot a command is about.
#[derive(Debug, clap::Args)]
pub(crate) struct RobotArgs {
    /// The robot's URDF, as path or `package://PACKAGE/PATH`
    #[arg(value_parser = input_file())]
    urdf: PathBuf,
    /// Robot YAML: drives, loops, sensors, hand
    #[arg(long, value_parser = input_file())]
    config: Option<PathBuf>,
    /// What the robot stands on; the robot YAML's, or fixed at the world's origin, if not given
    #[arg(long)]
    base: Option<BaseKind>,
}

impl RobotArgs {
    /// File that was named.
    pub(crate) fn path(&self) -> &Path {
        &self.urdf
    }

    /// Robot YAML that was named.
    pub(crate) fn config(&self) -> Option<&Path> {
        self.config.as_deref()
    }

    /// Reads the robot, with its warnings.
    pub(crate) fn read(&self) -> Result<Loaded, LoadError> {
        load_robot(&self.urdf, self.config.as_deref(), self.base.map(Base::from))
    }

    /// Loads the robot; its warnings are counted on stderr.
    pub(crate) fn load(&self) -> Result<Model> {
        let loaded = self.read()?;
        if !loaded.warnings.is_empty() {
            let (n, urdf) = (loaded.warnings.len(), self.urdf.display());
            tracing::info!("{urdf}: {n} warnings; `karakuri check {urdf}` lists them");
        }
        Ok(loaded.model)
    }
}

/// Text of a file, or of the standard input for `-`.
pub(crate) fn read_input(file: &Path) -> Result<String> {
    if file != Path::new("-") {
        return Ok(read_text(file)?);
    }
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("cannot read the standard input")?;
    Ok(text)
}

/// Links of these names; all without names.
pub(crate) fn links(model: &Model, names: &[String]) -> Result<Vec<FrameId>> {
    if names.is_empty() {
        return Ok((0..model.frames.len()).map(FrameId).collect());
    }
    names.iter().map(|name| link(model, name)).collect()
}

/// Link of this name.
pub(crate) fn link(model: &Model, name: &str) -> Result<FrameId> {
    let names = model.frames.iter().map(|frame| frame.name.as_str());
    model.frame(name).ok_or_else(|| unknown("link", name, names))
}

/// Error about an unknown name, with the known ones.
pub(crate) fn unknown<'a>(
    kind: &str,
    name: &str,
    known: impl Iterator<Item = &'a str>,
) -> anyhow::Error {
    let known: Vec<&str> = known.collect();
    anyhow!("the robot has no {kind} `{name}`; it has {}", known.join(", "))
}

/// Numbers separated by commas.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Numbers(pub(crate) Vec<f64>);

impl FromStr for Numbers {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let number = |part: &str| match part.trim().parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(x),
            _ => Err(anyhow!("`{}` is not a finite number", part.trim())),
        };
        text.split(',').map(number).collect::<Result<_>>().map(Self)
    }
}

impl Numbers {
    /// Exactly N of the numbers.
    pub(crate) fn fixed<const N: usize>(&self) -> Result<[f64; N]> {
        let Ok(numbers) = self.0.as_slice().try_into() else {
            bail!("expected {N} numbers, got {}", self.0.len())
        };
        Ok(numbers)
    }
}
