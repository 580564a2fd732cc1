//! Gait files: a robot and how it walks.

use std::path::{Path, PathBuf};

use karakuri_gait::planner::WalkSettings;
use karakuri_model::{Base, Loaded};
use serde::Deserialize;

use crate::{LoadError, load_robot, read_text};

/// Why a gait does not load.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GaitError {
    /// The gait file or the robot's.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The gait file is no gait.
    #[error("{}: {source}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: serde_yaml::Error,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GaitFile {
    urdf: PathBuf,
    config: PathBuf,
    walk: WalkSettings,
}

/// Reads a gait file (`config/gaits/<robot>_walk.yaml`) and the robot that it names, with a floating base.
pub fn load_gait(path: &Path) -> Result<(Loaded, WalkSettings), GaitError> {
    let text = read_text(path)?;
    let file: GaitFile = serde_yaml::from_str(&text)
        .map_err(|source| GaitError::Wrong { path: path.to_owned(), source })?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let (urdf, config) = (folder.join(file.urdf), folder.join(file.config));
    Ok((load_robot(&urdf, Some(&config), Some(Base::Floating))?, file.walk))
}
