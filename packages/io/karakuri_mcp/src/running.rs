//! A verb under way: its progress goes out, a client that goes away cancels it.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use rmcp::task_manager::TaskContext;
use serde_json::Value;
use tokio::sync::{OwnedRwLockReadGuard, mpsc};
use tokio::task::{JoinError, JoinHandle};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::principal::Principal;
use crate::progress::{self, Report};
use crate::verbs::{Answer, Approval, Call, Verbs};

/// A call to carry out.
pub(crate) struct Job {
    pub(crate) principal: Principal,
    pub(crate) tool: &'static str,
    pub(crate) arguments: Value,
    pub(crate) approval: Option<Approval>,
    /// Held until the verb has answered.
    pub(crate) under_way: OwnedRwLockReadGuard<()>,
}

/// A verb under way. Dropped, it is cancelled.
pub(crate) struct Running {
    tool: &'static str,
    answer: JoinHandle<Answer>,
    /// Ends with the call, which has the sender.
    reports: mpsc::Receiver<Report>,
    cancelled: CancellationToken,
    _gone: DropGuard,
}

/// What a verb says first.
pub(crate) enum First {
    /// It has answered.
    Answer(Answer),
    /// It goes on.
    Report(Begun),
}

/// A verb that has begun, and its first report.
pub(crate) struct Begun {
    pub(crate) running: Running,
    pub(crate) report: Report,
}

impl Running {
    /// Begins a call; `cancelled` fires for it when the client cancels, when it goes away, or when it is fired elsewhere.
    pub(crate) fn start(verbs: Arc<dyn Verbs>, job: Job, cancelled: CancellationToken) -> Self {
        let tool = job.tool;
        let (progress, reports) = progress::channel();
        let call = Call { progress, cancelled: cancelled.clone(), approval: job.approval };
        // A task of its own: what moves must brake, and say so, even when nobody waits for its answer.
        let answer = tokio::spawn(async move {
            let _until_answered = job.under_way;
            verbs.call(&job.principal, job.tool, job.arguments, &call).await
        });
        Self { tool, answer, reports, _gone: cancelled.clone().drop_guard(), cancelled }
    }

    /// Waits for the answer, or for the first report of progress.
    pub(crate) async fn first(
        mut self,
        context: &RequestContext<RoleServer>,
    ) -> Result<First, ErrorData> {
        tokio::select! {
            biased;
            // Whoever cancels waits for the answer: the robot brakes.
            () = context.ct.cancelled() => {}
            answer = &mut self.answer => return answered(self.tool, answer).map(First::Answer),
            Some(report) = self.reports.recv() => {
                return Ok(First::Report(Begun { running: self, report }));
            }
        }
        self.answer(context, None).await.map(First::Answer)
    }

    /// Waits for the answer, while the client does; `report` has been taken already.
    pub(crate) async fn answer(
        mut self,
        context: &RequestContext<RoleServer>,
        mut report: Option<Report>,
    ) -> Result<Answer, ErrorData> {
        let listener = Listener::of(context);
        // A client that is slow to listen keeps nothing waiting but its own answer.
        let forward = async {
            loop {
                let next = match report.take() {
                    None => self.reports.recv().await,
                    taken => taken,
                };
                let Some(next) = next else { break };
                listener.send(next).await;
            }
        };
        tokio::pin!(forward);
        let mut is_forwarding = true;
        let answer = loop {
            tokio::select! {
                biased;
                () = context.ct.cancelled(), if !self.cancelled.is_cancelled() => self.cancelled.cancel(),
                () = &mut forward, if is_forwarding => is_forwarding = false,
                answer = &mut self.answer => break answer,
            }
        };
        if is_forwarding {
            forward.await;
        }
        answered(self.tool, answer)
    }

    /// Waits for the answer as a task that has its reports as status.
    pub(crate) async fn answer_of(mut self, task: &TaskContext) -> Result<Answer, ErrorData> {
        let answer = loop {
            tokio::select! {
                biased;
                () = task.cancelled(), if !self.cancelled.is_cancelled() => self.cancelled.cancel(),
                Some(report) = self.reports.recv() => task.set_status_message(report.to_string()),
                answer = &mut self.answer => break answer,
            }
        };
        answered(self.tool, answer)
    }
}

fn answered(tool: &str, answer: Result<Answer, JoinError>) -> Result<Answer, ErrorData> {
    answer.map_err(|error| {
        tracing::error!("the verb `{tool}` ended without an answer: {error}");
        ErrorData::internal_error("the verb ended without an answer", None)
    })
}

/// A client that asked for progress, or not.
struct Listener {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
}

impl Listener {
    fn of(context: &RequestContext<RoleServer>) -> Self {
        Self { peer: context.peer.clone(), token: context.meta.get_progress_token() }
    }

    async fn send(&self, report: Report) {
        let Some(token) = self.token.clone() else { return };
        let Report { fraction, message } = report;
        let note =
            ProgressNotificationParam::new(token, fraction).with_total(1.0).with_message(message);
        // A client that has gone is noticed by its token.
        let _gone = self.peer.notify_progress(note).await;
    }
}
