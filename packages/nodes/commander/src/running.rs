//! The goal that is carried out, which the node cancels when it ends.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::goal::Goal;

/// Goal that is carried out, which the node cancels when it ends.
#[derive(Debug, Clone, Default)]
pub(crate) struct Running(Arc<Mutex<Option<Goal>>>);

impl Running {
    fn lock(&self) -> MutexGuard<'_, Option<Goal>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The goal, if there is one.
    pub(crate) fn goal(&self) -> Option<Goal> {
        self.lock().clone()
    }

    pub(crate) fn set(&self, goal: Option<Goal>) {
        *self.lock() = goal;
    }
}
