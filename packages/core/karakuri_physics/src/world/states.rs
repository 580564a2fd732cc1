//! States of robots and bodies: set, saved, restored.

use std::sync::Arc;

use karakuri_spatial::{Motion, Pose};

use super::World;
use super::members::check_state;
use crate::errors::WorldError;
use crate::state::ids::{BodyId, RobotId};

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

impl World {
    /// Puts a robot elsewhere. The drives keep their targets.
    ///
    /// # Errors
    /// When `q` or `v` has a wrong length or a number that is not finite.
    pub fn set_robot_state(&mut self, id: RobotId, q: &[f64], v: &[f64]) -> Result<(), WorldError> {
        let robot = self.robot_mut(id);
        check_state(&robot.name, "position", q, robot.model.nq)?;
        check_state(&robot.name, "velocity", v, robot.model.nv)?;
        robot.set_state(q, v);
        self.place_colliders();
        Ok(())
    }

    /// Puts a body elsewhere. Velocity at the centre of mass, in world axes. [rad/s; m/s]
    ///
    /// # Errors
    /// When a number is not finite.
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
        // It may have been, or become, the support of something.
        self.wake_all();
        self.place_colliders();
        Ok(())
    }

    /// Saves everything the next step reads.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot(Box::new(self.clone()))
    }

    /// Goes back to a snapshot of this world.
    pub fn restore(&mut self, snapshot: &Snapshot) {
        // Threads are no state: those that run stay.
        let team = std::mem::take(&mut self.pipeline.team);
        self.clone_from(&snapshot.0);
        self.pipeline.team = team;
    }

    /// Puts the robots and bodies that a snapshot has where it has them, with its inertias, limits and gains, and its springs,
    /// joints, gears and suction cups; others, and time, stay as they are. A robot whose model was replaced since keeps that model, and
    /// takes the states of the joints that both have.
    pub fn restore_states(&mut self, snapshot: &Snapshot) {
        self.wake_all();
        // By index, which is the id: none is used again.
        let mut replaced = Vec::new();
        for (i, (own, saved)) in
            self.state.robots.iter_mut().zip(&snapshot.0.state.robots).enumerate()
        {
            match (own, saved) {
                (Some(own), Some(saved)) if Arc::ptr_eq(&own.original, &saved.original) => {
                    own.clone_from(saved);
                }
                (Some(own), Some(saved)) => {
                    own.take_joints_of(saved);
                    replaced.push(i);
                }
                _ => {}
            }
        }
        for (own, saved) in self.state.bodies.iter_mut().zip(&snapshot.0.state.bodies) {
            if let (Some(own), Some(saved)) = (own, saved) {
                own.clone_from(saved);
            }
        }
        // Their islands may have changed since; what rests falls asleep again.
        for body in self.state.bodies.iter_mut().flatten() {
            body.island_asleep = None;
        }
        // Their shapes, phases and impulses belong to the poses that come back.
        self.constraints.springs.clone_from(&snapshot.0.constraints.springs);
        self.constraints.joints.all.clone_from(&snapshot.0.constraints.joints.all);
        self.constraints.gears.all.clone_from(&snapshot.0.constraints.gears.all);
        self.constraints.suctions.all.clone_from(&snapshot.0.constraints.suctions.all);
        // What acts on links of a model that is gone goes with it.
        let present: Vec<_> = replaced.iter().map(|&i| (i, self.state.robots[i].take())).collect();
        self.remove_loose();
        for (i, robot) in present {
            self.state.robots[i] = robot;
        }
        // Impulses of contacts belong to the poses that are left.
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
            // FNV-1a over bits: −0 and 0 differ, as they do to the next step.
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
            })
    }
}
