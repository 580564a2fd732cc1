//! Calls that become tasks.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Client, DEADLINE, wait_for};

const TASKS: &str = "io.modelcontextprotocol/tasks";

impl Client {
    /// Result of a request of a client that knows tasks; an error of the protocol stays one.
    async fn with_tasks(&mut self, method: &str, params: Value) -> Value {
        self.send_as(json!({"elicitation": {}, "extensions": {TASKS: {}}}), 7, method, params)
            .await;
        let answer = self.read().await;
        answer.get("result").cloned().unwrap_or(answer)
    }

    async fn begin(&mut self, arguments: Value) -> String {
        let params = json!({"name": "move", "arguments": arguments});
        let task = self.with_tasks("tools/call", params).await;
        assert_eq!(task["resultType"], "task", "{task}");
        assert_eq!(task["status"], "working", "{task}");
        assert_eq!(task["statusMessage"], "LIFT, 25 %", "{task}");
        task["taskId"].as_str().unwrap().to_owned()
    }

    async fn task(&mut self, id: &str) -> Value {
        self.with_tasks("tasks/get", json!({"taskId": id})).await
    }

    /// The task, once something is so.
    async fn task_until(&mut self, id: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let reached = async {
            loop {
                let task = self.task(id).await;
                if is_so(&task) {
                    break task;
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::time::timeout(DEADLINE, reached).await.unwrap()
    }

    async fn ended_task(&mut self, id: &str) -> Value {
        self.task_until(id, |task| task["status"] != "working").await
    }
}

#[tokio::test]
async fn a_long_call_is_a_task_with_its_stage_and_its_result() {
    let mut client = Client::start();
    let id = client.begin(json!({})).await;
    let task = client.task_until(&id, |task| task["statusMessage"] == "CARRY, 50 %").await;
    assert_eq!(task["status"], "working", "{task}");
    assert!(task["pollIntervalMs"].is_u64() && task["ttlMs"].is_u64(), "{task}");
    client.verbs.end.notify_one();
    let task = client.ended_task(&id).await;
    assert_eq!(task["status"], "completed", "{task}");
    assert_eq!(task["result"]["structuredContent"], json!({"outcome": "DONE"}));
    assert_eq!(task["result"]["isError"], false);
}

#[tokio::test]
async fn a_refusal_at_the_end_is_a_result() {
    let mut client = Client::start();
    let id = client.begin(json!({"drops": "cube"})).await;
    client.verbs.end.notify_one();
    let task = client.ended_task(&id).await;
    assert_eq!(task["status"], "completed", "{task}");
    assert_eq!(task["result"]["isError"], true);
    assert_eq!(task["result"]["structuredContent"], json!({"code": "LOST", "value": "cube"}));
}

#[tokio::test]
async fn a_cancelled_task_brakes() {
    let mut client = Client::start();
    let id = client.begin(json!({})).await;
    assert!(!client.verbs.has_braked.load(Ordering::SeqCst));
    let done = client.with_tasks("tasks/cancel", json!({"taskId": id})).await;
    assert_eq!(done["resultType"], "complete", "{done}");
    let task = client.ended_task(&id).await;
    assert_eq!(task["status"], "cancelled", "{task}");
    assert_eq!(task["statusMessage"], "CANCELED: rehearse again");
    assert!(client.verbs.has_braked.load(Ordering::SeqCst));
}

#[tokio::test]
async fn a_task_ends_with_the_server() {
    let mut client = Client::start();
    client.begin(json!({})).await;
    assert!(!client.server.finished(Duration::from_millis(20)).await);
    client.stop.cancel();
    assert!(client.server.finished(Duration::from_secs(1)).await);
    assert!(client.verbs.has_braked.load(Ordering::SeqCst));
}

#[tokio::test]
async fn a_client_that_waits_for_its_call_gets_no_task() {
    let mut client = Client::start();
    client.send(1, "tools/call", json!({"name": "move"})).await;
    let report = client.read().await;
    assert_eq!(report["params"]["message"], "LIFT", "{report}");
    assert_eq!(client.read().await["params"]["message"], "CARRY");
    client.verbs.end.notify_one();
    let done = client.read().await;
    assert_eq!(done["result"]["structuredContent"], json!({"outcome": "DONE"}), "{done}");
    client.send(2, "tasks/get", json!({"taskId": "any"})).await;
    assert_eq!(client.read().await["error"]["code"], -32021);
}

#[tokio::test]
async fn a_tool_that_is_not_long_becomes_no_task() {
    let mut client = Client::start();
    let params = json!({"name": "wait"});
    let report = client.with_tasks("tools/call", params).await;
    assert_eq!(report["method"], "notifications/progress", "{report}");
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
    client.write(cancelled).await;
    wait_for(&client.verbs.has_braked).await;
}

#[tokio::test]
async fn a_question_comes_before_a_task() {
    let mut client = Client::start();
    let params = json!({"name": "ask", "arguments": {"object": "cube"}});
    let asked = client.with_tasks("tools/call", params).await;
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    assert_eq!(asked.get("taskId"), None);
}

#[tokio::test]
async fn a_mistake_of_a_verb_fails_its_task() {
    let mut client = Client::start();
    let begun = client.with_tasks("tools/call", json!({"name": "slip"})).await;
    // It may have ended before its report was read: then there is no task.
    let Some(id) = begun["taskId"].as_str() else {
        assert_eq!(begun["error"]["code"], -32603, "{begun}");
        return;
    };
    let task = client.ended_task(id).await;
    assert_eq!(task["status"], "failed", "{task}");
    assert_eq!(task["error"]["code"], -32603);
}

#[tokio::test]
async fn an_unknown_task_is_none() {
    let mut client = Client::start();
    client.begin(json!({})).await;
    for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
        for id in ["", "3f1c", "00000000-0000-4000-8000-000000000000"] {
            let params = json!({"taskId": id, "inputResponses": {}});
            let answer = client.with_tasks(method, params).await;
            assert_eq!(answer["error"]["code"], -32602, "{method} {id}: {answer}");
        }
    }
    assert!(!client.verbs.has_braked.load(Ordering::SeqCst));
}

#[tokio::test]
async fn a_principal_with_many_tasks_waits_for_its_calls() {
    let mut client = Client::start();
    let mut ids = Vec::new();
    let answer = loop {
        let answer = client.with_tasks("tools/call", json!({"name": "move"})).await;
        match answer["taskId"].as_str() {
            Some(id) => ids.push(id.to_owned()),
            None => break answer,
        }
    };
    assert_eq!(ids.len(), 64);
    // The report that would have begun the task is not lost.
    assert_eq!(answer["method"], "notifications/progress", "{answer}");
    assert_eq!(answer["params"]["message"], "LIFT");
    assert_eq!(client.read().await["params"]["message"], "CARRY");
    client.verbs.end.notify_waiters();
    let done = client.read().await;
    assert_eq!(done["result"]["structuredContent"], json!({"outcome": "DONE"}), "{done}");
    for id in ids {
        assert_eq!(client.ended_task(&id).await["status"], "completed");
    }
}
