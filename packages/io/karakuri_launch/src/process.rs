//! Processes of `<node>` and `<executable>`, with the command line that ROS 2's launch builds:
//! `exec args --ros-args -r __node:=name -r __ns:=/ns`, then global parameters, the node's own, global remaps, the node's own.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::error::LaunchError;
use crate::evaluate::{Evaluator, at, seconds};
use crate::grammar::{Part, parse, split_command};
use crate::plan::{Argument, Output, Process, Respawn};
use crate::scope::{check_namespace, check_node_name, join_namespace, package_executable};
use crate::value::{Kind, Value};
use crate::xml::Element;

/// Time from SIGINT to SIGTERM, and from there to SIGKILL, as the defaults of ROS 2. [s]
const SIGNAL_TIMEOUT_S: f64 = 5.0;

/// Command line under construction.
#[derive(Default)]
struct Command {
    words: Vec<Argument>,
    files: Vec<String>,
}

impl Command {
    fn push(&mut self, word: impl Into<String>) {
        self.words.push(Argument::Text(word.into()));
    }

    fn pair(&mut self, option: &str, value: impl Into<String>) {
        self.push(option);
        self.push(value);
    }

    fn file(&mut self, text: String) {
        self.push("--params-file");
        self.words.push(Argument::ParameterFile(self.files.len()));
        self.files.push(text);
    }
}

impl Evaluator<'_> {
    /// Process of a `<node>` or an `<executable>`.
    pub(crate) fn process(&mut self, element: &Element) -> Result<Process, LaunchError> {
        let is_node = element.tag.name == "node";
        let mut command = Command::default();
        let mut node = None;
        if is_node {
            self.program(element, &mut command)?;
        } else {
            self.words(element, "cmd", &mut command)?;
        }
        if is_node {
            node = self.ros_arguments(element, &mut command)?;
        }
        let mut prefixed = Command::default();
        if let Some(prefix) = self.optional(element, "launch-prefix")? {
            shlex::split(&prefix)
                .ok_or_else(|| element.error("launch-prefix: a quote is not closed"))?
                .into_iter()
                .for_each(|word| prefixed.push(word));
        }
        prefixed.words.append(&mut command.words);
        let label = self.label(element, is_node, &prefixed)?;
        self.process_count += 1;
        Ok(Process {
            name: format!("{label}-{}", self.process_count),
            node,
            place: element.place.to_string(),
            command: prefixed.words,
            parameter_files: command.files,
            environment: self.environment_changes(element)?,
            output: self.output(element)?,
            respawn: self.respawn(element)?,
            shutdown_on_exit: shutdown_on_exit(element)?,
            sigterm_timeout_s: plain_seconds(element, "sigterm_timeout", SIGNAL_TIMEOUT_S)?,
            sigkill_timeout_s: plain_seconds(element, "sigkill_timeout", SIGNAL_TIMEOUT_S)?,
        })
    }

    fn label(
        &self,
        element: &Element,
        is_node: bool,
        command: &Command,
    ) -> Result<String, LaunchError> {
        let attribute = if is_node { "exec_name" } else { "name" };
        if let Some(name) = self.optional(element, attribute)? {
            return Ok(name);
        }
        match command.words.first() {
            Some(Argument::Text(program)) if !program.is_empty() => {
                Ok(program.rsplit('/').next().unwrap_or(program).to_owned())
            }
            _ => Err(element.error("the command is empty").remedy("name a program")),
        }
    }

    fn program(&self, element: &Element, command: &mut Command) -> Result<(), LaunchError> {
        let exec = self.required(element, "exec")?;
        match self.optional(element, "pkg")? {
            Some(package) => {
                let environment = &self.scope.environment;
                let file = package_executable(&exec, &package, environment, self.outside)
                    .map_err(|p| at(element, p))?;
                command.push(file.display().to_string());
            }
            None => command.push(exec),
        }
        Ok(())
    }

    /// Words of an attribute that holds a command line.
    fn words(
        &self,
        element: &Element,
        attribute: &str,
        command: &mut Command,
    ) -> Result<(), LaunchError> {
        let text = element.get(attribute).unwrap_or_default();
        for word in split_command(text).map_err(|p| at(element, p))? {
            command.push(self.substituter().template(&word).map_err(|p| at(element, p))?);
        }
        Ok(())
    }

    /// Adds all words after the program; the node's full name if the file gives it.
    fn ros_arguments(
        &mut self,
        element: &Element,
        command: &mut Command,
    ) -> Result<Option<String>, LaunchError> {
        self.words(element, "args", command)?;
        command.push("--ros-args");
        let name = self.optional(element, "name")?;
        if let Some(name) = &name {
            check_node_name(name).map_err(|p| at(element, p))?;
            command.pair("-r", format!("__node:={name}"));
        }
        let namespace = self.optional(element, "namespace")?;
        let namespace = join_namespace(self.scope.namespace.as_deref(), namespace.as_deref());
        if let Some(namespace) = &namespace {
            check_namespace(namespace).map_err(|p| at(element, p))?;
            command.pair("-r", format!("__ns:={namespace}"));
        }
        let full = name
            .zip(namespace)
            .map(|(name, namespace)| format!("{}/{name}", namespace.trim_end_matches('/')));
        for parameter in &self.scope.parameters {
            command.pair("-p", parameter);
        }
        for parameter in element.parts("param") {
            self.parameter(parameter, full.as_deref().unwrap_or("/**"), command)?;
        }
        let mut remaps = self.scope.remaps.clone();
        for remap in element.parts("remap") {
            remaps.push((self.required(remap, "from")?, self.required(remap, "to")?));
        }
        for (from, to) in remaps {
            command.pair("-r", format!("{from}:={to}"));
        }
        if let Some(full) = &full
            && !self.nodes.insert(full.clone())
        {
            self.warnings.push(format!("{}: a second node `{full}`", element.place));
        }
        Ok(full)
    }

    fn parameter(
        &self,
        element: &Element,
        node: &str,
        command: &mut Command,
    ) -> Result<(), LaunchError> {
        match (element.get("from"), element.get("name")) {
            (Some(_), Some(_)) => {
                Err(element.error("both `name` and `from`").remedy("use two <param> elements"))
            }
            (None, None) => Err(element
                .error("neither `name` nor `from`")
                .remedy("write name and value, or from=\"file.yaml\"")),
            (Some(from), None) => self.parameter_file(element, from, command),
            (None, Some(_)) => {
                let (name, value) = self.named_parameter(element)?;
                let value = value.to_yaml();
                command.file(format!("{node}:\n  ros__parameters:\n    {name}: {value}\n"));
                Ok(())
            }
        }
    }

    fn parameter_file(
        &self,
        element: &Element,
        from: &str,
        command: &mut Command,
    ) -> Result<(), LaunchError> {
        if let Some(extra) = ["value", "type"].iter().find(|n| element.get(n).is_some()) {
            return Err(element
                .error(format!("`{extra}` does not go with `from`"))
                .remedy("use two <param> elements"));
        }
        let file = PathBuf::from(self.text(element, from)?);
        self.check_file(element, &file)?;
        command.pair("--params-file", file.display().to_string());
        Ok(())
    }

    fn named_parameter(&self, element: &Element) -> Result<(String, Value), LaunchError> {
        let name = self.required(element, "name")?;
        let kind = match element.get("type") {
            Some(name) => Kind::from_name(name).map_err(|p| at(element, p))?,
            None => Kind::Any,
        };
        let Some(text) = element.get("value") else {
            return Err(element
                .error(format!("`{name}` has no value"))
                .remedy("add value=\"..\"; the names of nested parameters are joined, as in a.b"));
        };
        Ok((name, self.value(element, text, kind)?))
    }

    /// Value of a parameter as in ROS 2: the text is read by the type, then text is substituted and read again.
    fn value(&self, element: &Element, text: &str, kind: Kind) -> Result<Value, LaunchError> {
        let first = match Value::of_kind(text, kind) {
            Ok(value) => value,
            // The substitutions may still make a valid value of it.
            Err(problem) if !text.contains("$(") => return Err(at(element, problem)),
            Err(_) => Value::Text(text.to_owned()),
        };
        let value = match first {
            Value::Text(text) => self.second_reading(element, &text, kind)?,
            Value::List(items) => {
                let items = items.into_iter().map(|item| match item {
                    Value::Text(text) => self.second_reading(element, &text, kind),
                    other => Ok(other),
                });
                Value::List(items.collect::<Result<_, _>>()?)
            }
            other => other,
        };
        value.checked(text).map_err(|p| at(element, p))
    }

    fn second_reading(
        &self,
        element: &Element,
        text: &str,
        kind: Kind,
    ) -> Result<Value, LaunchError> {
        let template = parse(text).map_err(|p| at(element, p))?;
        match template.as_slice() {
            [] => Ok(Value::Text(String::new())),
            [Part::Text(plain)] => Ok(Value::Text(plain.clone())),
            _ => {
                let text = self.substituter().template(&template).map_err(|p| at(element, p))?;
                Value::of_kind(&text, kind).map_err(|p| at(element, p))
            }
        }
    }

    fn environment_changes(
        &self,
        element: &Element,
    ) -> Result<BTreeMap<String, String>, LaunchError> {
        let mut environment = self.scope.environment.clone();
        for variable in element.parts("env") {
            let name = self.required(variable, "name")?;
            environment.insert(name, self.required(variable, "value")?);
        }
        environment.retain(|name, value| self.base_environment.get(name) != Some(value));
        Ok(environment)
    }

    fn output(&self, element: &Element) -> Result<Output, LaunchError> {
        let name = match self.scope.environment.get("OVERRIDE_LAUNCH_PROCESS_OUTPUT") {
            Some(name) => name.clone(),
            None => self.optional(element, "output")?.unwrap_or_else(|| "log".into()),
        };
        Output::from_name(&name).ok_or_else(|| {
            element
                .error(format!("output=\"{name}\" is not known"))
                .remedy("use screen, log, both, own_log or full")
        })
    }

    fn respawn(&self, element: &Element) -> Result<Option<Respawn>, LaunchError> {
        let delay_s = plain_seconds(element, "respawn_delay", 0.0)?;
        let retries = element.get("respawn_max_retries").unwrap_or("-1");
        let Ok(retries) = retries.trim().parse::<i32>() else {
            return Err(element
                .error(format!("respawn_max_retries=\"{retries}\" is no whole number"))
                .remedy("write a number, or -1 for as often as it takes"));
        };
        let text = self.optional(element, "respawn")?.unwrap_or_else(|| "false".into());
        match Value::of_kind(&text, Kind::Bool) {
            Ok(Value::Bool(true)) => {
                Ok(Some(Respawn { delay_s, max_retries: u32::try_from(retries).ok() }))
            }
            Ok(_) => Ok(None),
            Err(p) => Err(at(element, p)),
        }
    }
}

fn shutdown_on_exit(element: &Element) -> Result<bool, LaunchError> {
    match element.get("on_exit") {
        None => Ok(false),
        Some("shutdown") => Ok(true),
        Some(other) => Err(element
            .error(format!("on_exit=\"{other}\" is not known"))
            .remedy("on_exit may be shutdown; to start it again use respawn=\"true\"")),
    }
}

/// Duration that ROS 2 reads before any substitution. [s]
fn plain_seconds(element: &Element, name: &str, default: f64) -> Result<f64, LaunchError> {
    element.get(name).map_or(Ok(default), |text| seconds(element, name, text))
}
