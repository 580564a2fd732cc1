//! Members of a world: ground, robots and bodies, added and removed.

use std::sync::Arc;

use karakuri_collision::{Collider, ColliderId, ColliderShape, CollisionScene, ShapeError};
use karakuri_model::{Model, Shape};
use karakuri_spatial::{Matrix3, Motion, Pose, Vector3};

use super::{Named, World};
use crate::errors::WorldError;
use crate::state::body::{Body, body_inertia, check_numbers};
use crate::state::collider::Attachment;
use crate::state::ids::{BodyId, RobotId};
use crate::state::materials::Surface;
use crate::state::mover::Mover;
use crate::state::overlaps::OwnCollider;
use crate::state::robot::Robot;
use crate::{BodyDescription, Owner};

impl World {
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
    ///
    /// # Errors
    /// When the name is taken, `q` has a wrong length or a number that is not finite, or a collision shape cannot be
    /// built.
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
        // Shared with snapshots until a name changes.
        Arc::make_mut(&mut self.names).insert(name.to_owned(), Named::Robot(id));
        self.state.robots.push(Some(robot));
        if let Err(e) = self.add_robot_colliders(id, &model) {
            // All or nothing: a shape that cannot be built takes its robot back out.
            self.remove_robot(id);
            return Err(e);
        }
        self.lay_out();
        Ok(id)
    }

    /// Whether every motion of a robot meets inertia where it is, so that a step can move it.
    ///
    /// # Errors
    /// When a joint moves no mass at this position; the first such joint.
    ///
    /// # Panics
    /// When it was removed.
    pub fn check_inertia(&mut self, id: RobotId) -> Result<(), WorldError> {
        let robot = self.robot_mut(id);
        // With armatures alone: gains make any operator regular, and may be switched off.
        let Robot { model, data, factor, armature, .. } = robot;
        let Err(singular) = factor.factorize(model, data, armature) else { return Ok(()) };
        let joint = robot.model.joint_name_of(singular.dof).to_owned();
        Err(WorldError::NoInertia { robot: robot.name.clone(), joint })
    }

    pub(crate) fn add_robot_colliders(
        &mut self,
        id: RobotId,
        model: &Model,
    ) -> Result<(), WorldError> {
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
                // Shapes of a fixed base are not paired with other fixed ones.
                let collider =
                    Collider { shape, pose: geometry.pose_in_body, fixed: !moves, jointed: moves };
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
                    // Around the body's origin: too large for shapes off it, never too small.
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

    /// Adds a free or fixed body.
    ///
    /// # Errors
    /// When the name is taken, the shape cannot be built, a free body has no positive mass or no positive definite
    /// inertia, or a number is not finite.
    pub fn add_body(&mut self, description: BodyDescription) -> Result<BodyId, WorldError> {
        self.check_name(&description.name)?;
        let name = &description.name;
        let wrong = |source| WorldError::Shape { name: name.clone(), source };
        let shapes = collider_shapes(&description.shape, !description.fixed).map_err(wrong)?;
        let inertia = if description.fixed {
            // What is fixed turns under no moment, and may be without a mass.
            Matrix3::zeros()
        } else {
            body_inertia(&description, &ColliderShape::filled(&description.shape))?
        };
        check_numbers(&description)?;
        let mut colliders = Vec::with_capacity(shapes.len());
        for shape in shapes {
            let collider = Collider {
                shape,
                pose: description.pose,
                fixed: description.fixed,
                jointed: false,
            };
            match self.state.collision.try_add(&collider) {
                Ok(id) => colliders.push(id),
                Err(source) => {
                    // All or nothing: the parts that were added go again.
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
            // Also of fixed bodies: a prescribed motion moves their shapes.
            self.state.placements.push((collider, Mover::Body(id.0), Pose::IDENTITY));
            // Parts of one body overlap at their seams.
            colliders[..i].iter().for_each(|&other| self.state.collision.ignore(other, collider));
        }
        let known = |of: fn(&CollisionScene, ColliderId) -> Option<f64>| {
            colliders.iter().filter_map(|&c| of(&self.state.collision, c)).collect::<Vec<_>>()
        };
        // Of several parts the farthest reach and the least width: bounds for the whole body.
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
        // It may have held up what sleeps.
        self.wake_all();
        if let Some(robot) = self.remove_contents(id) {
            Arc::make_mut(&mut self.names).remove(&robot.name);
        }
        self.lay_out();
    }

    /// Puts another model in the place of a robot, which keeps its name and id, and of joints of the same name and kind position,
    /// velocity and drive. The others are at rest where `q` (nq) has them, their drives holding them there. Springs, joints, gears,
    /// suction and pushes on the robot go, and so do materials and pairs that a scene gave it.
    ///
    /// # Errors
    /// When `q` has a wrong length or a number that is not finite, or a collision shape cannot be built; nothing changes then.
    ///
    /// # Panics
    /// When it was removed.
    pub fn replace_robot(
        &mut self,
        id: RobotId,
        model: Arc<Model>,
        q: &[f64],
    ) -> Result<(), WorldError> {
        let name = self.robot_ref(id).name.clone();
        check_state(&name, "position", q, model.nq)?;
        let before = self.snapshot();
        // It may have held up what sleeps.
        self.wake_all();
        let mut robot = Robot::new(&name, model, q);
        if let Some(old) = self.remove_contents(id) {
            robot.take_joints_of(&old);
        }
        let model = Arc::clone(&robot.model);
        self.state.robots[id.0] = Some(robot);
        if let Err(e) = self.add_robot_colliders(id, &model) {
            self.restore(&before);
            return Err(e);
        }
        self.lay_out();
        Ok(())
    }

    /// Takes a robot out of its place, with its colliders and what acts on it.
    fn remove_contents(&mut self, id: RobotId) -> Option<Robot> {
        let robot = self.state.robots[id.0].take();
        // Constraints first: one without an end would make rows on nothing.
        self.remove_loose();
        self.remove_colliders(|owner| matches!(owner, Owner::Link { robot, .. } if robot == id));
        robot
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
    pub(crate) fn remove_loose(&mut self) {
        self.remove_loose_pushes();
        for kind in self.constraints.kinds_mut() {
            kind.remove_loose(&self.state);
        }
    }

    pub(crate) fn remove_colliders(&mut self, gone: impl Fn(Owner) -> bool) {
        for (i, attachment) in self.state.attachments.iter_mut().enumerate() {
            if attachment.is_some_and(|a| gone(a.owner)) {
                *attachment = None;
                self.state.collision.remove(ColliderId(i));
            }
        }
        let attachments = &self.state.attachments;
        self.state.placements.retain(|(collider, ..)| attachments[collider.0].is_some());
        // A report needs owners on both sides.
        self.constraints
            .contacts
            .active
            .retain(|c| attachments[c.a.0].is_some() && attachments[c.b.0].is_some());
    }

    pub(crate) fn attach(&mut self, id: ColliderId, attachment: Attachment) {
        // Ids of colliders ascend and are given once: this only appends.
        self.state.attachments.resize(id.0 + 1, None);
        self.state.attachments[id.0] = Some(attachment);
    }

    pub(crate) fn check_name(&self, name: &str) -> Result<(), WorldError> {
        if self.names.contains_key(name) {
            return Err(WorldError::NameTaken { name: name.to_owned() });
        }
        Ok(())
    }

    /// Gives every mover its place in the velocity vector.
    pub(crate) fn lay_out(&mut self) {
        // Robots, then bodies: the solver counts on runs that ascend in this order.
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

    /// [`Self::lay_out`] for a body that was added: those before it keep their places, so that many are added in linear time.
    pub(crate) fn lay_out_last_body(&mut self) {
        // The last alone: laying out all again would make n bodies cost n² placements.
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
    pub(crate) fn place_colliders_from(&mut self, first: usize) {
        for &(collider, mover, pose_on_body) in &self.state.placements[first..] {
            let pose = match mover {
                Mover::Robot { robot, body } => self.state.robots[robot]
                    .as_ref()
                    .map(|r| r.data.pose_in_world[body.0] * pose_on_body),
                Mover::Body(body) => self.state.bodies[body]
                    .as_ref()
                    // Sleepers have not moved, and a pose set again could differ by a rounding.
                    .filter(|b| !b.is_asleep())
                    .map(Body::shape_pose),
                Mover::Fixed => None,
            };
            if let Some(pose) = pose {
                self.state.collision.set_pose(collider, &pose);
            }
        }
    }
}

pub(super) fn check_state(
    robot: &str,
    what: &'static str,
    x: &[f64],
    want: usize,
) -> Result<(), WorldError> {
    if x.len() != want {
        return Err(WorldError::StateLength { robot: robot.to_owned(), what, got: x.len(), want });
    }
    if x.iter().any(|x| !x.is_finite()) {
        return Err(WorldError::NotFinite { name: robot.to_owned(), what });
    }
    Ok(())
}

fn collider_shapes(shape: &Shape, moves: bool) -> Result<Vec<ColliderShape>, ShapeError> {
    if moves { ColliderShape::moving_parts(shape) } else { Ok(vec![ColliderShape::fixed(shape)]) }
}

#[cfg(test)]
mod tests;
