//! Suction cups that come and go while the world runs.

use karakuri_model::Bellows;
use karakuri_spatial::{Force, Pose, Vector3};

use crate::constraint::bellows::{BellowsState, Deflection, unusable};
use crate::constraint::suction::{Suction, SuctionDescription, SuctionId, SuctionReport};
use crate::errors::WorldError;
use crate::state::State;
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
        self.attach_lip(name, description, None, &Pose::IDENTITY)
    }

    /// As [`Self::attach_suction`], of a lip on bellows, which lies on the surface with the pose `lip` in the frame that it has
    /// without force: they are deflected by so much.
    ///
    /// # Errors
    /// As of [`Self::attach_suction`]; when a stiffness or the stroke of the bellows is not positive, their damping is
    /// negative, or the pose is not finite.
    pub fn attach_suction_on_bellows(
        &mut self,
        name: &str,
        description: SuctionDescription,
        bellows: Bellows,
        lip: &Pose,
    ) -> Result<SuctionId, WorldError> {
        if let Some(reason) = unusable(&bellows) {
            return Err(WorldError::Suction { name: name.to_owned(), reason });
        }
        // The energy of bellows that are deflected comes with them.
        self.book_change(|world| world.attach_lip(name, description, Some(bellows), lip))
    }

    fn attach_lip(
        &mut self,
        name: &str,
        description: SuctionDescription,
        bellows: Option<Bellows>,
        X_FL: &Pose,
    ) -> Result<SuctionId, WorldError> {
        self.check_tie_name(name)?;
        let refuse = |reason| Err(WorldError::Suction { name: name.to_owned(), reason });
        let SuctionDescription { cup, object, pose_in_cup: X_CF, radius, friction, flexion } =
            description;
        let frames = [&X_CF, X_FL];
        let mut numbers = frames.iter().flat_map(|X| X.translation.iter().chain(X.rotation.iter()));
        if !numbers.all(|x| x.is_finite()) {
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
        let X_WF = self.mover_pose(mover_a) * X_MC * X_CF;
        let X_WL = if bellows.is_some() { X_WF * *X_FL } else { X_WF };
        let anchor = self.mover_pose(mover_b).inverse() * X_WL;
        let (ends, poses) = ([mover_a, mover_b], [X_MC * X_CF, anchor]);
        let bellows = bellows.map(|bellows| BellowsState::new(bellows, X_FL));
        let mut suction = Suction::new(name, description, ends, poses, bellows);
        (suction.normal, suction.position) =
            (X_WL.rotation.column(2).into_owned(), X_WL.translation);
        self.constraints.suctions.all.push(Some(suction));
        Ok(SuctionId(self.constraints.suctions.all.len() - 1))
    }

    /// Takes a cup off; its id stays unused.
    pub fn detach_suction(&mut self, id: SuctionId) {
        self.wake_all();
        let suctions = &mut self.constraints.suctions.all;
        if suctions[id.0].as_ref().is_some_and(|suction| suction.bellows.is_some()) {
            // What the bellows hold goes with them.
            self.book_change(|world| world.constraints.suctions.all[id.0] = None);
        } else {
            suctions[id.0] = None;
        }
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
            deflection: suction.bellows.as_ref().map_or([0.0; 6], |bellows| {
                let Deflection { turn, shift } = *bellows.deflection();
                [turn.x, turn.y, turn.z, shift.x, shift.y, shift.z]
            }),
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
            let X_WL = suction.lip(&suction.frames(&self.state.robots, &self.state.bodies));
            let force = X_WL.rotation.column(2) * suction.vacuum_force;
            // At one point, so that the pair has no moment.
            for (mover, force) in suction.ends.into_iter().zip([force, -force]) {
                let arm = X_WL.translation - self.mover_pose(mover).translation;
                self.apply_wrench(mover, Force::new(arm.cross(&force), force));
            }
        }
    }

    /// Energy in the bellows of suction cups. [J]
    pub(crate) fn bellows_energy(&self) -> f64 {
        let State { robots, bodies, .. } = &self.state;
        let each = self.constraints.suctions.all.iter().flatten();
        each.map(|suction| suction.bellows_energy(robots, bodies)).sum()
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
