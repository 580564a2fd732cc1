//! Runner of a plan: starts, watches and ends its processes.
//!
//! All children share one process group that belongs to a guard, so that one signal reaches them and
//! their children, and so that none is left behind when the launcher itself is killed (see `guard`).
//! Shutdown is ROS 2's: SIGINT, after 5 s SIGTERM, after 5 s more SIGKILL; a second Ctrl-C, half a second
//! after the first at the earliest, goes on to SIGTERM at once, a third to SIGKILL.

mod console;
mod guard;
mod supervise;

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tempfile::TempDir;
use tokio::signal::unix::{self, SignalKind};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::error::RunError;
use crate::outside::Environment;
use crate::plan::{Plan, Step};
use console::Console;
use guard::Guard;
use supervise::supervise;

/// Time within which a second signal is the same request as the first: `timeout` signals a process and then its group.
const ECHO: Duration = Duration::from_millis(500);

/// Stage of the shutdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Running,
    Interrupted,
    Terminated,
    Killed,
}

/// Shared state of the tasks of a run.
struct Shared {
    console: Console,
    environment: Environment,
    /// Folder of the parameter files, removed with it.
    parameters: TempDir,
    group: i32,
    stage: watch::Receiver<Stage>,
    shutdown: mpsc::UnboundedSender<String>,
    failures: Mutex<Vec<String>>,
}

impl Shared {
    fn fail(&self, failure: String) {
        self.failures.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(failure);
    }

    /// Asks for a shutdown for this reason; the launcher's loop does it.
    fn ask_for_shutdown(&self, reason: String) {
        if self.shutdown.send(reason).is_err() {
            self.console.error("launch", "the launcher is ending already");
        }
    }
}

/// Runner of plans. Once made it catches the signals that end a launch, also where they were ignored before (as by `nohup`, or
/// `&` in a script): a signal that comes while the launch file is still read is not lost.
#[derive(Debug)]
pub struct Runner {
    runtime: tokio::runtime::Runtime,
    signals: Signals,
}

impl Runner {
    /// Catches the signals.
    ///
    /// # Errors
    /// When the runtime cannot be started or a signal cannot be watched.
    pub fn new() -> Result<Self, RunError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(system("cannot start the runtime"))?;
        let entered = runtime.enter();
        let signals = Signals::new().map_err(system("cannot watch for signals"))?;
        drop(entered);
        Ok(Self { runtime, signals })
    }

    /// Runs a plan to its end, or to a signal; the failures, none if all ended well.
    ///
    /// All output of the processes goes to `<log folder>/<time>-<pid>/launch.log` too.
    ///
    /// # Errors
    /// When the guard process cannot be started, or the log file or a temporary folder cannot be made. A process that
    /// fails is among the sentences returned.
    pub fn run(
        self,
        plan: &Plan,
        environment: &Environment,
        log_folder: &Path,
    ) -> Result<Vec<String>, RunError> {
        let Self { runtime, mut signals } = self;
        runtime.block_on(run(plan, environment, log_folder, &mut signals))
    }
}

async fn run(
    plan: &Plan,
    environment: &Environment,
    log_folder: &Path,
    signals: &mut Signals,
) -> Result<Vec<String>, RunError> {
    let mut guard = Guard::start().await.map_err(system("cannot start the guard process `sh`"))?;
    let console = Console::new(log_folder)
        .map_err(|source| RunError::File { path: log_folder.to_owned(), source })?;
    let parameters = tempfile::Builder::new()
        .prefix("launch_params_")
        .tempdir()
        .map_err(|source| RunError::File { path: std::env::temp_dir(), source })?;
    let (stage, stage_seen) = watch::channel(Stage::Running);
    let (shutdown, reasons) = mpsc::unbounded_channel();
    let shared = Arc::new(Shared {
        console,
        environment: environment.clone(),
        parameters,
        group: guard.group(),
        stage: stage_seen,
        shutdown,
        failures: Mutex::default(),
    });
    for warning in &plan.warnings {
        shared.console.warning("launch", warning);
    }
    let launcher = Launcher { shared: Arc::clone(&shared), stage, tasks: JoinSet::new() };
    launcher.run(plan.steps.clone(), signals, &mut guard, reasons).await;
    guard.end().await;
    let failures = shared.failures.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(failures.clone())
}

fn system(what: &'static str) -> impl Fn(io::Error) -> RunError {
    move |source| RunError::System { what, source }
}

/// Signals that end a launch.
#[derive(Debug)]
struct Signals {
    interrupt: unix::Signal,
    terminate: unix::Signal,
    hang_up: unix::Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            interrupt: unix::signal(SignalKind::interrupt())?,
            terminate: unix::signal(SignalKind::terminate())?,
            hang_up: unix::signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "SIGINT (Ctrl-C)",
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.hang_up.recv() => "SIGHUP (the terminal is gone)",
        }
    }
}

struct Launcher {
    shared: Arc<Shared>,
    stage: watch::Sender<Stage>,
    /// Tasks of the run: a supervised process returns nothing at its end, a timer its steps.
    tasks: JoinSet<Vec<Step>>,
}

impl Launcher {
    async fn run(
        mut self,
        steps: Vec<Step>,
        signals: &mut Signals,
        guard: &mut Guard,
        mut reasons: mpsc::UnboundedReceiver<String>,
    ) {
        self.start(steps);
        let mut is_guarded = true;
        let mut last_signal: Option<Instant> = None;
        loop {
            tokio::select! {
                ended = self.tasks.join_next() => match ended {
                    Some(Ok(steps)) => self.start(steps),
                    Some(Err(e)) => {
                        self.shared.fail(format!("a task of the launcher ended badly: {e}"));
                        self.advance("an internal error", guard);
                    }
                    None => return,
                },
                signal = signals.next() => {
                    if last_signal.is_none_or(|last| last.elapsed() >= ECHO) {
                        last_signal = Some(Instant::now());
                        self.advance(signal, guard);
                    }
                }
                Some(reason) = reasons.recv() => {
                    if *self.stage.borrow() == Stage::Running {
                        self.advance(&reason, guard);
                    }
                }
                () = guard.died(), if is_guarded => {
                    is_guarded = false;
                    if *self.stage.borrow() < Stage::Killed {
                        self.shared.fail("the guard process was killed".into());
                        self.advance("the end of the guard process", guard);
                    }
                }
            }
        }
    }

    fn start(&mut self, steps: Vec<Step>) {
        for step in steps {
            match step {
                Step::Log(message) => self.shared.console.info("launch.user", &message),
                Step::Process(process) => {
                    self.tasks.spawn(supervise(*process, Arc::clone(&self.shared)));
                }
                Step::Timer { period_s, steps } => {
                    let mut stage = self.shared.stage.clone();
                    self.tasks.spawn(async move {
                        let period = Duration::from_secs_f64(period_s);
                        tokio::select! {
                            () = tokio::time::sleep(period) => steps,
                            _ = stage.wait_for(|stage| *stage > Stage::Running) => Vec::new(),
                        }
                    });
                }
            }
        }
    }

    /// Advances the shutdown by one stage.
    fn advance(&mut self, reason: &str, guard: &Guard) {
        let (next, signal, what) = match *self.stage.borrow() {
            Stage::Running => (Stage::Interrupted, Signal::INT, "stopping all processes"),
            Stage::Interrupted => (Stage::Terminated, Signal::TERM, "terminating all processes"),
            Stage::Terminated | Stage::Killed => {
                (Stage::Killed, Signal::KILL, "killing all processes")
            }
        };
        self.shared.console.info("launch", &format!("{reason}: {what}"));
        guard.signal_all(signal);
        self.stage.send_replace(next);
    }
}
