//! Gears that come and go while the world runs: two rates in a fixed ratio.
//!
//! One row `u_B − ratio · u_A = 0` joins the rates of its ends: of joints with one freedom, or of the turning of
//! anything about an axis of its own, as seen from the world. Between two joints the positions keep the ratio, else the
//! slip is summed up; either is undone by the velocity that only moves positions. A gear with a largest torque is a
//! clutch: above it, it slips, and holds the new phase afterwards. Gears between joints of one tree that never come off
//! are better said in the robot YAML (`gears`), where they are eliminated.

use karakuri_model::BodyId as LinkBody;
use karakuri_spatial::{Force, Vector3};

use crate::constraint::contact::{Mover, Owner};
use crate::constraint::loops::GAP_RATE;
use crate::constraint::rows::{Builder, NO_MOVER, Source};
use crate::errors::WorldError;
use crate::solver::{Block, Side};
use crate::world::{RobotId, World};

/// An impulse this near to its bound, relatively, is at it. [-]
const AT_BOUND: f64 = 1e-9;

/// What a gear turns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GearEnd {
    /// A joint with one freedom: its rate against its parent.
    Joint(RobotId, LinkBody),
    /// A link or body: its angular velocity about an axis of its own frame, as seen from the world. (3)
    Turn(Owner, Vector3),
}

/// A gear.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GearDescription {
    /// What drives.
    pub a: GearEnd,
    /// What is driven.
    pub b: GearEnd,
    /// Rate of B for a unit rate of A. [-, or m/rad or rad/m between a hinge and a slide]
    pub ratio: f64,
    /// Largest torque on B, above which it slips; infinite for teeth. [N·m or N]
    pub torque: f64,
}

/// Names a gear of a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GearId(usize);

/// How a gear is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GearReport {
    /// Mean torque on B in the last step. [N·m or N]
    pub torque: f64,
    /// How far B is from where A would have it. [rad or m]
    pub slip: f64,
    /// Whether it slipped in the last step.
    pub slips: bool,
}

/// A gear of the world.
#[derive(Debug, Clone)]
pub(crate) struct Gear {
    name: String,
    description: GearDescription,
    movers: [Mover; 2],
    /// Axes of turning ends on what carries them.
    axes: [Vector3; 2],
    /// Between two joints: `q_B − ratio q_A` without slip. [rad or m]
    offset: f64,
    slip: f64,
    /// On B in the last step. [N·m·s or N·s]
    pub(crate) impulse: f64,
    /// On what turns as seen from the world. [N·m·s]
    moments: [Vector3; 2],
    slips: bool,
}

impl Gear {
    /// What it turns.
    pub(crate) fn movers(&self) -> [Mover; 2] {
        self.movers
    }

    fn share(&self, end: usize) -> f64 {
        [-self.description.ratio, 1.0][end]
    }

    /// Moments of the last step on bodies of a robot, seen from the world: body and moment. [N·m·s]
    pub(crate) fn moments_on(
        &self,
        robot: usize,
    ) -> impl Iterator<Item = (LinkBody, Vector3)> + '_ {
        self.movers.into_iter().zip(self.moments).filter_map(move |(mover, moment)| match mover {
            Mover::Robot { robot: r, body } if r == robot && moment != Vector3::zeros() => {
                Some((body, moment))
            }
            _ => None,
        })
    }

    /// Impulses of the last step on freedoms of robots: robot, body, impulse. [N·m·s or N·s]
    pub(crate) fn joint_impulses(&self) -> impl Iterator<Item = (usize, LinkBody, f64)> + '_ {
        let ends = [self.description.a, self.description.b];
        ends.into_iter().enumerate().filter_map(|(end, what)| match what {
            GearEnd::Joint(robot, body) => Some((robot.0, body, self.share(end) * self.impulse)),
            GearEnd::Turn(..) => None,
        })
    }
}

impl World {
    /// Puts a gear between two rates; what turns otherwise is brought along within the next step, inelastically.
    pub fn attach_gear(
        &mut self,
        name: &str,
        description: GearDescription,
    ) -> Result<GearId, WorldError> {
        if self.find_gear(name).is_some() || self.find_joint(name).is_some() {
            return Err(WorldError::JointNameTaken { name: name.to_owned() });
        }
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
                    let joint = self.robots[robot].as_ref().map(|r| &r.model.joints[body.0]);
                    if joint.is_none_or(|j| j.kind.single().is_none()) {
                        return refuse("a gear needs joints with one freedom");
                    }
                    movers[i] = Mover::Robot { robot, body };
                }
                GearEnd::Turn(owner, axis) => {
                    let (mover, pose) = self.carrier(owner);
                    let direction = axis.normalize();
                    if mover == Mover::Fixed || !direction.iter().all(|x| x.is_finite()) {
                        return refuse(
                            "an end cannot turn; name what moves, and an axis that is not 0",
                        );
                    }
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
        gear.offset = self.phase(&gear).unwrap_or(0.0);
        self.gears.push(Some(gear));
        Ok(GearId(self.gears.len() - 1))
    }

    /// Takes a gear off; its id stays unused.
    pub fn detach_gear(&mut self, id: GearId) {
        self.wake_all();
        self.gears[id.0] = None;
    }

    /// The gear of this name.
    pub fn find_gear(&self, name: &str) -> Option<GearId> {
        let named = |g: &Option<Gear>| g.as_ref().is_some_and(|g| g.name == name);
        self.gears.iter().position(named).map(GearId)
    }

    /// Names of all gears.
    pub fn gear_names(&self) -> impl Iterator<Item = &str> {
        self.gears.iter().flatten().map(|g| g.name.as_str())
    }

    /// How a gear is; `None` when it was taken off.
    pub fn gear(&self, id: GearId) -> Option<GearReport> {
        let gear = self.gears.get(id.0)?.as_ref()?;
        let (torque, slips) = (gear.impulse / self.settings.dt, gear.slips);
        Some(GearReport { torque, slip: gear.slip, slips })
    }

    /// `q_B − ratio q_A` between two joints.
    fn phase(&self, gear: &Gear) -> Option<f64> {
        let position = |end: GearEnd| match end {
            GearEnd::Joint(robot, body) => {
                let robot = self.robots[robot.0].as_ref()?;
                Some(robot.q[robot.model.joints[body.0].q_start])
            }
            GearEnd::Turn(..) => None,
        };
        let GearDescription { a, b, ratio, .. } = gear.description;
        Some(position(b)? - ratio * position(a)?)
    }

    /// Takes gears off whose ends are gone.
    pub(crate) fn remove_loose_gears(&mut self) {
        let (robots, bodies) = (&self.robots, &self.bodies);
        let gone = |mover: Mover| match mover {
            Mover::Robot { robot, .. } => robots[robot].is_none(),
            Mover::Body(body) => bodies[body].is_none(),
            Mover::Fixed => true,
        };
        for gear in &mut self.gears {
            if gear.as_ref().is_some_and(|g| g.movers.into_iter().any(gone)) {
                *gear = None;
            }
        }
    }

    /// Sums up the slip of gears by the rates that positions move with; needs rows and corrections of the step.
    pub(crate) fn settle_gears(&mut self) {
        let h = self.settings.dt;
        for (row, block) in self.rows.iter().zip(&self.problem.blocks) {
            let Source::Gear(index) = row.source else { continue };
            let Some(gear) = &mut self.gears[index] else { continue };
            let bound = h * gear.description.torque;
            gear.slips = gear.impulse.abs() >= bound * (1.0 - AT_BOUND);
            let rate = self.problem.velocity_of(block).x
                + self.problem.jacobian_times(&self.correction, block).x;
            gear.slip = if gear.slips { 0.0 } else { gear.slip + h * rate };
        }
        for i in 0..self.gears.len() {
            let Some(movers) = self.gears[i].as_ref().map(Gear::movers) else { continue };
            let turns = movers.map(|mover| self.mover_pose(mover).rotation);
            let Some(gear) = &mut self.gears[i] else { continue };
            // The axes of joints are zero: what those do is no moment from outside.
            gear.moments =
                [0, 1].map(|end| turns[end] * gear.axes[end] * (gear.share(end) * gear.impulse));
        }
    }

    /// Takes the phase of gears between joints from their positions.
    pub(crate) fn measure_gears(&mut self) {
        for i in 0..self.gears.len() {
            let Some(phase) = self.gears[i].as_ref().and_then(|g| self.phase(g)) else { continue };
            let Some(gear) = &mut self.gears[i] else { continue };
            if gear.slips {
                gear.offset = phase;
            }
            gear.slip = phase - gear.offset;
        }
    }
}

impl Builder<'_> {
    /// The row of a gear.
    pub(crate) fn gear(&mut self, index: usize, gear: &Gear) {
        let s = self.settings;
        let [a, b] = gear.movers;
        let sides = match (a, b) {
            (Mover::Robot { robot, .. }, Mover::Robot { robot: other, .. }) if robot == other => {
                [self.gear_on_robot(robot, gear, &[0, 1]), Side::default()]
            }
            _ => [0, 1].map(|end| match gear.movers[end] {
                Mover::Robot { robot, .. } => self.gear_on_robot(robot, gear, &[end]),
                Mover::Body(body) => self.gear_on_body(body, gear, end),
                Mover::Fixed => Side::default(),
            }),
        };
        let bound = s.dt * gear.description.torque;
        let block = Block::row((-bound, bound), sides, 0.0, 0.0, gear.impulse);
        let n_robots = self.robots.len();
        let mut movers = gear.movers.map(|m| m.index(n_robots));
        if movers[0] == movers[1] {
            movers[1] = NO_MOVER;
        }
        self.push(block, Source::Gear(index), movers, -GAP_RATE * gear.slip / s.dt);
    }

    fn gear_on_robot(&mut self, robot: usize, gear: &Gear, ends: &[usize]) -> Side {
        self.side_of_robot(robot, |r, row| {
            for &end in ends {
                let Mover::Robot { body, .. } = gear.movers[end] else { continue };
                match [gear.description.a, gear.description.b][end] {
                    GearEnd::Joint(..) => row[r.model.joints[body.0].v_start] += gear.share(end),
                    GearEnd::Turn(..) => {
                        let axis = r.data.pose_in_world[body.0].rotation * gear.axes[end];
                        let moment = Force::new(axis * gear.share(end), Vector3::zeros());
                        for &k in r.chains.of(body) {
                            row[k] += r.data.subspace[k].dot(&moment);
                        }
                    }
                }
            }
        })
    }

    fn gear_on_body(&mut self, body: usize, gear: &Gear, end: usize) -> Side {
        self.side_of_body(body, |b| {
            [(Vector3::zeros(), b.pose.rotation * gear.axes[end] * gear.share(end))]
        })
    }
}
