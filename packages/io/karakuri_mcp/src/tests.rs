//! The protocol line by line, as a client on stdio writes it.

mod subscriptions;
mod tasks;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

use crate::stdio::{StdioError, serve_stream};
use crate::{
    About, Answer, Approval, Call, CancellationToken, Content, Effect, Principal, Resource, Server,
    Settings, Tool, Verbs,
};

const DEADLINE: Duration = Duration::from_secs(20);

struct Fake {
    has_braked: AtomicBool,
    /// Ends a `move`.
    end: Notify,
    /// Versions of resources.
    resources: Mutex<BTreeMap<&'static str, u64>>,
    changes: watch::Sender<()>,
}

impl Default for Fake {
    fn default() -> Self {
        Self {
            has_braked: AtomicBool::new(false),
            end: Notify::new(),
            resources: Mutex::new(BTreeMap::from([("karakuri://gone.png", 0)])),
            changes: watch::channel(()).0,
        }
    }
}

impl Fake {
    /// Changes the resources, and notifies of it.
    fn change(&self, change: impl FnOnce(&mut BTreeMap<&'static str, u64>)) {
        change(&mut self.resources.lock().unwrap());
        self.changes.send_replace(());
    }
}

impl Verbs for Fake {
    fn about(&self) -> About {
        About { name: "fake", version: "1", instructions: "Nothing moves." }
    }

    fn tools(&self, _: &Principal) -> Vec<Tool> {
        let object = json!({"type": "object"});
        ["ask", "wait", "fail", "move", "slip"]
            .map(|name| Tool {
                name,
                description: "A tool.",
                input_schema: object.clone(),
                output_schema: object.clone(),
                effect: Effect::ReadOnly,
                is_long: ["ask", "move", "slip"].contains(&name),
            })
            .to_vec()
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
                "ask" => match &call.approval {
                    None => Answer::NeedsApproval { message: "Really?".into(), state: arguments },
                    Some(Approval::Given(state)) => Answer::Done(json!({"given": state})),
                    Some(Approval::Declined(state)) => Answer::Refused(json!({"declined": state})),
                },
                "wait" => {
                    call.progress.report(0.5, "waiting");
                    call.cancelled.cancelled().await;
                    // An arm does not stand still at once.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    self.has_braked.store(true, Ordering::SeqCst);
                    Answer::Refused(json!({"code": "CANCELLED"}))
                }
                "move" => {
                    call.progress.report(0.25, "LIFT");
                    call.progress.report(0.5, "CARRY");
                    tokio::select! {
                        () = call.cancelled.cancelled() => {
                            self.has_braked.store(true, Ordering::SeqCst);
                            Answer::Refused(json!({"code": "CANCELED", "hint": "rehearse again"}))
                        }
                        () = self.end.notified() => match arguments.get("drops") {
                            None => Answer::Done(json!({"outcome": "DONE"})),
                            Some(what) => Answer::Refused(json!({"code": "LOST", "value": what})),
                        },
                    }
                }
                "slip" => {
                    call.progress.report(0.25, "LIFT");
                    panic!("a verb with a mistake in the middle")
                }
                _ => panic!("a verb with a mistake"),
            }
        }
        .boxed()
    }

    fn resources<'a>(&'a self, _: &'a Principal) -> BoxFuture<'a, Vec<Resource>> {
        let resource = |(uri, version): (&&str, &u64)| Resource {
            uri: (*uri).to_owned(),
            name: "gone",
            description: "A picture.",
            mime_type: "image/png",
            version: *version,
        };
        let all = self.resources.lock().unwrap().iter().map(resource).collect();
        async { all }.boxed()
    }

    fn read<'a>(&'a self, _: &'a Principal, _: &'a str) -> BoxFuture<'a, Option<Content>> {
        async { Some(Content::Bytes(vec![1, 2, 3])) }.boxed()
    }

    fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }
}

/// A client at the other ends of the streams.
struct Client {
    verbs: Arc<Fake>,
    stop: CancellationToken,
    server: Server,
    input: DuplexStream,
    output: BufReader<DuplexStream>,
    serving: JoinHandle<Result<(), StdioError>>,
}

impl Client {
    fn start() -> Self {
        let (input, server_input) = tokio::io::duplex(1 << 16);
        let (server_output, output) = tokio::io::duplex(1 << 16);
        let verbs = Arc::new(Fake::default());
        let stop = CancellationToken::new();
        let settings = Settings { key: [7; 32], approval_lifetime: DEADLINE };
        let server = Server::new(verbs.clone(), &settings, stop.clone());
        let serving = tokio::spawn(serve_stream(server.clone(), server_input, server_output));
        Self { verbs, stop, server, input, output: BufReader::new(output), serving }
    }

    async fn write(&mut self, message: Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn read(&mut self) -> Value {
        let mut line = String::new();
        tokio::time::timeout(DEADLINE, self.output.read_line(&mut line)).await.unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    }

    async fn send(&mut self, id: u64, method: &str, params: Value) {
        self.send_as(json!({"elicitation": {}}), id, method, params).await;
    }

    /// Sends a request of a client that has capabilities.
    async fn send_as(&mut self, capabilities: Value, id: u64, method: &str, params: Value) {
        let mut params = params;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": capabilities,
            "progressToken": id,
        });
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.write(message).await;
    }

    async fn call(&mut self, tool: &str, more: Value) -> Value {
        let mut params = more;
        params["name"] = json!(tool);
        self.send(1, "tools/call", params).await;
        self.read().await
    }

    async fn ended(self) -> Result<(), StdioError> {
        tokio::time::timeout(DEADLINE, self.serving).await.unwrap().unwrap()
    }
}

#[tokio::test]
async fn a_question_comes_back_with_its_answer() {
    let mut client = Client::start();
    let arguments = json!({"arguments": {"object": "cube"}});
    let asked = client.call("ask", arguments.clone()).await;
    let asked = &asked["result"];
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let question = &asked["inputRequests"]["approve"];
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["message"], "Really?");
    assert_eq!(question["params"]["requestedSchema"]["required"], json!(["approve"]));
    let mut answer = arguments.clone();
    answer["requestState"] = asked["requestState"].clone();
    answer["inputResponses"] =
        json!({"approve": {"action": "accept", "content": {"approve": true}}});
    let given = client.call("ask", answer.clone()).await;
    assert_eq!(given["result"]["structuredContent"], json!({"given": {"object": "cube"}}));
    let again = client.call("ask", answer).await;
    assert_eq!(again["error"]["code"], -32602, "{again}");
}

#[tokio::test]
async fn a_client_of_an_older_revision_cannot_approve() {
    let mut client = Client::start();
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "old", "version": "1"},
    });
    client.write(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})).await;
    let welcome = client.read().await;
    assert_eq!(welcome["result"]["protocolVersion"], "2025-11-25");
    // Subscriptions and tasks of its revision are others.
    assert_eq!(welcome["result"]["capabilities"], json!({"tools": {}, "resources": {}}));
    client.write(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    let call = json!({"name": "ask", "arguments": {}});
    client.write(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call})).await;
    let refused = client.read().await;
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert_eq!(refused["result"]["structuredContent"]["code"], "NEEDS_APPROVAL");
}

#[tokio::test]
async fn cancelled_calls_brake() {
    let mut client = Client::start();
    client.send(3, "tools/call", json!({"name": "wait", "arguments": {}})).await;
    let report = client.read().await;
    assert_eq!(report["method"], "notifications/progress", "{report}");
    assert_eq!(report["params"]["progress"], 0.5);
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}});
    client.write(cancelled).await;
    wait_for(&client.verbs.has_braked).await;
}

#[tokio::test]
async fn a_client_that_closes_the_stream_brakes_and_ends_the_server() {
    let mut client = Client::start();
    client.send(1, "tools/call", json!({"name": "wait"})).await;
    let _report = client.read().await;
    let verbs = client.verbs.clone();
    client.input.shutdown().await.unwrap();
    // At once, not when the transport has waited for the answer.
    tokio::time::timeout(Duration::from_secs(1), wait_for(&verbs.has_braked)).await.unwrap();
    client.ended().await.unwrap();
}

#[tokio::test]
async fn a_server_that_ends_brakes() {
    let mut client = Client::start();
    client.send(1, "tools/call", json!({"name": "wait"})).await;
    let _report = client.read().await;
    let (verbs, server) = (client.verbs.clone(), client.server.clone());
    assert!(!server.finished(Duration::from_millis(20)).await);
    client.stop.cancel();
    assert!(server.finished(Duration::from_secs(1)).await);
    assert!(verbs.has_braked.load(Ordering::SeqCst));
    client.ended().await.unwrap();
}

async fn wait_for(flag: &AtomicBool) {
    let reached = async {
        while !flag.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(DEADLINE, reached).await.unwrap();
}

#[tokio::test]
async fn a_verb_with_a_mistake_ends_its_call_only() {
    let mut client = Client::start();
    let failed = client.call("fail", json!({})).await;
    assert_eq!(failed["error"]["code"], -32603, "{failed}");
    let asked = client.call("ask", json!({})).await;
    assert_eq!(asked["result"]["resultType"], "input_required");
}

#[tokio::test]
async fn bytes_are_read_as_base64() {
    let mut client = Client::start();
    client.send(1, "resources/read", json!({"uri": "karakuri://gone.png"})).await;
    let read = client.read().await;
    let contents = json!([{"uri": "karakuri://gone.png", "mimeType": "image/png", "blob": "AQID"}]);
    assert_eq!(read["result"]["contents"], contents);
    assert_eq!(read["result"]["ttlMs"], 0);
}

#[tokio::test]
async fn the_server_introduces_itself() {
    let mut client = Client::start();
    client.send(1, "server/discover", json!({})).await;
    let found = client.read().await;
    let found = &found["result"];
    assert_eq!(found["instructions"], "Nothing moves.", "{found}");
    assert!(found["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")));
    let capabilities = &found["capabilities"];
    assert!(capabilities["tools"].is_object());
    assert_eq!(capabilities["resources"], json!({"subscribe": true, "listChanged": true}));
    assert_eq!(capabilities["extensions"], json!({"io.modelcontextprotocol/tasks": {}}));
}
