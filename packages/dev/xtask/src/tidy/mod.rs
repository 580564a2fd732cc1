//! The rules, over all files that git knows or would know.

mod data;
mod layers;
mod links;
mod references;
mod source;

use std::fmt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// A broken rule.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Violation {
    /// Relative to the root.
    file: String,
    /// From 1; 0 is the whole file.
    line: usize,
    /// What is wrong, and what to do.
    message: String,
}

impl Violation {
    fn new(file: &str, line: usize, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.message),
            line => write!(f, "{}:{line}: {}", self.file, self.message),
        }
    }
}

/// A text file of the project.
pub(crate) struct Source {
    /// Relative to the root, with `/`.
    path: String,
    text: String,
}

impl Source {
    fn has_extension(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|e| e == extension)
    }

    /// Tests may be long, and may hold what the rules look for.
    fn is_test(&self) -> bool {
        self.path.contains("/tests/")
            || self.path.starts_with("tests/")
            || self.path.ends_with("/tests.rs")
    }
}

/// Checks every rule; gives what is broken, sorted.
pub(crate) fn check(root: &Path) -> Result<Vec<Violation>> {
    let sources = sources(root)?;
    let mut found = layers::check(root)?;
    for source in &sources {
        source::check(source, &mut found);
    }
    references::check(&sources, &mut found);
    links::check(root, &sources, &mut found);
    data::check(root, &sources, &mut found);
    found.sort();
    Ok(found)
}

fn sources(root: &Path) -> Result<Vec<Source>> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .context("cannot run git")?;
    ensure!(
        output.status.success(),
        "git ls-files: {}; the rules need a checkout",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    let list = String::from_utf8(output.stdout).context("a file's name is not UTF-8")?;
    // What is not text, or is deleted but not yet committed, has no rules to keep.
    let read = |path: &str| {
        let text = std::fs::read_to_string(root.join(path)).ok()?;
        Some(Source { path: path.to_owned(), text })
    };
    Ok(list.split('\0').filter(|path| !path.is_empty()).filter_map(read).collect())
}
