//! Which references a sample's answer waits for (see ARCHITECTURE.md, Lockstep).

use std::time::{Duration, Instant};

use karakuri_ros::{Time, info, warn};

/// A topic whose reference is awaited for every sample.
#[derive(Debug)]
pub(crate) struct Source {
    topic: String,
    stamp: Time,
    /// It has spoken, and not been silent for too long since.
    alive: bool,
}

/// All sources, and since when the present sample waits for them.
#[derive(Debug)]
pub(crate) struct Sources {
    sources: Vec<Source>,
    waiting_since: Option<Instant>,
}

impl Sources {
    pub(crate) fn new(topics: &[String]) -> Self {
        let topics = topics.iter().filter(|t| !t.is_empty());
        let sources =
            topics.map(|t| Source { topic: t.clone(), stamp: Time::ZERO, alive: false }).collect();
        Self { sources, waiting_since: None }
    }

    /// A reference came.
    pub(crate) fn heard(&mut self, topic: &str, stamp: Time) {
        for source in self.sources.iter_mut().filter(|s| s.topic == topic) {
            source.stamp = stamp;
            if !source.alive {
                info!("lockstep: `{topic}` is waited for from now on");
                source.alive = true;
            }
        }
    }

    /// The topics that are waited for, as a sentence has them.
    pub(crate) fn awaited(&self) -> String {
        let alive = self.sources.iter().filter(|s| s.alive).map(|s| s.topic.as_str());
        alive.collect::<Vec<_>>().join(", ")
    }

    /// Whether all living sources have spoken for the sample stamped `stamp`. A source that is silent for `timeout`
    /// is not waited for until it speaks again; one that never spoke is not waited for at all.
    pub(crate) fn complete(&mut self, stamp: Time, timeout: Duration) -> bool {
        let missing = |s: &Source| s.alive && s.stamp != stamp;
        if !self.sources.iter().any(missing) {
            self.waiting_since = None;
            return true;
        }
        let since = *self.waiting_since.get_or_insert_with(Instant::now);
        if since.elapsed() < timeout {
            return false;
        }
        self.waiting_since = None;
        for source in self.sources.iter_mut().filter(|s| missing(s)) {
            warn!(
                "lockstep: `{}` is silent for {timeout:?}; going on without it until it speaks again",
                source.topic
            );
            source.alive = false;
        }
        true
    }
}
