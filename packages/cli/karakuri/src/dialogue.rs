//! Questions to the user, and lines that he types while something goes on.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Result, bail};

use crate::interrupt::{Interrupt, Interrupted};

/// How often something else is done while a line is awaited.
const LOOK: Duration = Duration::from_millis(50);

/// The user at the terminal, or a script on the standard input.
#[derive(Debug)]
pub(crate) struct Dialogue {
    lines: Option<Receiver<String>>,
    interrupt: Interrupt,
    /// Whether questions are answered by `--yes`.
    says_yes: bool,
}

impl Dialogue {
    pub(crate) fn new(interrupt: Interrupt, says_yes: bool) -> Self {
        Self { lines: None, interrupt, says_yes }
    }

    /// Asks for a yes; anything else is an error.
    pub(crate) fn confirm(&mut self, question: &str) -> Result<()> {
        if self.says_yes {
            eprintln!("{question}");
            return Ok(());
        }
        if self.agrees(question)? {
            return Ok(());
        }
        bail!("nothing was done, as the answer was no yes; `--yes` goes on without a question")
    }

    /// Asks for a yes or anything else.
    pub(crate) fn agrees(&mut self, question: &str) -> Result<bool> {
        let answer = self.line(&format!("{question} [y/N] "), &mut || Ok(()))?;
        let answer = answer.unwrap_or_default().trim().to_lowercase();
        Ok(answer == "y" || answer == "yes")
    }

    /// The next line; none at the end of the input. Meanwhile something is done again and again.
    pub(crate) fn line(
        &mut self,
        prompt: &str,
        meanwhile: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Option<String>> {
        eprint!("{prompt}");
        // Who reads along sees the question before it waits; where nobody does, nothing is lost.
        let _unread = std::io::stderr().flush();
        let lines = self.lines.get_or_insert_with(read_lines);
        loop {
            match lines.recv_timeout(LOOK) {
                Ok(line) => {
                    if !std::io::stdin().is_terminal() {
                        eprintln!("{line}");
                    }
                    return Ok(Some(line));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    eprintln!();
                    return Ok(None);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if self.interrupt.is_raised() {
                eprintln!();
                return Err(Interrupted.into());
            }
            meanwhile()?;
        }
    }
}

/// Reads lines beside what goes on, for as long as somebody takes them.
fn read_lines() -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}
