//! Goals for any action server.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_yaml::Value;

use super::{ANSWER, Client, ClientError, Items, Publisher, absolute, failed, listed, poll, wrong};
use crate::{
    definition::{ActionDefinition, Definition},
    guard,
    node::{create, next},
};

/// Absence of a server after which its goal counts as lost.
const SERVER_GONE: Duration = Duration::from_secs(2);
/// Longest delay of the result after a goal has ended.
const RESULT_LATE: Duration = Duration::from_secs(5);

/// Outcome of a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum GoalEnd {
    /// The server reached the goal.
    Succeeded,
    /// The server gave up the goal.
    Aborted,
    /// Canceled on request or preempted.
    Canceled,
}

/// Event in the course of a goal.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum GoalEvent {
    /// Feedback on the progress.
    Feedback(Value),
    /// A signal came, and the goal is being canceled.
    Canceling,
    /// End of the goal, and its result.
    Ended(GoalEnd, Value),
}

type Result<T> = std::result::Result<T, ClientError>;
type Answer = (r2r::GoalStatus, r2r::Result<serde_json::Value>);

/// Goal that was accepted.
pub struct Goal {
    handle: r2r::ActionClientGoalUntyped,
    result: Pin<Box<dyn Future<Output = r2r::Result<Answer>>>>,
    feedback: Items<r2r::Result<serde_json::Value>>,
    definition: ActionDefinition,
    action: String,
    /// Servers that may have accepted it.
    servers: Vec<Publisher>,
}

impl std::fmt::Debug for Goal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Goal").field("action", &self.action).finish_non_exhaustive()
    }
}

impl Goal {
    /// Identifier of the goal, as `ros2` prints it.
    pub fn id(&self) -> String {
        self.handle.uuid.simple().to_string()
    }
}

impl Client {
    /// Waits for the server of an action, whose type must be `kind` if that is given; the type and the goal's definition.
    ///
    /// # Errors
    /// When no server appears in time, it serves another type, or the type's definition is not installed.
    pub fn action_server(
        &mut self,
        action: &str,
        kind: Option<&str>,
    ) -> Result<(String, Arc<Definition>)> {
        let action = absolute(action);
        let find = |client: &mut Self| client.present_actions().remove(&action);
        let Some(server) = self.spin_until(self.wait, find)? else {
            self.settle()?;
            let there = self.present_actions();
            let there =
                listed(there.iter().map(|(name, server)| format!("{name} ({})", server.kind)));
            return wrong(format!("no action server {action}; there {there}"));
        };
        if let Some(kind) = kind.filter(|kind| *kind != server.kind) {
            return wrong(format!("{action} takes a {}, not a {kind}", server.kind));
        }
        let definition = self.definitions.action(&server.kind).map_err(ClientError::Wrong)?;
        Ok((server.kind, definition.goal))
    }

    /// Sends a goal, as [`Definition::json`] makes it; the server has to accept it.
    ///
    /// # Errors
    /// When the type is unknown, the server does not answer in time or rejects the goal, or a signal interrupts.
    pub fn send_goal(&mut self, action: &str, kind: &str, goal: serde_json::Value) -> Result<Goal> {
        let action = absolute(action);
        let definition = self.definitions.action(kind).map_err(ClientError::Wrong)?;
        let client = create("action client", &action, || {
            self.node.create_action_client_untyped(&action, kind)
        });
        let client = client.map_err(|e| {
            ClientError::Wrong(format!(
                "failed to {e}; this program was built without the type `{kind}`"
            ))
        })?;
        self.wait_for_server(r2r::Node::is_available(&client), || {
            format!("the server of {action} does not answer")
        })?;
        let servers = self.publishers(&feedback_of(&action));
        let sent = guard::catch(|| client.send_goal_request(goal))
            .map_err(|e| failed(&e))?
            .map_err(|e| failed(&e))?;
        let mut sent = Box::pin(sent);
        match self.spin_until(ANSWER, |_| poll(&mut sent))? {
            None => Err(failed(&format!(
                "the server of {action} did not answer within {} s",
                ANSWER.as_secs()
            ))),
            Some(Err(r2r::Error::RCL_RET_ACTION_GOAL_REJECTED)) => {
                Err(failed(&"Goal was rejected; the log of the server says why"))
            }
            Some(Err(error)) => Err(failed(&error)),
            Some(Ok((handle, result, feedback))) => Ok(Goal {
                handle,
                result: Box::pin(result),
                feedback: Box::pin(feedback),
                definition,
                action,
                servers,
            }),
        }
    }

    /// Waits for the end of a goal and reports its events; a signal cancels it, and its end is still awaited.
    ///
    /// # Errors
    /// When the server goes away or refuses to cancel, a message cannot be decoded, or `tell` fails.
    pub fn follow(
        &mut self,
        goal: &mut Goal,
        mut tell: impl FnMut(GoalEvent) -> Result<()>,
    ) -> Result<()> {
        let mut canceling: Option<Pin<Box<dyn Future<Output = r2r::Result<()>>>>> = None;
        // A future that has given its result must not be polled again.
        let mut is_canceled = false;
        let (mut seen, mut ended) = (Instant::now(), None::<Instant>);
        loop {
            while let Some(feedback) = next(&mut goal.feedback) {
                let feedback = feedback.map_err(|e| failed(&e))?;
                tell(GoalEvent::Feedback(goal.definition.feedback.yaml(&feedback)))?;
            }
            if let Some(answer) = poll(&mut goal.result) {
                let (status, result) = answer.map_err(|e| failed(&e))?;
                let result = goal.definition.result.yaml(&result.map_err(|e| failed(&e))?);
                return tell(GoalEvent::Ended(end_of(status)?, result));
            }
            if canceling.is_none() && self.is_interrupted() {
                canceling = Some(Box::pin(goal.handle.cancel().map_err(|e| failed(&e))?));
                tell(GoalEvent::Canceling)?;
            }
            match canceling.as_mut().filter(|_| !is_canceled).and_then(poll) {
                Some(Ok(())) => is_canceled = true,
                Some(Err(error)) => {
                    return Err(failed(&format!("the server refuses to cancel: {error}")));
                }
                None => {}
            }
            if self.is_without_server(goal) {
                if seen.elapsed() > SERVER_GONE {
                    return Err(failed(&format!("the server of {} went away", goal.action)));
                }
            } else {
                seen = Instant::now();
            }
            let status = goal.handle.get_status().map_err(|e| failed(&e))?;
            if let Ok(end) = end_of(status)
                && ended.get_or_insert_with(Instant::now).elapsed() > RESULT_LATE
            {
                return tell(GoalEvent::Ended(end, Value::Null));
            }
            self.spin()?;
        }
    }
}

impl Client {
    /// Whether the servers that may have accepted a goal are gone or were restarted: one that was killed stays on the network
    /// until its lease expires, beside its successor.
    fn is_without_server(&self, goal: &Goal) -> bool {
        let there = self.publishers(&feedback_of(&goal.action));
        let asked = |p: &Publisher| goal.servers.iter().any(|server| server.gid == p.gid);
        let succeeds = |p: &Publisher| goal.servers.iter().any(|server| server.node == p.node);
        !there.iter().any(asked) || there.iter().any(|p| !asked(p) && succeeds(p))
    }
}

/// Feedback topic of an action, which only its server publishes.
fn feedback_of(action: &str) -> String {
    format!("{action}/_action/feedback")
}

fn end_of(status: r2r::GoalStatus) -> Result<GoalEnd> {
    match status {
        r2r::GoalStatus::Succeeded => Ok(GoalEnd::Succeeded),
        r2r::GoalStatus::Aborted => Ok(GoalEnd::Aborted),
        r2r::GoalStatus::Canceled => Ok(GoalEnd::Canceled),
        other => Err(failed(&format!("the server forgot the goal ({other})"))),
    }
}
