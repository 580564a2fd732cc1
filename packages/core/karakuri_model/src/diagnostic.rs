//! Problems of a robot's files: all of them at once, each with its place and its remedy.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Severity of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// A remark: the robot loads; something was ignored, mended or looks unintended.
    Warning,
    /// An error: the robot does not load.
    Error,
}

/// Place of a problem in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Place {
    /// File as the user named it; empty when the robot was not read from a file.
    pub file: Arc<str>,
    /// Line, from 1; 0 when unknown.
    pub line: usize,
    /// Column in characters, from 1; 0 when unknown.
    pub column: usize,
    /// Range of bytes of the file's text that is meant; empty when unknown.
    pub span: (usize, usize),
}

impl Place {
    /// Place of a whole file.
    pub fn file(name: &str) -> Self {
        Self { file: name.into(), ..Self::default() }
    }

    /// Place of the bytes `span` of `text`, which is the content of `file`.
    pub fn in_text(file: &str, text: &str, span: Range<usize>) -> Self {
        let mut start = span.start.min(text.len());
        // Parsers may point into a character of several bytes.
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let line = text[..start].bytes().filter(|&b| b == b'\n').count() + 1;
        Self::in_line(file, text, line, start..span.end)
    }

    /// As [`Self::in_text`], where the line is known; the span starts at a character.
    pub(crate) fn in_line(file: &str, text: &str, line: usize, span: Range<usize>) -> Self {
        // Columns in characters, as editors count them.
        let line_start = text[..span.start].rfind('\n').map_or(0, |i| i + 1);
        Self {
            file: file.into(),
            line,
            column: text[line_start..span.start].chars().count() + 1,
            span: (span.start, span.end.clamp(span.start, text.len())),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.file.is_empty() { "model" } else { &self.file })?;
        if self.line > 0 { write!(f, ":{}", self.line) } else { Ok(()) }
    }
}

/// One problem: its place, what is wrong, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Severity of the problem.
    pub severity: Severity,
    /// Place in the file.
    pub place: Place,
    /// Message that names the thing, the value and the limit.
    pub message: String,
    /// Remedy: what to write instead, or what was done about it.
    pub remedy: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(f, "{}: {severity}: {}; {}", self.place, self.message, self.remedy)
    }
}

/// Everything that is wrong with a robot, in the order of the files; at least one is an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// The problems that keep the robot from loading.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter().filter(|d| d.severity == Severity::Error)
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, diagnostic) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{diagnostic}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

/// The part of a robot that a problem is about; the readers know where each part is written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Subject {
    Robot,
    Link(String),
    Inertial(String),
    Joint(String),
    Axis(String),
    Limit(String),
    Mimic(String),
    Drive(String),
    Motor(String),
    Loop(String),
    Sensor(String),
    Suction(String),
    Group(String),
    Posture(String),
    EndEffector,
    IgnoredPair(usize),
    TouchingPair(usize),
}

impl Subject {
    /// The part around this one, where its own place is not known.
    fn parent(&self) -> Option<Self> {
        match self {
            Self::Robot => None,
            Self::Inertial(link) => Some(Self::Link(link.clone())),
            // An axis that is not written is missed at its joint.
            Self::Axis(joint) | Self::Limit(joint) | Self::Mimic(joint) | Self::Drive(joint) => {
                Some(Self::Joint(joint.clone()))
            }
            _ => Some(Self::Robot),
        }
    }
}

/// More digits than any number of double precision needs between 1e-12 and 1e30.
// Only messages longer than this are searched for such numbers.
const READ: usize = 32;

/// A sentence whose numbers of hundreds of digits are written with a power of ten, `1e300`.
pub fn shorten_numbers(text: &str) -> String {
    if text.len() <= READ {
        return text.to_owned();
    }
    let mut short = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let number = &rest[start..];
        let end = number.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(number.len());
        // A sentence ends with a stop, names have digits.
        let digits = number[..end].trim_end_matches('.');
        let is_name = rest[..start].ends_with(|c: char| c.is_alphanumeric() || "_/".contains(c));
        short += &rest[..start];
        // Only numbers that nobody would read: `1e300` prints 301 digits.
        let shorter = match digits.parse::<f64>() {
            Ok(value) if digits.len() > READ && !is_name => format!("{value:e}"),
            _ => digits.to_owned(),
        };
        short += &shorter;
        rest = &number[digits.len()..];
    }
    short + rest
}

/// Collects problems while a robot is read and checked.
#[derive(Debug, Default)]
pub struct Report {
    places: BTreeMap<Subject, Place>,
    problems: Vec<Diagnostic>,
    /// Number of problems beyond [`LISTED`], and the severity of the worst.
    unlisted: usize,
    worst_unlisted: Option<Severity>,
}

/// Problems that are listed one by one: whoever writes the wrong key into each of a thousand lines reads it once.
const LISTED: usize = 100;

impl Report {
    /// Remembers where a part is written; the first place holds.
    pub(crate) fn locate(&mut self, subject: Subject, place: Place) {
        // The second one is the duplicate, which is reported where it is found.
        self.places.entry(subject).or_insert(place);
    }

    /// Place of a part, if it is known.
    pub(crate) fn known(&self, subject: &Subject) -> Option<&Place> {
        self.places.get(subject)
    }

    /// Place of a part, or of the nearest part around it that is known.
    pub(crate) fn place(&self, subject: &Subject) -> Place {
        if let Some(place) = self.places.get(subject) {
            return place.clone();
        }
        subject.parent().map_or_else(Place::default, |parent| self.place(&parent))
    }

    /// Adds an error at a place.
    pub fn error_at(&mut self, place: Place, message: String, remedy: impl Into<String>) {
        self.push(Severity::Error, place, message, remedy.into());
    }

    pub(crate) fn warn_at(&mut self, place: Place, message: String, remedy: impl Into<String>) {
        self.push(Severity::Warning, place, message, remedy.into());
    }

    pub(crate) fn error(&mut self, subject: &Subject, message: String, remedy: impl Into<String>) {
        let place = self.place(subject);
        self.push(Severity::Error, place, message, remedy.into());
    }

    pub(crate) fn warn(&mut self, subject: &Subject, message: String, remedy: impl Into<String>) {
        let place = self.place(subject);
        self.push(Severity::Warning, place, message, remedy.into());
    }

    fn push(&mut self, severity: Severity, place: Place, message: String, remedy: String) {
        if self.problems.len() >= LISTED {
            self.unlisted += 1;
            // The list is full: an error takes the place of the last warning, a further warning is only counted.
            let last_warning = self.problems.iter().rposition(|d| d.severity == Severity::Warning);
            let (Severity::Error, Some(warning)) = (severity, last_warning) else {
                self.worst_unlisted = self.worst_unlisted.max(Some(severity));
                return;
            };
            // Errors are listed rather than warnings.
            self.problems.remove(warning);
            self.worst_unlisted = self.worst_unlisted.max(Some(Severity::Warning));
        }
        let message = if message.len() > READ { shorten_numbers(&message) } else { message };
        let diagnostic = Diagnostic { severity, place, message, remedy };
        // Two checks may find the same mistake, as of a link that is named twice.
        if !self.problems.contains(&diagnostic) {
            self.problems.push(diagnostic);
        }
    }

    /// Takes over what another reader found.
    pub(crate) fn extend(&mut self, diagnostics: Diagnostics) {
        self.problems.extend(diagnostics.0);
    }

    /// Whether anything so far is an error.
    pub fn has_errors(&self) -> bool {
        // Those beyond the list count: a robot with a hundred warnings and then an error does not load.
        self.worst_unlisted == Some(Severity::Error)
            || self.problems.iter().any(|d| d.severity == Severity::Error)
    }

    /// The result if nothing is an error, with the warnings; all problems otherwise. In the order of the files.
    ///
    /// # Errors
    /// When there is no result, or any problem is an error.
    pub fn finish<T>(mut self, result: Option<T>) -> Result<(T, Vec<Diagnostic>), Diagnostics> {
        let has_errors = self.has_errors();
        // Stable: of one line, problems stay in the order in which they were found.
        self.problems.sort_by_key(|d| (Arc::clone(&d.place.file), d.place.line));
        if let (Some(severity), Some(last)) = (self.worst_unlisted, self.problems.last()) {
            // At the end of the list, without a line of its own.
            let place = Place::file(&last.place.file);
            let message = format!("{} more problems are not listed", self.unlisted);
            let remedy = "correct those above first".to_owned();
            self.problems.push(Diagnostic { severity, place, message, remedy });
        }
        match result {
            // Not handed out in spite of errors: what was mended to go on reading is not what the user wrote.
            Some(value) if !has_errors => Ok((value, self.problems)),
            _ => Err(Diagnostics(self.problems)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_names_are_left() {
        let long = format!("gravity {} is more than 1e3, {} less.", -1.0e300, 2.5e-300);
        assert_eq!(shorten_numbers(&long), "gravity -1e300 is more than 1e3, 2.5e-300 less.");
        let name =
            format!("/tmp/{0}/run_{0}.yaml: x is 0.1234567890123456. Write 2.", "7".repeat(40));
        assert_eq!(shorten_numbers(&name), name);
        assert_eq!(
            shorten_numbers(&format!("x{}", "9".repeat(50))),
            format!("x{}", "9".repeat(50))
        );
    }
}
