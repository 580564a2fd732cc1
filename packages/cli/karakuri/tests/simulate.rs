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

fn report(scene: &str, more: &[&str]) -> Value {
    let file = tempfile::NamedTempFile::new().unwrap();
    let output = simulate(scene, &[more, &["--report", file.path().to_str().unwrap()]].concat());
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&std::fs::read(file.path()).unwrap()).unwrap()
}

#[test]
fn a_report_tells_forces_energies_times_and_what_was_not_solved() {
    let report = report("mass_ratio.yaml", &["--duration", "1"]);
    let force = |by: &str, on: &str| {
        let pairs = report["contacts"]["pairs"].as_array().unwrap();
        let pair = pairs.iter().find(|p| p["by"] == by && p["on"] == on).unwrap();
        assert_eq!(pair["points"], 4);
        pair["force_N"][2].as_f64().unwrap() / 9.81
    };
    assert!((force("world", "light") - 1001.0).abs() < 1.0, "{report}");
    assert!((force("light", "heavy") - 1000.0).abs() < 1.0, "{report}");
    let (solver, ledger) = (&report["solver"], &report["energy_ledger_J"]);
    assert_eq!(solver["unconverged_steps"], 0);
    assert!(solver["residual_max"].as_f64().unwrap() <= solver["tolerance"].as_f64().unwrap());
    assert!(ledger["unexplained"].as_f64().unwrap().abs() < 1e-9, "{ledger}");
    let stages = report["stages_us"].as_object().unwrap();
    assert_eq!(stages.len(), 5);
    assert!(stages.values().all(|t| t.as_f64().unwrap() > 0.0), "{report}");
}

#[test]
fn a_report_counts_every_step_that_was_not_solved() {
    let folder = tempfile::tempdir().unwrap();
    let scene = folder.path().join("scene.yaml");
    let text = include_str!("../../../../config/scenes/benchmarks/mass_ratio.yaml");
    std::fs::write(&scene, format!("solver: {{tolerance: 1.0e-300}}\n{text}")).unwrap();
    let report = report(scene.to_str().unwrap(), &["--duration", "0.01"]);
    assert_eq!(report["solver"]["unconverged_steps"], report["steps"]);
}
