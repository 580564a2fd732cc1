//! Action servers, spoken over the protocol's three services and two topics.
//!
//! The client library's own server never expires goals and never reports CANCELED, so this one talks the protocol:
//! `<name>/_action/{send_goal, get_result, cancel_goal}` and the topics `feedback` and `status`.
//!
//! | state | next |
//! |---|---|
//! | EXECUTING | CANCELING, SUCCEEDED, ABORTED, CANCELED (over CANCELING) |
//! | CANCELING | CANCELED, SUCCEEDED, ABORTED |
//!
//! Results are kept for 10 s after the end.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use karakuri_spatial::Time;

use crate::{
    Action, Clock, IntoMessage, Node, Publisher, Request, RosError,
    msg::{
        action_msgs::{
            msg::{GoalInfo, GoalStatus, GoalStatusArray},
            srv::CancelGoal,
        },
        unique_identifier_msgs::msg::UUID,
    },
    qos, time_from_message, warn,
};

/// Time after a goal's end during which its result can be asked for.
const RESULT_LIFE: Duration = Duration::from_secs(10);

/// Status numbers of `action_msgs/msg/GoalStatus`.
pub(crate) mod status {
    pub(crate) const UNKNOWN: i8 = 0;
    pub(crate) const EXECUTING: i8 = 2;
    pub(crate) const CANCELING: i8 = 3;
    pub(crate) const SUCCEEDED: i8 = 4;
    pub(crate) const CANCELED: i8 = 5;
    pub(crate) const ABORTED: i8 = 6;
}

/// Return codes of `action_msgs/srv/CancelGoal`.
pub(crate) mod cancel_code {
    pub(crate) const NONE: i8 = 0;
    pub(crate) const REJECTED: i8 = 1;
    pub(crate) const UNKNOWN_GOAL: i8 = 2;
    pub(crate) const TERMINATED: i8 = 3;
}

type Id = Vec<u8>;

/// Goals of a server, with the publishers of their feedback and status.
struct Goals<A: Action> {
    by_id: BTreeMap<Id, Goal<A>>,
    /// Goals that are neither accepted nor rejected yet, with what clients have sent again meanwhile.
    undecided: BTreeMap<Id, Vec<Request<A::SendGoal>>>,
    feedback: Publisher<A::FeedbackMessage>,
    status: Publisher<GoalStatusArray>,
    clock: Clock,
    n_accepted: u64,
}

struct Goal<A: Action> {
    /// Position in the order of acceptance.
    number: u64,
    stamp: Time,
    status: i8,
    cancelable: Arc<AtomicBool>,
    result: Option<A::Result>,
    ended: Option<Instant>,
    waiting: Vec<Request<A::GetResult>>,
}

type Shared<A> = Arc<Mutex<Goals<A>>>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Goal that a client asks for: accept or reject it. Dropping it rejects.
pub struct GoalRequest<A: Action> {
    goal: A::Goal,
    id: Id,
    request: Option<Request<A::SendGoal>>,
    goals: Shared<A>,
    action: Arc<str>,
}

impl<A: Action> fmt::Debug for GoalRequest<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GoalRequest")
            .field("action", &self.action)
            .field("goal", &self.goal)
            .finish_non_exhaustive()
    }
}

impl<A: Action> GoalRequest<A> {
    /// The requested goal.
    pub fn goal(&self) -> &A::Goal {
        &self.goal
    }

    /// Accepts the goal, which executes from now on. The handle must be ended with a result.
    pub fn accept(mut self) -> ActiveGoal<A> {
        let cancelable = Arc::new(AtomicBool::new(true));
        let mut goals = lock(&self.goals);
        let stamp = goals.clock.now();
        goals.n_accepted += 1;
        let goal = Goal {
            number: goals.n_accepted,
            stamp,
            status: status::EXECUTING,
            cancelable: Arc::clone(&cancelable),
            result: None,
            ended: None,
            waiting: Vec::new(),
        };
        goals.by_id.insert(self.id.clone(), goal);
        for request in self.request.take().into_iter().chain(goals.decided(&self.id)) {
            request.respond(A::make_goal_response_msg(true, stamp.to_message()));
        }
        goals.publish_status();
        drop(goals);
        ActiveGoal {
            goal: std::mem::take(&mut self.goal),
            id: std::mem::take(&mut self.id),
            stamp,
            cancelable,
            goals: Arc::clone(&self.goals),
            ended: false,
        }
    }

    /// Rejects the goal; the reason goes to the log, the protocol has no place for it.
    pub fn reject(self, reason: impl fmt::Display) {
        warn!("action `{}`: goal rejected: {reason}", self.action);
    }
}

impl<A: Action> Drop for GoalRequest<A> {
    fn drop(&mut self) {
        if let Some(request) = self.request.take() {
            let mut goals = lock(&self.goals);
            let stamp = goals.clock.now().to_message();
            for request in std::iter::once(request).chain(goals.decided(&self.id)) {
                request.respond(A::make_goal_response_msg(false, stamp.clone()));
            }
        }
    }
}

/// A goal under execution. Ends by exactly one of `succeed`, `abort` and `cancel`, each of which consumes it; dropping
/// it aborts the goal with a default result. It may move to another thread.
#[must_use = "dropping an active goal aborts it"]
pub struct ActiveGoal<A: Action> {
    goal: A::Goal,
    id: Id,
    stamp: Time,
    cancelable: Arc<AtomicBool>,
    goals: Shared<A>,
    ended: bool,
}

impl<A: Action> fmt::Debug for ActiveGoal<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActiveGoal").field("goal", &self.goal).finish_non_exhaustive()
    }
}

impl<A: Action> ActiveGoal<A> {
    /// The goal to execute.
    pub fn goal(&self) -> &A::Goal {
        &self.goal
    }

    /// Instant of acceptance, in ROS time.
    pub fn stamp(&self) -> Time {
        self.stamp
    }

    /// Whether a client asks to cancel: bring the motion to rest, then call [`ActiveGoal::cancel`].
    pub fn is_canceling(&self) -> bool {
        lock(&self.goals).by_id.get(&self.id).is_some_and(|goal| goal.status == status::CANCELING)
    }

    /// Sets whether cancel requests are accepted from now on; they are at first.
    pub fn set_cancelable(&self, cancelable: bool) {
        self.cancelable.store(cancelable, Ordering::Release);
    }

    /// Sends feedback on the progress to the client.
    pub fn publish_feedback(&self, feedback: A::Feedback) {
        let publisher = lock(&self.goals).feedback.clone();
        publisher.publish(&A::make_feedback_msg(UUID { uuid: self.id.clone() }, feedback));
    }

    /// Ends the goal as SUCCEEDED.
    pub fn succeed(mut self, result: A::Result) {
        self.end(status::SUCCEEDED, result);
    }

    /// Ends the goal as ABORTED: the server could not reach it.
    pub fn abort(mut self, result: A::Result) {
        self.end(status::ABORTED, result);
    }

    /// Ends the goal as CANCELED, on a client's request or, as for a preempted goal, on the server's own.
    pub fn cancel(mut self, result: A::Result) {
        {
            let mut goals = lock(&self.goals);
            let executing =
                goals.by_id.get_mut(&self.id).filter(|goal| goal.status == status::EXECUTING);
            if let Some(goal) = executing {
                goal.status = status::CANCELING;
                goals.publish_status();
            }
        }
        self.end(status::CANCELED, result);
    }

    fn end(&mut self, status: i8, result: A::Result) {
        self.ended = true;
        lock(&self.goals).end(&self.id, status, result);
    }
}

impl<A: Action> Drop for ActiveGoal<A> {
    fn drop(&mut self) {
        if !self.ended {
            self.end(status::ABORTED, A::Result::default());
        }
    }
}

impl<A: Action> Goals<A> {
    fn info(id: &Id, goal: &Goal<A>) -> GoalInfo {
        GoalInfo { goal_id: UUID { uuid: id.clone() }, stamp: goal.stamp.to_message() }
    }

    fn publish_status(&self) {
        let mut all: Vec<_> = self.by_id.iter().collect();
        all.sort_by_key(|(_, goal)| goal.number);
        let status_list = all
            .into_iter()
            .map(|(id, goal)| GoalStatus { goal_info: Self::info(id, goal), status: goal.status })
            .collect();
        self.status.publish(&GoalStatusArray { status_list });
    }

    /// Keeps a goal that was sent again while it is undecided; `None` then.
    fn undecided(
        &mut self,
        id: &Id,
        request: Request<A::SendGoal>,
    ) -> Option<Request<A::SendGoal>> {
        if let Some(again) = self.undecided.get_mut(id) {
            again.push(request);
            return None;
        }
        self.undecided.insert(id.clone(), Vec::new());
        Some(request)
    }

    /// Takes what was sent again for a goal that is decided now.
    fn decided(&mut self, id: &Id) -> Vec<Request<A::SendGoal>> {
        self.undecided.remove(id).unwrap_or_default()
    }

    fn end(&mut self, id: &Id, status: i8, result: A::Result) {
        let Some(goal) = self.by_id.get_mut(id) else { return };
        goal.status = status;
        goal.ended = Some(Instant::now());
        for request in goal.waiting.drain(..) {
            request.respond(A::make_result_response_msg(status, result.clone()));
        }
        goal.result = Some(result);
        self.publish_status();
    }

    fn get_result(&mut self, mut request: Request<A::GetResult>) {
        let id = A::destructure_result_request_msg(request.take()).uuid;
        match self.by_id.get_mut(&id) {
            None => {
                request.respond(A::make_result_response_msg(status::UNKNOWN, A::Result::default()));
            }
            Some(goal) => match &goal.result {
                Some(result) => {
                    request.respond(A::make_result_response_msg(goal.status, result.clone()));
                }
                None => goal.waiting.push(request),
            },
        }
    }

    fn cancel(&mut self, asked: &GoalInfo) -> CancelGoal::Response {
        let selected = select(asked);
        let (mut n_found, mut n_active) = (0, 0);
        let mut response = CancelGoal::Response::default();
        for (id, goal) in &mut self.by_id {
            if !selected(id, goal.stamp) {
                continue;
            }
            n_found += 1;
            if goal.ended.is_some() {
                continue;
            }
            n_active += 1;
            if goal.status == status::CANCELING || goal.cancelable.load(Ordering::Acquire) {
                goal.status = status::CANCELING;
                response.goals_canceling.push(Self::info(id, goal));
            }
        }
        let one_goal = asked.goal_id.uuid.iter().any(|byte| *byte != 0)
            && time_from_message(&asked.stamp) == Time::ZERO;
        response.return_code = match (response.goals_canceling.is_empty(), n_active, n_found) {
            (true, 1.., _) => cancel_code::REJECTED,
            (true, 0, 0) if one_goal => cancel_code::UNKNOWN_GOAL,
            (true, 0, 1..) if one_goal => cancel_code::TERMINATED,
            // All goals were meant, of which there are none.
            _ => cancel_code::NONE,
        };
        response
    }

    /// Drops results that can no longer be asked for; true if there were any.
    fn expire(&mut self) -> bool {
        let before = self.by_id.len();
        self.by_id.retain(|_, goal| goal.ended.is_none_or(|ended| ended.elapsed() < RESULT_LIFE));
        let expired = self.by_id.len() != before;
        if expired {
            self.publish_status();
        }
        expired
    }
}

/// Selection of the goals that a cancel request means: one id, all, or all accepted up to a stamp.
fn select(asked: &GoalInfo) -> impl Fn(&Id, Time) -> bool {
    let id = asked.goal_id.uuid.clone();
    let (any_id, stamp) = (id.iter().all(|byte| *byte == 0), time_from_message(&asked.stamp));
    move |goal_id, goal_stamp| {
        let before = stamp != Time::ZERO && goal_stamp <= stamp;
        let all = any_id && stamp == Time::ZERO;
        all || before || *goal_id == id
    }
}

impl<S: 'static> Node<S> {
    /// Serves an action. Each goal goes to `on_goal`, which accepts or rejects it; what it accepts is kept in the node's
    /// state and driven from there. For an exclusive action end the running goal before accepting the next.
    ///
    /// # Errors
    /// When the middleware refuses a service or a publisher of the action.
    pub fn action_server<A: Action>(
        &mut self,
        name: &str,
        mut on_goal: impl FnMut(&mut S, GoalRequest<A>) + 'static,
    ) -> Result<(), RosError> {
        let goals: Shared<A> = Arc::new(Mutex::new(Goals {
            by_id: BTreeMap::new(),
            undecided: BTreeMap::new(),
            feedback: self.publisher(&format!("{name}/_action/feedback"), qos::state())?,
            status: self.publisher(&format!("{name}/_action/status"), qos::latched())?,
            clock: self.clock().clone(),
            n_accepted: 0,
        }));
        // An empty status tells clients of an earlier server of this name that their goals are gone.
        lock(&goals).publish_status();
        let action: Arc<str> = name.into();

        let shared = Arc::clone(&goals);
        self.service_later::<A::SendGoal>(
            &format!("{name}/_action/send_goal"),
            move |state, mut request| {
                let (id, goal) = A::destructure_goal_request_msg(request.take());
                let id = id.uuid;
                let Some(request) = lock(&shared).undecided(&id, request) else { return };
                let is_duplicate = lock(&shared).by_id.contains_key(&id);
                let (goals, action) = (Arc::clone(&shared), Arc::clone(&action));
                let request = GoalRequest { goal, id, request: Some(request), goals, action };
                if is_duplicate {
                    request.reject("its id was used before");
                } else {
                    on_goal(state, request);
                }
            },
        )?;
        let shared = Arc::clone(&goals);
        self.service_later::<A::GetResult>(
            &format!("{name}/_action/get_result"),
            move |_, request| {
                lock(&shared).get_result(request);
            },
        )?;
        let shared = Arc::clone(&goals);
        self.service_later::<CancelGoal::Service>(
            &format!("{name}/_action/cancel_goal"),
            move |_, request| {
                let response = lock(&shared).cancel(&request.message().goal_info);
                let changed = !response.goals_canceling.is_empty();
                request.respond(response);
                if changed {
                    lock(&shared).publish_status();
                }
            },
        )?;
        self.add_source(move |_| lock(&goals).expire());
        Ok(())
    }
}
