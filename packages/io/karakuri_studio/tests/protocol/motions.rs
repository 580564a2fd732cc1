//! Sampled motions, previews, files of other programs.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{CLIP, Client, Place, numbers};

/// Standing, a turn of the head, and a motion that cannot end well.
pub(crate) const MOTIONS: &str = "\
karakuri_motion: 1
robot: {model: khr1, urdf: khr1.urdf, config: khr1.yaml}
poses:
  stand:
    head_yaw: 0
    l_shoulder_pitch: -0.35
    r_shoulder_pitch: -0.35
    l_hip_pitch: -0.45
    l_knee_pitch: 0.85
    l_ankle_pitch: -0.4
    r_hip_pitch: -0.45
    r_knee_pitch: 0.85
    r_ankle_pitch: -0.4
  look: {from: stand, head_yaw: 0.5}
  topple: {from: stand, l_ankle_pitch: 0.4, r_ankle_pitch: 0.4}
motions:
  look:
    frame: 0.015
    start: {pose: stand, support: both}
    scenes:
      - {pose: stand, time: 0.2}
      - {pose: look, time: 0.4, ease: smooth}
  topple:
    frame: 0.015
    start: {pose: stand, support: both}
    scenes:
      - {pose: topple, time: 0.5}
";

pub(crate) fn motions() -> Place {
    Place::open("motions.yaml", |folder| {
        std::fs::write(folder.join("motions.yaml"), MOTIONS).unwrap();
    })
}

/// Previews a motion until its end.
pub(crate) fn preview(client: &mut Client, motion: &str) -> Value {
    let begun = client.ask("preview", json!({ "motion": motion })).unwrap();
    let job = begun["job"].clone();
    if !begun["report"].is_null() {
        return begun["report"].clone();
    }
    let ended = client.event("preview", |event| {
        event["job"] == job && (!event["report"].is_null() || event["error"] != "")
    });
    assert_eq!(ended["error"], "", "{ended}");
    ended["report"].clone()
}

#[test]
fn a_clip_has_the_curve_and_the_balance() {
    let place = motions();
    let (mut client, welcome) = place.client();
    let clip = client.ask("clip", json!({ "motion": "look" })).unwrap();
    let n = usize::try_from(clip["n_rows"].as_u64().unwrap()).unwrap();
    assert_eq!(n, 41, "0.6 s at 15 ms and the end");
    let bearer = format!("Bearer {}", place.token);
    let (head, bytes) = place
        .get(&format!("/clip/{}", clip["hash"].as_str().unwrap()), &[("Authorization", &bearer)]);
    assert!(head.starts_with("http/1.1 200"), "{head}");
    assert!(head.contains("immutable"), "{head}");
    let rows = numbers(&bytes);
    let width = 18 * 7 + 17 * 3;
    assert_eq!(rows.len(), n * width);
    let robot = &welcome["stage"]["robots"][0];
    let joints = robot["joints"].as_array().unwrap();
    let head = joints.iter().position(|j| j["name"] == "head_yaw").unwrap();
    let at = |row: usize| f64::from(rows[row * width + 18 * 7 + 3 * head]);
    // Smooth: 3u² − 2u³ of 0.5 rad from 0.2 s to 0.6 s.
    for row in 0..n {
        let t = (row as f64 * 0.015).min(0.6);
        let u = ((t - 0.2) / 0.4).clamp(0.0, 1.0);
        let want = 0.5 * (3.0 * u * u - 2.0 * u.powi(3));
        assert!((at(row) - want).abs() < 1e-6, "row {row}: {} and {want}", at(row));
    }
    let margins = clip["balance"]["margin"].as_array().unwrap();
    assert_eq!(margins.len(), n);
    assert!(margins.iter().all(|m| m.as_f64().is_some_and(|m| m > 0.0)), "it stands");
    assert!(clip["balance"]["polygons"][0][1].as_array().unwrap().len() >= 4);
    let error = client.ask("clip", json!({ "motion": "fly" })).unwrap_err();
    assert_eq!(error["code"], "not_found");
}

#[test]
fn previews_are_repeatable_remembered_and_cancelled() {
    let place = motions();
    let (mut client, _) = place.client();
    let sound = preview(&mut client, "look");
    assert_eq!(sound["verdict"], "ok", "{sound}");
    let falls = preview(&mut client, "topple");
    assert_eq!(falls["verdict"], "falls", "{falls}");
    let since = Instant::now();
    let again = preview(&mut client, "look");
    assert!(since.elapsed() < Duration::from_secs(2), "{:?}", since.elapsed());
    assert_eq!(again["cached"], true);
    assert_eq!(again["digest"], sound["digest"]);
    client.ask("preview", json!({ "motion": "topple" })).unwrap();
    client.ask("edit", json!({ "ops": [{ "op": "pose.joints", "name": "look", "joints": { "head_yaw": 0.4 } }] })).unwrap();
    let other = preview(&mut client, "look");
    assert_eq!(other["cached"], false, "another motion");
    assert_ne!(other["digest"], sound["digest"]);
    client.ask("undo", json!({})).unwrap();
    assert_eq!(preview(&mut client, "look")["cached"], true);
    // In another studio: the same to the bit.
    let elsewhere = motions();
    let (mut client, _) = elsewhere.client();
    let begun = client.ask("preview", json!({ "motion": "topple" })).unwrap();
    assert!(begun["report"].is_null());
    let cancelled = client.ask("preview.cancel", json!({})).unwrap();
    assert_eq!(cancelled["cancelled"], true);
    assert_eq!(preview(&mut client, "look")["digest"], sound["digest"]);
}

#[test]
fn rows_of_a_preview_come_in_parts() {
    let place = motions();
    let (mut client, welcome) = place.client();
    let report = preview(&mut client, "look");
    let stage = welcome["stage"]["number"].as_u64().unwrap();
    let width = 18 * 7 + 17 * 3;
    let n_rows = usize::try_from(report["n_rows"].as_u64().unwrap()).unwrap();
    let mut rows: Vec<f32> = Vec::new();
    // 1.6 s of simulation take several parts, of which the last may come after the report.
    while rows.len() < n_rows * width {
        let part = client.frame(CLIP);
        assert_eq!(u64::from(u16::from_le_bytes(part[2..4].try_into().unwrap())), stage);
        let first = u32::from_le_bytes(part[4..8].try_into().unwrap());
        assert_eq!(first as usize * width, rows.len(), "the first row of a part");
        assert_eq!(json!(f64::from_le_bytes(part[8..16].try_into().unwrap())), report["dt"]);
        rows.extend(numbers(&part));
    }
    let bearer = format!("Bearer {}", place.token);
    let path = format!("/clip/{}", report["clip"].as_str().unwrap());
    let (_, whole) = place.get(&path, &[("Authorization", &bearer)]);
    assert!(rows == numbers(&whole), "the parts together are the clip");

    // What is known has no parts.
    client.frames.clear();
    assert_eq!(preview(&mut client, "look")["cached"], true);
    client.ask("script.list", json!({})).unwrap();
    assert!(client.frames.is_empty());
}

#[test]
fn an_edit_ends_a_preview_of_what_it_changed() {
    let place = motions();
    let (mut client, _) = place.client();
    let set = |yaw: f64| json!({ "ops": [{ "op": "pose.joints", "name": "look", "joints": { "head_yaw": yaw } }] });
    let job = client.ask("preview", json!({ "motion": "topple" })).unwrap()["job"].clone();
    client.ask("edit", set(0.4)).unwrap();
    // All poses belong to each motion.
    let ended = client.event("preview", |event| event["job"] == job && event["cancelled"] == true);
    assert_eq!(ended["report"], Value::Null);

    let panel =
        json!({ "ops": [{ "op": "panel.insert", "index": 0, "panel": { "title": "mine" } }] });
    let job = client.ask("preview", json!({ "motion": "topple" })).unwrap()["job"].clone();
    client.ask("edit", panel).unwrap();
    let ended = client.event("preview", |event| event["job"] == job && !event["report"].is_null());
    assert_eq!(ended["report"]["verdict"], "falls", "a panel is no part of a motion");
}

#[test]
fn known_curves_are_answered_at_once_and_a_long_motion_holds_nobody_up() {
    let place = motions();
    let (mut client, _) = place.client();
    let scenes: Vec<Value> = (0..200)
        .map(|i| json!({ "pose": if i % 2 == 0 { "look" } else { "stand" }, "time": 0.3 }))
        .collect();
    let start = json!({ "pose": "stand", "support": "both" });
    let motion = json!({ "frame": 0.015, "start": start, "scenes": scenes });
    let op = json!({ "op": "motion.put", "name": "long", "motion": motion });
    client.ask("edit", json!({ "ops": [op] })).unwrap();

    // Asked at once: the second answer does not wait for the first, of 4000 frames.
    client.send(json!({ "id": 900, "op": "clip", "args": { "motion": "long" } }).to_string());
    client.send(json!({ "id": 901, "op": "script.list", "args": {} }).to_string());
    let first = loop {
        let message = client.read().unwrap();
        if message.get("ev").is_none() {
            break message;
        }
    };
    assert_eq!(first["id"], 901);
    let curves = client.answer(&json!(900)).unwrap();
    assert!((curves["duration"].as_f64().unwrap() - 60.0).abs() < 1e-9, "{}", curves["duration"]);

    let since = Instant::now();
    assert_eq!(client.ask("clip", json!({ "motion": "long" })).unwrap(), curves);
    assert!(since.elapsed() < Duration::from_secs(1), "{:?}", since.elapsed());
    assert_eq!(client.ask("clip", json!({ "motion": "fly" })).unwrap_err()["code"], "not_found");
}

#[test]
fn a_motion_plays_in_the_run() {
    let place = motions();
    let (mut client, _) = place.client();
    client.ask("run", json!({ "motion": "look", "speed": 0 })).unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let paused = client.ask("pause", json!({})).unwrap();
        if paused["time"].as_f64().unwrap() > 0.7 {
            assert_eq!(paused["motion"], "look");
            break;
        }
        assert!(Instant::now() < deadline);
        client.ask("run", json!({ "motion": "look", "speed": 0 })).unwrap();
    }
    client.frames.clear();
    client.ask("step", json!({ "steps": 1 })).unwrap();
    let state = numbers(&client.frame(1));
    assert!(state[2] > 0.15, "it stands: {} m", state[2]);
    assert!(state[18 * 7..].iter().step_by(3).any(|q| (q - 0.5).abs() < 0.1), "the head is turned");
    let error = client.ask("run", json!({ "motion": "fly" })).unwrap_err();
    assert_eq!(error["code"], "not_found");
}

#[test]
fn files_go_out_and_come_back() {
    use base64::Engine as _;
    let base64 = base64::engine::general_purpose::STANDARD;
    let place = motions();
    let (mut client, welcome) = place.client();
    assert!(welcome["export_formats"].as_array().unwrap().contains(&json!("webots")));
    let exported = client.ask("export", json!({ "format": "csv", "motion": "look" })).unwrap();
    assert_eq!(exported["name"], "look.csv");
    let text = base64.decode(exported["data"].as_str().unwrap()).unwrap();
    assert!(text.starts_with(b"time,"), "{}", String::from_utf8_lossy(&text[..40]));
    let args = json!({ "name": "back.csv", "data": exported["data"] });
    let imported = client.ask("import", args).unwrap();
    let name = imported["motions"][0].as_str().unwrap().to_owned();
    let again = client.ask("export", json!({ "format": "csv", "motion": name })).unwrap();
    let numbers_of = |data: &Value| -> Vec<f64> {
        let text = String::from_utf8(base64.decode(data.as_str().unwrap()).unwrap()).unwrap();
        text.lines()
            .skip(1)
            .flat_map(|l| l.split(',').filter_map(|x| x.parse().ok()).collect::<Vec<f64>>())
            .collect()
    };
    let (a, b) = (numbers_of(&exported["data"]), numbers_of(&again["data"]));
    assert!(!a.is_empty() && a.len().abs_diff(b.len()) < 60, "{} and {} numbers", a.len(), b.len());
    assert_eq!(client.ask("undo", json!({})).unwrap()["label"], "import back.csv");
    for (name, data) in [("broken.csv", "time,head_yaw\n0,x\n"), ("what.bin", "abc")] {
        let args = json!({ "name": name, "data": base64.encode(data) });
        let error = client.ask("import", args).unwrap_err();
        assert_eq!(error["code"], "invalid", "{error}");
    }
    let error = client.ask("import", json!({ "name": "x.csv", "data": "*" })).unwrap_err();
    assert_eq!(error["code"], "malformed");
}

#[test]
fn a_motion_is_shown_at_a_time_with_joints_on_top() {
    let place = motions();
    let (mut client, _) = place.client();
    let at = |client: &mut Client, time: f64, joints: Value| {
        let request = json!({ "motion": "look", "time": time, "joints": joints });
        client.ask("evaluate", request).unwrap()
    };
    let (stand, end) = (at(&mut client, 0.2, json!({})), at(&mut client, 0.6, json!({})));
    for (shown, angle) in [(&stand, 0.0), (&end, 0.5)] {
        let yaw = shown["joints"]["head_yaw"].as_f64().unwrap();
        assert!((yaw - angle).abs() < 1e-9, "{yaw}");
        assert!((shown["joints"]["l_knee_pitch"].as_f64().unwrap() - 0.85).abs() < 1e-9);
    }
    // Half of the time of a smooth scene is half of its movement.
    let middle = at(&mut client, 0.4, json!({}));
    assert!((middle["joints"]["head_yaw"].as_f64().unwrap() - 0.25).abs() < 1e-9);

    let bent = at(&mut client, 0.6, json!({ "l_ankle_pitch": -0.3, "r_ankle_pitch": -0.3 }));
    let foot =
        |shown: &Value| bodies_of(shown).into_iter().min_by(|a, b| a[2].total_cmp(&b[2])).unwrap();
    for (a, b) in foot(&end).into_iter().zip(foot(&bent)) {
        assert!((a - b).abs() < 1e-9, "the foot that stands stays: {a} {b}");
    }
    assert_ne!(end["root"], bent["root"], "the body moves");
    let error = client.ask("evaluate", json!({ "motion": "run", "time": 0.0 })).unwrap_err();
    assert_eq!(error["code"], "not_found");
}

/// Poses of the bodies of what is shown.
fn bodies_of(shown: &Value) -> Vec<Vec<f64>> {
    serde_json::from_value(shown["bodies"].clone()).unwrap()
}
