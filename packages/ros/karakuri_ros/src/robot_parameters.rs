//! Parameters of every node that follows the samples of one robot.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use karakuri_files::{LoadError, Tool, Tools, ToolsError, load_robot};
use karakuri_model::Model;
use thiserror::Error;

use crate::{Node, RosError, Setting, qos, qos::Qos, warn};

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
    /// The tools file is wrong.
    #[error(transparent)]
    Tools(#[from] ToolsError),
    /// The topic `tool` cannot be followed.
    #[error("failed to {0}")]
    Ros(#[from] RosError),
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
    /// File of the tools that go on one arm.
    pub struct ToolsFile {
        tools: String = String::new(), "Path of a tools file: the robot is the one with the tool that the topic `tool` names, at first that of `urdf`, else the first of the file; empty: it has one robot.", read_only();
    }
}

crate::parameters! {
    /// Files of a robot whose tool may change.
    pub struct RobotWithTool [files: RobotFiles, tools: ToolsFile] {}
}

crate::parameters! {
    /// Parameters of the robot, of its samples and of lockstep.
    pub struct RobotParameters [pub files: RobotWithTool] {
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
        let [urdf, config] = self.paths();
        load(&urdf.ok_or(RobotError::NoUrdf)?, config.as_deref())
    }

    /// Paths of the URDF and of the robot YAML, where they are given.
    fn paths(&self) -> [Option<PathBuf>; 2] {
        [&self.urdf, &self.config]
            .map(|path| Some(path.get()).filter(|path| !path.is_empty()))
            .map(|path| path.map(PathBuf::from))
    }
}

impl ToolsFile {
    /// Reads the tools; none where no file is given.
    ///
    /// # Errors
    /// When the tools file is wrong.
    pub fn read(&self) -> Result<Option<Tools>, ToolsError> {
        let path = Some(self.tools.get()).filter(|path| !path.is_empty());
        path.map(|path| Tools::read(Path::new(&path))).transpose()
    }
}

fn load(urdf: &Path, config: Option<&Path>) -> Result<Arc<Model>, RobotError> {
    let loaded = load_robot(urdf, config, None)?;
    for warning in &loaded.warnings {
        warn!("{warning}");
    }
    Ok(Arc::new(loaded.model))
}

impl RobotWithTool {
    /// Loads the robot with the tool that is given; its warnings go to the log.
    ///
    /// # Errors
    /// When `urdf` is empty without `tools`, a file cannot be read, or the robot is wrong.
    pub fn load(&self) -> Result<Arc<Model>, RobotError> {
        let [urdf, config] = self.paths()?;
        load(&urdf.ok_or(RobotError::NoUrdf)?, config.as_deref())
    }

    /// Has the node start again with the robot of the tool that the topic `tool` names; without `tools` it does nothing.
    ///
    /// # Errors
    /// When the tools file is wrong, or the middleware refuses the subscription.
    pub fn follow_tools<S: 'static>(&self, node: &mut Node<S>) -> Result<(), RobotError> {
        let Some(tools) = self.tools.read()? else { return Ok(()) };
        Ok(node.follow_tools(tools, self.settings()?, settings_of)?)
    }

    /// Name of the tool whose robot is loaded; none without `tools`, or where it is none of them.
    ///
    /// # Errors
    /// When the tools file is wrong.
    pub fn tool(&self) -> Result<Option<String>, RobotError> {
        let (tools, [urdf, _]) = (self.tools.read()?, self.paths()?);
        Ok(tools.and_then(|tools| Some(tools.of_urdf(&urdf?)?.name.clone())))
    }

    /// Whether the robot's tool may change.
    pub fn may_change(&self) -> bool {
        !self.tools.tools.get().is_empty()
    }

    /// Frame of a link, as other nodes name it.
    pub fn frame_of(&self, link: &str) -> String {
        format!("{}{link}", self.files.frame_prefix.get())
    }

    /// Paths of the URDF and of the robot YAML: the given ones, or those of the first tool.
    fn paths(&self) -> Result<[Option<PathBuf>; 2], ToolsError> {
        let given = self.files.paths();
        let tools = if given[0].is_none() { self.tools.read()? } else { None };
        let first = tools.and_then(|tools| tools.tools.into_iter().next());
        Ok(first.map_or(given, |first| [Some(first.urdf), Some(first.config)]))
    }

    fn settings(&self) -> Result<Vec<Setting>, ToolsError> {
        let [urdf, config] = self.paths()?.map(Option::unwrap_or_default);
        Ok(settings(&urdf, &config))
    }
}

fn settings_of(tool: &Tool) -> Vec<Setting> {
    settings(&tool.urdf, &tool.config)
}

fn settings(urdf: &Path, config: &Path) -> Vec<Setting> {
    vec![Setting::file("urdf", urdf), Setting::file("config", config)]
}

impl RobotParameters {
    /// Frame of a link, as other nodes name it.
    pub fn frame_of(&self, link: &str) -> String {
        self.files.frame_of(link)
    }

    /// Quality of service for subscribing to the robot's samples.
    pub fn sample_qos(&self) -> Qos {
        qos::samples(self.lockstep.get())
    }
}
