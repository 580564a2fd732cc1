//! `karakuri dynamics` as a user runs it.
#![expect(clippy::unwrap_used, reason = "a test says so")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

fn robot(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../../tests/robots/{name}/{name}.urdf"))
}

fn run(robot_name: &str, states: &str, more: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("states.json");
    std::fs::write(&input, states).unwrap();
    Command::new(env!("CARGO_BIN_EXE_karakuri"))
        .arg("dynamics")
        .arg(robot(robot_name))
        .arg("--input")
        .arg(&input)
        .args(more)
        .output()
        .unwrap()
}

fn compute(robot_name: &str, states: &Value, more: &[&str]) -> Value {
    let output = run(robot_name, &states.to_string(), more);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Exit code 1 and one message with these words.
fn refuse(robot_name: &str, states: &str, more: &[&str], words: &[&str]) {
    let output = run(robot_name, states, more);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    for word in words {
        assert!(errors.contains(word), "no `{word}` in: {errors}");
    }
    assert!(output.stdout.is_empty(), "a refused input gives no result");
}

const ALL: &str = "fk,rnea,aba,crba,jacobian,centroidal";

#[test]
fn a_fixed_arm_gives_every_result_by_name() {
    let states = json!({ "samples": [
        { "q": { "elbow_joint": 1.0, "shoulder_lift_joint": -0.5 }, "v": { "elbow_joint": 0.3 } },
        {},
    ]});
    let out = compute("ur5", &states, &["--base", "fixed", "--algorithms", ALL]);
    assert_eq!(out["model"]["nv"], 6);
    assert_eq!(out["model"]["order"][2], "elbow_joint");
    let [first, second] = out["samples"].as_array().unwrap().as_slice() else { panic!("{out}") };
    assert!(first["fk"]["tool0"]["position"].as_array().unwrap().len() == 3);
    assert_eq!(first["crba"].as_array().unwrap().len(), 6);
    let jacobian = first["jacobian"]["tool0"].as_array().unwrap();
    assert!(jacobian.len() == 6 && jacobian[0].as_array().unwrap().len() == 6);
    // The first axis is the world's z: angular rows come last.
    assert_eq!(jacobian[5][0], 1.0);
    assert_ne!(first["rnea"]["elbow_joint"], second["rnea"]["elbow_joint"]);
    assert!(second["rnea"]["base"].is_null(), "a fixed base has no efforts");
    assert!(first["centroidal"]["angular_momentum"].is_array());
}

#[test]
fn a_free_falling_robot_accelerates_with_gravity() {
    let states = json!({ "samples": [{ "base": {
        "position": [1.0, 2.0, 3.0], "quaternion_xyzw": [0.0, 0.6, 0.0, 0.8],
        "linear_velocity": [0.1, 0.2, 0.3],
    }}]});
    let out = compute("solo12", &states, &["--base", "floating", "--algorithms", "aba,rnea"]);
    assert_eq!(out["model"]["order"][0], "base.vx");
    assert_eq!(out["model"]["order"][5], "base.wz");
    let base = &out["samples"][0]["aba"]["base"];
    let component = |list: &Value, i: usize| list[i].as_f64().unwrap();
    assert!((component(&base["linear_acceleration"], 2) + 9.81).abs() < 1e-9, "{base}");
    assert!(component(&base["angular_acceleration"], 1).abs() < 1e-9, "{base}");
    let weight = component(&out["samples"][0]["rnea"]["base"]["force"], 2);
    let mass = out["model"]["mass_kg"].as_f64().unwrap();
    assert!((weight - 9.81 * mass).abs() < 1e-9, "{weight}");
}

#[test]
fn links_gravity_and_a_file_can_be_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("out.json");
    let more = [
        "--algorithms",
        "fk,rnea",
        "--links",
        "tool0",
        "--gravity",
        "0,0,0",
        "--output",
        file.to_str().unwrap(),
    ];
    let output = run("ur5", r#"{"samples": [{"q": {"elbow_joint": 1}}]}"#, &more);
    assert!(output.status.success() && output.stdout.is_empty());
    let out: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let sample = &out["samples"][0];
    assert_eq!(sample["fk"].as_object().unwrap().len(), 1);
    assert!(sample["rnea"]["elbow_joint"].as_f64().unwrap().abs() < 1e-12);
}

#[test]
fn a_wrong_state_is_named_by_sample_and_key() {
    let fixed = ["--base", "fixed", "--algorithms", "fk"];
    let floating = ["--base", "floating", "--algorithms", "fk"];
    let cases: &[(&[&str], &str, &[&str])] = &[
        (&fixed, "{", &["not JSON", "states.json:1"]),
        (&fixed, "[]", &["an object"]),
        (&fixed, "{}", &["no list `samples`"]),
        (&fixed, r#"{"samples": [], "sample": []}"#, &["sample: unknown key"]),
        (&fixed, r#"{"samples": [{}, 3]}"#, &["samples[1]: expected an object", "got 3"]),
        (
            &fixed,
            r#"{"samples": [{"p": {}}]}"#,
            &["samples[0].p: unknown key", "base, q, v, a, tau"],
        ),
        (&fixed, r#"{"samples": [{"q": {"elbo": 1}}]}"#, &["samples[0].q.elbo", "elbow_joint"]),
        (
            &fixed,
            r#"{"samples": [{"v": {"elbow_joint": "x"}}]}"#,
            &["samples[0].v.elbow_joint", "number"],
        ),
        (&fixed, r#"{"samples": [{"q": {"elbow_joint": 1e999}}]}"#, &["states.json:1"]),
        (
            &fixed,
            r#"{"samples": [{"base": {"position": [1, 0, 0]}}]}"#,
            &["samples[0].base.position", "fixed"],
        ),
        (
            &floating,
            r#"{"samples": [{"base": {"position": [1, 0]}}]}"#,
            &["samples[0].base.position: expected 3 numbers"],
        ),
        (
            &floating,
            r#"{"samples": [{"base": {"quaternion_xyzw": [1, 1, 0, 0]}}]}"#,
            &["unit quaternion"],
        ),
        (
            &floating,
            r#"{"samples": [{"base": {"speed": [1, 1, 0]}}]}"#,
            &["base.speed: unknown key"],
        ),
    ];
    for (more, states, words) in cases {
        refuse("ur5", states, more, words);
    }
    let links = ["--algorithms", "fk", "--links", "tool"];
    refuse("ur5", r#"{"samples": []}"#, &links, &["no link `tool`", "tool0"]);
}

#[test]
fn an_unknown_algorithm_is_a_usage_error() {
    let output = run("ur5", "{}", &["--algorithms", "magic"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn the_parallel_scheme_gives_the_efforts_of_rnea() {
    let states = json!({ "samples": [{
        "base": { "quaternion_xyzw": [0.0, 0.6, 0.0, 0.8], "angular_velocity": [0.2, -0.4, 0.3],
                  "linear_acceleration": [1.0, 0.5, -0.2] },
        "q": { "LF_HFE": 0.7, "RH_KFE": -1.1 }, "v": { "LF_HFE": 2.0 }, "a": { "RH_KFE": -3.0 },
    }]});
    let out = compute("anymal_c", &states, &["--base", "floating", "--algorithms", "rnea,nodal"]);
    let sample = &out["samples"][0];
    let number = |algorithm: &str, joint: &str| sample[algorithm][joint].as_f64().unwrap();
    for joint in ["LF_HFE", "RH_KFE", "RF_HAA"] {
        assert!((number("nodal", joint) - number("rnea", joint)).abs() < 1e-5, "{sample}");
    }
    for part in ["force", "torque"] {
        for axis in 0..3 {
            let [a, b] = ["nodal", "rnea"].map(|m| sample[m]["base"][part][axis].as_f64().unwrap());
            assert!((a - b).abs() < 1e-4, "{part}: {a} {b}");
        }
    }
}
