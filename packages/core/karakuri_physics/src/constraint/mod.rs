//! Constraints, a file a kind, and the registry of the kinds.
//!
//! In every step a constraint may add row blocks to the problem that the solver sees: `u = J v`, bounds on the impulse,
//! a desired velocity, a compliance. Its kind says which movers it joins, how its rows are made, what is kept of their
//! impulses (the warm start, what reports and sensors read), how far a row may undo a position error, and where its
//! work is booked. The stages of a step go over the kinds and over rows, and know no kind by
//! name.
//!
//! Loop joints, mimic joints and prescribed joints are no rows: [`loops`] eliminates them inside the robots' operators.

pub(crate) mod attached_joint;
pub(crate) mod ball_limit;
pub(crate) mod bushing;
pub(crate) mod contact;
pub(crate) mod friction;
pub(crate) mod gear;
pub(crate) mod limit;
pub(crate) mod loops;
pub(crate) mod motor;
pub(crate) mod row;
pub(crate) mod servo;
pub(crate) mod spring;

use std::fmt::Debug;

use karakuri_model::{BodyId as LinkBody, Joint};
use karakuri_spatial::{Force, Vector3};

use crate::solver::{Block, Problem};
use crate::state::State;
use crate::state::mover::Mover;
use crate::state::robot::Robot;
use row::{Row, RowBuilder};

/// Kinds of constraints on single joints of robots, in the order in which a joint's rows come.
pub(crate) const ON_JOINTS: [&dyn Constraint; 3] =
    [&servo::Servos, &friction::DryFriction, &limit::Limits];

/// Kinds on robots, whose rows follow those of the joints.
pub(crate) const ON_ROBOTS: [&dyn Constraint; 2] = [&motor::Motors, &ball_limit::BallLimits];

/// Kinds between movers, in the order in which the rows of an island come.
pub(crate) const BETWEEN_MOVERS: [&dyn Constraint; 4] =
    [&spring::Springs, &attached_joint::AttachedJoints, &gear::Gears, &contact::Contacts];

/// All kinds.
pub(crate) fn kinds() -> impl Iterator<Item = &'static dyn Constraint> {
    ON_JOINTS.into_iter().chain(ON_ROBOTS).chain(BETWEEN_MOVERS)
}

/// The constraints that are no part of a robot's model, and the memory of contacts.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConstraintSet {
    pub(crate) contacts: Vec<contact::Contact>,
    pub(crate) previous_contacts: Vec<contact::Contact>,
    /// Contacts of what sleeps.
    pub(crate) contacts_asleep: Vec<contact::Contact>,
    pub(crate) springs: Vec<Option<spring::AttachedSpring>>,
    pub(crate) joints: Vec<Option<attached_joint::AttachedJoint>>,
    pub(crate) gears: Vec<Option<gear::Gear>>,
}

/// Where the energy ledger books the work of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Account {
    /// With its drive or motor, not as a row.
    Drive,
    /// Energy of a spring, a part of the potential energy; the row's damper apart.
    Spring,
    Friction,
    Limits,
    Contacts,
    Loops,
}

/// A wrench on a body of a robot over a step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyImpulse {
    pub(crate) body: LinkBody,
    /// In the world. [m] (3)
    pub(crate) point: Vector3,
    /// About the point, in world axes. [N·m·s; N·s]
    pub(crate) impulse: Force,
}

/// What a solved step knows of its rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Solved<'a> {
    pub(crate) problem: &'a Problem,
    /// Velocity that only moves positions. (n)
    pub(crate) correction: &'a [f64],
    /// Time step. [s]
    pub(crate) h: f64,
}

/// A kind of constraint.
///
/// A kind acts on single joints of robots, on robots, or between movers by the constraints of the [`ConstraintSet`]; it
/// implements the methods for what it acts on.
pub(crate) trait Constraint: Debug + Sync {
    /// Adds the rows on one joint of a robot.
    fn add_joint_rows(&self, rows: &mut RowBuilder, robot: usize, joint: &Joint) {
        let _ = (rows, robot, joint);
    }

    /// Adds the rows on a robot that belong to no single joint.
    fn add_robot_rows(&self, rows: &mut RowBuilder, robot: usize) {
        let _ = (rows, robot);
    }

    /// Calls `visit` with the index and the movers of every constraint of the set that may add rows in this step.
    fn visit(&self, set: &ConstraintSet, visit: &mut dyn FnMut(usize, [Mover; 2])) {
        let _ = (set, visit);
    }

    /// Adds the rows of one constraint of the set.
    fn add_rows(&self, rows: &mut RowBuilder, set: &mut ConstraintSet, index: usize) {
        let _ = (rows, set, index);
    }

    /// Whether movers that it joins are one mechanism, which neither sleeps nor bounces apart.
    fn ties(&self) -> bool {
        true
    }

    /// Takes robots out of free motion whose constraints are rows. A row on a mover does, unless the kind says otherwise.
    fn end_free_motion(&self, robots: &mut [Option<Robot>], set: &ConstraintSet) {
        self.visit(set, &mut |_, movers| {
            for mover in movers {
                if let Mover::Robot { robot, .. } = mover
                    && let Some(robot) = &mut robots[robot]
                {
                    robot.flight.on = false;
                }
            }
        });
    }

    /// Clears the impulses of the last step.
    fn clear_impulses(&self, state: &mut State, set: &mut ConstraintSet) {
        let _ = (state, set);
    }

    /// Keeps the impulse of one of its rows.
    fn keep_impulse(&self, state: &mut State, set: &mut ConstraintSet, solved: &SolvedRow);

    /// Draws conclusions from the impulses that were kept: efforts, what slips, yields or breaks.
    fn finish_step(&self, state: &mut State, set: &mut ConstraintSet, solved: &Solved) {
        let _ = (state, set, solved);
    }

    /// Calls `visit` with every impulse of the step on a robot from outside of it, contacts apart.
    fn visit_impulses_on(
        &self,
        robot: usize,
        set: &ConstraintSet,
        visit: &mut dyn FnMut(BodyImpulse),
    ) {
        let _ = (robot, set, visit);
    }

    /// Work that was done from outside through one of its rows: a running belt, a surface that moves as prescribed. [J]
    fn outside_work(&self, set: &ConstraintSet, row: &Row, block: &Block) -> f64 {
        let _ = (set, row, block);
        0.0
    }

    /// Takes constraints out of the set whose ends are gone.
    fn remove_loose(&self, set: &mut ConstraintSet, state: &State) {
        let _ = (set, state);
    }
}

/// A row block of a solved step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SolvedRow<'a> {
    pub(crate) row: &'a Row,
    pub(crate) block: &'a Block,
    pub(crate) step: Solved<'a>,
}
