//! Start of a node again, in its own process, with other values of parameters.

use std::{
    env,
    ffi::{OsStr, OsString},
    io,
    os::unix::process::CommandExt,
    path::Path,
    process::Command,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
};

use crate::{Stop, open_files::OpenFiles};

/// Value that a text parameter is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Name of the parameter.
    pub name: &'static str,
    /// Text that it gets.
    pub value: String,
}

impl Setting {
    /// Setting of a parameter to a file, by the one path that does not depend on links or on the folder a node was started in.
    pub fn file(name: &'static str, path: &Path) -> Self {
        let real = path.canonicalize();
        let value = real.as_deref().unwrap_or(path).to_string_lossy().into_owned();
        Self { name, value }
    }
}

/// Handle that has the node end and start again in the same process, from any thread.
#[derive(Debug, Clone)]
pub struct Restart {
    requested: Arc<Mutex<Option<Vec<Setting>>>>,
    /// Files that the process was started with.
    files: Arc<OpenFiles>,
    /// Whether the process is being replaced: a signal then ends it at once.
    begun: Arc<AtomicBool>,
}

impl Restart {
    /// Handle of a process that has opened no file yet.
    pub(crate) fn new() -> Self {
        Self { requested: Arc::default(), files: Arc::new(OpenFiles::now()), begun: Arc::default() }
    }

    /// Has the node start again with these settings, which win over all that it was given before. Of several calls the last counts.
    pub fn with(&self, settings: Vec<Setting>) {
        *self.requested.lock().unwrap_or_else(PoisonError::into_inner) = Some(settings);
    }

    pub(crate) fn is_requested(&self) -> bool {
        self.requested.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Makes signals end the process while it is being replaced. What catches them otherwise must be there already: of a signal at
    /// the very beginning either this or [`Stop`] knows.
    pub(crate) fn watch_signals(&self) -> io::Result<()> {
        [SIGINT, SIGTERM].into_iter().try_for_each(|signal| {
            flag::register_conditional_default(signal, Arc::clone(&self.begun)).map(drop)
        })
    }

    /// Replaces the process by the same program with the settings, unless none are requested or a stop is. Returns only then, and where
    /// the system refuses.
    pub(crate) fn replace_process(&self, stop: &Stop) -> io::Result<()> {
        let requested = self.requested.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(settings) = requested else { return Ok(()) };
        self.begun.store(true, Ordering::SeqCst);
        if stop.is_requested() {
            return Ok(());
        }
        let mut arguments = env::args_os();
        let program = env::current_exe()?;
        let called = arguments.next().unwrap_or_else(|| program.clone().into());
        let arguments = with_settings(arguments, &settings);
        self.files.keep_no_others();
        Err(Command::new(program).arg0(called).args(arguments).exec())
    }
}

/// Command line with these settings at its end, where they win over parameter files and over values for a node by its name. Values of
/// the same parameters that are for all nodes are left out, so that the command line does not grow from one start to the next.
fn with_settings(
    arguments: impl IntoIterator<Item = OsString>,
    settings: &[Setting],
) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut in_ros = false;
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--ros-args") => in_ros = true,
            Some("--") if in_ros => in_ros = false,
            Some("-p" | "--param") if in_ros => {
                let rule = arguments.next().filter(|rule| !is_of(rule, settings));
                kept.extend(rule.into_iter().flat_map(|rule| [argument.clone(), rule]));
                continue;
            }
            _ => {}
        }
        kept.push(argument);
    }
    if !in_ros {
        kept.push("--ros-args".into());
    }
    for Setting { name, value } in settings {
        // A string of JSON is one of YAML.
        kept.extend(["-p".into(), format!("{name}:={}", serde_json::json!(value)).into()]);
    }
    kept
}

/// Whether a rule `name:=value` is of a parameter that is set.
fn is_of(rule: &OsStr, settings: &[Setting]) -> bool {
    let name = rule.to_str().and_then(|rule| rule.split_once(":=")).map(|(name, _)| name);
    settings.iter().any(|setting| Some(setting.name) == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments;

    fn settings(urdf: &str, config: &str) -> Vec<Setting> {
        [("urdf", urdf), ("config", config)]
            .map(|(name, value)| Setting { name, value: value.to_owned() })
            .into()
    }

    fn started_again(line: &[&str], settings: &[Setting]) -> Vec<String> {
        let words = with_settings(line.iter().map(OsString::from), settings);
        words.into_iter().map(|word| word.into_string().unwrap()).collect()
    }

    fn words(line: &str) -> Vec<&str> {
        line.split_whitespace().collect()
    }

    #[test]
    fn settings_come_last_in_the_ros_arguments() {
        let new = settings("b.urdf", "b.yaml");
        let tail = words(r#"-p urdf:="b.urdf" -p config:="b.yaml""#);
        for (before, kept) in [
            ("", "--ros-args"),
            ("file", "file --ros-args"),
            ("--ros-args -r __ns:=/arm", "--ros-args -r __ns:=/arm"),
            ("--ros-args -p rate:=3 -- file", "--ros-args -p rate:=3 -- file --ros-args"),
            // `-p` outside of the ROS arguments is the program's own.
            ("-p urdf:=a.urdf", "-p urdf:=a.urdf --ros-args"),
        ] {
            let expected = [words(kept), tail.clone()].concat();
            assert_eq!(started_again(&words(before), &new), expected, "{before}");
        }
    }

    #[test]
    fn a_second_start_leaves_the_first_ones_settings_out() {
        let line = words("file --ros-args -p urdf:=a.urdf -p rate:=3 --param config:=a.yaml -- x");
        let once = started_again(&line, &settings("b.urdf", "b.yaml"));
        let once: Vec<&str> = once.iter().map(String::as_str).collect();
        let twice = started_again(&once, &settings("c.urdf", "c.yaml"));
        let expected =
            r#"file --ros-args -p rate:=3 -- x --ros-args -p urdf:="c.urdf" -p config:="c.yaml""#;
        assert_eq!(twice, words(expected));
    }

    #[test]
    fn settings_win_over_files_and_over_values_for_the_node_by_its_name() {
        let file = env::temp_dir().join(format!("karakuri-restart-{}.yaml", std::process::id()));
        std::fs::write(&file, "/arm/gripper:\n  ros__parameters: {urdf: f.urdf, rate: 2}\n")
            .unwrap();
        let file_name = file.to_str().unwrap();
        let line = ["--ros-args", "-p", "/arm/gripper:urdf:=n.urdf", "--params-file", file_name];
        let awkward = "a \"tool\": it's #1\\\n[ä]";
        let again = with_settings(line.map(OsString::from), &settings("b.urdf", awkward));
        let values = arguments::parse(again).unwrap().overrides.for_node("/arm/gripper");
        std::fs::remove_file(&file).unwrap();
        assert_eq!(values["urdf"].as_str(), Some("b.urdf"));
        assert_eq!(values["config"].as_str(), Some(awkward), "any text stays what it is");
        assert_eq!(values["rate"].as_u64(), Some(2));
    }

    #[test]
    fn without_a_wish_or_after_a_stop_the_process_stays() {
        let stop = Stop::new(Arc::default());
        Restart::new().replace_process(&stop).unwrap();
        let restart = Restart::new();
        assert!(!restart.is_requested());
        restart.with(settings("b.urdf", ""));
        assert!(restart.is_requested());
        stop.stop();
        restart.replace_process(&stop).unwrap();
    }
}
