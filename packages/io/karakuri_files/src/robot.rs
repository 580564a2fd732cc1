//! Robots from disk.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use karakuri_collision::ShapeError;
use karakuri_model::yaml::{Node, YamlError, read_tree};
use karakuri_model::{Base, Diagnostics, Loaded, Source, decode_text, load};
use serde::de::DeserializeOwned;

use crate::FileAssets;
use crate::convex::find_robot_parts;

/// Largest size of a file with a robot, a scene or a table. [bytes]
const SIZE_LIMIT: u64 = 256 << 20;

/// Reason why a robot does not load.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The operating system refuses to read a file.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        error: std::io::Error,
    },
    /// The file is larger than any robot or scene, or has no end.
    #[error("{} has more than {} MiB; name a text file, and put large shapes into mesh files", path.display(), SIZE_LIMIT >> 20)]
    TooLarge {
        /// Path of the file.
        path: PathBuf,
    },
    /// The mesh of a link cannot be decomposed.
    #[error("link `{link}`: {source}; write `convex: {{{link}: hull}}`, or mend the mesh")]
    Parts {
        /// Name of the link.
        link: String,
        /// Error of the decomposition.
        source: ShapeError,
    },
    /// The files have errors; every problem.
    #[error("{0}")]
    Wrong(#[from] Diagnostics),
    /// A file is not YAML, or not of its kind.
    #[error(transparent)]
    Yaml(#[from] YamlError),
}

/// Reads a robot: URDF, robot YAML if any, and the meshes that the URDF names.
///
/// `base` overrides the robot YAML's; without either, the root link is fixed at the world's origin.
///
/// # Errors
/// When a file cannot be read or is too large, the robot is wrong (all problems), or a mesh cannot be decomposed.
pub fn load_robot(
    urdf: &Path,
    config: Option<&Path>,
    base: Option<Base>,
) -> Result<Loaded, LoadError> {
    let urdf_text = read_text(urdf)?;
    let config_text = config.map(read_text).transpose()?;
    let (urdf_name, config_name) =
        (urdf.display().to_string(), config.map(|c| c.display().to_string()));
    let source = Source {
        urdf_name: &urdf_name,
        urdf_text: &urdf_text,
        config: config_name.as_deref().zip(config_text.as_deref()),
        base,
    };
    let mut loaded = load(&source, &mut FileAssets::from_env())?;
    let said = find_robot_parts(&mut loaded.model, config_name.as_deref().unwrap_or(&urdf_name))
        .map_err(|(link, source)| LoadError::Parts { link, source })?;
    loaded.warnings.extend(said);
    Ok(loaded)
}

/// Reads a YAML file as a type.
///
/// # Errors
/// When the file cannot be read, or its content does not fit the type, with line and key.
pub fn read_yaml<T: DeserializeOwned>(path: &Path) -> Result<T, LoadError> {
    Ok(read_yaml_tree(path)?.to()?)
}

/// Reads a YAML file as a tree, where a key decides the kind of the file.
///
/// # Errors
/// When the file cannot be read, or is not YAML, with the line.
pub fn read_yaml_tree(path: &Path) -> Result<Arc<Node>, LoadError> {
    Ok(read_tree(&path.display().to_string(), &read_text(path)?)?)
}

/// Reads the text of a file: UTF-8 or UTF-16.
///
/// # Errors
/// When the file cannot be read, is too large, or is neither UTF-8 nor UTF-16.
pub fn read_text(path: &Path) -> Result<String, LoadError> {
    let unreadable = |error| LoadError::Unreadable { path: path.to_owned(), error };
    // A device or a pipe, which has no size, may have no end.
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(SIZE_LIMIT + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > SIZE_LIMIT {
        return Err(LoadError::TooLarge { path: path.to_owned() });
    }
    Ok(decode_text(&path.display().to_string(), &bytes)?)
}
