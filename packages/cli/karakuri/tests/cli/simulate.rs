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
fn unknown_names_are_reported_with_the_known_ones() {
    for (key, known) in [("--integrator", "variational"), ("--solver", "newton")] {
        let output = simulate("ball.yaml", &["--duration", "0.01", key, "euler"]);
        assert_eq!(output.status.code(), Some(1));
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains(&format!("{key} euler: ")) && text.contains(known), "{text}");
    }
}

#[test]
fn a_run_is_reported_in_a_sentence_unless_quiet() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (trace, plot) = (path("a.csv"), path("b.svg"));
    let more = ["--duration", "0.1", "--trace", &trace, "--plot", &plot];
    let said = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    let loud = simulate("ball.yaml", &more);
    let text = said(&loud);
    assert!(loud.status.success() && text.starts_with("simulated 0.100 s of "), "{text}");
    assert!(text.contains("times real time") && text.lines().count() == 1, "{text}");
    assert!(text.trim_end().ends_with(&format!("wrote {trace} and {plot}")), "{text}");
    assert_eq!(said(&simulate("ball.yaml", &[&more[..], &["--quiet"]].concat())), "");
}

#[test]
fn a_picture_is_reported_in_a_sentence_unless_quiet() {
    let folder = tempfile::tempdir().unwrap();
    let picture = folder.path().join("a.png").to_str().unwrap().to_owned();
    let scene =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../config/scenes/benchmarks/ball.yaml");
    let said = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_karakuri"));
        command.arg("render").arg(&scene).args(["--size", "64,48", "--output", &picture]);
        let output = command.args(more).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let text = said(&[]);
    assert!(text.starts_with("rendered ") && text.lines().count() == 1, "{text}");
    assert!(text.contains("ball.yaml") && text.trim_end().ends_with(&picture), "{text}");
    assert_eq!(said(&["--quiet"]), "");
}

fn in_file(text: &str, more: &[&str]) -> (Value, String) {
    let folder = tempfile::tempdir().unwrap();
    let scene = folder.path().join("scene.yaml");
    std::fs::write(&scene, text).unwrap();
    let output = simulate(scene.to_str().unwrap(), more);
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (serde_json::from_slice(&output.stdout).unwrap(), said)
}

#[test]
fn energy_that_nobody_gave_is_reported_with_its_amount() {
    // A box of 2 kg that begins 5 cm deep in the ground is pushed out of it: 2 · 9.81 · 0.05 J from nothing.
    let scene = |z: f64| {
        format!(
            "ground: {{}}\nbodies:\n  - {{name: box, shape: {{box: [0.2, 0.2, 0.2]}}, mass: 2, pose: {{xyz: [0, 0, {z}]}}}}\n"
        )
    };
    let (report, said) = in_file(&scene(0.05), &["--duration", "0.5", "--quiet"]);
    let growth = report["energy_growth_J"].as_f64().unwrap();
    assert!((growth - 2.0 * 9.81 * 0.05).abs() < 1e-3, "{growth}");
    assert!(report["warnings"][0].as_str().unwrap().contains("the energy grew by 9.8"), "{report}");
    assert!(said.starts_with("warning: ") && said.contains("the energy grew by 9.8"), "{said}");
    // Dropped from 5 cm it only loses.
    let (report, said) = in_file(&scene(0.15), &["--duration", "0.5", "--quiet"]);
    assert!(report["energy_growth_J"].as_f64().unwrap() < 1e-9, "{report}");
    assert_eq!((report["warnings"].as_array().unwrap().len(), said.as_str()), (0, ""));
}

/// A chain of four cubes of 0.1 m on hinges 25 mm apart, the third joint within limits that leave 0 out: the first and
/// the fourth cube overlap.
fn crowded_chain(folder: &Path) -> std::path::PathBuf {
    let link = |i: usize| {
        format!(
            "<link name='link{i}'><inertial><mass value='1'/><inertia ixx='1e-3' iyy='1e-3' izz='1e-3' ixy='0' ixz='0' \
             iyz='0'/></inertial><collision><geometry><box size='0.1 0.1 0.1'/></geometry></collision></link>"
        )
    };
    let joint = |i: usize, lower: f64, upper: f64| {
        format!(
            "<joint name='joint{i}' type='revolute'><parent link='link{}'/><child link='link{i}'/><origin xyz='0.025 0 0'/>\
             <axis xyz='0 1 0'/><limit lower='{lower}' upper='{upper}' effort='1' velocity='9'/></joint>",
            i - 1
        )
    };
    let parts: String = (0..4).map(link).collect();
    let joints = [joint(1, -1.0, 1.0), joint(2, -1.0, 1.0), joint(3, 0.2, 1.0)].concat();
    let file = folder.join("chain.urdf");
    std::fs::write(&file, format!("<robot name='chain'>{parts}{joints}</robot>")).unwrap();
    file
}

#[test]
fn links_that_overlap_by_default_are_named_and_do_not_fly_apart() {
    let folder = tempfile::tempdir().unwrap();
    let urdf = crowded_chain(folder.path());
    // Postures are many, the default one is reported once.
    let config = folder.path().join("chain.yaml");
    std::fs::write(&config, "postures: {a: {joint1: 0.1}, b: {joint1: 0.2}}").unwrap();
    let check = Command::new(env!("CARGO_BIN_EXE_karakuri"))
        .arg("check")
        .args([urdf.as_path(), Path::new("--config"), &config])
        .output()
        .unwrap();
    let checked = String::from_utf8_lossy(&check.stderr).into_owned();
    assert_eq!(checked.matches("pass through each other").count(), 1, "{checked}");
    let scene = |joints: &str| {
        format!(
            "gravity: [0, 0, 0]\nrobots: [{{name: chain, urdf: {}, base: fixed{joints}}}]\n",
            urdf.display()
        )
    };
    let (report, said) = in_file(&scene(""), &["--duration", "0.5", "--quiet"]);
    for said in [&said, &checked] {
        assert!(said.contains("collision:\n  ignore:\n    - [link0, link3]"), "{said}");
        assert!(said.contains("pass through each other"), "{said}");
    }
    // It starts within its limits, so that nothing pushes it.
    assert!(report["energy_J"]["final"]["kinetic"].as_f64().unwrap() < 1e-20, "{report}");
    assert!(report["energy_growth_J"].as_f64().unwrap() < 1e-20, "{report}");
    // As neighbours they pass, wherever they are.
    let (_, said) = in_file(&scene(", joints: {joint1: 0.5}"), &["--duration", "0.5", "--quiet"]);
    assert!(!said.contains("push each other apart"), "{said}");
}

#[test]
fn unsolved_steps_are_reported_with_their_share() {
    let text = include_str!("../../../../../config/scenes/benchmarks/mass_ratio.yaml");
    let scene = format!("solver: {{tolerance: 1.0e-300}}\n{text}");
    let (report, said) = in_file(&scene, &["--duration", "0.01", "--quiet"]);
    assert_eq!(report["solver"]["unconverged_share"], 1.0);
    assert!(said.contains("the contacts of 10 of 10 steps (100.00 %) were not solved"), "{said}");
    assert_eq!(report["warnings"].as_array().unwrap().len(), 1);
}

#[test]
fn an_interrupt_is_heard_within_a_step_and_leaves_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let (scene, trace) = (folder.path().join("heap.yaml"), folder.path().join("heap.csv"));
    // Boxes in one place: steps of a good part of a second.
    let boxes = (0..120).map(|i| {
        format!("  - {{name: b{i}, shape: {{box: [0.2, 0.2, 0.2]}}, mass: 1, pose: {{xyz: [0, 0, 0.{i:03}]}}}}\n")
    });
    std::fs::write(&scene, format!("ground: {{}}\nbodies:\n{}", boxes.collect::<String>()))
        .unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_karakuri"))
        .args(["simulate", scene.to_str().unwrap(), "--duration", "1000", "--trace"])
        .arg(&trace)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // The signal is watched for once the trace has begun, in a file of its own beside the scene.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while std::fs::read_dir(folder.path()).unwrap().count() < 2 {
        assert!(std::time::Instant::now() < deadline, "no trace was begun");
        std::thread::yield_now();
    }
    let begin = std::time::Instant::now();
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let waited = begin.elapsed().as_secs_f64();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let (steps, wall) =
        (report["steps"].as_f64().unwrap(), report["steps_per_second"].as_f64().unwrap());
    assert!(report["result"].as_str().unwrap().starts_with("interrupted at "), "{report}");
    // Three steps, and what the machine is otherwise busy with.
    assert!(waited < 3.0 / wall + 2.0, "{waited} s after {steps} steps of {} s", 1.0 / wall);
    assert!(std::fs::read_to_string(&trace).unwrap().lines().count() > 1);
}

fn report(scene: &str, more: &[&str]) -> Value {
    let file = tempfile::NamedTempFile::new().unwrap();
    let output = simulate(scene, &[more, &["--report", file.path().to_str().unwrap()]].concat());
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&std::fs::read(file.path()).unwrap()).unwrap()
}

#[test]
fn a_report_tells_forces_energies_times_and_what_was_not_solved() {
    let report = report("mass_ratio.yaml", &["--duration", "1", "--energy"]);
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
    let hold = report["stages_hold"].as_object().unwrap();
    assert!(hold.keys().eq(stages.keys()), "{hold:?}");
}

#[test]
fn energy_is_booked_by_cause_only_if_asked() {
    let more = ["--duration", "0.01"];
    assert!(report("mass_ratio.yaml", &more)["energy_ledger_J"].is_null());
    let with = [&more[..], &["--energy"]].concat();
    assert!(report("mass_ratio.yaml", &with)["energy_ledger_J"]["contacts"].is_number());
}

#[test]
fn a_report_counts_every_step_that_was_not_solved() {
    let folder = tempfile::tempdir().unwrap();
    let scene = folder.path().join("scene.yaml");
    let text = include_str!("../../../../../config/scenes/benchmarks/mass_ratio.yaml");
    std::fs::write(&scene, format!("solver: {{tolerance: 1.0e-300}}\n{text}")).unwrap();
    let report = report(scene.to_str().unwrap(), &["--duration", "0.01"]);
    assert_eq!(report["solver"]["unconverged_steps"], report["steps"]);
}
