//! Scene files: the contents of a world at time zero.
//!
//! [`Scene::parse`] reads the text and reports every problem with its line and remedy. Files that the scene names
//! (URDF, robot YAML, meshes) stay paths as written, relative to the scene's own; whoever reads them hands the
//! models to [`World::from_scene`]. `docs/scenes.md` lists every key.

mod balls;
mod materials;
mod prescribed;
mod read;
mod suctions;
#[cfg(test)]
mod tests;
mod ties;

use std::path::PathBuf;
use std::sync::Arc;

pub use balls::SceneBall;
pub use materials::{MaterialName, SceneMaterials, SceneSurface};
pub use prescribed::{SceneMotion, ScenePrescribed};
pub use suctions::SceneSuction;
pub use ties::{
    SceneAnchor, SceneGear, SceneGearEnd, SceneJoint, ScenePart, ScenePush, SceneSpring,
};

use karakuri_dynamics::Reduction;
use karakuri_model::{Base, BodyId, Diagnostics, Model, MotorSpec, Place, Report};
use karakuri_spatial::{Motion, Pose, Vector3};

use crate::{BodyDescription, Owner, RobotId, World, WorldError, WorldSettings};

/// A scene, read and typed.
#[derive(Debug, Clone)]
pub struct Scene {
    /// Time step, gravity, solver; contact constants keep their defaults.
    pub settings: WorldSettings,
    /// The half-space below z = 0, if there is one.
    pub ground: Option<Ground>,
    /// Robots in the order of the file.
    pub robots: Vec<SceneRobot>,
    /// Bodies in the order of the file.
    pub bodies: Vec<SceneBody>,
    /// Materials, and how they mix.
    pub materials: SceneMaterials,
    /// Material of the ground, in place of its own numbers.
    pub ground_material: Option<MaterialName>,
    /// Springs between points of things.
    pub springs: Vec<SceneSpring>,
    /// Joints between things, which can be detached while the world runs.
    pub joints: Vec<SceneJoint>,
    /// Gears between rates, which can be taken off while the world runs.
    pub gears: Vec<SceneGear>,
    /// Suction cups, which can be taken off while the world runs.
    pub suctions: Vec<SceneSuction>,
    /// Joints that move as tables say.
    pub prescribed: Vec<ScenePrescribed>,
    /// Forces that act for a while.
    pub pushes: Vec<ScenePush>,
    /// Pairs that pass through each other; the name of a robot is all its links.
    pub ignored: Vec<[ScenePart; 2]>,
}

/// Surface of the ground.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ground {
    /// Coulomb friction coefficient. [-]
    pub friction: f64,
    /// Coefficient of restitution. [-]
    pub restitution: f64,
}

/// A robot of a scene.
#[derive(Debug, Clone)]
pub struct SceneRobot {
    /// Name, unique in the scene.
    pub name: String,
    /// URDF file, as written.
    pub urdf: PathBuf,
    /// Robot YAML, as written.
    pub config: Option<PathBuf>,
    /// Pose of the root link, `X_WRoot`.
    pub pose: Pose,
    /// Whether the root link is free.
    pub floating: bool,
    /// Joint, position [rad or m] and where it is written.
    pub joints: Vec<(String, f64, Place)>,
    /// Joint, velocity [rad/s or m/s] and where it is written.
    pub velocities: Vec<(String, f64, Place)>,
    /// Ball joints that begin turned.
    pub balls: Vec<SceneBall>,
    /// Ball joints that begin with a velocity.
    pub ball_velocities: Vec<SceneBall>,
    /// Velocity of a floating root link at its origin, in world axes. [rad/s; m/s]
    pub velocity: Motion,
    /// Joint, drive and where it is written.
    pub drives: Vec<(String, SceneDrive, Place)>,
    /// Motors beside those of the robot YAML.
    pub motors: Vec<(MotorSpec, Place)>,
    /// Links and their materials, in place of what the robot says.
    pub materials: Vec<(String, MaterialName)>,
    /// Place where it is written.
    pub place: Place,
}

/// Changes of a scene to a joint's drive; `None` keeps what the robot says.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SceneDrive {
    /// Proportional gain. [N·m/rad or N/m]
    pub stiffness: Option<f64>,
    /// Derivative gain. [N·m·s/rad or N·s/m]
    pub damping: Option<f64>,
    /// Position target; without one the drive holds the initial position. [rad or m]
    pub target: Option<f64>,
    /// Effort beside the servo's, until a command says otherwise. [N·m or N]
    pub effort: Option<f64>,
}

/// A body of a scene.
#[derive(Debug, Clone)]
pub struct SceneBody {
    /// Description of the body. A mesh is without triangles until its file is read.
    pub description: BodyDescription,
    /// Material, in place of the description's friction and restitution.
    pub material: Option<MaterialName>,
    /// Centre of mass in the shape's frame. [m] (3)
    pub center_of_mass: Vector3,
    /// Velocity of its surface against it, in world axes: a conveyor's belt. [m/s] (3)
    pub surface_velocity: Vector3,
    /// Place where it is written.
    pub place: Place,
}

impl SceneRobot {
    /// Base of the robot: floating, or fixed at its pose.
    pub fn base(&self) -> Base {
        if self.floating { Base::Floating } else { Base::Fixed(self.pose) }
    }

    /// Whether it has a velocity at time zero.
    fn moves(&self) -> bool {
        !self.velocities.is_empty()
            || !self.ball_velocities.is_empty()
            || self.velocity != Motion::default()
    }

    /// Position at time zero. (nq)
    fn position(&self, model: &Model, report: &mut Report) -> Vec<f64> {
        // What the file does not name is as the model has it by default.
        let mut q = model.default_position();
        // A floating root has its pose in q; a fixed one has it in the model's base.
        if let (Base::Floating, Some(root)) = (model.base, model.joints.first()) {
            let rotation = self.pose.quaternion();
            q[root.q_start..root.q_start + 3].copy_from_slice(self.pose.translation.as_slice());
            q[root.q_start + 3..root.q_start + 7].copy_from_slice(rotation.coords.as_slice());
        }
        for (name, value, place) in &self.joints {
            let Some(id) = self.joint(model, name, place, report) else { continue };
            let joint = &model.joints[id.0];
            let (lower, upper) = (joint.limits.lower, joint.limits.upper);
            if (lower..=upper).contains(value) {
                q[joint.q_start] = *value;
            } else {
                report.error_at(
                    place.clone(),
                    format!("joints.{name}: {value} is outside the joint's limits"),
                    format!("write a number from {lower} to {upper}"),
                );
            }
        }
        self.turn_balls(model, &mut q, report);
        // Followers of mimic joints go where their leaders put them, whatever the file says of them.
        Reduction::new(model).project_position(&mut q);
        q
    }

    /// Velocity at time zero, as the couplings and loops of the model allow it. (nv)
    fn rates(&self, model: &Model, report: &mut Report) -> Vec<f64> {
        let mut v = vec![0.0; model.nv];
        if let (Base::Floating, Some(root)) = (model.base, model.joints.first()) {
            let run = &mut v[root.v_start..root.v_start + 6];
            run[..3].copy_from_slice(self.velocity.linear.as_slice());
            run[3..].copy_from_slice(self.velocity.angular.as_slice());
        }
        for (name, value, place) in &self.velocities {
            if let Some(id) = self.joint(model, name, place, report) {
                v[model.joints[id.0].v_start] = *value;
            }
        }
        self.spin_balls(model, &mut v, report);
        v
    }

    /// A joint with one degree of freedom, or a report why not.
    fn joint(
        &self,
        model: &Model,
        name: &str,
        place: &Place,
        report: &mut Report,
    ) -> Option<BodyId> {
        let found = model.joint(name);
        if found.is_some_and(|id| model.joints[id.0].kind.single().is_some()) {
            return found;
        }
        let known: Vec<&str> = model
            .joints
            .iter()
            .filter(|j| j.kind.single().is_some())
            .map(|j| j.name.as_str())
            .collect();
        let what = if found.is_some() {
            "has more than one degree of freedom"
        } else {
            "is no moving joint"
        };
        report.error_at(
            place.clone(),
            format!("`{name}` {what} of robot `{}`", self.name),
            format!("write one of {}", known.join(", ")),
        );
        None
    }
}

impl World {
    /// The world that a scene describes; `models[i]` is the model of `scene.robots[i]`, built with its
    /// [`SceneRobot::base`].
    ///
    /// # Errors
    /// When the scene names what no model has, or the world refuses a part of it; every problem.
    pub fn from_scene(scene: &Scene, models: &[Arc<Model>]) -> Result<Self, Diagnostics> {
        let mut report = Report::default();
        let mut world = Self::new(scene.settings);
        if let Some(ground) = scene.ground {
            world.add_ground(ground.friction, ground.restitution);
        }
        // Before the contents: numbers of pairs are laid over what the rules make.
        world.set_mixing(scene.materials.mixing);
        world.fill(scene, models, &mut report);
        report.finish(Some(world)).map(|(world, _)| world)
    }

    /// Adds the contents of a scene: robots, bodies, materials, ties and pushes. Its settings, ground and rules of
    /// mixing are left out. A scene that does not fit changes nothing.
    ///
    /// # Errors
    /// As [`Self::from_scene`], and when a name is taken.
    pub fn add_scene(&mut self, scene: &Scene, models: &[Arc<Model>]) -> Result<(), Diagnostics> {
        let mut report = Report::default();
        // All or nothing: a scene with a problem leaves the world as it was.
        let before = self.snapshot();
        self.fill(scene, models, &mut report);
        let result = report.finish(Some(()));
        if result.is_err() {
            self.restore(&before);
        }
        result.map(|_| ())
    }

    fn fill(&mut self, scene: &Scene, models: &[Arc<Model>], report: &mut Report) {
        let world = self;
        for (robot, model) in scene.robots.iter().zip(models) {
            let q = robot.position(model, report);
            match world.add_robot(&robot.name, Arc::clone(model), &q) {
                Ok(id) => {
                    world.set_drives(id, robot, report);
                    // At rest nothing is to be set: adding the robot has left it so.
                    if robot.moves() {
                        // Adding a robot closes its loops: rates go with that position, not with the file's.
                        let (q, v) = (world.robot(id).q().to_vec(), robot.rates(model, report));
                        if let Err(error) = world.set_robot_state(id, &q, &v) {
                            refuse(&error, &robot.place, report);
                        }
                    }
                    for (motor, place) in &robot.motors {
                        if let Err(error) = world.add_motor(id, motor.clone()) {
                            refuse(&error, place, report);
                        }
                    }
                }
                Err(error) => refuse(&error, &robot.place, report),
            }
        }
        // Reported and not left out in silence: fewer models were loaded than there are robots.
        if let Some(robot) = scene.robots.get(models.len()) {
            let message = format!("robot `{}` has no model", robot.name);
            report.error_at(robot.place.clone(), message, "load its URDF first");
        }
        for body in &scene.bodies {
            let added = world.add_body(body.description.clone());
            let run = |id| {
                // Each looks through the world: thousands of bodies have neither.
                if body.center_of_mass != Vector3::zeros() {
                    world.set_center_of_mass(id, body.center_of_mass)?;
                }
                if body.surface_velocity != Vector3::zeros() {
                    world.set_surface_velocity(Owner::Body(id), body.surface_velocity)?;
                }
                Ok(())
            };
            if let Err(error) = added.and_then(run) {
                refuse(&error, &body.place, report);
            }
        }
        // At last, when everything that they name is there.
        world.coat(scene, report);
        world.prescribe(scene, report);
        world.tie(scene, report);
    }

    fn set_drives(&mut self, id: RobotId, robot: &SceneRobot, report: &mut Report) {
        let model = Arc::clone(self.robot(id).model());
        let drives = self.drive_mut(id);
        for (name, drive, place) in &robot.drives {
            let Some(joint) = robot.joint(&model, name, place, report) else { continue };
            let k = model.joints[joint.0].v_start;
            let set = |value: Option<f64>, target: &mut f64| value.map(|v| *target = v);
            let gains = [
                set(drive.stiffness, &mut drives.stiffness[k]),
                set(drive.damping, &mut drives.damping[k]),
            ];
            set(drive.target, &mut drives.position[k]);
            let effort = set(drive.effort, &mut drives.effort[k]);
            // Gains or an effort switch a drive on; a target alone does not, as nothing may be there to follow it with.
            drives.enabled[k] |= gains.iter().chain([&effort]).any(Option::is_some);
        }
    }
}

/// A world's refusal, at the place in the scene that caused it.
fn refuse(error: &WorldError, place: &Place, report: &mut Report) {
    let text = error.to_string();
    // Texts of errors are `what; remedy`, which diagnostics show apart.
    let (message, remedy) = text.split_once("; ").unwrap_or((&text, "correct it"));
    report.error_at(place.clone(), message.to_owned(), remedy);
}

impl Default for Ground {
    /// Friction 0.8, as dry rubber or wood on concrete; no bounce.
    fn default() -> Self {
        Self { friction: 0.8, restitution: 0.0 }
    }
}

/// Gravity on Earth, downwards. [m/s²] (3)
const EARTH: Vector3 = Vector3::new(0.0, 0.0, -karakuri_dynamics::EARTH_GRAVITY);
