//! Tools files: what goes on the flange of one arm.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use karakuri_model::{AssetError, Base, JointKind, Loaded, Model};
use karakuri_spatial::Pose;
use serde::Deserialize;

use crate::{FileAssets, LoadError, load_robot, read_yaml};

/// Difference up to which two poses are the same. [m or -]
const SAME: f64 = 1e-9;

/// Reason why a tools file does not load.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolsError {
    /// The tools file or a robot's file does not load.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A file that the tools file names is not found.
    #[error("{}: tool `{tool}`: `{key}`: {source}; name a file beside the tools file", path.display())]
    NotFound {
        /// Path of the tools file.
        path: PathBuf,
        /// Name of the tool.
        tool: String,
        /// Key that names the file.
        key: &'static str,
        /// Error of the search.
        source: AssetError,
    },
    /// The file contradicts itself, or its robots are not the same arm.
    #[error("{}: {message}", path.display())]
    Wrong {
        /// Path of the tools file.
        path: PathBuf,
        /// Problem and its remedy.
        message: String,
    },
    /// No tool has this name.
    #[error("no tool `{name}`; there are: {}", known.join(", "))]
    Unknown {
        /// Name that was asked for.
        name: String,
        /// Names of the file.
        known: Vec<String>,
    },
}

/// Tools of one arm, each a whole robot.
#[derive(Debug, Clone, PartialEq)]
pub struct Tools {
    /// Link that carries the tool, the same in all robots.
    pub flange: String,
    /// Tools, the bare arm among them.
    pub tools: Vec<Tool>,
    /// Index of the bare arm.
    bare: usize,
}

/// Tool, or the bare arm.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Name, by which nodes know it.
    pub name: String,
    /// Path of the URDF of the arm with it.
    pub urdf: PathBuf,
    /// Path of the robot YAML of the arm with it.
    pub config: PathBuf,
    /// Pose of the flange in the world when the tool is in its place in the dock; none of the bare arm.
    pub dock: Option<Pose>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolsFile {
    flange: String,
    tools: Vec<ToolEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolEntry {
    name: String,
    urdf: String,
    config: String,
    dock: Option<PoseEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PoseEntry {
    #[serde(default)]
    xyz: [f64; 3],
    #[serde(default)]
    rpy: [f64; 3],
}

impl Tools {
    /// Reads a tools file; files that it names are relative to it or `package://`.
    ///
    /// # Errors
    /// When the file does not fit, names a file that is not there, two tools alike, or not exactly one bare arm.
    pub fn read(path: &Path) -> Result<Self, ToolsError> {
        let file: ToolsFile = read_yaml(path)?;
        let assets = FileAssets::from_env();
        let tools = file.tools.into_iter().map(|entry| entry.find(path, &assets));
        let tools = tools.collect::<Result<Vec<_>, _>>()?;
        let wrong = |message: String| ToolsError::Wrong { path: path.to_owned(), message };
        for (i, tool) in tools.iter().enumerate() {
            if tools[..i].iter().any(|other| other.name == tool.name) {
                return Err(wrong(format!("two tools are named `{}`; rename one", tool.name)));
            }
        }
        let mut bare = (0..tools.len()).filter(|&i| tools[i].dock.is_none());
        match (bare.next(), bare.next()) {
            (Some(bare), None) => Ok(Self { flange: file.flange, tools, bare }),
            (first, _) => {
                let n = if first.is_some() { "several entries" } else { "no entry" };
                Err(wrong(format!("{n} without `dock`; exactly one, the bare arm, has none")))
            }
        }
    }

    /// Tool of this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn get(&self, name: &str) -> Result<&Tool, ToolsError> {
        self.tools.iter().find(|tool| tool.name == name).ok_or_else(|| ToolsError::Unknown {
            name: name.to_owned(),
            known: self.tools.iter().map(|tool| tool.name.clone()).collect(),
        })
    }

    /// Entry of the bare arm.
    pub fn bare(&self) -> &Tool {
        &self.tools[self.bare]
    }

    /// Tool whose robot is that of the URDF at `urdf`.
    pub fn of_urdf(&self, urdf: &Path) -> Option<&Tool> {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let urdf = real(urdf);
        self.tools.iter().find(|tool| real(&tool.urdf) == urdf)
    }

    /// Loads the robots of all tools with a base, in the order of the file, and compares their arms.
    ///
    /// # Errors
    /// When a robot is wrong, lacks the flange, or is another arm than the bare one.
    pub fn load(&self, path: &Path, base: Option<Base>) -> Result<Vec<Arc<Model>>, ToolsError> {
        let load = |tool: &Tool| -> Result<Arc<Model>, ToolsError> {
            let Loaded { model, .. } = load_robot(&tool.urdf, Some(&tool.config), base)?;
            Ok(Arc::new(model))
        };
        let models = self.tools.iter().map(load).collect::<Result<Vec<_>, _>>()?;
        for (tool, model) in self.tools.iter().zip(&models) {
            self.compare(&models[self.bare], model).map_err(|message| ToolsError::Wrong {
                path: path.to_owned(),
                message: format!("tool `{}`: {message}", tool.name),
            })?;
        }
        Ok(models)
    }

    /// Checks that a robot is the bare arm with something on its flange.
    fn compare(&self, bare: &Model, model: &Model) -> Result<(), String> {
        let flange = |model: &Model| {
            let frame = model.frame(&self.flange).map(|id| &model.frames[id.0]);
            frame.map(|frame| (frame.body, frame.pose_in_body)).ok_or_else(|| {
                format!("`{}` has no link `{}`, the flange", model.name, self.flange)
            })
        };
        let ((_, bare_pose), (body, pose)) = (flange(bare)?, flange(model)?);
        if !same(&bare_pose, &pose) {
            return Err("its flange is elsewhere on the last link than the bare arm's".to_owned());
        }
        for (i, joint) in bare.joints.iter().enumerate() {
            let name = &joint.name;
            let Some(other) = model.joints.get(i).filter(|other| other.name == *name) else {
                return Err(format!(
                    "joint {i} of the bare arm, `{name}`, has another place in it"
                ));
            };
            let carries_tool = body.is_some_and(|body| body.0 == i);
            let [of_bare, of_other] = [bare, model].map(|model| &model.bodies[i]);
            let alike = same_kind(&joint.kind, &other.kind)
                && of_bare.parent == of_other.parent
                && same(&joint.pose_in_parent, &other.pose_in_parent)
                && joint.limits == other.limits
                && (carries_tool || of_bare.inertia == of_other.inertia);
            if !alike {
                return Err(format!("joint `{name}` or its link differs from the bare arm's"));
            }
        }
        Ok(())
    }
}

fn same_kind(a: &JointKind, b: &JointKind) -> bool {
    match (a, b) {
        (JointKind::Revolute { axis: a }, JointKind::Revolute { axis: b })
        | (JointKind::Prismatic { axis: a }, JointKind::Prismatic { axis: b }) => a == b,
        _ => std::mem::discriminant(a) == std::mem::discriminant(b),
    }
}

fn same(a: &Pose, b: &Pose) -> bool {
    (a.translation - b.translation).norm() < SAME && (a.rotation - b.rotation).norm() < SAME
}

impl ToolEntry {
    fn find(self, path: &Path, assets: &FileAssets) -> Result<Tool, ToolsError> {
        let find = |key: &'static str, uri: &str| {
            assets.resolve(uri, path).map_err(|source| ToolsError::NotFound {
                path: path.to_owned(),
                tool: self.name.clone(),
                key,
                source,
            })
        };
        let (urdf, config) = (find("urdf", &self.urdf)?, find("config", &self.config)?);
        let dock = self.dock.map(|PoseEntry { xyz, rpy }| Pose::from_xyz_rpy(xyz, rpy));
        Ok(Tool { name: self.name, urdf, config, dock })
    }
}
