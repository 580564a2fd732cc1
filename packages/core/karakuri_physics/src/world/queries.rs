//! Contacts, forces, distances and rays, by the names of things.

use karakuri_collision::{ClosestPoints, ColliderId};
use karakuri_model::{BodyId as LinkBody, FrameId};
use karakuri_spatial::{Force, Vector3};

use crate::RobotId;
use crate::constraint::contact::ContactReport;
use crate::errors::WorldError;
use crate::state::mover::Owner;
use crate::world::World;

/// First thing that a ray meets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RayHit {
    /// Link, body or ground that it meets.
    pub part: Owner,
    /// Distance from the ray's origin. [m]
    pub distance: f64,
    /// Outward unit normal, in the world. (3)
    pub normal: Vector3,
}

impl World {
    /// The thing of this name: `robot/link`, the name of a body, or `world`, which stands for the ground too.
    ///
    /// # Errors
    /// When nothing has this name; the error lists what there is.
    pub fn find_part(&self, name: &str) -> Result<Owner, WorldError> {
        if name == "world" {
            return Ok(Owner::Ground);
        }
        if let Some(body) = self.find_body(name) {
            return Ok(Owner::Body(body));
        }
        let unknown = |known: String| Err(WorldError::NoSuchPart { name: name.to_owned(), known });
        let (robot, link) = name.split_once('/').unwrap_or((name, ""));
        if let Some(robot) = self.find_robot(robot) {
            let model = self.robot(robot).model();
            if let Some(frame) = model.frame(link) {
                return Ok(Owner::Link { robot, frame });
            }
            // The robot is there: its links are more help than the names of everything.
            let name = self.robot(robot).name();
            let links: Vec<_> = model.frames.iter().map(|f| format!("{name}/{}", f.name)).collect();
            return unknown(links.join(", "));
        }
        // One entry for all links of a robot: thousands of names help nobody.
        let robots = self.robot_ids().map(|id| format!("{}/<link>", self.robot(id).name()));
        let bodies = self.body_ids().map(|id| self.body(id).description().name.clone());
        let known: Vec<_> = ["world".to_owned()].into_iter().chain(robots).chain(bodies).collect();
        unknown(known.join(", "))
    }

    /// The joint of this name, `robot/joint`, and the robot that has it.
    ///
    /// # Errors
    /// When no robot or joint has this name; the error lists what there is.
    pub fn find_robot_joint(&self, name: &str) -> Result<(RobotId, LinkBody), WorldError> {
        let (robot, joint) = name.split_once('/').unwrap_or((name, ""));
        let Some(id) = self.find_robot(robot) else {
            let robots = self.robot_ids().map(|id| format!("{}/<joint>", self.robot(id).name()));
            let known = robots.collect::<Vec<_>>().join(", ");
            return Err(WorldError::NoSuchPart { name: name.to_owned(), known });
        };
        let model = self.robot(id).model();
        let found = model.joint(joint).map(|body| (id, body));
        found.ok_or_else(|| {
            let names = model.joints.iter().map(|j| format!("{robot}/{}", j.name));
            let known = names.collect::<Vec<_>>().join(", ");
            WorldError::NoSuchPart { name: name.to_owned(), known }
        })
    }

    /// Name by which [`World::find_part`] finds it.
    pub fn part_name(&self, part: Owner) -> String {
        match part {
            Owner::Ground => "world".to_owned(),
            Owner::Body(id) => self.body(id).description().name.clone(),
            Owner::Link { robot, frame: FrameId(frame) } => {
                let robot = self.robot(robot);
                format!("{}/{}", robot.name(), robot.model().frames[frame].name)
            }
        }
    }

    /// Lets two things pass through each other from now on.
    pub fn ignore_contacts(&mut self, a: Owner, b: Owner) {
        self.wake_all();
        let [of_a, of_b] = [a, b].map(|part| self.colliders_of(part).collect::<Vec<_>>());
        // All pairs of their shapes: what is ignored is known by shape.
        for &one in &of_a {
            for &other in &of_b {
                self.state.collision.ignore(one, other);
            }
        }
    }

    fn colliders_of(&self, part: Owner) -> impl Iterator<Item = ColliderId> + '_ {
        let all = self.state.attachments.iter().enumerate();
        let of = all.filter(move |(_, x)| x.is_some_and(|x| x.owner == part));
        of.map(|(i, _)| ColliderId(i))
    }

    /// Lets the surface of a thing run at a velocity against it, as a conveyor's belt does, in world axes. [m/s] (3)
    ///
    /// Bodies that bounce take no notice during their impacts.
    ///
    /// # Errors
    /// When the velocity is not finite.
    pub fn set_surface_velocity(
        &mut self,
        part: Owner,
        velocity: Vector3,
    ) -> Result<(), WorldError> {
        if velocity.iter().any(|x| !x.is_finite()) {
            let name = self.part_name(part);
            return Err(WorldError::NotFinite { name, what: "the surface velocity" });
        }
        self.wake_all();
        for attachment in self.state.attachments.iter_mut().flatten().filter(|a| a.owner == part) {
            attachment.surface_velocity = velocity;
        }
        Ok(())
    }

    /// Puts a body's centre of mass somewhere else in its shape, in the shape's frame; the pose stays that of the centre
    /// of mass, so the shape moves. The inertia stays as it is. [m] (3)
    ///
    /// # Errors
    /// When the point is not finite.
    pub fn set_center_of_mass(
        &mut self,
        body: crate::ObjectId,
        center: Vector3,
    ) -> Result<(), WorldError> {
        let Some(known) = self.state.bodies.get_mut(body.0).and_then(Option::as_mut) else {
            return Ok(());
        };
        if center.iter().any(|x| !x.is_finite()) {
            let name = known.description.name.clone();
            return Err(WorldError::NotFinite { name, what: "the centre of mass" });
        }
        known.center_of_mass = center;
        self.wake_all();
        // Now, as rays and distances may be asked for before the next step.
        self.place_colliders();
        Ok(())
    }

    /// Contacts of the last step that carry force on `part`, turned so that it is `b`: `force` is the one on it.
    pub fn contacts_on(&self, part: Owner) -> impl Iterator<Item = ContactReport> + '_ {
        self.contacts().filter_map(move |c| {
            if c.b == part {
                return Some(c);
            }
            let turned = ContactReport {
                a: c.b,
                b: c.a,
                normal: -c.normal,
                force: -c.force,
                moment: -c.moment,
                position: c.position,
                gap: c.gap,
            };
            (c.a == part).then_some(turned)
        })
    }

    /// Mean wrench of all contacts on `part` over the last step, about the world's origin, in world axes. [N·m; N]
    pub fn contact_wrench(&self, part: Owner) -> Force {
        sum(self.contacts_on(part))
    }

    /// Mean wrench of `by` on `part` through their contacts over the last step, about the world's origin, in world axes.
    /// [N·m; N]
    pub fn pair_wrench(&self, by: Owner, part: Owner) -> Force {
        sum(self.contacts_on(part).filter(|c| c.a == by))
    }

    /// First thing that the ray from `origin` along the unit vector `direction` meets within `range`, as things are now. A ray
    /// that starts inside something meets it at once, with a zero normal. [m]
    pub fn cast_ray(&self, origin: &Vector3, direction: &Vector3, range: f64) -> Option<RayHit> {
        self.cast_ray_past(origin, direction, range, |_| false)
    }

    /// As [`Self::cast_ray`], through the things that `is_passed` names.
    pub fn cast_ray_past(
        &self,
        origin: &Vector3,
        direction: &Vector3,
        range: f64,
        is_passed: impl Fn(Owner) -> bool,
    ) -> Option<RayHit> {
        let attachments = &self.state.attachments;
        let passed = |id: ColliderId| attachments[id.0].is_some_and(|a| is_passed(a.owner));
        let hit = self.state.collision.cast_ray(origin, direction, range, passed)?;
        let part = self.state.attachments[hit.collider.0]?.owner;
        Some(RayHit { part, distance: hit.distance, normal: hit.normal })
    }

    /// The nearest points of two things as they are now; `None` where one has no shape.
    pub fn closest(&self, a: Owner, b: Owner) -> Option<ClosestPoints> {
        let mut nearest: Option<ClosestPoints> = None;
        // Every pair, as a thing may have several shapes.
        for one in self.colliders_of(a) {
            for other in self.colliders_of(b) {
                let Some(found) = self.state.collision.closest_points(one, other, f64::INFINITY)
                else {
                    continue;
                };
                if nearest.is_none_or(|n| found.gap < n.gap) {
                    nearest = Some(found);
                }
            }
        }
        nearest
    }
}

fn sum(contacts: impl Iterator<Item = ContactReport>) -> Force {
    // About the world's origin: the moment against rolling is the same about any point, the force adds p × f.
    let wrench = |c: ContactReport| Force::new(c.moment + c.position.cross(&c.force), c.force);
    contacts.fold(Force::default(), |sum, c| sum + wrench(c))
}
