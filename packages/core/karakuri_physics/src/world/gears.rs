//! Gears that come and go while the world runs.

use karakuri_spatial::Vector3;

use crate::constraint::gear::{Gear, GearDescription, GearEnd, GearId, GearReport};
use crate::errors::WorldError;
use crate::state::ids::RobotId;
use crate::state::mover::Mover;
use crate::world::World;

impl World {
    /// Puts a gear between two rates; rates off the ratio are brought to it within the next step, inelastically.
    ///
    /// # Errors
    /// When the name is taken, the ratio is 0 or not finite, the torque is not positive, both ends are the same, or
    /// an end cannot turn or has more than one degree of freedom.
    pub fn attach_gear(
        &mut self,
        name: &str,
        description: GearDescription,
    ) -> Result<GearId, WorldError> {
        self.check_tie_name(name)?;
        let refuse = |reason| Err(WorldError::Joint { name: name.to_owned(), reason });
        if !description.ratio.is_finite() || description.ratio == 0.0 {
            return refuse("its ratio must be finite and not 0");
        }
        if description.torque.is_nan() || description.torque <= 0.0 {
            return refuse("its largest torque must be positive; leave it infinite for teeth");
        }
        let ends = [description.a, description.b];
        if ends[0] == ends[1] {
            return refuse("both ends are the same; name two that turn apart");
        }
        let (mut movers, mut axes) = ([Mover::Fixed; 2], [Vector3::zeros(); 2]);
        for (i, end) in ends.into_iter().enumerate() {
            match end {
                GearEnd::Joint(RobotId(robot), body) => {
                    let joint = self.state.robots[robot].as_ref().map(|r| &r.model.joints[body.0]);
                    if joint.is_none_or(|j| j.kind.single().is_none()) {
                        return refuse("a gear needs joints with one degree of freedom");
                    }
                    movers[i] = Mover::Robot { robot, body };
                }
                GearEnd::Turn(owner, axis) => {
                    let (mover, pose) = self.carrier(owner);
                    // An axis of zero becomes NaN here, and is refused below.
                    let direction = axis.normalize();
                    if mover == Mover::Fixed || !direction.iter().all(|x| x.is_finite()) {
                        return refuse(
                            "an end cannot turn; name what moves, and an axis that is not 0",
                        );
                    }
                    // On the mover: a link's frame may be fixed to a body at another pose.
                    (movers[i], axes[i]) = (mover, pose.rotation * direction);
                }
            }
        }
        self.wake_all();
        let mut gear = Gear {
            name: name.to_owned(),
            description,
            movers,
            axes,
            offset: 0.0,
            slip: 0.0,
            impulse: 0.0,
            moments: [Vector3::zeros(); 2],
            slips: false,
        };
        // The phase of the moment of engagement is the one without slip.
        gear.offset = self.phase(&gear).unwrap_or(0.0);
        self.constraints.gears.all.push(Some(gear));
        Ok(GearId(self.constraints.gears.all.len() - 1))
    }

    /// Takes a gear off; its id stays unused.
    pub fn detach_gear(&mut self, id: GearId) {
        self.wake_all();
        self.constraints.gears.all[id.0] = None;
    }

    /// The gear of this name.
    pub fn find_gear(&self, name: &str) -> Option<GearId> {
        let named = |g: &Option<Gear>| g.as_ref().is_some_and(|g| g.name == name);
        self.constraints.gears.all.iter().position(named).map(GearId)
    }

    /// Names of all gears.
    pub fn gear_names(&self) -> impl Iterator<Item = &str> {
        self.constraints.gears.all.iter().flatten().map(|g| g.name.as_str())
    }

    /// State of a gear after the last step; `None` when it was taken off.
    pub fn gear(&self, id: GearId) -> Option<GearReport> {
        let gear = self.constraints.gears.all.get(id.0)?.as_ref()?;
        let (torque, slips) = (gear.impulse / self.settings.dt, gear.slips);
        Some(GearReport { torque, slip: gear.slip, slips })
    }

    /// Phase `q_B − ratio q_A` between two joints. [rad or m]
    fn phase(&self, gear: &Gear) -> Option<f64> {
        let position = |end: GearEnd| match end {
            GearEnd::Joint(robot, body) => {
                let robot = self.state.robots[robot.0].as_ref()?;
                Some(robot.q[robot.model.joints[body.0].q_start])
            }
            GearEnd::Turn(..) => None,
        };
        let GearDescription { a, b, ratio, .. } = gear.description;
        Some(position(b)? - ratio * position(a)?)
    }

    /// Takes the phase of gears between joints from their positions.
    pub(crate) fn measure_gear_slips(&mut self) {
        for i in 0..self.constraints.gears.all.len() {
            let Some(phase) = self.constraints.gears.all[i].as_ref().and_then(|g| self.phase(g))
            else {
                continue;
            };
            let Some(gear) = &mut self.constraints.gears.all[i] else { continue };
            // A clutch that slipped engages where it is.
            if gear.slips {
                gear.offset = phase;
            }
            gear.slip = phase - gear.offset;
        }
    }
}
