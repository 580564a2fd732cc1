//! End of a node from within.

use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

/// Handle that ends the node from within, from any thread.
#[derive(Debug, Clone)]
pub struct Stop {
    requested: Arc<AtomicBool>,
    failure: Arc<Mutex<Option<String>>>,
}

impl Stop {
    pub(crate) fn new(requested: Arc<AtomicBool>) -> Self {
        Self { requested, failure: Arc::default() }
    }

    /// Stops cleanly; the process ends with 0.
    pub fn stop(&self) {
        self.requested.store(true, Ordering::SeqCst);
    }

    /// Stops cleanly after a failure; the process reports `reason` and ends with 1.
    pub fn fail(&self, reason: impl fmt::Display) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert_with(|| reason.to_string());
        self.stop();
    }

    pub(crate) fn is_requested(&self) -> bool {
        self.requested.load(Ordering::SeqCst)
    }

    pub(crate) fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
