//! Life of a node's process: arguments, set-up, spinning, signals, the orderly end.

use std::{
    fmt,
    io::Write,
    process::ExitCode,
    sync::{
        Arc,
        atomic::AtomicBool,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
    iterator::Signals,
};

use crate::{
    Node, Restart, Stop, arguments, error, guard, logging,
    logging::LogSink,
    node::{Origin, create},
    qos,
};

/// Longest wait for an event: bounds the time to notice a signal.
const LONGEST_WAIT: Duration = Duration::from_millis(20);

/// Longest time that the middleware may take to leave the network; `launch` takes a node for stuck after 5 s.
const LONGEST_END: Duration = Duration::from_secs(3);

/// Time within which a second signal is the same request as the first: `timeout` signals a process and then its group.
const ECHO: Duration = Duration::from_millis(500);

/// Exit code of a node that failed.
const FAILED: u8 = 1;
/// Exit code of a wrong command line.
const USAGE: u8 = 2;

/// Runs a node until SIGINT, SIGTERM, [`Stop`] or [`Restart`].
///
/// `set_up` makes the entities and returns the node's state; `default_name` is the node's name unless it is remapped.
///
/// | end | exit code |
/// |---|---|
/// | a signal, [`Stop::stop`] | 0 |
/// | `set_up` failed, [`Stop::fail`] | 1, and one line on stderr |
/// | bad command line | 2, and one line on stderr |
/// | `--help` | 0, after a list of the parameters on stdout |
/// | [`Restart::with`] | none: the process goes on as the same program, with the same arguments and the settings |
///
/// A second signal, half a second after the first at the earliest, ends the process at once.
///
/// A node that starts again ends in order first: its state is dropped and it leaves the network, so that peers see it go and come. The
/// process and its number stay. A signal that comes meanwhile ends it, with 0 or by the signal. If the system refuses, that is
/// one line on stderr and exit code 1.
pub fn run<S: 'static, E: fmt::Display>(
    default_name: &str,
    set_up: impl FnOnce(&mut Node<S>) -> Result<S, E>,
) -> ExitCode {
    let arguments = match arguments::parse(std::env::args_os().skip(1)) {
        Ok(arguments) => arguments,
        Err(error) => return usage(default_name, &error),
    };
    let restart = Restart::new();
    let requested = Arc::new(AtomicBool::new(false));
    if let Err(error) = catch_signals(&requested).and_then(|()| restart.watch_signals()) {
        return failure(default_name, &error);
    }
    let mut arguments = arguments;
    if arguments.asks_for_help() {
        arguments.console = false;
    }
    let log = logging::start(&arguments);
    let context = match guard::catch(r2r::Context::create) {
        Ok(Ok(context)) => context,
        // a mistake that our own check of the arguments let pass
        Err(reason) => return usage(default_name, &reason),
        Ok(Err(error)) => return failure(default_name, &error),
    };
    let stop = Stop::new(requested);
    let made = create("node", default_name, || r2r::Node::create(context, default_name, ""))
        .and_then(|inner| {
            let origin = Origin {
                inner,
                program_arguments: arguments.program,
                overrides: arguments.overrides,
                stop: stop.clone(),
                restart: restart.clone(),
            };
            Node::<S>::new(origin)
        });
    let mut node = match made {
        Ok(node) => node,
        Err(error) => return failure(default_name, &format_args!("failed to {error}")),
    };
    if let Err(error) = attach_log(&log, &mut node) {
        return failure(default_name, &format_args!("failed to {error}"));
    }
    live(node, set_up, &stop, &restart, &log)
}

/// What a process does once its node has ended.
#[derive(Clone)]
enum After {
    Exit(u8),
    /// It starts again if that is requested.
    Restart(Restart, Stop),
}

impl After {
    /// Starts the program again, or tells the exit code.
    fn end(&self, name: &str) -> u8 {
        let (restart, stop) = match self {
            Self::Exit(code) => return *code,
            Self::Restart(restart, stop) => (restart, stop),
        };
        match restart.replace_process(stop) {
            Ok(()) if stop.failure().is_none() => 0,
            Ok(()) => FAILED,
            Err(error) => {
                say(name, &format_args!("failed to start again: {error}; start it by hand"));
                FAILED
            }
        }
    }
}

/// Runs a node from its set-up to the end.
fn live<S: 'static, E: fmt::Display>(
    mut node: Node<S>,
    set_up: impl FnOnce(&mut Node<S>) -> Result<S, E>,
    stop: &Stop,
    restart: &Restart,
    log: &LogSink,
) -> ExitCode {
    let made = set_up(&mut node);
    if node.is_asked_for_help() {
        // The help lists the parameters that `set_up` declared, even where it then lacked a value.
        drop(made);
        print_help(&node);
        return leave(node, log, &After::Exit(0));
    }
    let mut state = match made {
        Ok(state) => state,
        Err(reason) => {
            error!("failed to start: {reason:#}");
            return leave(node, log, &After::Exit(FAILED));
        }
    };
    if let Err(reason) = node.announce() {
        error!("{reason}");
        drop(state);
        return leave(node, log, &After::Exit(USAGE));
    }
    while !stop.is_requested() && !restart.is_requested() {
        if let Err(error) = node.spin(&mut state, LONGEST_WAIT) {
            error!("failed to {error}");
        }
    }
    // The state ends first: its members can still publish while the node lives.
    drop(state);
    if let Some(reason) = stop.failure() {
        error!("{reason}");
    }
    leave(node, log, &After::Restart(restart.clone(), stop.clone()))
}

/// Prints the usage of the node and its parameters.
fn print_help<S: 'static>(node: &Node<S>) {
    let name = node.full_name().rsplit('/').next().unwrap_or_default().to_owned();
    let mut text = format!(
        "Usage: {name} --ros-args [-p NAME:=VALUE]... [--params-file FILE]... [-r FROM:=TO]... [--log-level LEVEL]\n\n\
         A ROS 2 node; docs/nodes.md tells of its topics, services and actions.\n\nparameters:\n"
    );
    for parameter in node.describe_parameters() {
        text.push_str(&parameter);
    }
    // A reader that has gone away (`| head`) is no error.
    drop(std::io::stdout().write_all(text.as_bytes()));
}

/// Leaves the network in bounded time, even where the middleware does not.
///
/// Fast DDS 2.14 may deadlock with its own listener when a peer says goodbye while its participant is destroyed: in one of some
/// hundred ends of a whole system. The process then exits or starts again as it is, and peers miss the node when its lease expires, as
/// that of a process that was killed.
fn leave<S: 'static>(node: Node<S>, log: &LogSink, after: &After) -> ExitCode {
    log.detach();
    let name = node.full_name().to_owned();
    let (left, leaving) = mpsc::channel::<()>();
    let (hung, after_hanging) = (name.clone(), after.clone());
    let end = move || {
        if leaving.recv_timeout(LONGEST_END) == Err(RecvTimeoutError::Timeout) {
            say(&hung, &"the middleware does not leave the network; ended without it");
            // exits at once: handlers of an orderly exit would wait, too
            signal_hook::low_level::exit(after_hanging.end(&hung).into());
        }
    };
    node.settle();
    // without a thread for it the end is not bounded in time
    drop(thread::Builder::new().name("end".to_owned()).spawn(end));
    drop(node);
    drop(left);
    ExitCode::from(after.end(&name))
}

fn attach_log<S: 'static>(log: &LogSink, node: &mut Node<S>) -> Result<(), crate::RosError> {
    let publisher = if log.wants_rosout() {
        Some(create("publisher", "/rosout", || {
            node.inner.lock().create_publisher("/rosout", qos::rosout())
        })?)
    } else {
        None
    };
    let logger = node.full_name().trim_start_matches('/').replace('/', ".");
    log.attach(&logger, node.clock(), publisher);
    Ok(())
}

/// Catches signals: the first asks for a stop, the second ends the process, unless it is an echo of the first.
pub(crate) fn catch_signals(requested: &Arc<AtomicBool>) -> std::io::Result<()> {
    for signal in [SIGINT, SIGTERM] {
        flag::register(signal, Arc::clone(requested))?;
    }
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let watch = move || {
        let mut first: Option<Instant> = None;
        for signal in signals.forever() {
            if first.get_or_insert_with(Instant::now).elapsed() > ECHO {
                signal_hook::low_level::exit(128 + signal);
            }
        }
    };
    thread::Builder::new().name("signals".to_owned()).spawn(watch)?;
    Ok(())
}

fn usage(name: &str, reason: &dyn fmt::Display) -> ExitCode {
    say(name, reason);
    ExitCode::from(USAGE)
}

fn failure(name: &str, reason: &dyn fmt::Display) -> ExitCode {
    say(name, reason);
    ExitCode::FAILURE
}

/// Writes one line to stderr where no log exists yet.
fn say(name: &str, reason: &dyn fmt::Display) {
    let line = format!("{name}: {reason}").replace('\n', " ");
    drop(writeln!(std::io::stderr(), "{line}"));
}
