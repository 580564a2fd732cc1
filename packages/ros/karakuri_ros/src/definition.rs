//! Message definitions as the installed interface packages have them: fields in their order, with their types.
//!
//! Source of the format: <https://docs.ros.org/en/jazzy/Concepts/Basic/About-Interfaces.html>.

use std::{collections::BTreeMap, fmt, path::PathBuf, sync::Arc};

use serde_yaml::{Mapping, Value};

use crate::ParameterType;

/// Fields of a message, or of a part of an action, in order.
#[derive(Debug, PartialEq)]
pub struct Definition {
    /// Full name, such as `sensor_msgs/msg/JointState`.
    pub name: String,
    /// Fields in the order of the definition.
    pub fields: Vec<Field>,
}

/// A field of a message.
#[derive(Debug, PartialEq)]
pub struct Field {
    /// Name of the field.
    pub name: String,
    /// Type of the field, or of its elements.
    pub kind: Kind,
    /// Number of elements of the field.
    pub count: Count,
}

/// Type of a field.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// A truth value, `bool`.
    Bool,
    /// An integer of this many bytes.
    Integer {
        /// Number of bytes: 1, 2, 4 or 8.
        bytes: u32,
        /// Whether it can be negative.
        signed: bool,
    },
    /// A number of single precision, `float32`.
    Single,
    /// A number of double precision, `float64`.
    Double,
    /// A text, `string`.
    Text,
    /// A text of wide characters, `wstring`.
    WideText,
    /// A message of its own.
    Message(Arc<Definition>),
}

/// Number of elements of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// One value, not an array.
    One,
    /// An array of this length.
    Fixed(usize),
    /// A sequence with at most this many elements.
    Many(usize),
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        match self.count {
            Count::One => Ok(()),
            Count::Fixed(n) => write!(f, "[{n}]"),
            Count::Many(usize::MAX) => f.write_str("[]"),
            Count::Many(n) => write!(f, "[<={n}]"),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("bool"),
            Self::Integer { bytes, signed } => {
                write!(f, "{}int{}", if *signed { "" } else { "u" }, bytes * 8)
            }
            Self::Single => f.write_str("float32"),
            Self::Double => f.write_str("float64"),
            Self::Text => f.write_str("string"),
            Self::WideText => f.write_str("wstring"),
            Self::Message(definition) => f.write_str(&definition.name),
        }
    }
}

/// Goal, result and feedback of an action.
#[derive(Debug)]
pub struct ActionDefinition {
    /// Goal that a client sends.
    pub goal: Arc<Definition>,
    /// Result that it receives at the end.
    pub result: Arc<Definition>,
    /// Feedback that it receives meanwhile.
    pub feedback: Arc<Definition>,
}

/// Reader of definitions in the folders of `AMENT_PREFIX_PATH`.
#[derive(Debug)]
pub struct Definitions {
    prefixes: Vec<PathBuf>,
    known: BTreeMap<String, Arc<Definition>>,
}

impl Definitions {
    /// Definitions of the installed packages.
    pub fn installed() -> Self {
        let path = std::env::var_os("AMENT_PREFIX_PATH").unwrap_or_default();
        Self::below(std::env::split_paths(&path).collect())
    }

    fn below(prefixes: Vec<PathBuf>) -> Self {
        Self { prefixes, known: BTreeMap::new() }
    }

    /// Definition of the message of this name, such as `sensor_msgs/msg/JointState`.
    ///
    /// # Errors
    /// When the name is not `PACKAGE/msg/NAME`, the type is not installed, or its definition is not understood.
    pub fn message(&mut self, name: &str) -> Result<Arc<Definition>, String> {
        if let Some(known) = self.known.get(name) {
            return Ok(Arc::clone(known));
        }
        let text = self.read(name, "msg")?;
        let definition = Arc::new(self.parse(name, &text)?);
        self.known.insert(name.to_owned(), Arc::clone(&definition));
        Ok(definition)
    }

    /// Definition of the action of this name, such as `control_msgs/action/GripperCommand`.
    ///
    /// # Errors
    /// When the name is not `PACKAGE/action/NAME`, the type is not installed, or its definition is not understood.
    pub fn action(&mut self, name: &str) -> Result<ActionDefinition, String> {
        let text = self.read(name, "action")?;
        let mut parts = [String::new(), String::new(), String::new()];
        let mut part = 0;
        for line in text.lines() {
            if line.trim_end() == "---" {
                part += 1;
            } else if let Some(text) = parts.get_mut(part) {
                text.push_str(line);
                text.push('\n');
            }
        }
        let mut read = |part: usize, suffix: &str| {
            self.parse(&format!("{name}_{suffix}"), &parts[part]).map(Arc::new)
        };
        Ok(ActionDefinition {
            goal: read(0, "Goal")?,
            result: read(1, "Result")?,
            feedback: read(2, "Feedback")?,
        })
    }

    fn read(&self, name: &str, folder: &str) -> Result<String, String> {
        self.installed_file(name, folder, folder)
    }

    /// Text of the file with this extension that is installed for a type of a folder, such as `msg`.
    pub(crate) fn installed_file(
        &self,
        name: &str,
        folder: &str,
        extension: &str,
    ) -> Result<String, String> {
        let parts: Vec<_> = name.split('/').collect();
        let plain = |part: &str| part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let (package, file) = match parts.as_slice() {
            &[package, kind, file] if kind == folder && parts.iter().all(|p| plain(p)) => {
                (package, file)
            }
            _ => return Err(format!("`{name}` is no type; write it as PACKAGE/{folder}/NAME")),
        };
        let file = format!("share/{package}/{folder}/{file}.{extension}");
        self.prefixes
            .iter()
            .find_map(|prefix| std::fs::read_to_string(prefix.join(&file)).ok())
            .ok_or_else(|| {
                format!(
                    "the type `{name}` is not installed: no folder of AMENT_PREFIX_PATH has {file}"
                )
            })
    }

    fn parse(&mut self, name: &str, text: &str) -> Result<Definition, String> {
        let package = name.split('/').next().unwrap_or_default();
        let mut fields = Vec::new();
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default();
            let mut words = line.split_whitespace();
            let (Some(kind), Some(field)) = (words.next(), words.next()) else { continue };
            // a constant is not part of the message
            if field.contains('=') || words.next().is_some_and(|word| word.starts_with('=')) {
                continue;
            }
            let (kind, count) = count_of(kind)
                .ok_or_else(|| format!("{name}: `{line}` is no field of a message"))?;
            fields.push(Field { name: field.to_owned(), kind: self.kind(package, kind)?, count });
        }
        Ok(Definition { name: name.to_owned(), fields })
    }

    fn kind(&mut self, package: &str, name: &str) -> Result<Kind, String> {
        // the bound of a string does not change its encoding
        let name = name.split("<=").next().unwrap_or_default();
        let integer = |bytes, signed| Ok(Kind::Integer { bytes, signed });
        match name {
            "bool" => Ok(Kind::Bool),
            "byte" | "char" | "uint8" => integer(1, false),
            "int8" => integer(1, true),
            "uint16" => integer(2, false),
            "int16" => integer(2, true),
            "uint32" => integer(4, false),
            "int32" => integer(4, true),
            "uint64" => integer(8, false),
            "int64" => integer(8, true),
            "float32" => Ok(Kind::Single),
            "float64" => Ok(Kind::Double),
            "string" => Ok(Kind::Text),
            "wstring" => Ok(Kind::WideText),
            _ => {
                let full = match name.split('/').collect::<Vec<_>>()[..] {
                    ["Header"] => "std_msgs/msg/Header".to_owned(),
                    [name] => format!("{package}/msg/{name}"),
                    [package, name] => format!("{package}/msg/{name}"),
                    _ => name.to_owned(),
                };
                self.message(&full).map(Kind::Message)
            }
        }
    }
}

/// Cuts the brackets of an array off a type.
fn count_of(kind: &str) -> Option<(&str, Count)> {
    let Some((kind, rest)) = kind.split_once('[') else { return Some((kind, Count::One)) };
    let inside = rest.strip_suffix(']')?;
    let count = match inside.strip_prefix("<=") {
        Some(bound) => Count::Many(bound.parse().ok()?),
        None if inside.is_empty() => Count::Many(usize::MAX),
        None => Count::Fixed(inside.parse().ok()?),
    };
    Some((kind, count))
}

impl Definition {
    /// Message written as YAML, as JSON for the client library; a field that is left out keeps its default. The error names the
    /// field and its allowed values.
    ///
    /// # Errors
    /// When a field is unknown or a value does not fit its type.
    pub fn json(&self, value: &Value) -> Result<serde_json::Value, String> {
        self.json_at(value, "")
    }

    fn json_at(&self, value: &Value, path: &str) -> Result<serde_json::Value, String> {
        let names = || {
            let names: Vec<_> = self.fields.iter().map(|f| f.name.as_str()).collect();
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        };
        let mapping = match value {
            Value::Mapping(mapping) => mapping,
            Value::Null => &Mapping::new(),
            other => {
                let at = if path.is_empty() { "the message" } else { path };
                let names = names();
                return Err(format!(
                    "{at} is of type {}: write {{field: value}} with fields of {names}; got `{}`",
                    self.name,
                    flow(other)
                ));
            }
        };
        let mut json = serde_json::Map::new();
        for (key, value) in mapping {
            let key = key.as_str().map_or_else(|| flow(key), str::to_owned);
            let Some(field) = self.fields.iter().find(|field| field.name == key) else {
                let path = if path.is_empty() { String::new() } else { format!("{path}: ") };
                let (name, names) = (&self.name, names());
                return Err(format!("{path}{name} has no field `{key}`; its fields are {names}"));
            };
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            json.insert(key, field.json(value, &path)?);
        }
        Ok(json.into())
    }

    /// Message in the client library's JSON, as YAML with its fields in order; JSON has no number that is not finite.
    pub fn yaml(&self, json: &serde_json::Value) -> Value {
        let field = |field: &Field| {
            let value = json.get(&field.name).unwrap_or(&serde_json::Value::Null);
            (field.name.clone().into(), field.yaml(value))
        };
        Value::Mapping(self.fields.iter().map(field).collect())
    }
}

impl Field {
    fn json(&self, value: &Value, path: &str) -> Result<serde_json::Value, String> {
        if self.count == Count::One {
            return self.kind.json(value, path);
        }
        let Value::Sequence(elements) = value else {
            return Err(format!(
                "{path} is of type {self}: write a list, as [...]; got `{}`",
                flow(value)
            ));
        };
        let fits = match self.count {
            Count::Fixed(n) => elements.len() == n,
            Count::Many(most) => elements.len() <= most,
            Count::One => true,
        };
        if !fits {
            return Err(format!("{path} is of type {self}, got {} elements", elements.len()));
        }
        let element = |(index, element)| self.kind.json(element, &format!("{path}[{index}]"));
        elements.iter().enumerate().map(element).collect::<Result<Vec<_>, _>>().map(Into::into)
    }

    fn yaml(&self, json: &serde_json::Value) -> Value {
        match json.as_array() {
            Some(elements) if self.count != Count::One => {
                elements.iter().map(|e| self.kind.yaml(e)).collect::<Vec<_>>().into()
            }
            _ => self.kind.yaml(json),
        }
    }
}

impl Kind {
    fn json(&self, value: &Value, path: &str) -> Result<serde_json::Value, String> {
        let wrong =
            |hint: &str| Err(format!("{path} is of type {self}{hint}, got `{}`", flow(value)));
        match self {
            Self::Message(definition) => definition.json_at(value, path),
            Self::Bool => {
                value.as_bool().map_or_else(|| wrong(" (true or false)"), |b| Ok(b.into()))
            }
            Self::Text | Self::WideText => match value {
                Value::String(text) => Ok(text.as_str().into()),
                Value::Number(_) | Value::Bool(_) => wrong(" (write it in quotes)"),
                _ => wrong(""),
            },
            Self::Integer { bytes, signed } => {
                let bits = bytes * 8;
                if *signed {
                    let fits =
                        |i: &i64| bits == 64 || (-(1 << (bits - 1))..1 << (bits - 1)).contains(i);
                    value.as_i64().filter(fits).map_or_else(|| wrong(""), |i| Ok(i.into()))
                } else {
                    let fits = |i: &u64| bits == 64 || *i < 1 << bits;
                    value.as_u64().filter(fits).map_or_else(|| wrong(""), |i| Ok(i.into()))
                }
            }
            Self::Single | Self::Double => {
                let Some(number) = f64::from_yaml(value) else { return wrong("") };
                let most = if *self == Self::Single { f64::from(f32::MAX) } else { f64::MAX };
                match serde_json::Number::from_f64(number).filter(|_| number.abs() <= most) {
                    Some(number) => Ok(number.into()),
                    None => wrong(" (a finite number)"),
                }
            }
        }
    }

    fn yaml(&self, json: &serde_json::Value) -> Value {
        match self {
            Self::Message(definition) => definition.yaml(json),
            Self::Single => json.as_f64().map_or(f64::NAN, shortest).into(),
            Self::Double => json.as_f64().unwrap_or(f64::NAN).into(),
            _ => serde_yaml::to_value(json).unwrap_or_default(),
        }
    }
}

/// Number that was widened from `float32`, as the `float64` with the same shortest decimal text.
#[expect(clippy::cast_possible_truncation, reason = "it was a float32")]
pub(crate) fn shortest(number: f64) -> f64 {
    (number as f32).to_string().parse().unwrap_or(number)
}

/// Value in one line, shortened where it is long.
fn flow(value: &Value) -> String {
    let text = serde_json::to_string(value).unwrap_or_else(|_| "...".to_owned());
    if text.chars().count() > 60 {
        return text.chars().take(57).chain("...".chars()).collect();
    }
    text.trim_matches('"').to_owned()
}

#[cfg(test)]
mod tests;
