//! Tools that a robot of a simulated world takes from a dock and puts back there.
//!
//! Each tool is a whole robot, the arm with that tool. Taking a tool puts that robot's model in the place of the bare arm's; the joints of
//! the arm go on as they were. In the dock a tool is its links beyond the flange, fixed at the dock and without joints.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use karakuri_dynamics::frame_pose;
use karakuri_files::{FileAssets, Tools as ToolsFile, ToolsError};
use karakuri_grasp::tool_change::RackTool;
use karakuri_hardware::RobotLayout;
use karakuri_model::{Base, Frame, FrameId, FrameParent, Geometry, Model};
use karakuri_physics::{RobotId, SceneRobot, World, WorldError};
use karakuri_spatial::{Pose, Vector3};
use thiserror::Error;

use crate::{LoadedScene, SimulatedWorld};

/// Farthest that the flange may be from the place of a tool. [m]
const NEAR: f64 = 2e-3;
/// Largest angle of the flange to the place of a tool. [rad]
const ALIGNED: f64 = 0.0175;
/// Speed of a joint up to which the arm is at rest. [rad/s or m/s]
const AT_REST: f64 = 0.01;

/// Tool in the dock, as others see it.
#[derive(Debug, Clone)]
pub struct DockedTool<'a> {
    /// Its name in the world.
    pub name: &'a str,
    /// Middle of the box around it, along the axes of the flange that would take it, in the world.
    pub pose: Pose,
    /// Edges of that box. [m] (3)
    pub size: Vector3,
}

/// Reason why a tool is not taken or put back, or the tools do not fit the world.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ToolError {
    /// The world has no tools.
    #[error(
        "robot `{0}` has no tools; start `sim` with the parameter `tools`, the path of a tools file"
    )]
    NoTools(String),
    /// No tool has this name.
    #[error("no tool `{name}`; there are: {}", known.join(", "))]
    Unknown {
        /// Name that was asked for.
        name: String,
        /// Names of the tools.
        known: Vec<String>,
    },
    /// Another tool is on the flange.
    #[error("`{present}` is on the flange; let it go first, at its place in the dock")]
    Occupied {
        /// Tool on the flange.
        present: String,
    },
    /// The flange is not at the place of the tool.
    #[error("the flange is {} mm and {}° from the place of `{tool}`; it must be within 2 mm and 1°", tenths(distance * 1e3), tenths(angle.to_degrees()))]
    Elsewhere {
        /// Tool whose place it is.
        tool: String,
        /// Distance of the flange to the place. [m]
        distance: f64,
        /// Angle of the flange to the place. [rad]
        angle: f64,
    },
    /// The arm moves.
    #[error("joint `{joint}` moves at {} rad/s; stop the arm first", (speed * 1e3).round() / 1e3)]
    Moving {
        /// Fastest joint.
        joint: String,
        /// Its speed. [rad/s or m/s]
        speed: f64,
    },
    /// None of the tools is the robot of the world.
    #[error("none of the tools is what robot `{robot}` has; one entry must name its URDF")]
    NotAmongThem {
        /// Name of the robot.
        robot: String,
    },
    /// A tool lacks the flange.
    #[error("tool `{tool}`: the robot has no link `{flange}`, the flange")]
    NoFlange {
        /// Name of the tool.
        tool: String,
        /// Name of the flange.
        flange: String,
    },
    /// The world refuses a model.
    #[error("tool `{tool}`: {source}")]
    World {
        /// Name of the tool.
        tool: String,
        /// Error of the world.
        source: WorldError,
    },
}

/// Reason why the tools of a file are not those of a scene's robot.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SceneToolsError {
    /// The tools file, or a robot of it, is wrong.
    #[error(transparent)]
    Files(#[from] ToolsError),
    /// No robot of the scene is in the tools file.
    #[error("no robot of {} is in {}; name the URDF of one in `tools`", scene.display(), tools.display())]
    NoRobot {
        /// Scene file.
        scene: PathBuf,
        /// Tools file.
        tools: PathBuf,
    },
    /// The tools do not fit the world.
    #[error(transparent)]
    Tools(#[from] ToolError),
}

impl LoadedScene {
    /// The world of this scene, which was read from `scene`, with the tools of a tools file for the robot that is one of its entries.
    ///
    /// # Errors
    /// When the tools file is wrong, none of the scene's robots is in it, or the world refuses a tool.
    pub fn with_tools(
        &self,
        simulated: SimulatedWorld,
        scene: &Path,
        tools: &Path,
    ) -> Result<SimulatedWorld, SceneToolsError> {
        let file = ToolsFile::read(tools)?;
        let assets = FileAssets::from_env();
        let is_of = |robot: &SceneRobot| {
            file.of_urdf(&assets.resolve(&robot.urdf.to_string_lossy(), scene).ok()?)
        };
        let mut robots = self.scene.robots.iter().enumerate();
        let found = robots.find_map(|(i, robot)| Some((i, is_of(robot)?)));
        let Some((robot, own)) = found else {
            let (scene, tools) = (scene.to_owned(), tools.to_owned());
            return Err(SceneToolsError::NoRobot { scene, tools });
        };
        let models = file.load(tools, Some(self.scene.robots[robot].base()))?;
        // The robot of the scene is its own entry, not one that was read a second time.
        let all = file.tools.iter().zip(models).map(|(tool, model)| RackTool {
            name: tool.name.clone(),
            model: if tool == own { Arc::clone(&self.models[robot]) } else { model },
            dock: tool.dock,
        });
        Ok(simulated.with_tools(robot, &file.flange, all.collect())?)
    }
}

/// To tenths, as people read it.
fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// Tools of one robot of a world.
#[derive(Debug, Clone)]
pub(crate) struct Tools {
    /// Index of the robot.
    robot: usize,
    all: Vec<Tool>,
}

#[derive(Debug, Clone)]
struct Tool {
    name: String,
    model: Arc<Model>,
    flange: FrameId,
    place: Option<Place>,
}

/// Place of a tool in the dock.
#[derive(Debug, Clone)]
struct Place {
    /// Pose of the flange, in the world.
    pose: Pose,
    /// What stands there in the world.
    id: RobotId,
    /// Model of the tool in its place.
    docked: Arc<Model>,
    /// Model of the place without it.
    empty: Arc<Model>,
    /// Least and greatest coordinates of the tool, in the axes of the flange at the place. [m] (3)
    extent: [Vector3; 2],
}

impl Tool {
    fn refused(&self) -> impl Fn(WorldError) -> ToolError {
        let tool = self.name.clone();
        move |source| ToolError::World { tool: tool.clone(), source }
    }
}

impl Tools {
    /// Index of the tool whose model the robot has now.
    fn present(&self, world: &World, id: RobotId) -> Option<usize> {
        let model = world.robot(id).original_model();
        self.all.iter().position(|tool| Arc::ptr_eq(&tool.model, model))
    }

    fn find(&self, name: &str) -> Result<usize, ToolError> {
        let known = || self.all.iter().map(|tool| tool.name.clone()).collect();
        let found = self.all.iter().position(|tool| tool.name == name);
        found.ok_or_else(|| ToolError::Unknown { name: name.to_owned(), known: known() })
    }
}

impl SimulatedWorld {
    /// World whose robot `robot` (index) changes its tools; one of them is what it has. Those in the dock are added as robots named
    /// `dock_<tool>`.
    ///
    /// # Errors
    /// When no tool is what the robot has, a robot lacks the link `flange`, or the world refuses one.
    pub fn with_tools(
        mut self,
        robot: usize,
        flange: &str,
        tools: Vec<RackTool>,
    ) -> Result<Self, ToolError> {
        let id = self.robots[robot];
        let own = Arc::clone(self.world.robot(id).original_model());
        let mut all: Vec<Tool> = Vec::new();
        for RackTool { name, model, dock } in tools {
            let Some(frame) = model.frame(flange) else {
                return Err(ToolError::NoFlange { tool: name, flange: flange.to_owned() });
            };
            let mut tool = Tool { name, model, flange: frame, place: None };
            if let Some(pose) = dock {
                let docked = Arc::new(self.docked(&tool, &pose)?);
                let (collisions, visuals) = (Vec::new(), Vec::new());
                let empty = Arc::new(Model { collisions, visuals, ..Model::clone(&docked) });
                let is_taken = Arc::ptr_eq(&tool.model, &own);
                let there = Arc::clone(if is_taken { &empty } else { &docked });
                let name = format!("dock_{}", tool.name);
                let id = self.world.add_robot(&name, there, &[]).map_err(tool.refused())?;
                let extent = extent_of(&docked, &pose);
                tool.place = Some(Place { pose, id, docked, empty, extent });
            }
            all.push(tool);
        }
        let tools = Tools { robot, all };
        if tools.present(&self.world, id).is_none() {
            let robot = self.layouts[robot].name.clone();
            return Err(ToolError::NotAmongThem { robot });
        }
        self.tools = Some(tools);
        Ok(self)
    }

    /// Index of the robot with tools, and the name of the tool that it has now.
    pub fn tool(&self) -> Option<(usize, &str)> {
        let tools = self.tools.as_ref()?;
        let present = tools.present(&self.world, self.robots[tools.robot])?;
        Some((tools.robot, &tools.all[present].name))
    }

    /// Link that carries the tools, and all of them, the bare arm among them; `None` where the world has none.
    pub fn tools(&self) -> Option<(String, Vec<RackTool>)> {
        let all = &self.tools.as_ref()?.all;
        let flange = all.first().map(|tool| tool.model.frames[tool.flange.0].name.clone())?;
        let tool = |tool: &Tool| RackTool {
            name: tool.name.clone(),
            model: Arc::clone(&tool.model),
            dock: tool.place.as_ref().map(|place| place.pose),
        };
        Some((flange, all.iter().map(tool).collect()))
    }

    /// Tools in the dock.
    pub fn docked_tools(&self) -> impl Iterator<Item = DockedTool<'_>> {
        let all = self.tools.iter().flat_map(|tools| &tools.all);
        all.filter_map(|tool| {
            let Place { pose, id, docked, extent: [least, most], .. } = tool.place.as_ref()?;
            let robot = self.world.robot(*id);
            Arc::ptr_eq(robot.original_model(), docked).then(|| DockedTool {
                name: robot.name(),
                pose: *pose * Pose::from_translation((least + most) / 2.0),
                size: most - least,
            })
        })
    }

    /// Couples the tool `name` at its place in the dock, or lets the present one go at its own where `name` is that of the bare arm.
    /// Nothing changes where the tool is on the flange already.
    ///
    /// # Errors
    /// When there is no such tool, another one is on the flange, or the flange is not at the place, at rest.
    pub fn set_tool(&mut self, name: &str) -> Result<(), ToolError> {
        let Some([from, to]) = self.present_and_desired(name)? else { return Ok(()) };
        // At the place of the tool that is let go or taken.
        let there = match (&from.place, &to.place) {
            (Some(_), Some(_)) => return Err(ToolError::Occupied { present: from.name }),
            (Some(_), None) => &from,
            (None, Some(_)) => &to,
            (None, None) => return Ok(()),
        };
        self.check_flange(from.flange, there)?;
        self.exchange(&from, &to)
    }

    /// Puts a tool on the flange wherever that is, as where the world is made to be as a robot is.
    ///
    /// # Errors
    /// When there is no such tool, or the world refuses it.
    pub fn put_tool(&mut self, name: &str) -> Result<(), ToolError> {
        let pair = self.present_and_desired(name)?;
        pair.map_or(Ok(()), |[from, to]| self.exchange(&from, &to))
    }

    /// The tool on the flange and another one; `None` where that is on it already.
    fn present_and_desired(&self, name: &str) -> Result<Option<[Tool; 2]>, ToolError> {
        let no_tools =
            || ToolError::NoTools(self.layouts.first().map_or("", |l| &l.name).to_owned());
        let tools = self.tools.as_ref().ok_or_else(no_tools)?;
        let to = tools.find(name)?;
        let present = tools.present(&self.world, self.robots[tools.robot]);
        let from = present.filter(|&from| from != to);
        Ok(from.map(|from| [tools.all[from].clone(), tools.all[to].clone()]))
    }

    /// Puts one tool in the place of another, or leaves the world as it is.
    fn exchange(&mut self, from: &Tool, to: &Tool) -> Result<(), ToolError> {
        let Some(robot) = self.tools.as_ref().map(|tools| tools.robot) else { return Ok(()) };
        let before = self.save();
        let exchanged = self.exchange_models(self.robots[robot], from, to);
        if exchanged.is_err() {
            self.restore(&before);
        }
        self.follow_model(robot);
        exchanged
    }

    /// Puts the model of one tool in the place of another's, and fills and empties their places in the dock.
    fn exchange_models(&mut self, id: RobotId, from: &Tool, to: &Tool) -> Result<(), ToolError> {
        let mut put = |tool: &Tool, id: RobotId, model: &Arc<Model>, q: &[f64]| {
            self.world.replace_robot(id, Arc::clone(model), q).map_err(tool.refused())
        };
        put(to, id, &to.model, &own_position(&to.model))?;
        if let Some(place) = &from.place {
            put(from, place.id, &place.docked, &[])?;
        }
        if let Some(place) = &to.place {
            put(to, place.id, &place.empty, &[])?;
        }
        Ok(())
    }

    /// Checks that the flange of the present robot is at the place of a tool, at rest.
    fn check_flange(&self, flange: FrameId, there: &Tool) -> Result<(), ToolError> {
        let (Some(tools), Some(Place { pose: place, .. })) = (&self.tools, &there.place) else {
            return Ok(());
        };
        let robot = self.world.robot(self.robots[tools.robot]);
        let fastest = robot.model().joints.iter().max_by(|a, b| {
            let speed = |start: usize| robot.v()[start].abs();
            speed(a.v_start).total_cmp(&speed(b.v_start))
        });
        if let Some((joint, speed)) = fastest.map(|j| (&j.name, robot.v()[j.v_start].abs()))
            && speed > AT_REST
        {
            return Err(ToolError::Moving { joint: joint.clone(), speed });
        }
        let pose = frame_pose(robot.model(), robot.data(), flange);
        let distance = (pose.translation - place.translation).norm();
        let turned = place.inverse() * pose;
        let angle = turned.quaternion().angle();
        if distance > NEAR || angle > ALIGNED {
            return Err(ToolError::Elsewhere { tool: there.name.clone(), distance, angle });
        }
        Ok(())
    }

    /// Model of a tool in its place: its links beyond the flange as parts of a fixed base.
    fn docked(&self, tool: &Tool, place: &Pose) -> Result<Model, ToolError> {
        // In a world of its own, which closes the loops of the tool's joints.
        let mut alone = World::new(*self.world.settings());
        let q = own_position(&tool.model);
        let id =
            alone.add_robot(&tool.name, Arc::clone(&tool.model), &q).map_err(tool.refused())?;
        let (model, data) = (&tool.model, alone.robot(id).data());
        let to_place = *place * frame_pose(model, data, tool.flange).inverse();
        let links = model.links_from(tool.flange);
        let new_id = |frame: FrameId| links.iter().position(|link| *link == frame).map(FrameId);
        let frame = |link: &FrameId| {
            let Frame { name, parent, .. } = &model.frames[link.0];
            let parent = parent.as_ref().and_then(|parent| {
                let frame = new_id(parent.frame)?;
                Some(FrameParent { frame, fixed: true, ..parent.clone() })
            });
            let pose_in_body = to_place * frame_pose(model, data, *link);
            Frame { name: name.clone(), body: None, pose_in_body, parent }
        };
        let shape = |shape: &Geometry| {
            let on = shape.body.map_or(Pose::IDENTITY, |body| data.pose_in_world[body.0]);
            Some(Geometry {
                frame: new_id(shape.frame)?,
                body: None,
                pose_in_body: to_place * on * shape.pose_in_body,
                ..shape.clone()
            })
        };
        Ok(Model {
            frames: links.iter().map(frame).collect(),
            collisions: model.collisions.iter().filter_map(shape).collect(),
            visuals: model.visuals.iter().filter_map(shape).collect(),
            ..Model::empty(&tool.name, Base::Fixed(Pose::IDENTITY))
        })
    }

    /// Follows the world where the robot with tools has another model than its layout.
    pub(crate) fn follow_tool(&mut self) {
        if let Some(robot) = self.tools.as_ref().map(|tools| tools.robot)
            && self.tool().is_some()
        {
            self.follow_model(robot);
        }
    }
}

/// Least and greatest coordinates of what a docked tool is made of, in the axes of its place. [m] (3)
fn extent_of(docked: &Model, place: &Pose) -> [Vector3; 2] {
    let mut extent = [Vector3::repeat(f64::INFINITY), Vector3::repeat(f64::NEG_INFINITY)];
    for shape in &docked.collisions {
        let (middle, size) = shape.shape.bounds();
        let to_place = place.inverse() * shape.pose_in_body;
        for corner in 0..8 {
            let sign = |axis: usize| if corner >> axis & 1 == 0 { 0.5 } else { -0.5 };
            let at = middle + size.component_mul(&Vector3::from_fn(|axis, _| sign(axis)));
            let at = to_place.transform_point(&at);
            extent = [extent[0].inf(&at), extent[1].sup(&at)];
        }
    }
    extent
}

/// Position in which a tool is taken and rests in the dock: the first posture of its robot. (nq)
fn own_position(model: &Model) -> Vec<f64> {
    let mut q = model.default_position();
    for &(joint, position) in model.postures.first().iter().flat_map(|p| &p.positions) {
        q[model.joints[joint.0].q_start] = position;
    }
    q
}

/// Layout of a robot's present model.
pub(crate) fn layout_of(world: &World, id: RobotId) -> RobotLayout {
    let robot = world.robot(id);
    RobotLayout::new(robot.name(), Arc::clone(robot.original_model()))
}
