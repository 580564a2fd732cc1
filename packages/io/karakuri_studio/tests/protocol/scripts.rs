//! Scripts: off until they are allowed, ended by their limits, repeatable.

use serde_json::{Value, json};

use crate::client::{Client, Place};

fn add(client: &mut Client, name: &str, text: &str) {
    let ops = json!([{ "op": "script.put", "name": name, "text": text }]);
    client.ask("edit", json!({ "ops": ops })).unwrap();
}

fn script(client: &mut Client, name: &str) -> Value {
    let all = client.ask("script.list", json!({})).unwrap();
    all.as_array().unwrap().iter().find(|s| s["name"] == name).unwrap().clone()
}

fn allow(client: &mut Client, name: &str) {
    let hash = script(client, name)["hash"].clone();
    client.ask("script.allow", json!({ "name": name, "hash": hash })).unwrap();
}

#[test]
fn a_script_waves_only_when_it_is_allowed() {
    let place = Place::of_khr1();
    let (mut client, _) = place.client();
    add(
        &mut client,
        "wave",
        "fn step(s) {\n  s.set_target(\"r_shoulder_roll\", -0.5);\n  s.plot(\"angle\", s.q(\"r_shoulder_roll\"));\n}",
    );
    assert_eq!(script(&mut client, "wave")["allowed"], false);
    let plots = |client: &mut Client| {
        let state = client.ask("step", json!({ "steps": 5 })).unwrap();
        state["plots"].as_array().unwrap().iter().any(|p| p == "script.angle")
    };
    assert!(!plots(&mut client));
    client.ask("stop", json!({})).unwrap();
    let error = client.ask("script.allow", json!({ "name": "wave", "hash": "00" })).unwrap_err();
    assert_eq!(error["code"], "conflict", "another text than the one that was read");
    allow(&mut client, "wave");
    assert!(plots(&mut client));
    add(&mut client, "wave", "fn step(s) { }");
    assert_eq!(script(&mut client, "wave")["allowed"], false, "another text is asked about again");
}

#[test]
fn a_bomb_stops_itself_and_not_the_simulation() {
    let place = Place::of_khr1();
    let (mut client, _) = place.client();
    add(&mut client, "bomb", "fn step(s) {\n  let x = 0;\n  loop { x += 1; }\n}");
    allow(&mut client, "bomb");
    let state = client.ask("step", json!({ "steps": 20 })).unwrap();
    assert!((state["time"].as_f64().unwrap() - 0.02).abs() < 1e-12, "the simulation goes on");
    let heard = client.event("script", |s| s["name"] == "bomb" && s["line"] == 3);
    let bomb = script(&mut client, "bomb");
    assert_eq!(heard["error"], bomb["error"], "all clients hear of it at once");
    assert_eq!(bomb["line"], 3, "{bomb}");
    assert!(bomb["error"].as_str().unwrap().contains("100000 operations"), "{bomb}");
    add(&mut client, "typo", "fn step(s) {\n  let = 3;\n}");
    assert_eq!(script(&mut client, "typo")["line"], 2);
}

#[test]
fn what_has_stopped_goes_on_from_an_earlier_snapshot() {
    let place = Place::of_khr1();
    let (mut client, _) = place.client();
    add(&mut client, "late", "fn step(s) {\n  if s.time > 0.01 { s.say(none); }\n}");
    allow(&mut client, "late");
    client.ask("step", json!({ "steps": 20 })).unwrap();
    assert_eq!(script(&mut client, "late")["line"], 2);
    client.ask("restore", json!({ "time": 0.0 })).unwrap();
    let heard = client.event("script", |s| s["name"] == "late" && s["error"] == "");
    assert_eq!(heard["line"], 0);
    client.ask("step", json!({ "steps": 20 })).unwrap();
    assert_eq!(script(&mut client, "late")["line"], 2);
}

#[test]
fn a_recording_has_a_row_a_step() {
    let place = Place::of_khr1();
    let (mut client, _) = place.client();
    client.ask("step", json!({ "steps": 1 })).unwrap();
    client.ask("record", json!({ "on": true })).unwrap();
    client.ask("step", json!({ "steps": 250 })).unwrap();
    let recording = client.ask("record", json!({ "on": false })).unwrap();
    assert_eq!(recording["n_rows"], 250);
    assert!(recording["csv"].as_str().is_some_and(|csv| csv.len() > 250));
}

#[test]
fn clients_hear_the_names_of_what_a_script_plots() {
    let place = Place::of_khr1();
    let (mut client, _) = place.client();
    add(&mut client, "late", "fn step(s) { if s.time > 0.02 { s.plot(\"time\", s.time); } }");
    allow(&mut client, "late");
    let plots = |run: &Value| run["plots"].as_array().unwrap().contains(&json!("script.time"));
    assert!(!plots(&client.ask("run", json!({ "speed": 0 })).unwrap()));
    client.event("run", plots);
}
