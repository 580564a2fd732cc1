//! Files that are written whole or not at all, whenever the program is stopped.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A file could not be written; its previous content is untouched.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {}", path.display(), reason(error))]
pub struct WriteError {
    /// Path of the file.
    pub path: PathBuf,
    /// Error of the system.
    pub error: io::Error,
}

/// Reason of an error with its remedy, where that is clear.
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

/// Writes a file through a temporary one beside it. Makes missing folders. A symbolic link stays, its target is replaced; a
/// device or a pipe is written in place.
///
/// # Errors
/// When the path is a folder, or the system refuses: no permission, a full disk. The previous content is untouched.
pub fn write_atomic(path: &Path, content: &[u8]) -> Result<(), WriteError> {
    let mut pending = Pending::create(path)?;
    pending.write_all(content).map_err(|error| WriteError { path: path.to_owned(), error })?;
    pending.commit()
}

/// File that is being written; if it is dropped without [`Self::commit`], it never appears.
#[derive(Debug)]
pub(crate) struct Pending {
    path: PathBuf,
    output: Output,
}

#[derive(Debug)]
enum Output {
    /// A temporary file beside the regular file that it will replace.
    Beside { temporary: NamedTempFile, target: PathBuf },
    /// A device, a pipe or a socket, which cannot be replaced by a file.
    InPlace(File),
}

/// Largest number of links that follow each other, as in Linux.
const LINKS: usize = 40;

impl Pending {
    pub(crate) fn create(path: &Path) -> Result<Self, WriteError> {
        let fail = |error| WriteError { path: path.to_owned(), error };
        let output = match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => {
                return Err(fail(io::ErrorKind::IsADirectory.into()));
            }
            // `/dev/stdout` may be a regular file, but one that another process holds open and reads on.
            Ok(metadata) if !metadata.is_file() || is_descriptor(path) => {
                Output::InPlace(OpenOptions::new().write(true).open(path).map_err(fail)?)
            }
            _ => {
                let target = follow(path).map_err(fail)?;
                Output::Beside { temporary: temporary_beside(&target).map_err(fail)?, target }
            }
        };
        Ok(Self { path: path.to_owned(), output })
    }

    /// Puts the file in its place, complete and synchronised to the disk.
    pub(crate) fn commit(self) -> Result<(), WriteError> {
        let Self { path, output } = self;
        let written = match output {
            Output::InPlace(mut file) => file.flush(),
            Output::Beside { mut temporary, target } => temporary
                .flush()
                .and_then(|()| temporary.as_file().sync_all())
                .and_then(|()| temporary.persist(&target).map(drop).map_err(|e| e.error)),
        };
        written.map_err(|error| WriteError { path, error })
    }
}

impl Write for Pending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.output {
            // The file itself: errors of `NamedTempFile` name the temporary file, which means nothing to the user.
            Output::Beside { temporary, .. } => temporary.as_file_mut().write(bytes),
            Output::InPlace(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.output {
            Output::Beside { temporary, .. } => temporary.as_file_mut().flush(),
            Output::InPlace(file) => file.flush(),
        }
    }
}

/// Whether a path is an open file of this process by its number, as `/dev/stdout`.
fn is_descriptor(path: &Path) -> bool {
    ["/proc", "/dev/fd", "/dev/stdout", "/dev/stderr"].iter().any(|start| path.starts_with(start))
}

/// Target of a symbolic link in the end, whether it exists or not; any other path as it is.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&target) {
            Ok(next) => target = target.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("symbolic links lead in a circle; name the file itself"))
}

/// New file in the folder of the one that it will replace; the folder is made where it is missing.
fn temporary_beside(target: &Path) -> io::Result<NamedTempFile> {
    let folder = target.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // Less the umask, as any new file; temporary files are private otherwise.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
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

    #[cfg(unix)]
    #[test]
    fn a_link_stays_and_a_pipe_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::os::unix::fs::symlink("file", &link).unwrap();
        for content in [b"one", b"two"] {
            write_atomic(&link, content).unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(fs::read(&file).unwrap(), content);
        }
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read(pipe).unwrap()
        });
        write_atomic(&pipe, b"through").unwrap();
        assert_eq!(reader.join().unwrap(), b"through");
        assert!(!fs::symlink_metadata(&pipe).unwrap().is_file(), "the pipe is still a pipe");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_is_written_and_stays_a_device() {
        write_atomic(Path::new("/dev/null"), b"gone").unwrap();
        assert!(!fs::symlink_metadata("/dev/null").unwrap().is_file());
        let error = write_atomic(Path::new("/dev/full"), b"x").unwrap_err().to_string();
        assert!(error.contains("the disk is full"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_circle_of_links_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        std::os::unix::fs::symlink(&a, &b).unwrap();
        std::os::unix::fs::symlink(&b, &a).unwrap();
        let error = write_atomic(&a, b"").unwrap_err().to_string();
        assert!(error.contains("circle"), "{error}");
    }
}
