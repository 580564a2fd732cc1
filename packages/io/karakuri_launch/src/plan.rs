//! Plan of a launch file: processes with their whole command lines, messages, delayed starts.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::time::Duration;

use serde::Serialize;

/// Plan of all actions of a launch, in order.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// Steps at the start, in order.
    pub steps: Vec<Step>,
    /// Warnings of content that is allowed but looks like a mistake.
    pub warnings: Vec<String>,
}

/// Step of a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Starts a process.
    Process(Box<Process>),
    /// Prints a message.
    Log(String),
    /// Takes further steps later.
    Timer {
        /// Wall time from the start of the timer. [s]
        period_s: f64,
        /// Steps to take then.
        steps: Vec<Step>,
    },
}

/// Process, ready to start.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Process {
    /// Name of executable and number, `sim-1`; the prefix of its output.
    pub name: String,
    /// Full name of the node, where the launch file gives it.
    pub node: Option<String>,
    /// File and line that start it.
    pub place: String,
    /// Program and arguments.
    pub command: Vec<Argument>,
    /// Texts of the parameter files that the command names.
    pub parameter_files: Vec<String>,
    /// Variables that differ from the launcher's own environment.
    pub environment: BTreeMap<String, String>,
    /// Destination of its output.
    pub output: Output,
    /// Respawn of the process when it ends.
    pub respawn: Option<Respawn>,
    /// Whether its end ends the launch.
    pub shutdown_on_exit: bool,
    /// Time from SIGINT to SIGTERM. [s]
    pub sigterm_timeout_s: f64,
    /// Time from SIGTERM to SIGKILL. [s]
    pub sigkill_timeout_s: f64,
}

/// Word of a command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Argument {
    /// Text as it stands.
    Text(String),
    /// Path of the process's parameter file with this index.
    ParameterFile(usize),
}

/// Respawn of a process.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Respawn {
    /// Time between its end and the next start. [s]
    pub delay_s: f64,
    /// Largest number of respawns; `None` for no limit.
    pub max_retries: Option<u32>,
}

/// Destination of a process's output besides the log file; the names are those of ROS 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// Only stderr goes to the screen.
    Log,
    /// Both stdout and stderr go to the screen.
    Screen,
    /// Nothing goes to the screen.
    OwnLog,
}

impl Output {
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "log" => Some(Self::Log),
            "screen" | "both" | "full" => Some(Self::Screen),
            "own_log" => Some(Self::OwnLog),
            _ => None,
        }
    }
}

impl Plan {
    /// All processes, including the delayed ones.
    pub fn processes(&self) -> Vec<&Process> {
        let mut found = Vec::new();
        collect(&self.steps, &mut found);
        found
    }
}

fn collect<'a>(steps: &'a [Step], found: &mut Vec<&'a Process>) {
    for step in steps {
        match step {
            Step::Process(process) => found.push(process),
            Step::Timer { steps, .. } => collect(steps, found),
            Step::Log(_) => {}
        }
    }
}

impl Process {
    /// Command line for a shell, with a name in place of each parameter file.
    pub fn command_line(&self) -> String {
        self.words(|index| format!("<parameters {index}>")).join(" ")
    }

    pub(crate) fn words(&self, file: impl Fn(usize) -> String) -> Vec<String> {
        let word = |argument: &Argument| match argument {
            Argument::Text(text) => text.clone(),
            Argument::ParameterFile(index) => file(*index),
        };
        self.command.iter().map(word).collect()
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        for warning in &self.warnings {
            writeln!(out, "warning: {warning}")?;
        }
        write_steps(&mut out, &self.steps, "")?;
        f.write_str(&out)
    }
}

fn write_steps(out: &mut String, steps: &[Step], indent: &str) -> fmt::Result {
    for step in steps {
        match step {
            Step::Log(message) => writeln!(out, "{indent}log: {message}")?,
            Step::Timer { period_s, steps } => {
                let period = Duration::from_secs_f64(*period_s);
                writeln!(out, "{indent}after {period:?}:")?;
                write_steps(out, steps, &format!("{indent}  "))?;
            }
            Step::Process(process) => write_process(out, process, indent)?,
        }
    }
    Ok(())
}

fn write_process(out: &mut String, process: &Process, indent: &str) -> fmt::Result {
    writeln!(out, "{indent}[{}] {}", process.name, process.command_line())?;
    if let Some(node) = &process.node {
        writeln!(out, "{indent}  node: {node}")?;
    }
    for (name, value) in &process.environment {
        writeln!(out, "{indent}  env: {name}={value}")?;
    }
    if let Some(Respawn { delay_s, max_retries }) = process.respawn {
        let times = max_retries.map_or("always".into(), |n| format!("{n} times"));
        writeln!(out, "{indent}  respawn: {times}, after {delay_s} s")?;
    }
    if process.shutdown_on_exit {
        writeln!(out, "{indent}  its end ends all")?;
    }
    for (index, text) in process.parameter_files.iter().enumerate() {
        writeln!(out, "{indent}  parameters {index}:")?;
        for line in text.lines() {
            writeln!(out, "{indent}    {line}")?;
        }
    }
    Ok(())
}
