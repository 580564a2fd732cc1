//! The servos of a robot by its hardware file alone, whatever their bus.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use karakuri_serial::emulator::Emulation;

use super::body::{BodyArgs, emulation};
use super::of_file::bus_of;
use crate::input::input_file;

/// A robot's servos.
#[derive(Debug, clap::Args)]
pub(super) struct RobotArgs {
    /// Hardware file of a robot, such as config/hardware/so101.yaml: its servos, on the bus that it names
    #[arg(long = "robot", value_name = "FILE", value_parser = input_file(), required = true)]
    hardware: PathBuf,
    /// URDF of the robot; without it, that of the project which the file is in
    #[arg(long, value_name = "URDF", value_parser = input_file(), requires = "config")]
    urdf: Option<PathBuf>,
    /// Robot YAML of the robot
    #[arg(long, value_name = "YAML", value_parser = input_file(), requires = "urdf")]
    config: Option<PathBuf>,
    /// A scene whose robot the servos move, such as config/scenes/so101.yaml
    #[arg(long, value_name = "SCENE", value_parser = input_file())]
    scene: Option<PathBuf>,
    /// Name of the robot in the scene, where it has several
    #[arg(long, value_name = "NAME", requires = "scene")]
    scene_robot: Option<String>,
}

impl RobotArgs {
    /// The devices with what their servos turn.
    ///
    /// # Errors
    /// When a file is wrong or not found, or there is no emulator of a device.
    pub(super) fn emulation(&self) -> Result<Emulation> {
        let hardware = &self.hardware;
        let model = match (&self.urdf, &self.config, &self.scene) {
            (Some(urdf), Some(config), _) => Some((urdf.clone(), config.clone())),
            (_, _, Some(_)) => None,
            _ => {
                let found = beside(hardware);
                let missing = || {
                    format!(
                        "there is no robot beside {}; add `--urdf URDF --config YAML`, or `--scene SCENE`",
                        hardware.display()
                    )
                };
                Some(found.with_context(missing)?)
            }
        };
        let (robot, config) = model.unzip();
        let body = BodyArgs {
            hardware: Some(hardware.clone()),
            robot,
            config,
            scene: self.scene.clone(),
            scene_robot: self.scene_robot.clone(),
        };
        let body = body.load_any()?;
        let devices = bus_of(&body.file)?;
        emulation(Some(body), devices)
    }
}

/// URDF and robot YAML of the robot that a file `config/hardware/ROBOT.yaml` or `ROBOT_something.yaml` is of, in the same project.
fn beside(hardware: &Path) -> Option<(PathBuf, PathBuf)> {
    let hardware = hardware.canonicalize().ok()?;
    let root = hardware.ancestors().nth(3)?;
    let stem = hardware.file_stem()?.to_str()?;
    let ends = stem.match_indices('_').map(|(end, _)| end).chain([stem.len()]);
    let names: Vec<&str> = ends.map(|end| &stem[..end]).collect();
    names.into_iter().rev().find_map(|name| {
        let urdf = root.join("urdf").join(name).join(format!("{name}.urdf"));
        let config = root.join("config").join(format!("{name}.yaml"));
        (urdf.is_file() && config.is_file()).then_some((urdf, config))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_robot_of_a_hardware_file_is_found_by_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for path in ["config/hardware", "urdf/arm"] {
            std::fs::create_dir_all(root.join(path)).unwrap();
        }
        for file in ["config/arm.yaml", "urdf/arm/arm.urdf", "config/hardware/arm_new_bus.yaml"] {
            std::fs::write(root.join(file), "").unwrap();
        }
        let found = beside(&root.join("config/hardware/arm_new_bus.yaml"));
        assert_eq!(found, Some((root.join("urdf/arm/arm.urdf"), root.join("config/arm.yaml"))));
        std::fs::write(root.join("config/hardware/leg.yaml"), "").unwrap();
        assert_eq!(beside(&root.join("config/hardware/leg.yaml")), None);
    }
}
