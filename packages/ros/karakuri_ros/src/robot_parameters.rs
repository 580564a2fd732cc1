//! The parameters of every node that follows the samples of one robot.

use std::path::Path;
use std::sync::Arc;

use karakuri_files::{LoadError, load_robot};
use karakuri_model::Model;
use thiserror::Error;

use crate::{Node, Parameter, RosError, qos, qos::Qos, warn};

/// Why there is no robot.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RobotError {
    /// Nothing to load.
    #[error("parameter `urdf` is empty; give the path of the robot's URDF")]
    NoUrdf,
    /// The files.
    #[error(transparent)]
    Load(#[from] LoadError),
}

/// Which robot, how often it is sampled, and whether its time waits for this node.
#[derive(Debug)]
pub struct RobotParameters {
    urdf: Parameter<String>,
    config: Parameter<String>,
    frame_prefix: Parameter<String>,
    /// From a sample to the next [s]
    pub period: Parameter<f64>,
    /// Answer a sample only when all that the answer depends on is there.
    pub lockstep: Parameter<bool>,
}

impl RobotParameters {
    /// Declares `urdf`, `config`, `frame_prefix`, `period` and `lockstep`.
    pub fn declare<S: 'static>(node: &mut Node<S>) -> Result<Self, RosError> {
        Ok(Self {
            urdf: node
                .parameter("urdf", String::new())
                .describe("Path of the robot's URDF.")
                .read_only()
                .declare()?,
            config: node
                .parameter("config", String::new())
                .describe("Path of the robot YAML: groups, loops, drives, end effector, sensors.")
                .read_only()
                .declare()?,
            frame_prefix: node
                .parameter("frame_prefix", String::new())
                .describe("Put before the names of all frames of the robot, as by `state_publisher`.")
                .read_only()
                .declare()?,
            period: node
                .parameter("period", 0.002)
                .describe("Time from a sample to the next, for which an answer holds. [s]")
                .range(1e-4..=1.0)
                .read_only()
                .declare()?,
            lockstep: node
                .parameter("lockstep", false)
                .describe("Answer a sample only when all that the answer depends on is there: runs repeat bit by bit.")
                .read_only()
                .declare()?,
        })
    }

    /// The frame of a link, as other nodes know it.
    pub fn frame_of(&self, link: &str) -> String {
        format!("{}{link}", self.frame_prefix.get())
    }

    /// For subscribing to the robot's samples.
    pub fn sample_qos(&self) -> Qos {
        qos::samples(self.lockstep.get())
    }

    /// Loads the robot; its warnings go to the log.
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
