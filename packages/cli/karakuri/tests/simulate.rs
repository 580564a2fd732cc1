//! `karakuri simulate` as a user runs it.
#![expect(clippy::unwrap_used, reason = "a test says so")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn simulate(scene: &str, more: &[&str]) -> Output {
    let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../config/scenes/benchmarks");
    Command::new(env!("CARGO_BIN_EXE_karakuri"))
        .arg("simulate")
        .arg(scenes.join(scene))
        .args(more)
        .output()
        .unwrap()
}

#[test]
fn every_integrator_and_solver_is_chosen_by_its_name() {
    for integrator in ["default", "rk4", "variational", "momentum"] {
        for solver in ["newton", "admm"] {
            let more = ["--duration", "0.05", "--integrator", integrator, "--solver", solver];
            let output = simulate("anymal_momentum.yaml", &more);
            assert!(output.status.success(), "{output:?}");
            let report: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(report["integrator"], integrator);
            assert_eq!(report["solver"]["method"], solver);
            assert_eq!(report["steps"], 50);
        }
    }
}

#[test]
fn names_that_are_none_are_told_with_those_that_are() {
    for (key, known) in [("--integrator", "variational"), ("--solver", "newton")] {
        let output = simulate("ball.yaml", &["--duration", "0.01", key, "euler"]);
        assert_eq!(output.status.code(), Some(1));
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains(&format!("{key} euler: ")) && text.contains(known), "{text}");
    }
}
