//! The commands that ask running nodes, where there is no ROS 2.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic as the tests do")]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

const COMMANDS: [&str; 6] = ["goal", "echo", "param", "topics", "nodes", "actions"];

/// Exit code, stdout and stderr of the program in a folder of its own.
fn run(program: &Path, command: &str, prefix: &str) -> (i32, String, String) {
    let output = Command::new(program)
        .args([command, "-f", "/a", "--help"])
        .env("AMENT_PREFIX_PATH", prefix)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn without_ros_one_sentence_says_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("bin/karakuri");
    fs::create_dir(folder.path().join("bin")).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_karakuri"), &program).unwrap();
    for command in COMMANDS {
        let (code, _, error) = run(&program, command, "/opt/ros");
        assert_eq!(code, 1);
        let begin = format!("error: `karakuri {command}` needs ROS 2: the program karakuri_client");
        assert!(error.starts_with(&begin) && error.contains("./dev build"), "{error}");
    }
    // beside it, or where a package that is installed has it
    for place in ["lib/karakuri", "bin"] {
        let place = folder.path().join(place);
        fs::create_dir_all(&place).unwrap();
        let client = place.join("karakuri_client");
        fs::write(&client, "#!/bin/sh\necho \"$0 $@\"\nexit 7\n").unwrap();
        fs::set_permissions(&client, fs::Permissions::from_mode(0o755)).unwrap();
        for command in COMMANDS {
            let (code, out, _) = run(&program, command, "/opt/ros");
            assert_eq!(code, 7);
            assert!(out.ends_with(&format!("karakuri_client {command} -f /a --help\n")), "{out}");
            let (code, _, error) = run(&program, command, "");
            assert!(code == 1 && error.contains("source install/setup.bash first"), "{error}");
        }
    }
}
