//! Cells from scene files.

use std::path::{Path, PathBuf};

use karakuri_files::LoadError;
use karakuri_hardware::RobotIoError;
use karakuri_model::Diagnostics;
use karakuri_simulation::{LoadedScene, SimulatedWorld, load_scene};

use crate::{Cell, CellError, CellSettings};

/// Longest time in which a scene comes to rest. [s]
const LONGEST_REST: f64 = 60.0;

/// Scene of a cell, and how it is run.
#[derive(Debug, Clone, PartialEq)]
pub struct CellFile {
    /// Scene file, with one robot that has a hand.
    pub scene: PathBuf,
    /// Time between two samples of the robot: a whole number of the scene's time steps. [s]
    pub period: f64,
    /// Time in which the scene comes to rest before. [s]
    pub settle: f64,
}

impl CellFile {
    /// Time between two samples, as the nodes have it. [s]
    pub const PERIOD: f64 = 0.002;
    /// Time between two sightings of the objects, as `sim` publishes them. [s]
    const SIGHT_PERIOD: f64 = 0.02;
    /// Time in which a scene comes to rest. [s]
    pub const SETTLE: f64 = 0.5;

    /// A scene that is run as the nodes do.
    pub fn new(scene: &Path) -> Self {
        Self { scene: scene.to_owned(), period: Self::PERIOD, settle: Self::SETTLE }
    }

    /// The cell of the scene's robot, at rest.
    ///
    /// # Errors
    /// When a file is wrong, not one robot has a hand, or a time is out of its range.
    pub fn open(&self) -> Result<Cell, OpenError> {
        self.cell(&load_scene(&self.scene)?)
    }

    /// The cell, and the URDF of its robot.
    ///
    /// # Errors
    /// As those of [`open`](Self::open).
    pub fn open_with_urdf(&self) -> Result<(Cell, String), OpenError> {
        let loaded = load_scene(&self.scene)?;
        let urdf = loaded.urdf(self.robot(&loaded)?, &self.scene)?;
        Ok((self.cell(&loaded)?, urdf))
    }

    fn cell(&self, loaded: &LoadedScene) -> Result<Cell, OpenError> {
        let Self { period, settle, .. } = self;
        let world = loaded.world()?;
        let step = world.settings().dt;
        let steps = (period / step).round();
        if !(*period > 0.0 && steps <= 1e6 && (steps * step / period - 1.0).abs() < 1e-6) {
            return Err(OpenError::Period { period: *period, step });
        }
        if !(0.0..=LONGEST_REST).contains(settle) {
            return Err(OpenError::Settle { settle: *settle });
        }
        let robot = self.robot(loaded)?;
        let io = SimulatedWorld::new(world, whole(steps));
        let settings = CellSettings { sight_period: Self::SIGHT_PERIOD, ..CellSettings::default() };
        let mut cell = Cell::new(io, robot, settings)?;
        let end = cell.now().plus_seconds(settle - 0.5 * period);
        while cell.now() < end {
            cell.step()?;
        }
        Ok(cell)
    }

    /// Index of the one robot that has a hand.
    fn robot(&self, loaded: &LoadedScene) -> Result<usize, OpenError> {
        let models = loaded.models.iter().enumerate();
        let hands: Vec<_> = models.filter(|(_, model)| model.end_effector.is_some()).collect();
        match hands[..] {
            [(robot, _)] => Ok(robot),
            _ => Err(OpenError::Hands { scene: self.scene.clone(), n: hands.len() }),
        }
    }
}

/// A whole number of steps.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rounded, positive, and at most a million, as was checked before"
)]
fn whole(steps: f64) -> usize {
    steps as usize
}

/// Cause that keeps a scene from being a cell.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// A file cannot be read, or is wrong.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The scene cannot be simulated.
    #[error(transparent)]
    World(#[from] Diagnostics),
    /// Samples do not fit the time steps.
    #[error("period {period} s: write a whole number of the scene's time steps of {step} s")]
    Period {
        /// Time between two samples. [s]
        period: f64,
        /// Time step of the scene. [s]
        step: f64,
    },
    /// The time of rest is out of range.
    #[error("{settle} s in which the scene comes to rest: write 0 to {LONGEST_REST} s")]
    Settle {
        /// Time that was asked for. [s]
        settle: f64,
    },
    /// Not one robot has a hand.
    #[error("{}: {n} of its robots have a hand; one must", scene.display())]
    Hands {
        /// Scene file.
        scene: PathBuf,
        /// Number of robots with a hand.
        n: usize,
    },
    /// The robot's hand or controller cannot be made.
    #[error(transparent)]
    Cell(#[from] CellError),
    /// The scene does not come to rest.
    #[error(transparent)]
    Io(#[from] RobotIoError),
}
