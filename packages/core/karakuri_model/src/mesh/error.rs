//! Errors of mesh files.

/// Why a mesh file gives no triangles.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// Neither the name nor the content is of a format that is read.
    #[error("unknown format `{0}`")]
    UnknownFormat(String),
    /// A content that is not what its format says.
    #[error("damaged {format} file: {reason}")]
    Damaged {
        /// Name of the format: STL, OBJ or DAE.
        format: &'static str,
        /// Fault of the content.
        reason: String,
    },
    /// A file without triangles.
    #[error("it holds no triangles")]
    Empty,
}
