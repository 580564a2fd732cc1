//! `karakuri motion` as a user runs it.
#![expect(clippy::unwrap_used, reason = "a test says so")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn motion(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_karakuri"))
        .current_dir(root())
        .arg("motion")
        .args(args)
        .output()
        .unwrap()
}

const GREET: &str = "config/motions/khr1_greet.yaml";
const ROBOT: [&str; 4] = ["--urdf", "urdf/khr1/khr1.urdf", "--config", "config/khr1.yaml"];

#[test]
fn a_good_motion_is_ok_and_a_bad_one_falls_with_exit_code_3() {
    let output = motion(&["check", GREET, "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["verdict"], "ok");
    assert!(report["min_margin"].as_f64().unwrap() > 0.0);
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(root().join(GREET)).unwrap();
    let text = text
        .replace("l_ankle_pitch: -15, r_ankle_pitch: -15", "l_ankle_pitch: 25, r_ankle_pitch: 25")
        .replace("../../urdf", root().join("urdf").to_str().unwrap())
        .replace("../khr1.yaml", root().join("config/khr1.yaml").to_str().unwrap());
    let bad = folder.path().join("bad.yaml");
    std::fs::write(&bad, text).unwrap();
    let output = motion(&["check", bad.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("the robot falls at "), "{said}");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("zero moment point outside the feet"), "{said}");
}

#[test]
fn motions_are_converted_and_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for name in ["a.csv", "a.motion", "a.seq", "a.json"] {
        let output = motion(&["convert", GREET, &path(name)]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let back = path("back.yaml");
        let mut args = vec!["convert", GREET, &back];
        let file = path(name);
        args[1] = &file;
        args.extend(ROBOT);
        let output = motion(&args);
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let output = motion(&["check", &back, "--urdf", ROBOT[1], "--config", ROBOT[3]]);
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stdout));
    }
    let table = path("board.csv");
    let args =
        ["convert", GREET, &table, "--to", "khr1-csv", "--hardware", "config/hardware/khr1.yaml"];
    let output = motion(&args);
    assert!(String::from_utf8_lossy(&output.stdout).contains("rounded to whole degrees"));
    let document = path("same.yaml");
    assert!(motion(&["convert", GREET, &document, "--slower", "2"]).status.success());
    assert!(std::fs::read_to_string(&document).unwrap().contains("time: 2.4"));
}

#[test]
fn pictures_and_tables_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let picture = folder.path().join("a.png");
    let output = motion(&["render", GREET, "--output", picture.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(std::fs::read(&picture).unwrap().starts_with(b"\x89PNG"));
    let trace = folder.path().join("a.csv");
    assert!(motion(&["play", GREET, "--trace", trace.to_str().unwrap()]).status.success());
    let text = std::fs::read_to_string(&trace).unwrap();
    let header = text.lines().next().unwrap();
    assert!(
        header.starts_with("time,base_link.x") && header.ends_with("r_ankle_roll.tau"),
        "{header}"
    );
    assert!(text.lines().count() > 280);
}

#[test]
fn check_knows_a_motion_document() {
    let output = Command::new(env!("CARGO_BIN_EXE_karakuri"))
        .current_dir(root())
        .args(["check", GREET])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("2 poses and 1 motions of khr1"), "{said}");
}

#[test]
fn mistakes_are_named() {
    for (args, expected) in [
        (vec!["check", GREET, "--motion", "dance"], "has no motion `dance`; it has greet"),
        (vec!["check", "urdf/khr1/khr1.urdf"], "the format is not known"),
        (vec!["convert", GREET, "a.txt"], "the format to write is not known"),
        (vec!["convert", GREET, "a.rcb", "--to", "rcb"], "this format is read, not written"),
        (vec!["convert", GREET, "a.csv", "--to", "khr1-csv"], "give the robot's hardware file"),
    ] {
        let output = motion(&args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        let said = String::from_utf8_lossy(&output.stderr)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(said.replace("│ ", "").contains(expected), "{said}");
    }
}

/// A planned walk as a motion goes where the plan goes: its root link by the feet that stand.
#[test]
fn a_planned_walk_becomes_a_motion() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (walk, table, plan) = (path("walk.yaml"), path("walk.csv"), path("plan.csv"));
    let output = Command::new(env!("CARGO_BIN_EXE_karakuri"))
        .current_dir(root())
        .args(["gait", "plan", "config/gaits/khr1_walk.yaml", "--distance", "0.3"])
        .args(["--motion", &walk, "--trace", &plan])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = motion(&["convert", &walk, &table]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let last = |file: &str, column: &str| -> f64 {
        let text = std::fs::read_to_string(file).unwrap();
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let names: Vec<&str> = lines.next().unwrap().split(',').collect();
        let index = names.iter().position(|name| name.contains(column));
        let index = index.unwrap_or_else(|| panic!("no {column} in {names:?}"));
        lines.next_back().unwrap().split(',').nth(index).unwrap().parse().unwrap()
    };
    let (walked, planned) = (last(&table, "base.x"), last(&plan, "base.x"));
    assert!((walked - planned).abs() < 0.003 && walked > 0.29, "{walked}, planned {planned}");
}
