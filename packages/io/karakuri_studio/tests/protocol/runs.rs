//! The simulation: run, pause, step, parameters, snapshots, pulling.

use serde_json::{Value, json};

use crate::client::{Client, Place, numbers};

/// A box above the ground.
const SCENE: &str = "\
dt: 0.001
ground: {friction: 0.8}
bodies:
  - {name: box, shape: {box: [0.1, 0.1, 0.1]}, mass: 1, pose: {xyz: [0, 0, 0.3]}}
";

fn scene() -> Place {
    Place::open("box.yaml", |folder| std::fs::write(folder.join("box.yaml"), SCENE).unwrap())
}

fn parameter(client: &mut Client, name: &str) -> Value {
    let all = client.ask("param.get", json!({ "prefix": name })).unwrap();
    all.as_array().unwrap().iter().find(|p| p["name"] == name).unwrap()["value"].clone()
}

#[test]
fn a_box_falls_and_rewinds_to_the_bit() {
    let place = scene();
    let (mut client, welcome) = place.client();
    assert_eq!(welcome["stage"]["objects"][0]["name"], "box");
    assert_eq!(welcome["run"]["phase"], "stopped");
    let state = client.ask("step", json!({ "steps": 100 })).unwrap();
    assert!((state["time"].as_f64().unwrap() - 0.1).abs() < 1e-12);
    let before = client.ask("snapshot", json!({})).unwrap();
    let on = client.ask("step", json!({ "steps": 300 })).unwrap();
    let back = client.ask("restore", json!({ "id": before["id"] })).unwrap();
    assert_eq!(back["digest"], before["digest"]);
    let again = client.ask("step", json!({ "steps": 300 })).unwrap();
    assert_eq!(again["digest"], on["digest"], "the same run again");
    client.frames.clear();
    client.ask("step", json!({ "steps": 600 })).unwrap();
    let frame = client.frame(1);
    let z = numbers(&frame)[2];
    assert!((z - 0.05).abs() < 1e-3, "it lies on the ground: {z} m");
    let contacts = numbers(&client.frame(3));
    let force: f32 = contacts.chunks(8).map(|c| c[5].abs()).sum();
    assert!((force - 9.81).abs() < 0.1, "the ground bears it: {force} N");
    assert_eq!(client.ask("restore", json!({ "id": 4711 })).unwrap_err()["code"], "not_found");
}

#[test]
fn it_runs_in_real_time_and_a_slow_reader_sees_the_latest() {
    let place = scene();
    let (mut client, _) = place.client();
    client.confirms = false;
    client.ask("run", json!({})).unwrap();
    std::thread::scope(|_| {
        let until = std::time::Instant::now() + std::time::Duration::from_millis(700);
        while std::time::Instant::now() < until {
            std::thread::yield_now();
        }
    });
    let paused = client.ask("pause", json!({})).unwrap();
    assert!(paused["time"].as_f64().unwrap() > 0.2, "{}", paused["time"]);
    let states = |client: &Client| client.frames.iter().filter(|f| f[0] == 1).count();
    assert!(states(&client) <= 2, "{} frames without a confirmation", states(&client));
    let seq =
        client.frames.last().map(|f| u32::from_le_bytes(f[4..8].try_into().unwrap())).unwrap();
    client.frames.clear();
    client.send(json!({ "id": 0, "op": "ack", "args": { "seq": seq } }).to_string());
    let frame = client.frame(1);
    let time = f64::from_le_bytes(frame[8..16].try_into().unwrap());
    assert!((time - paused["time"].as_f64().unwrap()).abs() < 1e-9, "the latest, {time} s");
}

#[test]
fn parameters_act_are_undone_and_kept() {
    let place = scene();
    let (mut client, _) = place.client();
    assert_eq!(
        client.ask("param.set", json!({ "name": "box.mass", "value": 2 })).unwrap_err()["code"],
        "state"
    );
    client.ask("step", json!({ "steps": 1 })).unwrap();
    let set = |client: &mut Client, name: &str, value: f64| {
        client.ask("param.set", json!({ "name": name, "value": value }))
    };
    set(&mut client, "world.gravity.z", 0.0).unwrap();
    set(&mut client, "box.mass", 2.0).unwrap();
    set(&mut client, "box.mass", 3.0).unwrap();
    assert_eq!(parameter(&mut client, "box.mass"), 3.0);
    let error = set(&mut client, "box.mass", -1.0).unwrap_err();
    assert_eq!((&error["code"], &error["where"]), (&json!("limit"), &json!("box.mass")));
    assert_eq!(client.ask("undo", json!({})).unwrap()["label"], "box.mass");
    assert_eq!(parameter(&mut client, "box.mass"), 1.0, "a slider that moved is one change");
    client.ask("redo", json!({})).unwrap();
    assert_eq!(parameter(&mut client, "box.mass"), 3.0);
    let kept = client.ask("param.keep", json!({})).unwrap();
    let event = client.event("doc", |event| event["rev"] == kept["rev"]);
    assert_eq!(event["patch"]["scene"]["bodies"]["box"]["mass"], 3.0);
    assert_eq!(event["patch"]["scene"]["settings"]["gravity"], json!([0.0, 0.0, 0.0]));
    assert_eq!(client.ask("undo", json!({})).unwrap()["label"], "keep parameters");
    client.ask("stop", json!({})).unwrap();
    assert_eq!(parameter(&mut client, "box.mass"), 1.0);
}

#[test]
fn a_box_is_pushed_and_pulled() {
    let place = scene();
    let (mut client, _) = place.client();
    client.ask("step", json!({ "steps": 400 })).unwrap();
    let grab = json!({ "part": "box", "point": [0, 0, 0], "to": [0.5, 0, 0.4] });
    client.ask("grab", grab).unwrap();
    client.frames.clear();
    client.ask("step", json!({ "steps": 2000 })).unwrap();
    let place_of = numbers(&client.frame(1));
    assert!((place_of[0] - 0.5).abs() < 0.02, "it hangs where it is pulled: {} m", place_of[0]);
    client.ask("release", json!({})).unwrap();
    client.ask("push", json!({ "part": "box", "force": [0, 50, 0], "duration": 0.1 })).unwrap();
    client.frames.clear();
    client.ask("step", json!({ "steps": 200 })).unwrap();
    assert!(numbers(&client.frame(1))[1] > 0.1);
    for part in ["nothing", "world"] {
        let grab = json!({ "part": part, "point": [0, 0, 0], "to": [0, 0, 0] });
        assert!(client.ask("grab", grab).is_err(), "{part}");
    }
}

#[test]
fn a_scene_is_built_and_runs_elsewhere() {
    let place = scene();
    let (mut client, _) = place.client();
    let ball = json!({ "shape": { "sphere": { "radius": 0.05 } }, "mass": 0.2, "pose": { "xyz": [0, 0, 0.5] } });
    let hinge = json!({ "a": "world", "b": "ball", "type": "hinge", "axis": [0, 1, 0], "pose": { "xyz": [0, 0, 0.5] } });
    let spring = json!({ "a": { "part": "world", "point": [0, 0, 1] }, "b": { "part": "box" }, "stiffness": 100, "rest_length": 0.2 });
    for (list, name, entry) in
        [("bodies", "ball", ball), ("joints", "hinge", hinge), ("springs", "springs 1", spring)]
    {
        let ops = json!([{ "op": "entry.put", "list": list, "name": name, "entry": entry }]);
        client.ask("edit", json!({ "ops": ops })).unwrap_or_else(|e| panic!("{list}: {e}"));
    }
    let stage =
        client.event("stage", |event| event["objects"].as_array().is_some_and(|o| o.len() == 2));
    assert_eq!(stage["n_bodies"], 2);
    let wrong = json!([{ "op": "entry.put", "list": "bodies", "name": "bad", "entry": { "shape": { "box": [0.1, 0.1, 0.1] } } }]);
    let error = client.ask("edit", json!({ "ops": wrong })).unwrap_err();
    assert_eq!(error["code"], "invalid");
    assert!(error["text"].as_str().unwrap().contains("mass"), "{error}");
    client.ask("save", json!({ "path": "built.yaml" })).unwrap();
    let built = karakuri_simulation::load_scene(&place.folder.path().join("built.yaml")).unwrap();
    let mut world = built.world().unwrap();
    world.step();
    assert_eq!(world.body_ids().count(), 2);
    let remove = json!([{ "op": "entry.remove", "list": "bodies", "name": "ball" }]);
    client.ask("edit", json!({ "ops": remove })).unwrap();
    let patch = client.event("doc", |e| e["patch"]["scene"]["bodies"].get("ball").is_none());
    assert_eq!(patch["patch"]["scene"]["joints"], json!({}), "its joint goes with it");
    for _ in 0..4 {
        client.ask("undo", json!({})).unwrap();
    }
    client.ask("save", json!({ "path": "box.yaml", "force": true })).unwrap();
    assert_eq!(
        karakuri_simulation::load_scene(&place.folder.path().join("box.yaml"))
            .unwrap()
            .scene
            .bodies
            .len(),
        1
    );
}

/// A box on a spring, and a hinged one.
const TIED: &str = "\
dt: 0.001
bodies:
  - {name: bob, shape: {box: [0.1, 0.1, 0.1]}, mass: 1, pose: {xyz: [0, 0, 0.5]}}
  - {name: arm, shape: {box: [0.4, 0.05, 0.05]}, mass: 0.5, pose: {xyz: [1.2, 0, 1]}}
springs:
  - {name: hook, a: {part: world, point: [0, 0, 1]}, b: {part: bob}, stiffness: 100, damping: 8, rest_length: 0.5}
joints:
  - {name: shoulder, a: world, b: arm, type: hinge, axis: [0, 1, 0], pose: {xyz: [1, 0, 1]}, bushing: {angular_stiffness: [5, 5, 5], angular_damping: [0.3, 0.3, 0.3]}}
";

/// Makes steps; numbers of the frame after them. Frames of earlier instants may be on their way.
fn after_steps(client: &mut Client, steps: u32, kind: u8) -> Vec<f32> {
    let state = client.ask("step", json!({ "steps": steps })).unwrap();
    let end = state["time"].as_f64().unwrap();
    loop {
        let frame = client.frame(kind);
        let time = f64::from_le_bytes(frame[8..16].try_into().unwrap());
        if (time - end).abs() < 1e-9 {
            return numbers(&frame);
        }
    }
}

#[test]
fn springs_and_inertias_are_tuned_while_it_runs() {
    let place =
        Place::open("tied.yaml", |folder| std::fs::write(folder.join("tied.yaml"), TIED).unwrap());
    let (mut client, _) = place.client();
    let set = |client: &mut Client, name: &str, value: f64| {
        client.ask("param.set", json!({ "name": name, "value": value }))
    };
    let heights = |client: &mut Client, steps: u32| {
        let row = after_steps(client, steps, 1);
        [row[2], row[9]].map(f64::from)
    };
    let before = heights(&mut client, 4000);
    assert!((before[0] - (0.5 - 9.81 / 100.0)).abs() < 1e-3, "m g / k: {before:?}");
    set(&mut client, "springs.hook.stiffness", 400.0).unwrap();
    set(&mut client, "bob.mass", 2.0).unwrap();
    set(&mut client, "joints.shoulder.angular_stiffness.z", 50.0).unwrap();
    let follower = client.event("param", |event| event["name"] == "bob.ixx");
    assert!(follower["value"].as_f64().unwrap() > follower["initial"].as_f64().unwrap());
    let after = heights(&mut client, 4000);
    assert!((after[0] - (0.5 - 2.0 * 9.81 / 400.0)).abs() < 1e-3, "m g / k: {after:?}");
    assert!(after[1] > before[1] + 0.03, "the stiffer hinge bears the arm: {before:?} {after:?}");

    let error = set(&mut client, "arm.ixx", 1.0).unwrap_err();
    assert_eq!((&error["code"], &error["where"]), (&json!("invalid"), &json!("arm.ixx")));
    assert!(error["text"].as_str().unwrap().contains("exceeds the sum"), "{error}");
    set(&mut client, "arm.iyy", 0.0069).unwrap();
    assert_eq!(client.ask("undo", json!({})).unwrap()["label"], "arm.iyy");
    assert_eq!(
        client.ask("undo", json!({})).unwrap()["label"],
        "joints.shoulder.angular_stiffness.z"
    );
    assert_eq!(parameter(&mut client, "joints.shoulder.angular_stiffness.z"), json!(5.0));
    for _ in 0..2 {
        client.ask("redo", json!({})).unwrap();
    }
    let kept = client.ask("param.keep", json!({})).unwrap();
    let event = client.event("doc", |event| event["rev"] == kept["rev"]);
    let scene = &event["patch"]["scene"];
    assert_eq!(scene["springs"]["hook"]["stiffness"], 400.0);
    assert_eq!(scene["bodies"]["bob"]["mass"], 2.0);
    assert_eq!(scene["bodies"]["bob"]["inertia"], Value::Null, "it follows the mass");
    assert_eq!(scene["bodies"]["arm"]["inertia"]["iyy"], 0.0069);
    assert_eq!(scene["joints"]["shoulder"]["bushing"]["angular_stiffness"], json!([5, 5, 50.0]));
    client.ask("save", json!({ "path": "kept.yaml" })).unwrap();
    let kept = karakuri_simulation::load_scene(&place.folder.path().join("kept.yaml")).unwrap();
    let mut world = kept.world().unwrap();
    for _ in 0..8000 {
        world.step();
    }
    let bob = world.body(world.find_body("bob").unwrap()).pose().translation.z;
    assert!((bob - after[0]).abs() < 1e-3, "{bob} m, {after:?}");
    let hook = world.find_spring("hook").map(|id| world.spring(id).unwrap().stiffness);
    assert_eq!(hook, Some(400.0));
}

#[test]
fn the_ledger_of_a_run_closes_over_changes() {
    let place = scene();
    let (mut client, _) = place.client();
    let state = client.ask("step", json!({ "steps": 100 })).unwrap();
    client.ask("param.set", json!({ "name": "box.mass", "value": 3.0 })).unwrap();
    let values = after_steps(&mut client, 900, 4);
    let of = |name: &str| {
        let names = state["plots"].as_array().unwrap();
        let at = names.iter().position(|known| known == name).unwrap();
        f64::from(values[at])
    };
    // It began with m g z at 0.3 m and lies at 0.05 m, three times as heavy.
    let start = 9.81 * 0.3;
    let causes = ["external", "contacts", "stabilisation", "integration", "unexplained"];
    let sum: f64 = causes.iter().map(|cause| of(&format!("ledger.{cause}_J"))).sum();
    let now = of("energy.kinetic_J") + of("energy.potential_J");
    assert!((start + sum - now).abs() < 1e-4, "{start} + {sum} is {now} J");
    assert!(of("ledger.external_J") > 5.0 && of("ledger.contacts_J") < -6.0);
}
