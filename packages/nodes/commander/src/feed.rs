//! Samples of the robot and their answers, from the node's thread to that of the commander.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use karakuri_grasp::pick_and_place::KnownObject;
use karakuri_ros::NodeWaker;
use karakuri_ros::msg::sensor_msgs::msg::JointState;

/// Samples that wait; then the oldest is lost.
// A minute at 500 Hz.
const WAITING: usize = 30_000;

/// Repeats of a sample, every 50 ms while time stands still, after which no other one, and no other answer, is on its way.
pub(crate) const REPEATS: u64 = 2;

/// A sample of the robot and the command that answered it. On a busy machine the middleware loses some: `None`.
#[derive(Debug, Clone)]
pub(crate) struct Answered {
    /// Stamp of both. [ns]
    pub(crate) stamp: i64,
    pub(crate) state: Option<JointState>,
    pub(crate) command: Option<JointState>,
}

/// What was heard and not looked at yet, and what lets time go on: hand and walk answer no sample before its header was published.
#[derive(Debug)]
pub(crate) struct Feed {
    heard: Mutex<Heard>,
    news: Condvar,
    waker: NodeWaker,
}

#[derive(Debug, Default)]
struct Heard {
    states: VecDeque<(i64, JointState)>,
    commands: BTreeMap<i64, JointState>,
    sightings: VecDeque<(i64, Vec<KnownObject>)>,
    /// Stamp of the newest sample; 0: none. [ns]
    newest: i64,
    /// Stamp of the command that came last. [ns]
    newest_command: i64,
    /// How often the newest sample was repeated, as is done while time stands still.
    repeats: u64,
    /// Its positions when it came first.
    positions: Vec<f64>,
    /// Joint that is elsewhere in a repetition.
    moved: Option<String>,
    /// Whether the controller waits for all sources.
    are_sources_awaited: bool,
    /// Topics of the references of hand and walk, which it must then name.
    sources: Vec<String>,
    /// Whether no sample is let go on.
    is_closed: bool,
    /// Stamp of the sample that is not let go on yet. [ns]
    unseen: Option<i64>,
    /// Number of nodes that wait for samples to go on.
    n_waiting: usize,
}

impl Heard {
    /// Drops the commands and sightings after a stamp [ns], to which a reset has brought time back. Topics have no order among each other: each of
    /// them may be the first to tell of it.
    fn forget_after(&mut self, stamp: i64) {
        self.commands.split_off(&(stamp + 1));
        self.sightings.retain(|(at, _)| *at <= stamp);
    }
}

impl Feed {
    /// Feed of a robot whose references of hand and walk come on these topics, and what wakes the node that lets its samples go on.
    pub(crate) fn new(sources: Vec<String>, waker: NodeWaker) -> Self {
        let heard = Heard { sources, ..Heard::default() };
        Self { heard: Mutex::new(heard), news: Condvar::new(), waker }
    }

    /// Lets no further sample go on: time stands still at the next one, which hand and walk have not answered.
    pub(crate) fn close(&self) {
        self.heard().is_closed = true;
        self.news.notify_all();
    }

    /// Lets time go on.
    pub(crate) fn open(&self) {
        self.heard().is_closed = false;
        self.waker.wake();
    }

    /// Whether no sample is let go on.
    pub(crate) fn is_closed(&self) -> bool {
        self.heard().is_closed
    }

    /// Stamp of the sample that is not let go on, once it has come. [ns]
    pub(crate) fn withheld(&self) -> Option<i64> {
        let heard = self.heard();
        heard.unseen.filter(|_| heard.is_closed)
    }

    /// Takes the stamp of the sample that now goes on [ns], with the number of nodes that wait for it.
    pub(crate) fn let_go(&self, n_waiting: usize) -> Option<i64> {
        let mut heard = self.heard();
        heard.n_waiting = n_waiting;
        if heard.is_closed { None } else { heard.unseen.take() }
    }

    /// Whether all nodes whose references are awaited wait for samples to go on.
    pub(crate) fn are_nodes_waiting(&self) -> bool {
        let heard = self.heard();
        heard.n_waiting >= heard.sources.len()
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn hear_state(&self, stamp: i64, state: &JointState) {
        let mut heard = self.heard();
        heard.unseen = Some(stamp);
        let is_repeated = heard.newest == stamp;
        if is_repeated {
            heard.repeats += 1;
            let differs = |(a, b): (&f64, &f64)| a.to_bits() != b.to_bits();
            let moved = state.position.iter().zip(&heard.positions).position(differs);
            if let Some(name) = moved.and_then(|joint| state.name.get(joint)) {
                heard.moved = Some(name.clone());
            }
        } else {
            if stamp < heard.newest {
                heard.forget_after(stamp);
            }
            (heard.newest, heard.repeats, heard.moved) = (stamp, 0, None);
            heard.positions.clone_from(&state.position);
            heard.states.push_back((stamp, state.clone()));
            if heard.states.len() > WAITING {
                heard.states.pop_front();
            }
        }
        self.news.notify_all();
    }

    pub(crate) fn hear_command(&self, stamp: i64, command: &JointState) {
        let mut heard = self.heard();
        if stamp < heard.newest_command {
            heard.forget_after(stamp);
        }
        heard.newest_command = stamp;
        heard.commands.insert(stamp, command.clone());
        if heard.commands.len() > WAITING {
            heard.commands.pop_first();
        }
        self.news.notify_all();
    }

    pub(crate) fn hear_sighting(&self, stamp: i64, objects: Vec<KnownObject>) {
        let mut heard = self.heard();
        if heard.sightings.back().is_some_and(|(last, _)| stamp < *last) {
            heard.forget_after(stamp);
        }
        heard.sightings.push_back((stamp, objects));
        if heard.sightings.len() > WAITING {
            heard.sightings.pop_front();
        }
    }

    /// Takes the topics that the controller waits for, by its diagnostics.
    pub(crate) fn hear_awaited(&self, topics: &str) {
        let mut heard = self.heard();
        let is_awaited = |source: &String| topics.split(", ").any(|topic| topic == source);
        heard.are_sources_awaited = heard.sources.iter().all(is_awaited);
        self.news.notify_all();
    }

    /// Whether the controller waits for hand and walk.
    pub(crate) fn are_sources_awaited(&self) -> bool {
        self.heard().are_sources_awaited
    }

    /// Stamp of the newest sample [ns], and how often it was repeated since.
    pub(crate) fn newest(&self) -> (i64, u64) {
        let heard = self.heard();
        (heard.newest, heard.repeats)
    }

    /// The next sample with its answer, if both come in time, and the answer is the last one: a repeated sample may be answered otherwise. None is waited
    /// for while time stands still.
    pub(crate) fn next(&self, patience: Duration) -> Option<Answered> {
        let deadline = Instant::now() + patience;
        let mut heard = self.heard();
        loop {
            let is_last = heard.states.len() > 1 || heard.repeats >= REPEATS;
            let stamp = heard.states.front().map(|(stamp, _)| *stamp);
            // Commands come in their order: one before another is not on its way any more.
            let is_answered = |stamp: &i64| heard.commands.range(stamp..).next().is_some();
            if let Some(stamp) = stamp.filter(|stamp| is_last && is_answered(stamp))
                && let Some((_, state)) = heard.states.pop_front()
            {
                let (state, command) = (Some(state), heard.commands.remove(&stamp));
                // Answers to samples before, as after a reset, are repeated for nobody.
                heard.commands = heard.commands.split_off(&stamp);
                return Some(Answered { stamp, state, command });
            }
            if heard.is_closed {
                return None;
            }
            let now = Instant::now();
            if now >= deadline {
                return None;
            }
            let waited = self.news.wait_timeout(heard, deadline - now);
            heard = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Whether a sample waits to be looked at.
    pub(crate) fn has_next(&self) -> bool {
        !self.heard().states.is_empty()
    }

    /// Takes the oldest sighting, if it is not later than a stamp. [ns]
    pub(crate) fn sighting(&self, until: i64) -> Option<(i64, Vec<KnownObject>)> {
        let mut heard = self.heard();
        let is_due = heard.sightings.front().is_some_and(|(at, _)| *at <= until);
        if is_due { heard.sightings.pop_front() } else { None }
    }

    /// Joint that is elsewhere in the newest sample than it was when that came first: a service has moved the robot.
    pub(crate) fn moved(&self) -> Option<String> {
        self.heard().moved.clone()
    }
}
