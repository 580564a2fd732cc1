//! Parameter values given from outside, with the nodes that each is for.
//!
//! A block applies to a node when its key matches the node's full name: `/ns/node`, `ns/node`, nested `ns: {node: ..}`,
//! `*` for exactly one name, `**` for any number; a bare `node` means `/node`. Of several matching blocks the later
//! wins, parameter by parameter: order rules, not specificity.

use std::collections::BTreeMap;

use karakuri_model::yaml::{self, YamlError};
use serde_yaml::{Mapping, Value};

/// Values from the command line and parameter files, in order.
#[derive(Debug, Default)]
pub(crate) struct Overrides {
    entries: Vec<Override>,
}

#[derive(Debug)]
struct Override {
    /// Pattern of the node's full name: parts that are each a name, `*` or `**`.
    node: Vec<String>,
    name: String,
    value: Value,
}

impl Overrides {
    /// Adds one value; a mapping becomes dotted names.
    pub(crate) fn add(&mut self, node: &str, name: &str, value: Value) -> Result<(), String> {
        if let Value::Mapping(mapping) = value {
            return mapping.into_iter().try_for_each(|(key, value)| {
                self.add(node, &format!("{name}.{}", key_text(&key)), value)
            });
        }
        if let Value::Sequence(items) = &value {
            check_list(items).map_err(|reason| format!("parameter `{name}`: {reason}"))?;
        }
        let node = node.split('/').filter(|token| !token.is_empty()).map(str::to_owned).collect();
        self.entries.push(Override { node, name: name.to_owned(), value });
        Ok(())
    }

    /// Adds a parameter file's text.
    pub(crate) fn add_file(&mut self, text: &str) -> Result<(), String> {
        let wrong = |e: YamlError| format!("line {}: {}", e.place.line, e.message);
        let root: Value = yaml::read("", text).map_err(wrong)?;
        match root {
            Value::Null => Ok(()),
            Value::Mapping(mapping) => self.add_nodes("", mapping),
            _ => {
                Err("expected node names at the top, as in `/**: {ros__parameters: {rate: 10.0}}`"
                    .to_owned())
            }
        }
    }

    fn add_nodes(&mut self, path: &str, mapping: Mapping) -> Result<(), String> {
        for (key, value) in mapping {
            let key = key_text(&key);
            match value {
                Value::Mapping(parameters) if key == "ros__parameters" => {
                    if path.is_empty() {
                        return Err("`ros__parameters` stands at the top: a node's name must come before it".to_owned());
                    }
                    for (name, value) in parameters {
                        self.add(path, &key_text(&name), value)?;
                    }
                }
                Value::Null if key == "ros__parameters" => {}
                Value::Mapping(inner) => self.add_nodes(&format!("{path}/{key}"), inner)?,
                _ => {
                    return Err(format!(
                        "`{path}/{key}` is neither a node name nor `ros__parameters`"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Values for the node of this full name, by parameter.
    pub(crate) fn for_node(&self, full_name: &str) -> BTreeMap<String, Value> {
        let name: Vec<&str> = full_name.split('/').filter(|token| !token.is_empty()).collect();
        let matching = self.entries.iter().filter(|entry| matches(&entry.node, &name));
        matching.map(|entry| (entry.name.clone(), entry.value.clone())).collect()
    }

    /// Parameters that name this very node, without wildcards: a name here that is not declared is a mistake.
    pub(crate) fn addressed_to(&self, full_name: &str) -> Vec<&str> {
        let name: Vec<&str> = full_name.split('/').filter(|token| !token.is_empty()).collect();
        self.entries
            .iter()
            .filter(|entry| entry.node == name)
            .map(|entry| entry.name.as_str())
            .collect()
    }
}

/// Checks that a list has one type, as the client library reads no other.
fn check_list(items: &[Value]) -> Result<(), String> {
    let kind = |item: &Value| match item {
        Value::Bool(_) => Some("bools"),
        Value::Number(number) if number.is_f64() => Some("doubles"),
        Value::Number(_) => Some("integers"),
        Value::String(_) => Some("strings"),
        _ => None,
    };
    let Some(first) = items.first() else { return Ok(()) };
    let first = kind(first).ok_or("a list holds bools, integers, doubles or strings")?;
    match items.iter().map(kind).find(|kind| *kind != Some(first)) {
        None => Ok(()),
        Some(other) => Err(format!(
            "a list of {first} holds {} too: write all in one type, as in [1.0, 2.5]",
            other.unwrap_or("something else")
        )),
    }
}

fn key_text(key: &Value) -> String {
    match key {
        Value::String(text) => text.clone(),
        other => serde_yaml::to_string(other).unwrap_or_default().trim().to_owned(),
    }
}

fn matches(pattern: &[String], name: &[&str]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((first, rest)), _) if first == "**" => {
            (0..=name.len()).any(|n| matches(rest, &name[n..]))
        }
        (Some((first, rest)), Some((token, tokens))) => {
            (first == "*" || first == token) && matches(rest, tokens)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;
