//! Rows of a step: what a constraint hands to the solver, and what the solver need not know of it.

use karakuri_model::BodyId as LinkBody;
use karakuri_spatial::{Force, Vector3};

use crate::WorldSettings;
use crate::solver::{Admissible, Block, Problem, RowSpec, Side};
use crate::state::body::Body;
use crate::state::mover::{Mover, NO_MOVER};
use crate::state::robot::Robot;

/// First of the kinds of constraints that act between movers.
pub(crate) const BETWEEN_MOVERS: usize = 5;

/// Part of the gap of an attached joint or gear that is undone a step, without giving velocity. [-]
// Half: rows are linear in the gap, and all of a large one in a step would go past it.
pub(crate) const GAP_RATE: f64 = 0.5;

/// An impulse this near to its bound, relatively, is at it. [-]
pub(crate) const AT_BOUND: f64 = 1e-9;

/// A servo or motor at its effort limit goes back into the operator when it asks for less than this part of it: below 1, so
/// that one right at its limit does not change sides in every step. [-]
pub(crate) const RELEASE: f64 = 0.98;

/// A row that moves less than this for a unit impulse (a degree of freedom that a loop locks) constrains nothing. [1/kg]
// A body of 1e9 kg, the heaviest of a scene, is far above it; what loops lock is zero but for round-off.
const IMMOVABLE: f64 = 1e-15;

/// Data of a row block that the solver need not know.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    /// Index of its kind in the set of constraints; the builder fills it in.
    pub(crate) kind: usize,
    /// Index of its robot, or of the constraint in its set.
    pub(crate) owner: usize,
    /// Index among the rows of the owner: a velocity coordinate, an axis, whatever its kind says.
    pub(crate) part: usize,
    /// Movers it joins: robots first, then bodies; [`NO_MOVER`] is none.
    pub(crate) movers: [usize; 2],
    /// Correction of its position error; `None`: there is none.
    pub(crate) correction: Option<Correction>,
    /// Account of its work in the energy ledger.
    pub(crate) account: Account,
    /// Damping of the damper beside its spring. [N·s/m or N·m·s/rad]
    pub(crate) damping: Option<f64>,
}

impl Row {
    /// A row on a robot's own coordinates, without a position error to undo.
    pub(crate) fn on_robot(robot: usize, part: usize, account: Account) -> Self {
        let movers = [robot, NO_MOVER];
        Self { kind: 0, owner: robot, part, movers, correction: None, account, damping: None }
    }

    /// Whether it moves positions by undoing an error.
    pub(crate) fn corrects(&self) -> bool {
        self.correction.is_some_and(|c| c.velocity != 0.0)
    }

    /// Whether it pushes or moves anything in the step.
    pub(crate) fn acts(&self, block: &Block) -> bool {
        // Zero impulse exactly: rows at rest within their bounds leave a mover in free flight.
        self.corrects() || block.impulse.iter().any(|&x| x != 0.0)
    }

    /// Whether it joins a mover to something else than its own parts.
    pub(crate) fn is_from_outside(&self, mover: usize) -> bool {
        // A constraint within one robot names it twice.
        self.kind >= BETWEEN_MOVERS && self.movers.contains(&mover) && self.movers != [mover; 2]
    }
}

/// Account of the energy ledger for the work of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Account {
    /// Booked with its drive or motor, not as a row.
    Drive,
    /// Energy of a spring, a part of the potential energy; the row's damper apart.
    Spring,
    Friction,
    Limits,
    Contacts,
    Loops,
}

/// Correction of a row's position error, by a second velocity that moves only positions.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Correction {
    /// Desired second velocity along the first row. [m/s or rad/s]
    pub(crate) velocity: f64,
    /// Least and largest impulse of the second velocity along the first row. [N·s or N·m·s]
    pub(crate) lower: f64,
    pub(crate) upper: f64,
}

impl Correction {
    /// One that pushes along the row only.
    pub(crate) fn push(velocity: f64) -> Self {
        Self { velocity, lower: 0.0, upper: f64::INFINITY }
    }

    /// One that pushes against the row only.
    pub(crate) fn pull(velocity: f64) -> Self {
        Self { velocity, lower: f64::NEG_INFINITY, upper: 0.0 }
    }

    /// One that pushes and pulls.
    pub(crate) fn both(velocity: f64) -> Self {
        Self { velocity, lower: f64::NEG_INFINITY, upper: f64::INFINITY }
    }
}

/// The movers of a world, and the rows made so far.
///
/// What it made the last time stays in `problem` until something else is written there: rows that would become the same
/// at the same place are left as they are.
pub(crate) struct RowBuilder<'a> {
    pub(crate) settings: &'a WorldSettings,
    pub(crate) robots: &'a mut [Option<Robot>],
    pub(crate) bodies: &'a [Option<Body>],
    pub(crate) problem: &'a mut Problem,
    pub(crate) rows: &'a mut Vec<Row>,
    /// Velocity before the step. (n)
    pub(crate) before: &'a [f64],
    /// Number of this build of rows, from the world's first.
    pub(crate) build: u64,
    /// Length of `J` and `Y` that is made.
    pub(crate) used: usize,
    /// Index of the kind whose rows are made.
    pub(crate) kind: usize,
    /// Whether the island whose rows are made is a crowd.
    pub(crate) in_crowd: bool,
}

impl RowBuilder<'_> {
    /// A row on some velocity coordinates of a robot, each with its coefficient.
    pub(crate) fn push_on_robot(&mut self, row: Row, spec: &RowSpec, entries: &[(usize, f64)]) {
        if let [(dof, 1.0)] = *entries {
            let side = self.unit_side(row.owner, dof);
            self.push(Block::row([side, Side::default()], spec), row);
            return;
        }
        let side = self.side_of_robot(row.owner, |_, J| {
            for &(dof, coefficient) in entries {
                J[dof] = coefficient;
            }
        });
        let block = Block::row([side, Side::default()], spec);
        self.push(block, row);
    }

    /// Adds a block, unless nothing can move along it.
    pub(crate) fn push(&mut self, mut block: Block, row: Row) {
        block.delassus = self.problem.delassus_of(&block);
        let movable = match block.admissible {
            Admissible::FrictionMoment { .. } => block.delassus.trace(),
            _ => block.delassus.m11,
        };
        // By the law's first row; moments of friction have three of equal standing.
        if movable > IMMOVABLE {
            // In place of the last step's block, so that a warm step allocates nothing.
            match self.problem.blocks.get_mut(self.rows.len()) {
                Some(place) => *place = block,
                None => self.problem.blocks.push(block),
            }
            self.push_row(row);
        }
    }

    /// Adds what the solver need not know of the next block.
    pub(crate) fn push_row(&mut self, row: Row) {
        self.rows.push(Row { kind: self.kind, ..row });
    }

    /// Ends an island: what comes now is of another.
    pub(crate) fn end_island(&mut self) {
        let ends = &mut self.problem.island_ends;
        // What makes no rows is no island to solve.
        if self.rows.len() > ends.last().copied().unwrap_or(0) {
            ends.push(self.rows.len());
        }
    }

    /// Cuts off the rest of earlier steps.
    pub(crate) fn finish(self) {
        self.problem.blocks.truncate(self.rows.len());
        self.problem.jacobian.truncate(self.used);
        self.problem.response.truncate(self.used);
    }

    /// Reserves so many more numbers of `J` and `Y`, with their old values; index of the first.
    pub(crate) fn reserve(&mut self, n: usize) -> usize {
        let offset = self.used;
        self.used += n;
        // Longer only: the numbers of kept rows stay where they are, and a warm step allocates nothing.
        if self.problem.jacobian.len() < self.used {
            self.problem.jacobian.resize(self.used, 0.0);
            self.problem.response.resize(self.used, 0.0);
        }
        offset
    }

    /// Places of movers among all of the world, robots first.
    pub(crate) fn indices(&self, movers: [Mover; 2]) -> [usize; 2] {
        let n_robots = self.robots.len();
        movers.map(|m| m.index(n_robots))
    }

    /// One row of a robot, which `fill` makes from zeros.
    pub(crate) fn side_of_robot(
        &mut self,
        robot: usize,
        fill: impl FnOnce(&Robot, &mut [f64]),
    ) -> Side {
        self.row_of_robot(robot, |r, J, Y| {
            fill(r, J);
            Y.copy_from_slice(J);
            r.respond(Y);
        })
    }

    /// The row of one degree of freedom of a robot.
    fn unit_side(&mut self, robot: usize, dof: usize) -> Side {
        let side = self.row_of_robot(robot, |r, J, Y| {
            J[dof] = 1.0;
            r.respond_to_unit(dof, Y);
        });
        Side { unit: u32::try_from(dof).ok(), ..side }
    }

    /// One row of a robot; `make` fills `J`, from zeros, and its response.
    fn row_of_robot(
        &mut self,
        robot: usize,
        make: impl FnOnce(&mut Robot, &mut [f64], &mut [f64]),
    ) -> Side {
        let Some(nv) = self.robots[robot].as_ref().map(|r| r.v.len()) else {
            return Side::default();
        };
        let offset = self.reserve(nv);
        let Some(r) = &mut self.robots[robot] else { return Side::default() };
        let J = &mut self.problem.jacobian[offset..offset + nv];
        J.fill(0.0);
        make(r, J, &mut self.problem.response[offset..offset + nv]);
        Side::new(r.start, nv, offset)
    }

    /// Rows of a free body, each linear, then angular about its centre of mass; none of another.
    pub(crate) fn side_of_body<const N: usize>(
        &mut self,
        body: usize,
        rows: impl FnOnce(&Body) -> [(Vector3, Vector3); N],
    ) -> Side {
        let Some(b) = self.bodies[body].as_ref().filter(|b| b.is_free()) else {
            return Side::default();
        };
        let offset = self.reserve(6 * N);
        let range = offset..offset + 6 * N;
        let jacobian = self.problem.jacobian[range.clone()].as_chunks_mut::<6>().0;
        let response = self.problem.response[range].as_chunks_mut::<6>().0;
        // Linear first, about the centre of mass: there mass and inertia do not couple, and Â has two 3×3 blocks.
        let per_mass = 1.0 / b.description.mass;
        let six = |v: Vector3, w: Vector3| [v.x, v.y, v.z, w.x, w.y, w.z];
        for ((linear, angular), (J, Y)) in
            rows(b).into_iter().zip(jacobian.iter_mut().zip(response))
        {
            // `Y = M⁻¹ Jᵀ`, mass and inertia apart.
            *J = six(linear, angular);
            *Y = six(linear * per_mass, b.inverse_inertia_world * angular);
        }
        Side::new(b.start, 6, offset)
    }

    /// One row between two movers: the unit wrench `F` about `point` on B, its opposite on A.
    pub(crate) fn wrench_sides(
        &mut self,
        [a, b]: [Mover; 2],
        point: &Vector3,
        F: &Force,
    ) -> [Side; 2] {
        if let (Mover::Robot { robot, body: body_a }, Mover::Robot { robot: other, body: body_b }) =
            (a, b)
            && robot == other
        {
            // One side for both links: two over the same velocities would lack the coupling `J_A Â⁻¹ J_Bᵀ`.
            let parts = [(-1.0, body_a), (1.0, body_b)];
            return [self.wrench_on_robot(robot, &parts, point, F), Side::default()];
        }
        [(-1.0, a), (1.0, b)].map(|(sign, mover)| match mover {
            Mover::Robot { robot, body } => self.wrench_on_robot(robot, &[(sign, body)], point, F),
            Mover::Body(body) => self.wrench_on_body(body, point, &(*F * sign)),
            Mover::Fixed => Side::default(),
        })
    }

    /// [`Self::wrench_sides`] halfway through the step, between bodies that swing, whose rates are those of its start: moments
    /// are turned back by the half turn.
    pub(crate) fn halfway_sides(
        &mut self,
        movers: [Mover; 2],
        point: &Vector3,
        F: &Force,
    ) -> [Side; 2] {
        let h = self.settings.dt;
        [(-1.0, movers[0]), (1.0, movers[1])].map(|(sign, mover)| {
            let Mover::Body(body) = mover else { return Side::default() };
            self.side_of_body(body, |b| {
                let (X, half_turn) = b.halfway(h);
                let F = *F * sign;
                let moment = F.moment + (point - X.translation).cross(&F.force);
                [(F.force, half_turn.inverse() * moment)]
            })
        })
    }

    fn wrench_on_robot(
        &mut self,
        robot: usize,
        parts: &[(f64, LinkBody)],
        point: &Vector3,
        F: &Force,
    ) -> Side {
        self.side_of_robot(robot, |r, row| {
            // The wrench about the origin of the tree's spatial vectors; a joint's entry is `Sᵀ F`.
            let F_O = Force::new(F.moment + (point - r.data.origin).cross(&F.force), F.force);
            for &(sign, body) in parts {
                for &k in r.chains.of(body) {
                    row[k] += sign * r.data.subspace[k].dot(&F_O);
                }
            }
        })
    }

    fn wrench_on_body(&mut self, body: usize, point: &Vector3, F: &Force) -> Side {
        self.side_of_body(body, |b| {
            [(F.force, F.moment + (point - b.pose.translation).cross(&F.force))]
        })
    }
}
