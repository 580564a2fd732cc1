//! The machine that runs the joint trajectories of one group of joints.
//!
//! The semantics of `joint_trajectory_controller` (`ros2_controllers` 4.42) as a struct: goals with tolerances and results,
//! the topic without them, replacement at once with a smooth hand-over, cancel that holds or brakes. Each
//! [`update`](JointTrajectoryMachine::update) is given the time, the measured state and the period, and leaves in the
//! machine the desired state (at `now`), the error, and the command (at `now + dt`).
//!
//! It differs on purpose in the following:
//! * interpolation starts from the desired state (`interpolate_from_desired_state: true`), so a command never steps by the
//!   tracking error;
//! * a goal of one point without velocities is reached at rest with bounded jerk where the joints' speeds allow, not on a
//!   line with corners; and a cancelled motion brakes with bounded jerk;
//! * a command moves at most at the joint's speed limit and stays within its position limits, whatever a trajectory asks; a
//!   goal whose points ask for more speed than a joint has, or that leaves the limits between its points, is not taken;
//! * a motion waits for a robot that was without commands for a while ([`INTERRUPTION`]), and goes on from where the robot is,
//!   gathering speed, instead of leaping to where it should be by now;
//! * a trajectory of one point on the topic (a stream) may end with a velocity: the next point follows in a tick;
//! * a goal that waits for its tolerances can say which joint lacks what ([`JointTrajectoryMachine::waiting_for`]),
//!   also with `goal_time: 0`, which waits for ever;
//! * a trajectory on the topic ends the goal that it replaces as aborted, at once: what that goal asked is not carried out;
//! * efforts are accepted: they are added to the feed-forward.
//!
//! Units: rad or m, s, N·m or N. Arrays have one entry a joint of the group.

mod goal;
mod pace;
mod prepared;
mod settings;
mod validate;

pub use goal::{
    ErrorCode, FinishedGoal, Goal, GoalId, GoalStatus, JointTolerance, Outcome, Quantity, Shortfall,
};
pub use prepared::Prepared;
pub use settings::{Constraints, GroupSettings, JointSettings, Tolerance};
pub use validate::GoalError;

use thiserror::Error;

use crate::trajectory::{
    Entry, Interpolation, JointSample, JointTrajectory, Path, Phase, shortest_angle,
};
use goal::Limits;
use karakuri_spatial::Time;
use pace::Pace;

/// Time between two updates beyond which the robot was without commands meanwhile, unless updates are that rare. [s]
pub const INTERRUPTION: f64 = 0.02;
/// The same in periods.
// A single lost sample makes two periods and interrupts nothing; two in a row make three.
const INTERRUPTED_PERIODS: f64 = 2.5;

/// Runs the trajectories of one group of joints.
#[derive(Debug, Clone)]
pub struct JointTrajectoryMachine {
    settings: GroupSettings,
    continuous: Vec<bool>,
    motion: Motion,
    /// The trajectory followed and the limits of the active goal; those of finished goals are kept for their memory.
    path: Path,
    limits: Limits,
    goal: Option<GoalId>,
    next_goal: u64,
    /// Time of the last update.
    last: Option<Time>,
    /// Time between the last two updates. [s]
    interval: f64,
    desired: Vec<JointSample>,
    actual: Vec<JointSample>,
    error: Vec<JointSample>,
    command: Vec<JointSample>,
    previous: Vec<JointSample>,
    /// The state in which the path was entered.
    entry: Vec<JointSample>,
    waiting: Option<Shortfall>,
    not_following: Option<Shortfall>,
    restarted: bool,
}

/// State of the machine.
#[derive(Debug, Clone, Copy)]
enum Motion {
    /// Nothing was measured yet, or the clock jumped: hold what is measured next.
    Start,
    /// Hold the last command.
    Hold,
    /// Slow down from the last command.
    Brake,
    /// Follow a path.
    Follow {
        start: Option<Time>,
        /// Whether it comes from a goal, not from a stream of references.
        is_goal: bool,
        /// Time at which it was entered, relative to its start. [s]
        entered: Option<f64>,
        pace: Pace,
    },
}

/// Why no trajectory has a state at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum NotFollowed {
    /// The joints hold.
    #[error("no trajectory is followed")]
    NoTrajectory,
    /// The instant is earlier than the first update with the trajectory.
    #[error("the trajectory began later than that")]
    Before,
    /// The instant is later than the last point.
    #[error("the trajectory ends earlier than that")]
    After,
}

impl JointTrajectoryMachine {
    /// Machine at rest that waits for the first measurement.
    pub fn new(settings: GroupSettings) -> Self {
        let none = vec![JointSample::default(); settings.joints.len()];
        Self {
            continuous: settings.joints.iter().map(|j| j.continuous).collect(),
            settings,
            motion: Motion::Start,
            path: Path::default(),
            limits: Limits::default(),
            goal: None,
            next_goal: 1,
            last: None,
            interval: 0.0,
            desired: none.clone(),
            actual: none.clone(),
            error: none.clone(),
            command: none.clone(),
            previous: none.clone(),
            entry: none,
            waiting: None,
            not_following: None,
            restarted: false,
        }
    }

    /// The settings in force.
    pub fn settings(&self) -> &GroupSettings {
        &self.settings
    }

    /// The settings, for live parameters; they count from the next goal or update on. The list of joints must
    /// keep its order and length.
    pub fn settings_mut(&mut self) -> &mut GroupSettings {
        &mut self.settings
    }

    /// Desired state at the last update. (n)
    pub fn desired(&self) -> &[JointSample] {
        &self.desired
    }

    /// Measured state at the last update; accelerations by difference. (n)
    pub fn actual(&self) -> &[JointSample] {
        &self.actual
    }

    /// Desired minus measured; the shortest angle for continuous joints. (n)
    pub fn error(&self) -> &[JointSample] {
        &self.error
    }

    /// Desired state one period after the last update. (n)
    pub fn command(&self) -> &[JointSample] {
        &self.command
    }

    /// The tolerance that the active goal does not meet after its last point: joint, error and limit.
    pub fn waiting_for(&self) -> Option<Shortfall> {
        self.waiting
    }

    /// Desired state at an instant of the trajectory that is followed. (n)
    ///
    /// # Errors
    ///
    /// If nothing is followed, or the instant lies before its start or after its end.
    pub fn state_at(&self, at: Time, state: &mut [JointSample]) -> Result<(), NotFollowed> {
        let Motion::Follow { start: Some(start), entered: Some(entered), .. } = self.motion else {
            return Err(NotFollowed::NoTrajectory);
        };
        let t = at.seconds_since(start);
        if t < entered {
            return Err(NotFollowed::Before);
        }
        if t > self.path.duration() {
            return Err(NotFollowed::After);
        }
        let entry = Entry { time: entered, states: &self.entry };
        self.path.sample(t, entry, self.settings.interpolation, state);
        Ok(())
    }

    /// Accepts an action goal, which replaces the active motion; returns the preempted goal's result.
    ///
    /// # Errors
    ///
    /// If the goal is invalid; the active motion continues.
    pub fn accept_goal(
        &mut self,
        goal: &Goal,
        now: Time,
    ) -> Result<(GoalId, Option<FinishedGoal>), GoalError> {
        let mut prepared = self.prepare()?.prepare_goal(GoalId(self.next_goal), goal, now)?;
        let id = GoalId(self.next_goal);
        self.next_goal += 1;
        Ok((id, self.follow(&mut prepared)))
    }

    /// Accepts a trajectory from the topic, which replaces the active motion; returns the preempted goal's result.
    ///
    /// # Errors
    ///
    /// If the trajectory is invalid; the active motion continues.
    pub fn accept_topic(
        &mut self,
        trajectory: &JointTrajectory,
        now: Time,
    ) -> Result<Option<FinishedGoal>, GoalError> {
        let mut prepared = self.prepare()?.prepare_topic(trajectory, now)?;
        Ok(self.follow(&mut prepared))
    }

    fn prepare(&self) -> Result<&GroupSettings, GoalError> {
        if self.last.is_none() { Err(GoalError::NoState) } else { Ok(&self.settings) }
    }

    /// Follows what was prepared, from the next update on, in place of what runs. Nothing is allocated or freed: the memory of
    /// what ran is left in `prepared`. Returns the preempted goal's result.
    pub fn follow(&mut self, prepared: &mut Prepared) -> Option<FinishedGoal> {
        core::mem::swap(&mut self.path, &mut prepared.path);
        // Joints that the new trajectory leaves out stay where they are commanded now.
        self.path.hold(&self.command);
        let outcome = if prepared.goal.is_some() { Outcome::Preempted } else { Outcome::Replaced };
        // Before the new goal is noted: `finish` takes the active one.
        let preempted = self.finish(outcome);
        if let Some((id, limits)) = &mut prepared.goal {
            core::mem::swap(&mut self.limits, limits);
            self.goal = Some(*id);
        }
        let is_goal = prepared.goal.is_some();
        self.motion =
            Motion::Follow { start: prepared.start, is_goal, entered: None, pace: Pace::FULL };
        self.waiting = None;
        preempted
    }

    /// Cancels a goal: brakes or holds. `None` if it is not active.
    pub fn cancel(&mut self, id: GoalId) -> Option<FinishedGoal> {
        // A cancel that was under way while another goal came is not meant for that one.
        self.goal.filter(|goal| *goal == id)?;
        let lacking = self.waiting;
        self.stop();
        self.finish(Outcome::Canceled { lacking })
    }

    /// Ends what runs: brakes or holds.
    pub fn deactivate(&mut self) -> Option<FinishedGoal> {
        self.stop();
        self.finish(Outcome::Deactivated)
    }

    /// Ends what runs, as nothing was measured for too long: the next update holds what it measures.
    pub fn lose_state(&mut self) -> Option<FinishedGoal> {
        self.motion = Motion::Start;
        self.finish(Outcome::StateLost)
    }

    /// Restarts from the measured state, as the robot was moved while time stood still or was set back.
    pub fn restart(&mut self) -> Option<FinishedGoal> {
        self.last = None;
        self.motion = Motion::Start;
        self.finish(Outcome::ClockJumpedBack)
    }

    /// Lets a joint that is held press with an effort [N·m or N] beyond what its place takes: by a target ahead of that place,
    /// as far as the limits allow it for a drive of this stiffness [N·m/rad or N/m], and for the rest by the effort itself.
    pub(crate) fn press(&mut self, joint: usize, effort: f64, stiffness: f64) {
        let (settings, command) = (&self.settings.joints[joint], &mut self.command[joint]);
        let held = command.position;
        // The servo turns a target ahead by τ/K into the effort τ; what the limits cut off is fed forward.
        if stiffness > 0.0 {
            // From where it is held: a joint that stands beyond a limit is not moved by its limits.
            let (lower, upper) = (settings.lower.min(held), settings.upper.max(held));
            command.position = (held + effort / stiffness).clamp(lower, upper);
        }
        command.effort = effort - stiffness * (command.position - held);
    }

    /// The joint that was found not to follow its command in the last update, from which this machine has restarted.
    pub fn not_following(&self) -> Option<Shortfall> {
        self.not_following
    }

    /// Whether the last update began by holding what was measured, whatever was commanded before.
    pub fn has_restarted(&self) -> bool {
        self.restarted
    }

    /// One tick: `position` and `velocity` are measured at `now`; the command is for `now + dt`. [s] (n)
    ///
    /// Returns the goal that ended in this tick. A clock that jumped back ends the goal and holds. An equal time
    /// changes nothing.
    pub fn update(
        &mut self,
        now: Time,
        dt: f64,
        position: &[f64],
        velocity: &[f64],
    ) -> Option<FinishedGoal> {
        let mut finished = None;
        self.restarted = false;
        match self.last {
            // A paused simulation repeats its stamp: an equal sample has an equal answer.
            Some(last) if now == last => return None,
            // A reset: what was planned belongs to another time.
            Some(last) if now < last => finished = self.restart(),
            _ => {}
        }
        self.measure(now, position, velocity);
        self.delay(now, dt);
        self.last = Some(now);
        if matches!(self.motion, Motion::Start) {
            self.start(position);
        }
        // Before the sample: what was commanded for now is what the robot is held against, and what the limits count from.
        self.previous.copy_from_slice(&self.command);
        let phase = self.sample(now, dt);
        self.compare();
        self.not_following = self.find_not_following(phase);
        if let Some(shortfall) = self.not_following {
            // Held where it is found: going on would pull it back as soon as what blocks it gives way.
            finished = self.finish(Outcome::NotFollowing(shortfall)).or(finished);
            self.start(position);
            self.previous.copy_from_slice(&self.command);
            self.desired.copy_from_slice(&self.command);
        } else if let Some(outcome) = self.judge(phase) {
            if outcome.status() == GoalStatus::Aborted {
                // The command of this tick is not the trajectory's any more.
                self.command.copy_from_slice(&self.previous);
                self.stop();
                self.sample(now, dt);
            }
            finished = self.finish(outcome);
        }
        // Last of all, so that nothing above can ask for more than a joint has.
        self.limit_speed(dt);
        self.limit_position();
        finished
    }

    /// Delays the active trajectory by the time without commands, and by what it still lacks of its pace after that.
    fn delay(&mut self, now: Time, dt: f64) {
        let Some(last) = self.last else { return };
        let elapsed = now.seconds_since(last);
        // The interval before as well: a driver that samples rarely is not interrupted all the time.
        let period = dt.max(core::mem::replace(&mut self.interval, elapsed));
        let Motion::Follow { start: Some(start), is_goal, entered, pace } = &mut self.motion else {
            return;
        };
        if now <= *start || elapsed <= INTERRUPTION.max(INTERRUPTED_PERIODS * period) {
            let (passed, after) = pace.advance(elapsed);
            // The start moves with the delay, so the path itself stays a function of the time since its start.
            if passed < elapsed {
                *start = start.plus_seconds(elapsed - passed);
            }
            *pace = after;
            return;
        }
        // The last command was for `last + dt`: the path is delayed by the time since then.
        let commanded = last.plus_seconds(dt).max(*start);
        // The robot may have coasted, or been stopped, meanwhile: of a goal the nearest instant of its path in the gap
        // is where the motion is taken up; a stream has no path to look along and is only delayed.
        let gap = now.seconds_since(commanded).max(0.0);
        let Some(entered) = entered.filter(|_| *is_goal) else {
            *start = start.plus_seconds(gap);
            return;
        };
        let entry = Entry { time: entered, states: &self.entry };
        let (path, desired, settings) = (&self.path, &mut self.desired, &self.settings);
        let (actual, continuous) = (&self.actual, &self.continuous);
        let from = commanded.seconds_since(*start);
        let t = pace::nearest(from, gap, |t| {
            path.sample(t, entry, settings.interpolation, desired);
            let joints = settings.joints.iter().enumerate();
            let errors = joints.map(|(j, joint)| {
                let error = distance(&actual[j], &desired[j], continuous[j]);
                // By the joint's speed: a distance counts by the time that it takes.
                (error / joint.speed_scale()).powi(2)
            });
            errors.sum()
        });
        // The last instant that the search tried need not be the nearest.
        path.sample(t, entry, settings.interpolation, desired);
        *pace = Pace::of(desired, actual, &settings.joints);
        // From now on the time along the path is t, whatever has passed meanwhile.
        *start = now.plus_seconds(-t);
    }

    /// Holds a measured position.
    fn start(&mut self, position: &[f64]) {
        for (command, &position) in self.command.iter_mut().zip(position) {
            *command = JointSample::at_rest(position);
        }
        self.motion = Motion::Hold;
        self.restarted = true;
    }

    /// First joint that is not where it was commanded for now. The trajectory does not count: it may ask for more speed than
    /// a joint has.
    fn find_not_following(&self, phase: Option<(Phase, f64)>) -> Option<Shortfall> {
        let tolerance = self.settings.following_tolerance;
        let time = phase.map_or(0.0, |(_, time)| time);
        let joints = self.settings.joints.iter().enumerate();
        joints.filter(|_| tolerance > 0.0).find_map(|(joint, settings)| {
            // A drive at its largest effort is τ_max/K behind its command: up to twice that a load explains the error, not an obstacle.
            let limit = tolerance + 2.0 * settings.saturation_error;
            let error = self.distance(joint, &self.previous[joint]);
            let quantity = Quantity::Position;
            (error.abs() > limit).then_some(Shortfall { joint, quantity, error, limit, time })
        })
    }

    fn finish(&mut self, outcome: Outcome) -> Option<FinishedGoal> {
        self.waiting = None;
        self.goal.take().map(|id| FinishedGoal { id, outcome })
    }

    /// Brakes if anything moves and may brake, else holds.
    fn stop(&mut self) {
        // What holds or brakes already goes on with that.
        if matches!(self.motion, Motion::Follow { .. }) {
            self.motion = Motion::Brake;
        }
    }

    fn measure(&mut self, now: Time, position: &[f64], velocity: &[f64]) {
        let dt = self.last.map_or(0.0, |last| now.seconds_since(last));
        for (actual, (&p, &v)) in self.actual.iter_mut().zip(position.iter().zip(velocity)) {
            // Nothing measures it; the difference is for tolerances and messages.
            let acceleration = if dt > 0.0 { (v - actual.velocity) / dt } else { 0.0 };
            *actual = JointSample { position: p, velocity: v, acceleration, effort: 0.0 };
        }
    }

    /// Fills `desired` (now) and `command` (now + dt).
    fn sample(&mut self, now: Time, dt: f64) -> Option<(Phase, f64)> {
        match &mut self.motion {
            Motion::Start | Motion::Hold => {
                for command in &mut self.command {
                    // Position and effort stay: what a held hand presses with is part of its command.
                    *command = JointSample { velocity: 0.0, acceleration: 0.0, ..*command };
                }
                self.desired.copy_from_slice(&self.command);
                None
            }
            Motion::Brake => {
                self.desired.copy_from_slice(&self.command);
                let mut moving = false;
                for (command, joint) in self.command.iter_mut().zip(&self.settings.joints) {
                    moving |= brake(command, joint, dt);
                }
                // All joints brake by their own limits, so the path is left: the shortest stop, not the same line.
                if !moving {
                    self.motion = Motion::Hold;
                }
                None
            }
            Motion::Follow { start, is_goal, entered, pace } => {
                let path = &mut self.path;
                // A trajectory without a stamp begins with the first update that follows it.
                let start = *start.get_or_insert(now);
                let t = now.seconds_since(start);
                if entered.is_none() {
                    let from = if self.settings.interpolate_from_desired_state {
                        &self.command
                    } else {
                        &self.actual
                    };
                    path.enter(t, from, &self.continuous);
                    // A stream's next point comes in a tick: only a goal's one point is reached at rest.
                    if *is_goal && self.settings.interpolation == Interpolation::Splines {
                        path.settle(t, from, |j| self.settings.joints[j].max_velocity);
                    }
                    *entered = Some(t);
                    self.entry.copy_from_slice(from);
                }
                let entry = Entry { time: entered.unwrap_or(t), states: &self.entry };
                let interpolation = self.settings.interpolation;
                let phase = path.sample(t, entry, interpolation, &mut self.desired);
                pace.apply(&mut self.desired);
                // The command is for the end of the period, where the robot will be when it is carried out.
                let (ahead, after) = pace.advance(dt);
                path.sample(t + ahead, entry, interpolation, &mut self.command);
                after.apply(&mut self.command);
                // Along the path the time since its start, at the goal the time since its end, as tolerances are stated.
                let time = if phase == Phase::After { t - path.duration() } else { t };
                Some((phase, time))
            }
        }
    }

    /// Distance from the measured position of a joint to another sample; the shortest angle for continuous joints.
    fn distance(&self, joint: usize, to: &JointSample) -> f64 {
        distance(&self.actual[joint], to, self.continuous[joint])
    }

    fn compare(&mut self) {
        for j in 0..self.error.len() {
            let (desired, actual) = (&self.desired[j], &self.actual[j]);
            self.error[j] = JointSample {
                position: self.distance(j, desired),
                velocity: desired.velocity - actual.velocity,
                acceleration: desired.acceleration - actual.acceleration,
                // Efforts are commanded and not followed: they have no error.
                effort: 0.0,
            };
        }
    }

    fn judge(&mut self, phase: Option<(Phase, f64)>) -> Option<Outcome> {
        // A stream has no tolerances: its next point replaces what this one asks.
        self.goal?;
        let (limits, (phase, time)) = (&self.limits, phase?);
        // The goal's tolerances count only at the end of the path, the path's only until then.
        if phase != Phase::After {
            return shortfall(&self.error, &limits.path_tolerance, time)
                .map(Outcome::PathTolerance);
        }
        self.waiting = shortfall(&self.error, &limits.goal_tolerance, time);
        match self.waiting {
            None => Some(Outcome::Reached),
            Some(s) if limits.goal_time > 0.0 && time > limits.goal_time => {
                Some(Outcome::GoalTolerance(s))
            }
            Some(_) => None,
        }
    }

    /// Keeps every command within its joint's limits, whatever a trajectory does between its points. A command beyond them, as of
    /// a robot that was found there, comes back at its own pace.
    fn limit_position(&mut self) {
        for (j, command) in self.command.iter_mut().enumerate() {
            let (joint, previous) = (&self.settings.joints[j], self.previous[j].position);
            let (lower, upper) = (joint.lower.min(previous), joint.upper.max(previous));
            if command.position < lower || command.position > upper {
                let position = command.position.clamp(lower, upper);
                *command = JointSample { effort: command.effort, ..JointSample::at_rest(position) };
            }
        }
    }

    /// Limits the step from the last command by the joint's speed limit. A command that catches up has the velocity of what it
    /// catches up with: the drive's damper does not kick it along.
    fn limit_speed(&mut self, dt: f64) {
        for (j, command) in self.command.iter_mut().enumerate() {
            let previous = self.previous[j].position;
            let reach = self.settings.joints[j].max_velocity * dt;
            let step = command.position - previous;
            // A thousandth above the limit is rounding of the trajectory, not a jump.
            if step.abs() > reach * 1.001 {
                let limit = self.settings.joints[j].max_velocity;
                let velocity = command.velocity.clamp(-limit, limit);
                *command = JointSample {
                    position: previous + step.signum() * reach,
                    velocity,
                    acceleration: 0.0,
                    effort: command.effort,
                };
            }
        }
    }
}

/// Distance from one position to another; the shortest angle for a continuous joint.
fn distance(from: &JointSample, to: &JointSample, continuous: bool) -> f64 {
    let (from, to) = (from.position, to.position);
    if continuous { shortest_angle(from, to) } else { to - from }
}

/// One period of braking to rest with the joint's deceleration and jerk; true while it still moves.
fn brake(command: &mut JointSample, joint: &JointSettings, dt: f64) -> bool {
    let (v, a) = (command.velocity, command.acceleration);
    let (largest, jerk) = (joint.max_deceleration_on_cancel, joint.max_jerk_on_cancel);
    let at_rest = JointSample { velocity: 0.0, acceleration: 0.0, ..*command };
    // So near to rest that one more period of jerk may carry it past.
    if largest <= 0.0 || v.abs() <= jerk * dt * dt && a.abs() <= 2.0 * jerk * dt {
        *command = at_rest;
        return false;
    }
    // The most from which the jerk can still bring deceleration and speed to zero together: v = a²/2j.
    let desired = -v.signum() * largest.min((2.0 * jerk * v.abs()).sqrt());
    let next = a + (desired - a).clamp(-jerk * dt, jerk * dt);
    let lower = joint.lower.min(command.position);
    let upper = joint.upper.max(command.position);
    // Acceleration is linear over the period: Δv = dt (a + a')/2, Δp = dt v + dt² (2a + a')/6.
    *command = JointSample {
        position: command.position + dt * (v + dt * (2.0 * a + next) / 6.0),
        velocity: v + 0.5 * dt * (a + next),
        acceleration: next,
        ..*command
    };
    if (lower..=upper).contains(&command.position) {
        return true;
    }
    // A joint that reaches a limit stops there at once.
    *command = JointSample { position: command.position.clamp(lower, upper), ..at_rest };
    false
}

/// The first error above its limit.
fn shortfall(errors: &[JointSample], limits: &[Tolerance], time: f64) -> Option<Shortfall> {
    errors.iter().zip(limits).enumerate().find_map(|(joint, (error, limit))| {
        let checks = [
            (Quantity::Position, error.position, limit.position),
            (Quantity::Velocity, error.velocity, limit.velocity),
            (Quantity::Acceleration, error.acceleration, limit.acceleration),
        ];
        checks
            .into_iter()
            .find(|(_, error, limit)| *limit > 0.0 && (error.is_nan() || error.abs() > *limit))
            .map(|(quantity, error, limit)| Shortfall { joint, quantity, error, limit, time })
    })
}

#[cfg(test)]
mod tests;
