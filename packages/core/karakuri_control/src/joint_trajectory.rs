//! The machine that runs the joint trajectories of one group of joints.
//!
//! What `joint_trajectory_controller` (`ros2_controllers` 4.42) does, as a struct: goals with tolerances and results,
//! the topic without them, replacement at once with a smooth hand-over, cancel that holds or brakes. Each
//! [`update`](JointTrajectoryMachine::update) is given the time, the measured state and the period, and leaves in the
//! machine the desired state (at `now`), the error, and the command (at `now + dt`).
//!
//! Where it differs, on purpose:
//! * interpolation starts from the desired state (`interpolate_from_desired_state: true`), so a command never steps by the
//!   tracking error;
//! * a command moves at most at the joint's speed limit, whatever a trajectory asks;
//! * a trajectory of one point on the topic (a stream) may end with a velocity: the next point follows in a tick;
//! * a goal that waits for its tolerances can say which joint lacks what ([`JointTrajectoryMachine::waiting_for`]),
//!   also with `goal_time: 0`, which waits for ever;
//! * efforts are accepted: they are added to the feed-forward.
//!
//! Units: rad or m, s, N·m or N. Arrays have one entry a joint of the group.

mod goal;
mod settings;
mod validate;

pub use goal::{
    ErrorCode, FinishedGoal, Goal, GoalId, GoalStatus, JointTolerance, Outcome, Quantity, Shortfall,
};
pub use settings::{GroupSettings, JointSettings, Tolerance};
pub use validate::GoalError;

use crate::trajectory::{Interpolation, JointSample, JointTrajectory, Path, Phase, shortest_angle};
use crate::Time;
use goal::ActiveGoal;

/// Runs the trajectories of one group of joints.
#[derive(Debug, Clone)]
pub struct JointTrajectoryMachine {
    settings: GroupSettings,
    continuous: Vec<bool>,
    motion: Motion,
    goal: Option<ActiveGoal>,
    next_goal: u64,
    /// Time of the last update.
    last: Option<Time>,
    desired: Vec<JointSample>,
    actual: Vec<JointSample>,
    error: Vec<JointSample>,
    command: Vec<JointSample>,
    scratch: Vec<JointSample>,
    speed_limited: bool,
    waiting: Option<Shortfall>,
}

/// What the machine does at present.
#[derive(Debug, Clone)]
enum Motion {
    /// Nothing was measured yet, or the clock jumped: hold what is measured next.
    Start,
    /// Hold the last command.
    Hold,
    /// Slow down from the last command at a constant rate.
    Brake,
    /// Follow a path.
    Follow { start: Option<Time>, entered: Option<Entry>, path: Path, from_topic: bool },
}

/// Where a path was entered.
#[derive(Debug, Clone)]
struct Entry {
    /// Relative to the path's start. [s]
    time: f64,
    state: Vec<JointSample>,
}

impl JointTrajectoryMachine {
    /// At rest, waiting for the first measurement.
    pub fn new(settings: GroupSettings) -> Self {
        let none = vec![JointSample::default(); settings.joints.len()];
        Self {
            continuous: settings.joints.iter().map(|j| j.continuous).collect(),
            settings,
            motion: Motion::Start,
            goal: None,
            next_goal: 1,
            last: None,
            desired: none.clone(),
            actual: none.clone(),
            error: none.clone(),
            command: none.clone(),
            scratch: none,
            speed_limited: false,
            waiting: None,
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

    /// Desired minus measured; the short way for joints that turn without end. (n)
    pub fn error(&self) -> &[JointSample] {
        &self.error
    }

    /// What to reach one period after the last update. (n)
    pub fn command(&self) -> &[JointSample] {
        &self.command
    }

    /// True when a trajectory asked for more speed than a joint has, and the command lags behind it.
    pub fn is_speed_limited(&self) -> bool {
        self.speed_limited
    }

    /// The goal under way.
    pub fn active_goal(&self) -> Option<GoalId> {
        self.goal.as_ref().map(|g| g.id)
    }

    /// What the goal under way still lacks after its last point: joint, error and limit.
    pub fn waiting_for(&self) -> Option<Shortfall> {
        self.waiting
    }

    /// Takes an action goal: checks it, replaces what runs. The preempted goal's result comes back.
    pub fn accept_goal(&mut self, goal: &Goal, now: Time) -> Result<(GoalId, Option<FinishedGoal>), GoalError> {
        let order = validate::check(&goal.trajectory, &self.settings, now, false)?;
        let preempted = self.finish(Outcome::Preempted);
        let id = GoalId(self.next_goal);
        self.next_goal += 1;
        self.goal = Some(ActiveGoal::new(id, goal, &self.settings));
        self.follow(&goal.trajectory, &order, false);
        Ok((id, preempted))
    }

    /// Takes a trajectory from the topic. A goal under way goes on and is judged against the new trajectory.
    pub fn accept_topic(&mut self, trajectory: &JointTrajectory, now: Time) -> Result<(), GoalError> {
        let order = validate::check(trajectory, &self.settings, now, true)?;
        self.follow(trajectory, &order, true);
        Ok(())
    }

    /// Checks a goal as [`accept_goal`](Self::accept_goal) would, without taking it.
    pub fn check_goal(&self, trajectory: &JointTrajectory, now: Time) -> Result<(), GoalError> {
        validate::check(trajectory, &self.settings, now, false).map(|_| ())
    }

    /// Cancels a goal: brakes or holds. `None` when it is not under way (any more).
    pub fn cancel(&mut self, id: GoalId) -> Option<FinishedGoal> {
        self.goal.as_ref().filter(|g| g.id == id)?;
        self.stop();
        self.finish(Outcome::Canceled { lacking: self.waiting })
    }

    /// Ends what runs (the controller is deactivated, the state is stale): brakes or holds.
    pub fn deactivate(&mut self) -> Option<FinishedGoal> {
        self.stop();
        self.finish(Outcome::Deactivated)
    }

    /// One tick: `position` and `velocity` are measured at `now`; the command is for `now + dt`. [s] (n)
    ///
    /// Returns the goal that ended in this tick. A clock that jumped back ends the goal and holds. An equal time
    /// changes nothing.
    pub fn update(&mut self, now: Time, dt: f64, position: &[f64], velocity: &[f64]) -> Option<FinishedGoal> {
        let mut finished = None;
        match self.last {
            Some(last) if now == last => return None,
            Some(last) if now < last => {
                self.motion = Motion::Start;
                finished = self.finish(Outcome::ClockJumpedBack);
            }
            _ => {}
        }
        self.measure(now, position, velocity);
        self.last = Some(now);
        if matches!(self.motion, Motion::Start) || !self.is_started() {
            self.start_from_measurement();
        }
        let phase = self.sample(now, dt);
        self.compare();
        if let Some(outcome) = self.judge(now, phase) {
            if outcome.status() == GoalStatus::Aborted {
                // The command of this tick stays the previous one's continuation.
                self.stop();
                self.sample(now, dt);
            }
            finished = self.finish(outcome);
        }
        self.limit_speed(dt);
        finished
    }

    fn is_started(&self) -> bool {
        self.command.iter().all(|c| c.position.is_finite()) && self.speed_reference_is_set()
    }

    fn speed_reference_is_set(&self) -> bool {
        !self.command.is_empty()
    }
}
