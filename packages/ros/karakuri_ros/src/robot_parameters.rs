//! Parameters of every node that follows the samples of one robot.

use std::path::Path;
use std::sync::Arc;

use karakuri_files::{LoadError, load_robot};
use karakuri_model::Model;
use thiserror::Error;

use crate::{qos, qos::Qos, warn};

/// Reason why no robot was loaded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RobotError {
    /// The parameter `urdf` is empty.
    #[error("parameter `urdf` is empty; give the path of the robot's URDF")]
    NoUrdf,
    /// A file could not be read, or the robot is wrong.
    #[error(transparent)]
    Load(#[from] LoadError),
}

crate::parameters! {
    /// Files of the robot, and what goes before its frames.
    pub struct RobotFiles {
        urdf: String = String::new(), "Path of the robot's URDF.", read_only();
        config: String = String::new(), "Path of the robot YAML: groups, loops, drives, end effector, sensors.", read_only();
        pub frame_prefix: String = String::new(), "Put before the names of all frames of the robot, as by `state_publisher`.", read_only();
    }
}

crate::parameters! {
    /// Parameters of the robot, of its samples and of lockstep.
    pub struct RobotParameters [files: RobotFiles] {
        pub period: f64 = 0.002, "Time from a sample to the next, for which an answer holds. [s]", range(1e-4..=1.0), read_only();
        pub lockstep: bool = false, "Answer a sample only when all that the answer depends on is there: runs repeat bit by bit.", read_only();
    }
}

impl RobotFiles {
    /// Loads the robot; its warnings go to the log.
    ///
    /// # Errors
    /// When `urdf` is empty, a file cannot be read, or the robot is wrong.
    pub fn load(&self) -> Result<Arc<Model>, RobotError> {
        let (urdf, config) = (self.urdf.get(), self.config.get());
        if urdf.is_empty() {
            return Err(RobotError::NoUrdf);
        }
        let config = (!config.is_empty()).then(|| Path::new(&config));
        let loaded = load_robot(Path::new(&urdf), config, None)?;
        for warning in &loaded.warnings {
            warn!("{warning}");
        }
        Ok(Arc::new(loaded.model))
    }
}

impl RobotParameters {
    /// Frame of a link, as other nodes name it.
    pub fn frame_of(&self, link: &str) -> String {
        format!("{}{link}", self.files.frame_prefix.get())
    }

    /// Quality of service for subscribing to the robot's samples.
    pub fn sample_qos(&self) -> Qos {
        qos::samples(self.lockstep.get())
    }

    /// Loads the robot; its warnings go to the log.
    ///
    /// # Errors
    /// As [`RobotFiles::load`].
    pub fn load(&self) -> Result<Arc<Model>, RobotError> {
        self.files.load()
    }
}
