//! Count of instructions of this very program by valgrind: a number that a busy machine does not disturb.

use std::process::Command;

/// Whether valgrind is installed.
pub fn can_count_instructions() -> bool {
    Command::new("valgrind").arg("--version").output().is_ok()
}

/// Instructions that this program executes with other arguments, in a process and thread of its own. Its start counts, too:
/// take the difference of two counts.
///
/// # Panics
/// Without valgrind, or if the program fails.
#[expect(clippy::unwrap_used, reason = "a bench stops when it cannot count")]
pub fn instructions(arguments: &[&str]) -> f64 {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe().unwrap())
        .args(arguments)
        .env("RAYON_NUM_THREADS", "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {text}");
    // callgrind's last line holds the count
    let line = text.lines().find(|line| line.contains("Collected :")).unwrap();
    line.rsplit(' ').next().unwrap().parse().unwrap()
}
