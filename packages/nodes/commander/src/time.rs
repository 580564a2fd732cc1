//! The simulation's time: stopped and let go on by its service.

use std::time::{Duration, Instant};

use karakuri_commands::{Code, Refusal};
use karakuri_ros::msg::simulation_interfaces::msg::{Result as Outcome, SimulationState};
use karakuri_ros::msg::simulation_interfaces::srv::SetSimulationState;
use karakuri_ros::{Call, ServiceClient, Throttle, info};

/// Wall time in which the simulation must answer.
const ANSWER_TIME: Duration = Duration::from_secs(5);
/// Wall time in which the nodes find each other at the start.
const DISCOVERY: Duration = Duration::from_secs(60);
/// Wall time between two lines that tell what is waited for.
const NEWS: Duration = Duration::from_secs(5);
/// Wall time between two looks at what is waited for.
const LOOK: Duration = Duration::from_millis(1);
const PLAYING: u8 = SimulationState::STATE_PLAYING as u8;
const PAUSED: u8 = SimulationState::STATE_PAUSED as u8;
/// Codes of a simulation that is in a state, or was before.
const DONE: [u8; 2] =
    [Outcome::RESULT_OK as u8, SetSimulationState::Response::ALREADY_IN_TARGET_STATE as u8];

/// Client of the simulation's time.
#[derive(Debug)]
pub(crate) struct SimulationTime(pub(crate) ServiceClient<SetSimulationState::Service>);

impl SimulationTime {
    /// Stops time.
    pub(crate) fn pause(&self) -> Result<(), Refusal> {
        self.set(PAUSED)
    }

    /// Lets time go on.
    pub(crate) fn play(&self) -> Result<(), Refusal> {
        self.set(PLAYING)
    }

    fn set(&self, state: u8) -> Result<(), Refusal> {
        let hint = "look whether `sim` is running: it does not stop its time, or let it go on";
        let state = SimulationState { state };
        let call = self.0.call(SetSimulationState::Request { state }, ANSWER_TIME);
        let answer = wait_for(ANSWER_TIME, || Call::take(&call)).and_then(Result::ok);
        let is_done = answer.is_some_and(|answer| DONE.contains(&answer.result.result));
        if is_done { Ok(()) } else { Err(Refusal::new(Code::RobotLost, hint)) }
    }
}

/// What a look finds within a minute of wall time, once nothing is missing; the log tells what is waited for.
pub(crate) fn discover<T>(mut look: impl FnMut() -> Result<Option<T>, &'static str>) -> Option<T> {
    let said = Throttle::new(NEWS);
    // What is missing at once is only not found yet.
    said.ready();
    wait_for(DISCOVERY, || match look() {
        Ok(found) => found,
        Err(missing) => {
            if said.ready() {
                info!("waiting for {missing}");
            }
            None
        }
    })
}

/// What a look finds, if it does in time.
#[expect(
    clippy::disallowed_methods,
    reason = "on a thread of its own, which has nothing else to do"
)]
pub(crate) fn wait_for<T>(patience: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + patience;
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if Instant::now() >= deadline {
            return None;
        }
        std::thread::sleep(LOOK);
    }
}
