//! The world: robots, bodies, ground, and what can be asked of them.

mod attached_joints;
mod gears;
mod joint_dynamics;
mod loops;
mod materials;
mod motors;
mod overlaps;
mod prescribed_bodies;
mod prescribed_joints;
mod pushes;
pub(crate) mod queries;
mod springs;

use std::collections::BTreeMap;
use std::sync::Arc;

use karakuri_collision::{Collider, ColliderId, ColliderShape, CollisionScene};
use karakuri_dynamics::Data;
use karakuri_model::{Base, Model};
use karakuri_spatial::{Force, Matrix3, Motion, Pose, Vector3};

use crate::constraint::ConstraintSet;
use crate::errors::WorldError;
use crate::pipeline::ledger::WorkAccount;
use crate::pipeline::outcome::Culprit;
use crate::pipeline::scratch::Pipeline;
use crate::solver::Solution;
use crate::state::State;
use crate::state::body::{Body, body_inertia, check_numbers};
use crate::state::collider::Attachment;
use crate::state::ids::{BodyId, RobotId};
use crate::state::imu::Imu;
use crate::state::materials::Surface;
use crate::state::mover::Mover;
use crate::state::overlaps::OwnCollider;
use crate::state::robot::Robot;
use crate::state::shapes::{collider_shapes, solid_shape};
use crate::{
    BodyDescription, ContactReport, Drives, JointDynamics, Owner, StepOutcome, WorldSettings,
};

/// What the last step cost and how well it was solved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Statistics {
    /// Steps so far.
    pub steps: u64,
    /// Highest level of the solver ladder that an island needed.
    pub level: u8,
    /// Iterations of the slowest island.
    pub iterations: usize,
    /// Largest natural-map residual. [m/s or rad/s]
    pub residual: f64,
    /// Contact points.
    pub n_contacts: usize,
    /// Row blocks, contacts among them.
    pub n_blocks: usize,
    /// Islands.
    pub n_islands: usize,
    /// Bodies asleep; their contacts are in no other number.
    pub n_asleep: usize,
}

/// A world.
#[derive(Debug, Clone)]
pub struct World {
    pub(crate) settings: WorldSettings,
    pub(crate) steps: u64,
    time_offset: f64,
    /// Robots and bodies by name; a copy of the world shares it until one of the two changes.
    names: Arc<BTreeMap<String, Named>>,
    pub(crate) state: State,
    pub(crate) constraints: ConstraintSet,
    pub(crate) pipeline: Pipeline,
    pub(crate) account: WorkAccount,
    pub(crate) last: LastStep,
}

/// How the last step ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LastStep {
    pub(crate) solution: Solution,
    pub(crate) outcome: StepOutcome,
}

/// What has a name of its own in the world.
#[derive(Debug, Clone, Copy)]
enum Named {
    Robot(RobotId),
    Body(BodyId),
}

/// Everything the next step reads: a restored world continues bit by bit as the saved one did.
#[derive(Debug, Clone)]
pub struct Snapshot(Box<World>);

impl Snapshot {
    /// Whether a body was there when it was taken.
    pub fn has_body(&self, id: BodyId) -> bool {
        self.0.state.bodies.get(id.0).is_some_and(Option::is_some)
    }

    /// Whether a robot was there when it was taken.
    pub fn has_robot(&self, id: RobotId) -> bool {
        self.0.state.robots.get(id.0).is_some_and(Option::is_some)
    }
}

/// A robot to look at.
#[derive(Debug, Clone, Copy)]
pub struct RobotView<'a>(&'a Robot);

/// A body to look at.
#[derive(Debug, Clone, Copy)]
pub struct BodyView<'a>(&'a Body);

impl<'a> RobotView<'a> {
    /// Name.
    pub fn name(self) -> &'a str {
        &self.0.name
    }
    /// The robot's model.
    pub fn model(self) -> &'a Arc<Model> {
        &self.0.model
    }
    /// Position. (nq)
    pub fn q(self) -> &'a [f64] {
        &self.0.q
    }
    /// Velocity. (nv)
    pub fn v(self) -> &'a [f64] {
        &self.0.v
    }
    /// Efforts that drives and motors gave in the last step, and what prescribed joints needed. [N·m or N] (nv)
    pub fn efforts(self) -> &'a [f64] {
        &self.0.efforts
    }
    /// Targets and gains. (nv each)
    pub fn drives(self) -> &'a Drives {
        &self.0.drives
    }
    /// What a joint does to its own motion; see [`World::set_joint_dynamics`].
    ///
    /// # Panics
    /// When there is no velocity coordinate `dof`.
    pub fn joint_dynamics(self, dof: usize) -> JointDynamics {
        self.0.joint_dynamics(dof)
    }
    /// Velocity of the root body at its origin, in world axes; zero on a fixed base. [rad/s; m/s]
    pub fn base_velocity(self) -> Motion {
        match (self.0.model.base, self.0.v.as_slice()) {
            (Base::Floating, [x, y, z, wx, wy, wz, ..]) => {
                Motion::new(Vector3::new(*wx, *wy, *wz), Vector3::new(*x, *y, *z))
            }
            _ => Motion::default(),
        }
    }
    /// Kinematics of the present position: poses of bodies in the world.
    pub fn data(self) -> &'a Data {
        &self.0.data
    }
}

impl<'a> BodyView<'a> {
    /// What it is made of.
    pub fn description(self) -> &'a BodyDescription {
        &self.0.description
    }
    /// Pose `X_WB`.
    pub fn pose(self) -> Pose {
        self.0.pose
    }
    /// Pose `X_WS` of the shape; see [`World::set_center_of_mass`].
    pub fn shape_pose(self) -> Pose {
        self.0.shape_pose()
    }
    /// Angular and linear velocity at the centre of mass, in world axes. [rad/s; m/s]
    pub fn velocity(self) -> Motion {
        self.0.velocity
    }
}

impl World {
    /// An empty world without ground.
    pub fn new(settings: WorldSettings) -> Self {
        Self {
            settings,
            steps: 0,
            time_offset: 0.0,
            names: Arc::default(),
            state: State::default(),
            constraints: ConstraintSet::default(),
            pipeline: Pipeline::default(),
            account: WorkAccount::default(),
            last: LastStep {
                solution: Solution::default(),
                outcome: StepOutcome::Solved { level: 0, iterations: 0, residual: 0.0 },
            },
        }
    }

    /// Settings.
    pub fn settings(&self) -> &WorldSettings {
        &self.settings
    }

    /// Changes settings from the next step on.
    pub fn set_settings(&mut self, settings: WorldSettings) {
        // The number of threads changes no bit.
        if (WorldSettings { threads: self.settings.threads, ..settings }) != self.settings {
            self.wake_all();
            self.time_offset = self.time() - self.steps as f64 * settings.dt;
        }
        self.settings = settings;
    }

    /// Simulated time. [s]
    pub fn time(&self) -> f64 {
        self.time_offset + self.steps as f64 * self.settings.dt
    }

    /// Simulated time at the end of the step that begins. [s]
    pub(crate) fn time_at_end(&self) -> f64 {
        self.time_offset + (self.steps + 1) as f64 * self.settings.dt
    }

    /// Adds the ground: all below z = 0.
    pub fn add_ground(&mut self, friction: f64, restitution: f64) {
        let id =
            self.state.collision.add(&Collider::fixed(ColliderShape::HalfSpace, Pose::IDENTITY));
        self.attach(
            id,
            Attachment {
                owner: Owner::Ground,
                mover: Mover::Fixed,
                surface: Surface::plain(friction, restitution),
                material: None,
                surface_velocity: Vector3::zeros(),
                carried: Motion::default(),
            },
        );
    }

    /// Adds a robot at the position `q` (nq), its drives holding it there.
    pub fn add_robot(
        &mut self,
        name: &str,
        model: Arc<Model>,
        q: &[f64],
    ) -> Result<RobotId, WorldError> {
        self.check_name(name)?;
        check_state(name, "position", q, model.nq)?;
        let id = RobotId(self.state.robots.len());
        let robot = Robot::new(name, model, q);
        let model = Arc::clone(&robot.model);
        Arc::make_mut(&mut self.names).insert(name.to_owned(), Named::Robot(id));
        self.state.robots.push(Some(robot));
        if let Err(e) = self.add_robot_colliders(id, &model) {
            self.remove_robot(id);
            return Err(e);
        }
        self.lay_out();
        Ok(id)
    }

    /// Whether every motion of a robot meets inertia where it is, so that a step can move it.
    ///
    /// # Panics
    /// When it was removed.
    pub fn check_inertia(&mut self, id: RobotId) -> Result<(), WorldError> {
        let robot = self.robot_mut(id);
        let Robot { model, data, factor, armature, .. } = robot;
        let Err(singular) = factor.factorize(model, data, armature) else { return Ok(()) };
        let joint = robot.model.joint_name_of(singular.dof).to_owned();
        Err(WorldError::NoInertia { robot: robot.name.clone(), joint })
    }

    fn add_robot_colliders(&mut self, id: RobotId, model: &Model) -> Result<(), WorldError> {
        let mut own: Vec<OwnCollider> = Vec::new();
        for geometry in &model.collisions {
            let moves = geometry.body.is_some();
            let link = &model.frames[geometry.frame.0].name;
            let wrong = |source| WorldError::Shape { name: link.clone(), source };
            let mover =
                geometry.body.map_or(Mover::Fixed, |body| Mover::Robot { robot: id.0, body });
            let owner = Owner::Link { robot: id, frame: geometry.frame };
            let surface = Surface::plain(geometry.friction, geometry.restitution);
            for shape in collider_shapes(&geometry.shape, moves).map_err(wrong)? {
                let collider = Collider { shape, pose: geometry.pose_in_body, fixed: !moves };
                let collider = self.state.collision.try_add(&collider).map_err(wrong)?;
                self.attach(
                    collider,
                    Attachment {
                        owner,
                        mover,
                        surface,
                        material: None,
                        surface_velocity: Vector3::zeros(),
                        carried: Motion::default(),
                    },
                );
                if let Some(body) = geometry.body {
                    self.state.placements.push((collider, mover, geometry.pose_in_body));
                    let radius = self.state.collision.radius(collider).unwrap_or(0.0);
                    let half_width = self.state.collision.half_width(collider).unwrap_or(0.0);
                    let [farthest, least] = &mut self.robot_mut(id).extents[body.0];
                    let arm = geometry.pose_in_body.translation.norm();
                    (*farthest, *least) = (farthest.max(arm + radius), least.min(half_width));
                }
                let pose = geometry.pose_in_body;
                own.push(OwnCollider {
                    collider,
                    body: geometry.body,
                    frame: geometry.frame,
                    pose,
                });
            }
        }
        self.ignore_own_contacts(id, model, &own);
        Ok(())
    }

    /// Adds a body.
    pub fn add_body(&mut self, description: BodyDescription) -> Result<BodyId, WorldError> {
        self.check_name(&description.name)?;
        let name = &description.name;
        let wrong = |source| WorldError::Shape { name: name.clone(), source };
        let shapes = collider_shapes(&description.shape, !description.fixed).map_err(wrong)?;
        let inertia = match solid_shape(&description.shape, &shapes) {
            Some(shape) if !description.fixed => body_inertia(&description, &shape)?,
            _ => Matrix3::zeros(),
        };
        check_numbers(&description)?;
        let mut colliders = Vec::with_capacity(shapes.len());
        for shape in shapes {
            let collider = Collider { shape, pose: description.pose, fixed: description.fixed };
            match self.state.collision.try_add(&collider) {
                Ok(id) => colliders.push(id),
                Err(source) => {
                    for &id in &colliders {
                        self.state.collision.remove(id);
                    }
                    return Err(WorldError::Shape { name: name.clone(), source });
                }
            }
        }
        let id = BodyId(self.state.bodies.len());
        let mover = if description.fixed { Mover::Fixed } else { Mover::Body(id.0) };
        let attachment = Attachment {
            owner: Owner::Body(id),
            mover,
            surface: Surface::plain(description.friction, description.restitution),
            material: None,
            surface_velocity: Vector3::zeros(),
            carried: Motion::default(),
        };
        for (i, &collider) in colliders.iter().enumerate() {
            self.attach(collider, attachment);
            self.state.placements.push((collider, Mover::Body(id.0), Pose::IDENTITY));
            colliders[..i].iter().for_each(|&other| self.state.collision.ignore(other, collider));
        }
        let known = |of: fn(&CollisionScene, ColliderId) -> Option<f64>| {
            colliders.iter().filter_map(|&c| of(&self.state.collision, c)).collect::<Vec<_>>()
        };
        let radius = known(CollisionScene::radius).into_iter().fold(0.0, f64::max);
        let half_width =
            known(CollisionScene::half_width).into_iter().fold(f64::INFINITY, f64::min);
        Arc::make_mut(&mut self.names).insert(description.name.clone(), Named::Body(id));
        self.state.bodies.push(Some(Body::new(description, inertia, [radius, half_width])));
        self.lay_out_last_body();
        Ok(id)
    }

    /// Takes a robot away; its id stays unused.
    pub fn remove_robot(&mut self, id: RobotId) {
        self.wake_all();
        if let Some(robot) = self.state.robots[id.0].take() {
            Arc::make_mut(&mut self.names).remove(&robot.name);
        }
        self.remove_loose();
        self.remove_colliders(|owner| matches!(owner, Owner::Link { robot, .. } if robot == id));
        self.lay_out();
    }

    /// Takes a body away; its id stays unused.
    pub fn remove_body(&mut self, id: BodyId) {
        self.wake_all();
        if let Some(body) = self.state.bodies[id.0].take() {
            Arc::make_mut(&mut self.names).remove(&body.description.name);
        }
        self.remove_loose();
        self.remove_colliders(|owner| owner == Owner::Body(id));
        self.lay_out();
    }

    /// Takes away what acts on things that are gone.
    fn remove_loose(&mut self) {
        self.remove_loose_pushes();
        for kind in self.constraints.kinds_mut() {
            kind.remove_loose(&self.state);
        }
    }

    fn remove_colliders(&mut self, gone: impl Fn(Owner) -> bool) {
        for (i, attachment) in self.state.attachments.iter_mut().enumerate() {
            if attachment.is_some_and(|a| gone(a.owner)) {
                *attachment = None;
                self.state.collision.remove(ColliderId(i));
            }
        }
        let attachments = &self.state.attachments;
        self.state.placements.retain(|(collider, ..)| attachments[collider.0].is_some());
        self.constraints
            .contacts
            .active
            .retain(|c| attachments[c.a.0].is_some() && attachments[c.b.0].is_some());
    }

    fn attach(&mut self, id: ColliderId, attachment: Attachment) {
        self.state.attachments.resize(id.0 + 1, None);
        self.state.attachments[id.0] = Some(attachment);
    }

    fn check_name(&self, name: &str) -> Result<(), WorldError> {
        if self.names.contains_key(name) {
            return Err(WorldError::NameTaken { name: name.to_owned() });
        }
        Ok(())
    }

    /// Gives every mover its place in the velocity vector.
    fn lay_out(&mut self) {
        let mut start = 0;
        for robot in self.state.robots.iter_mut().flatten() {
            robot.start = start;
            start += robot.v.len();
        }
        for body in self.state.bodies.iter_mut().flatten().filter(|b| b.is_free()) {
            body.start = start;
            start += 6;
        }
        self.pipeline.before.resize(start, 0.0);
        self.place_colliders();
    }

    /// The same for a body that was added: those before it keep their places, so that many are added in linear time.
    fn lay_out_last_body(&mut self) {
        let start = self.pipeline.before.len();
        let last = Mover::Body(self.state.bodies.len() - 1);
        if let Some(body) =
            self.state.bodies.last_mut().and_then(Option::as_mut).filter(|b| b.is_free())
        {
            body.start = start;
            self.pipeline.before.resize(start + 6, 0.0);
        }
        let n_before = self.state.placements.iter().rposition(|&(_, mover, _)| mover != last);
        self.place_colliders_from(n_before.map_or(0, |i| i + 1));
    }

    pub(crate) fn place_colliders(&mut self) {
        self.place_colliders_from(0);
    }

    /// Moves the colliders of `placements[first..]` to where their bodies are.
    fn place_colliders_from(&mut self, first: usize) {
        for &(collider, mover, pose_on_body) in &self.state.placements[first..] {
            let pose = match mover {
                Mover::Robot { robot, body } => self.state.robots[robot]
                    .as_ref()
                    .map(|r| r.data.pose_in_world[body.0] * pose_on_body),
                Mover::Body(body) => self.state.bodies[body]
                    .as_ref()
                    .filter(|b| !b.is_asleep())
                    .map(Body::shape_pose),
                Mover::Fixed => None,
            };
            if let Some(pose) = pose {
                self.state.collision.set_pose(collider, &pose);
            }
        }
    }

    /// Ids of the robots that are there.
    pub fn robot_ids(&self) -> impl Iterator<Item = RobotId> + '_ {
        self.state.robots.iter().enumerate().filter(|(_, r)| r.is_some()).map(|(i, _)| RobotId(i))
    }

    /// Ids of the bodies that are there, fixed ones too.
    pub fn body_ids(&self) -> impl Iterator<Item = BodyId> + '_ {
        self.state.bodies.iter().enumerate().filter(|(_, b)| b.is_some()).map(|(i, _)| BodyId(i))
    }

    /// The robot of this name.
    pub fn find_robot(&self, name: &str) -> Option<RobotId> {
        match self.names.get(name) {
            Some(&Named::Robot(id)) => Some(id),
            _ => None,
        }
    }

    /// The body of this name.
    pub fn find_body(&self, name: &str) -> Option<BodyId> {
        match self.names.get(name) {
            Some(&Named::Body(id)) => Some(id),
            _ => None,
        }
    }

    /// A robot.
    ///
    /// # Panics
    /// When it was removed.
    pub fn robot(&self, id: RobotId) -> RobotView<'_> {
        RobotView(self.robot_ref(id))
    }

    pub(crate) fn robot_ref(&self, id: RobotId) -> &Robot {
        self.state.robots[id.0]
            .as_ref()
            .unwrap_or_else(|| unreachable!("robot {} was removed", id.0))
    }

    pub(crate) fn robot_mut(&mut self, id: RobotId) -> &mut Robot {
        self.state.robots[id.0]
            .as_mut()
            .unwrap_or_else(|| unreachable!("robot {} was removed", id.0))
    }

    /// A body.
    ///
    /// # Panics
    /// When it was removed.
    pub fn body(&self, id: BodyId) -> BodyView<'_> {
        BodyView(
            self.state.bodies[id.0]
                .as_ref()
                .unwrap_or_else(|| unreachable!("body {} was removed", id.0)),
        )
    }

    /// Targets and gains of a robot's drives.
    ///
    /// # Panics
    /// When it was removed.
    pub fn drive_mut(&mut self, id: RobotId) -> &mut Drives {
        &mut self.robot_mut(id).drives
    }

    /// Puts a robot elsewhere. The drives keep their targets.
    pub fn set_robot_state(&mut self, id: RobotId, q: &[f64], v: &[f64]) -> Result<(), WorldError> {
        let robot = self.robot_mut(id);
        check_state(&robot.name, "position", q, robot.model.nq)?;
        check_state(&robot.name, "velocity", v, robot.model.nv)?;
        robot.set_state(q, v);
        self.place_colliders();
        Ok(())
    }

    /// Puts a body elsewhere. Velocity at the centre of mass, in world axes. [rad/s; m/s]
    pub fn set_body_state(
        &mut self,
        id: BodyId,
        pose: Pose,
        velocity: Motion,
    ) -> Result<(), WorldError> {
        let numbers = [pose.translation, velocity.angular, velocity.linear];
        let finite = numbers.iter().flatten().chain(pose.rotation.iter()).all(|x| x.is_finite());
        let Some(body) = &mut self.state.bodies[id.0] else { return Ok(()) };
        if !finite {
            let name = body.description.name.clone();
            return Err(WorldError::NotFinite { name, what: "the state" });
        }
        body.set_state(pose, velocity);
        // What it was, or becomes, the support of.
        self.wake_all();
        self.place_colliders();
        Ok(())
    }

    /// Contacts of the last step that carry force; of what sleeps, as it fell asleep.
    pub fn contacts(&self) -> impl Iterator<Item = ContactReport> + '_ {
        self.loaded_contacts().filter_map(|c| {
            Some(ContactReport {
                a: self.state.attachments[c.a.0]?.owner,
                b: self.state.attachments[c.b.0]?.owner,
                position: c.position,
                normal: c.normal,
                gap: c.gap,
                force: c.impulse / self.settings.dt,
                moment: c.turning / self.settings.dt,
            })
        })
    }

    /// Reading of a force sensor in the last step, in its link's axes at its origin; `sensor` indexes the model's
    /// sensors. [N·m; N]
    pub fn sensor_wrench(&self, robot: RobotId, sensor: usize) -> Force {
        self.state.robots[robot.0].as_ref().map_or_else(Force::default, |r| r.wrenches[sensor])
    }

    /// Reading of an inertial sensor in the last step; `sensor` indexes the model's sensors.
    pub fn sensor_imu(&self, robot: RobotId, sensor: usize) -> Imu {
        self.state.robots[robot.0].as_ref().map_or_else(Imu::default, |r| r.imus[sensor])
    }

    /// What the last step cost.
    pub fn statistics(&self) -> Statistics {
        Statistics {
            steps: self.steps,
            level: self.last.solution.level,
            iterations: self.last.solution.iterations,
            residual: self.last.solution.residual,
            n_contacts: self.constraints.contacts.active.len(),
            n_blocks: self.pipeline.problem.blocks.len(),
            n_islands: self.pipeline.problem.island_ends.len(),
            n_asleep: self.state.n_asleep,
        }
    }

    /// Saves everything the next step reads.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot(Box::new(self.clone()))
    }

    /// Goes back to a snapshot of this world.
    pub fn restore(&mut self, snapshot: &Snapshot) {
        let team = std::mem::take(&mut self.pipeline.team);
        self.clone_from(&snapshot.0);
        self.pipeline.team = team;
    }

    /// Puts the robots and bodies that a snapshot has where it has them; others, and time, stay as they are.
    pub fn restore_states(&mut self, snapshot: &Snapshot) {
        self.wake_all();
        for (own, saved) in self.state.robots.iter_mut().zip(&snapshot.0.state.robots) {
            if let (Some(own), Some(saved)) = (own, saved) {
                own.clone_from(saved);
            }
        }
        for (own, saved) in self.state.bodies.iter_mut().zip(&snapshot.0.state.bodies) {
            if let (Some(own), Some(saved)) = (own, saved) {
                own.clone_from(saved);
            }
        }
        for body in self.state.bodies.iter_mut().flatten() {
            body.island_asleep = None;
        }
        self.constraints.joints.all.clone_from(&snapshot.0.constraints.joints.all);
        self.constraints.gears.all.clone_from(&snapshot.0.constraints.gears.all);
        self.remove_loose();
        self.constraints.contacts.active.clear();
        self.lay_out();
    }

    /// A number that differs when any bit of any position or velocity does (FNV-1a).
    pub fn state_hash(&self) -> u64 {
        let robots = self.state.robots.iter().flatten().flat_map(|r| r.q.iter().chain(&r.v));
        let bodies = self.state.bodies.iter().flatten().flat_map(|b| {
            let quaternion = b.rotation.as_vector().iter();
            let velocity = b.velocity.angular.iter().chain(&b.velocity.linear);
            b.pose.translation.iter().chain(quaternion).chain(velocity)
        });
        robots
            .chain(bodies)
            .flat_map(|x| x.to_bits().to_le_bytes())
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
            })
    }

    /// What a person should read after a step that ended in [`StepOutcome::NonFinite`].
    pub fn non_finite_report(&self) -> String {
        let StepOutcome::NonFinite(culprit) = self.last.outcome else {
            return "all quantities are finite".to_owned();
        };
        let joint = |robot: usize, dof: usize| {
            let view = self.robot(RobotId(robot));
            (view.name().to_owned(), view.model().joint_name_of(dof).to_owned())
        };
        match culprit {
            Culprit::Robot { robot, dof } => {
                let (robot, joint) = joint(robot, dof);
                format!(
                    "robot `{robot}`: velocity of joint `{joint}` is not finite (or above 1e30); check its commands, gains and inertia"
                )
            }
            Culprit::MassMatrix { robot, dof } => {
                let (robot, joint) = joint(robot, dof);
                format!(
                    "robot `{robot}`: joint `{joint}` moves no mass; give its links an inertia or the joint an armature"
                )
            }
            Culprit::Setting(name) => {
                format!(
                    "the setting `{name}` is no number that a step can use; `dt` must be positive"
                )
            }
            Culprit::Body { body } => {
                let name = self.body(BodyId(body)).description().name.clone();
                format!(
                    "body `{name}`: velocity is not finite (or above 1e30); check its mass, inertia and what it touches"
                )
            }
        }
    }

    /// Largest speed of any collider's reference point and edge, as a bound for the contact search. [m/s]
    pub(crate) fn fastest_speed(&mut self) -> f64 {
        let mut fastest: f64 = 0.0;
        for body in self.state.bodies.iter().flatten().filter(|b| b.is_free()) {
            let spin = body.spin_speed(self.settings.dt);
            fastest = fastest.max(body.velocity.linear.norm() + spin);
        }
        fastest = fastest.max(self.fastest_carried());
        for robot in self.state.robots.iter_mut().flatten() {
            if !robot.model.collisions.is_empty() {
                fastest = fastest.max(robot.fastest_speed(self.settings.dt));
            }
        }
        fastest
    }
}

fn check_state(robot: &str, what: &'static str, x: &[f64], want: usize) -> Result<(), WorldError> {
    if x.len() != want {
        return Err(WorldError::StateLength { robot: robot.to_owned(), what, got: x.len(), want });
    }
    if x.iter().any(|x| !x.is_finite()) {
        return Err(WorldError::NotFinite { name: robot.to_owned(), what });
    }
    Ok(())
}
