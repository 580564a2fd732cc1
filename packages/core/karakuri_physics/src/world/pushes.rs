//! Pushes on links and bodies.

use karakuri_model::BodyId as LinkBody;
use karakuri_spatial::Force;

use crate::errors::WorldError;
use crate::state::mover::{Mover, Owner};
use crate::state::pushes::{Push, PushId};
use crate::world::World;
use crate::{ObjectId, RobotId};

impl World {
    /// Adds a wrench on a body of a robot in the next step only: at the origin of the body's frame, in world axes.
    /// [N·m; N]
    ///
    /// # Panics
    /// When the robot was removed, or has no such body.
    pub fn apply_link_wrench(&mut self, robot: RobotId, body: LinkBody, wrench: Force) {
        self.robot_mut(robot).applied[body.0] += wrench;
    }

    /// Adds a wrench on a free body in the next step only: about its centre of mass, in world axes. [N·m; N]
    pub fn apply_body_wrench(&mut self, body: ObjectId, wrench: Force) {
        // A wrench of zero wakes nothing: some callers apply one in every step.
        if wrench != Force::default() {
            self.wake(body.0);
        }
        if let Some(body) = &mut self.state.bodies[body.0] {
            body.applied += wrench;
        }
    }

    pub(crate) fn clear_applied_wrenches(&mut self) {
        for robot in self.state.robots.iter_mut().flatten() {
            robot.applied.fill(Force::default());
        }
        for body in self.state.bodies.iter_mut().flatten() {
            body.applied = Force::default();
        }
    }

    /// Adds a push on a link or body.
    ///
    /// # Errors
    /// When a number is not finite, or the part cannot move.
    pub fn add_push(&mut self, push: Push) -> Result<PushId, WorldError> {
        let vectors = [push.point, push.wrench.force, push.wrench.moment];
        let finite = vectors.iter().flatten().all(|x| x.is_finite()) && push.from.is_finite();
        // Infinite is a push without an end; NaN is no time.
        if !finite || push.until.is_nan() {
            let name = self.part_name(push.part);
            return Err(WorldError::NotFinite { name, what: "a push" });
        }
        if self.carrier(push.part).0 == Mover::Fixed {
            return Err(WorldError::CannotMove { name: self.part_name(push.part) });
        }
        self.wake_all();
        self.state.pushes.push(Some(push));
        Ok(PushId(self.state.pushes.len() - 1))
    }

    /// Ends a push; its id stays unused.
    pub fn remove_push(&mut self, id: PushId) {
        self.state.pushes[id.0] = None;
    }

    /// Removes pushes on things that are gone.
    pub(crate) fn remove_loose_pushes(&mut self) {
        let (robots, bodies) = (&self.state.robots, &self.state.bodies);
        for push in &mut self.state.pushes {
            let gone = push.as_ref().is_some_and(|push| match push.part {
                Owner::Ground => true,
                Owner::Link { robot, .. } => robots[robot.0].is_none(),
                Owner::Body(body) => bodies[body.0].is_none(),
            });
            if gone {
                *push = None;
            }
        }
    }

    /// Applies the pushes of the step that begins.
    pub(crate) fn apply_pushes(&mut self) {
        let middle = self.time() + 0.5 * self.settings.dt;
        for i in 0..self.state.pushes.len() {
            // By the middle of the step: a time on its border, rounded either way, gives the same number of steps.
            let Some(push) = self.state.pushes[i].filter(|p| p.from <= middle && middle < p.until)
            else {
                continue;
            };
            let (mover, X_MP) = self.carrier(push.part);
            let X_WM = self.mover_pose(mover);
            // The wrench at the origin of the mover's frame.
            let arm = X_WM.rotation * X_MP.transform_point(&push.point);
            let Force { moment, force } = push.wrench;
            let about_origin = Force::new(moment + arm.cross(&force), force);
            self.apply_wrench(mover, about_origin);
        }
    }
}
