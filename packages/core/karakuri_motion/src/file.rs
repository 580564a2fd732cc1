//! Documents as files: YAML in, YAML out. `docs/motion.md` says what is in them.

mod write;

use std::fmt;

use karakuri_model::Place;
use karakuri_model::yaml::{Node, Value, YamlError, read_tree};

use crate::document::Document;
use crate::problem::Problem;

pub use write::write;

/// Key by which a file is known as a document.
pub const KEY: &str = "karakuri_motion";

/// A problem of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileError {
    /// Place in the file.
    pub place: Place,
    /// Place in the document, as `motions.greet.scenes[1]`; empty for all of it.
    pub path: String,
    /// What is wrong, and what to do instead.
    pub message: String,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { file, line, column, .. } = &self.place;
        f.write_str(if file.is_empty() { "motion" } else { file })?;
        if *line > 0 {
            write!(f, ":{line}:{column}")?;
        }
        f.write_str(": ")?;
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for FileError {}

impl From<YamlError> for FileError {
    fn from(YamlError { place, path, message }: YamlError) -> Self {
        Self { place, path, message }
    }
}

/// Reads a document; `file` is its name in messages.
///
/// # Errors
/// When the text is no YAML, has a key that no document has, or a value that does not fit; with line and column.
pub fn read(file: &str, text: &str) -> Result<Document, FileError> {
    let root = read_tree(file, text)?;
    // Asked first: any other YAML file would be answered with the first key that it has and a document has not.
    if root.get(KEY).is_none() {
        return Err(FileError {
            place: Place { line: 1, column: 1, ..Place::file(file) },
            path: String::new(),
            message: format!("this is no motion document; write `{KEY}: 1` as its first line"),
        });
    }
    let document: Document = root.to()?;
    // The first one only, as a parser does: what follows is often its consequence.
    match document.check().into_iter().next() {
        Some(problem) => Err(located(&root, problem)),
        None => Ok(document),
    }
}

/// A problem of the document, at the innermost node of its place that is in the file.
fn located(root: &Node, problem: Problem) -> FileError {
    let mut node = root;
    let mut rest = problem.place.as_str();
    while !rest.is_empty() {
        // A missing key has no node: the mapping that lacks it is the place to look at.
        let Some((next, after)) = step(node, rest) else { break };
        (node, rest) = (next, after);
    }
    let message = Problem { place: String::new(), ..problem.clone() }.to_string();
    FileError { place: node.place.clone(), path: problem.place, message }
}

/// One step down a path: the node, and what is left of the path.
fn step<'n, 'p>(node: &'n Node, path: &'p str) -> Option<(&'n Node, &'p str)> {
    if let (Some(rest), Value::List(items)) = (path.strip_prefix('['), &node.value) {
        let (index, rest) = rest.split_once(']')?;
        let item = items.get(index.parse::<usize>().ok()?)?;
        return Some((item, rest.strip_prefix('.').unwrap_or(rest)));
    }
    let Value::Map(entries) = &node.value else { return None };
    // Names may have dots: the longest key that the path begins with.
    let fits = entries.iter().filter_map(|(key, _, node)| {
        let rest = path.strip_prefix(key.as_str())?;
        let rest = match rest.chars().next() {
            None | Some('[') => rest,
            Some('.') => &rest[1..],
            Some(_) => return None,
        };
        Some((key.len(), node.as_ref(), rest))
    });
    fits.max_by_key(|(length, ..)| *length).map(|(_, node, rest)| (node, rest))
}

#[cfg(test)]
mod tests;
