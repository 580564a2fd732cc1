//! Why a port does not do what it was asked for, each with a remedy.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a port cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// No such device.
    #[error("there is no port {}; {}", path.display(), listed(present))]
    Missing {
        /// What was asked for.
        path: PathBuf,
        /// Ports that are there.
        present: Vec<PathBuf>,
    },
    /// The user may not.
    #[error(
        "port {} may not be opened by this user; join its group by `sudo usermod -aG dialout $USER`, then log in again",
        path.display()
    )]
    Forbidden {
        /// The port.
        path: PathBuf,
    },
    /// Another process has it.
    #[error("port {} is in use by {owners}; end that first", path.display())]
    Busy {
        /// The port.
        path: PathBuf,
        /// Names and numbers of the processes that have it, as far as they can be seen.
        owners: String,
    },
    /// It is something else, or does not take the settings.
    #[error("{} cannot be opened as a serial port: {what}; {}", path.display(), listed(present))]
    Unfit {
        /// What was asked for.
        path: PathBuf,
        /// What the system says.
        what: String,
        /// Ports that are there.
        present: Vec<PathBuf>,
    },
}

/// Why bytes are not sent or received.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PortError {
    /// Nothing came until the deadline.
    #[error("nothing answers on {}; check power, cable, id and baud rate", path.display())]
    Silent {
        /// The port.
        path: Arc<Path>,
    },
    /// It takes no more bytes.
    #[error("port {} takes no more bytes; plug the adapter out and in", path.display())]
    Stalled {
        /// The port.
        path: Arc<Path>,
    },
    /// What was sent did not come back as it was, on one wire: something else sends.
    #[error("on {} something else sends at the same time; give each device an id of its own", path.display())]
    Collision {
        /// The port.
        path: Arc<Path>,
    },
    /// The device is gone. Drop the port, then open it again.
    #[error("port {} is gone ({what}); plug the adapter in", path.display())]
    Lost {
        /// The port.
        path: Arc<Path>,
        /// What the system says.
        what: String,
    },
}

impl OpenError {
    pub(super) fn new(path: &Path, error: &serialport::Error) -> Self {
        let path = path.to_owned();
        match error.kind() {
            _ if !path.exists() => Self::Missing { path, present: ports(Path::new("/dev")) },
            serialport::ErrorKind::Io(ErrorKind::PermissionDenied) => Self::Forbidden { path },
            // Of an exclusive port, or of its lock.
            serialport::ErrorKind::NoDevice => {
                let owners =
                    owners(&path).unwrap_or_else(|| "a process of another user".to_owned());
                Self::Busy { path, owners }
            }
            _ => {
                let present = ports(Path::new("/dev"));
                Self::Unfit { path, what: error.to_string(), present }
            }
        }
    }
}

/// Serial ports below a folder of devices: by the names of adapters where there are some.
pub(super) fn ports(dev: &Path) -> Vec<PathBuf> {
    let entries = |folder: PathBuf| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        paths
    };
    let by_id = entries(dev.join("serial/by-id"));
    if !by_id.is_empty() {
        return by_id;
    }
    let is_port = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        ["ttyUSB", "ttyACM", "ttyAMA"].iter().any(|start| name.starts_with(start))
    };
    entries(dev.to_owned()).into_iter().filter(is_port).collect()
}

fn listed(ports: &[PathBuf]) -> String {
    if ports.is_empty() {
        return "no serial port is there: plug the adapter in, or load its driver".to_owned();
    }
    let names: Vec<_> = ports.iter().map(|port| port.display().to_string()).collect();
    format!("use one of {}", names.join(", "))
}

/// Names and numbers of the processes that have a file open, as far as they can be seen.
fn owners(path: &Path) -> Option<String> {
    let device = path.canonicalize().ok()?;
    let mut owners = Vec::new();
    for process in fs::read_dir("/proc").ok()?.flatten() {
        let number = process.file_name().to_string_lossy().into_owned();
        let Ok(files) = fs::read_dir(process.path().join("fd")) else { continue };
        let has_it = |file: fs::DirEntry| fs::read_link(file.path()).is_ok_and(|to| to == device);
        if number.parse::<u32>().is_ok() && files.flatten().any(has_it) {
            let name = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
            owners.push(format!("`{}` ({number})", name.trim()));
        }
    }
    (!owners.is_empty()).then(|| owners.join(" and "))
}
