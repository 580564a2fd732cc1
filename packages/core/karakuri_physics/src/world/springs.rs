//! Springs between points, added and removed while the world runs.

use karakuri_spatial::Vector3;

use crate::WorldError;
use crate::constraint::spring::{Anchor, AttachedSpring, Spring, SpringId, line};
use crate::world::World;

impl World {
    /// Adds a spring between two anchors.
    ///
    /// # Errors
    /// When stiffness, damping or rest length is negative, a number is not finite, or an end is a body that moves as
    /// prescribed.
    pub fn add_spring(&mut self, spring: Spring) -> Result<SpringId, WorldError> {
        let numbers = [spring.stiffness, spring.damping, spring.rest_length];
        let ends = [spring.a, spring.b];
        let is_finite = |end: &Anchor| end.point().iter().all(|x| x.is_finite());
        for (what, fits) in [
            (
                "stiffness, damping or rest length",
                numbers.iter().all(|x| x.is_finite() && *x >= 0.0),
            ),
            ("ends", ends.iter().all(is_finite)),
        ] {
            if !fits {
                let name = format!("spring {}", self.constraints.springs.all.len());
                return Err(WorldError::NotFinite { name, what });
            }
        }
        for end in ends {
            if let Anchor::Body(body, _) = end
                && self.is_prescribed(crate::Owner::Body(body))
            {
                let name = self.body(body).description().name.clone();
                let reason = "a spring cannot hold a body that moves as prescribed; fix it to a link of a robot whose joints do";
                return Err(WorldError::Joint { name, reason });
            }
        }
        self.wake_all();
        // Once: no body changes between fixed and free.
        let movers = spring.movers(&self.state.bodies);
        self.constraints.springs.all.push(Some(AttachedSpring { spring, movers }));
        Ok(SpringId(self.constraints.springs.all.len() - 1))
    }

    /// Removes a spring; its id stays unused.
    pub fn remove_spring(&mut self, id: SpringId) {
        self.wake_all();
        self.constraints.springs.all[id.0] = None;
    }

    /// Position of an end of a spring in the world. [m] (3)
    fn anchor(&self, anchor: &Anchor) -> Vector3 {
        let pose = match anchor {
            Anchor::World(p) => return *p,
            Anchor::Link(robot, body, _) => {
                self.state.robots[robot.0].as_ref().map(|r| r.data.pose_in_world[body.0])
            }
            Anchor::Body(body, _) => self.state.bodies[body.0].as_ref().map(|b| b.pose),
        };
        let (Anchor::Link(.., p) | Anchor::Body(_, p) | Anchor::World(p)) = anchor;
        pose.map_or(*p, |pose| pose.transform_point(p))
    }

    /// Energy in the springs. [J]
    pub(crate) fn spring_energy(&self) -> f64 {
        let energy = |s: &Spring| {
            let (_, length) = line(&self.anchor(&s.a), &self.anchor(&s.b));
            0.5 * s.stiffness * (length - s.rest_length).powi(2)
        };
        self.constraints.springs.all.iter().flatten().map(|s| energy(&s.spring)).sum()
    }
}
