//! `karakuri do` as a user runs it, and what `karakuri mcp` refuses to begin with.
#![expect(clippy::unwrap_used, reason = "a test says so")]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

struct Shell {
    folder: tempfile::TempDir,
}

impl Shell {
    /// A folder with the envelope of the table, of two copies, which nobody may write.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let text = fs::read_to_string(root("config/envelopes/table.yaml")).unwrap();
        let envelope = folder.path().join("envelope.yaml");
        fs::write(&envelope, text.replace("copies: 16", "copies: 2")).unwrap();
        fs::set_permissions(&envelope, Permissions::from_mode(0o444)).unwrap();
        Self { folder }
    }

    fn file(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn command(&self, command: &str, arguments: &[&str]) -> Command {
        let scene = root("config/scenes/pick_and_place.yaml");
        let (envelope, audit) = (self.file("envelope.yaml"), self.file("audit.jsonl"));
        let files = [scene.as_str(), "--envelope", &envelope, "--audit", &audit];
        let mut program = Command::new(env!("CARGO_BIN_EXE_karakuri"));
        program.arg(command).args(files).args(arguments).stdin(Stdio::null());
        program
    }

    fn run(&self, command: &str, arguments: &[&str]) -> Output {
        self.command(command, arguments).output().unwrap()
    }

    /// What becomes of commands that come on the standard input.
    fn typed(&self, lines: &str) -> Output {
        let commands = self.file("commands");
        fs::write(&commands, lines).unwrap();
        let input = fs::File::open(&commands).unwrap();
        self.command("do", &["--yes"]).stdin(input).output().unwrap()
    }
}

fn root(file: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").join(file).to_str().unwrap().to_owned()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn commands_are_predicted_carried_out_and_logged() {
    let shell = Shell::new();
    let pictures = shell.file("pictures");
    let commands = ["pick cube", "place on=shelf", "look", "--yes", "--pictures", &pictures];
    let done = shell.run("do", &commands);
    assert!(done.status.success(), "{}", said(&done));
    let shown = String::from_utf8_lossy(&done.stdout).into_owned();
    let (sentences, scene) = shown.split_once('{').unwrap();
    let lines: Vec<_> = sentences.lines().collect();
    assert!(lines[0].starts_with("pick: all of 2 copies succeed in "), "{shown}");
    assert!(lines[1].starts_with("pick: done in ") && lines[1].ends_with("it is in the hand"));
    assert!(lines[3].starts_with("place: done in "), "{shown}");
    let scene: Value = serde_json::from_str(&format!("{{{scene}")).unwrap();
    let objects = scene["objects"].as_array().unwrap();
    let cube = objects.iter().find(|object| object["name"] == "cube").unwrap();
    assert!((cube["xyz_m"][1].as_f64().unwrap() - 0.2).abs() < 0.005, "{cube}");
    for picture in ["1_pick.png", "2_place.png"] {
        let bytes = fs::read(Path::new(&pictures).join(picture)).unwrap();
        assert!(bytes.starts_with(b"\x89PNG"), "{picture}");
    }
    // The log goes on, and a change of it is noticed.
    assert!(shell.run("do", &["home", "--dry-run"]).status.success());
    let log = fs::read_to_string(shell.file("audit.jsonl")).unwrap();
    assert_eq!(log.lines().count(), 7, "{log}");
    fs::write(shell.file("audit.jsonl"), log.replacen("cube", "ball", 1)).unwrap();
    let broken = shell.run("do", &["home", "--dry-run"]);
    assert_eq!(broken.status.code(), Some(1));
    assert!(said(&broken).contains("name another file with --audit"), "{}", said(&broken));
}

#[test]
fn commands_are_typed_one_a_line() {
    let shell = Shell::new();
    let done = shell.typed("pick cube\n\nplace on=shelf\nlook objects=[\"cube\"]\n");
    assert_eq!(done.status.code(), Some(0), "{}", said(&done));
    let answers = String::from_utf8_lossy(&done.stdout);
    let places = ["pick: done in", "place: done in", "\"name\": \"cube\""];
    let places = places.map(|text| answers.find(text).unwrap());
    assert!(places.is_sorted(), "{answers}");
    let refused = shell.typed("grab cube\nhome\n");
    assert_eq!(refused.status.code(), Some(3), "{}", said(&refused));
    assert!(said(&refused).contains("`grab` is no verb") && refused.stdout.is_empty());
}

#[test]
fn what_is_refused_is_said_in_a_sentence() {
    let shell = Shell::new();
    for (commands, code, words) in [
        (["move x_m=0.9 y_m=0 z_m=1", "--yes"], 3, "OUTSIDE_ENVELOPE: x_m 0.9, allowed [0.1, 0.7]"),
        (["pick cube_2", "--yes"], 3, "UNKNOWN_OBJECT: object cube_2"),
        (["place on=shelf", "--yes"], 3, "INVALID_GOAL; pick an object first"),
        (["pick cube force_n=twenty", "--yes"], 3, "BAD_ARGUMENT: force_n twenty"),
        (["grab cube", "--yes"], 1, "`grab` is no verb; verbs are look, status"),
        (["pick cube cube", "--yes"], 1, "`object` is given twice"),
        (["home", "--as=guest"], 1, "nobody can be asked here"),
        (["home --as=guest", "--yes"], 3, "BAD_ARGUMENT; leave out the argument"),
    ] {
        let done = shell.run("do", &commands);
        assert_eq!(done.status.code(), Some(code), "{commands:?}: {}", said(&done));
        assert!(said(&done).contains(words), "{commands:?}: {}", said(&done));
    }
    let guest = shell.run("do", &["home", "--as", "guest", "--yes"]);
    assert!(said(&guest).contains("NOT_ALLOWED: verb home"), "{}", said(&guest));
}

#[test]
fn a_wrong_call_of_a_model_names_its_function() {
    let shell = Shell::new();
    let calls = shell.file("calls.json");
    let view = root("config/views/words.yaml");
    for (text, code, words) in [
        (r#"[{"function": "jump", "args": []}]"#, 3, "call move, setGripperState"),
        (r#"[{"function": "move", "args": [1, 2]}]"#, 3, "allowed x, y, high"),
        (r#"[{"function": "move", "args": [1.5, 2, true]}]"#, 3, "BAD_ARGUMENT: x 1.5"),
        (r#"[{"function": "move"}]"#, 1, "write a list of calls"),
        ("move(1, 2)", 1, "write a list of calls"),
    ] {
        fs::write(&calls, text).unwrap();
        let done = shell.run("do", &["--calls", &calls, "--view", &view, "--yes"]);
        assert_eq!(done.status.code(), Some(code), "{text}: {}", said(&done));
        assert!(said(&done).contains(words), "{text}: {}", said(&done));
    }
}

#[test]
fn an_envelope_within_reach_is_not_obeyed() {
    let shell = Shell::new();
    let envelope = shell.file("envelope.yaml");
    fs::set_permissions(&envelope, Permissions::from_mode(0o644)).unwrap();
    for command in ["do", "mcp"] {
        let arguments: &[&str] = if command == "do" { &["home", "--yes"] } else { &[] };
        let done = shell.run(command, arguments);
        assert_eq!(done.status.code(), Some(1), "{}", said(&done));
        assert!(said(&done).contains(&format!("`chmod 0444 {envelope}`")), "{}", said(&done));
    }
    let wrong = shell.run("mcp", &["--token", "anna=short", "--http", "127.0.0.1:0"]);
    assert!(said(&wrong).contains("write at least 32"), "{}", said(&wrong));
}
