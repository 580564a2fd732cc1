//! Publishers that never panic.

use std::{fmt, sync::Arc, time::Duration};

use crate::{Message, Throttle, guard, warn};

/// Publisher of messages of one type on one topic. Clone it freely and publish from any thread.
///
/// After the node has stopped, publishing does nothing. A message that its type does not allow (an array of the wrong
/// length, a NUL in a string) is dropped with a warning.
#[derive(Clone)]
pub struct Publisher<T: Message> {
    inner: r2r::Publisher<T>,
    topic: Arc<str>,
    refused: Arc<Throttle>,
}

impl<T: Message> fmt::Debug for Publisher<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Publisher").field("topic", &self.topic).finish_non_exhaustive()
    }
}

impl<T: Message> Publisher<T> {
    pub(crate) fn new(inner: r2r::Publisher<T>, topic: &str) -> Self {
        Self {
            inner,
            topic: topic.into(),
            refused: Arc::new(Throttle::new(Duration::from_secs(5))),
        }
    }

    /// Sends `message` to all subscribers.
    pub fn publish(&self, message: &T) {
        let reason = match guard::catch(|| self.inner.publish(message)) {
            // the node is gone: it is stopping
            Ok(Ok(()) | Err(r2r::Error::RCL_RET_PUBLISHER_INVALID)) => return,
            Ok(Err(error)) => error.to_string(),
            Err(reason) => reason,
        };
        if self.refused.ready() {
            warn!("topic `{}`: message not sent: {reason}", self.topic);
        }
    }

    /// Name of the topic as given.
    pub fn topic(&self) -> &str {
        &self.topic
    }

    /// Number of subscribers matched now.
    pub fn n_subscribers(&self) -> usize {
        self.inner.get_inter_process_subscription_count().unwrap_or(0)
    }
}
