//! The thread that waits for the nodes, then follows them.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use karakuri_commander::{Commander, Robot, Settings};
use karakuri_commands::Refusal;
use karakuri_ros::{Stop, error, info};

use crate::door::{Door, Terms};

/// Wall time between two looks at a robot that nobody commands.
const LOOK: Duration = Duration::from_millis(50);

/// What waits for the nodes, then follows them.
pub(crate) struct Opening {
    pub(crate) commander: Arc<OnceLock<Arc<Commander>>>,
    pub(crate) terms: Option<Terms>,
    pub(crate) door: Arc<Mutex<Option<Door>>>,
    pub(crate) stop: Stop,
}

impl Opening {
    /// Waits for the nodes, makes the commander of them, and follows them until the node ends.
    #[expect(
        clippy::disallowed_methods,
        reason = "on a thread of its own, which has nothing else to do"
    )]
    pub(crate) fn run(
        self,
        start: impl FnOnce() -> Result<Box<dyn Robot>, Refusal>,
        settings: impl FnOnce(Box<dyn Robot>) -> Settings,
    ) {
        let robot = match start() {
            Ok(robot) => robot,
            Err(refusal) => {
                let why = refusal.value.map(|value| format!(" ({value})")).unwrap_or_default();
                return self.stop.fail(format_args!("{}{why}", refusal.hint));
            }
        };
        let commander = Arc::new(Commander::new(settings(robot)));
        if let Some(terms) = &self.terms {
            match Door::open(terms, Arc::clone(&commander)) {
                Ok(door) => {
                    *self.door.lock().unwrap_or_else(PoisonError::into_inner) = Some(door);
                }
                Err(why) => return self.stop.fail(why),
            }
        }
        let watched = Arc::downgrade(&commander);
        if self.commander.set(commander).is_err() {
            error!("the commander was there before");
        }
        // A node that ends has no commander any more.
        drop(self.commander);
        info!("the robot is at rest; it takes commands");
        while let Some(commander) = watched.upgrade() {
            commander.follow();
            drop(commander);
            thread::sleep(LOOK);
        }
    }
}
