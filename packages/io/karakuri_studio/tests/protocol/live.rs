//! The robot: moved only when it is safe, stopped whenever it is not.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use karakuri_studio::{LinkNews, Measurement, RobotLink, Trajectory};
use serde_json::{Value, json};

use crate::client::{Client, Place};
use crate::motions::{MOTIONS, preview};

/// A robot that notes its orders, and tells what a test gives it.
#[derive(Debug, Clone, Default)]
struct Noted {
    orders: Arc<Mutex<Vec<Option<Trajectory>>>>,
    news: Arc<Mutex<Vec<LinkNews>>>,
}

impl RobotLink for Noted {
    fn follow(&mut self, trajectory: Trajectory) {
        self.orders.lock().unwrap().push(Some(trajectory));
    }

    fn stop(&mut self) {
        self.orders.lock().unwrap().push(None);
    }

    fn news(&mut self) -> Vec<LinkNews> {
        let joints = ["head_yaw", "l_knee_pitch", "r_knee_pitch"].map(str::to_owned).to_vec();
        let positions = vec![0.0, 0.85, 0.85];
        let measured = Measurement { joints, positions, ..Measurement::default() };
        let mut news = std::mem::take(&mut *self.news.lock().unwrap());
        news.push(LinkNews::Measured(measured));
        news
    }
}

impl Noted {
    /// The last order, if there is one: a trajectory, or `None` for a stop.
    fn last(&self) -> Option<Option<Trajectory>> {
        self.orders.lock().unwrap().last().cloned()
    }

    fn tell_fault(&self, why: &str) {
        self.news.lock().unwrap().push(LinkNews::Fault(why.to_owned()));
    }
}

fn robot() -> (Place, Noted) {
    let noted = Noted::default();
    let place = Place::with_link("motions.yaml", Box::new(noted.clone()), |folder| {
        std::fs::write(folder.join("motions.yaml"), MOTIONS).unwrap();
    });
    (place, noted)
}

/// Waits for a measurement.
pub(crate) fn measured(client: &mut Client, place: &Place) -> Value {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let live = client.ask("hello", json!({ "token": place.token })).unwrap()["live"].clone();
        if !live["age"].is_null() {
            return live;
        }
        assert!(Instant::now() < deadline, "{live}");
    }
}

#[test]
fn a_studio_without_a_robot_says_so() {
    let place = Place::of_khr1();
    let (mut client, welcome) = place.client();
    assert_eq!(welcome["live"]["mode"], "absent");
    let error = client.ask("live.stop", json!({})).unwrap_err();
    assert_eq!(error["code"], "state");
}

#[test]
fn a_motion_is_played_only_after_a_sound_preview() {
    let (place, noted) = robot();
    let (mut client, _) = place.client();
    measured(&mut client, &place);
    let arm = json!({ "motion": "look", "on": true });
    assert_eq!(client.ask("live.arm", arm.clone()).unwrap_err()["code"], "state", "not previewed");
    assert_eq!(preview(&mut client, "topple")["verdict"], "falls");
    let error = client.ask("live.arm", json!({ "motion": "topple", "on": true })).unwrap_err();
    assert!(error["text"].as_str().unwrap().contains("Falls"), "{error}");
    preview(&mut client, "look");
    assert_eq!(client.ask("live.arm", arm).unwrap()["mode"], "armed");
    assert_eq!(client.ask("play", json!({ "motion": "topple" })).unwrap_err()["code"], "state");
    assert_eq!(client.ask("play", json!({ "motion": "look" })).unwrap()["mode"], "moving");
    let Some(Some(trajectory)) = noted.last() else { panic!("nothing was sent") };
    assert_eq!(trajectory.points.len(), 41);
    let head = trajectory.joints.iter().position(|j| j == "head_yaw").unwrap();
    assert!((trajectory.points.last().unwrap().positions[head] - 0.5).abs() < 1e-9);
    for pair in trajectory.points.windows(2) {
        assert!(pair[1].time > pair[0].time);
    }
    // Another document, and the preview counts no more.
    client.ask("edit", json!({ "ops": [{ "op": "pose.joints", "name": "look", "joints": { "head_yaw": 0.4 } }] })).unwrap();
    assert_eq!(client.ask("play", json!({ "motion": "look" })).unwrap_err()["code"], "state");
}

#[test]
fn speeds_and_limits_are_kept() {
    let (place, noted) = robot();
    let (mut client, _) = place.client();
    measured(&mut client, &place);
    let send = |joints: Value, speed: f64| json!({ "joints": joints, "speed": speed });
    client.ask("live.follow", send(json!({ "head_yaw": 0.5 }), 0.1)).unwrap();
    let Some(Some(trajectory)) = noted.last() else { panic!("nothing was sent") };
    let welcome = client.ask("hello", json!({ "token": place.token })).unwrap();
    let joints = welcome["stage"]["robots"][0]["joints"].as_array().unwrap();
    let limit =
        joints.iter().find(|j| j["name"] == "head_yaw").unwrap()["velocity"].as_f64().unwrap();
    let speed = 0.5 / trajectory.points.last().unwrap().time;
    assert!(speed <= 0.1 * limit + 1e-9, "{speed} rad/s, of {limit} rad/s");
    for (joints, speed, code) in [
        (json!({ "head_yaw": 10 }), 0.1, "limit"),
        (json!({ "head_yaw": 0.1 }), 0.0, "limit"),
        (json!({ "head_yaw": 0.1 }), 2.0, "limit"),
        (json!({ "tail": 0.1 }), 0.1, "not_found"),
        (json!({ "l_hip_roll": 0.1 }), 0.1, "state"),
        (json!({}), 0.1, "invalid"),
    ] {
        let error = client.ask("live.follow", send(joints.clone(), speed)).unwrap_err();
        assert_eq!(error["code"], code, "{joints} at {speed}");
    }
}

#[test]
fn silence_and_anybody_stop_it() {
    let (place, noted) = robot();
    let (mut first, _) = place.client();
    let (mut second, _) = place.client();
    measured(&mut first, &place);
    let follow = json!({ "joints": { "head_yaw": 0.5 } });
    assert_eq!(second.ask("live.follow", follow.clone()).unwrap_err()["code"], "no_lease");
    first.ask("live.follow", follow.clone()).unwrap();
    let since = Instant::now();
    second.event("live", |event| event["mode"] == "stopped");
    assert!(since.elapsed() >= Duration::from_millis(400), "{:?}", since.elapsed());
    assert_eq!(noted.last(), Some(None), "it is stopped when its operator is silent");
    first.ask("live.follow", follow.clone()).unwrap();
    assert_eq!(second.ask("live.stop", json!({})).unwrap()["mode"], "stopped");
    assert_eq!(noted.last(), Some(None), "any client stops it");
    first.ask("live.follow", follow).unwrap();
    drop(first);
    second
        .event("live", |event| event["text"].as_str().is_some_and(|text| text.contains("silent")));
    assert_eq!(noted.last(), Some(None), "it is stopped when its operator is gone");
}

#[test]
fn a_robot_with_a_fault_stops_and_is_sent_nothing() {
    let (place, noted) = robot();
    let (mut client, _) = place.client();
    measured(&mut client, &place);
    let follow = json!({ "joints": { "head_yaw": 0.5 } });
    client.ask("live.follow", follow.clone()).unwrap();
    noted.tell_fault("servo 6 does not answer");
    let live = client.event("live", |event| event["fault"] != "");
    assert_eq!(
        (&live["mode"], &live["text"]),
        (&json!("stopped"), &json!("servo 6 does not answer"))
    );
    assert_eq!(noted.last(), Some(None), "it would leap when it is resumed");
    let error = client.ask("live.follow", follow.clone()).unwrap_err();
    assert_eq!(error["text"], "the robot follows no commands: servo 6 does not answer");
    noted.tell_fault("");
    client.event("live", |event| event["fault"] == "");
    client.ask("live.follow", follow).unwrap();
    assert!(noted.last().unwrap().is_some());
}
