//! Action clients that a control loop can poll.

use std::{
    fmt,
    hash::{BuildHasher, RandomState},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use r2r::WrappedServiceTypeSupport;

use crate::{
    Action, Node, RosError, Service,
    action_server::status,
    direct::NodeWaker,
    msg::{
        action_msgs::{
            msg::{GoalInfo, GoalStatusArray},
            srv::CancelGoal,
        },
        unique_identifier_msgs::msg::UUID,
    },
    node::{create, next},
    qos,
    service::{Answer, Caller},
    warn,
};

/// Absence of a server after which its goals count as lost.
const SERVER_GONE: Duration = Duration::from_secs(1);

/// Time without an answer after which the server is asked for it, or whether it knows the goal; twice as long after each
/// question, to at most 16 times.
const ANSWER_LOST: Duration = Duration::from_millis(300);
const MOST_DOUBLINGS: u32 = 4;

/// State of a goal, seen from the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientGoalState {
    /// Not answered yet; the server may still have to appear.
    Sending,
    /// The server rejected the goal.
    Rejected,
    /// The server did not answer in time.
    TimedOut,
    /// The server accepted the goal and executes it.
    Executing,
    /// The server reached the goal.
    Succeeded,
    /// The server gave up the goal.
    Aborted,
    /// Canceled on request or preempted.
    Canceled,
    /// The server went away or no longer knows the goal.
    Lost,
}

impl ClientGoalState {
    /// Whether the state is final.
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Sending | Self::Executing)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Goal that was sent. Poll it from a tick; changes also wake [`Node::after_events`]. Dropping it leaves the goal running:
/// cancel it first if it must not.
pub struct ClientGoal<A: Action> {
    view: Arc<Mutex<View<A>>>,
    waker: NodeWaker,
}

impl<A: Action> Clone for ClientGoal<A> {
    fn clone(&self) -> Self {
        Self { view: Arc::clone(&self.view), waker: self.waker.clone() }
    }
}

impl<A: Action> fmt::Debug for ClientGoal<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientGoal").field("state", &self.state()).finish_non_exhaustive()
    }
}

struct View<A: Action> {
    state: ClientGoalState,
    feedback: Option<Arc<A::Feedback>>,
    result: Option<Arc<A::Result>>,
    cancel: bool,
    is_cancel_answered: bool,
}

impl<A: Action> ClientGoal<A> {
    /// State of the goal.
    pub fn state(&self) -> ClientGoalState {
        lock(&self.view).state
    }

    /// Whether the state of the goal is final.
    pub fn is_final(&self) -> bool {
        self.state().is_final()
    }

    /// Latest feedback of the server.
    pub fn feedback(&self) -> Option<Arc<A::Feedback>> {
        lock(&self.view).feedback.clone()
    }

    /// Result of a goal that succeeded, was aborted or canceled.
    pub fn result(&self) -> Option<Arc<A::Result>> {
        lock(&self.view).result.clone()
    }

    /// Whether the server has answered that it is to cancel.
    pub fn is_cancel_answered(&self) -> bool {
        lock(&self.view).is_cancel_answered
    }

    /// Asks the server to cancel; the state changes when it has done so.
    pub fn cancel(&self) {
        lock(&self.view).cancel = true;
        self.waker.wake();
    }
}

/// Client that sends goals to an action server.
pub struct ActionClient<A: Action> {
    core: Arc<Mutex<Core<A>>>,
    action: Arc<str>,
    waker: NodeWaker,
}

impl<A: Action> Clone for ActionClient<A> {
    fn clone(&self) -> Self {
        Self {
            core: Arc::clone(&self.core),
            action: Arc::clone(&self.action),
            waker: self.waker.clone(),
        }
    }
}

impl<A: Action> fmt::Debug for ActionClient<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActionClient").field("action", &self.action).finish_non_exhaustive()
    }
}

/// Clients of the action's three services.
struct Callers<A: Action> {
    send_goal: Caller<A::SendGoal>,
    get_result: Caller<A::GetResult>,
    cancel_goal: Caller<CancelGoal::Service>,
}

struct Core<A: Action> {
    callers: Callers<A>,
    goals: Vec<Tracked<A>>,
    absent_since: Option<Instant>,
}

struct Tracked<A: Action> {
    id: Vec<u8>,
    view: Arc<Mutex<View<A>>>,
    request: <A::SendGoal as WrappedServiceTypeSupport>::Request,
    deadline: Instant,
    /// Pending answers to the goal, one for each time it was sent.
    accepted: Vec<Answer<A::SendGoal>>,
    result: Option<Answer<A::GetResult>>,
    canceled: Option<Answer<CancelGoal::Service>>,
    cancel_sent: bool,
    /// Whether the goal was on the status topic.
    is_listed: bool,
    /// Instant to ask for the result once more, with the number of questions so far: the middleware loses messages to a server
    /// that it has only half discovered, or that was just replaced.
    ask_at: Option<Instant>,
    n_asked: u32,
}

impl<A: Action> ActionClient<A> {
    /// Whether the server is there.
    pub fn is_ready(&self) -> bool {
        lock(&self.core).callers.is_present()
    }

    /// Sends what is to be sent at once, as the cancel of a goal by a node that ends.
    pub fn flush(&self) {
        lock(&self.core).advance(&self.action);
    }

    /// Sends `goal`. The server may still have to appear; it must answer within `timeout`.
    pub fn send(&self, goal: A::Goal, timeout: Duration) -> ClientGoal<A> {
        let view = View {
            state: ClientGoalState::Sending,
            feedback: None,
            result: None,
            cancel: false,
            is_cancel_answered: false,
        };
        let view = Arc::new(Mutex::new(view));
        let mut core = lock(&self.core);
        let id = random_id();
        core.goals.push(Tracked {
            request: A::make_goal_request_msg(UUID { uuid: id.clone() }, goal),
            id,
            view: Arc::clone(&view),
            deadline: Instant::now() + timeout,
            accepted: Vec::new(),
            result: None,
            canceled: None,
            cancel_sent: false,
            is_listed: false,
            ask_at: None,
            n_asked: 0,
        });
        core.advance(&self.action);
        self.waker.wake();
        ClientGoal { view, waker: self.waker.clone() }
    }
}

/// Random UUID of version 4, so that two clients never choose the same.
fn random_id() -> Vec<u8> {
    let random = |salt: u64| {
        RandomState::new().hash_one((salt, std::process::id(), Instant::now())).to_le_bytes()
    };
    let mut id = [random(0), random(1)].concat();
    id[6] = (id[6] & 0x0f) | 0x40;
    id[8] = (id[8] & 0x3f) | 0x80;
    id
}

impl<A: Action> Callers<A> {
    fn is_present(&self) -> bool {
        self.send_goal.is_present() && self.get_result.is_present() && self.cancel_goal.is_present()
    }
}

impl<A: Action> Core<A> {
    /// Updates the goals, once a spin; true if a goal changed.
    fn update(&mut self, action: &str) -> bool {
        self.callers.send_goal.update_presence();
        self.callers.get_result.update_presence();
        self.callers.cancel_goal.update_presence();
        self.absent_since = if self.callers.is_present() {
            None
        } else {
            self.absent_since.or(Some(Instant::now()))
        };
        self.advance(action)
    }

    fn take_feedback(&mut self, message: A::FeedbackMessage) -> bool {
        let (id, feedback) = A::destructure_feedback_msg(message);
        let Some(goal) = self.goals.iter().find(|goal| goal.id == id.uuid) else { return false };
        lock(&goal.view).feedback = Some(Arc::new(feedback));
        true
    }

    /// Reads a status message. It makes up for answers that the middleware lost, as it may while nodes still discover each
    /// other, and reveals a server that was replaced.
    fn check_status(&mut self, message: &GoalStatusArray) {
        for goal in &mut self.goals {
            let listed = message.status_list.iter().find(|s| s.goal_info.goal_id.uuid == goal.id);
            let state = lock(&goal.view).state;
            match (state, listed) {
                (ClientGoalState::Sending, Some(_)) => goal.is_listed = true,
                // A goal missing from the list may mean a new server: ask whether it knows the goal.
                (ClientGoalState::Executing, None) => goal.ask_from(Instant::now()),
                (ClientGoalState::Executing, Some(s)) if s.status >= status::SUCCEEDED => {
                    goal.ask_from(Instant::now() + ANSWER_LOST);
                }
                (ClientGoalState::Executing, Some(_)) => goal.ask_at = None,
                _ => {}
            }
        }
    }

    fn advance(&mut self, action: &str) -> bool {
        let present = self.callers.is_present();
        let gone = self.absent_since.is_some_and(|since| since.elapsed() > SERVER_GONE);
        let callers = &self.callers;
        let mut changed = false;
        self.goals.retain_mut(|goal| {
            let before = lock(&goal.view).state;
            let next = match before {
                ClientGoalState::Sending => goal.advance_sending(present, callers, action),
                ClientGoalState::Executing => {
                    goal.advance_executing(gone, &callers.get_result, action)
                }
                state => state,
            };
            if next == ClientGoalState::Executing {
                goal.advance_cancel(present, &callers.cancel_goal, action);
            }
            lock(&goal.view).state = next;
            changed |= next != before;
            !next.is_final()
        });
        changed
    }
}

impl<A: Action> Tracked<A> {
    fn advance_sending(
        &mut self,
        present: bool,
        callers: &Callers<A>,
        action: &str,
    ) -> ClientGoalState {
        let now = Instant::now();
        if present && self.accepted.is_empty() && !self.send(callers, action) {
            return ClientGoalState::Rejected;
        }
        self.ask_whether_known(callers, action);
        let mut is_accepted = None;
        self.accepted.retain_mut(|answer| {
            let Some(answer) = answer.poll() else { return true };
            let (said_yes, _) = A::destructure_goal_response_msg(answer);
            is_accepted = Some(said_yes || is_accepted == Some(true));
            false
        });
        match self.is_listed.then_some(true).or(is_accepted) {
            Some(true) => {
                self.ask_at = None;
                self.ask_result(&callers.get_result, action);
                ClientGoalState::Executing
            }
            Some(false) => ClientGoalState::Rejected,
            None if now >= self.deadline => {
                // A goal that is accepted too late is canceled, as nobody waits for it.
                if !self.accepted.is_empty() {
                    self.send_cancel(&callers.cancel_goal, action);
                }
                ClientGoalState::TimedOut
            }
            None => ClientGoalState::Sending,
        }
    }

    /// Sends the goal; true if the request went out.
    fn send(&mut self, callers: &Callers<A>, action: &str) -> bool {
        let Some(answer) = request_or_warn(&callers.send_goal, &self.request, action) else {
            return false;
        };
        self.accepted.push(answer);
        self.ask_at = Some(Instant::now() + self.patience());
        true
    }

    /// Sends the goal once more to a server that neither answers nor knows it: its request or its answer was lost.
    fn ask_whether_known(&mut self, callers: &Callers<A>, action: &str) {
        if let Some(response) = self.result.as_mut().and_then(Answer::poll) {
            self.result = None;
            let (known, _) = A::destructure_result_response_msg(response);
            if known != status::UNKNOWN {
                self.is_listed = true;
            } else if callers.is_present() {
                self.send(callers, action);
            }
        } else if self.ask_at.is_some_and(|at| Instant::now() >= at) {
            self.n_asked += 1;
            self.ask_result(&callers.get_result, action);
            self.ask_at = Some(Instant::now() + self.patience());
        }
    }

    /// Time that the next answer may take, doubled after each question.
    fn patience(&self) -> Duration {
        ANSWER_LOST * 2_u32.pow(self.n_asked.min(MOST_DOUBLINGS))
    }

    fn ask_result(&mut self, get_result: &Caller<A::GetResult>, action: &str) {
        let request = A::make_result_request_msg(UUID { uuid: self.id.clone() });
        self.result = request_or_warn(get_result, &request, action);
    }

    /// Asks for the result at `at`, and repeatedly until it comes or the server reports that it executes the goal.
    fn ask_from(&mut self, at: Instant) {
        self.ask_at = Some(at);
        self.n_asked = 0;
    }

    fn send_cancel(&mut self, cancel_goal: &Caller<CancelGoal::Service>, action: &str) {
        let goal_info = GoalInfo { goal_id: UUID { uuid: self.id.clone() }, ..GoalInfo::default() };
        self.canceled = request_or_warn(cancel_goal, &CancelGoal::Request { goal_info }, action);
        self.cancel_sent = true;
    }

    fn advance_executing(
        &mut self,
        gone: bool,
        get_result: &Caller<A::GetResult>,
        action: &str,
    ) -> ClientGoalState {
        let now = Instant::now();
        if self.ask_at.is_some_and(|at| now >= at) {
            self.ask_result(get_result, action);
            self.ask_at = Some(now + self.patience());
            self.n_asked += 1;
        }
        if let Some(response) = self.result.as_mut().and_then(Answer::poll) {
            let (status, result) = A::destructure_result_response_msg(response);
            let state = match status {
                status::SUCCEEDED => ClientGoalState::Succeeded,
                status::CANCELED => ClientGoalState::Canceled,
                status::ABORTED => ClientGoalState::Aborted,
                _ => return ClientGoalState::Lost,
            };
            lock(&self.view).result = Some(Arc::new(result));
            return state;
        }
        if gone || (self.result.is_none() && !get_result.is_present()) {
            return ClientGoalState::Lost;
        }
        ClientGoalState::Executing
    }

    fn advance_cancel(
        &mut self,
        present: bool,
        cancel_goal: &Caller<CancelGoal::Service>,
        action: &str,
    ) {
        let is_requested = lock(&self.view).cancel;
        if is_requested && present && !self.cancel_sent {
            self.send_cancel(cancel_goal, action);
        }
        if let Some(response) = self.canceled.as_mut().and_then(Answer::poll) {
            self.canceled = None;
            lock(&self.view).is_cancel_answered = true;
            if response.return_code != 0 {
                warn!(
                    "action `{action}`: the server refused to cancel (code {})",
                    response.return_code
                );
            }
        }
    }
}

fn request_or_warn<T: Service>(
    caller: &Caller<T>,
    request: &T::Request,
    action: &str,
) -> Option<Answer<T>> {
    match caller.send(request) {
        Ok(answer) => Some(answer),
        Err(reason) => {
            warn!("action `{action}`: request not sent: {reason}");
            None
        }
    }
}

impl<S: 'static> Node<S> {
    /// Sends goals to the action server of this name.
    ///
    /// # Errors
    /// When the middleware refuses a client or a subscription of the action.
    pub fn action_client<A: Action>(&mut self, name: &str) -> Result<ActionClient<A>, RosError> {
        let core = Arc::new(Mutex::new(Core::<A> {
            callers: Callers {
                send_goal: Caller::new(self.raw_client(&format!("{name}/_action/send_goal"))?),
                get_result: Caller::new(self.raw_client(&format!("{name}/_action/get_result"))?),
                cancel_goal: Caller::new(self.raw_client(&format!("{name}/_action/cancel_goal"))?),
            },
            goals: Vec::new(),
            absent_since: None,
        }));
        let topic = format!("{name}/_action/feedback");
        let mut feedback =
            create("subscription", &topic, || self.inner.lock().subscribe(&topic, qos::state()))?;
        let topic = format!("{name}/_action/status");
        let mut status =
            create("subscription", &topic, || self.inner.lock().subscribe(&topic, qos::latched()))?;
        let action: Arc<str> = name.into();
        let client = ActionClient {
            core: Arc::clone(&core),
            action: Arc::clone(&action),
            waker: self.waker(),
        };
        self.add_source(move |_| {
            let mut core = lock(&core);
            let mut changed = false;
            while let Some(message) = next(&mut feedback) {
                changed |= core.take_feedback(message);
            }
            while let Some(message) = next(&mut status) {
                core.check_status(&message);
            }
            core.update(&action) || changed
        });
        Ok(client)
    }
}
