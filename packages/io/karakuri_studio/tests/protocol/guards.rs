//! Who is let in, and what a stranger or a broken client can do.

use serde_json::json;
use tokio_tungstenite::tungstenite::Message;

use crate::client::Place;

#[test]
fn strangers_are_not_let_in() {
    let place = Place::of_khr1();
    let refused = |headers: &[(&'static str, &str)]| match place.connect(headers) {
        Ok(_) => panic!("{headers:?} is let in"),
        Err(response) => response.status().as_u16(),
    };
    assert_eq!(refused(&[("Origin", "http://evil.example")]), 403);
    assert_eq!(refused(&[("Origin", "null")]), 403);
    assert_eq!(refused(&[("Host", "evil.example")]), 403);
    assert_eq!(refused(&[("Sec-WebSocket-Protocol", "karakuri.studio.v2")]), 400);
    let own = format!("http://127.0.0.1:{}", place.port);
    assert!(place.connect(&[("Origin", &own)]).is_ok());
}

#[test]
fn a_wrong_token_is_named_and_closed() {
    let place = Place::of_khr1();
    for (op, args) in [
        ("hello", json!({ "token": "0123456789abcdef0123456789abcdef" })),
        ("hello", json!({ "token": "" })),
        ("edit", json!({ "ops": [] })),
    ] {
        let mut client = place.connect(&[]).unwrap();
        let error = client.ask(op, args).unwrap_err();
        assert_eq!(error["code"], "unauthorized");
        let closed = client.read().unwrap_err().expect("a close frame");
        assert_eq!(u16::from(closed.code), 4401);
    }
}

#[test]
fn buffers_and_pages_are_guarded() {
    let place = Place::of_khr1();
    let (_client, _) = place.client();
    for path in ["/mesh/00", "/clip/00"] {
        assert!(place.get(path, &[]).0.starts_with("http/1.1 401"), "{path}");
        let wrong = [("Authorization", "Bearer nonsense")];
        assert!(place.get(path, &wrong).0.starts_with("http/1.1 401"), "{path}");
        let bearer = format!("Bearer {}", place.token);
        let right = [("Authorization", bearer.as_str())];
        assert!(place.get(path, &right).0.starts_with("http/1.1 404"), "{path}");
    }
    let (head, _) = place.get("/", &[]);
    for header in [
        "content-security-policy: default-src 'self'",
        "frame-ancestors 'none'",
        "x-content-type-options: nosniff",
    ] {
        assert!(head.contains(header), "{head}");
    }
    assert!(!head.contains("access-control-allow"), "{head}");
    assert!(place.get("/", &[("Host", "evil.example")]).0.starts_with("http/1.1 403"));
    for path in ["/../Cargo.toml", "/%2e%2e/Cargo.toml", "/assets/../../Cargo.toml"] {
        assert!(!place.get(path, &[]).0.starts_with("http/1.1 200"), "{path}");
    }
}

#[test]
fn malformed_messages_are_answered_and_leave_the_client() {
    let place = Place::of_khr1();
    let (mut client, _) = place.client();
    for (text, code) in [
        ("nonsense", "malformed"),
        ("[]", "malformed"),
        ("{\"id\": \"x\", \"op\": \"undo\"}", "malformed"),
        ("{\"id\": 5}", "malformed"),
        ("{\"id\": 5, \"op\": \"fly\"}", "unknown_operation"),
        ("{\"id\": 5, \"op\": \"edit\", \"args\": {}}", "malformed"),
        (
            "{\"id\": 5, \"op\": \"edit\", \"args\": {\"ops\": [{\"op\": \"pose.fly\"}]}}",
            "malformed",
        ),
        (
            "{\"id\": 5, \"op\": \"edit\", \"args\": {\"ops\": [{\"op\": \"pose.remove\", \"name\": \"x\"}]}}",
            "not_found",
        ),
        ("{\"id\": 5, \"op\": \"step\", \"args\": {\"steps\": -1}}", "malformed"),
    ] {
        client.send(text.to_owned());
        let error = loop {
            let message = client.read().unwrap();
            if let Some(error) = message.get("error") {
                break error.clone();
            }
        };
        assert_eq!(error["code"], code, "{text}: {error}");
        assert!(error["text"].as_str().is_some_and(|text| !text.is_empty()), "{text}");
    }
    // Deep nesting must not end the program.
    client.send("[".repeat(100_000));
    assert!(client.read().unwrap().get("error").is_some());
    assert!(client.ask("undo", json!({})).is_err(), "the client is still there");
}

#[test]
fn too_large_and_binary_messages_close() {
    let place = Place::of_khr1();
    let (mut client, _) = place.client();
    client.socket.send(Message::Binary(vec![0; 10].into())).unwrap();
    let closed = loop {
        if let Err(closed) = client.read() {
            break closed;
        }
    };
    assert_eq!(closed.map(|frame| u16::from(frame.code)), Some(1008));
    let (mut client, _) = place.client();
    let text = format!("{{\"id\": 1, \"op\": \"{}\"}}", "x".repeat(17 << 20));
    // The server may close while it is still being sent.
    let _sent = client.socket.send(Message::Text(text.into()));
    while client.read().is_ok() {}
    assert!(place.client().1.get("rev").is_some(), "others are let in");
}

#[test]
fn paths_stay_in_the_folder() {
    let place = Place::of_khr1();
    let (mut client, _) = place.client();
    for path in ["../x.yaml", "/etc/passwd", "a/../../x.yaml", "khr1.urdf/../../x.yaml"] {
        for op in ["open", "save"] {
            let error = client.ask(op, json!({ "path": path })).unwrap_err();
            assert_eq!(error["code"], "forbidden", "{op} {path}");
        }
    }
    let error = client.ask("files", json!({ "folder": ".." })).unwrap_err();
    assert_eq!(error["code"], "forbidden");
    let listed = client.ask("files", json!({})).unwrap();
    let names: Vec<&str> =
        listed["entries"].as_array().unwrap().iter().filter_map(|e| e["name"].as_str()).collect();
    assert_eq!(names, ["khr1.urdf", "khr1.yaml"]);
}
