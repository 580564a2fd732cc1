//! Substitutions to text: `$(var name)`, `$(find-pkg-share package)` and their kin.

use crate::error::Problem;
use crate::expression;
use crate::grammar::{Part, Template, parse};
use crate::outside::{Outside, SIZE_LIMIT};
use crate::scope::{Scope, find_program, package_executable, package_prefix};
use crate::value::{Kind, Value};

/// Where substitutions look.
pub(crate) struct Substituter<'a> {
    pub(crate) scope: &'a mut Scope,
    pub(crate) outside: &'a dyn Outside,
    pub(crate) warnings: &'a mut Vec<String>,
}

/// Name and least and largest number of arguments.
const CALLS: [(&str, usize, usize); 19] = [
    ("var", 1, 2),
    ("env", 1, 2),
    ("find-pkg-share", 1, 1),
    ("find-pkg-prefix", 1, 1),
    ("exec-in-pkg", 2, 2),
    ("find-exec", 1, 1),
    ("dirname", 0, 0),
    ("filename", 0, 0),
    ("command", 1, 2),
    ("eval", 1, 1),
    ("not", 1, 1),
    ("and", 2, 2),
    ("or", 2, 2),
    ("equals", 2, 2),
    ("not-equals", 2, 2),
    ("if", 2, 3),
    ("anon", 1, 1),
    ("file-content", 1, 1),
    ("log_dir", 0, 0),
];

impl Substituter<'_> {
    /// Evaluates all substitutions in a text.
    pub(crate) fn text(&mut self, text: &str) -> Result<String, Problem> {
        self.template(&parse(text)?)
    }

    /// Evaluates and joins the parts.
    pub(crate) fn template(&mut self, template: &Template) -> Result<String, Problem> {
        let mut out = String::new();
        for part in template {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Call { name, arguments } => out.push_str(&self.call(name, arguments)?),
            }
            if out.len() > SIZE_LIMIT {
                let limit = SIZE_LIMIT >> 20;
                return Err(Problem::new(format!("a value of more than {limit} MiB")).remedy(
                    "a <let> that repeats its own value grows with every line; shorten it",
                ));
            }
        }
        Ok(out)
    }

    fn call(&mut self, name: &str, arguments: &[Template]) -> Result<String, Problem> {
        let Some(&(_, least, most)) = CALLS.iter().find(|(n, ..)| *n == name) else {
            return Err(unknown(name));
        };
        if arguments.len() < least || arguments.len() > most {
            let takes = match (least, most) {
                (a, b) if a == b => format!("{a}"),
                (a, b) => format!("{a} or {b}"),
            };
            let given = arguments.len();
            return Err(Problem::new(format!("$({name}) takes {takes} arguments, given {given}"))
                .remedy("separate arguments with one space; put quotes around one with spaces"));
        }
        match name {
            "var" => self.variable(arguments),
            "env" => self.environment(arguments),
            "not" => Ok((!self.boolean(&arguments[0])?).to_string()),
            "and" => self.booleans(arguments).map(|b| (b[0] && b[1]).to_string()),
            "or" => self.booleans(arguments).map(|b| (b[0] || b[1]).to_string()),
            "if" => match (self.boolean(&arguments[0])?, arguments.get(2)) {
                (true, _) => self.template(&arguments[1]),
                (false, Some(other)) => self.template(other),
                (false, None) => Ok(String::new()),
            },
            "equals" => self.equals(arguments).map(|equal| equal.to_string()),
            "not-equals" => self.equals(arguments).map(|equal| (!equal).to_string()),
            "eval" => expression::evaluate(&self.template(&arguments[0])?),
            "command" => self.command(arguments),
            "dirname" | "filename" | "log_dir" => self.place(name),
            "anon" => self.anonymous(&arguments[0]),
            "file-content" => self.file_content(&arguments[0]),
            _ => self.find(name, arguments),
        }
    }

    fn variable(&mut self, arguments: &[Template]) -> Result<String, Problem> {
        let name = self.template(&arguments[0])?;
        if let Some(value) = self.scope.configurations.get(&name) {
            return Ok(value.clone());
        }
        if let Some(default) = arguments.get(1) {
            return self.template(default);
        }
        let known: Vec<&str> = self.scope.configurations.keys().map(String::as_str).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Err(Problem::new(format!("no argument or <let> `{name}`"))
            .remedy(format!("declare it above with <arg name=\"{name}\"/>; known here: {known}")))
    }

    fn environment(&mut self, arguments: &[Template]) -> Result<String, Problem> {
        let name = self.template(&arguments[0])?;
        match (self.scope.environment.get(&name), arguments.get(1)) {
            (Some(value), _) => Ok(value.clone()),
            (None, Some(default)) => self.template(default),
            (None, None) => Err(Problem::new(format!("the environment has no `{name}`"))
                .remedy(format!("set it, or give a default: $(env {name} value)"))),
        }
    }

    /// Text that YAML takes for a boolean, or 1 or 0.
    fn boolean(&mut self, template: &Template) -> Result<bool, Problem> {
        let text = self.template(template)?;
        match Value::of_kind(&text, Kind::Bool)? {
            Value::Bool(value) => Ok(value),
            _ => Err(Problem::new(format!("`{text}` is no bool"))),
        }
    }

    fn booleans(&mut self, arguments: &[Template]) -> Result<Vec<bool>, Problem> {
        arguments.iter().map(|argument| self.boolean(argument)).collect()
    }

    /// As booleans or as numbers if both look so, else as text.
    fn equals(&mut self, arguments: &[Template]) -> Result<bool, Problem> {
        let left = self.template(&arguments[0])?;
        let right = self.template(&arguments[1])?;
        let boolean = |text: &str| match text.to_lowercase().as_str() {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        };
        if let (Some(a), Some(b)) = (boolean(&left), boolean(&right)) {
            return Ok(a == b);
        }
        if let (Ok(a), Ok(b)) = (left.trim().parse::<f64>(), right.trim().parse::<f64>()) {
            // The tolerance of Python's `math.isclose`.
            return Ok(a.total_cmp(&b).is_eq() || (a - b).abs() <= 1e-9 * a.abs().max(b.abs()));
        }
        Ok(left == right)
    }

    fn command(&mut self, arguments: &[Template]) -> Result<String, Problem> {
        let line = self.template(&arguments[0])?;
        let mode = arguments.get(1).map_or(Ok("fail".into()), |mode| self.template(mode))?;
        if !["fail", "ignore", "warn", "capture"].contains(&mode.as_str()) {
            return Err(Problem::new(format!("$(command): `{mode}` is no mode"))
                .remedy("use fail, ignore, warn or capture"));
        }
        let words = shlex::split(&line).ok_or_else(|| {
            Problem::new(format!("$(command {line}): a quote is not closed")).remedy("close it")
        })?;
        let output = self.outside.run(&words, &self.scope.environment).map_err(|e| {
            Problem::new(format!("$(command {line}): {e}")).remedy(match e.kind() {
                std::io::ErrorKind::FileTooLarge => {
                    "name a program that ends, and whose output is a value"
                }
                _ => "install the program, or correct its path",
            })
        })?;
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let said = stderr.trim();
        if !output.status.success() {
            return Err(Problem::new(format!(
                "$(command {line}) ended with {}: {said}",
                output.status
            ))
            .remedy("run it by hand, and correct what it says"));
        }
        match mode.as_str() {
            "capture" => Ok(stdout + &stderr),
            "fail" if !said.is_empty() => {
                Err(Problem::new(format!("$(command {line}) wrote to stderr: {said}"))
                    .remedy("correct it, or allow it: $(command '..' warn)"))
            }
            "warn" if !said.is_empty() => {
                self.warnings.push(format!("$(command {line}) wrote to stderr: {said}"));
                Ok(stdout)
            }
            _ => Ok(stdout),
        }
    }

    fn place(&self, name: &str) -> Result<String, Problem> {
        if name == "log_dir" {
            return crate::log_folder(&self.scope.environment)
                .map(|folder| folder.display().to_string())
                .ok_or_else(|| Problem::new("$(log_dir): neither ROS_LOG_DIR nor HOME is set"));
        }
        let file = self.scope.file.as_deref();
        let path = if name == "dirname" { file.and_then(|f| f.parent()) } else { file };
        Ok(path.map(|p| p.display().to_string()).unwrap_or_default())
    }

    fn anonymous(&mut self, argument: &Template) -> Result<String, Problem> {
        let id = self.template(argument)?;
        let unique = self.outside.unique();
        let key = format!("anon{id}");
        let fresh = || format!("{id}_{unique}").replace(['.', '-', ':'], "_");
        Ok(self.scope.configurations.entry(key).or_insert_with(fresh).clone())
    }

    fn file_content(&mut self, argument: &Template) -> Result<String, Problem> {
        let file = self.template(argument)?;
        self.outside.read(file.as_ref()).map_err(|e| {
            Problem::new(format!("$(file-content {file}): {e}")).remedy("correct the path")
        })
    }

    fn find(&mut self, name: &str, arguments: &[Template]) -> Result<String, Problem> {
        let first = self.template(&arguments[0])?;
        let environment = &self.scope.environment;
        let path = match name {
            "find-exec" => find_program(&first, environment, self.outside)?,
            "find-pkg-prefix" => package_prefix(&first, environment, self.outside)?,
            "find-pkg-share" => {
                package_prefix(&first, environment, self.outside)?.join("share").join(first)
            }
            _ => {
                let package = self.template(&arguments[1])?;
                package_executable(&first, &package, &self.scope.environment, self.outside)?
            }
        };
        Ok(path.display().to_string())
    }
}

fn unknown(name: &str) -> Problem {
    let remedy = match name {
        "arg" => "ROS 2 has $(var name)",
        "find" => "use $(find-pkg-share package)",
        "optenv" => "use $(env NAME default)",
        "param" => "give the value to both places by an <arg>",
        "any" => "it fails in ROS 2 Jazzy; use $(or a b)",
        "all" => "it fails in ROS 2 Jazzy; use $(and a b)",
        "xacro" => "use $(command 'xacro file.xacro')",
        _ => {
            let names: Vec<&str> = CALLS.iter().map(|(name, ..)| *name).collect();
            return Problem::new(format!("$({name}) is outside the subset"))
                .remedy(format!("the subset has {}", names.join(", ")));
        }
    };
    Problem::new(format!("$({name}) is outside the subset")).remedy(remedy)
}
