//! Text and YAML on stdout.

use std::{
    fmt::Display,
    io::{self, ErrorKind, Write},
};

use karakuri_ros::client::ClientError;
use serde_yaml::Value;

/// Writes to stdout at once; ends the program where nobody reads it any more (`| head`).
pub(crate) fn print(text: &str) -> Result<(), ClientError> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Err(ClientError::Interrupted),
        result => result.map_err(|e| ClientError::Failed(format!("cannot write to stdout: {e}"))),
    }
}

/// Value as YAML, a field a line.
pub(crate) fn yaml(value: &Value) -> String {
    serde_yaml::to_string(value).unwrap_or_default()
}

/// Value as YAML, indented by four.
pub(crate) fn indented(value: &Value) -> String {
    lines("    ", yaml(value).lines())
}

/// Texts, one a line, each after `before`.
pub(crate) fn lines<T: Display>(before: &str, texts: impl IntoIterator<Item = T>) -> String {
    texts.into_iter().fold(String::new(), |all, text| format!("{all}{before}{text}\n"))
}

/// Value in one line.
pub(crate) fn line(value: &Value) -> String {
    match value {
        Value::Sequence(elements) => {
            let elements: Vec<_> = elements.iter().map(line).collect();
            format!("[{}]", elements.join(", "))
        }
        Value::String(text) => text.clone(),
        other => yaml(other).trim_end().to_owned(),
    }
}
