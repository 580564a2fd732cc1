//! Substitutions to text: `$(var name)`, `$(find-pkg-share package)` and the like.

use crate::error::Problem;
use crate::grammar::{Part, Template, parse};
use crate::outside::{Outside, SIZE_LIMIT};
use crate::scope::{Scope, package_prefix};
use crate::value::Value;

/// Scope and machine that substitutions are evaluated in.
pub(crate) struct Substituter<'a> {
    pub(crate) scope: &'a Scope,
    pub(crate) outside: &'a dyn Outside,
}

/// Name, and least and largest number of arguments, of each substitution.
const CALLS: [(&str, usize, usize); 8] = [
    ("var", 1, 2),
    ("env", 1, 2),
    ("find-pkg-share", 1, 1),
    ("dirname", 0, 0),
    ("equals", 2, 2),
    ("not", 1, 1),
    ("and", 2, 2),
    ("or", 2, 2),
];

impl Substituter<'_> {
    /// Evaluates all substitutions in a text.
    pub(crate) fn text(&self, text: &str) -> Result<String, Problem> {
        self.template(&parse(text)?)
    }

    /// Evaluates and joins the parts.
    pub(crate) fn template(&self, template: &Template) -> Result<String, Problem> {
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

    fn call(&self, name: &str, arguments: &[Template]) -> Result<String, Problem> {
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
            "equals" => self.equals(arguments).map(|equal| equal.to_string()),
            "not" => self.boolean(name, &arguments[0]).map(|value| (!value).to_string()),
            "and" | "or" => {
                let [left, right] = [&arguments[0], &arguments[1]].map(|a| self.boolean(name, a));
                let (left, right) = (left?, right?);
                Ok(if name == "and" { left && right } else { left || right }.to_string())
            }
            "dirname" => Ok(self.folder()),
            _ => self.package_share(&arguments[0]),
        }
    }

    fn variable(&self, arguments: &[Template]) -> Result<String, Problem> {
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

    fn environment(&self, arguments: &[Template]) -> Result<String, Problem> {
        let name = self.template(&arguments[0])?;
        match (self.scope.environment.get(&name), arguments.get(1)) {
            (Some(value), _) => Ok(value.clone()),
            (None, Some(default)) => self.template(default),
            (None, None) => Err(Problem::new(format!("the environment has no `{name}`"))
                .remedy(format!("set it, or give a default: $(env {name} value)"))),
        }
    }

    /// Compares as booleans or as numbers if both look like it, else as text.
    fn equals(&self, arguments: &[Template]) -> Result<bool, Problem> {
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

    /// Reads an argument as ROS 2 does here: as a boolean of YAML.
    fn boolean(&self, call: &str, argument: &Template) -> Result<bool, Problem> {
        let text = self.template(argument)?;
        match Value::from_yaml(&text) {
            Ok(Value::Bool(value)) => Ok(value),
            _ => Err(Problem::new(format!("$({call}) got `{text}`"))
                .remedy("write true or false, or an $(equals ..) that comes to one of them")),
        }
    }

    /// Folder of the file that is being evaluated.
    fn folder(&self) -> String {
        let folder = self.scope.file.as_deref().and_then(std::path::Path::parent);
        folder.map(|folder| folder.display().to_string()).unwrap_or_default()
    }

    fn package_share(&self, argument: &Template) -> Result<String, Problem> {
        let name = self.template(argument)?;
        let prefix = package_prefix(&name, &self.scope.environment, self.outside)?;
        Ok(prefix.join("share").join(name).display().to_string())
    }
}

fn unknown(name: &str) -> Problem {
    let remedy = match name {
        "arg" => "ROS 2 has $(var name)".to_owned(),
        "find" => "use $(find-pkg-share package)".to_owned(),
        "optenv" => "use $(env NAME default)".to_owned(),
        "param" => "give the value to both places by an <arg>".to_owned(),
        "filename" => "use $(dirname)/name".to_owned(),
        _ => {
            let names: Vec<&str> = CALLS.iter().map(|(name, ..)| *name).collect();
            format!("the subset has {}; for others of ROS 2 use `ros2 launch`", names.join(", "))
        }
    };
    Problem::new(format!("$({name}) is outside the subset")).remedy(remedy)
}
