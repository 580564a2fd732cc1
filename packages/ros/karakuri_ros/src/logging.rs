//! Logs: `tracing` events to the console in the ROS format and to `/rosout`.
//!
//! Obeys `--log-level`, `--disable-stdout-logs`, `--disable-rosout-logs`, `RCUTILS_CONSOLE_OUTPUT_FORMAT`,
//! `RCUTILS_COLORIZED_OUTPUT` and `RCUTILS_LOGGING_USE_STDOUT`.

use std::{
    cell::Cell,
    fmt::{self, Write as _},
    io::{IsTerminal, Write as _},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use tracing::{
    Event, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    Layer,
    layer::{Context, SubscriberExt},
    util::SubscriberInitExt,
};

use crate::{Clock, IntoMessage, arguments::Arguments, msg::rcl_interfaces::msg::Log};

/// Messages kept until the node exists.
const EARLY_LIMIT: usize = 100;

/// ROS severities with the numbers of `rcl_interfaces/msg/Log`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Severity {
    Debug = 10,
    Info = 20,
    Warn = 30,
    Error = 40,
    Fatal = 50,
}

impl Severity {
    /// Severity of a name in any case.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "debug" => Self::Debug,
            "info" | "unset" => Self::Info,
            "warn" => Self::Warn,
            "error" => Self::Error,
            "fatal" => Self::Fatal,
            _ => return None,
        })
    }

    fn of(level: tracing::Level) -> Self {
        match level {
            tracing::Level::ERROR => Self::Error,
            tracing::Level::WARN => Self::Warn,
            tracing::Level::INFO => Self::Info,
            _ => Self::Debug,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Debug => "DEBUG",
            Self::Info => "INFO",
            Self::Warn => "WARN",
            Self::Error => "ERROR",
            Self::Fatal => "FATAL",
        }
    }

    fn color(self) -> &'static str {
        match self {
            Self::Debug => "\x1b[32m",
            Self::Info => "",
            Self::Warn => "\x1b[33m",
            Self::Error | Self::Fatal => "\x1b[31m",
        }
    }
}

/// Libraries that tell of each request: for those who look for a fault.
const VERBOSE: [&str; 1] = ["rmcp"];

/// Log of the process, which has one as it has one ROS context.
#[derive(Clone)]
pub(crate) struct LogSink {
    shared: Arc<Shared>,
}

struct Shared {
    levels: Vec<(Option<String>, Severity)>,
    console: Option<Console>,
    rosout: bool,
    node: OnceLock<NodeLog>,
    publisher: Mutex<Rosout>,
}

struct NodeLog {
    logger: String,
    threshold: Severity,
    clock: Clock,
}

enum Rosout {
    Early(Vec<Log>),
    Open(r2r::Publisher<Log>),
    Closed,
}

struct Console {
    format: String,
    colored: bool,
    to_stdout: bool,
}

thread_local! {
    /// Set while an event is being written: events that the writing itself logs are dropped.
    static WRITING: Cell<bool> = const { Cell::new(false) };
}

/// Starts logging, under `default_name` until the node is known.
pub(crate) fn start(arguments: &Arguments) -> LogSink {
    let console = arguments.console.then(Console::from_environment);
    let shared = Arc::new(Shared {
        levels: arguments.log_levels.clone(),
        console,
        rosout: arguments.rosout,
        node: OnceLock::new(),
        publisher: Mutex::new(Rosout::Early(Vec::new())),
    });
    let log = LogSink { shared };
    let layer = log.clone();
    // a test may have set another subscriber, which then gets the events
    if tracing_subscriber::registry().with(layer).try_init().is_err() {
        tracing::debug!("another log subscriber is installed already");
    }
    log
}

impl LogSink {
    /// Attaches a node: from here on its name, its clock and `/rosout` are used.
    pub(crate) fn attach(
        &self,
        logger: &str,
        clock: &Clock,
        publisher: Option<r2r::Publisher<Log>>,
    ) {
        let threshold = self.shared.threshold(logger);
        let node = NodeLog { logger: logger.to_owned(), threshold, clock: clock.clone() };
        if self.shared.node.set(node).is_err() {
            tracing::warn!("a second node in one process: its log carries the first one's name");
        }
        let mut rosout = self.shared.publisher.lock().unwrap_or_else(PoisonError::into_inner);
        let next = publisher.map_or(Rosout::Closed, Rosout::Open);
        if let (Rosout::Early(early), Rosout::Open(publisher)) =
            (std::mem::replace(&mut *rosout, next), &*rosout)
        {
            for mut message in early {
                logger.clone_into(&mut message.name);
                send(publisher, &message);
            }
        }
    }

    /// Detaches the node before it ends, and with it `/rosout`.
    pub(crate) fn detach(&self) {
        *self.shared.publisher.lock().unwrap_or_else(PoisonError::into_inner) = Rosout::Closed;
    }

    pub(crate) fn wants_rosout(&self) -> bool {
        self.shared.rosout
    }
}

fn send(publisher: &r2r::Publisher<Log>, message: &Log) {
    // a log message that cannot be sent is dropped: there is no place to report it
    drop(crate::guard::catch(|| publisher.publish(message)));
}

impl Shared {
    /// Threshold of a logger, by the last rule that names it, a parent of it, or all.
    fn threshold(&self, logger: &str) -> Severity {
        let applies = |rule: &Option<String>| match rule {
            None => true,
            Some(name) => {
                logger == name
                    || logger.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('.'))
            }
        };
        let exact = self.levels.iter().rev().find(|(rule, _)| rule.is_some() && applies(rule));
        let any = self.levels.iter().rev().find(|(rule, _)| rule.is_none());
        exact.or(any).map_or(Severity::Info, |(_, severity)| *severity)
    }

    fn write(&self, event: &Event<'_>) {
        let metadata = event.metadata();
        let mut severity = Severity::of(*metadata.level());
        let is_verbose =
            metadata.target().split("::").next().is_some_and(|name| VERBOSE.contains(&name));
        if is_verbose && severity == Severity::Info {
            severity = Severity::Debug;
        }
        let node = self.node.get();
        if severity < node.map_or_else(|| self.threshold(""), |node| node.threshold) {
            return;
        }
        let mut text = Text::default();
        event.record(&mut text);
        let message = Log {
            stamp: node
                .map_or_else(|| Clock::default().now(), |node| node.clock.now())
                .to_message(),
            level: severity as u8,
            name: node.map_or_else(String::new, |node| node.logger.clone()),
            msg: text.0.replace('\0', "\\0"),
            file: metadata.file().unwrap_or_default().to_owned(),
            function: metadata.module_path().unwrap_or_default().to_owned(),
            line: metadata.line().unwrap_or_default(),
        };
        if let Some(console) = &self.console {
            console.write(severity, &message);
        }
        if !self.rosout {
            return;
        }
        match &mut *self.publisher.lock().unwrap_or_else(PoisonError::into_inner) {
            Rosout::Early(early) if early.len() < EARLY_LIMIT => early.push(message),
            Rosout::Open(publisher) => send(publisher, &message),
            Rosout::Early(_) | Rosout::Closed => {}
        }
    }
}

impl<S: Subscriber> Layer<S> for LogSink {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if WRITING.replace(true) {
            return;
        }
        self.shared.write(event);
        WRITING.set(false);
    }
}

impl Console {
    fn from_environment() -> Self {
        let variable = |name: &str| std::env::var(name).unwrap_or_default();
        let to_stdout = variable("RCUTILS_LOGGING_USE_STDOUT") == "1";
        let format = Some(variable("RCUTILS_CONSOLE_OUTPUT_FORMAT")).filter(|f| !f.is_empty());
        Self {
            format: format
                .unwrap_or_else(|| "[{severity}] [{time}] [{name}]: {message}".to_owned()),
            colored: match variable("RCUTILS_COLORIZED_OUTPUT").as_str() {
                "1" => true,
                "0" => false,
                _ if to_stdout => std::io::stdout().is_terminal(),
                _ => std::io::stderr().is_terminal(),
            },
            to_stdout,
        }
    }

    fn write(&self, severity: Severity, message: &Log) {
        let mut line = self.line(severity, message);
        if self.colored && !severity.color().is_empty() {
            line = format!("{}{line}\x1b[0m", severity.color());
        }
        line.push('\n');
        // a closed console is no reason to stop a robot
        drop(if self.to_stdout {
            std::io::stdout().lock().write_all(line.as_bytes())
        } else {
            std::io::stderr().lock().write_all(line.as_bytes())
        });
    }

    fn line(&self, severity: Severity, message: &Log) -> String {
        let mut line = String::with_capacity(self.format.len() + message.msg.len() + 40);
        let mut rest = self.format.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            line.push_str(before);
            let Some((token, tail)) = after.split_once('}') else {
                line.push('{');
                rest = after;
                continue;
            };
            rest = tail;
            push_token(&mut line, token, severity, message);
        }
        line.push_str(rest);
        line
    }
}

fn push_token(line: &mut String, token: &str, severity: Severity, message: &Log) {
    let (seconds, nanoseconds) = (message.stamp.sec, message.stamp.nanosec);
    let written = match token {
        "severity" => write!(line, "{}", severity.name()),
        "name" => write!(line, "{}", message.name),
        "message" => write!(line, "{}", message.msg),
        "time" => write!(line, "{seconds}.{nanoseconds:09}"),
        "time_as_nanoseconds" => {
            write!(line, "{}", i64::from(seconds) * 1_000_000_000 + i64::from(nanoseconds))
        }
        "function_name" => write!(line, "{}", message.function),
        "file_name" => write!(line, "{}", message.file),
        "line_number" => write!(line, "{}", message.line),
        other => write!(line, "{{{other}}}"),
    };
    debug_assert!(written.is_ok(), "writing to a String cannot fail");
}

/// Text of an event: its message, then its fields as `key=value`.
#[derive(Default)]
struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let written = match field.name() {
            "message" => {
                let fields = std::mem::take(&mut self.0);
                write!(self.0, "{value:?}{fields}")
            }
            // events of the `log` crate carry their origin in these fields
            name if name.starts_with("log.") => Ok(()),
            name => write!(self.0, " {name}={value:?}"),
        };
        debug_assert!(written.is_ok(), "writing to a String cannot fail");
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(msg: &str) -> Log {
        let stamp = karakuri_spatial::Time::from_nanoseconds(5_000_000_007).to_message();
        Log {
            stamp,
            level: 30,
            name: "arm.sim".into(),
            msg: msg.into(),
            line: 12,
            ..Log::default()
        }
    }

    #[test]
    fn the_console_line_follows_the_format() {
        let console =
            |format: &str| Console { format: format.into(), colored: false, to_stdout: false };
        let line =
            console("[{severity}] [{time}] [{name}]: {message}").line(Severity::Warn, &log("late"));
        assert_eq!(line, "[WARN] [5.000000007] [arm.sim]: late");
        let line = console("{line_number} {unknown} {time_as_nanoseconds} {")
            .line(Severity::Warn, &log("{name}"));
        assert_eq!(line, "12 {unknown} 5000000007 {");
    }

    #[test]
    fn a_named_level_wins_over_the_general_one() {
        let shared = |levels: &[(Option<&str>, Severity)]| Shared {
            levels: levels.iter().map(|(n, s)| (n.map(str::to_owned), *s)).collect(),
            console: None,
            rosout: false,
            node: OnceLock::new(),
            publisher: Mutex::new(Rosout::Closed),
        };
        let levels = shared(&[(Some("arm"), Severity::Debug), (None, Severity::Error)]);
        assert_eq!(levels.threshold("arm.sim"), Severity::Debug);
        assert_eq!(levels.threshold("armsim"), Severity::Error);
        assert_eq!(shared(&[]).threshold("arm.sim"), Severity::Info);
    }
}
