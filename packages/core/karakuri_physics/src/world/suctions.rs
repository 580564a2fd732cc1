//! Suction cups that come and go while the world runs.

use karakuri_spatial::{Force, Vector3};

use crate::constraint::suction::{Suction, SuctionDescription, SuctionId, SuctionReport};
use crate::errors::WorldError;
use crate::state::ids::{BodyId as ObjectId, RobotId};
use crate::state::mover::Mover;
use crate::world::World;

impl World {
    /// Seals a cup's lip on the surface where it is, without a vacuum yet. Cup and object collide no more.
    ///
    /// # Errors
    /// When the name is taken, the frame is not finite, radius or flexion is not positive, the friction is negative, or
    /// cup and object are one rigid body or both cannot move.
    pub fn attach_suction(
        &mut self,
        name: &str,
        description: SuctionDescription,
    ) -> Result<SuctionId, WorldError> {
        self.check_tie_name(name)?;
        let refuse = |reason| Err(WorldError::Suction { name: name.to_owned(), reason });
        let SuctionDescription { cup, object, pose_in_cup: X_CL, radius, friction, flexion } =
            description;
        if !X_CL.translation.iter().chain(X_CL.rotation.iter()).all(|x| x.is_finite()) {
            return refuse("its frame is not finite; give finite numbers");
        }
        let positive = |x: f64| x.is_finite() && x > 0.0;
        if !positive(radius) || !positive(flexion) {
            return refuse("its radius or flexion is not positive; give lengths in m");
        }
        if !friction.is_finite() || friction < 0.0 {
            return refuse("its friction is negative or not finite; give a coefficient from 0");
        }
        if self.is_prescribed(cup) || self.is_prescribed(object) {
            return refuse(
                "an end is a body that moves as prescribed; let a link of a robot whose joints do carry it",
            );
        }
        let [(mover_a, X_MC), (mover_b, _)] = [cup, object].map(|end| self.carrier(end));
        if mover_a == mover_b {
            return refuse(
                "cup and object are one rigid body, or neither can move; name two that move apart",
            );
        }
        self.wake_all();
        let X_WL = self.mover_pose(mover_a) * X_MC * X_CL;
        let anchor = self.mover_pose(mover_b).inverse() * X_WL;
        self.constraints.suctions.all.push(Some(Suction {
            name: name.to_owned(),
            description,
            ends: [mover_a, mover_b],
            poses: [X_MC * X_CL, anchor],
            attached: anchor,
            vacuum_force: 0.0,
            impulse: Vector3::zeros(),
            moment: Vector3::zeros(),
            slips: [false; 3],
            push: Force::default(),
            normal: X_WL.rotation.column(2).into_owned(),
            position: X_WL.translation,
            opening: 0.0,
            lost: false,
        }));
        Ok(SuctionId(self.constraints.suctions.all.len() - 1))
    }

    /// Takes a cup off; its id stays unused.
    pub fn detach_suction(&mut self, id: SuctionId) {
        self.wake_all();
        self.constraints.suctions.all[id.0] = None;
    }

    /// Sets the force `V = u A` of the vacuum, from the next step on; one that has come off takes none. [N]
    ///
    /// # Errors
    /// When the force is negative or not finite, or the cup was detached; the force stays as it was.
    pub fn set_suction(&mut self, id: SuctionId, force: f64) -> Result<(), WorldError> {
        let known = || self.suction_names().collect::<Vec<_>>().join(", ");
        let Some(suction) = self.constraints.suctions.all.get(id.0).and_then(Option::as_ref) else {
            return Err(WorldError::NoSuchPart {
                name: format!("suction {}", id.0),
                known: known(),
            });
        };
        if !force.is_finite() || force < 0.0 {
            let reason = "the force of its vacuum is negative or not finite; give a force from 0 N";
            return Err(WorldError::Suction { name: suction.name.clone(), reason });
        }
        if let Some(suction) = &mut self.constraints.suctions.all[id.0]
            && !suction.lost
        {
            suction.vacuum_force = force;
        }
        Ok(())
    }

    /// The suction cup of this name.
    pub fn find_suction(&self, name: &str) -> Option<SuctionId> {
        let named = |s: &Option<Suction>| s.as_ref().is_some_and(|s| s.name == name);
        self.constraints.suctions.all.iter().position(named).map(SuctionId)
    }

    /// Names of all suction cups that are attached.
    pub fn suction_names(&self) -> impl Iterator<Item = &str> {
        self.constraints.suctions.all.iter().flatten().map(|s| s.name.as_str())
    }

    /// State of a suction cup after the last step; `None` when it was detached.
    pub fn suction(&self, id: SuctionId) -> Option<SuctionReport> {
        let suction = self.constraints.suctions.all.get(id.0)?.as_ref()?;
        let lip = suction.push * (1.0 / self.settings.dt);
        let pull = Force::new(Vector3::zeros(), suction.normal * -suction.vacuum_force);
        Some(SuctionReport {
            vacuum_force: suction.vacuum_force,
            lip_force: suction.impulse.x / self.settings.dt,
            wrench: lip + pull,
            position: suction.position,
            opening: suction.opening,
            slips: suction.slips.contains(&true),
            lost: suction.lost,
        })
    }

    /// Pulls cups and objects together with the forces of their vacuum, for the step that begins.
    pub(crate) fn apply_vacuum(&mut self) {
        for i in 0..self.constraints.suctions.all.len() {
            let pulls = |s: &&Suction| s.vacuum_force > 0.0;
            let Some(suction) = self.constraints.suctions.all[i].as_ref().filter(pulls) else {
                continue;
            };
            let X_WL = self.mover_pose(suction.ends[0]) * suction.poses[0];
            let force = X_WL.rotation.column(2) * suction.vacuum_force;
            // At one point, so that the pair has no moment.
            for (mover, force) in suction.ends.into_iter().zip([force, -force]) {
                let arm = X_WL.translation - self.mover_pose(mover).translation;
                self.apply_wrench(mover, Force::new(arm.cross(&force), force));
            }
        }
    }

    /// Adds a wrench on a mover in the next step only, about the origin of its frame, in world axes. [N·m; N]
    pub(crate) fn apply_wrench(&mut self, mover: Mover, wrench: Force) {
        match mover {
            Mover::Robot { robot, body } => self.apply_link_wrench(RobotId(robot), body, wrench),
            Mover::Body(body) => self.apply_body_wrench(ObjectId(body), wrench),
            Mover::Fixed => {}
        }
    }
}
