//! Calls that go on while their client does something else: tasks, by the extension `io.modelcontextprotocol/tasks`.
//!
//! The runtime of `rmcp` keeps them; here each has an owner, to whom alone it exists, and their number is bounded.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{CallToolResult, DetailedTask, ErrorData, Task};
use rmcp::service::RequestContext;
use rmcp::task_manager::{TaskContext, TaskExit, TaskManager, TaskOptions};
use serde_json::Value;

use crate::principal::Principal;
use crate::running::{Begun, Running};
use crate::verbs::Answer;

/// Tasks that a principal may have, also ended ones; whoever has so many gets answers to calls as without tasks.
const MOST: usize = 64;
/// Longest time that a task may run, and time for which its result is kept then. [ms]
// Ten times the longest act of an envelope by default.
const LIFETIME_MS: u64 = 600_000;
/// Time after which a client may ask again. [ms]
const POLL_MS: u64 = 500;

/// Tasks by their principals. Copies are the same.
#[derive(Clone, Default)]
pub(crate) struct Tasks {
    manager: TaskManager,
    owners: Arc<Mutex<BTreeMap<String, Principal>>>,
}

/// Whether the client said, with this request, that it knows tasks. An older revision has others under that name.
pub(crate) fn are_known(context: &RequestContext<RoleServer>) -> bool {
    context.meta.client_capabilities().is_some_and(|capabilities| capabilities.supports_tasks())
}

impl Tasks {
    /// Makes a task of a call that has begun; gives it back when the principal has too many.
    pub(crate) fn make(&self, principal: &Principal, begun: Begun) -> Result<Task, Box<Begun>> {
        let mut owners = self.owners();
        owners.retain(|id, _| self.manager.get_task(id).is_ok());
        if owners.values().filter(|owner| *owner == principal).count() >= MOST {
            return Err(Box::new(begun));
        }
        let Begun { running, report } = begun;
        let options = TaskOptions::new()
            .with_ttl_ms(LIFETIME_MS)
            .with_poll_interval_ms(POLL_MS)
            .with_status_message(report.to_string());
        let task = self.manager.spawn(options, |context| Box::pin(result(running, context)));
        owners.insert(task.task_id.clone(), principal.clone());
        Ok(task)
    }

    /// How a task of a principal is.
    pub(crate) fn get(&self, principal: &Principal, id: &str) -> Result<DetailedTask, ErrorData> {
        self.check(principal, id)?;
        self.manager.get_task(id).map_err(|_| unknown())
    }

    /// Cancels a task of a principal: its call brakes, and then ends it.
    pub(crate) fn cancel(&self, principal: &Principal, id: &str) -> Result<(), ErrorData> {
        self.check(principal, id)?;
        self.manager.cancel_task(id).map_err(|_| unknown())
    }

    /// Finds a task of a principal. To others it does not exist.
    pub(crate) fn check(&self, principal: &Principal, id: &str) -> Result<(), ErrorData> {
        let is_theirs = self.owners().get(id) == Some(principal);
        if is_theirs { Ok(()) } else { Err(unknown()) }
    }

    fn owners(&self) -> MutexGuard<'_, BTreeMap<String, Principal>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unknown() -> ErrorData {
    ErrorData::invalid_params(
        "unknown task: it belongs to another, was forgotten, or never was",
        None,
    )
}

/// Result of a call, at its end.
async fn result(running: Running, task: TaskContext) -> Result<CallToolResult, TaskExit> {
    match running.answer_of(&task).await? {
        Answer::Done(value) => Ok(CallToolResult::structured(value)),
        Answer::Refused(value) if task.is_cancel_requested() => {
            // A task that was cancelled has no result: what the verb says of it is its status.
            task.set_status_message(text(&value));
            Err(TaskExit::Cancelled)
        }
        Answer::Refused(value) => Ok(CallToolResult::structured_error(value)),
        Answer::NeedsApproval { .. } => {
            let message = "the verb asks for an approval after it has begun";
            tracing::error!("{message}");
            Err(TaskExit::Error(ErrorData::internal_error(message, None)))
        }
    }
}

/// Code and hint of a refusal.
fn text(refusal: &Value) -> String {
    let said = ["code", "hint"].into_iter().filter_map(|key| refusal[key].as_str());
    said.collect::<Vec<_>>().join(": ")
}
