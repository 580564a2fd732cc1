//! Parameter values: text to bool, integer, double, string or a list of one of these, by YAML's rules.

use crate::error::Problem;

/// Value of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    /// A list of values of one kind, not empty.
    List(Vec<Value>),
}

/// Kind of the `type` attribute of `<param>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Any kind, by YAML's rules.
    Any,
    Bool,
    Int,
    Float,
    Text,
}

const KINDS: [(&str, Kind); 5] = [
    ("bool", Kind::Bool),
    ("int", Kind::Int),
    ("float", Kind::Float),
    ("str", Kind::Text),
    ("yaml", Kind::Any),
];

impl Kind {
    pub(crate) fn from_name(name: &str) -> Result<Self, Problem> {
        KINDS.iter().find(|(n, _)| *n == name).map(|(_, kind)| *kind).ok_or_else(|| {
            Problem::new(format!("type `{name}` is not known"))
                .remedy("use int, float, bool, str or yaml; a list has no type: value=\"[a, b]\"")
        })
    }

    fn name(self) -> &'static str {
        KINDS.iter().find(|(_, kind)| *kind == self).map_or("value", |(name, _)| name)
    }
}

impl Value {
    /// Reads a value by YAML's rules.
    pub(crate) fn from_yaml(text: &str) -> Result<Self, Problem> {
        if text.is_empty() {
            return Ok(Self::Text(String::new()));
        }
        let string_remedy = "for a string add type=\"str\"";
        let yaml: serde_yaml::Value = serde_yaml::from_str(text).map_err(|e| {
            Problem::new(format!("`{}` is not YAML: {e}", shortened(text))).remedy(string_remedy)
        })?;
        let quoted = text.contains(['\'', '"']);
        let value = Self::from_serde(yaml, quoted).ok_or_else(|| {
            Problem::new(format!("`{}` is no parameter value", shortened(text))).remedy(format!(
                "use a bool, an integer, a double, a string or a list of one of these; {string_remedy}"
            ))
        })?;
        value.checked(text)
    }

    /// Reads a value of the kind; `text` is the content of the file after substitution.
    pub(crate) fn of_kind(text: &str, kind: Kind) -> Result<Self, Problem> {
        let wrong =
            |why: &str| Problem::new(format!("`{}` is no {}{why}", shortened(text), kind.name()));
        match kind {
            Kind::Any => Self::from_yaml(text),
            Kind::Text => Ok(Self::Text(text.to_owned())),
            Kind::Int => text.trim().parse().map(Self::Int).map_err(|_| wrong("")),
            Kind::Float => float(text.trim()).map(Self::Float).ok_or_else(|| wrong("")),
            Kind::Bool => match text {
                "1" => Ok(Self::Bool(true)),
                "0" => Ok(Self::Bool(false)),
                text => match Self::from_yaml(text) {
                    Ok(value @ Self::Bool(_)) => Ok(value),
                    _ => Err(wrong("").remedy("write true or false")),
                },
            },
        }
    }

    /// Refuses an empty list and a list of mixed kinds, as ROS 2 does.
    pub(crate) fn checked(self, text: &str) -> Result<Self, Problem> {
        let Self::List(items) = &self else { return Ok(self) };
        let Some(first) = items.first() else {
            return Err(Problem::new("an empty list has no type")
                .remedy("leave the parameter out, and let the node's default be empty"));
        };
        let same = |v: &Self| std::mem::discriminant(v) == std::mem::discriminant(first);
        if items.iter().any(|v| matches!(v, Self::List(_)) || !same(v)) {
            return Err(Problem::new(format!("`{}` mixes types", shortened(text)))
                .remedy("write all items as one type: [1.0, 2.0], not [1.0, 2]"));
        }
        Ok(self)
    }

    fn from_serde(yaml: serde_yaml::Value, quoted: bool) -> Option<Self> {
        Some(match yaml {
            serde_yaml::Value::Bool(b) => Self::Bool(b),
            serde_yaml::Value::Number(n) => match n.as_i64() {
                Some(i) => Self::Int(i),
                None => Self::Float(n.as_f64()?),
            },
            serde_yaml::Value::String(s) if quoted => Self::Text(s),
            serde_yaml::Value::String(s) => boolean_1_1(&s).map_or(Self::Text(s), Self::Bool),
            serde_yaml::Value::Sequence(items) => {
                let items = items.into_iter().map(|item| Self::from_serde(item, quoted));
                Self::List(items.collect::<Option<_>>()?)
            }
            serde_yaml::Value::Null
            | serde_yaml::Value::Mapping(_)
            | serde_yaml::Value::Tagged(_) => return None,
        })
    }

    /// YAML that ROS 2's own reader takes for the same value.
    pub(crate) fn to_yaml(&self) -> String {
        match self {
            Self::Bool(b) => b.to_string(),
            Self::Int(i) => i.to_string(),
            Self::Float(f) if f.is_nan() => ".nan".into(),
            Self::Float(f) if f.is_infinite() => if *f > 0.0 { ".inf" } else { "-.inf" }.into(),
            Self::Float(f) => python_float(*f),
            Self::Text(s) => quoted(s),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(Self::to_yaml).collect();
                format!("[{}]", items.join(", "))
            }
        }
    }

    /// Text as in `-p name:=value`, which is YAML too; plain text stays plain.
    pub(crate) fn to_argument(&self) -> String {
        match self {
            Self::Bool(true) => "True".into(),
            Self::Bool(false) => "False".into(),
            // Text that begins like a number may be one to a reader of another version of YAML.
            Self::Text(s)
                if s.starts_with(|c: char| c.is_alphabetic() || c == '/')
                    && Self::from_yaml(s).as_ref() == Ok(self) =>
            {
                s.clone()
            }
            other => other.to_yaml(),
        }
    }
}

/// Reads a boolean of YAML 1.1, which ROS 2's readers follow and which has more of them than YAML 1.2.
fn boolean_1_1(text: &str) -> Option<bool> {
    match text {
        "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Some(true),
        "no" | "No" | "NO" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

fn float(text: &str) -> Option<f64> {
    match text {
        ".nan" | ".NaN" | ".NAN" => Some(f64::NAN),
        ".inf" => Some(f64::INFINITY),
        "-.inf" => Some(f64::NEG_INFINITY),
        text => text.parse().ok(),
    }
}

/// Number as Python's `repr`: the shortest digits, an exponent below 1e-4 and from 1e16.
fn python_float(value: f64) -> String {
    if value.is_nan() {
        return "nan".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf".into() } else { "-inf".into() };
    }
    let magnitude = value.abs();
    if magnitude != 0.0 && !(1e-4..1e16).contains(&magnitude) {
        let text = format!("{value:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, exponent) =
            exponent.strip_prefix('-').map_or(("+", exponent), |positive| ("-", positive));
        return format!("{digits}e{sign}{exponent:0>2}");
    }
    let text = format!("{value}");
    if text.contains('.') { text } else { format!("{text}.0") }
}

/// Text in double quotes, with YAML's escapes.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => out.extend(escape(c)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Escape of a character: `\u` and four hexadecimal digits.
fn escape(c: char) -> impl Iterator<Item = char> {
    format!("\\u{:04x}", u32::from(c)).chars().collect::<Vec<_>>().into_iter()
}

/// Text shortened for messages: a robot description would fill the screen.
fn shortened(text: &str) -> String {
    const MAX: usize = 60;
    let text = text.trim();
    match text.char_indices().nth(MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
