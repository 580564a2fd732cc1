//! What is wrong in a launch file: the place, the problem, the remedy.

use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The launch or parameter file.
    pub file: Rc<Path>,
    /// From 1; 0 stands for the whole file.
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

/// A problem in a launch file, with where it is and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
#[non_exhaustive]
pub struct LaunchError {
    /// Where.
    pub place: Place,
    /// What is wrong; a fragment that names the thing and the value.
    pub problem: String,
    /// What to do about it.
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

/// Why a plan could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// No place for logs or parameter files.
    #[error("{}: {source}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The guard, the signals or the runtime could not be set up.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
}

/// A problem without its place; the element it belongs to adds that.
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
