//! Springs with dampers between two points, implicit.
//!
//! Along the line from A to B, with length `L`, rate `u` and impulse `λ` on B:
//!
//! * as a row of a step, by backward Euler: `λ = −h (k (L + h u' − L₀) + c u')`, that is compliance
//!   `R = 1/(h (h k + c))` and desired velocity `u* = −k (L − L₀)/(h k + c)`;
//! * inside a tree in free motion, at the middle of the step, the spring by its mean over the step and the damper at
//!   the step's end: `λ = −h (k (L_m + ¼h (u' − u) − L₀) + c u')`. Second order, energy bounded, stable at any `k`, `c`.

use karakuri_dynamics::dense::PivotedCholesky;
use karakuri_model::{BodyId as LinkBody, Bumper};
use karakuri_spatial::Vector3;

use super::kind::{Constraint, SolvedRow};
use super::row::{Account, Row, RowBuilder};
use crate::solver::{Block, RowSpec, Side, dot};
use crate::state::State;
use crate::state::body::Body;
use crate::state::chains::Chains;
use crate::state::mover::Mover;
use crate::state::robot::Robot;
use crate::{ObjectId, RobotId};

/// Point at which a spring is fixed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Anchor {
    /// A point of the world. [m] (3)
    World(Vector3),
    /// A point of a robot's body, in the body's frame. [m] (3)
    Link(RobotId, LinkBody, Vector3),
    /// A point of a free or fixed body, in the body's frame. [m] (3)
    Body(ObjectId, Vector3),
}

impl Anchor {
    /// Point in the frame of what it is fixed to. [m] (3)
    pub(crate) fn point(&self) -> &Vector3 {
        match self {
            Self::World(point) | Self::Link(.., point) | Self::Body(_, point) => point,
        }
    }
}

/// A spring and damper in line between two points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spring {
    /// Anchor of end A.
    pub a: Anchor,
    /// Anchor of end B.
    pub b: Anchor,
    /// Stiffness `k` along the line. [N/m]
    pub stiffness: f64,
    /// Damping `c` along the line. [N·s/m]
    pub damping: f64,
    /// Length `L₀` without force. [m]
    pub rest_length: f64,
}

/// A spring of the world.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AttachedSpring {
    pub(crate) spring: Spring,
    /// Movers of its ends.
    pub(crate) movers: [Mover; 2],
}

/// Names a spring of a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpringId(pub(crate) usize);

impl Anchor {
    fn is_world(&self) -> bool {
        matches!(self, Self::World(_))
    }
}

impl Spring {
    /// Whether what its ends are fixed to is there.
    fn has_ends(&self, state: &State) -> bool {
        [self.a, self.b].iter().all(|anchor| match anchor {
            Anchor::World(_) => true,
            Anchor::Link(robot, ..) => state.has_robot(*robot),
            Anchor::Body(body, _) => state.has_body(*body),
        })
    }

    /// Movers of its ends.
    pub(crate) fn movers(&self, bodies: &[Option<Body>]) -> [Mover; 2] {
        [self.a, self.b].map(|anchor| match anchor {
            Anchor::Link(robot, body, _) => Mover::Robot { robot: robot.0, body },
            Anchor::Body(body, _) if bodies[body.0].as_ref().is_some_and(Body::is_free) => {
                Mover::Body(body.0)
            }
            Anchor::Body(..) | Anchor::World(_) => Mover::Fixed,
        })
    }

    /// Whether it never gives a force: its law as a row has no finite compliance.
    fn is_forceless(&self) -> bool {
        self.stiffness <= 0.0 && self.damping <= 0.0
    }

    /// The robot that has all of it, if one has.
    fn robot(&self) -> Option<usize> {
        match (self.a, self.b) {
            (Anchor::Link(a, ..), Anchor::Link(b, ..)) => (a == b).then_some(a.0),
            (Anchor::Link(robot, ..), Anchor::World(_))
            | (Anchor::World(_), Anchor::Link(robot, ..)) => Some(robot.0),
            _ => None,
        }
    }
}

impl Robot {
    fn anchor(&self, anchor: &Anchor) -> Vector3 {
        match anchor {
            Anchor::World(p) => *p,
            Anchor::Link(_, body, p) => self.data.pose_in_world[body.0].transform_point(p),
            // A spring with a body at one end is no robot's own: a NaN would show that it was taken for one.
            Anchor::Body(..) => Vector3::repeat(f64::NAN),
        }
    }

    /// Prepares the robot's own springs at the middle of a step that starts with the rates `self.v`.
    pub(crate) fn prepare_springs(&mut self, springs: &[Option<AttachedSpring>], h: f64) {
        let mut inner = std::mem::take(&mut self.springs);
        let nv = self.v.len();
        inner.jacobian.clear();
        inner.laws.clear();
        for spring in inner.indices.iter().filter_map(|&i| springs[i].as_ref().map(|s| &s.spring)) {
            // The row `J`: rate of the length by each joint.
            let (p_a, p_b) = (self.anchor(&spring.a), self.anchor(&spring.b));
            let (direction, length) = line(&p_a, &p_b);
            let start = inner.jacobian.len();
            inner.jacobian.resize(start + nv, 0.0);
            let row = &mut inner.jacobian[start..];
            for (sign, anchor, p) in [(-1.0, spring.a, p_a), (1.0, spring.b, p_b)] {
                if let Anchor::Link(_, body, _) = anchor {
                    add_rates(&self.chains, &self.data, body, &p, &(direction * sign), row);
                }
            }
            // The header's law is `λ = −gain u' − h k stretch`, a row with `R = 1/gain` and `u* = −h k stretch/gain`.
            // Of the mean's ¼h (u' − u) the new rate goes with the gain, the old one with the stretch.
            let gain = h * (0.25 * h * spring.stiffness + spring.damping);
            let rate = dot(row, &self.v);
            let stretch = length - spring.rest_length - 0.25 * h * rate;
            inner.laws.push((1.0 / gain, -h * spring.stiffness * stretch / gain));
        }
        // Together, as springs on the same joints pull on each other; a sweep would need iterations at high stiffness.
        // All springs of the tree at once: `J Â⁻¹ Jᵀ + R`.
        // At the middle of the step, as the factor is: one evaluation serves all rounds of the midpoint.
        inner.response.clone_from(&inner.jacobian);
        for row in inner.response.chunks_exact_mut(nv.max(1)) {
            self.respond(row);
        }
        let n = inner.laws.len();
        inner.delassus.resize(n * n, 0.0);
        if inner.impulses.len() != n {
            inner.impulses.resize(n, 0.0);
            inner.factor = PivotedCholesky::new(n);
        }
        for i in 0..n {
            for j in 0..n {
                inner.delassus[i * n + j] = dot(
                    &inner.jacobian[i * nv..(i + 1) * nv],
                    &inner.response[j * nv..(j + 1) * nv],
                );
            }
            inner.delassus[i * n + i] += inner.laws[i].0;
        }
        // Pivoted, as stiff springs in parallel make rows that are dependent but for a small R.
        inner.factor.factorize(&inner.delassus);
        self.springs = inner;
    }

    /// Adds what the springs do to the end velocity `v` of free motion. (nv)
    pub(crate) fn pull_springs(&mut self, v: &mut [f64]) {
        let (inner, nv) = (&mut self.springs, self.v.len());
        // `(J Â⁻¹ Jᵀ + R) λ = u* − J v`, then `v ← v + Â⁻¹ Jᵀ λ`.
        for (i, impulse) in inner.impulses.iter_mut().enumerate() {
            *impulse = inner.laws[i].1 - dot(&inner.jacobian[i * nv..(i + 1) * nv], v);
        }
        inner.factor.solve(&mut inner.impulses);
        for (row, impulse) in inner.response.chunks_exact(nv.max(1)).zip(&inner.impulses) {
            for (v, y) in v.iter_mut().zip(row) {
                *v += y * impulse;
            }
        }
    }
}

impl Robot {
    /// Work of the dampers of the robot's own springs in a step of free motion. [J]
    pub(crate) fn spring_dissipation(
        &self,
        springs: &[Option<AttachedSpring>],
        after: &[f64],
        h: f64,
    ) -> f64 {
        let rows = self.springs.jacobian.chunks_exact(self.v.len().max(1));
        let own =
            self.springs.indices.iter().filter_map(|&i| springs[i].as_ref().map(|s| &s.spring));
        let works = rows.zip(own).map(|(row, spring)| {
            // The impulse `−h c u'` of the damper, times the mean rate.
            let end = dot(row, after);
            -h * spring.damping * end * 0.5 * (end + dot(row, &self.v))
        });
        works.sum()
    }
}

/// The law of a spring and damper, not both 0.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SoftLaw {
    /// Stiffness `k` of the spring. [N/m or N·m/rad]
    pub(crate) stiffness: f64,
    /// Damping `c` of the damper. [N·s/m or N·m·s/rad]
    pub(crate) damping: f64,
}

/// A spring and damper as a row, by backward Euler.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SoftRow {
    /// Velocity that the spring alone would give. [m/s or rad/s]
    pub(crate) target: f64,
    /// Compliance `R` of the row. [1/kg or 1/(kg·m²)]
    pub(crate) compliance: f64,
}

impl SoftLaw {
    /// Row of the law in a step of length `h`, stretched by so much. [m or rad], [s]
    pub(crate) fn row(self, stretch: f64, h: f64) -> SoftRow {
        let Self { stiffness, damping } = self;
        // `R = 1/(h (h k + c))` and `u* = −k x/(h k + c)`.
        let gain = h * stiffness + damping;
        SoftRow { target: -stiffness * stretch / gain, compliance: 1.0 / (h * gain) }
    }

    /// The row of a bumper, which acts where there is less than no `room` and not before: least velocity away. [m or rad],
    /// [s]
    pub(crate) fn bumper_row(Bumper { stiffness, damping }: Bumper, room: f64, h: f64) -> SoftRow {
        let row = Self { stiffness, damping }.row(room, h);
        // Before the surface, `u ≥ −d/h` as of a rigid limit: the spring starts to act where it is reached, not before.
        SoftRow { target: if room > 0.0 { -room / h } else { row.target }, ..row }
    }
}

/// The springs of a world, by id.
#[derive(Debug, Clone, Default)]
pub(crate) struct Springs {
    pub(crate) all: Vec<Option<AttachedSpring>>,
    /// Their names; empty of those that have none.
    pub(crate) names: Vec<String>,
}

impl Constraint for Springs {
    fn visit(&self, visit: &mut dyn FnMut(usize, [Mover; 2])) {
        for (i, spring) in self.all.iter().enumerate() {
            if let Some(spring) = spring {
                visit(i, spring.movers);
            }
        }
    }

    /// The row of a spring, unless its robot is in free motion and has dealt with it.
    fn add_rows(&mut self, rows: &mut RowBuilder, index: usize) {
        let Some(AttachedSpring { spring, movers }) = self.all[index] else { return };
        // In free motion the robot's own springs are in its midpoint rule already.
        let flying = |robot: usize| rows.robots[robot].as_ref().is_none_or(|r| r.free_motion.on);
        if spring.is_forceless() || spring.robot().is_some_and(flying) {
            return;
        }
        let (p_a, p_b) = (rows.anchor(&spring.a), rows.anchor(&spring.b));
        let (direction, length) = line(&p_a, &p_b);
        let mut sides = [Side::default(); 2];
        if let Some(robot) = spring.robot() {
            let parts = [(-1.0, movers[0], p_a), (1.0, movers[1], p_b)];
            sides[0] = rows.line_on_robot(robot, &parts, &direction);
        } else {
            let ends = [(-1.0, p_a), (1.0, p_b)];
            for ((side, mover), (sign, p)) in sides.iter_mut().zip(movers).zip(ends) {
                *side = match mover {
                    Mover::Robot { robot, .. } => {
                        rows.line_on_robot(robot, &[(sign, mover, p)], &direction)
                    }
                    Mover::Body(body) => rows.line_on_body(body, &p, &(direction * sign)),
                    Mover::Fixed => Side::default(),
                };
            }
        }
        let law = SoftLaw { stiffness: spring.stiffness, damping: spring.damping };
        let row = law.row(length - spring.rest_length, rows.settings.dt);
        let spec = RowSpec { bias: row.target, compliance: row.compliance, ..RowSpec::default() };
        let block = Block::row(sides, &spec);
        rows.push(
            block,
            Row {
                kind: 0,
                owner: index,
                part: 0,
                movers: rows.indices(movers),
                correction: None,
                account: Account::Spring,
                damping: Some(spring.damping),
            },
        );
    }

    /// Keeps robots out of free motion that springs tie to others or to bodies; gives the others their springs.
    fn end_free_motion(&self, robots: &mut [Option<Robot>]) {
        for robot in robots.iter_mut().flatten() {
            robot.springs.indices.clear();
            robot.springs.hold_elsewhere = false;
        }
        for (i, spring) in self.all.iter().enumerate() {
            let Some(AttachedSpring { spring, .. }) = spring else { continue };
            // Its infinite compliance would be the first pivot of the robot's matrix, beside which all others count as 0.
            if spring.is_forceless() {
                continue;
            }
            if let Some(robot) = spring.robot().and_then(|r| robots[r].as_mut()) {
                robot.springs.indices.push(i);
                // A spring to the world takes momentum from the robot, one within it does not.
                robot.springs.hold_elsewhere |= [spring.a, spring.b].iter().any(Anchor::is_world);
                continue;
            }
            for anchor in [spring.a, spring.b] {
                if let Anchor::Link(robot, ..) = anchor
                    && let Some(robot) = &mut robots[robot.0]
                {
                    (robot.free_motion.on, robot.springs.hold_elsewhere) = (false, true);
                }
            }
        }
    }

    /// A spring has no warm start: its impulse is that of its law.
    fn keep_impulse(&mut self, _: &mut State, _: &SolvedRow) {}

    fn remove_loose(&mut self, state: &State) {
        for spring in &mut self.all {
            if spring.as_ref().is_some_and(|s| !s.spring.has_ends(state)) {
                *spring = None;
            }
        }
    }
}

impl RowBuilder<'_> {
    fn anchor(&self, anchor: &Anchor) -> Vector3 {
        match anchor {
            Anchor::Body(body, p) => self.bodies[body.0]
                .as_ref()
                .map_or_else(Vector3::zeros, |b| b.pose.transform_point(p)),
            Anchor::Link(robot, ..) => {
                self.robots[robot.0].as_ref().map_or_else(Vector3::zeros, |r| r.anchor(anchor))
            }
            Anchor::World(p) => *p,
        }
    }

    fn line_on_robot(
        &mut self,
        robot: usize,
        parts: &[(f64, Mover, Vector3)],
        direction: &Vector3,
    ) -> Side {
        self.side_of_robot(robot, |r, row| {
            for (sign, mover, p) in parts {
                if let Mover::Robot { body, .. } = mover {
                    add_rates(&r.chains, &r.data, *body, p, &(direction * *sign), row);
                }
            }
        })
    }

    fn line_on_body(&mut self, body: usize, point: &Vector3, direction: &Vector3) -> Side {
        self.side_of_body(body, |b| [(*direction, (point - b.pose.translation).cross(direction))])
    }
}

/// Adds the rates along `direction` of a body's point to a row. (nv)
fn add_rates(
    chains: &Chains,
    data: &karakuri_dynamics::Data,
    body: LinkBody,
    point: &Vector3,
    direction: &Vector3,
    row: &mut [f64],
) {
    let p_OC = point - data.origin;
    // The point's velocity by each joint, `S_lin + S_ang × p`, along the direction.
    for &k in chains.of(body) {
        let S = &data.subspace[k];
        row[k] += direction.dot(&(S.linear + S.angular.cross(&p_OC)));
    }
}

/// Unit vector from A to B and their distance; points that coincide pull along z.
pub(crate) fn line(p_a: &Vector3, p_b: &Vector3) -> (Vector3, f64) {
    let d = p_b - p_a;
    let length = d.norm();
    if length > 0.0 { (d / length, length) } else { (Vector3::z(), 0.0) }
}
