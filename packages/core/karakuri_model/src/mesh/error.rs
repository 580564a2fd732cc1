//! What is wrong with a mesh file.

/// Why a mesh file gives no triangles.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// Neither the name nor the content is of a format that is read.
    #[error("unknown format `{0}`")]
    UnknownFormat(String),
    /// The content is not what its format says.
    #[error("damaged {format} file: {reason}")]
    Damaged {
        /// STL, OBJ or DAE.
        format: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// No triangles.
    #[error("it holds no triangles")]
    Empty,
}
