//! Results of `simulation_interfaces`, and outcomes of our own services.

use karakuri_physics::WorldError;
use karakuri_ros::msg::simulation_interfaces::msg::Result as Outcome;

use crate::codes::result;

/// Outcome of a success.
pub(crate) fn ok() -> Outcome {
    Outcome { result: result::OK, error_message: String::new() }
}

/// Outcome of a failure, with a code of the service and a sentence.
pub(crate) fn failed(code: u8, message: impl Into<String>) -> Outcome {
    Outcome { result: code, error_message: message.into() }
}

/// Success flag and reason of a failure, as our own services have them.
pub(crate) fn outcome(result: Result<(), String>) -> (bool, String) {
    result.map_or_else(|why| (false, why), |()| (true, String::new()))
}

/// Prefixes the error of a request with the key that it is about.
pub(crate) fn at(key: &str) -> impl Fn(WorldError) -> String + '_ {
    move |error| format!("{key}: {error}")
}
