//! `karakuri studio`: it prints where it is, refuses what is unsafe, and loses nothing when it is killed.

#![expect(
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    reason = "helpers of tests may panic as the tests do"
)]

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::{Message, WebSocket, client};

const MOTIONS: &str = "karakuri_motion: 1\nposes:\n  stand: {head: 0}\n";

fn studio(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_karakuri"));
    command.arg("studio").args(arguments);
    command
}

/// A studio that runs, its port and its token.
struct Running {
    child: Child,
    port: u16,
    token: String,
}

impl Running {
    fn start(file: &Path) -> Self {
        let mut command = studio(&[file.to_str().unwrap(), "--port", "0"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (host, token) = line.trim().split_once("/#token=").unwrap();
        let port = host.rsplit_once(':').unwrap().1.parse().unwrap();
        Self { child, port, token: token.to_owned() }
    }

    /// A client, and what it was welcomed with.
    fn client(&self) -> (WebSocket<TcpStream>, Value) {
        let host = format!("127.0.0.1:{}", self.port);
        let mut request = format!("ws://{host}/ws").into_client_request().unwrap();
        let protocol = HeaderValue::from_static("karakuri.studio.v1");
        request.headers_mut().insert("Sec-WebSocket-Protocol", protocol);
        let stream = TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let (mut socket, _) = client(request, stream).unwrap();
        let welcome = ask(&mut socket, "hello", json!({ "token": self.token }));
        (socket, welcome)
    }

    fn kill(mut self) {
        // SIGKILL: nothing of it runs any more.
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn ask(socket: &mut WebSocket<TcpStream>, op: &str, args: Value) -> Value {
    let request = json!({ "id": 1, "op": op, "args": args });
    socket.send(Message::Text(request.to_string().into())).unwrap();
    loop {
        let Message::Text(text) = socket.read().unwrap() else { continue };
        let answer: Value = serde_json::from_str(&text).unwrap();
        if answer["id"] == 1 {
            assert!(answer.get("error").is_none(), "{answer}");
            return answer["result"].clone();
        }
    }
}

#[test]
fn a_kill_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("motions.yaml");
    std::fs::write(&file, MOTIONS).unwrap();
    let running = Running::start(&file);
    let (mut socket, welcome) = running.client();
    assert_eq!(welcome["recovery"], Value::Null);
    for i in 0..250 {
        let ops = json!([{ "op": "pose.joints", "name": "stand", "joints": { "head": i } }]);
        ask(&mut socket, "edit", json!({ "ops": ops }));
    }
    running.kill();
    let running = Running::start(&file);
    let (mut socket, welcome) = running.client();
    assert_eq!(welcome["document"]["poses"]["stand"]["joints"]["head"], 0.0);
    assert!(welcome["recovery"]["edits"].as_u64().unwrap() > 0, "{welcome}");
    ask(&mut socket, "recover", json!({ "accept": true }));
    let again = ask(&mut socket, "hello", json!({ "token": running.token }));
    assert_eq!(again["document"]["poses"]["stand"]["joints"]["head"], 249.0);
    running.kill();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), MOTIONS, "the file itself is untouched");
}

#[test]
fn what_is_unsafe_or_wrong_is_refused_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("motions.yaml");
    std::fs::write(&file, MOTIONS).unwrap();
    let weak = folder.path().join("token");
    std::fs::write(&weak, "secret").unwrap();
    let other = folder.path().join("other.yaml");
    std::fs::write(&other, "a: 1\n").unwrap();
    let (file, weak, other) =
        (file.to_str().unwrap(), weak.to_str().unwrap(), other.to_str().unwrap());
    for (arguments, says) in [
        (
            vec![file, "--listen", "0.0.0.0"],
            "name a secret that you give to them with --token-file",
        ),
        (vec![file, "--token-file", weak], "the token has 6 characters"),
        (vec![other], "is neither a URDF nor motions nor a scene"),
        (vec![file, "--folder", "/usr"], "is not in /usr"),
    ] {
        let output = studio(&arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.contains(says), "{arguments:?}: {said}");
    }
    let running = Running::start(Path::new(file));
    let port = running.port.to_string();
    let output = studio(&[file, "--port", &port]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    running.kill();
    assert!(
        said.contains("is another studio running? choose another port with `--port`"),
        "{said}"
    );
}
