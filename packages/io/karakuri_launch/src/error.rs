//! Errors of a launch file: the place, the problem, the remedy.

use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Path of the launch or parameter file.
    pub file: Rc<Path>,
    /// Line, from 1; 0 stands for the whole file.
    pub line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}", self.file.display()),
            line => write!(f, "{}:{line}", self.file.display()),
        }
    }
}

/// Problem in a launch file, with its place and the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
#[non_exhaustive]
pub struct LaunchError {
    /// Place of the problem.
    pub place: Place,
    /// Problem; a fragment that names the element and its value.
    pub problem: String,
    /// Remedy, where there is one.
    pub remedy: Option<String>,
}

impl LaunchError {
    pub(crate) fn new(place: &Place, problem: impl Into<String>) -> Self {
        Self { place: place.clone(), problem: problem.into(), remedy: None }
    }

    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

/// Reason why a plan could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A folder for logs or a parameter file cannot be made.
    #[error("{}: {source}", path.display())]
    File {
        /// Path of the file or folder.
        path: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// The guard, the signals or the runtime could not be set up.
    #[error("{what}: {source}")]
    System {
        /// Action that failed.
        what: &'static str,
        /// Error of the system.
        source: std::io::Error,
    },
}

/// Problem without its place, which the element adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) problem: String,
    pub(crate) remedy: Option<String>,
}

impl Problem {
    pub(crate) fn new(problem: impl Into<String>) -> Self {
        Self { problem: problem.into(), remedy: None }
    }

    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    pub(crate) fn at(self, place: &Place) -> LaunchError {
        LaunchError { place: place.clone(), problem: self.problem, remedy: self.remedy }
    }
}
