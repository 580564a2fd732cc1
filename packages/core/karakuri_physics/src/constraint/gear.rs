//! Gears that come and go while the world runs: two rates in a fixed ratio.
//!
//! One row `u_B − ratio · u_A = 0` joins the rates of its ends: of joints with one degree of freedom, or of the turning of
//! anything about an axis of its own, as seen from the world. Between two joints the positions keep the ratio, else the
//! slip is summed up; either is undone by the velocity that only moves positions. A gear with a largest torque is a
//! clutch: above it, it slips, and holds the new phase afterwards. Gears between joints of one tree that never come off
//! are better said in the robot YAML (`gears`), where they are eliminated.

use karakuri_model::BodyId as LinkBody;
use karakuri_spatial::{Force, Vector3};

use super::kind::{BodyImpulse, Constraint, Solved, SolvedRow};
use super::row::{AT_BOUND, Account, Correction, GAP_RATE, Row, RowBuilder};
use crate::ObjectId;
use crate::solver::{Block, RowSpec, Side};
use crate::state::State;
use crate::state::ids::RobotId;
use crate::state::mover::{Mover, Owner};

/// End of a gear.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GearEnd {
    /// A joint with one degree of freedom: its rate against its parent.
    Joint(RobotId, LinkBody),
    /// A link or body: its angular velocity about an axis of its own frame, as seen from the world. (3)
    Turn(Owner, Vector3),
}

/// A gear between two ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GearDescription {
    /// End that drives.
    pub a: GearEnd,
    /// End that is driven.
    pub b: GearEnd,
    /// Rate of B for a unit rate of A. [-, or m/rad or rad/m between a hinge and a slide]
    pub ratio: f64,
    /// Largest torque on B, above which it slips; infinite for teeth. [N·m or N]
    pub torque: f64,
}

/// Names a gear of a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GearId(pub(crate) usize);

/// State of a gear after the last step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GearReport {
    /// Mean torque on B in the last step. [N·m or N]
    pub torque: f64,
    /// Distance of B from where A would have it. [rad or m]
    pub slip: f64,
    /// Whether it slipped in the last step.
    pub slips: bool,
}

/// A gear of the world.
#[derive(Debug, Clone)]
pub(crate) struct Gear {
    pub(crate) name: String,
    pub(crate) description: GearDescription,
    pub(crate) movers: [Mover; 2],
    /// Axes of turning ends on what carries them.
    pub(crate) axes: [Vector3; 2],
    /// Value of `q_B − ratio q_A` without slip, between two joints. [rad or m]
    pub(crate) offset: f64,
    pub(crate) slip: f64,
    /// Impulse on B in the last step. [N·m·s or N·s]
    pub(crate) impulse: f64,
    /// Impulsive moments on what turns as seen from the world. [N·m·s] (2 × 3)
    pub(crate) moments: [Vector3; 2],
    pub(crate) slips: bool,
}

impl Gear {
    fn share(&self, end: usize) -> f64 {
        // λ on B and −ratio λ on A: at `u_B = ratio u_A` the gear takes and gives no power.
        [-self.description.ratio, 1.0][end]
    }

    /// Impulses of the last step on degrees of freedom of robots: robot, body, impulse. [N·m·s or N·s]
    fn joint_impulses(&self) -> impl Iterator<Item = (usize, LinkBody, f64)> + '_ {
        let ends = [self.description.a, self.description.b];
        ends.into_iter().enumerate().filter_map(|(end, what)| match what {
            GearEnd::Joint(robot, body) => Some((robot.0, body, self.share(end) * self.impulse)),
            GearEnd::Turn(..) => None,
        })
    }
}

/// The gears of a world, by id.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gears {
    pub(crate) all: Vec<Option<Gear>>,
}

impl Constraint for Gears {
    fn visit(&self, visit: &mut dyn FnMut(usize, [Mover; 2])) {
        for (i, gear) in self.all.iter().enumerate() {
            if let Some(gear) = gear {
                visit(i, gear.movers);
            }
        }
    }

    fn add_rows(&mut self, rows: &mut RowBuilder, index: usize) {
        let Some(gear) = &self.all[index] else { return };
        let h = rows.settings.dt;
        let [a, b] = gear.movers;
        let sides = match (a, b) {
            (Mover::Robot { robot, .. }, Mover::Robot { robot: other, .. }) if robot == other => {
                // One side for both ends: two over the same velocities would lack their coupling.
                [rows.gear_on_robot(robot, gear, &[0, 1]), Side::default()]
            }
            _ => [0, 1].map(|end| match gear.movers[end] {
                Mover::Robot { robot, .. } => rows.gear_on_robot(robot, gear, &[end]),
                Mover::Body(body) => rows.gear_on_body(body, gear, end),
                Mover::Fixed => Side::default(),
            }),
        };
        // `u_B − ratio u_A = 0`, with the torque at which a clutch slips as bounds.
        let bound = h * gear.description.torque;
        let spec =
            RowSpec { lower: -bound, upper: bound, warm_start: gear.impulse, ..RowSpec::default() };
        // Both the robot for a gear within one: nothing from outside acts on its flight.
        let movers = rows.indices(gear.movers);
        rows.push(
            Block::row(sides, &spec),
            Row {
                kind: 0,
                owner: index,
                part: 0,
                movers,
                // B is ahead by `slip`: half of it goes back in a step.
                correction: Some(Correction::both(-GAP_RATE * gear.slip / h)),
                account: Account::Loops,
                damping: None,
            },
        );
    }

    fn clear_impulses(&mut self, _: &mut State) {
        self.all.iter_mut().flatten().for_each(|gear| gear.impulse = 0.0);
    }

    /// Keeps the impulse, and sums up the slip by the rate that positions move with.
    fn keep_impulse(&mut self, _: &mut State, solved: &SolvedRow) {
        let SolvedRow { row, block, step } = solved;
        let Some(gear) = &mut self.all[row.owner] else { return };
        gear.impulse = block.impulse.x;
        let bound = step.h * gear.description.torque;
        gear.slips = gear.impulse.abs() >= bound * (1.0 - AT_BOUND);
        // Positions move by the correcting velocity as well.
        let rate = step.problem.velocity_of(block).x
            + step.problem.jacobian_times(step.correction, block).x;
        // A clutch that slips holds where it is afterwards, so it remembers no phase.
        gear.slip = if gear.slips { 0.0 } else { gear.slip + step.h * rate };
    }

    /// Gives joints and links what the gears do to them.
    fn finish_step(&mut self, state: &mut State, _: &Solved) {
        for gear in self.all.iter_mut().flatten() {
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
    fn visit_impulses_on(&self, robot: usize, visit: &mut dyn FnMut(BodyImpulse)) {
        for gear in self.all.iter().flatten() {
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

    fn remove_loose(&mut self, state: &State) {
        let is_there = |mover: Mover| match mover {
            Mover::Robot { robot, .. } => state.has_robot(RobotId(robot)),
            Mover::Body(body) => state.has_body(ObjectId(body)),
            Mover::Fixed => false,
        };
        for gear in &mut self.all {
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
                        // The rate of the link about the axis, `Σ S_kᵀ (axis, 0)` over the joints below it.
                        let axis = r.data.pose_in_world[body.0].rotation * gear.axes[end];
                        let moment = Force::new(axis * gear.share(end), Vector3::zeros());
                        for &k in r.chains.of(body) {
                            // The share with its sign: A's end adds −ratio times its rate.
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
