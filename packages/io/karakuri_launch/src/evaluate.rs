//! Evaluation of a launch file and its arguments to a plan: actions in order, scopes, conditions, includes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::error::{LaunchError, Place, Problem};
use crate::outside::{Environment, Outside};
use crate::plan::{Plan, Step};
use crate::scope::{Scope, check_namespace, join_namespace};
use crate::substitute::Substituter;
use crate::value::Value;
use crate::xml::{self, Element};

/// Depth of includes beyond which they are circular.
const MAX_INCLUDES: usize = 32;
/// Largest number of files that a launch reads, a file that is included twice counted twice: no launch needs as many.
const MAX_FILES: usize = 1000;

/// Evaluates a launch file to a plan of the processes to start.
///
/// `arguments` are those of the command line, `environment` is the processes' own before `<set_env>`.
///
/// # Errors
/// When a file cannot be read or is not understood, a substitution cannot be evaluated, or an argument is required
/// and not given, or given and not declared; the error names file and line.
pub fn evaluate(
    file: &Path,
    arguments: &BTreeMap<String, String>,
    environment: &Environment,
    outside: &dyn Outside,
) -> Result<Plan, LaunchError> {
    let scope = Scope {
        configurations: arguments.clone(),
        environment: environment.clone(),
        ..Scope::default()
    };
    let mut evaluator = Evaluator {
        scope,
        base_environment: environment,
        outside,
        warnings: Vec::new(),
        process_count: 0,
        nodes: BTreeSet::new(),
        declared: BTreeSet::new(),
        has_skipped_include: false,
        depth: 0,
        files: 0,
    };
    let place = Place { file: file.into(), line: 0 };
    let steps = evaluator.file(file, &place)?;
    evaluator.check_arguments(arguments, &place)?;
    Ok(Plan { steps, warnings: evaluator.warnings })
}

/// Argument that a launch file declares.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Argument {
    /// Name as in `name:=value`.
    pub name: String,
    /// Purpose of the argument.
    pub description: Option<String>,
    /// Default as written, substitutions unevaluated; with none it must be given.
    pub default: Option<String>,
    /// Allowed values; empty for any.
    pub choices: Vec<String>,
    /// File and line of the declaration.
    pub place: String,
}

/// Arguments that a launch file and its includes declare, in order; of two of a name, the first.
///
/// Nothing is started or required: a default or a path that cannot be evaluated yet is left as it is.
///
/// # Errors
/// When the file or an include that can be found is not understood; the error names file and line.
pub fn arguments(
    file: &Path,
    environment: &Environment,
    outside: &dyn Outside,
) -> Result<Vec<Argument>, LaunchError> {
    let scope = Scope { environment: environment.clone(), ..Scope::default() };
    let mut survey = Survey { scope, outside, found: Vec::new(), visited: BTreeSet::new() };
    let place = Place { file: file.into(), line: 0 };
    survey.file(file, &place)?;
    Ok(survey.found)
}

/// Search of files for arguments.
struct Survey<'a> {
    scope: Scope,
    outside: &'a dyn Outside,
    found: Vec<Argument>,
    /// Files that were read: the first of two arguments of a name counts, so none is read twice.
    visited: BTreeSet<PathBuf>,
}

impl Survey<'_> {
    fn file(&mut self, file: &Path, asked_from: &Place) -> Result<(), LaunchError> {
        let path = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        if !self.visited.insert(path.clone()) {
            return Ok(());
        }
        let root = load(file, asked_from, self.outside)?;
        let outer = self.scope.file.replace(path.into());
        let mut actions = Vec::new();
        collect_actions(&root, &mut actions);
        for action in actions {
            match action.tag.name {
                "arg" => self.argument(action),
                "include" => {
                    if let Some(file) = self.text(action.required("file")) {
                        self.file(Path::new(&file), &action.place)?;
                    }
                }
                _ => {}
            }
        }
        self.scope.file = outer;
        Ok(())
    }

    fn argument(&mut self, action: &Element) {
        let name = action.required("name").to_owned();
        if self.found.iter().any(|known| known.name == name) {
            return;
        }
        let default = action.get("default");
        if let Some(value) = default.and_then(|text| self.text(text)) {
            self.scope.configurations.insert(name.clone(), value);
        }
        self.found.push(Argument {
            name,
            description: action.get("description").map(Into::into),
            default: default.map(Into::into),
            choices: action.parts("choice").map(|c| c.required("value").to_owned()).collect(),
            place: action.place.to_string(),
        });
    }

    fn text(&self, text: &str) -> Option<String> {
        Substituter { scope: &self.scope, outside: self.outside }.text(text).ok()
    }
}

fn collect_actions<'a>(element: &'a Element, found: &mut Vec<&'a Element>) {
    for child in &element.children {
        found.push(child);
        if matches!(child.tag.name, "group" | "timer") {
            collect_actions(child, found);
        }
    }
}

fn load(file: &Path, asked_from: &Place, outside: &dyn Outside) -> Result<Element, LaunchError> {
    let name = file.display();
    if file.extension().is_some_and(|e| e == "py" || e == "yaml" || e == "yml") {
        return Err(LaunchError::new(asked_from, format!("`{name}` is no XML launch file"))
            .remedy("use a .launch.xml file; Python and YAML ones need `ros2 launch`"));
    }
    let text = outside.read(file).map_err(|e| {
        LaunchError::new(asked_from, format!("cannot read `{name}`: {e}")).remedy(match e.kind() {
            std::io::ErrorKind::InvalidData => "save the file as UTF-8, or name a launch file",
            std::io::ErrorKind::FileTooLarge => "name a launch file",
            _ => "correct the path; a relative one is taken from the working directory",
        })
    })?;
    xml::read(file, &text)
}

/// State of an evaluation.
pub(crate) struct Evaluator<'a> {
    pub(crate) scope: Scope,
    pub(crate) base_environment: &'a Environment,
    pub(crate) outside: &'a dyn Outside,
    pub(crate) warnings: Vec<String>,
    pub(crate) process_count: usize,
    /// Full names of the nodes so far.
    pub(crate) nodes: BTreeSet<String>,
    declared: BTreeSet<String>,
    has_skipped_include: bool,
    depth: usize,
    files: usize,
}

impl Evaluator<'_> {
    fn file(&mut self, file: &Path, asked_from: &Place) -> Result<Vec<Step>, LaunchError> {
        if self.depth >= MAX_INCLUDES {
            return Err(LaunchError::new(
                asked_from,
                format!("more than {MAX_INCLUDES} files include each other"),
            )
            .remedy("break the circle"));
        }
        self.files += 1;
        if self.files > MAX_FILES {
            return Err(LaunchError::new(
                asked_from,
                format!("more than {MAX_FILES} files are included"),
            )
            .remedy("files that include others twice or more multiply; include each once"));
        }
        let root = load(file, asked_from, self.outside)?;
        let mut actions = Vec::new();
        collect_actions(&root, &mut actions);
        let declared = actions.into_iter().filter(|action| action.tag.name == "arg");
        self.declared.extend(declared.map(|action| action.required("name").to_owned()));
        let path = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        let outer = self.scope.file.replace(path.into());
        self.depth += 1;
        let steps = self.actions(&root)?;
        self.depth -= 1;
        self.scope.file = outer;
        Ok(steps)
    }

    /// Refuses arguments that no file declares: a misspelt one must not be ignored.
    fn check_arguments(
        &mut self,
        arguments: &BTreeMap<String, String>,
        place: &Place,
    ) -> Result<(), LaunchError> {
        let Some(name) = arguments.keys().find(|name| !self.declared.contains(*name)) else {
            return Ok(());
        };
        let problem = format!("no argument `{name}`");
        if self.has_skipped_include {
            self.warnings.push(format!("{problem} in the files in use"));
            return Ok(());
        }
        let declared: Vec<&str> = self.declared.iter().map(String::as_str).collect();
        let remedy = match declared.as_slice() {
            [] => "the file declares none".to_owned(),
            declared => format!("it has {}", declared.join(", ")),
        };
        Err(LaunchError::new(place, problem).remedy(remedy))
    }

    pub(crate) fn substituter(&self) -> Substituter<'_> {
        Substituter { scope: &self.scope, outside: self.outside }
    }

    /// Text with its substitutions evaluated; problems get the element's place.
    pub(crate) fn text(&self, element: &Element, text: &str) -> Result<String, LaunchError> {
        self.substituter().text(text).map_err(|p| at(element, p))
    }

    pub(crate) fn required(&self, element: &Element, name: &str) -> Result<String, LaunchError> {
        self.text(element, element.required(name))
    }

    pub(crate) fn optional(
        &self,
        element: &Element,
        name: &str,
    ) -> Result<Option<String>, LaunchError> {
        element.get(name).map(|text| self.text(element, text)).transpose()
    }

    fn actions(&mut self, parent: &Element) -> Result<Vec<Step>, LaunchError> {
        let mut steps = Vec::new();
        for action in &parent.children {
            steps.extend(self.action(action)?);
        }
        Ok(steps)
    }

    fn action(&mut self, action: &Element) -> Result<Vec<Step>, LaunchError> {
        if !self.condition(action)? {
            let mut skipped = vec![action];
            collect_actions(action, &mut skipped);
            self.has_skipped_include |= skipped.iter().any(|a| a.tag.name == "include");
            return Ok(Vec::new());
        }
        match action.tag.name {
            "arg" => self.declare(action)?,
            "let" => {
                let name = self.required(action, "name")?;
                let value = self.required(action, "value")?;
                self.scope.configurations.insert(name, value);
            }
            "set_env" => {
                let name = self.required(action, "name")?;
                let value = self.required(action, "value")?;
                self.scope.environment.insert(name, value);
            }
            "push_ros_namespace" => self.push_namespace(action)?,
            "set_remap" => {
                let rule = (self.required(action, "from")?, self.required(action, "to")?);
                self.scope.remaps.push(rule);
            }
            "set_parameter" => self.set_parameter(action)?,
            "log" => return Ok(vec![Step::Log(self.required(action, "message")?)]),
            "include" => return self.include(action),
            "group" => return self.group(action),
            "timer" => {
                let text = self.required(action, "period")?;
                let period_s = seconds(action, "period", &text)?;
                return Ok(vec![Step::Timer { period_s, steps: self.actions(action)? }]);
            }
            _ => return self.process(action).map(|p| vec![Step::Process(Box::new(p))]),
        }
        Ok(Vec::new())
    }

    fn condition(&self, action: &Element) -> Result<bool, LaunchError> {
        let Some((name, text)) =
            ["if", "unless"].iter().find_map(|name| Some((*name, action.get(name)?)))
        else {
            return Ok(true);
        };
        let value = self.text(action, text)?;
        match value.trim().to_lowercase().as_str() {
            "true" | "1" => Ok(name == "if"),
            "false" | "0" => Ok(name == "unless"),
            _ => Err(action
                .error(format!("{name}=\"{text}\" comes to `{value}`"))
                .remedy("a condition must come to true, false, 1 or 0")),
        }
    }

    fn declare(&mut self, action: &Element) -> Result<(), LaunchError> {
        let name = self.required(action, "name")?;
        let value = match (self.scope.configurations.get(&name), action.get("default")) {
            (Some(value), _) => value.clone(),
            (None, Some(default)) => self.text(action, default)?,
            (None, None) => {
                let what = action.get("description").map(|d| format!(" ({d})")).unwrap_or_default();
                return Err(action
                    .error(format!("the argument `{name}`{what} has no value"))
                    .remedy(format!("give {name}:=.. on the command line, or a default here")));
            }
        };
        let mut choices = Vec::new();
        for choice in action.parts("choice") {
            choices.push(self.required(choice, "value")?);
        }
        if !choices.is_empty() && !choices.contains(&value) {
            return Err(action
                .error(format!("the argument `{name}` is `{value}`"))
                .remedy(format!("use one of {}", choices.join(", "))));
        }
        self.scope.configurations.insert(name, value);
        Ok(())
    }

    fn push_namespace(&mut self, action: &Element) -> Result<(), LaunchError> {
        let name = self.required(action, "namespace")?;
        let joined = join_namespace(self.scope.namespace.as_deref(), Some(&name));
        check_namespace(joined.as_deref().unwrap_or("/")).map_err(|p| at(action, p))?;
        self.scope.namespace = joined;
        Ok(())
    }

    fn set_parameter(&mut self, action: &Element) -> Result<(), LaunchError> {
        let name = self.required(action, "name")?;
        let text = self.required(action, "value")?;
        let value = Value::from_yaml(&text).map_err(|p| at(action, p))?;
        let rule = format!("{name}:={}", value.to_argument());
        self.scope.parameters.push(rule);
        Ok(())
    }

    pub(crate) fn check_file(&self, element: &Element, file: &Path) -> Result<(), LaunchError> {
        if self.outside.is_file(file) {
            return Ok(());
        }
        Err(element
            .error(format!("there is no parameter file `{}`", file.display()))
            .remedy("correct the path, as in $(find-pkg-share karakuri)/config/nodes/sim.yaml"))
    }

    /// Evaluates an include. Its arguments stay set after it, as in ROS 2; a `<group>` around it restores them. They are
    /// evaluated in the folder of the included file, as in ROS 2: `$(dirname)` in them is that folder.
    fn include(&mut self, action: &Element) -> Result<Vec<Step>, LaunchError> {
        let file = PathBuf::from(self.required(action, "file")?);
        let path = std::path::absolute(&file).unwrap_or_else(|_| file.clone());
        let outer = self.scope.file.replace(path.into());
        for argument in action.parts("arg") {
            let name = self.required(argument, "name")?;
            let value = self.required(argument, "value")?;
            self.scope.configurations.insert(name, value);
        }
        self.scope.file = outer;
        self.file(&file, &action.place)
    }

    fn group(&mut self, group: &Element) -> Result<Vec<Step>, LaunchError> {
        let scoped = flag(group, "scoped", true)?;
        let outer = scoped.then(|| self.scope.clone());
        let steps = self.actions(group)?;
        if let Some(outer) = outer {
            self.scope = outer;
        }
        Ok(steps)
    }
}

/// Error at the element's place.
pub(crate) fn at(element: &Element, problem: Problem) -> LaunchError {
    let problem =
        Problem { problem: format!("<{}>: {}", element.tag.name, problem.problem), ..problem };
    problem.at(&element.place)
}

/// Value of an attribute that ROS 2 reads before any substitution.
pub(crate) fn flag(element: &Element, name: &str, default: bool) -> Result<bool, LaunchError> {
    match element.get(name).map(str::to_lowercase).as_deref() {
        None => Ok(default),
        Some("true" | "1") => Ok(true),
        Some("false" | "0") => Ok(false),
        Some(other) => Err(element
            .error(format!("{name}=\"{other}\" is no plain bool"))
            .remedy("write true or false; ROS 2 takes no substitution here")),
    }
}

/// Reads a duration that is not negative. [s]
pub(crate) fn seconds(element: &Element, name: &str, text: &str) -> Result<f64, LaunchError> {
    match text.trim().parse::<f64>() {
        Ok(value) if (0.0..=1e9).contains(&value) => Ok(value),
        _ => Err(element
            .error(format!("{name}=\"{text}\" is no duration"))
            .remedy("write seconds from 0, as 2.5")),
    }
}

/// Splits `name:=value` of a command line.
///
/// # Errors
/// When a word has no `:=`, or nothing before it.
pub fn parse_arguments(words: &[String]) -> Result<BTreeMap<String, String>, String> {
    let mut arguments = BTreeMap::new();
    for word in words {
        match word.split_once(":=") {
            Some((name, value)) if !name.is_empty() => {
                arguments.insert(name.to_owned(), value.to_owned());
            }
            _ => return Err(format!("`{word}` is no launch argument; write name:=value")),
        }
    }
    Ok(arguments)
}
