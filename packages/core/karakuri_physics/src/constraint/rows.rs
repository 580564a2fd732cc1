//! Row blocks of a step: saturated servos, dry friction, joint limits, contacts.

use karakuri_collision::ColliderId;
use karakuri_model::Bumper;
use karakuri_spatial::{Matrix3, Vector3};

use crate::WorldSettings;
use crate::constraint::contact::{Contact, Mover, SLIP};
use crate::constraint::spring::soft_row;
use crate::solver::{Admissible, Block, Problem, Side, SoftFinger, dot};
use crate::state::body::Body;
use crate::state::robot::Robot;

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
        side: crate::constraint::ball_limit::Side,
    },
    Joint {
        joint: usize,
        axis: usize,
    },
    /// A freedom of an attached joint that its bushing holds.
    Bushing {
        /// The joint.
        joint: usize,
        /// Rotation x y z, translation x y z.
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
}

/// Things that move, and the rows made so far.
///
/// What it made the last time stays in `problem` until something else is written there: rows that would become the same at the
/// same place are left as they are.
pub(crate) struct Builder<'a> {
    pub(crate) settings: &'a WorldSettings,
    pub(crate) robots: &'a mut [Option<Robot>],
    pub(crate) bodies: &'a [Option<Body>],
    pub(crate) problem: &'a mut Problem,
    pub(crate) rows: &'a mut Vec<Row>,
    /// Velocity before the step. (n)
    pub(crate) before: &'a [f64],
    /// How often rows were made, this time with them.
    pub(crate) build: u64,
    /// How much of `J` and `Y` is made.
    pub(crate) used: usize,
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
                self.limits(robot, joint);
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

    fn limits(&mut self, robot: usize, joint: &karakuri_model::Joint) {
        let (h, dof, limits) = (self.settings.dt, joint.v_start, &joint.limits);
        let Some(r) = &self.robots[robot] else { return };
        let Some(q) = r.position_index[dof].map(|i| r.q[i]) else { return };
        let (start, velocity) = (r.start, self.problem.velocity[r.start + dof]);
        let impulses = r.impulses[dof];
        // A row that could become active: the free motion reaches the limit within two steps, or it was active.
        let reach = 2.0 * h * velocity;
        let (below, above) = (q - limits.lower, limits.upper - q);
        if below + reach.min(0.0) <= 0.0 || impulses.lower != 0.0 {
            let bounce = self.limit_bounce(joint, self.before[start + dof], below + h * velocity);
            let [target, compliance, undo] = self.limit_row(below, joint.bumper);
            let target = target.max(bounce);
            let extra = (compliance, impulses.lower, undo);
            self.joint_row(Source::Lower { robot, dof }, (0.0, f64::INFINITY), target, extra);
        }
        if above - reach.max(0.0) <= 0.0 || impulses.upper != 0.0 {
            let bounce = self.limit_bounce(joint, -self.before[start + dof], above - h * velocity);
            let [target, compliance, undo] = self.limit_row(above, joint.bumper);
            let target = target.max(bounce);
            let extra = (compliance, impulses.upper, -undo);
            self.joint_row(Source::Upper { robot, dof }, (f64::NEG_INFINITY, 0.0), -target, extra);
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

    /// Velocity with which a joint leaves a limit that it meets in this step with `rate`, having `room` left at its end:
    /// Newton's law of impact; no bound where it does not bounce. [rad/s or m/s]
    fn limit_bounce(&self, joint: &karakuri_model::Joint, rate: f64, room: f64) -> f64 {
        let bounces = joint.limit_restitution > 0.0 && joint.bumper.is_none() && room <= 0.0;
        if bounces && rate < -self.settings.restitution_threshold {
            -joint.limit_restitution * rate
        } else {
            f64::NEG_INFINITY
        }
    }

    /// Least velocity away from a limit at distance `room`, the row's compliance, and the velocity that undoes what is
    /// beyond. A bumper is backward Euler of its spring and damper, and does not act before the limit. [m/s, 1/kg, m/s]
    fn limit_row(&self, room: f64, bumper: Option<Bumper>) -> [f64; 3] {
        let h = self.settings.dt;
        let Some(bumper) = bumper else {
            let undo = self.settings.penetration_rate * (-room).max(0.0) / h;
            return [-room.max(0.0) / h, 0.0, undo];
        };
        let [target, compliance] = bumper_row(room, bumper, h);
        [target, compliance, 0.0]
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
        let side = self.side_of_robot(robot, |_, row| {
            for &(dof, coefficient) in entries {
                row[dof] = coefficient;
            }
        });
        let sides = [side, Side::default()];
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
            match self.problem.blocks.get_mut(self.rows.len()) {
                Some(place) => *place = block,
                None => self.problem.blocks.push(block),
            }
            self.rows.push(Row { source, movers, correction });
        }
    }

    /// What comes now is of another island.
    pub(crate) fn end_island(&mut self) {
        let ends = &mut self.problem.island_ends;
        if self.rows.len() > ends.last().copied().unwrap_or(0) {
            ends.push(self.rows.len());
        }
    }

    /// All rows are made.
    pub(crate) fn finish(self) {
        self.problem.blocks.truncate(self.rows.len());
        self.problem.jacobian.truncate(self.used);
        self.problem.response.truncate(self.used);
    }

    /// Room for so many more numbers of `J` and `Y`, with whatever is there; where it begins.
    fn room(&mut self, n: usize) -> usize {
        let offset = self.used;
        self.used += n;
        if self.problem.jacobian.len() < self.used {
            self.problem.jacobian.resize(self.used, 0.0);
            self.problem.response.resize(self.used, 0.0);
        }
        offset
    }

    /// One row of a robot, which `fill` makes from zeros.
    pub(crate) fn side_of_robot(
        &mut self,
        robot: usize,
        fill: impl FnOnce(&Robot, &mut [f64]),
    ) -> Side {
        let Some(nv) = self.robots[robot].as_ref().map(|r| r.v.len()) else {
            return Side::default();
        };
        let offset = self.room(nv);
        let Some(r) = &mut self.robots[robot] else { return Side::default() };
        let row = &mut self.problem.jacobian[offset..offset + nv];
        row.fill(0.0);
        fill(r, row);
        let response = &mut self.problem.response[offset..offset + nv];
        response.copy_from_slice(row);
        r.respond(response);
        Side { start: r.start, len: nv, offset }
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
        let offset = self.room(6 * N);
        let range = offset..offset + 6 * N;
        let jacobian = self.problem.jacobian[range.clone()].as_chunks_mut::<6>().0;
        let response = self.problem.response[range].as_chunks_mut::<6>().0;
        let per_mass = 1.0 / b.description.mass;
        let six = |v: Vector3, w: Vector3| [v.x, v.y, v.z, w.x, w.y, w.z];
        for ((linear, angular), (J, Y)) in
            rows(b).into_iter().zip(jacobian.iter_mut().zip(response))
        {
            *J = six(linear, angular);
            *Y = six(linear * per_mass, b.inverse_inertia_world * angular);
        }
        Side { start: b.start, len: 6, offset }
    }

    /// The rows of a contact.
    pub(crate) fn contact(
        &mut self,
        index: usize,
        contact: &mut Contact,
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
        let place = self.rows.len();
        let kept = self.kept(contact, &ends);
        let sides =
            kept.unwrap_or_else(|| self.contact_sides(ends, Some(&contact.position), &directions));
        let components = |v: &Vector3| Vector3::new(contact.normal.dot(v), t1.dot(v), t2.dot(v));
        let friction = self.friction_of(contact, &sides, components);
        let [bias, compliance, correction] = self.contact_bias(&sides, contact);
        let mut bias = Vector3::new(bias, 0.0, 0.0) + components(&contact.conveyed)
            - components(&contact.drift) * (self.settings.anchor_rate / self.settings.dt);
        if contact.carried != Vector3::zeros() {
            bias += components(&contact.carried);
        }
        let impulse = crate::solver::project_on_cone(&components(&contact.impulse), friction);
        let n_robots = self.robots.len();
        let movers = ends.map(|m| m.index(n_robots));
        let (admissible, unsettled) = (Admissible::Cone { friction }, contact.unsettled);
        if kept.is_some() {
            let block = &mut self.problem.blocks[place];
            *block = Block { admissible, bias, compliance, impulse, unsettled, ..*block };
            self.rows.push(Row { source: Source::Contact(index), movers, correction });
        } else {
            let delassus = Matrix3::zeros();
            let block = Block { admissible, sides, bias, compliance, delassus, impulse, unsettled };
            self.push(block, Source::Contact(index), movers, correction);
        }
        if self.rows.len() > place {
            contact.made = Some((self.build, place));
            self.turning(index, contact, ends, &directions);
        }
    }

    /// The rows of a contact, the last made, against rolling and spinning.
    fn turning(
        &mut self,
        index: usize,
        contact: &Contact,
        ends: [Mover; 2],
        directions: &[Vector3; 3],
    ) {
        let crate::Surface { rolling, spinning, .. } = contact.surface;
        if rolling == 0.0 && spinning == 0.0 {
            return;
        }
        let (block, movers) =
            (self.problem.blocks[self.rows.len() - 1], self.rows[self.rows.len() - 1].movers);
        let soft = match block.admissible {
            Admissible::Cone { friction }
                if contact.surface.soft_finger && friction > 0.0 && spinning > 0.0 =>
            {
                Some(SoftFinger::new(friction, spinning))
            }
            _ => None,
        };
        let admissible = Admissible::Turning { spinning, rolling, load: block.impulse.x, soft };
        let warm = Vector3::from(directions.map(|d| d.dot(&contact.turning)));
        let turning = Block {
            admissible,
            sides: self.contact_sides(ends, None, directions),
            bias: Vector3::zeros(),
            compliance: 0.0,
            impulse: admissible.project(&warm),
            ..block
        };
        self.push(turning, Source::Turning(index), movers, 0.0);
    }

    /// The sides of a contact between bodies that did not move, if its rows were made the last time too, and where they
    /// would be made now.
    fn kept(&mut self, contact: &Contact, ends: &[Mover; 2]) -> Option<[Side; 2]> {
        let (build, place) = contact.made?;
        if (build + 1, place) != (self.build, self.rows.len()) {
            return None;
        }
        let block = self.problem.blocks.get(place)?;
        let mut offset = self.used;
        for (side, end) in block.sides.iter().zip(ends) {
            let start = match end {
                Mover::Robot { .. } => return None,
                Mover::Body(body) => self.bodies[*body].as_ref().filter(|b| b.is_free())?.start,
                Mover::Fixed => continue,
            };
            if (side.start, side.offset) != (start, offset) {
                return None;
            }
            offset += 3 * side.len;
        }
        self.used = offset;
        Some(block.sides)
    }

    /// Coefficient of friction: the dynamic one of a contact that slipped in the last step, or that is new and moves.
    fn friction_of(
        &self,
        contact: &Contact,
        sides: &[Side; 2],
        components: impl Fn(&Vector3) -> Vector3,
    ) -> f64 {
        let crate::Surface { friction, dynamic_friction, .. } = contact.surface;
        if dynamic_friction >= friction {
            return friction;
        }
        let moves = || {
            let u = self.problem.rows_times(self.before, sides, 3);
            (u - components(&contact.conveyed) - components(&contact.carried)).yz().norm() > SLIP
        };
        let slips = contact.slips || (contact.impulse == Vector3::zeros() && moves());
        if slips { dynamic_friction } else { friction }
    }

    /// Wanted normal velocity, compliance of the normal, and the velocity that undoes a penetration. [m/s, 1/kg, m/s]
    fn contact_bias(&self, sides: &[Side; 2], contact: &Contact) -> [f64; 3] {
        let s = self.settings;
        if let Some(Bumper { stiffness, damping }) = contact.surface.bumper {
            let n = contact.sharers as f64;
            let share = Bumper { stiffness: stiffness / n, damping: damping / n };
            let [target, compliance] = bumper_row(contact.gap, share, s.dt);
            return [target, compliance, 0.0];
        }
        let depth = -contact.gap - s.penetration_slop;
        let correction = (s.penetration_rate * depth.max(0.0)).min(s.penetration_step) / s.dt;
        let restitution = contact.surface.restitution;
        if restitution > 0.0 {
            let carried = contact.normal.dot(&contact.carried);
            let approach = self.normal_velocity(sides, self.before) - carried;
            let free = self.normal_velocity(sides, &self.problem.velocity) - carried;
            if approach < -s.restitution_threshold && contact.gap + s.dt * free <= 0.0 {
                return [-restitution * approach, 0.0, correction];
            }
        }
        let open = if contact.gap > TOUCH { contact.gap } else { 0.0 };
        [-open / s.dt, 0.0, correction]
    }

    fn normal_velocity(&self, sides: &[Side; 2], v: &[f64]) -> f64 {
        let sides = sides.iter().filter(|s| s.len > 0);
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
        let Some(nv) = self.robots[robot].as_ref().map(|r| r.v.len()) else {
            return Side::default();
        };
        let offset = self.room(3 * nv);
        let Some(r) = &mut self.robots[robot] else { return Side::default() };
        let jacobian = &mut self.problem.jacobian[offset..offset + 3 * nv];
        jacobian.fill(0.0);
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
        let response = &mut self.problem.response[offset..offset + 3 * nv];
        response.copy_from_slice(jacobian);
        r.respond_to_three(response);
        Side { start: r.start, len: nv, offset }
    }

    fn body_side(
        &mut self,
        body: usize,
        sign: f64,
        point: Option<&Vector3>,
        directions: &[Vector3; 3],
    ) -> Side {
        self.side_of_body(body, |b| {
            let arm = point.map(|p| p - b.pose.translation);
            directions.map(|direction| {
                let along = direction * sign;
                arm.map_or((Vector3::zeros(), along), |arm| (along, arm.cross(&along)))
            })
        })
    }
}

/// A spring and damper that act where there is less than no `room`, as backward Euler: least velocity away, and the row's
/// compliance. Nothing acts before. [m/s, 1/kg]
fn bumper_row(room: f64, Bumper { stiffness, damping }: Bumper, h: f64) -> [f64; 2] {
    let row = soft_row((stiffness, damping), room, h);
    [if room > 0.0 { -room / h } else { row.wanted }, row.compliance]
}

#[cfg(test)]
mod tests;
