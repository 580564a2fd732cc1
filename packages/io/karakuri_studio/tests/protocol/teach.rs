//! A motion that a person shows with the limp robot.

use std::time::Instant;

use karakuri_studio::{LinkNews, Measurement, RobotLink, Trajectory};
use serde_json::json;

use crate::client::{Client, Place};
use crate::live::measured;
use crate::motions::MOTIONS;

/// A robot whose head a person turns to and fro, so far. [rad]
#[derive(Debug)]
struct Turned {
    by: f64,
    since: Instant,
}

impl RobotLink for Turned {
    fn follow(&mut self, _: Trajectory) {}

    fn stop(&mut self) {}

    fn news(&mut self) -> Vec<LinkNews> {
        let time = self.since.elapsed().as_secs_f64();
        let joints = ["head_yaw", "l_knee_pitch", "not_of_the_model"].map(str::to_owned).to_vec();
        let positions = vec![self.by * (4.0 * time).sin(), 0.85, 0.0];
        // by a clock that began long ago
        let time = 1.7e9 + time;
        vec![LinkNews::Measured(Measurement { time, joints, positions, ..Measurement::default() })]
    }
}

fn turned(by: f64) -> Place {
    Place::with_link("motions.yaml", Box::new(Turned { by, since: Instant::now() }), |folder| {
        std::fs::write(folder.join("motions.yaml"), MOTIONS).unwrap();
    })
}

/// Waits for so many measurements.
fn look(client: &mut Client, n: usize) {
    const MEASURED: u8 = 5;
    for _ in 0..n {
        client.frame(MEASURED);
    }
}

#[test]
fn what_a_person_shows_becomes_a_motion_of_few_keys() {
    let place = turned(0.4);
    let (mut client, _) = place.client();
    measured(&mut client, &place);
    let none = client.ask("live.record", json!({ "on": false })).unwrap_err();
    assert_eq!(none["text"], "nothing is recorded");
    assert_eq!(client.ask("live.record", json!({ "on": true })).unwrap()["on"], true);
    client.event("live", |live| live["recording"] == true);
    look(&mut client, 60);
    let taught = client.ask("live.record", json!({ "on": false, "tolerance": 0.03 })).unwrap();
    assert_eq!(taught["motion"], "taught");
    let [samples, keys] = ["n_samples", "n_keys"].map(|n| taught[n].as_u64().unwrap());
    assert!(samples > 20 && keys < samples / 2, "{taught}");

    // the head goes from side to side as it was turned, the knee stays, and the rest is not known
    let doc = client.event("doc", |doc| !doc["patch"]["motions"]["taught"].is_null());
    let tracks = &doc["patch"]["motions"]["taught"]["tracks"];
    assert_eq!(tracks.as_object().unwrap().len(), 2, "{tracks}");
    assert_eq!(tracks["l_knee_pitch"]["keys"].as_array().unwrap().len(), 1);
    let head: Vec<[f64; 2]> = tracks["head_yaw"]["keys"]
        .as_array()
        .unwrap()
        .iter()
        .map(|key| ["t", "y"].map(|n| key[n].as_f64().unwrap()))
        .collect();
    assert!(head[0][0].abs() < 1e-12);
    let end = head.last().unwrap()[0];
    assert!((2.0..5.0).contains(&end), "{end} s");
    let most = head.iter().map(|[_, y]| y.abs()).fold(0.0, f64::max);
    assert!((0.36..=0.4).contains(&most), "{most} rad");

    // one step of history
    assert_eq!(client.ask("undo", json!({})).unwrap()["label"], "teach by hand");
    let error = client.ask("live.record", json!({ "on": false })).unwrap_err();
    assert_eq!(error["code"], "state");
}

#[test]
fn a_robot_that_nobody_moves_teaches_nothing() {
    let place = turned(0.001);
    let (mut client, _) = place.client();
    measured(&mut client, &place);
    client.ask("live.record", json!({ "on": true })).unwrap();
    look(&mut client, 6);
    let error = client.ask("live.record", json!({ "on": false, "tolerance": 7 })).unwrap_err();
    assert_eq!((&error["code"], &error["where"]), (&json!("limit"), &json!("tolerance")));
    let error = client.ask("live.record", json!({ "on": false })).unwrap_err();
    let text = error["text"].as_str().unwrap();
    assert!(text.starts_with("no joint moved farther than 0.02 in "), "{text}");
}
