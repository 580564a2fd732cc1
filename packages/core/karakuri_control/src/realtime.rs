//! The controller in two halves that share no lock: the [`Updater`] answers samples, on a thread that does nothing else; the
//! [`Desk`] takes orders and passes on what happened, wherever there is time for checks, messages and memory.
//!
//! Orders go to the updater, and come back carried out, holding what they replaced; reports go to the desk, and come back
//! to be filled again. All of them are made and dropped at the desk, so an update neither allocates nor frees, whatever was
//! ordered. They go through rings with one thread at either end, none of which ever waits for the other (`rtrb`).
//! In lockstep both halves are called in turn by one thread, with the same results in every run.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use karakuri_model::Model;
use karakuri_spatial::{Force, Time};
use rtrb::{Consumer, Producer, PushError, RingBuffer};

use crate::joint_trajectory::{
    FinishedGoal, Goal, GoalError, GoalId, GroupSettings, NotFollowed, Outcome, Prepared, Shortfall,
};
use crate::trajectory::{JointSample, JointTrajectory};
use crate::{
    Command, Controller, ControllerError, FeedforwardController, FeedforwardSettings, GroupEvent,
    PreparedSettings, State, Status, TargetWrench,
};

/// Requests pending at a time.
// A burst of messages between two samples; what finds no room is refused as busy, or waits at the desk.
const N_ORDERS: usize = 256;
/// Reports pending at a time: what is reported of 64 updates may lie unread.
const N_REPORTS: usize = 64;
/// Period of the reports of a joint that is cut at its limit. [s]
const CUT_PERIOD: f64 = 1.0;
/// Stamp of the newest sample before the first one has come.
const NONE: i64 = i64::MIN;

/// A request of the desk. Once carried out it holds the replaced value.
#[derive(Debug)]
enum Order {
    Follow {
        group: usize,
        prepared: Prepared,
    },
    Cancel {
        group: usize,
        id: GoalId,
    },
    Group {
        group: usize,
        settings: GroupSettings,
    },
    Settings(Box<PreparedSettings>),
    TargetWrench {
        point: usize,
        target: TargetWrench,
    },
    MeasuredWrench {
        point: usize,
        wrench: Force,
    },
    /// Reports updates with a period. [s]
    Watch {
        period: f64,
    },
    /// Asks for the desired state at an instant.
    Query(Queried),
}

/// The answer to a query of the trajectory that a group follows.
#[derive(Debug, Clone)]
pub struct Queried {
    /// Index of the group.
    pub group: usize,
    /// The instant that was asked for.
    pub at: Time,
    /// Desired state at that instant; meaningless without one. (n)
    pub state: Vec<JointSample>,
    /// Whether there is one.
    pub found: Result<(), NotFollowed>,
}

/// State of a group in an update.
#[derive(Debug, Clone)]
pub struct GroupReport {
    /// Desired state of its joints. (n)
    pub desired: Vec<JointSample>,
    /// Measured state. (n)
    pub actual: Vec<JointSample>,
    /// Desired minus measured. (n)
    pub error: Vec<JointSample>,
    /// Desired at the next update. (n)
    pub command: Vec<JointSample>,
    /// The tolerance that the active goal does not meet after its last point.
    pub waiting: Option<Shortfall>,
}

/// Status of an update, and events of earlier ones that were not reported.
#[derive(Debug, Clone)]
pub struct Report {
    /// Stamp of the sample.
    pub stamp: Time,
    /// Status; with a joint that was cut or lost, or a time-out, since the last report.
    pub status: Status,
    /// Goals that ended since the last report.
    pub ended: Vec<GroupEvent>,
    /// One a group.
    pub groups: Vec<GroupReport>,
}

impl Report {
    fn new(model: &Model) -> Self {
        let of = |n: usize| vec![JointSample::default(); n];
        let group = |n| GroupReport {
            desired: of(n),
            actual: of(n),
            error: of(n),
            command: of(n),
            waiting: None,
        };
        Self {
            stamp: Time::ZERO,
            status: Status::default(),
            // A request ends one goal at most, an update two a group.
            ended: Vec::with_capacity(N_ORDERS + 2 * model.groups.len()),
            groups: model.groups.iter().map(|g| group(g.joints.len())).collect(),
        }
    }
}

/// The half that answers samples.
#[derive(Debug)]
pub struct Updater {
    controller: FeedforwardController,
    command: Command,
    orders: Consumer<Order>,
    done: Producer<Order>,
    reports: Producer<Box<Report>>,
    blank: Consumer<Box<Report>>,
    newest: Arc<AtomicI64>,
    /// Status since the last report.
    status: Status,
    ended: Vec<GroupEvent>,
    period: f64,
    next_report: Time,
    next_cut: Time,
}

/// The half that takes orders.
#[derive(Debug)]
pub struct Desk {
    model: Arc<Model>,
    orders: Producer<Order>,
    /// Reports that must not be lost and found the ring full.
    waiting: VecDeque<Order>,
    done: Consumer<Order>,
    reports: Consumer<Box<Report>>,
    blank: Producer<Box<Report>>,
    newest: Arc<AtomicI64>,
    settings: FeedforwardSettings,
    groups: Vec<GroupDesk>,
    next_goal: u64,
    period: f64,
    /// Answers to queries that were not taken yet.
    queried: VecDeque<Queried>,
}

/// The desk's view of a group.
#[derive(Debug)]
struct GroupDesk {
    settings: GroupSettings,
    active: Option<GoalId>,
    waiting: Option<Shortfall>,
}

/// The two halves of a controller that was set up. Nothing is reported but what happens, until somebody
/// [watches](Desk::watch).
pub fn split(controller: FeedforwardController) -> (Updater, Desk) {
    let model = Arc::clone(controller.model());
    // Each ring has one writer and one reader, so neither half waits for the other; what the updater has used goes back
    // by the second ring and is freed at the desk.
    let (orders, ordered) = RingBuffer::new(N_ORDERS);
    let (done, carried_out) = RingBuffer::new(N_ORDERS);
    let (reports, reported) = RingBuffer::new(N_REPORTS);
    let (mut blanks, blank) = RingBuffer::new(N_REPORTS);
    // All the reports that there will be: the updater fills blank ones and never makes any.
    for _ in 0..N_REPORTS {
        drop(blanks.push(Box::new(Report::new(&model))));
    }
    let newest = Arc::new(AtomicI64::new(NONE));
    let group = |machine: &crate::Group| GroupDesk {
        settings: machine.machine.settings().clone(),
        active: None,
        waiting: None,
    };
    let desk = Desk {
        orders,
        waiting: VecDeque::new(),
        done: carried_out,
        reports: reported,
        blank: blanks,
        newest: Arc::clone(&newest),
        settings: controller.settings().clone(),
        groups: controller.groups().iter().map(group).collect(),
        next_goal: 1,
        period: f64::INFINITY,
        queried: VecDeque::new(),
        model: Arc::clone(&model),
    };
    let updater = Updater {
        command: Command::new(&model),
        controller,
        orders: ordered,
        done,
        reports,
        blank,
        newest,
        status: Status::default(),
        ended: Report::new(&model).ended,
        period: f64::INFINITY,
        next_report: Time::MIN,
        next_cut: Time::MIN,
    };
    (updater, desk)
}

impl Updater {
    /// Carries out what was ordered, then answers the state measured at `now` for the period `dt` that begins there [s]. True
    /// when there is something at the desk.
    pub fn update(&mut self, state: &State<'_>, now: Time, dt: f64) -> bool {
        // Orders first: what was asked before this sample counts in its answer.
        self.carry_out_orders(now);
        let status = self.controller.update(state, now, dt, &mut self.command);
        // After the update: a stamp at the desk means that its sample has been answered.
        self.newest.store(now.nanoseconds(), Ordering::Release);
        // What happened between two reports stays until one has taken it.
        self.status = Status {
            // Of the last sample; the others are events and must not be overwritten by a sample without one.
            realised: status.realised,
            saturated: self.status.saturated.or(status.saturated),
            was_stale: self.status.was_stale | status.was_stale,
            not_following: self.status.not_following.or(status.not_following),
        };
        self.ended.extend_from_slice(self.controller.events());
        (self.has_news(now) || self.is_watched(now)) && self.report(now)
    }

    /// The answer to the last state.
    pub fn command(&self) -> &Command {
        &self.command
    }

    fn carry_out_orders(&mut self, now: Time) {
        // no room to give them back: they are taken up when the desk has tidied
        for _ in 0..self.done.slots() {
            let Ok(mut order) = self.orders.pop() else { return };
            self.carry_out(&mut order, now);
            drop(self.done.push(order));
        }
    }

    fn carry_out(&mut self, order: &mut Order, now: Time) {
        match order {
            // the desk has ended what is replaced
            Order::Follow { group, prepared } => {
                self.controller.machine_mut(*group).and_then(|m| m.follow(prepared));
            }
            Order::Cancel { group, id } => {
                self.controller.machine_mut(*group).and_then(|m| m.cancel(*id));
            }
            Order::Group { group, settings } => {
                if let Some(machine) = self.controller.machine_mut(*group) {
                    // Swapped, not assigned: the old settings are freed by the desk.
                    core::mem::swap(machine.settings_mut(), settings);
                }
            }
            Order::Settings(prepared) => self.controller.apply(prepared),
            Order::TargetWrench { point, target } => {
                self.controller.set_target_wrench(*point, *target, now);
            }
            Order::MeasuredWrench { point, wrench } => {
                self.controller.set_measured_wrench(*point, *wrench, now);
            }
            Order::Watch { period } => {
                self.period = *period;
                // The first report at once: whoever begins to watch wants the present state.
                self.next_report = now;
            }
            Order::Query(query) => {
                let machine = self.controller.machine_mut(query.group);
                query.found = machine.map_or(Err(NotFollowed::NoTrajectory), |machine| {
                    machine.state_at(query.at, &mut query.state)
                });
            }
        }
    }

    fn has_news(&self, now: Time) -> bool {
        let Status { saturated, was_stale, not_following, .. } = self.status;
        let is_cut = saturated.is_some() && is_due(self.next_cut, CUT_PERIOD, now);
        !self.ended.is_empty() || was_stale || not_following.is_some() || is_cut
    }

    fn is_watched(&self, now: Time) -> bool {
        self.period.is_finite() && is_due(self.next_report, self.period, now)
    }

    /// Reports an update; false when the desk has left all reports unread: then what happened is in the next one.
    fn report(&mut self, now: Time) -> bool {
        let Ok(mut report) = self.blank.pop() else { return false };
        if self.status.saturated.is_some() {
            // A joint at its limit is so for many samples: said at a rate that people read.
            self.next_cut = now.plus_seconds(CUT_PERIOD);
        }
        report.stamp = now;
        report.status = core::mem::take(&mut self.status);
        // Both lists have room for all that can end, and the report's is empty.
        core::mem::swap(&mut report.ended, &mut self.ended);
        for (to, group) in report.groups.iter_mut().zip(self.controller.groups()) {
            let machine = &group.machine;
            to.desired.copy_from_slice(machine.desired());
            to.actual.copy_from_slice(machine.actual());
            to.error.copy_from_slice(machine.error());
            to.command.copy_from_slice(machine.command());
            to.waiting = machine.waiting_for();
        }
        if self.period.is_finite() {
            self.next_report = now.plus_seconds(self.period);
        }
        self.reports.push(report).is_ok()
    }
}

/// Whether it is time for what is due at `next` and every `period` [s]; a clock that jumped back restarts the period.
fn is_due(next: Time, period: f64, now: Time) -> bool {
    // `next` is at most a period ahead, so only a clock that was set back is two before it.
    now >= next || now < next.plus_seconds(-2.0 * period)
}

impl Desk {
    /// Time of the newest sample that was answered; `None` before the first.
    pub fn newest(&self) -> Option<Time> {
        // Pairs with the release in `update`: whoever sees the stamp sees what was answered with it.
        let newest = self.newest.load(Ordering::Acquire);
        (newest != NONE).then_some(Time::from_nanoseconds(newest))
    }

    /// The settings in force, or already requested.
    pub fn settings(&self) -> &FeedforwardSettings {
        &self.settings
    }

    /// The settings of a group's machine, in force or already requested.
    pub fn group_settings(&self, group: usize) -> Option<&GroupSettings> {
        self.groups.get(group).map(|g| &g.settings)
    }

    /// Changes settings, from the next update on.
    ///
    /// # Errors
    ///
    /// If the settings are invalid; those in force stay.
    pub fn set_settings(&mut self, settings: FeedforwardSettings) -> Result<(), ControllerError> {
        let prepared = PreparedSettings::new(&self.model, &self.settings, settings.clone())?;
        // The desk's own view at once, so that a second change before the next update builds on this one.
        self.settings = settings;
        self.send(Order::Settings(Box::new(prepared)));
        Ok(())
    }

    /// Changes the settings of a group's machine, from the next update and goal on. Its joints stay as they are.
    pub fn set_group(&mut self, group: usize, change: impl FnOnce(&mut GroupSettings)) {
        let Some(desk) = self.groups.get_mut(group) else { return };
        change(&mut desk.settings);
        let settings = desk.settings.clone();
        self.send(Order::Group { group, settings });
    }

    /// Takes an action goal: checks it; from the next update on it replaces what runs. The preempted goal's result comes
    /// back.
    ///
    /// # Errors
    /// When no joint state has been received or there is no such group, the command queue is full, or the trajectory
    /// is invalid: joints unknown, doubled or missing, times not increasing, arrays of a wrong length, numbers not
    /// finite.
    pub fn accept_goal(
        &mut self,
        group: usize,
        goal: &Goal,
    ) -> Result<(GoalId, Option<FinishedGoal>), GoalError> {
        let (desk, now) = self.group_at_work(group)?;
        let id = GoalId(self.next_goal);
        let prepared = desk.settings.prepare_goal(id, goal, now)?;
        self.try_send(Order::Follow { group, prepared })?;
        // Counted only now: a goal that was refused uses up no number.
        self.next_goal += 1;
        let desk = &mut self.groups[group];
        desk.waiting = None;
        let preempted = desk.active.replace(id);
        Ok((id, preempted.map(|id| FinishedGoal { id, outcome: Outcome::Preempted })))
    }

    /// Takes a trajectory from the topic; from the next update on it replaces what runs. Returns the result of the goal that
    /// it preempts.
    ///
    /// # Errors
    /// As [`accept_goal`](Self::accept_goal).
    pub fn accept_topic(
        &mut self,
        group: usize,
        trajectory: &JointTrajectory,
    ) -> Result<Option<FinishedGoal>, GoalError> {
        let (desk, now) = self.group_at_work(group)?;
        let prepared = desk.settings.prepare_topic(trajectory, now)?;
        self.try_send(Order::Follow { group, prepared })?;
        let desk = &mut self.groups[group];
        desk.waiting = None;
        let replaced = desk.active.take();
        Ok(replaced.map(|id| FinishedGoal { id, outcome: Outcome::Replaced }))
    }

    fn group_at_work(&self, group: usize) -> Result<(&GroupDesk, Time), GoalError> {
        self.groups.get(group).zip(self.newest()).ok_or(GoalError::NoState)
    }

    /// Cancels a goal: at the next update the group brakes or holds. `None` if it is not active.
    pub fn cancel(&mut self, group: usize, id: GoalId) -> Option<FinishedGoal> {
        let desk = self.groups.get_mut(group)?;
        // Another goal may have taken its place since the client asked.
        desk.active.take_if(|active| *active == id)?;
        let outcome = Outcome::Canceled { lacking: desk.waiting.take() };
        self.send(Order::Cancel { group, id });
        Some(FinishedGoal { id, outcome })
    }

    /// Ends the active goal of a group whose robot is silent: no update will end it. When samples come again, it is not carried on. `None`
    /// if no goal is active.
    pub fn lose_state(&mut self, group: usize) -> Option<FinishedGoal> {
        let desk = self.groups.get_mut(group)?;
        let id = desk.active.take()?;
        desk.waiting = None;
        self.send(Order::Cancel { group, id });
        Some(FinishedGoal { id, outcome: Outcome::StateLost })
    }

    /// Sets the force that a link exerts on its surroundings; it fades unless it is set repeatedly.
    pub fn set_target_wrench(&mut self, point: usize, target: TargetWrench) {
        // A sample without room is dropped: the next one replaces it.
        drop(self.try_send(Order::TargetWrench { point, target }));
    }

    /// Sets the wrench of the surroundings on a link, at its origin, in its axes. [N·m; N]
    pub fn set_measured_wrench(&mut self, point: usize, wrench: Force) {
        drop(self.try_send(Order::MeasuredWrench { point, wrench }));
    }

    /// Asks for the desired state of a group at an instant; the next update answers, and after it
    /// [`next_queried`](Self::next_queried) has the answers in the order of the questions.
    ///
    /// # Errors
    /// When no joint state has been received or there is no such group, or the command queue is full.
    pub fn query(&mut self, group: usize, at: Time) -> Result<(), GoalError> {
        let (desk, _) = self.group_at_work(group)?;
        let state = vec![JointSample::default(); desk.settings.joints.len()];
        let found = Err(NotFollowed::NoTrajectory);
        self.try_send(Order::Query(Queried { group, at, state, found }))
    }

    /// The next answer to a [query](Self::query).
    pub fn next_queried(&mut self) -> Option<Queried> {
        self.tidy();
        self.queried.pop_front()
    }

    /// Sets the period of the reports: 0 reports every update, infinity only those in which something happened. [s]
    pub fn watch(&mut self, period: f64) {
        // As bits, so that NaN, which equals nothing, is not sent again with each call.
        if self.period.to_bits() != period.to_bits() {
            self.period = period;
            self.send(Order::Watch { period });
        }
    }

    /// The next report, if there is one; [`watch`](Self::watch) says how often there is. [Give it back](Self::give_back), and
    /// ask until there is none.
    pub fn next_report(&mut self) -> Option<Box<Report>> {
        self.tidy();
        let mut report = self.reports.pop().ok()?;
        let groups = &mut self.groups;
        // a goal that was cancelled or preempted here has had its result
        report.ended.retain(|event| {
            groups[event.group].active.take_if(|id| *id == event.finished.id).is_some()
        });
        for (desk, group) in groups.iter_mut().zip(&report.groups) {
            desk.waiting = group.waiting.filter(|_| desk.active.is_some());
        }
        Some(report)
    }

    /// Returns a report that was read, to be filled again.
    pub fn give_back(&mut self, mut report: Box<Report>) {
        report.ended.clear();
        // there is room for all that there are
        drop(self.blank.push(report));
    }

    /// Drops what was replaced, keeps what was answered, and sends what waits.
    fn tidy(&mut self) {
        while let Ok(order) = self.done.pop() {
            if let Order::Query(queried) = order {
                self.queried.push_back(queried);
            }
        }
        // What waits longest goes first; what finds no room goes back to the front.
        while let Some(order) = self.waiting.pop_front() {
            if let Err(PushError::Full(order)) = self.orders.push(order) {
                self.waiting.push_front(order);
                break;
            }
        }
    }

    /// Sends what must get through: at once, or when there is room.
    fn send(&mut self, order: Order) {
        self.waiting.push_back(order);
        self.tidy();
    }

    /// Sends what may be refused.
    fn try_send(&mut self, order: Order) -> Result<(), GoalError> {
        self.tidy();
        // What waits was ordered before; passing it would carry out orders out of turn.
        if !self.waiting.is_empty() {
            return Err(GoalError::Busy);
        }
        self.orders.push(order).map_err(|_| GoalError::Busy)
    }
}

#[cfg(test)]
mod tests;
