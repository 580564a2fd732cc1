//! `karakuri ik` as a user runs it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test says so")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn run(robot: &str, more: &[&str]) -> Output {
    let urdf = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(format!("../../../tests/robots/{robot}/{robot}.urdf"));
    Command::new(env!("CARGO_BIN_EXE_karakuri")).arg("ik").arg(urdf).args(more).output().unwrap()
}

fn report(output: &Output) -> Value {
    let errors = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {errors}"))
}

#[test]
fn a_pose_in_reach_is_reached() {
    for method in ["damped-least-squares", "newton"] {
        let output = run(
            "ur5",
            &["--link", "tool0", "--pose", "0.4,0.2,0.3,3.0,0.1,0.2", "--method", method],
        );
        let report = report(&output);
        assert!(output.status.success(), "{report}");
        assert_eq!(report["converged"], true);
        let p = &report["links"]["tool0"]["position"];
        for (i, desired) in [0.4, 0.2, 0.3].iter().enumerate() {
            assert!((p[i].as_f64().unwrap() - desired).abs() < 2e-6, "{report}");
        }
        assert_eq!(report["q"].as_object().unwrap().len(), 6);
    }
}

#[test]
fn out_of_reach_is_exit_code_3_with_the_nearest_posture() {
    let output = run("ur5", &["--link", "tool0", "--pose", "-5,0,0.3"]);
    assert_eq!(output.status.code(), Some(3));
    let report = report(&output);
    assert_eq!(report["converged"], false);
    assert!(report["message"].as_str().unwrap().contains("cannot reach it"), "{report}");
    assert!(report["position_error_m"].as_f64().unwrap() < 4.5, "{report}");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("not reached"), "{errors}");
}

#[test]
fn a_locked_joint_and_a_start_are_kept() {
    let output = run(
        "panda",
        &[
            "--link",
            "panda_hand",
            "--pose",
            "0.4,0.1,0.5",
            "--start",
            "panda_joint4=-1.5",
            "--start",
            "panda_joint3=0.25",
            "--lock",
            "panda_joint3",
        ],
    );
    let report = report(&output);
    assert!(output.status.success(), "{report}");
    assert_eq!(report["q"]["panda_joint3"], 0.25);
}

#[test]
fn a_wrong_argument_is_named() {
    let pose = ["--link", "tool0", "--pose", "0.4,0,0.3"];
    let cases: &[(&[&str], i32, &str)] = &[
        (&["--link", "tool", "--pose", "0,0,1"], 1, "no link `tool`"),
        (&["--link", "tool0", "--pose", "0,0"], 1, "got 2"),
        (&["--link", "tool0", "--pose", "0,x,1"], 2, "`x` is not a finite number"),
        (&["--link", "tool0", "--pose", "0,0,1", "--pose", "0,0,1"], 1, "1 links and 2 poses"),
        (&["--link", "tool0"], 2, "--pose"),
        (&[&pose[..], &["--lock", "knee"]].concat(), 1, "no moving joint `knee`"),
        (&[&pose[..], &["--start", "elbow_joint"]].concat(), 1, "JOINT=VALUE"),
        (&[&pose[..], &["--start", "elbow_joint=up"]].concat(), 1, "`up` is not a number"),
        (&[&pose[..], &["--posture", "home"]].concat(), 1, "no posture `home`"),
        (&[&pose[..], &["--position-tolerance", "0"]].concat(), 1, "a positive number"),
    ];
    for (more, code, words) in cases {
        let output = run("ur5", more);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(*code), "{errors}");
        assert!(errors.contains(words), "no `{words}` in: {errors}");
    }
}
