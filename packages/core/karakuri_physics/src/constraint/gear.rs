//! Gears that come and go while the world runs: two rates in a fixed ratio.
//!
//! One row `u_B − ratio · u_A = 0` joins the rates of its ends: of joints with one freedom, or of the turning of
//! anything about an axis of its own, as seen from the world. Between two joints the positions keep the ratio, else the
//! slip is summed up; either is undone by the velocity that only moves positions. A gear with a largest torque is a
//! clutch: above it, it slips, and holds the new phase afterwards. Gears between joints of one tree that never come off
//! are better said in the robot YAML (`gears`), where they are eliminated.

use karakuri_model::BodyId as LinkBody;
use karakuri_spatial::{Force, Vector3};

use super::loops::GAP_RATE;
use super::row::{Correction, Row, RowBuilder};
use super::{Account, BodyImpulse, Constraint, ConstraintSet, Solved, SolvedRow};
use crate::ObjectId;
use crate::errors::WorldError;
use crate::solver::{Block, RowSpec, Side};
use crate::state::State;
use crate::state::mover::{Mover, NO_MOVER, Owner};
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
    impulse: f64,
    /// On what turns as seen from the world. [N·m·s]
    moments: [Vector3; 2],
    slips: bool,
}

impl Gear {
    fn share(&self, end: usize) -> f64 {
        [-self.description.ratio, 1.0][end]
    }

    /// Impulses of the last step on freedoms of robots: robot, body, impulse. [N·m·s or N·s]
    fn joint_impulses(&self) -> impl Iterator<Item = (usize, LinkBody, f64)> + '_ {
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
                    let joint = self.state.robots[robot].as_ref().map(|r| &r.model.joints[body.0]);
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
        self.constraints.gears.push(Some(gear));
        Ok(GearId(self.constraints.gears.len() - 1))
    }

    /// Takes a gear off; its id stays unused.
    pub fn detach_gear(&mut self, id: GearId) {
        self.wake_all();
        self.constraints.gears[id.0] = None;
    }

    /// The gear of this name.
    pub fn find_gear(&self, name: &str) -> Option<GearId> {
        let named = |g: &Option<Gear>| g.as_ref().is_some_and(|g| g.name == name);
        self.constraints.gears.iter().position(named).map(GearId)
    }

    /// Names of all gears.
    pub fn gear_names(&self) -> impl Iterator<Item = &str> {
        self.constraints.gears.iter().flatten().map(|g| g.name.as_str())
    }

    /// How a gear is; `None` when it was taken off.
    pub fn gear(&self, id: GearId) -> Option<GearReport> {
        let gear = self.constraints.gears.get(id.0)?.as_ref()?;
        let (torque, slips) = (gear.impulse / self.settings.dt, gear.slips);
        Some(GearReport { torque, slip: gear.slip, slips })
    }

    /// `q_B − ratio q_A` between two joints.
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
    pub(crate) fn measure_gears(&mut self) {
        for i in 0..self.constraints.gears.len() {
            let Some(phase) = self.constraints.gears[i].as_ref().and_then(|g| self.phase(g)) else {
                continue;
            };
            let Some(gear) = &mut self.constraints.gears[i] else { continue };
            if gear.slips {
                gear.offset = phase;
            }
            gear.slip = phase - gear.offset;
        }
    }
}

/// The kind of this file.
#[derive(Debug)]
pub(crate) struct Gears;

impl Constraint for Gears {
    fn visit(&self, set: &ConstraintSet, visit: &mut dyn FnMut(usize, [Mover; 2])) {
        for (i, gear) in set.gears.iter().enumerate() {
            if let Some(gear) = gear {
                visit(i, gear.movers);
            }
        }
    }

    fn add_rows(&self, rows: &mut RowBuilder, set: &mut ConstraintSet, index: usize) {
        let Some(gear) = &set.gears[index] else { return };
        let h = rows.settings.dt;
        let [a, b] = gear.movers;
        let sides = match (a, b) {
            (Mover::Robot { robot, .. }, Mover::Robot { robot: other, .. }) if robot == other => {
                [rows.gear_on_robot(robot, gear, &[0, 1]), Side::default()]
            }
            _ => [0, 1].map(|end| match gear.movers[end] {
                Mover::Robot { robot, .. } => rows.gear_on_robot(robot, gear, &[end]),
                Mover::Body(body) => rows.gear_on_body(body, gear, end),
                Mover::Fixed => Side::default(),
            }),
        };
        let bound = h * gear.description.torque;
        let spec =
            RowSpec { lower: -bound, upper: bound, warm_start: gear.impulse, ..RowSpec::default() };
        let mut movers = rows.indices(gear.movers);
        if movers[0] == movers[1] {
            movers[1] = NO_MOVER;
        }
        rows.push(
            Block::row(sides, &spec),
            Row {
                kind: &Gears,
                owner: index,
                part: 0,
                movers,
                correction: Some(Correction::both(-GAP_RATE * gear.slip / h)),
                account: Account::Loops,
                damping: None,
            },
        );
    }

    fn clear_impulses(&self, _: &mut State, set: &mut ConstraintSet) {
        set.gears.iter_mut().flatten().for_each(|gear| gear.impulse = 0.0);
    }

    /// Keeps the impulse, and sums up the slip by the rate that positions move with.
    fn keep_impulse(&self, _: &mut State, set: &mut ConstraintSet, solved: &SolvedRow) {
        let SolvedRow { row, block, step } = solved;
        let Some(gear) = &mut set.gears[row.owner] else { return };
        gear.impulse = block.impulse.x;
        let bound = step.h * gear.description.torque;
        gear.slips = gear.impulse.abs() >= bound * (1.0 - AT_BOUND);
        let rate = step.problem.velocity_of(block).x
            + step.problem.jacobian_times(step.correction, block).x;
        gear.slip = if gear.slips { 0.0 } else { gear.slip + step.h * rate };
    }

    /// Gives joints and links what the gears do to them.
    fn finish_step(&self, state: &mut State, set: &mut ConstraintSet, _: &Solved) {
        for gear in set.gears.iter_mut().flatten() {
            let turns = gear.movers.map(|mover| state.pose_of(mover).rotation);
            // The axes of joints are zero: what those do is no moment from outside.
            gear.moments =
                [0, 1].map(|end| turns[end] * gear.axes[end] * (gear.share(end) * gear.impulse));
            for (robot, body, impulse) in gear.joint_impulses() {
                if let Some(robot) = &mut state.robots[robot] {
                    robot.impulses[robot.model.joints[body.0].v_start].other += impulse;
                }
            }
        }
    }

    /// Moments on what turns as seen from the world; those between joints are no impulses from outside.
    fn visit_impulses_on(
        &self,
        robot: usize,
        set: &ConstraintSet,
        visit: &mut dyn FnMut(BodyImpulse),
    ) {
        for gear in set.gears.iter().flatten() {
            for (mover, moment) in gear.movers.into_iter().zip(gear.moments) {
                if let Mover::Robot { robot: r, body } = mover
                    && r == robot
                    && moment != Vector3::zeros()
                {
                    let impulse = Force::new(moment, Vector3::zeros());
                    visit(BodyImpulse { body, point: Vector3::zeros(), impulse });
                }
            }
        }
    }

    fn remove_loose(&self, set: &mut ConstraintSet, state: &State) {
        let is_there = |mover: Mover| match mover {
            Mover::Robot { robot, .. } => state.has_robot(RobotId(robot)),
            Mover::Body(body) => state.has_body(ObjectId(body)),
            Mover::Fixed => false,
        };
        for gear in &mut set.gears {
            if gear.as_ref().is_some_and(|g| !g.movers.into_iter().all(is_there)) {
                *gear = None;
            }
        }
    }
}

impl RowBuilder<'_> {
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
