//! Row blocks of a step: saturated servos, dry friction, joint limits, contacts.

use karakuri_collision::ColliderId;
use karakuri_spatial::Vector3;

use crate::WorldSettings;
use crate::body::Body;
use crate::contacts::{Contact, Mover, SLIP};
use crate::robot::Robot;
use crate::solver::{Admissible, Block, Problem, Side, SoftFinger, dot};

/// What a block stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Servo {
        robot: usize,
        dof: usize,
    },
    Friction {
        robot: usize,
        dof: usize,
    },
    Lower {
        robot: usize,
        dof: usize,
    },
    Upper {
        robot: usize,
        dof: usize,
    },
    Speed {
        robot: usize,
        dof: usize,
    },
    Contact(usize),
    /// What a contact does against rolling and spinning; after its block.
    Turning(usize),
    Spring(usize),
    Gear(usize),
    Motor {
        robot: usize,
        motor: usize,
    },
    Cone {
        robot: usize,
        ball: usize,
        side: crate::cones::Side,
    },
    Joint {
        joint: usize,
        axis: usize,
    },
}

/// What the solver need not know of a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) source: Source,
    /// Movers it joins: robots first, then bodies; `usize::MAX` is none.
    pub(crate) movers: [usize; 2],
    /// Velocity at which a position error is undone, along the first row. [m/s or rad/s]
    pub(crate) correction: f64,
    /// Its island, then its place before the sort.
    pub(crate) order: (u32, u32),
}

/// Things that move, and the scratch of their rows.
pub(crate) struct Builder<'a> {
    pub(crate) settings: &'a WorldSettings,
    pub(crate) robots: &'a mut [Option<Robot>],
    pub(crate) bodies: &'a [Option<Body>],
    pub(crate) problem: &'a mut Problem,
    pub(crate) rows: &'a mut Vec<Row>,
    /// Blocks of the rows, before they are sorted.
    pub(crate) blocks: &'a mut Vec<Block>,
    /// Velocity before the step. (n)
    pub(crate) before: &'a [f64],
}

/// A row that moves less than this for a unit impulse (a freedom that a loop locks) constrains nothing. [1/kg]
const IMMOVABLE: f64 = 1e-15;

/// Surfaces nearer than this touch, and nothing closes the rest: the corners of two faces are never at the same gap to the
/// last nanometre, and rigid faces that had to close each of theirs would put the load on one corner. [m]
const TOUCH: f64 = 1e-6;

pub(crate) const NO_MOVER: usize = usize::MAX;

impl Builder<'_> {
    /// Rows of a robot's own joints.
    pub(crate) fn joints(&mut self, robot: usize) {
        let Some(model) = self.robots[robot]
            .as_ref()
            .filter(|r| !r.flight.on)
            .map(|r| std::sync::Arc::clone(&r.model))
        else {
            return;
        };
        for joint in &model.joints {
            for dof in joint.v_start..joint.v_start + joint.kind.nv() {
                self.servo(robot, dof);
                self.friction(robot, dof);
            }
            if joint.kind.single().is_some() {
                self.limits(robot, joint.v_start, &joint.limits);
            }
        }
        self.motors(robot);
        self.cones(robot);
    }

    fn servo(&mut self, robot: usize, dof: usize) {
        let h = self.settings.dt;
        let Some(r) = &self.robots[robot] else { return };
        let d = &r.drives;
        if !r.saturated[dof] || !d.enabled[dof] {
            return;
        }
        let gain = d.damping[dof] + h * d.stiffness[dof];
        if gain <= 0.0 {
            return;
        }
        let error = r.position_index[dof].map_or(0.0, |i| d.position[dof] - r.q[i]);
        let wanted = (d.stiffness[dof] * error + d.damping[dof] * d.velocity[dof]) / gain;
        let (limit, feedforward) = (h * d.effort_limit[dof], h * d.effort[dof]);
        let bounds = (-limit - feedforward, limit - feedforward);
        let warm = r.impulses[dof].servo;
        let compliance = 1.0 / (h * gain);
        self.joint_row(Source::Servo { robot, dof }, bounds, wanted, (compliance, warm, 0.0));
    }

    fn friction(&mut self, robot: usize, dof: usize) {
        let Some(r) = &self.robots[robot] else { return };
        let limit = self.settings.dt * r.friction[dof];
        if limit > 0.0 {
            let warm = r.impulses[dof].friction;
            self.joint_row(Source::Friction { robot, dof }, (-limit, limit), 0.0, (0.0, warm, 0.0));
        }
    }

    fn limits(&mut self, robot: usize, dof: usize, limits: &karakuri_model::Limits) {
        let h = self.settings.dt;
        let Some(r) = &self.robots[robot] else { return };
        let Some(q) = r.position_index[dof].map(|i| r.q[i]) else { return };
        let velocity = self.problem.velocity[r.start + dof];
        let impulses = r.impulses[dof];
        // A row that could become active: the free motion reaches the limit within two steps, or it was active.
        let reach = 2.0 * h * velocity;
        let undo = |depth: f64| self.settings.penetration_rate * depth / h;
        let (below, above) = (q - limits.lower, limits.upper - q);
        if below + reach.min(0.0) <= 0.0 || impulses.lower != 0.0 {
            let target = -below.max(0.0) / h;
            let extra = (0.0, impulses.lower, undo((-below).max(0.0)));
            self.joint_row(Source::Lower { robot, dof }, (0.0, f64::INFINITY), target, extra);
        }
        if above - reach.max(0.0) <= 0.0 || impulses.upper != 0.0 {
            let target = above.max(0.0) / h;
            let extra = (0.0, impulses.upper, -undo((-above).max(0.0)));
            self.joint_row(Source::Upper { robot, dof }, (f64::NEG_INFINITY, 0.0), target, extra);
        }
        if velocity.abs() > limits.velocity || impulses.speed != 0.0 {
            let (sign, speed) = (velocity.signum(), limits.velocity);
            let bounds = if sign > 0.0 { (f64::NEG_INFINITY, 0.0) } else { (0.0, f64::INFINITY) };
            self.joint_row(
                Source::Speed { robot, dof },
                bounds,
                sign * speed,
                (0.0, impulses.speed, 0.0),
            );
        }
    }

    /// A row on one freedom. `(compliance, warm start, correction)`.
    fn joint_row(&mut self, source: Source, bounds: (f64, f64), bias: f64, extra: (f64, f64, f64)) {
        let (Source::Servo { robot, dof }
        | Source::Friction { robot, dof }
        | Source::Lower { robot, dof }
        | Source::Upper { robot, dof }
        | Source::Speed { robot, dof }) = source
        else {
            return;
        };
        self.robot_row((source, robot), &[(dof, 1.0)], bounds, bias, extra);
    }

    /// A row on some freedoms of a robot, each with its coefficient. `(compliance, warm start, correction)`.
    pub(crate) fn robot_row(
        &mut self,
        (source, robot): (Source, usize),
        entries: &[(usize, f64)],
        (lower, upper): (f64, f64),
        bias: f64,
        (compliance, warm, correction): (f64, f64, f64),
    ) {
        let Some(r) = &mut self.robots[robot] else { return };
        let nv = r.v.len();
        let offset = self.problem.jacobian.len();
        self.problem.jacobian.resize(offset + nv, 0.0);
        self.problem.response.resize(offset + nv, 0.0);
        let response = &mut self.problem.response[offset..];
        for &(dof, coefficient) in entries {
            self.problem.jacobian[offset + dof] = coefficient;
            response[dof] = coefficient;
        }
        r.respond(response);
        let sides = [Side { start: r.start, len: nv, offset }, Side::default()];
        let block = Block::row((lower, upper), sides, bias, compliance, warm);
        self.push(block, source, [robot, NO_MOVER], correction);
    }

    pub(crate) fn push(
        &mut self,
        mut block: Block,
        source: Source,
        movers: [usize; 2],
        correction: f64,
    ) {
        block.delassus = self.problem.delassus_of(&block);
        let movable = match block.admissible {
            Admissible::Turning { .. } => block.delassus.trace(),
            _ => block.delassus.m11,
        };
        if movable > IMMOVABLE {
            self.rows.push(Row { source, movers, correction, order: (0, 0) });
            self.blocks.push(block);
        }
    }

    /// The rows of a contact.
    pub(crate) fn contact(
        &mut self,
        index: usize,
        contact: &Contact,
        mover: impl Fn(ColliderId) -> Option<Mover>,
    ) {
        let (Some(a), Some(b)) = (mover(contact.a), mover(contact.b)) else { return };
        let done = |m: &Mover| matches!(m, Mover::Body(i) if self.bodies[*i].as_ref().is_some_and(|b| b.done));
        if done(&a) || done(&b) {
            return;
        }
        let [t1, t2] = contact.tangents;
        let directions = [contact.normal, t1, t2];
        let ends = [a, b];
        let sides = self.contact_sides(ends, Some(&contact.position), &directions);
        let components = |v: &Vector3| Vector3::new(contact.normal.dot(v), t1.dot(v), t2.dot(v));
        let friction = contact.surface.friction;
        let warm = components(&contact.impulse);
        let mut block = Block {
            admissible: Admissible::Cone { friction },
            sides,
            bias: Vector3::zeros(),
            compliance: 0.0,
            delassus: nalgebra::Matrix3::zeros(),
            impulse: crate::solver::project_on_cone(&warm, friction),
            unsettled: contact.unsettled,
        };
        if contact.surface.dynamic_friction < friction && self.slips(&block, contact, components) {
            let friction = contact.surface.dynamic_friction;
            block.admissible = Admissible::Cone { friction };
            block.impulse = crate::solver::project_on_cone(&warm, friction);
        }
        let (bias, correction) = self.contact_bias(&block, contact);
        block.bias = Vector3::new(bias, 0.0, 0.0) + components(&contact.conveyed)
            - components(&contact.drift) * (self.settings.anchor_rate / self.settings.dt);
        let n_robots = self.robots.len();
        let movers = ends.map(|m| m.index(n_robots));
        let known = self.rows.len();
        self.push(block, Source::Contact(index), movers, correction);
        let crate::Surface { rolling, spinning, .. } = contact.surface;
        if self.rows.len() == known || (rolling == 0.0 && spinning == 0.0) {
            return;
        }
        let soft = match block.admissible {
            Admissible::Cone { friction }
                if contact.surface.soft_finger && friction > 0.0 && spinning > 0.0 =>
            {
                Some(SoftFinger::new(friction, spinning))
            }
            _ => None,
        };
        let admissible = Admissible::Turning { spinning, rolling, load: block.impulse.x, soft };
        let turning = Block {
            admissible,
            sides: self.contact_sides(ends, None, &directions),
            bias: Vector3::zeros(),
            impulse: admissible.project(&components(&contact.turning)),
            ..block
        };
        self.push(turning, Source::Turning(index), movers, 0.0);
    }

    /// Whether the dynamic friction holds: a contact that slipped in the last step, or that is new and moves.
    fn slips(
        &self,
        block: &Block,
        contact: &Contact,
        components: impl Fn(&Vector3) -> Vector3,
    ) -> bool {
        let moves = || {
            let u = self.problem.jacobian_times(self.before, block);
            (u - components(&contact.conveyed)).yz().norm() > SLIP
        };
        contact.slips || (contact.impulse == Vector3::zeros() && moves())
    }

    /// Wanted normal velocity, and the velocity that undoes a penetration. [m/s]
    fn contact_bias(&self, block: &Block, contact: &Contact) -> (f64, f64) {
        let s = self.settings;
        let depth = -contact.gap - s.penetration_slop;
        let correction = (s.penetration_rate * depth.max(0.0)).min(s.penetration_step) / s.dt;
        let restitution = contact.surface.restitution;
        if restitution > 0.0 {
            let approach = self.normal_velocity(block, self.before);
            let free = self.normal_velocity(block, &self.problem.velocity);
            if approach < -s.restitution_threshold && contact.gap + s.dt * free <= 0.0 {
                return (-restitution * approach, correction);
            }
        }
        let open = if contact.gap > TOUCH { contact.gap } else { 0.0 };
        (-open / s.dt, correction)
    }

    fn normal_velocity(&self, block: &Block, v: &[f64]) -> f64 {
        let sides = block.sides.iter().filter(|s| s.len > 0);
        sides
            .map(|s| {
                dot(
                    &self.problem.jacobian[s.offset..s.offset + s.len],
                    &v[s.start..s.start + s.len],
                )
            })
            .sum()
    }

    /// Rows of the relative velocity of `b` at a point, or without one of its relative rate, along three directions.
    fn contact_sides(
        &mut self,
        [a, b]: [Mover; 2],
        point: Option<&Vector3>,
        directions: &[Vector3; 3],
    ) -> [Side; 2] {
        if let (Mover::Robot { robot, body: body_a }, Mover::Robot { robot: other, body: body_b }) =
            (a, b)
            && robot == other
        {
            let parts = [(-1.0, body_a), (1.0, body_b)];
            return [self.robot_side(robot, &parts, point, directions), Side::default()];
        }
        [(-1.0, a), (1.0, b)].map(|(sign, mover)| match mover {
            Mover::Robot { robot, body } => {
                self.robot_side(robot, &[(sign, body)], point, directions)
            }
            Mover::Body(body) => self.body_side(body, sign, point, directions),
            Mover::Fixed => Side::default(),
        })
    }

    fn robot_side(
        &mut self,
        robot: usize,
        parts: &[(f64, karakuri_model::BodyId)],
        point: Option<&Vector3>,
        directions: &[Vector3; 3],
    ) -> Side {
        let Some(r) = &mut self.robots[robot] else { return Side::default() };
        let nv = r.v.len();
        let offset = self.problem.jacobian.len();
        self.problem.jacobian.resize(offset + 3 * nv, 0.0);
        let jacobian = &mut self.problem.jacobian[offset..];
        let p_OC = point.map(|p| p - r.data.origin);
        for &(sign, body) in parts {
            for &k in r.chains.of(body) {
                let S = &r.data.subspace[k];
                let velocity = p_OC.map_or(S.angular, |p| S.linear + S.angular.cross(&p)) * sign;
                for (row, direction) in directions.iter().enumerate() {
                    jacobian[row * nv + k] += direction.dot(&velocity);
                }
            }
        }
        self.problem.response.extend_from_slice(&self.problem.jacobian[offset..]);
        r.respond_to_three(&mut self.problem.response[offset..]);
        Side { start: r.start, len: nv, offset }
    }

    fn body_side(
        &mut self,
        body: usize,
        sign: f64,
        point: Option<&Vector3>,
        directions: &[Vector3; 3],
    ) -> Side {
        let Some(b) = self.bodies[body].as_ref().filter(|b| b.is_free()) else {
            return Side::default();
        };
        let offset = self.problem.jacobian.len();
        let arm = point.map(|p| p - b.pose.translation);
        for direction in directions {
            let along = direction * sign;
            let (linear, angular) =
                arm.map_or((Vector3::zeros(), along), |arm| (along, arm.cross(&along)));
            push_row(self.problem, b, &linear, &angular);
        }
        Side { start: b.start, len: 6, offset }
    }
}

/// A row of a free body, linear then angular, and its response.
#[inline]
pub(crate) fn push_row(problem: &mut Problem, b: &Body, linear: &Vector3, angular: &Vector3) {
    let row = |linear: &Vector3, angular: &Vector3| {
        [linear.x, linear.y, linear.z, angular.x, angular.y, angular.z]
    };
    let (pushed, turned) = (linear / b.description.mass, b.inverse_inertia_world * angular);
    problem.jacobian.extend(row(linear, angular));
    problem.response.extend(row(&pushed, &turned));
}

/// Numbers the islands of movers that rows join, sorts the rows by island and hands their blocks to the problem.
#[expect(clippy::cast_possible_truncation, reason = "movers and rows are fewer than 2³²")]
pub(crate) fn group_islands(
    rows: &mut [Row],
    blocks: &[Block],
    (parents, n_movers): (&mut Vec<usize>, usize),
    problem: &mut Problem,
) {
    parents.clear();
    parents.extend(0..n_movers);
    for row in rows.iter() {
        if let [a, b] = row.movers
            && a != NO_MOVER
            && b != NO_MOVER
        {
            let (a, b) = (root(parents, a), root(parents, b));
            parents[a.max(b)] = a.min(b);
        }
    }
    for (i, row) in rows.iter_mut().enumerate() {
        let mover = if row.movers[0] == NO_MOVER { row.movers[1] } else { row.movers[0] };
        row.order = (root(parents, mover) as u32, i as u32);
    }
    rows.sort_unstable_by_key(|row| row.order);
    problem.blocks.clear();
    problem.blocks.extend(rows.iter().map(|row| blocks[row.order.1 as usize]));
    problem.island_ends.clear();
    let mut end = 0;
    for island in rows.chunk_by(|a, b| a.order.0 == b.order.0) {
        end += island.len();
        problem.island_ends.push(end);
    }
}

pub(crate) fn root(parents: &mut [usize], mut i: usize) -> usize {
    while parents[i] != i {
        parents[i] = parents[parents[i]];
        i = parents[i];
    }
    i
}
