//! Edits, undo, drags, several clients, saving, recovery.

use serde_json::{Value, json};

use crate::client::{Client, Place};

/// A document with a pose and a motion.
const MOTIONS: &str = "\
karakuri_motion: 1
robot: {model: khr1, urdf: khr1.urdf, config: khr1.yaml}
units: {angle: deg}
poses:
  stand: {l_knee_pitch: 20, r_knee_pitch: 20}
  bow: {from: stand, head_yaw: 10}
motions:
  greet:
    frame: 0.015
    scenes:
      - {pose: stand, time: 0.5}
      - {pose: bow, time: 1}
";

fn motions() -> Place {
    Place::open("greet.yaml", |folder| {
        std::fs::write(folder.join("greet.yaml"), MOTIONS).unwrap();
    })
}

fn set_head(angle: f64) -> Value {
    json!({ "ops": [{ "op": "pose.joints", "name": "bow", "joints": { "head_yaw": angle } }] })
}

fn document(client: &mut Client, place: &Place) -> Value {
    // `hello` again answers with the whole document.
    client.ask("hello", json!({ "token": place.token })).unwrap()["document"].clone()
}

#[test]
fn fifty_edits_and_fifty_undos_leave_every_byte() {
    let place = motions();
    let (mut client, welcome) = place.client();
    let first = welcome["document"].clone();
    for i in 0..50 {
        let ops = match i % 7 {
            0 => {
                json!([{ "op": "pose.joints", "name": "bow", "joints": { "head_yaw": i, "l_knee_pitch": 0.1 * f64::from(i) } }])
            }
            1 => {
                json!([{ "op": "pose.put", "name": format!("p{i}"), "pose": { "head_yaw": i }, "index": 1 }])
            }
            2 => {
                json!([{ "op": "scene.insert", "motion": "greet", "index": 1, "scene": { "pose": "bow", "time": 0.3 } }])
            }
            3 => {
                json!([{ "op": "key.put", "motion": "greet", "joint": "head_yaw", "key": { "t": f64::from(i), "y": 3 } }])
            }
            4 => json!([{ "op": "scene.move", "motion": "greet", "index": 0, "to": 1 }]),
            5 => {
                json!([{ "op": "pose.rename", "name": "stand", "to": format!("s{i}") }, { "op": "pose.rename", "name": format!("s{i}"), "to": "stand" }])
            }
            _ => {
                json!([{ "op": "entry.put", "list": "bodies", "name": format!("b{i}"), "entry": { "shape": { "box": [0.1, 0.1, 0.1] }, "mass": 1 } }])
            }
        };
        client.ask("edit", json!({ "ops": ops, "label": format!("edit {i}") })).unwrap();
    }
    client.ask("save", json!({ "path": "other.yaml" })).unwrap();
    assert_ne!(place.text("other.yaml"), MOTIONS);
    for i in (0..50).rev() {
        assert_eq!(client.ask("undo", json!({})).unwrap()["label"], format!("edit {i}"));
    }
    assert_eq!(document(&mut client, &place).to_string(), first.to_string());
    assert_eq!(client.ask("undo", json!({})).unwrap_err()["code"], "state");
    client.ask("save", json!({ "path": "back.yaml" })).unwrap();
    for _ in 0..50 {
        client.ask("redo", json!({})).unwrap();
    }
    client.ask("save", json!({ "path": "again.yaml" })).unwrap();
    assert_eq!(place.text("again.yaml"), place.text("other.yaml"));
}

#[test]
fn an_unchanged_document_is_saved_as_it_was() {
    let place = motions();
    let (mut client, _) = place.client();
    client.ask("edit", set_head(30.0)).unwrap();
    client.ask("undo", json!({})).unwrap();
    client.ask("save", json!({})).unwrap();
    assert_eq!(place.text("greet.yaml"), MOTIONS);
}

#[test]
fn a_drag_is_one_step() {
    let place = motions();
    let (mut client, welcome) = place.client();
    let first = welcome["document"].clone();
    client.ask("begin", json!({ "label": "turn head" })).unwrap();
    for angle in 0..20 {
        client.ask("update", set_head(f64::from(angle))).unwrap();
    }
    let event =
        client.event("drag", |event| event["patch"]["poses"]["bow"]["joints"]["head_yaw"] == 19.0);
    assert_eq!(event["by"], "A");
    client.ask("commit", json!({})).unwrap();
    let event = client.event("doc", |_| true);
    assert_eq!(event["undo"], "turn head");
    assert_eq!(client.ask("undo", json!({})).unwrap()["label"], "turn head");
    assert_eq!(document(&mut client, &place), first);
    client.ask("begin", json!({})).unwrap();
    client.ask("update", set_head(5.0)).unwrap();
    client.ask("cancel", json!({})).unwrap();
    assert_eq!(document(&mut client, &place), first);
    assert_eq!(client.ask("update", set_head(5.0)).unwrap_err()["code"], "state");
}

#[test]
fn an_edit_of_an_old_revision_by_index_conflicts() {
    let place = motions();
    let (mut client, welcome) = place.client();
    let rev = welcome["rev"].clone();
    client.ask("edit", set_head(1.0)).unwrap();
    let remove = json!([{ "op": "scene.remove", "motion": "greet", "index": 0 }]);
    client.send(
        json!({ "id": 900, "op": "edit", "rev": rev, "args": { "ops": remove } }).to_string(),
    );
    assert_eq!(client.answer(&json!(900)).unwrap_err()["code"], "conflict");
    client.send(json!({ "id": 901, "op": "edit", "rev": rev, "args": set_head(2.0) }).to_string());
    client.answer(&json!(901)).unwrap();
}

#[test]
fn two_clients_see_the_same_and_one_edits() {
    let place = motions();
    let (mut first, _) = place.client();
    let (mut second, welcome) = place.client();
    assert_eq!(welcome["lease"]["holder"], "A");
    let refused = second.ask("edit", set_head(1.0)).unwrap_err();
    assert_eq!(refused["code"], "no_lease");
    first.ask("edit", set_head(2.0)).unwrap();
    let seen = second.event("doc", |_| true);
    assert_eq!(seen["patch"]["poses"]["bow"]["joints"]["head_yaw"], 2.0);
    assert_eq!(seen["by"], "A");
    first.ask("begin", json!({})).unwrap();
    first.ask("update", set_head(9.0)).unwrap();
    assert_eq!(second.ask("lease.take", json!({})).unwrap()["asked_by"], "B");
    first.ask("lease.give", json!({})).unwrap();
    second.event("lease", |event| event["holder"] == "B");
    // Its drag ends with the lease.
    assert_eq!(document(&mut second, &place)["poses"]["bow"]["joints"]["head_yaw"], 2.0);
    second.ask("edit", set_head(3.0)).unwrap();
    drop(second);
    first.event("lease", |event| event["holder"].is_null());
    first.ask("lease.take", json!({})).unwrap();
    first.ask("edit", set_head(4.0)).unwrap();
}

#[test]
fn a_lease_that_is_not_given_passes_on() {
    let place = motions();
    let (mut first, _) = place.client();
    let (mut second, _) = place.client();
    let since = std::time::Instant::now();
    second.ask("lease.take", json!({})).unwrap();
    second.event("lease", |event| event["holder"] == "B");
    assert!(since.elapsed().as_secs_f64() > 4.5, "after {:?}", since.elapsed());
    assert_eq!(first.ask("edit", set_head(1.0)).unwrap_err()["code"], "no_lease");
}

#[test]
fn a_file_that_changed_on_disk_is_not_overwritten() {
    let place = motions();
    let (mut client, _) = place.client();
    client.ask("edit", set_head(1.0)).unwrap();
    std::fs::write(place.folder.path().join("greet.yaml"), "of somebody else").unwrap();
    let error = client.ask("save", json!({})).unwrap_err();
    assert_eq!(error["code"], "file_changed");
    assert_eq!(place.text("greet.yaml"), "of somebody else");
    let error = client.ask("save", json!({ "path": "khr1.yaml" })).unwrap_err();
    assert_eq!(error["code"], "file_changed", "a file that is there is not overwritten either");
    client.ask("save", json!({ "force": true })).unwrap();
    assert!(place.text("greet.yaml").contains("head_yaw"));
}

#[test]
fn what_was_not_saved_is_offered() {
    let mut place = motions();
    let (mut client, _) = place.client();
    for angle in [7.0, 8.0, 9.0] {
        client.ask("edit", set_head(angle)).unwrap();
    }
    client.ask("undo", json!({})).unwrap();
    drop(client);
    place.start("greet.yaml");
    let (mut client, welcome) = place.client();
    assert_eq!(welcome["recovery"]["edits"], 4, "{}", welcome["recovery"]);
    assert_eq!(welcome["document"]["poses"]["bow"]["joints"]["head_yaw"], 10.0);
    client.ask("recover", json!({ "accept": true })).unwrap();
    assert_eq!(document(&mut client, &place)["poses"]["bow"]["joints"]["head_yaw"], 8.0);
    client.ask("save", json!({})).unwrap();
    drop(client);
    place.start("greet.yaml");
    let (_client, welcome) = place.client();
    assert!(welcome["recovery"].is_null(), "what is saved is not offered");
    assert_eq!(welcome["document"]["poses"]["bow"]["joints"]["head_yaw"], 8.0);
}

#[test]
fn a_robot_becomes_a_document_elsewhere() {
    let mut place = Place::of_khr1();
    std::fs::create_dir(place.folder.path().join("motions")).unwrap();
    let (mut client, welcome) = place.client();
    assert_eq!(welcome["stage"]["robots"][0]["joints"].as_array().unwrap().len(), 17);
    assert_eq!(welcome["stage"]["robots"][0]["floating"], true, "by khr1.yaml");
    let pose = json!([{ "op": "pose.put", "name": "stand", "pose": { "l_knee_pitch": 0.5 } }]);
    client.ask("edit", json!({ "ops": pose })).unwrap();
    assert_eq!(client.ask("save", json!({})).unwrap_err()["code"], "state");
    client.ask("save", json!({ "path": "motions/stand.yaml" })).unwrap();
    drop(client);
    place.start("motions/stand.yaml");
    let (_client, welcome) = place.client();
    assert_eq!(welcome["document"]["robot"]["urdf"], "../khr1.urdf");
    assert_eq!(welcome["document"]["poses"]["stand"]["joints"]["l_knee_pitch"], 0.5);
}

#[test]
fn handles_are_reached_and_say_why_not() {
    let place = motions();
    let (mut client, _) = place.client();
    let shown = client.ask("evaluate", json!({ "pose": "bow" })).unwrap();
    assert_eq!(shown["bodies"].as_array().unwrap().len(), 18);
    let degrees = shown["joints"]["l_knee_pitch"].as_f64().unwrap().to_degrees();
    assert!((degrees - 20.0).abs() < 1e-9, "{degrees}");
    let z = shown["root"][2].as_f64().unwrap();
    assert!((0.1..0.4).contains(&z), "it stands on the floor: {z} m");
    let goal = |dx: f64| {
        json!({
            "start": { "pose": "bow" },
            "targets": [{ "link": "r_gripper", "position": [0.05 + dx, -0.1, z] }],
            "locked": ["head_yaw"],
        })
    };
    let far = client.ask("ik", goal(1.0)).unwrap();
    assert_eq!(far["reached"], false);
    assert_eq!(far["obstacle"], "OutOfReach", "{far}");
    for (_, q) in far["pose"]["joints"].as_object().unwrap() {
        assert!(q.as_f64().unwrap().is_finite());
    }
    assert_eq!(far["pose"]["joints"]["head_yaw"], shown["joints"]["head_yaw"], "it is locked");
}

#[test]
fn the_centre_of_mass_is_dragged_over_feet_that_stand() {
    let place = motions();
    let (mut client, welcome) = place.client();
    let feet = welcome["stage"]["robots"][0]["feet"].clone();
    let shown = client.ask("evaluate", json!({ "pose": "bow" })).unwrap();
    let [x, y] = [0, 1].map(|i| shown["com"][i].as_f64().unwrap());
    let goal = |x: f64| json!({ "start": { "pose": "bow" }, "held": feet, "com": [x, y], "root_moves": true });
    let near = client.ask("ik", goal(x + 0.004)).unwrap();
    assert_eq!(near["reached"], true, "{near}");
    let moved = near["pose"]["com"][0].as_f64().unwrap() - x;
    assert!((moved - 0.004).abs() < 1e-4, "{moved} m");
    let far = client.ask("ik", goal(x + 0.4)).unwrap();
    assert_eq!(far["reached"], false, "{far}");
}
