//! Responses in flight: those that a client could not take yet, and the last ones of a node that ends.
//!
//! A client's request may arrive before its reader of the responses is known. Fast DDS waits 100 ms for that reader
//! and then gives the response up, which leaves the client waiting for ever; on a busy machine discovery takes longer
//! than that. Such responses are sent again from the spin thread, at growing distances.
//! [`rmw_fastrtps_shared_cpp`, `rmw_response.cpp`]
//!
//! A response that went out lies in memory that its client has still to open, and the client forgets its server with the
//! server's goodbye. ROS tells nobody whether a response was taken, so a node stays for [`Outbox::settle`] after the last one.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// Time to the first repetition; each further one waits twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// Number of repetitions, over 6.3 s, after which a response is given up: discovery takes a few seconds at worst.
const N_REPETITIONS: u32 = 6;

/// Longest time that the last response of a node may be in flight: some ten times what a client takes on a machine whose cores
/// are all in use.
const UNDER_WAY: Duration = Duration::from_millis(300);
/// Longest time that a node which ends waits for a client that is not known yet.
const LONGEST_SETTLING: Duration = Duration::from_secs(1);
/// Period at which a node that ends looks for responses in flight.
const LOOK_PERIOD: Duration = Duration::from_millis(5);

/// Repeats a response; true if it went out, or never will.
type SendAgain = Box<dyn FnMut() -> bool + Send>;

struct Waiting {
    send: SendAgain,
    n_repeated: u32,
    due: Instant,
}

#[derive(Default)]
struct Responses {
    waiting: Vec<Waiting>,
    /// Instant of the newest response that went out.
    sent: Option<Instant>,
}

/// Responses of one node that are in flight.
#[derive(Clone, Default)]
pub(crate) struct Outbox(Arc<Mutex<Responses>>);

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outbox").field("n_waiting", &self.lock().waiting.len()).finish()
    }
}

impl Outbox {
    fn lock(&self) -> MutexGuard<'_, Responses> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a response that did not go out just now.
    pub(crate) fn keep(&self, send: impl FnMut() -> bool + Send + 'static) {
        let due = Instant::now() + FIRST_WAIT;
        self.lock().waiting.push(Waiting { send: Box::new(send), n_repeated: 0, due });
    }

    /// Notes that a response went out.
    pub(crate) fn note_sent(&self) {
        self.lock().sent = Some(Instant::now());
    }

    /// Repeats the responses that are due at `now`.
    pub(crate) fn repeat(&self, now: Instant) {
        // sending may block, and may call `keep`, so it happens without the lock
        let due: Vec<_> =
            self.lock().waiting.extract_if(.., |waiting| waiting.due <= now).collect();
        for mut waiting in due {
            if (waiting.send)() {
                self.note_sent();
                continue;
            }
            waiting.n_repeated += 1;
            if waiting.n_repeated < N_REPETITIONS {
                waiting.due = now + FIRST_WAIT * 2_u32.pow(waiting.n_repeated);
                self.lock().waiting.push(waiting);
            }
        }
    }

    /// Waits until the responses have had the time to reach their clients, for a node that ends.
    pub(crate) fn settle(&self) {
        let start = Instant::now();
        while start.elapsed() < LONGEST_SETTLING && self.is_under_way() {
            thread::park_timeout(LOOK_PERIOD);
            self.repeat(Instant::now());
        }
    }

    fn is_under_way(&self) -> bool {
        let responses = self.lock();
        !responses.waiting.is_empty()
            || responses.sent.is_some_and(|sent| sent.elapsed() < UNDER_WAY)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// An outbox with one response that goes out at the given repetition, and the count of tries.
    fn outbox(taken_at: u32) -> (Outbox, Arc<AtomicU32>) {
        let (outbox, tries) = (Outbox::default(), Arc::new(AtomicU32::new(0)));
        let counted = Arc::clone(&tries);
        outbox.keep(move || counted.fetch_add(1, Ordering::Relaxed) + 1 == taken_at);
        (outbox, tries)
    }

    #[test]
    fn a_response_is_repeated_until_it_is_taken() {
        let (outbox, tries) = outbox(3);
        let start = Instant::now();
        outbox.repeat(start);
        assert_eq!(tries.load(Ordering::Relaxed), 0, "not due yet");
        for tenths in 1..100 {
            outbox.repeat(start + Duration::from_millis(100 * tenths + 50));
        }
        assert_eq!(tries.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn the_last_response_is_given_its_time() {
        let seconds = |outbox: Outbox| {
            let start = Instant::now();
            outbox.settle();
            start.elapsed()
        };
        assert!(seconds(Outbox::default()) < Duration::from_millis(100), "nothing to wait for");
        let (waiting, tries) = outbox(2);
        assert!(seconds(waiting) >= UNDER_WAY + 3 * FIRST_WAIT, "100 ms, 200 ms, and on its way");
        assert_eq!(tries.load(Ordering::Relaxed), 2);
        assert!(seconds(outbox(u32::MAX).0) >= LONGEST_SETTLING);
    }

    #[test]
    fn a_client_that_never_takes_its_response_is_given_up() {
        let (outbox, tries) = outbox(u32::MAX);
        let start = Instant::now();
        for tenths in 1..200 {
            outbox.repeat(start + Duration::from_millis(100 * tenths));
        }
        assert_eq!(tries.load(Ordering::Relaxed), N_REPETITIONS);
        assert!(outbox.lock().waiting.is_empty());
    }
}
