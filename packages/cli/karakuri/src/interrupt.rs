//! Ctrl-C in long computations: they look at a flag once a step and end with the results so far.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Flag set by the first SIGINT or SIGTERM; the second ends the program at once.
#[derive(Debug, Clone)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Watches for the signals from now on.
    ///
    /// # Errors
    /// When the system refuses a signal handler.
    pub fn watch() -> Result<Self> {
        let raised = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // The order counts: the shut-down looks at the flag before this signal sets it.
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&raised))
                .and_then(|_| flag::register(signal, Arc::clone(&raised)))
                .context("cannot watch for Ctrl-C")?;
        }
        Ok(Self(raised))
    }

    /// The flag itself, for computations that look at one.
    pub fn flag(&self) -> &AtomicBool {
        &self.0
    }

    /// Whether the user wants to stop.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The user has ended the command.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
pub(crate) struct Interrupted;
