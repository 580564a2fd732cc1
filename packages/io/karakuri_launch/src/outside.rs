//! Files and folders of the machine, as the evaluation reads them. Tests put a table in their place.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;

/// Largest launch file and value. [bytes]
pub(crate) const SIZE_LIMIT: usize = 4 << 20;

/// Environment variables by name.
pub type Environment = BTreeMap<String, String>;

/// Machine, as far as the evaluation of a launch file needs it.
pub trait Outside {
    /// Reads the text of a file: UTF-8, of at most 4 MiB.
    ///
    /// # Errors
    /// When the file cannot be read, is larger, or is not UTF-8.
    fn read(&self, file: &Path) -> io::Result<String>;
    /// Whether the file exists.
    fn is_file(&self, file: &Path) -> bool;
    /// Whether the file exists and can be executed.
    fn is_executable(&self, file: &Path) -> bool;
    /// Names in a folder, sorted; none if the folder does not exist.
    fn list(&self, folder: &Path) -> Vec<String>;
}

/// Machine that this process runs on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Machine;

impl Outside for Machine {
    fn read(&self, file: &Path) -> io::Result<String> {
        let mut bytes = Vec::new();
        std::fs::File::open(file)?.take(SIZE_LIMIT as u64 + 1).read_to_end(&mut bytes)?;
        if bytes.len() > SIZE_LIMIT {
            let problem = format!("it has more than {} MiB", SIZE_LIMIT >> 20);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
        }
        String::from_utf8(bytes)
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
    }

    fn is_file(&self, file: &Path) -> bool {
        file.is_file()
    }

    fn is_executable(&self, file: &Path) -> bool {
        use std::os::unix::fs::PermissionsExt;
        file.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    }

    fn list(&self, folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}
