//! Bodies that move as prescribed: fixed ones whose pose is a table over time, whatever presses.
//!
//! What touches such a body sees its surface come and go: the velocity `w` that its motion over the step has at the point
//! of contact is taken off the relative velocity, so normal and friction act on `u − w`. Over a step the pose goes from
//! table to table by a mean twist, so contacts close where the surface will be; position and velocity at the end of each
//! step are the table's.

use std::sync::Arc;

use karakuri_spatial::{Motion, Pose, Vector3};

use crate::ObjectId;
use crate::errors::WorldError;
use crate::state::motion_table::MotionTable;
use crate::state::mover::{Attachment, Owner};
use crate::world::World;

/// Pose of a body over time: `x y z` of its centre of mass, and roll, pitch, yaw; what has no table stays. Where one of the
/// angles has a table, those that have none are 0. [m; rad] (6)
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PoseTable(pub [Option<MotionTable>; 6]);

impl PoseTable {
    /// Pose, and velocity of the centre of mass in world axes, of a body that rests in a pose. [rad/s; m/s]
    pub fn at(&self, time: f64, rest: &Pose) -> (Pose, Motion) {
        let at = |i: usize, rest: f64| self.0[i].as_ref().map_or((rest, 0.0), |t| t.at(time));
        let p = &rest.translation;
        let [(x, vx), (y, vy), (z, vz)] = [at(0, p.x), at(1, p.y), at(2, p.z)];
        let linear = Vector3::new(vx, vy, vz);
        if self.0[3..].iter().all(Option::is_none) {
            let pose = Pose::new(rest.rotation, Vector3::new(x, y, z));
            return (pose, Motion::new(Vector3::zeros(), linear));
        }
        let [(roll, d_roll), (pitch, d_pitch), (yaw, d_yaw)] = [at(3, 0.0), at(4, 0.0), at(5, 0.0)];
        // R = Rz(yaw) Ry(pitch) Rx(roll): the axes about which each angle turns.
        let about_roll =
            Vector3::new(yaw.cos() * pitch.cos(), yaw.sin() * pitch.cos(), -pitch.sin());
        let about_pitch = Vector3::new(-yaw.sin(), yaw.cos(), 0.0);
        let angular = about_roll * d_roll + about_pitch * d_pitch + Vector3::z() * d_yaw;
        let pose = Pose::from_xyz_rpy([x, y, z], [roll, pitch, yaw]);
        (pose, Motion::new(angular, linear))
    }
}

/// The motion of a body in the world.
#[derive(Debug, Clone)]
pub(crate) struct Course {
    table: Arc<PoseTable>,
    /// Where it was when the motion began.
    rest: Pose,
    /// At the end of the step.
    end: (Pose, Motion),
}

impl World {
    /// Lets a fixed body move as a table over the simulated time says, whatever presses; it begins there now. Nothing can
    /// be attached to it but by contact.
    pub fn prescribe_body(&mut self, id: ObjectId, table: PoseTable) -> Result<(), WorldError> {
        let time = self.time();
        let Some(body) = &mut self.state.bodies[id.0] else { return Ok(()) };
        if !body.description.fixed {
            let name = body.description.name.clone();
            let reason =
                "its body moves freely; write `fixed: true`, so that only its table moves it";
            return Err(WorldError::Joint { name, reason });
        }
        let rest = body.pose;
        let (pose, velocity) = table.at(time, &rest);
        body.course = Some(Course { table: Arc::new(table), rest, end: (pose, velocity) });
        body.set_state(pose, velocity);
        self.wake_all();
        self.place_colliders();
        Ok(())
    }

    /// Whether this is a body whose motion is prescribed by a table of poses.
    pub(crate) fn is_carried(&self, part: Owner) -> bool {
        matches!(part, Owner::Body(id) if self.state.bodies[id.0].as_ref().is_some_and(|b| b.course.is_some()))
    }

    /// Where bodies go in the step that begins: their surfaces' twists for the contacts, about the world's origin.
    pub(crate) fn aim_bodies(&mut self) {
        let (end, h) = (self.time_at_end(), self.settings.dt);
        let mut moves = false;
        for i in 0..self.state.bodies.len() {
            let Some(body) = &mut self.state.bodies[i] else { continue };
            let Some(course) = &mut body.course else { continue };
            course.end = course.table.at(end, &course.rest);
            let (from, to) = (body.pose, course.end.0);
            let turned = to.rotation * from.rotation.transpose();
            let turn = Pose::new(turned, Vector3::zeros()).quaternion();
            let angular = turn.scaled_axis() / h;
            let linear = (to.translation - from.translation) / h - angular.cross(&from.translation);
            let twist = Motion::new(angular, linear);
            moves |= twist != Motion::default();
            let owner = Owner::Body(ObjectId(i));
            for attachment in
                self.state.attachments.iter_mut().flatten().filter(|a| a.owner == owner)
            {
                attachment.carried = twist;
            }
        }
        if moves {
            self.wake_all();
        }
    }

    /// Speed of the fastest of them at its surface. [m/s]
    pub(crate) fn fastest_carried(&self) -> f64 {
        let carried = self.state.bodies.iter().flatten().filter(|body| body.course.is_some());
        let speed = |body: &crate::state::body::Body| {
            let reach = body.extent[0] + body.center_of_mass.norm();
            body.velocity.linear.norm() + body.velocity.angular.norm() * reach
        };
        carried.map(speed).fold(0.0, f64::max)
    }

    /// Puts bodies at the ends of their ways.
    pub(crate) fn carry_bodies(&mut self) {
        for body in self.state.bodies.iter_mut().flatten() {
            if let Some((pose, velocity)) = body.course.as_ref().map(|course| course.end) {
                body.set_state(pose, velocity);
            }
        }
    }
}

/// Velocity of `b` against `a` at a point with which their contact neither closes, opens nor slips. [m/s] (3)
pub(crate) fn carried_at(a: &Attachment, b: &Attachment, point: &Vector3) -> Vector3 {
    let at = |twist: &Motion| twist.linear + twist.angular.cross(point);
    // What `a`'s surface does, `b` has to do; what `b`'s does, is done.
    at(&a.carried) - at(&b.carried)
}
