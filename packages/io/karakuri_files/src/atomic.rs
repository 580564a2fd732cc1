//! Files that are whole or not there, whenever the program is stopped.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A file could not be written; what was there before is untouched.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {}", path.display(), reason(error))]
pub struct WriteError {
    /// The file.
    pub path: PathBuf,
    /// What the system says.
    pub error: io::Error,
}

/// What the user can do about it, where that is clear.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "the disk is full; free space, or write elsewhere".to_owned()
        }
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
            format!("{error}; write elsewhere, or change the folder's permissions")
        }
        io::ErrorKind::IsADirectory => "it is a folder; name a file".to_owned(),
        _ => error.to_string(),
    }
}

/// Writes a file by way of a temporary one beside it. Makes missing folders.
pub fn write_atomic(path: &Path, content: &[u8]) -> Result<(), WriteError> {
    let mut pending = Pending::create(path)?;
    pending.file.write_all(content).map_err(|error| WriteError { path: path.to_owned(), error })?;
    pending.commit()
}

/// A file that is being written; dropped without [`Self::commit`], it was never there.
#[derive(Debug)]
pub(crate) struct Pending {
    path: PathBuf,
    pub(crate) file: NamedTempFile,
}

impl Pending {
    pub(crate) fn create(path: &Path) -> Result<Self, WriteError> {
        let fail = |error| WriteError { path: path.to_owned(), error };
        if path.is_dir() {
            return Err(fail(io::ErrorKind::IsADirectory.into()));
        }
        let folder = path.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(fail)?;
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            // Less the umask, as any new file; temporary files are private otherwise.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let file = builder.tempfile_in(folder).map_err(fail)?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Puts the file in its place, whole and on the disk.
    pub(crate) fn commit(self) -> Result<(), WriteError> {
        let Self { path, mut file } = self;
        let written = file.flush().and_then(|()| file.as_file().sync_all());
        match written.and_then(|()| file.persist(&path).map(drop).map_err(|e| e.error)) {
            Ok(()) => Ok(()),
            Err(error) => Err(WriteError { path, error }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_folders_are_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/out.json");
        write_atomic(&path, b"one").unwrap();
        write_atomic(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        drop(Pending::create(&path).unwrap());
        let names: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().collect();
        assert_eq!(names.len(), 1, "no temporary file is left: {names:?}");
    }

    #[test]
    fn what_cannot_be_written_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let error = write_atomic(folder.path(), b"").unwrap_err().to_string();
        assert!(error.ends_with("it is a folder; name a file"), "{error}");
        let file = folder.path().join("f");
        write_atomic(&file, b"").unwrap();
        let error = write_atomic(&file.join("g"), b"").unwrap_err().to_string();
        assert!(error.starts_with("cannot write "), "{error}");
        let full = WriteError { path: "f".into(), error: io::ErrorKind::StorageFull.into() };
        assert_eq!(
            full.to_string(),
            "cannot write f: the disk is full; free space, or write elsewhere"
        );
    }
}
