//! Files that a robot's files name: meshes, an SRDF. This crate opens none; whoever loads a robot brings them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::Mesh;
use crate::diagnostic::{Place, Report};
use crate::mesh::decode;

/// Triangles above which a mesh is worth a warning: drawing and colliding it costs.
// Above what exporters write for a link; scans and CAD files that nobody reduced have more.
const MANY_TRIANGLES: usize = 500_000;
/// Extent above which a mesh is most often in millimetres. [m]
// A link of 5 cm in millimetres, and larger than any link in metres.
const LARGE_EXTENT: f64 = 50.0;

/// Brings the bytes of files that a robot's files name.
pub trait Assets {
    /// The file `uri` (`package://`, `file://`, absolute or relative), as named by the file `named_in`.
    ///
    /// # Errors
    /// When the file or its package is not found, the scheme is unknown, or the file is too large or cannot be read.
    fn read(&mut self, uri: &str, named_in: &str) -> Result<Asset, AssetError>;
}

/// A file's bytes.
#[derive(Debug, Clone)]
pub struct Asset {
    /// Path at which it was found.
    pub path: PathBuf,
    /// Content of the file.
    pub bytes: Vec<u8>,
}

/// Why a file could not be brought.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AssetError {
    /// A file that does not exist.
    #[error("file not found: {}", .0.display())]
    NotFound(PathBuf),
    /// A ROS package that does not exist.
    #[error("package `{0}` not found")]
    PackageNotFound(String),
    /// A file larger than any sensible mesh.
    #[error("{} has {size} bytes, above the limit of {limit}", path.display())]
    TooLarge {
        /// Path of the file.
        path: PathBuf,
        /// Size of the file. [bytes]
        size: u64,
        /// Largest size that is read. [bytes]
        limit: u64,
    },
    /// A refusal by the operating system.
    #[error("cannot read {}: {reason}", path.display())]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// Reason that the system gives.
        reason: String,
    },
    /// A kind of address that is not read, such as `http://`.
    #[error("`{0}` is not package://, file:// or a path")]
    UnknownScheme(String),
    /// A reader that reads no files at all.
    #[error("files are not read here")]
    NotRead,
}

impl AssetError {
    /// Remedy for a user.
    pub fn remedy(&self) -> String {
        match self {
            Self::NotFound(_) => "correct the name, or install the file".to_owned(),
            Self::PackageNotFound(name) => format!(
                "source the workspace that holds `{name}`, or add its parent folder to ROS_PACKAGE_PATH"
            ),
            Self::TooLarge { .. } => "reduce the mesh, in Blender with Decimate".to_owned(),
            Self::Unreadable { .. } => "check the file's permissions".to_owned(),
            Self::UnknownScheme(_) => "write package://PACKAGE/PATH or a relative path".to_owned(),
            Self::NotRead => "load the robot with its files".to_owned(),
        }
    }
}

/// Assets that bring nothing: for robots whose meshes do not matter. Each mesh is left out with a warning.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoAssets;

impl Assets for NoAssets {
    fn read(&mut self, _: &str, _: &str) -> Result<Asset, AssetError> {
        Err(AssetError::NotRead)
    }
}

/// Loads every mesh once.
pub(crate) struct MeshCache<'a> {
    assets: &'a mut dyn Assets,
    meshes: BTreeMap<(String, [u64; 3]), Option<Arc<Mesh>>>,
}

impl<'a> MeshCache<'a> {
    pub(crate) fn new(assets: &'a mut dyn Assets) -> Self {
        Self { assets, meshes: BTreeMap::new() }
    }

    /// The mesh, scaled; `None` after a warning that it is left out.
    pub(crate) fn load(
        &mut self,
        uri: &str,
        named_in: &str,
        scale: [f64; 3],
        place: &Place,
        report: &mut Report,
    ) -> Option<Arc<Mesh>> {
        // By bits, as floats have no order for a map; the scale is part of the key because vertices are kept scaled.
        let key = (uri.to_owned(), scale.map(f64::to_bits));
        if let Some(mesh) = self.meshes.get(&key) {
            return mesh.clone();
        }
        let mesh = self.read(uri, named_in, scale, place, report).map(Arc::new);
        // A mesh that failed is kept as well: its warning comes once, not for each link that uses it.
        self.meshes.insert(key, mesh.clone());
        mesh
    }

    fn read(
        &mut self,
        uri: &str,
        named_in: &str,
        scale: [f64; 3],
        place: &Place,
        report: &mut Report,
    ) -> Option<Mesh> {
        // A warning, not an error: a robot without a picture or a contact shape still moves, and many are only simulated.
        let left_out = |remedy: String| format!("the shape is left out; {remedy}");
        let asset = match self.assets.read(uri, named_in) {
            Ok(asset) => asset,
            Err(error) => {
                let message = format!("mesh `{uri}`: {error}");
                report.warn_at(place.clone(), message, left_out(error.remedy()));
                return None;
            }
        };
        let mut mesh = match decode(&asset) {
            Ok(mesh) => mesh,
            Err(error) => {
                let message = format!("mesh `{uri}`: {error}");
                report.warn_at(
                    place.clone(),
                    message,
                    left_out("export it again as STL, OBJ or DAE".to_owned()),
                );
                return None;
            }
        };
        // Before the extent is measured: a file in millimetres with its scale is right.
        mesh.scale(scale);
        let triangles = mesh.triangles.len();
        if triangles > MANY_TRIANGLES {
            report.warn_at(
                place.clone(),
                format!("mesh `{uri}` has {triangles} triangles"),
                "it is slow to draw and to collide: reduce it, in Blender with Decimate",
            );
        }
        let extent = mesh.extent();
        if extent > LARGE_EXTENT {
            report.warn_at(
                place.clone(),
                format!("mesh `{uri}` is {extent:.0} m large"),
                "if it is in millimetres, write scale=\"0.001 0.001 0.001\"",
            );
        }
        Some(mesh)
    }
}
