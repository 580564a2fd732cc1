//! Springs between points, added, changed and removed while the world runs.

use karakuri_spatial::Vector3;

use crate::constraint::spring::{Anchor, AttachedSpring, Spring, SpringId, line};
use crate::errors::WorldError;
use crate::state::mover::Owner;
use crate::world::World;

fn unnamed(index: usize) -> String {
    format!("spring {index}")
}

impl World {
    /// Adds a spring between two anchors, without a name.
    ///
    /// # Errors
    /// When stiffness, damping or rest length is negative, a number is not finite, or an end is a body that moves as
    /// prescribed.
    pub fn add_spring(&mut self, spring: Spring) -> Result<SpringId, WorldError> {
        self.put_in_spring(String::new(), spring)
    }

    /// Adds a spring of a name, by which it is found.
    ///
    /// # Errors
    /// As of [`Self::add_spring`], and when a joint, gear or spring has the name.
    pub fn attach_spring(&mut self, name: &str, spring: Spring) -> Result<SpringId, WorldError> {
        self.check_tie_name(name)?;
        self.put_in_spring(name.to_owned(), spring)
    }

    fn put_in_spring(&mut self, name: String, spring: Spring) -> Result<SpringId, WorldError> {
        let shown = if name.is_empty() {
            unnamed(self.constraints.springs.all.len())
        } else {
            name.clone()
        };
        self.check_spring(&shown, &spring)?;
        self.wake_all();
        let movers = spring.movers(&self.state.bodies);
        self.book_change(|world| {
            let springs = &mut world.constraints.springs;
            springs.all.push(Some(AttachedSpring { spring, movers }));
            springs.names.push(name);
        });
        Ok(SpringId(self.constraints.springs.all.len() - 1))
    }

    /// Changes a spring, its ends as well, from the next step on. It begins with the force of its new law at its present length.
    ///
    /// # Errors
    /// When it was removed, and as of [`Self::add_spring`]; the spring stays as it was.
    pub fn set_spring(&mut self, id: SpringId, spring: Spring) -> Result<(), WorldError> {
        let Some(before) = self.spring(id) else {
            let known: Vec<_> = self.springs().map(|(id, _)| self.shown_name(id)).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(WorldError::NoSuchPart { name: self.shown_name(id), known });
        };
        if *before == spring {
            return Ok(());
        }
        self.check_spring(&self.shown_name(id), &spring)?;
        self.wake_all();
        let movers = spring.movers(&self.state.bodies);
        self.book_change(|world| {
            world.constraints.springs.all[id.0] = Some(AttachedSpring { spring, movers });
        });
        Ok(())
    }

    /// Removes a spring; its id stays unused.
    pub fn remove_spring(&mut self, id: SpringId) {
        self.wake_all();
        self.book_change(|world| world.constraints.springs.all[id.0] = None);
    }

    /// Springs that are there, and their ids.
    pub fn springs(&self) -> impl Iterator<Item = (SpringId, &Spring)> {
        let all = self.constraints.springs.all.iter().enumerate();
        all.filter_map(|(i, spring)| spring.as_ref().map(|s| (SpringId(i), &s.spring)))
    }

    /// A spring; `None` when it was removed.
    pub fn spring(&self, id: SpringId) -> Option<&Spring> {
        self.constraints.springs.all.get(id.0)?.as_ref().map(|s| &s.spring)
    }

    /// Name of a spring; empty where it has none.
    pub fn spring_name(&self, id: SpringId) -> &str {
        self.constraints.springs.names.get(id.0).map_or("", String::as_str)
    }

    /// The spring of this name.
    pub fn find_spring(&self, name: &str) -> Option<SpringId> {
        let named = |id: &SpringId| !name.is_empty() && self.spring_name(*id) == name;
        self.springs().map(|(id, _)| id).find(named)
    }

    /// Name of a spring in messages.
    fn shown_name(&self, id: SpringId) -> String {
        match self.spring_name(id) {
            "" => unnamed(id.0),
            name => name.to_owned(),
        }
    }

    fn check_spring(&self, name: &str, spring: &Spring) -> Result<(), WorldError> {
        let ends = [spring.a, spring.b];
        let is_finite = |end: &Anchor| end.point().iter().all(|x| x.is_finite());
        let reason = if ![spring.stiffness, spring.damping, spring.rest_length]
            .iter()
            .all(|x| x.is_finite() && *x >= 0.0)
        {
            "stiffness, damping or rest length is negative or not finite; give numbers from 0"
        } else if !ends.iter().all(is_finite) {
            "an end is not finite; give finite numbers"
        } else {
            ""
        };
        if !reason.is_empty() {
            return Err(WorldError::Spring { name: name.to_owned(), reason });
        }
        for end in ends {
            if let Anchor::Body(body, _) = end
                && self.is_prescribed(Owner::Body(body))
            {
                let name = self.body(body).description().name.clone();
                let reason = "a spring cannot hold a body that moves as prescribed; fix it to a link of a robot whose joints do";
                return Err(WorldError::Joint { name, reason });
            }
        }
        Ok(())
    }

    /// The anchor at a point of a thing, in the frame of the link, or about the body's centre of mass. [m] (3)
    pub fn anchor_on(&self, part: Owner, point: &Vector3) -> Anchor {
        match part {
            Owner::Ground => Anchor::World(*point),
            Owner::Body(body) => Anchor::Body(body, *point),
            Owner::Link { robot, frame } => {
                let frame = &self.robot(robot).model().frames[frame.0];
                let point = frame.pose_in_body.transform_point(point);
                frame.body.map_or(Anchor::World(point), |body| Anchor::Link(robot, body, point))
            }
        }
    }

    /// Distance of the ends of a spring between two anchors, as things are now. [m]
    pub fn anchor_distance(&self, a: &Anchor, b: &Anchor) -> f64 {
        (self.anchor(b) - self.anchor(a)).norm()
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
