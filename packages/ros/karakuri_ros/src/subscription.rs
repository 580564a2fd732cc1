//! Latest value of a topic, readable without a lock.

use std::{fmt, sync::Arc};

use arc_swap::ArcSwapOption;

use crate::Message;

/// Newest message of a topic. Clones share it; reading takes no lock, so a real-time thread may do it.
pub struct Latest<T> {
    cell: Arc<ArcSwapOption<T>>,
}

impl<T> Clone for Latest<T> {
    fn clone(&self) -> Self {
        Self { cell: Arc::clone(&self.cell) }
    }
}

impl<T> fmt::Debug for Latest<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Latest").field("arrived", &self.cell.load().is_some()).finish()
    }
}

impl<T: Message> Latest<T> {
    pub(crate) fn new() -> Self {
        Self { cell: Arc::new(ArcSwapOption::empty()) }
    }

    pub(crate) fn store(&self, message: T) {
        self.cell.store(Some(Arc::new(message)));
    }

    /// Newest message, if one has come.
    pub fn get(&self) -> Option<Arc<T>> {
        self.cell.load_full()
    }

    /// Newest message, once: `None` until a newer one comes.
    pub fn take(&self) -> Option<Arc<T>> {
        self.cell.swap(None)
    }
}
