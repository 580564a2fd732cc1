//! The command line: ROS arguments cut out and checked before the client library sees them.
//!
//! The client library panics on a bad `--ros-args`; here every mistake is one sentence that names the argument.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use serde_yaml::Value;
use thiserror::Error;

use crate::{logging::Severity, overrides::Overrides};

/// Mistake on the command line.
#[derive(Debug, Error)]
pub(crate) enum ArgumentError {
    #[error("argument {0:?} is not valid UTF-8")]
    NotUtf8(OsString),
    #[error("ROS argument `{0}` needs a value")]
    MissingValue(String),
    #[error("unknown ROS argument `{0}`")]
    Unknown(String),
    #[error("`{flag} {value}`: expected `{expected}`")]
    Malformed { flag: String, value: String, expected: &'static str },
    #[error("`--log-level {0}`: expected one of debug, info, warn, error, fatal, unset")]
    LogLevel(String),
    #[error("parameter file `{}`: {reason}", file.display())]
    File { file: PathBuf, reason: String },
    #[error("`-p {0}`: the value is not valid YAML: {1}")]
    Value(String, serde_yaml::Error),
    #[error("`-p {0}`: {1}")]
    List(String, String),
}

/// Command line after the checks.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    /// Arguments of the program itself, without its name.
    pub(crate) program: Vec<String>,
    pub(crate) overrides: Overrides,
    /// Pairs of a logger, or nothing for all, and its lowest severity, in order.
    pub(crate) log_levels: Vec<(Option<String>, Severity)>,
    pub(crate) console: bool,
    pub(crate) rosout: bool,
}

/// Whether `--help` is among a program's own arguments.
pub(crate) fn asks_for_help(program: &[String]) -> bool {
    program.iter().any(|argument| matches!(argument.as_str(), "--help" | "-h"))
}

/// Reads the arguments after the program's name.
pub(crate) fn parse(
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<Arguments, ArgumentError> {
    let mut parsed = Arguments { console: true, rosout: true, ..Arguments::default() };
    let mut arguments =
        arguments.into_iter().map(|a| a.into_string().map_err(ArgumentError::NotUtf8));
    let mut in_ros = false;
    while let Some(argument) = arguments.next() {
        let argument = argument?;
        match argument.as_str() {
            "--ros-args" => in_ros = true,
            "--" if in_ros => in_ros = false,
            _ if !in_ros => parsed.program.push(argument),
            _ => parsed.ros_argument(argument, &mut arguments)?,
        }
    }
    Ok(parsed)
}

impl Arguments {
    /// Whether the user asks for the usage of the program.
    pub(crate) fn asks_for_help(&self) -> bool {
        asks_for_help(&self.program)
    }

    fn ros_argument(
        &mut self,
        flag: String,
        rest: &mut impl Iterator<Item = Result<String, ArgumentError>>,
    ) -> Result<(), ArgumentError> {
        match flag.as_str() {
            "--enable-stdout-logs" => self.console = true,
            "--disable-stdout-logs" => self.console = false,
            "--enable-rosout-logs" => self.rosout = true,
            "--disable-rosout-logs" => self.rosout = false,
            "--enable-external-lib-logs" | "--disable-external-lib-logs" => {}
            "-r" | "--remap" | "-p" | "--param" | "--params-file" | "-e" | "--enclave"
            | "--log-level" | "--log-config-file" | "--log-file-name" => {
                let Some(value) =
                    rest.next().transpose()?.filter(|v| v != "--ros-args" && v != "--")
                else {
                    return Err(ArgumentError::MissingValue(flag));
                };
                self.valued(&flag, &value)?;
            }
            _ => return Err(ArgumentError::Unknown(flag)),
        }
        Ok(())
    }

    fn valued(&mut self, flag: &str, value: &str) -> Result<(), ArgumentError> {
        match flag {
            "-r" | "--remap" => check_remap(flag, value),
            "-p" | "--param" => self.parameter(flag, value),
            "--params-file" => self.parameter_file(Path::new(value)),
            "--log-level" => self.log_level(value),
            _ => Ok(()),
        }
    }

    fn parameter(&mut self, flag: &str, rule: &str) -> Result<(), ArgumentError> {
        let malformed = || ArgumentError::Malformed {
            flag: flag.to_owned(),
            value: rule.to_owned(),
            expected: "[node:]name:=value",
        };
        let (name, yaml) = rule.split_once(":=").ok_or_else(malformed)?;
        let (node, name) = name.rsplit_once(':').unwrap_or(("/**", name));
        if node.is_empty() || name.is_empty() {
            return Err(malformed());
        }
        let value: Value =
            serde_yaml::from_str(yaml).map_err(|e| ArgumentError::Value(rule.to_owned(), e))?;
        if value.is_null() {
            return Err(malformed());
        }
        self.overrides.add(node, name, value).map_err(|e| ArgumentError::List(rule.to_owned(), e))
    }

    fn parameter_file(&mut self, file: &Path) -> Result<(), ArgumentError> {
        let fail = |reason: String| ArgumentError::File { file: file.to_owned(), reason };
        let text = std::fs::read_to_string(file).map_err(|e| fail(e.to_string()))?;
        self.overrides.add_file(&text).map_err(fail)
    }

    fn log_level(&mut self, value: &str) -> Result<(), ArgumentError> {
        let (logger, level) = match value.rsplit_once(":=") {
            Some((logger, level)) => (Some(logger.to_owned()), level),
            None => (None, value),
        };
        let severity =
            Severity::from_name(level).ok_or_else(|| ArgumentError::LogLevel(value.to_owned()))?;
        self.log_levels.push((logger, severity));
        Ok(())
    }
}

/// Checks a rule `[node:]from:=to`. The client library checks more, but explains less.
fn check_remap(flag: &str, rule: &str) -> Result<(), ArgumentError> {
    let malformed = |expected| {
        let (flag, value) = (flag.to_owned(), rule.to_owned());
        Err(ArgumentError::Malformed { flag, value, expected })
    };
    let Some((from, to)) = rule.split_once(":=").filter(|(from, _)| !from.is_empty()) else {
        return malformed("[node:]from:=to");
    };
    let is_token = |token: &str| {
        token.starts_with(|c: char| c.is_ascii_alphabetic() || "_{".contains(c))
            && token.chars().all(|c| c.is_ascii_alphanumeric() || "_{}".contains(c))
    };
    let name = to.split_once("://").map_or(to, |(_, name)| name);
    let path = name.strip_prefix("~/").or(name.strip_prefix('/')).unwrap_or(name);
    let is_path = path.split('/').all(is_token);
    match from.rsplit(':').next().unwrap_or_default() {
        "__node" | "__name" if !is_token(to) => malformed("__node:=name"),
        "__ns" if !to.starts_with('/') || (to != "/" && !is_path) => malformed("__ns:=/namespace"),
        "__node" | "__name" | "__ns" => Ok(()),
        _ if !is_path => malformed("[node:]from:=to, both names"),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
