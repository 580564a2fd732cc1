//! Files of the project, and violations of its rules.

use std::fmt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Violation of a rule.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Violation {
    /// Path of the file, relative to the root.
    file: String,
    /// Line, from 1; 0 is the whole file.
    line: usize,
    /// Problem and its remedy.
    message: String,
}

impl Violation {
    pub(super) fn new(file: &str, line: usize, message: impl Into<String>) -> Self {
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

/// Text file of the project.
pub(super) struct Source {
    /// Path relative to the root, with `/`.
    pub(super) path: String,
    pub(super) text: String,
}

impl Source {
    pub(super) fn has_extension(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|e| e == extension)
    }

    /// Whether it is a test, which may be long and may hold text that the rules look for.
    pub(super) fn is_test(&self) -> bool {
        self.path.contains("/tests/")
            || self.path.starts_with("tests/")
            || self.path.ends_with("/tests.rs")
    }
}

/// All text files that git tracks or would track.
pub(super) fn sources(root: &Path) -> Result<Vec<Source>> {
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
    // A binary file, or one that is deleted but not yet committed, has no rules to keep.
    let read = |path: &str| {
        let text = std::fs::read_to_string(root.join(path)).ok()?;
        Some(Source { path: path.to_owned(), text })
    };
    Ok(list.split('\0').filter(|path| !path.is_empty()).filter_map(read).collect())
}
