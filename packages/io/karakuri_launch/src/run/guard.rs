//! Guard process that outlives the launcher for a moment, to end its children if it was killed.
//!
//! A small shell leads the process group of all children and reads a pipe that only the launcher holds. If the launcher ends,
//! by SIGKILL too, the pipe closes, and the shell signals the whole group: SIGINT, SIGTERM, SIGKILL. No list of processes is
//! kept, so none can be missed.

use std::io;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};

/// Script of the guard. It ignores the signals that it sends to its own group; `cat` inherits that.
const SCRIPT: &str = "trap '' INT TERM HUP; echo; cat >/dev/null; \
    kill -s INT 0; sleep 2; kill -s TERM 0; sleep 2; kill -s KILL 0";

/// Guard, as long as the launcher lives.
pub(super) struct Guard {
    child: Child,
    group: Pid,
    /// Pipe whose end alarms the guard.
    _pipe: Option<ChildStdin>,
}

impl Guard {
    /// Starts the guard, and waits until it ignores the signals of its group.
    pub(super) async fn start() -> io::Result<Self> {
        let mut child = Command::new("sh")
            .args(["-c", SCRIPT])
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let group = child
            .id()
            .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?))
            .ok_or_else(|| io::Error::other("it ended at once"))?;
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut String::new()).await?;
        }
        let pipe = child.stdin.take();
        Ok(Self { child, group, _pipe: pipe })
    }

    /// Process group that children join.
    pub(super) fn group(&self) -> i32 {
        self.group.as_raw_nonzero().get()
    }

    /// Sends a signal to all children and theirs.
    pub(super) fn signal_all(&self, signal: Signal) {
        // It fails only where nothing is left to signal.
        let _gone = kill_process_group(self.group, signal);
    }

    /// Waits for its end, which comes only from outside.
    pub(super) async fn died(&mut self) {
        let _status = self.child.wait().await;
    }

    /// Ends the guard, and with it whatever the children have left behind.
    pub(super) async fn end(mut self) {
        self.signal_all(Signal::KILL);
        self.died().await;
    }
}
