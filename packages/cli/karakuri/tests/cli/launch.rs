//! `karakuri launch` with small shells as children: order of shutdown, respawn, exit codes, and that no
//! process is left behind, however the launcher ends.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic as the tests do")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use signal_hook::consts::{SIGHUP, SIGINT};
use tempfile::TempDir;

/// Ends well on SIGINT, and says so in the file `log`.
const OBEDIENT: &str = "echo $$ &gt;&gt; pids; trap 'echo int &gt;&gt; log; exit 0' INT; echo up &gt;&gt; log; while :; do sleep 0.05; done";

struct Launch {
    folder: TempDir,
}

impl Launch {
    /// A folder with a launch file of these actions; they run in the folder.
    fn new(actions: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("test.launch.xml"), format!("<launch>{actions}</launch>"))
            .unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn start(&self) -> Child {
        heed_signals();
        Command::new(env!("CARGO_BIN_EXE_karakuri"))
            .args(["launch", "test.launch.xml"])
            .current_dir(self.folder.path())
            .env("ROS_LOG_DIR", self.path("logs"))
            .env_remove("OVERRIDE_LAUNCH_PROCESS_OUTPUT")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    fn run(&self) -> (i32, String) {
        finish(self.start())
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Waits until the file holds the text.
    fn wait_for(&self, name: &str, text: &str) {
        wait(&format!("`{text}` in {name}"), || self.read(name).contains(text));
    }

    /// The processes that wrote their number to `pids` are gone.
    fn expect_nothing_left(&self) {
        let pids = self.read("pids");
        assert!(!pids.is_empty());
        wait("the end of all children", || pids.lines().all(|pid| !is_alive(pid)));
    }
}

/// What a test run in the background ignores (`nohup`, `&` in a script), its children would ignore until they catch it.
fn heed_signals() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for signal in [SIGINT, SIGHUP] {
            let always = Arc::new(AtomicBool::new(true));
            signal_hook::flag::register_conditional_default(signal, always).unwrap();
        }
    });
}

fn is_alive(pid: &str) -> bool {
    let pid = Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    // A zombie waits for its parent, but runs no more.
    let stat =
        fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    test_kill_process(pid).is_ok() && !stat.contains(") Z ")
}

fn wait(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !condition() {
        assert!(Instant::now() < deadline, "{what} did not come in time");
        std::thread::yield_now();
    }
}

fn signal(launcher: &Child, signal: Signal) {
    kill_process(Pid::from_child(launcher), signal).unwrap();
}

fn finish(launcher: Child) -> (i32, String) {
    let Output { status, stdout, stderr } = launcher.wait_with_output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    (status.code().unwrap_or(-1), said)
}

fn shell(script: &str, attributes: &str) -> String {
    format!(
        "<executable name=\"sh\" {attributes} output=\"screen\" cmd='sh -c \"{}\"'/>",
        script.replace('\'', "&apos;")
    )
}

#[test]
fn a_clean_end_is_exit_code_0_and_output_has_prefixes() {
    let launch = Launch::new(&(shell("echo one; echo two", "") + &shell("echo three", "")));
    let (code, said) = launch.run();
    assert_eq!(code, 0, "{said}");
    for line in
        ["[sh-1] one\n", "[sh-1] two\n", "[sh-2] three\n", "[sh-1]: process has finished cleanly"]
    {
        assert!(said.contains(line), "{line} in {said}");
    }
}

#[test]
fn a_death_is_exit_code_3_and_the_others_go_on() {
    let launch = Launch::new(&(shell("exit 7", "") + &shell("sleep 0.3; echo done", "")));
    let (code, said) = launch.run();
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("process has died [pid") && said.contains("exit code 7"), "{said}");
    assert!(said.contains("[sh-2] done") && said.contains("failed: sh-1 died"), "{said}");
}

#[test]
fn a_wrong_file_is_exit_code_1_with_its_line() {
    let launch = Launch::new("\n<nod/>");
    let (code, said) = launch.run();
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("test.launch.xml:2: <nod> in <launch>"), "{said}");
}

#[test]
fn a_missing_program_ends_all() {
    let launch = Launch::new(&(shell(OBEDIENT, "") + "<executable cmd='/no/such/program'/>"));
    let (code, said) = launch.run();
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("cannot start `/no/such/program`"), "{said}");
}

#[test]
fn interrupt_reaches_every_child_and_ends_well() {
    let launch = Launch::new(&(shell(OBEDIENT, "") + &shell(OBEDIENT, "")));
    for stop in [Signal::INT, Signal::TERM, Signal::HUP] {
        fs::write(launch.path("log"), "").unwrap();
        let child = launch.start();
        launch.wait_for("log", "up\nup\n");
        signal(&child, stop);
        let (code, said) = finish(child);
        assert_eq!(code, 0, "{said}");
        assert_eq!(launch.read("log"), "up\nup\nint\nint\n");
        launch.expect_nothing_left();
    }
}

#[test]
fn shutdown_goes_on_to_sigterm_and_sigkill() {
    let stubborn = "echo $$ &gt;&gt; pids; trap 'echo int &gt;&gt; log' INT; trap 'echo term &gt;&gt; log' TERM; echo up &gt;&gt; log; while :; do sleep 0.05; done";
    let launch = Launch::new(&shell(stubborn, "sigterm_timeout='0.3' sigkill_timeout='0.3'"));
    let child = launch.start();
    launch.wait_for("log", "up");
    signal(&child, Signal::INT);
    let (code, said) = finish(child);
    assert_eq!(code, 3, "{said}");
    assert_eq!(launch.read("log"), "up\nint\nterm\n");
    assert!(said.contains("did not stop 0.3 s after SIGINT"), "{said}");
    launch.expect_nothing_left();
}

#[test]
fn further_interrupts_hasten_the_end() {
    let deaf = "echo $$ &gt;&gt; pids; trap '' INT TERM; echo up &gt;&gt; log; while :; do sleep 0.05; done";
    let launch = Launch::new(&shell(deaf, ""));
    let mut child = launch.start();
    launch.wait_for("log", "up");
    let begin = Instant::now();
    wait("the end of the launcher", || {
        if child.try_wait().unwrap().is_some() {
            return true;
        }
        signal(&child, Signal::INT);
        false
    });
    assert!(begin.elapsed() < Duration::from_secs(9));
    launch.expect_nothing_left();
}

#[test]
fn the_end_of_an_important_process_ends_all() {
    let launch = Launch::new(
        &(shell(OBEDIENT, "")
            + "<timer period='0.3'>"
            + &shell("true", "on_exit='shutdown'")
            + "</timer>"),
    );
    let (code, said) = launch.run();
    assert_eq!(code, 0, "{said}");
    assert!(launch.read("log").ends_with("int\n"), "{said}");
    launch.expect_nothing_left();
}

#[test]
fn respawn_starts_again_as_often_as_allowed() {
    let launch = Launch::new(&shell(
        "echo x &gt;&gt; log; exit 1",
        "respawn='true' respawn_delay='0.05' respawn_max_retries='2'",
    ));
    let (code, said) = launch.run();
    assert_eq!(code, 3, "{said}");
    assert_eq!(launch.read("log"), "x\nx\nx\n");
}

#[test]
fn respawn_stops_at_the_shutdown() {
    let launch = Launch::new(&shell("echo x &gt;&gt; log", "respawn='true' respawn_delay='0.1'"));
    let child = launch.start();
    launch.wait_for("log", "x\nx\n");
    signal(&child, Signal::INT);
    let (code, said) = finish(child);
    assert_eq!(code, 0, "{said}");
}

#[test]
fn a_killed_launcher_leaves_nothing_behind() {
    // Also not the child of a child, nor one that ignores SIGINT.
    let deaf =
        "echo $$ &gt;&gt; pids; trap '' INT; echo up &gt;&gt; log; while :; do sleep 0.05; done";
    let parent = format!("({OBEDIENT}) &amp; {OBEDIENT}");
    let launch = Launch::new(&(shell(&parent, "") + &shell(deaf, "")));
    let mut child = launch.start();
    wait("three children", || launch.read("log").matches("up").count() == 3);
    child.kill().unwrap();
    child.wait().unwrap();
    launch.expect_nothing_left();
}

#[test]
fn what_a_child_leaves_behind_ends_with_the_launch() {
    let launch =
        Launch::new(&shell("sleep 100 &gt; /dev/null 2&gt;&amp;1 &amp; echo $! &gt; pids", ""));
    let (code, said) = launch.run();
    assert_eq!(code, 0, "{said}");
    launch.expect_nothing_left();
}

#[test]
fn interrupts_at_any_moment_leave_nothing_behind() {
    let launch = Launch::new(
        &(shell(OBEDIENT, "")
            + &shell(OBEDIENT, "")
            + "<timer period='0.02'>"
            + &shell(OBEDIENT, "")
            + "</timer>"),
    );
    for step in 0..12 {
        let child = launch.start();
        let moment = Instant::now() + Duration::from_millis(5 * step);
        wait("the moment", || Instant::now() >= moment);
        signal(&child, Signal::INT);
        let (_, said) = finish(child);
        assert!(!said.contains("panicked"), "{said}");
    }
    wait("the end of all children", || launch.read("pids").lines().all(|pid| !is_alive(pid)));
}

#[test]
fn the_environment_and_parameter_files_reach_the_process() {
    let launch = Launch::new(
        "<set_env name='A' value='1'/><node exec='sh' name='n' namespace='s' exec_name='sh' output='screen' \
         args='-c \"echo $$A$B; cat $5\" x'><env name='B' value='2'/><param name='gain' value='0.5'/></node>",
    );
    let (code, said) = launch.run();
    // `sh -c SCRIPT x --ros-args -r __node:=n -r __ns:=/s --params-file FILE`: the file is `$7`.
    assert_eq!(code, 3, "{said}");
    let text = fs::read_to_string(launch.path("test.launch.xml"))
        .unwrap()
        .replace("$$A$B; cat $5", "$A$B; cat $7");
    fs::write(launch.path("test.launch.xml"), text).unwrap();
    let (code, said) = launch.run();
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("[sh-1] 12\n") && said.contains("[sh-1] /s/n:\n"), "{said}");
    assert!(said.contains("[sh-1]     gain: 0.5"), "{said}");
}

#[test]
fn all_output_is_in_the_log_file() {
    let launch = Launch::new("<executable name='quiet' output='own_log' cmd='echo unseen'/>");
    let (code, said) = launch.run();
    assert_eq!(code, 0, "{said}");
    assert!(!said.contains("unseen"), "{said}");
    let run = fs::read_dir(launch.path("logs")).unwrap().next().unwrap().unwrap().path();
    let log = fs::read_to_string(run.join("launch.log")).unwrap();
    assert!(log.contains("[quiet-1] unseen"), "{log}");
}

#[test]
fn a_dry_run_starts_nothing() {
    let launch = Launch::new("<executable name='t' cmd='touch made'/>");
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_karakuri"))
            .arg("launch")
            .arg(launch.path("test.launch.xml"))
            .args(arguments)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(run(&["--dry-run"]), "[t-1] touch made\n");
    let plan: serde_json::Value = serde_json::from_str(&run(&["--dry-run", "--json"])).unwrap();
    assert_eq!(plan["steps"][0]["process"]["command"][1]["text"], "made");
    assert!(!Path::new(&launch.path("made")).exists());
}

#[test]
fn a_file_without_an_end_is_refused_at_once() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_karakuri"))
        .args(["launch", "/dev/zero", "--dry-run"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let end = Instant::now() + Duration::from_secs(5);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > end {
            child.kill().unwrap();
        }
        std::thread::park_timeout(Duration::from_millis(10));
    }
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("/dev/zero") && said.contains("more than 4 MiB"), "{said}");
}
