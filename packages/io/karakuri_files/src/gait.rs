//! Gait files: a robot and the settings of its walk.

use std::path::{Path, PathBuf};

use karakuri_gait::planner::WalkSettings;
use karakuri_model::{AssetError, Base, Loaded};
use serde::Deserialize;

use crate::{FileAssets, LoadError, load_robot, read_yaml};

/// Reason why a gait does not load.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GaitError {
    /// The gait file or the robot's does not load.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A package that the gait names is not found, or has no such file.
    #[error(
        "{}: `{key}`: {source}; packages are looked for in ROS_PACKAGE_PATH and AMENT_PREFIX_PATH, other names beside the gait file",
        path.display()
    )]
    NotFound {
        /// Path of the gait file.
        path: PathBuf,
        /// Key of the gait file that names it.
        key: &'static str,
        /// Error of the search.
        source: AssetError,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GaitFile {
    urdf: String,
    config: String,
    walk: WalkSettings,
}

/// Reads a gait file (`config/gaits/<robot>_walk.yaml`) and the robot that it names, relative to it or as
/// `package://`, with a floating base.
///
/// # Errors
/// When the gait file is wrong, a file that it names is not found, or the robot is wrong.
pub fn load_gait(path: &Path) -> Result<(Loaded, WalkSettings), GaitError> {
    let file: GaitFile = read_yaml(path)?;
    let assets = FileAssets::from_env();
    let find = |key: &'static str, uri: &str| {
        let found = assets.resolve(uri, path);
        found.map_err(|source| GaitError::NotFound { path: path.to_owned(), key, source })
    };
    let (urdf, config) = (find("urdf", &file.urdf)?, find("config", &file.config)?);
    Ok((load_robot(&urdf, Some(&config), Some(Base::Floating))?, file.walk))
}
