//! Clearance of the robot, and of the object that it holds, from known objects along a joint trajectory.
//!
//! Known objects are boxes that stand still; the robot has its collision shapes, the held object is a box fixed to the
//! tool. Checked are the trajectory's points and, where joints move far between two, places between them.
//! Limits: the robot is not checked against itself. Units: m, rad; world axes.

use karakuri_collision::{Collider, ColliderId, ColliderShape, CollisionScene};
use karakuri_control::trajectory::JointTrajectory;
use karakuri_dynamics::{Data, forward_kinematics, frame_pose};
use karakuri_model::{BodyId, FrameId, Model};
use karakuri_spatial::{Pose, Vector3};

use super::KnownObject;

/// Largest motion of a joint between two checked places. [rad or m]
// 20 mm at half a metre from the joint: a smaller step finds thinner obstacles and costs more places.
const STEP: f64 = 0.04;

/// Pose of what is not checked: far from everything. [m]
const AWAY: Pose =
    Pose { rotation: Pose::IDENTITY.rotation, translation: Vector3::new(0.0, 0.0, 1e4) };

/// Collision of two things.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{mover}` would hit `{object}`; clear the way or start elsewhere")]
pub(super) struct Hit {
    mover: String,
    object: String,
}

/// A collider of the robot, or the held object.
#[derive(Debug, Clone)]
struct Mover {
    collider: ColliderId,
    frame: FrameId,
    /// Pose in the frame's body, or in the tool for the held object.
    pose: Pose,
    body: Option<BodyId>,
}

/// Checker of clearance: scene of the robot, the held object and the obstacles.
#[derive(Debug, Clone)]
pub(super) struct Clearance {
    scene: CollisionScene,
    movers: Vec<Mover>,
    held: Option<Mover>,
    obstacles: Vec<(ColliderId, String)>,
    data: Data,
    distance: f64,
}

impl Clearance {
    /// Checker with nothing in the hand; the robot keeps `distance` from everything. [m]
    pub(super) fn new(model: &Model, objects: &[KnownObject], distance: f64) -> Self {
        let mut scene = CollisionScene::default();
        let mut movers: Vec<Mover> = Vec::new();
        // The fixed base cannot move into anything.
        for geometry in model.collisions.iter().filter(|g| g.body.is_some()) {
            // A shape without volume cannot be hit.
            let Ok(collider) = scene
                .try_add(&Collider::moving(ColliderShape::convex(&geometry.shape), Pose::IDENTITY))
            else {
                continue;
            };
            for other in &movers {
                scene.ignore(other.collider, collider);
            }
            let (frame, body, pose) = (geometry.frame, geometry.body, geometry.pose_in_body);
            movers.push(Mover { collider, frame, pose, body });
        }
        let mut clearance = Self {
            scene,
            movers,
            held: None,
            obstacles: Vec::new(),
            data: Data::new(model),
            distance,
        };
        for object in objects {
            clearance.add(object);
        }
        clearance
    }

    /// Changes the distance that the robot keeps from everything. [m]
    pub(super) fn keep(&mut self, distance: f64) {
        self.distance = distance;
    }

    /// Adds an object.
    pub(super) fn add(&mut self, object: &KnownObject) {
        let whole = || ColliderShape::Box { half_extents: object.size * 0.5 };
        let shape = object.shape.as_deref().cloned().unwrap_or_else(whole);
        let collider = Collider::fixed(shape, object.pose);
        if let Ok(id) = self.scene.try_add(&collider) {
            self.obstacles.push((id, object.name.clone()));
        }
    }

    /// Removes an object.
    pub(super) fn remove(&mut self, name: &str) {
        let scene = &mut self.scene;
        self.obstacles.retain(|(id, other)| {
            let stays = other != name;
            if !stays {
                scene.remove(*id);
            }
            stays
        });
    }

    /// Puts a box in the hand. The support of the object is near: the box counts as smaller by the safety distance.
    pub(super) fn hold(&mut self, tool: FrameId, X_TO: Pose, size: &Vector3) {
        // Without that the support itself would be hit while the object still stands on it.
        let half_extents = size.map(|edge| (0.5 * edge - 1.5 * self.distance).max(1e-3));
        let collider = Collider::moving(ColliderShape::Box { half_extents }, Pose::IDENTITY);
        if let Ok(collider) = self.scene.try_add(&collider) {
            // The hand touches what it holds.
            for other in &self.movers {
                self.scene.ignore(other.collider, collider);
            }
            self.held = Some(Mover { collider, frame: tool, pose: X_TO, body: None });
        }
    }

    /// Empties the hand.
    pub(super) fn release(&mut self) {
        if let Some(held) = self.held.take() {
            self.scene.remove(held.collider);
        }
    }

    /// Checks a trajectory of `joints` whose other joints stand as in `q`. Contacts at its very start do not count: the robot is
    /// there already, and may leave. (nq)
    pub(super) fn check(
        &mut self,
        model: &Model,
        q: &[f64],
        joints: &[BodyId],
        trajectory: &JointTrajectory,
    ) -> Result<(), Hit> {
        let mut q = q.to_vec();
        let mut excused: Option<Vec<(ColliderId, ColliderId)>> = None;
        for (a, b) in trajectory.points.iter().zip(trajectory.points.iter().skip(1)) {
            let steps = a.positions.iter().zip(&b.positions);
            // As many places as keep the largest joint motion between two below `STEP`; the very first one excuses its contacts.
            let distance = steps.fold(0.0, |most: f64, (a, b)| most.max((b - a).abs()));
            let parts = (distance / STEP).ceil().max(1.0);
            // The start of a segment is the end of the one before.
            let mut part = if excused.is_none() { 0.0 } else { 1.0 };
            while part <= parts {
                let s = part / parts;
                for (id, (a, b)) in joints.iter().zip(a.positions.iter().zip(&b.positions)) {
                    q[model.joints[id.0].q_start] = a + s * (b - a);
                }
                self.place(model, &q);
                let touching = self.scene.manifolds().iter().map(|m| (m.a, m.b));
                match &excused {
                    None => excused = Some(touching.collect()),
                    Some(excused) => {
                        if let Some(pair) = touching.into_iter().find(|p| !excused.contains(p)) {
                            return Err(self.name(model, pair.0, pair.1));
                        }
                    }
                }
                part += 1.0;
            }
        }
        Ok(())
    }

    /// Checks the hand alone, with its joints as in `q`, where its tool is at a pose: that needs no kinematics of the arm. (nq)
    pub(super) fn check_hand(
        &mut self,
        model: &Model,
        q: &[f64],
        tool: FrameId,
        X_WT: &Pose,
    ) -> Result<(), Hit> {
        forward_kinematics(model, &mut self.data, q);
        let moved = *X_WT * frame_pose(model, &self.data, tool).inverse();
        let is_of_hand = |mut body: Option<BodyId>| {
            while body.is_some() && body != model.frames[tool.0].body {
                body = body.and_then(|id| model.bodies[id.0].parent);
            }
            body.is_some()
        };
        for mover in &self.movers {
            let Some(body) = mover.body else { continue };
            let X_WC = self.data.pose_in_world[body.0] * mover.pose;
            let there = if is_of_hand(mover.body) { moved * X_WC } else { AWAY };
            self.scene.set_pose(mover.collider, &there);
        }
        self.scene.update(self.distance);
        let hit = self.scene.manifolds().iter().next().map(|m| (m.a, m.b));
        hit.map_or(Ok(()), |(a, b)| Err(self.name(model, a, b)))
    }

    /// Moves everything to a position and finds the contacts. (nq)
    fn place(&mut self, model: &Model, q: &[f64]) {
        forward_kinematics(model, &mut self.data, q);
        for mover in &self.movers {
            if let Some(body) = mover.body {
                let X_WC = self.data.pose_in_world[body.0] * mover.pose;
                self.scene.set_pose(mover.collider, &X_WC);
            }
        }
        if let Some(held) = &self.held {
            let X_WC = frame_pose(model, &self.data, held.frame) * held.pose;
            self.scene.set_pose(held.collider, &X_WC);
        }
        // The margin makes contacts of all that is nearer than the distance to be kept.
        self.scene.update(self.distance);
    }

    fn name(&self, model: &Model, a: ColliderId, b: ColliderId) -> Hit {
        let is = |id: ColliderId| id == a || id == b;
        let link = self.movers.iter().find(|m| is(m.collider));
        let mover = link.map_or("the held object", |m| &model.frames[m.frame.0].name).to_owned();
        let object = self.obstacles.iter().find(|(id, _)| is(*id));
        Hit { mover, object: object.map_or_else(String::new, |(_, name)| name.clone()) }
    }
}
