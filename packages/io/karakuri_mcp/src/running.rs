//! A verb under way: its progress goes out, a client that goes away cancels it.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use serde_json::Value;
use tokio::sync::OwnedRwLockReadGuard;
use tokio_util::sync::CancellationToken;

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

/// Carries out a call; `cancelled` fires for it when the client cancels, when it goes away, or when it is fired elsewhere.
pub(crate) async fn run(
    verbs: Arc<dyn Verbs>,
    job: Job,
    cancelled: CancellationToken,
    context: &RequestContext<RoleServer>,
) -> Result<Answer, ErrorData> {
    let tool = job.tool;
    let (progress, mut reports) = progress::channel();
    let listener = Listener::of(context);
    // Dropped with this future, when the client has gone.
    let _gone = cancelled.clone().drop_guard();
    let call = Call { progress, cancelled: cancelled.clone(), approval: job.approval };
    // A task of its own: what moves must brake, and say so, even when nobody waits for its answer.
    let mut running = tokio::spawn(async move {
        let _until_answered = job.under_way;
        verbs.call(&job.principal, job.tool, job.arguments, &call).await
    });
    // Ends with the call, which has the sender. A client that is slow to listen keeps nothing waiting but its own answer.
    let forward = async {
        while let Some(report) = reports.recv().await {
            listener.send(report).await;
        }
    };
    tokio::pin!(forward);
    let mut is_forwarding = true;
    let answer = loop {
        tokio::select! {
            biased;
            () = context.ct.cancelled(), if !cancelled.is_cancelled() => cancelled.cancel(),
            () = &mut forward, if is_forwarding => is_forwarding = false,
            answer = &mut running => break answer,
        }
    };
    if is_forwarding {
        forward.await;
    }
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
