//! Wall time after which a robot that sends no joint states counts as lost.

use std::time::{Duration, Instant};

use crate::Clock;

/// Wall time without joint states after which a robot is lost: a busy machine may hold messages back for less.
const SILENCE: Duration = Duration::from_secs(1);
/// The same in lockstep, where a run must not depend on the load of the machine, and only a peer that is dead stays silent for so long.
const SILENCE_IN_LOCKSTEP: Duration = Duration::from_secs(10);

/// Whether a robot that was `heard` then has been silent for too long. Simulated time stands still with its simulation, and goes on where it
/// stopped.
pub fn is_silent(heard: Instant, lockstep: bool, clock: &Clock) -> bool {
    let longest = if lockstep { SILENCE_IN_LOCKSTEP } else { SILENCE };
    heard.elapsed() > longest && !clock.uses_sim_time()
}
