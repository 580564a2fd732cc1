//! `/diagnostics`: state of a node, once a second.

use std::fmt::Display;

use crate::{
    Clock, IntoMessage, Publisher,
    msg::{
        diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus, KeyValue},
        std_msgs::msg::Header,
    },
};

/// Severity of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The subject works.
    Ok = 0,
    /// The subject works, but somebody should look.
    Warn = 1,
    /// The subject does not work.
    Error = 2,
    /// Nothing is heard of the subject.
    Stale = 3,
}

/// State of one subject.
#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    level: Level,
    message: String,
    values: Vec<(String, String)>,
}

impl Status {
    /// State with its one-line explanation.
    pub fn new(level: Level, message: impl Into<String>) -> Self {
        Self { level, message: message.into(), values: Vec::new() }
    }

    /// State of a subject that works.
    pub fn ok(message: impl Into<String>) -> Self {
        Self::new(Level::Ok, message)
    }

    /// State of a subject that works, but at which somebody should look.
    pub fn warn(message: impl Into<String>) -> Self {
        Self::new(Level::Warn, message)
    }

    /// State of a subject that does not work.
    pub fn error(message: impl Into<String>) -> Self {
        Self::new(Level::Error, message)
    }

    /// Adds a figure; put the unit into the key, as in `period_ms`.
    #[must_use]
    pub fn value(mut self, key: &str, value: impl Display) -> Self {
        self.values.push((key.to_owned(), value.to_string()));
        self
    }

    fn to_message(&self, name: String) -> DiagnosticStatus {
        let value =
            |(key, value): &(String, String)| KeyValue { key: key.clone(), value: value.clone() };
        DiagnosticStatus {
            level: self.level as u8,
            name,
            message: self.message.clone(),
            hardware_id: String::new(),
            values: self.values.iter().map(value).collect(),
        }
    }
}

type Report<S> = Box<dyn FnMut(&mut S) -> Status>;

/// All subjects of a node.
pub(crate) struct Diagnostics<S> {
    publisher: Publisher<DiagnosticArray>,
    node_name: String,
    reports: Vec<(String, Report<S>)>,
}

impl<S> Diagnostics<S> {
    pub(crate) fn new(publisher: Publisher<DiagnosticArray>, full_name: &str) -> Self {
        Self {
            publisher,
            node_name: full_name.trim_start_matches('/').to_owned(),
            reports: Vec::new(),
        }
    }

    /// Adds a subject; true if it is the first.
    pub(crate) fn add(&mut self, subject: &str, report: Report<S>) -> bool {
        self.reports.push((format!("{}: {subject}", self.node_name), report));
        self.reports.len() == 1
    }

    pub(crate) fn publish(&mut self, state: &mut S, clock: &Clock) {
        let header = Header { stamp: clock.now().to_message(), frame_id: String::new() };
        let status = self
            .reports
            .iter_mut()
            .map(|(name, report)| report(state).to_message(name.clone()))
            .collect();
        self.publisher.publish(&DiagnosticArray { header, status });
    }
}
