//! Joint trajectories: the contents of a message, and their samples in time.
//!
//! Between two points each joint follows the polynomial that the fields of *both* ends determine: positions alone a
//! line, with velocities a cubic, with accelerations too a quintic (Hermite). Efforts are linear.
//! Source: semantics of `joint_trajectory_controller` (`ros2_controllers` 4.42). Units: rad or m, s, N·m or N.
//! Limits: times are relative to the trajectory's start.

use karakuri_spatial::Time;

/// A trajectory as a message gives it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JointTrajectory {
    /// Time of the start; `None` starts at once.
    pub start: Option<Time>,
    /// Names of the joints, the order of the points' arrays.
    pub joints: Vec<String>,
    /// The points, in time order.
    pub points: Vec<TrajectoryPoint>,
}

/// One point. Each array is empty or as long as the list of joints.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TrajectoryPoint {
    /// Time after the trajectory's start. [s]
    pub time_from_start: f64,
    /// Positions of the joints. [rad or m] (n)
    pub positions: Vec<f64>,
    /// Velocities of the joints. [rad/s or m/s] (n)
    pub velocities: Vec<f64>,
    /// Accelerations of the joints. [rad/s² or m/s²] (n)
    pub accelerations: Vec<f64>,
    /// Efforts of the joints. [N·m or N] (n)
    pub efforts: Vec<f64>,
}

impl JointTrajectory {
    /// Time of the last point. [s]
    pub fn duration(&self) -> f64 {
        self.points.last().map_or(0.0, |p| p.time_from_start)
    }

    /// The trajectory as it is given to a controller, to begin at a time. Its times are rounded to the nanoseconds that messages have: what is
    /// planned is then what is followed, to the bit.
    #[must_use]
    pub fn begun_at(mut self, time: Time) -> Self {
        self.start = Some(time);
        for point in &mut self.points {
            point.time_from_start = Time::from_seconds(point.time_from_start).seconds();
        }
        self
    }

    /// Slows the trajectory uniformly: times grow by `factor`, velocities and accelerations shrink. [-]
    pub fn stretch(&mut self, factor: f64) {
        for point in &mut self.points {
            point.time_from_start *= factor;
            point.velocities.iter_mut().for_each(|v| *v /= factor);
            point.accelerations.iter_mut().for_each(|a| *a /= factor * factor);
        }
    }
}

/// The state of one joint on a trajectory.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct JointSample {
    /// Position of the joint. [rad or m]
    pub position: f64,
    /// Velocity of the joint. [rad/s or m/s]
    pub velocity: f64,
    /// Acceleration of the joint. [rad/s² or m/s²]
    pub acceleration: f64,
    /// Effort of the joint. [N·m or N]
    pub effort: f64,
}

impl JointSample {
    /// State at rest at a position. [rad or m]
    pub fn at_rest(position: f64) -> Self {
        Self { position, ..Self::default() }
    }
}

/// One joint at one point, with the derivatives that are given.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Knot {
    /// Position, always given. [rad or m]
    pub position: f64,
    /// Velocity, if given. [rad/s or m/s]
    pub velocity: Option<f64>,
    /// Acceleration, if given. [rad/s² or m/s²]
    pub acceleration: Option<f64>,
    /// Effort, if given. [N·m or N]
    pub effort: Option<f64>,
}

impl Knot {
    /// The sample, zero where nothing is given.
    pub fn sample(&self) -> JointSample {
        JointSample {
            position: self.position,
            velocity: self.velocity.unwrap_or(0.0),
            acceleration: self.acceleration.unwrap_or(0.0),
            effort: self.effort.unwrap_or(0.0),
        }
    }
}

impl From<JointSample> for Knot {
    fn from(s: JointSample) -> Self {
        Self {
            position: s.position,
            velocity: Some(s.velocity),
            acceleration: Some(s.acceleration),
            effort: Some(s.effort),
        }
    }
}

/// Interpolation between points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Interpolation {
    /// The polynomial of the fields that both ends have.
    #[default]
    Splines,
    /// A step to the next point when its time has come.
    None,
}

/// State at time `t` after `from`, moving to `to`, which is `duration` later. [s]
pub fn interpolate(from: &Knot, to: &Knot, duration: f64, t: f64) -> JointSample {
    if duration <= 0.0 || t >= duration {
        return to.sample();
    }
    let u = (t / duration).max(0.0);
    let effort = match (from.effort, to.effort) {
        (Some(a), Some(b)) => a + (b - a) * u,
        (None, Some(b)) => b,
        (Some(a), None) => a * (1.0 - u),
        (None, None) => 0.0,
    };
    let at_both = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| [a, b]);
    let velocities = at_both(from.velocity, to.velocity);
    let accelerations = at_both(from.acceleration, to.acceleration);
    let ends = [from.position, to.position];
    // Six conditions at the ends determine a quintic, four a cubic, the two positions alone a line.
    let coefficients = match (velocities, accelerations) {
        (Some(v), Some(a)) => quintic(ends, v, a, duration),
        // Accelerations at one end alone are one condition short of a quintic: they are left out.
        (Some(v), None) => cubic(ends, v, duration),
        // Accelerations without velocities leave the slopes at the ends open, so they do not count.
        (None, _) => [from.position, to.position - from.position, 0.0, 0.0, 0.0, 0.0],
    };
    // Chain rule from u to time: q̇ = q'/T, q̈ = q''/T².
    let [position, du, ddu] = polynomial(&coefficients, u);
    JointSample {
        position,
        velocity: du / duration,
        acceleration: ddu / (duration * duration),
        effort,
    }
}

/// Value and two derivatives of `Σ cᵢ uⁱ` (Horner).
fn polynomial(c: &[f64; 6], u: f64) -> [f64; 3] {
    let (mut p, mut d, mut dd) = (0.0, 0.0, 0.0);
    for &ci in c.iter().rev() {
        // Horner's scheme differentiated: (p u + c)'' = p'' u + 2 p'.
        dd = dd * u + 2.0 * d;
        d = d * u + p;
        p = p * u + ci;
    }
    [p, d, dd]
}

/// Coefficients, by powers of `u = t / duration`, of the cubic with these positions and velocities at its ends.
fn cubic([p0, p1]: [f64; 2], v: [f64; 2], duration: f64) -> [f64; 6] {
    let (d, v0, v1) = (p1 - p0, v[0] * duration, v[1] * duration);
    [p0, v0, 3.0 * d - 2.0 * v0 - v1, -2.0 * d + v0 + v1, 0.0, 0.0]
}

/// Coefficients, by powers of `u = t / duration`, of the quintic with these positions, velocities and accelerations at
/// its ends.
fn quintic([p0, p1]: [f64; 2], v: [f64; 2], a: [f64; 2], duration: f64) -> [f64; 6] {
    let (d, v0, v1) = (p1 - p0, v[0] * duration, v[1] * duration);
    let (a0, a1) = (a[0] * duration * duration, a[1] * duration * duration);
    // In units of u the end rates are v T and a T²; the conditions at u = 1 fix the three highest coefficients.
    [
        p0,
        v0,
        0.5 * a0,
        10.0 * d - 6.0 * v0 - 4.0 * v1 - 1.5 * a0 + 0.5 * a1,
        -15.0 * d + 8.0 * v0 + 7.0 * v1 + 1.5 * a0 - a1,
        6.0 * d - 3.0 * v0 - 3.0 * v1 - 0.5 * a0 + 0.5 * a1,
    ]
}

/// The angle from `from` to `to` on a circle, in (−π, π]; exactly π goes in the sign of `to − from`. [rad]
pub fn shortest_angle(from: f64, to: f64) -> f64 {
    use core::f64::consts::{PI, TAU};
    let direct = to - from;
    // The nearest whole number of turns is taken off.
    let wrapped = direct - TAU * (direct / TAU).round();
    // At half a turn both directions are equally short: the sign of `direct` decides, not rounding.
    if wrapped.abs() >= PI - 1e-12 && wrapped * direct < 0.0 { -wrapped } else { wrapped }
}

/// The state at which a trajectory takes over from another motion.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    /// Time from the trajectory's start. [s]
    pub(crate) time: f64,
    /// State of each joint. (n)
    pub(crate) states: &'a [JointSample],
}

/// A trajectory's points in the order of a group's joints, ready to be sampled.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Path {
    times: Vec<f64>,
    knots: Vec<Knot>,
    /// Joints that the trajectory says nothing of. (n)
    held: Vec<bool>,
    lacks_positions: bool,
}

/// Position of a sampled time in the trajectory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Before the first point.
    Before,
    /// Between the first and the last point.
    Between,
    /// At or after the last point.
    After,
}

impl Path {
    /// Path of a trajectory that was checked. `order[j]` is the column of the group's joint `j`; joints without a
    /// column stay where [`hold`](Self::hold) puts them.
    pub(crate) fn new(trajectory: &JointTrajectory, order: &[Option<usize>]) -> Self {
        let knots = trajectory.points.iter().flat_map(|point| {
            order.iter().map(move |&column| match column {
                Some(c) => Knot {
                    // NaN marks the positions that `integrate` has to find.
                    position: point.positions.get(c).copied().unwrap_or(f64::NAN),
                    velocity: point.velocities.get(c).copied(),
                    acceleration: point.accelerations.get(c).copied(),
                    effort: point.efforts.get(c).copied(),
                },
                // At rest; `hold` writes the position.
                None => JointSample::default().into(),
            })
        });
        Self {
            times: trajectory.points.iter().map(|p| p.time_from_start).collect(),
            knots: knots.collect(),
            held: order.iter().map(Option::is_none).collect(),
            lacks_positions: trajectory.points.iter().any(|p| p.positions.is_empty()),
        }
    }

    /// Time of the last point. [s]
    pub fn duration(&self) -> f64 {
        self.times.last().copied().unwrap_or(0.0)
    }

    fn n_joints(&self) -> usize {
        self.held.len()
    }

    /// Keeps the joints that the trajectory says nothing of where they are commanded now. (n)
    pub(crate) fn hold(&mut self, commanded: &[JointSample]) {
        for (i, knot) in self.knots.iter_mut().enumerate() {
            let j = i % self.held.len();
            if self.held[j] {
                knot.position = commanded[j].position;
            }
        }
    }

    /// The first time between two points at which `matches` holds for a joint and its position, of `parts` a segment: point
    /// before it, joint, time from start [s] and position [rad or m].
    pub(crate) fn find_between(
        &self,
        parts: u32,
        matches: impl Fn(usize, f64) -> bool,
    ) -> Option<(usize, usize, f64, f64)> {
        let n = self.n_joints();
        let segments = self.times.windows(2).enumerate();
        segments
            .flat_map(|(i, times)| (0..n).map(move |j| (i, j, times[0], times[1] - times[0])))
            .find_map(|(i, j, start, duration)| {
                let (from, to) = (&self.knots[i * n + j], &self.knots[(i + 1) * n + j]);
                // a line does not leave what both its ends are in
                from.velocity.and(to.velocity)?;
                (1..parts).find_map(|part| {
                    let t = duration * f64::from(part) / f64::from(parts);
                    let position = interpolate(from, to, duration, t).position;
                    matches(j, position).then_some((i, j, start + t, position))
                })
            })
    }

    /// The knots of the first point. (n)
    pub(crate) fn first(&self) -> &[Knot] {
        self.knots.get(..self.n_joints()).unwrap_or(&[])
    }

    /// The knots of the last point. (n)
    pub(crate) fn last(&self) -> &[Knot] {
        self.knots.len().checked_sub(self.n_joints()).map_or(&[], |i| &self.knots[i..])
    }

    /// Joins the path to the state it is entered from at time `t0` (from start; usually ≤ 0): missing positions are
    /// integrated, joints that turn without end take the shorter direction to the first point. [s]
    pub(crate) fn enter(&mut self, t0: f64, from: &[JointSample], continuous: &[bool]) {
        for (j, (from, &continuous)) in from.iter().zip(continuous).enumerate() {
            if self.lacks_positions {
                // Before the full turns: integrated positions start at the entry and need none.
                self.integrate(j, t0, from);
            }
            if !continuous {
                continue;
            }
            let Some(first) = self.knots.get(j).map(|k| k.position) else { continue };
            // The whole path shifts by full turns until its first point is the nearest to the entry.
            let shift = from.position + shortest_angle(from.position, first) - first;
            let n = self.held.len();
            self.knots.iter_mut().skip(j).step_by(n).for_each(|k| k.position += shift);
        }
    }

    /// Lets a lone point without velocities be reached at rest, with bounded jerk from the state `from` in which the
    /// path is entered at `t0`, unless a joint would have to exceed `max_speed` for that. [s] (n)
    pub(crate) fn settle(
        &mut self,
        t0: f64,
        from: &[JointSample],
        max_speed: impl Fn(usize) -> f64,
    ) {
        const PARTS: u32 = 32;
        let &[end] = self.times.as_slice() else { return };
        let at_rest = |knot: &Knot| match knot.velocity {
            Some(_) => *knot,
            None => Knot { velocity: Some(0.0), acceleration: Some(0.0), ..*knot },
        };
        // The quintic to rest is sampled: every joint must keep its speed limit, or the point stays the end of a line.
        let is_slow = |(j, (from, knot)): (usize, (&JointSample, &Knot))| {
            let (from, to) = (Knot::from(*from), at_rest(knot));
            (1..PARTS).all(|part| {
                let t = (end - t0) * f64::from(part) / f64::from(PARTS);
                interpolate(&from, &to, end - t0, t).velocity.abs() <= max_speed(j)
            })
        };
        if from.iter().zip(&self.knots).enumerate().all(is_slow) {
            self.knots.iter_mut().for_each(|knot| *knot = at_rest(knot));
        }
    }

    /// Integrates missing velocities from accelerations and missing positions from velocities, by the trapezoid rule.
    fn integrate(&mut self, j: usize, t0: f64, from: &JointSample) {
        let (mut t, mut last) = (t0, *from);
        for (i, &time) in self.times.iter().enumerate() {
            let knot = &mut self.knots[i * self.held.len() + j];
            if knot.position.is_nan() {
                let dt = (time - t).max(0.0);
                let acceleration = knot.acceleration.unwrap_or(0.0);
                // As a position follows from velocity, a velocity that is missing as well follows from acceleration first.
                let velocity = knot
                    .velocity
                    .unwrap_or(last.velocity + 0.5 * dt * (last.acceleration + acceleration));
                knot.velocity = Some(velocity);
                knot.position = last.position + 0.5 * dt * (last.velocity + velocity);
            }
            (t, last) = (time, knot.sample());
        }
    }

    /// Samples at `t` from start [s], coming from `entry`. Fills `out`. (n)
    pub(crate) fn sample(
        &self,
        t: f64,
        entry: Entry<'_>,
        interpolation: Interpolation,
        out: &mut [JointSample],
    ) -> Phase {
        // At a point's own time the segment after it counts, whose start is that point exactly.
        let next = self.times.partition_point(|&time| time <= t);
        let n = self.n_joints();
        if next == self.times.len() {
            out.iter_mut()
                .zip(self.last())
                .for_each(|(out, knot)| *out = knot.sample_held(t, self.duration()));
            return Phase::After;
        }
        let to = &self.knots[next * n..(next + 1) * n];
        for (j, (out, to)) in out.iter_mut().zip(to).enumerate() {
            let (start, from) = match next.checked_sub(1) {
                Some(i) => (self.times[i], self.knots[i * n + j]),
                // Before the first point the segment begins with the state in which the path was entered.
                None => (entry.time, entry.states[j].into()),
            };
            *out = match interpolation {
                // A knot without a velocity gets none from its neighbour either: the segment is a line.
                Interpolation::Splines => {
                    interpolate(&from, to, self.times[next] - start, t - start)
                }
                Interpolation::None => JointSample::at_rest(from.position),
            };
        }
        if next == 0 { Phase::Before } else { Phase::Between }
    }
}

impl Knot {
    /// The last point at its own time, and at rest there later; the effort stays.
    fn sample_held(&self, t: f64, end: f64) -> JointSample {
        if t <= end {
            return self.sample();
        }
        JointSample { velocity: 0.0, acceleration: 0.0, ..self.sample() }
    }
}

#[cfg(test)]
mod tests;
