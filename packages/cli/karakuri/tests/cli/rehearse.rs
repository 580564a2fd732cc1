//! `karakuri rehearse` as a user runs it.
#![expect(clippy::unwrap_used, reason = "a test says so")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn rehearse(scene: &str, arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let scene = format!("config/scenes/{scene}.yaml");
    let mut command = Command::new(env!("CARGO_BIN_EXE_karakuri"));
    command.current_dir(root).args(["rehearse", &scene]).args(arguments).output().unwrap()
}

#[test]
fn a_report_a_table_and_a_picture_tell_what_will_happen() {
    let folder = tempfile::tempdir().unwrap();
    let files = ["cube.json", "cube.csv", "cube.png"].map(|name| folder.path().join(name));
    let [report, commands, picture] = files.each_ref().map(|file| file.to_str().unwrap());
    let of = ["--pick", "cube", "--place", "0.5,0.2,0.875", "--copies", "6"];
    let files = ["--report", report, "--commands", commands, "--picture", picture];
    let done = rehearse("pick_and_place", &[&of[..], &files[..]].concat());
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let read: Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    let copies = read["copies"].as_array().unwrap();
    assert_eq!(copies.len(), 6);
    for copy in copies {
        assert_eq!(copy["outcome"], "placed");
        // The last one is seen elsewhere than it is, by 2 mm along each axis at most.
        assert!(copy["placed_off_m"].as_f64().unwrap() < 0.004, "{copy}");
    }
    let table = std::fs::read_to_string(commands).unwrap();
    let columns = "time [s],shoulder_yaw.position [rad],shoulder_yaw.velocity [rad/s],shoulder_yaw.effort [N·m],";
    assert!(table.starts_with(columns), "{}", &table[..200]);
    // A row a sample, from the one in which the task begins to the one in which it ends: the scene has rested for 0.5 s before.
    let duration = copies[0]["duration_s"].as_f64().unwrap();
    let rows = u32::try_from(table.lines().count() - 1).unwrap();
    assert!((f64::from(rows - 1) * 0.002 - duration).abs() < 1e-6, "{rows} rows for {duration} s");
    assert!(table.lines().nth(1).is_some_and(|row| row.starts_with("0.5,")));
    assert!(std::fs::read(picture).unwrap().starts_with(b"\x89PNG"));
}

/// A plate that is put down 20 mm above the shelf falls: that is predicted, and has its exit code.
#[test]
fn what_fails_has_an_exit_code_of_its_own() {
    let of = ["--pick", "plate", "--place", "0.5,0.2,0.9", "--copies", "2"];
    let done = rehearse("pick_and_place_suction", &of);
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(3), "{said}");
    assert!(said.contains("failed: copy 0 ends with SLIPPED"), "{said}");
    assert!(String::from_utf8_lossy(&done.stdout).contains("no random copies"));
}

#[test]
fn what_cannot_be_rehearsed_is_said_in_a_sentence() {
    for (scene, arguments, words) in [
        ("pick_and_place", ["--pick", "box", "--place", "0.5,0.2,0.875"], "what can move is cube"),
        ("pick_and_place", ["--pick", "cube", "--place", "0.5,0.2"], "write three numbers"),
        ("pick_and_place", ["--pick", "cube", "--place", "1.5,0.2,0.875"], "unreachable"),
        (
            "pick_and_place_scissor_wide",
            ["--pick", "block", "--place", "0.5,0.2,0.875"],
            "lean by 26.8 degrees, and friction 0.6 holds up to 20.7: the object would be squeezed out",
        ),
        ("walk", ["--pick", "cube", "--place", "0.5,0.2,0.875"], "0 of its robots have a hand"),
    ] {
        let done = rehearse(scene, &arguments);
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{said}");
        assert!(said.contains(words), "{said}");
    }
}
