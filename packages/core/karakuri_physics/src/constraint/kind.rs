//! The interface of every kind of constraint: the trait that the stages of a step work with.

use std::fmt::Debug;

use karakuri_model::{BodyId as LinkBody, Joint};
use karakuri_spatial::{Force, Vector3};

use super::row::{Row, RowBuilder};
use crate::solver::{Block, Problem};
use crate::state::State;
use crate::state::mover::Mover;
use crate::state::robot::Robot;

/// A wrench on a body of a robot over a step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyImpulse {
    pub(crate) body: LinkBody,
    /// Point of application in the world. [m] (3)
    pub(crate) point: Vector3,
    /// Impulse about the point, in world axes. [N·m·s; N·s]
    pub(crate) impulse: Force,
}

/// A solved step, as constraints see it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Solved<'a> {
    pub(crate) problem: &'a Problem,
    /// Velocity that only moves positions. (n)
    pub(crate) correction: &'a [f64],
    /// Velocity that the solution may be off by. [m/s or rad/s]
    pub(crate) attained: f64,
    /// Time step `h`. [s]
    pub(crate) h: f64,
}

/// A kind of constraint.
///
/// A kind acts on single joints of robots, on robots, or between movers, and implements the methods for what
/// it acts on. The memory of what acts on robots is in [`Robot`]; that of constraints between movers is the kind's own.
pub(crate) trait Constraint: Debug + Sync {
    /// Whether the kind may add rows on joints of `robot` in this step. Asked once a robot, so that a kind at rest costs
    /// nothing a joint.
    fn acts_on_joints(&self, robot: &Robot) -> bool {
        _ = robot;
        false
    }

    /// Adds the rows on one joint of a robot, if [`Self::acts_on_joints`] of it.
    fn add_joint_rows(&self, rows: &mut RowBuilder, robot: usize, joint: &Joint) {
        _ = (rows, robot, joint);
    }

    /// Adds the rows on a robot that belong to no single joint.
    fn add_robot_rows(&self, rows: &mut RowBuilder, robot: usize) {
        _ = (rows, robot);
    }

    /// Calls `visit` with the index and the movers of every constraint of the kind that may add rows in this step.
    fn visit(&self, visit: &mut dyn FnMut(usize, [Mover; 2])) {
        _ = visit;
    }

    /// Adds the rows of one constraint of the kind.
    fn add_rows(&mut self, rows: &mut RowBuilder, index: usize) {
        _ = (rows, index);
    }

    /// Whether movers that it joins are one mechanism, which neither sleeps nor bounces apart.
    fn ties(&self) -> bool {
        true
    }

    /// Takes robots out of free motion whose constraints are rows. A row on a mover does, unless the kind says otherwise.
    fn end_free_motion(&self, robots: &mut [Option<Robot>]) {
        self.visit(&mut |_, movers| {
            for mover in movers {
                if let Mover::Robot { robot, .. } = mover
                    && let Some(robot) = &mut robots[robot]
                {
                    // Free motion takes a robot through the step as a whole, before rows: none could act on it.
                    robot.free_motion.on = false;
                }
            }
        });
    }

    /// Clears the impulses of the last step.
    fn clear_impulses(&mut self, state: &mut State) {
        _ = state;
    }

    /// Keeps the impulse of one of its rows.
    fn keep_impulse(&mut self, state: &mut State, solved: &SolvedRow);

    /// Draws conclusions from the impulses that were kept: efforts, what slips, yields or breaks.
    fn finish_step(&mut self, state: &mut State, solved: &Solved) {
        _ = (state, solved);
    }

    /// Calls `visit` with every impulse of the step on a robot from outside of it, contacts apart.
    fn visit_impulses_on(&self, robot: usize, visit: &mut dyn FnMut(BodyImpulse)) {
        _ = (robot, visit);
    }

    /// Work that was done from outside through one of its rows: a running belt, a surface that moves as prescribed. [J]
    fn outside_work(&self, row: &Row, block: &Block) -> f64 {
        _ = (row, block);
        0.0
    }

    /// Works beside springs in series with one of its blocks: of slip, stops and dampers. With the mean of the block's `J v` over the
    /// step. [J]
    fn inner_works(&self, row: &Row, mean: &Vector3) -> InnerWorks {
        _ = (row, mean);
        InnerWorks::default()
    }

    /// Removes constraints whose ends are gone.
    fn remove_loose(&mut self, state: &State) {
        _ = state;
    }
}

/// Works within a constraint in a step. [J]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct InnerWorks {
    pub(crate) contacts: f64,
    pub(crate) dampers: f64,
}

/// A row block of a solved step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SolvedRow<'a> {
    pub(crate) row: &'a Row,
    pub(crate) block: &'a Block,
    pub(crate) step: Solved<'a>,
}
