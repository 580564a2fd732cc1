//! The hardware file that a name stands for.

use std::fs;
use std::path::{Path, PathBuf};

use karakuri_model::Diagnostics;

use super::registry::BUSES;
use super::setup::HardwareFile;
use crate::RobotLayout;

/// Why a name stands for no hardware file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FindError {
    /// No name was given.
    #[error("no hardware is named; write {known}")]
    Unnamed {
        /// What is known.
        known: String,
    },
    /// No file and no bus has the name.
    #[error("there is no hardware `{name}`; write {known}")]
    Unknown {
        /// The name.
        name: String,
        /// What is known.
        known: String,
    },
    /// A bus is named without its port.
    #[error("the port of `{bus}` is not given; write `device:=/dev/serial/by-id/...`")]
    NoDevice {
        /// The bus.
        bus: &'static str,
    },
    /// The port is no path.
    #[error(
        "`{}` is no path of a port; write an absolute path, best one of /dev/serial/by-id, which follows the adapter", .device.display()
    )]
    Device {
        /// What was given.
        device: PathBuf,
    },
    /// The file is wrong.
    #[error(transparent)]
    Wrong(#[from] Diagnostics),
}

/// Hardware of a robot by a path, by the name of a file in `folder`, or by that of a bus: servos 1, 2, 3 ... in the order of the joints,
/// for which `device` is needed. A `device` replaces the file's.
///
/// # Errors
/// When nothing has that name, or what has it is wrong.
pub fn find(
    name: &str,
    folder: &Path,
    device: Option<&Path>,
    layout: &RobotLayout,
) -> Result<HardwareFile, FindError> {
    if let Some(device) = device.filter(|device| !device.is_absolute()) {
        return Err(FindError::Device { device: device.to_owned() });
    }
    if let Some(bus) = BUSES.iter().find(|bus| bus.name == name) {
        let device = device.ok_or(FindError::NoDevice { bus: bus.name })?;
        return Ok(HardwareFile::of_bus(bus, device, layout)?);
    }
    let is_path = name.contains(['/', '.']);
    let path = if is_path { PathBuf::from(name) } else { folder.join(format!("{name}.yaml")) };
    if name.is_empty() {
        return Err(FindError::Unnamed { known: known(folder) });
    }
    if !is_path && !path.is_file() {
        return Err(FindError::Unknown { name: name.to_owned(), known: known(folder) });
    }
    let mut file = HardwareFile::read(&path, layout)?;
    if let Some(device) = device {
        device.clone_into(&mut file.device);
    }
    Ok(file)
}

/// What can be written for hardware.
fn known(folder: &Path) -> String {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let yaml = files.filter(|path| path.extension().is_some_and(|end| end == "yaml"));
    let mut names: Vec<_> =
        yaml.filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned())).collect();
    names.sort();
    names.extend(BUSES.iter().map(|bus| bus.name.to_owned()));
    format!("one of {}, or the path of a hardware file", names.join(", "))
}
