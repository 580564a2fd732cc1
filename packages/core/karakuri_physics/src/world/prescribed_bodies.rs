//! Bodies that move as prescribed.

use std::sync::Arc;

use karakuri_spatial::{Motion, Pose, Vector3};

use crate::ObjectId;
use crate::errors::WorldError;
use crate::state::mover::Owner;
use crate::state::prescribed_bodies::{Course, PoseTable};
use crate::world::World;

impl World {
    /// Lets a fixed body move as a table over the simulated time says, whatever presses; it begins there now. Nothing can
    /// be attached to it but by contact.
    ///
    /// # Errors
    /// When the body is not fixed.
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
    pub(crate) fn is_prescribed(&self, part: Owner) -> bool {
        matches!(part, Owner::Body(id) if self.state.bodies[id.0].as_ref().is_some_and(|b| b.course.is_some()))
    }

    /// Finds the ends of prescribed motions in the step that begins, and their surfaces' twists for the contacts, about the
    /// world's origin.
    pub(crate) fn update_prescribed_bodies(&mut self) {
        let (end, h) = (self.time_at_end(), self.settings.dt);
        let mut moves = false;
        for i in 0..self.state.bodies.len() {
            let Some(body) = &mut self.state.bodies[i] else { continue };
            let Some(course) = &mut body.course else { continue };
            // From the pose as it is, so that rounding of the last step is made good in this one.
            course.end = course.table.at(end, &course.rest);
            let (from, to) = (body.pose, course.end.0);
            // The mean twist that takes the pose to that of the table in the step.
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
        // What sleeps may stand on it.
        if moves {
            self.wake_all();
        }
    }

    /// Largest speed of a surface among bodies that move as prescribed. [m/s]
    pub(crate) fn fastest_prescribed(&self) -> f64 {
        let carried = self.state.bodies.iter().flatten().filter(|body| body.course.is_some());
        let speed = |body: &crate::state::body::Body| {
            let reach = body.extent[0] + body.center_of_mass.norm();
            body.velocity.linear.norm() + body.velocity.angular.norm() * reach
        };
        carried.map(speed).fold(0.0, f64::max)
    }

    /// Puts bodies at the ends of their motions in the step.
    pub(crate) fn move_prescribed_bodies(&mut self) {
        for body in self.state.bodies.iter_mut().flatten() {
            if let Some((pose, velocity)) = body.course.as_ref().map(|course| course.end) {
                body.set_state(pose, velocity);
            }
        }
    }
}
