//! What a studio is started with.

use std::path::PathBuf;

use crate::board::Board;

/// What a studio is started with.
#[derive(Debug, Clone)]
pub struct Settings {
    /// URDF, motions or scene.
    pub file: PathBuf,
    /// Robot YAML of a URDF; found beside it if not given.
    pub config: Option<PathBuf>,
    /// Folder below which files are opened and saved; the working folder if the file is below it, else the file's.
    pub folder: Option<PathBuf>,
    /// Folder of the page, in place of the one in the program.
    pub page: Option<PathBuf>,
    /// Boards that motions can be uploaded to.
    pub board: Option<Board>,
}
