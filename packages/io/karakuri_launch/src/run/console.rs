//! Screen and log file of a launch: one line at a time, with the process's name before it.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::plan::Output;

/// Stream on which a process wrote a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    Out,
    Error,
}

/// Terminal colours of the processes, in turn: cyan, green, magenta, yellow, blue.
const COLOURS: [u8; 5] = [36, 32, 35, 33, 34];

/// Screen and log file.
pub(super) struct Console {
    log: Mutex<File>,
    is_coloured: bool,
}

impl Console {
    /// Console with the log file in a new folder below this one.
    pub(super) fn new(log_folder: &Path) -> io::Result<Self> {
        let folder = log_folder.join(format!("{:.0}-{}", now_s(), std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let log = File::create(folder.join("launch.log"))?;
        let is_coloured = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        let console = Self { log: Mutex::new(log), is_coloured };
        console
            .info("launch", &format!("all output is in {}", folder.join("launch.log").display()));
        Ok(console)
    }

    pub(super) fn info(&self, who: &str, message: &str) {
        self.say("INFO", 0, who, message);
    }

    pub(super) fn warning(&self, who: &str, message: &str) {
        self.say("WARNING", 33, who, message);
    }

    pub(super) fn error(&self, who: &str, message: &str) {
        self.say("ERROR", 31, who, message);
    }

    fn say(&self, level: &str, colour: u8, who: &str, message: &str) {
        let line = format!("[{level}] [{who}]: {message}");
        self.keep(line.as_bytes());
        let line = if self.is_coloured && colour != 0 {
            format!("\x1b[{colour}m{line}\x1b[0m")
        } else {
            line
        };
        print_line(&mut io::stdout().lock(), line.as_bytes());
    }

    /// Prints a line of a process.
    pub(super) fn line(&self, name: &str, output: Output, stream: Stream, line: &[u8]) {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        self.keep(&[format!("[{name}] ").as_bytes(), line].concat());
        let is_shown = match output {
            Output::Screen => true,
            Output::Log => stream == Stream::Error,
            Output::OwnLog => false,
        };
        if !is_shown {
            return;
        }
        let line = [self.prefix(name).as_bytes(), line].concat();
        match stream {
            Stream::Out => print_line(&mut io::stdout().lock(), &line),
            Stream::Error => print_line(&mut io::stderr().lock(), &line),
        }
    }

    fn prefix(&self, name: &str) -> String {
        if !self.is_coloured {
            return format!("[{name}] ");
        }
        let number = name.rsplit('-').next().and_then(|n| n.parse::<usize>().ok()).unwrap_or(0);
        format!("\x1b[{}m[{name}]\x1b[0m ", COLOURS[number % COLOURS.len()])
    }

    fn keep(&self, line: &[u8]) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let line = [format!("{:.6} ", now_s()).as_bytes(), line].concat();
        print_line(&mut *log, &line);
    }
}

/// Prints a line; a closed screen, or a full disk, must not stop a robot's launcher.
fn print_line(to: &mut impl Write, line: &[u8]) {
    let _unheard = to.write_all(&[line, b"\n"].concat()).and_then(|()| to.flush());
}

/// Wall time since the epoch. [s]
fn now_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}
