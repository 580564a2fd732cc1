//! One process from its start to its end, and again if it is to respawn.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::console::Stream;
use super::{Shared, Stage};
use crate::plan::{Process, Step};

/// Time after a process's end during which the output of its own children is still read.
const DRAIN: Duration = Duration::from_millis(500);

/// Largest number of bytes of a line; a longer one is printed in pieces.
const MAX_LINE_BYTES: usize = 64 * 1024;

/// Runs the process until it is not started again.
pub(super) async fn supervise(process: Process, shared: Arc<Shared>) -> Vec<Step> {
    let mut stage = shared.stage.clone();
    let mut starts = 0_u32;
    while *stage.borrow() == Stage::Running {
        starts += 1;
        let clean = run_once(&process, &shared).await;
        let was_running = *stage.borrow() == Stage::Running;
        if was_running && process.shutdown_on_exit {
            if !clean {
                shared.fail(format!("{} died", process.name));
            }
            shared.ask_for_shutdown(format!("{} has ended", process.name));
            break;
        }
        let again = process.respawn.filter(|r| r.max_retries.is_none_or(|most| starts <= most));
        let Some(respawn) = again.filter(|_| was_running) else {
            if was_running && !clean {
                shared.fail(format!("{} died", process.name));
            }
            break;
        };
        tokio::select! {
            () = tokio::time::sleep(Duration::from_secs_f64(respawn.delay_s)) => {}
            _ = stage.wait_for(|stage| *stage > Stage::Running) => {}
        }
    }
    Vec::new()
}

/// Runs the process once; true if it ended well.
async fn run_once(process: &Process, shared: &Arc<Shared>) -> bool {
    let name = &process.name;
    let words = match command_words(process, shared.parameters.path()) {
        Ok(words) => words,
        Err(e) => {
            shared.console.error(name, &format!("cannot write its parameter file: {e}"));
            shared.ask_for_shutdown(format!("{name} cannot start"));
            return false;
        }
    };
    let mut child = match spawn(process, &words, shared) {
        Ok(child) => child,
        Err(e) => {
            let program = words.first().map_or("", String::as_str);
            shared
                .console
                .error(name, &format!("cannot start `{program}` ({}): {e}", process.place));
            shared.fail(format!("{name} could not start: `{program}`: {e}"));
            shared.ask_for_shutdown(format!("{name} cannot start"));
            return false;
        }
    };
    let pid = child.id().unwrap_or_default();
    shared.console.info(name, &format!("process started with pid [{pid}]"));
    let readers = [
        child.stdout.take().map(|pipe| forward(pipe, Stream::Out, process, shared)),
        child.stderr.take().map(|pipe| forward(pipe, Stream::Error, process, shared)),
    ];
    let (status, stage) = wait_or_stop(&mut child, process, shared).await;
    for reader in readers.into_iter().flatten() {
        drain(reader).await;
    }
    report(process, pid, status, stage, &words, shared)
}

/// Reports its end; true if it ended well.
fn report(
    process: &Process,
    pid: u32,
    status: io::Result<ExitStatus>,
    stage: Stage,
    words: &[String],
    shared: &Shared,
) -> bool {
    let name = &process.name;
    let status = match status {
        Ok(status) => status,
        Err(e) => {
            shared.console.error(name, &format!("cannot be watched: {e}"));
            shared.fail(format!("{name} cannot be watched: {e}"));
            return false;
        }
    };
    if status.success() {
        shared.console.info(name, &format!("process has finished cleanly [pid {pid}]"));
        return true;
    }
    let code = status.code().unwrap_or_else(|| -status.signal().unwrap_or_default());
    let command = words.join(" ");
    let said = format!("process has died [pid {pid}, exit code {code}, cmd '{command}']");
    shared.console.error(name, &said);
    let obeyed_interrupt = code == -Signal::INT.as_raw() || code == 128 + Signal::INT.as_raw();
    let user_hastened = *shared.stage.borrow() > Stage::Interrupted;
    if stage > Stage::Running && !obeyed_interrupt && !user_hastened {
        let how = match stage {
            Stage::Terminated | Stage::Killed => {
                format!("did not stop {} s after SIGINT", process.sigterm_timeout_s)
            }
            _ => format!("ended with exit code {code} at the shutdown"),
        };
        shared.fail(format!("{name} {how}"));
    }
    false
}

/// Writes the parameter files; the command line with their paths.
fn command_words(process: &Process, folder: &Path) -> io::Result<Vec<String>> {
    let path =
        |index: usize| folder.join(format!("{}_{index}.yaml", process.name.replace('/', "_")));
    for (index, text) in process.parameter_files.iter().enumerate() {
        std::fs::write(path(index), text)?;
    }
    Ok(process.words(|index| path(index).display().to_string()))
}

fn spawn(process: &Process, words: &[String], shared: &Shared) -> io::Result<Child> {
    let (program, arguments) =
        words.split_first().ok_or_else(|| io::Error::other("the command is empty"))?;
    Command::new(program)
        .args(arguments)
        .env_clear()
        .env("PYTHONUNBUFFERED", "1")
        .envs(&shared.environment)
        .envs(&process.environment)
        .process_group(shared.group)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}

/// Waits for the end; in a shutdown follows the SIGINT, which the whole group received, by SIGTERM and SIGKILL. The stage that
/// it took is returned.
async fn wait_or_stop(
    child: &mut Child,
    process: &Process,
    shared: &Shared,
) -> (io::Result<ExitStatus>, Stage) {
    let mut stage = shared.stage.clone();
    tokio::select! {
        status = child.wait() => return (status, *shared.stage.borrow()),
        _ = stage.wait_for(|stage| *stage > Stage::Running) => {}
    }
    let ladder = [
        (process.sigterm_timeout_s, Stage::Terminated, Signal::TERM),
        (process.sigkill_timeout_s, Stage::Killed, Signal::KILL),
    ];
    let mut reached = Stage::Interrupted;
    for (timeout_s, next, signal) in ladder {
        tokio::select! {
            status = child.wait() => return (status, reached),
            () = sleep_unless(timeout_s, next, &mut stage) => {}
        }
        let said = format!("process has not stopped, sending {signal:?}");
        shared.console.warning(&process.name, &said);
        if let Some(pid) = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)) {
            // It fails only where the process is gone.
            let _gone = kill_process(pid, signal);
        }
        reached = next;
    }
    (child.wait().await, reached)
}

/// Waits for the time, or until the shutdown has reached a stage.
async fn sleep_unless(timeout_s: f64, until: Stage, stage: &mut watch::Receiver<Stage>) {
    tokio::select! {
        () = tokio::time::sleep(Duration::from_secs_f64(timeout_s)) => {}
        _ = stage.wait_for(|stage| *stage >= until) => {}
    }
}

/// Prints the lines of a pipe as they come.
fn forward(
    pipe: impl AsyncRead + Unpin + Send + 'static,
    stream: Stream,
    process: &Process,
    shared: &Arc<Shared>,
) -> JoinHandle<()> {
    let (name, output, shared) = (process.name.clone(), process.output, Arc::clone(shared));
    tokio::spawn(async move {
        let mut pipe = BufReader::new(pipe);
        let mut line = Vec::new();
        while let Ok(chunk) = pipe.fill_buf().await {
            if chunk.is_empty() {
                break;
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(chunk.len(), |end| end + 1);
            line.extend_from_slice(&chunk[..taken]);
            pipe.consume(taken);
            if end.is_some() || line.len() >= MAX_LINE_BYTES {
                shared.console.line(&name, output, stream, &line);
                line.clear();
            }
        }
        if !line.is_empty() {
            shared.console.line(&name, output, stream, &line);
        }
    })
}

async fn drain(mut reader: JoinHandle<()>) {
    if tokio::time::timeout(DRAIN, &mut reader).await.is_err() {
        reader.abort();
    }
}
