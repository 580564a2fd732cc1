//! Fixtures of the suite's scenarios on tasks, as verbs of this crate.

use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use karakuri_mcp::{About, Answer, Call, Content, Effect, Principal, Resource, Tool, Verbs};
use serde_json::{Value, json};

/// Tools that the suite calls: the name, and whether a call may take long.
const TOOLS: [(&str, bool); 5] = [
    ("greet", false),
    ("slow_compute", true),
    ("failing_job", true),
    ("protocol_error_job", true),
    ("confirm_delete", true),
];

/// Jobs that take a while, fail, or break.
#[derive(Debug)]
pub(crate) struct Jobs;

impl Verbs for Jobs {
    fn about(&self) -> About {
        About {
            name: "karakuri-jobs",
            version: env!("CARGO_PKG_VERSION"),
            instructions: "Fixtures of tests.",
        }
    }

    fn tools(&self, _: &Principal) -> Vec<Tool> {
        let object = json!({"type": "object"});
        let tool = |(name, is_long)| Tool {
            name,
            description: "A fixture.",
            input_schema: object.clone(),
            output_schema: object.clone(),
            effect: Effect::ReadOnly,
            is_long,
        };
        TOOLS.map(tool).to_vec()
    }

    fn call<'a>(
        &'a self,
        _: &'a Principal,
        tool: &'a str,
        arguments: Value,
        call: &'a Call,
    ) -> BoxFuture<'a, Answer> {
        async move {
            match tool {
                "greet" => Answer::Done(json!({"greeting": arguments["name"]})),
                "slow_compute" => {
                    let seconds = arguments["seconds"].as_f64().unwrap_or_default();
                    compute(Duration::try_from_secs_f64(seconds).unwrap_or_default(), call).await
                }
                "confirm_delete" => {
                    Answer::NeedsApproval { message: "Delete it?".into(), state: arguments }
                }
                "failing_job" => {
                    let _waited = compute(Duration::from_secs(1), call).await;
                    Answer::Refused(json!({"code": "FAILED"}))
                }
                _ => {
                    let _waited = compute(Duration::from_millis(200), call).await;
                    broken()
                }
            }
        }
        .boxed()
    }

    fn resources<'a>(&'a self, _: &'a Principal) -> BoxFuture<'a, Vec<Resource>> {
        async { Vec::new() }.boxed()
    }

    fn read<'a>(&'a self, _: &'a Principal, _: &'a str) -> BoxFuture<'a, Option<Content>> {
        async { None }.boxed()
    }
}

async fn compute(time: Duration, call: &Call) -> Answer {
    call.progress.report(0.0, "computing");
    tokio::select! {
        () = call.cancelled.cancelled() => Answer::Refused(json!({"code": "CANCELLED"})),
        () = tokio::time::sleep(time) => Answer::Done(json!({"seconds": time.as_secs_f64()})),
    }
}

#[expect(clippy::panic, reason = "the suite asks for a job that breaks")]
fn broken() -> Answer {
    panic!("a verb with a mistake")
}
