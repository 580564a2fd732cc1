//! Cells from scene files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use karakuri_control::FeedforwardSettings;
use karakuri_files::{GaitError, LoadError, load_gait};
use karakuri_gait::planner::{Biped, BipedError, WalkEngine};
use karakuri_hardware::RobotIoError;
use karakuri_model::{Base, Diagnostics, Model};
use karakuri_simulation::{LoadedScene, SceneToolsError, SimulatedWorld, load_scene};

use crate::{Cell, CellError, CellSettings, Tuning};

/// Longest time in which a scene comes to rest. [s]
const LONGEST_REST: f64 = 60.0;

/// Scene of a cell, and how it is run.
#[derive(Debug, Clone, PartialEq)]
pub struct CellFile {
    /// Scene file, with one robot that has a hand, or with one robot that walks.
    pub scene: PathBuf,
    /// Gait file of a robot that walks.
    pub gait: Option<PathBuf>,
    /// Tools file of a robot that changes its tools.
    pub tools: Option<PathBuf>,
    /// Time between two samples of the robot: a whole number of the scene's time steps. [s]
    pub period: f64,
    /// Time in which the scene comes to rest before. [s]
    pub settle: f64,
    /// Whether the shapes of objects are seen; else their boxes alone, as nodes see them.
    pub sees_shapes: bool,
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
        Self {
            scene: scene.to_owned(),
            gait: None,
            tools: None,
            period: Self::PERIOD,
            settle: Self::SETTLE,
            sees_shapes: false,
        }
    }

    /// The cell of the scene's robot, at rest.
    ///
    /// # Errors
    /// When a file is wrong, not one robot can be meant, or a time is out of its range.
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
        let mut io = SimulatedWorld::new(world, whole(steps));
        if let Some(tools) = &self.tools {
            io = loaded.with_tools(io, &self.scene, tools)?;
        }
        let walk = self.gait.as_deref().map(engine).transpose()?;
        let control = match walk {
            // The efforts of a walk know of the floor; the controller's own feed-forward does not.
            Some(_) => {
                FeedforwardSettings { feedforward_scale: 0.0, ..FeedforwardSettings::default() }
            }
            None => FeedforwardSettings::default(),
        };
        let tuning = Tuning { control, ..Tuning::default() };
        let sees_shapes = self.sees_shapes;
        let settings = CellSettings { tuning, walk, sees_shapes, sight_period: Self::SIGHT_PERIOD };
        let mut cell = Cell::new(io, robot, settings)?;
        let end = cell.now().plus_seconds(settle - 0.5 * period);
        while cell.now() < end {
            cell.step()?;
        }
        Ok(cell)
    }

    /// Index of the one robot that is meant: the only one that walks, or the one that has a hand.
    fn robot(&self, loaded: &LoadedScene) -> Result<usize, OpenError> {
        let models = loaded.models.iter().enumerate();
        let is_meant = |model: &Model| match self.gait {
            Some(_) => model.base == Base::Floating,
            None => model.end_effector.is_some(),
        };
        let meant: Vec<_> = models.filter(|(_, model)| is_meant(model)).collect();
        if let [(robot, _)] = meant[..] {
            return Ok(robot);
        }
        let what = if self.gait.is_some() { "walk" } else { "have a hand" };
        Err(OpenError::Robots { scene: self.scene.clone(), n: meant.len(), what })
    }
}

/// Engine of a gait file, standing.
fn engine(gait: &Path) -> Result<WalkEngine, OpenError> {
    let (robot, settings) = load_gait(gait)?;
    let wrong = |error| OpenError::Walk { gait: gait.to_owned(), error };
    let biped = Biped::new(Arc::new(robot.model), &settings).map_err(wrong)?;
    WalkEngine::new(biped, settings).map_err(wrong)
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
    /// Not one robot can be meant.
    #[error("{}: {n} of its robots {what}; one must", scene.display())]
    Robots {
        /// Scene file.
        scene: PathBuf,
        /// Number of robots that can be meant.
        n: usize,
        /// What a robot that is meant does.
        what: &'static str,
    },
    /// The gait file is wrong.
    #[error(transparent)]
    Gait(#[from] GaitError),
    /// The gait's robot does not walk so.
    #[error("{}: {error}", gait.display())]
    Walk {
        /// Gait file.
        gait: PathBuf,
        /// Cause.
        error: BipedError,
    },
    /// The robot's hand or controller cannot be made.
    #[error(transparent)]
    Cell(#[from] CellError),
    /// The tools are not those of the scene's robot.
    #[error(transparent)]
    Tools(#[from] SceneToolsError),
    /// The scene does not come to rest.
    #[error(transparent)]
    Io(#[from] RobotIoError),
}
