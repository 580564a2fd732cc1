//! Quality of service by use. A reliable publisher reaches every subscriber, so all publishers here are reliable.

use std::time::Duration;

pub use r2r::QosProfile as Qos;

/// Robot state (`joint_states`, `wrench/*`, `imu/*`): reliable, depth 10.
pub fn state() -> Qos {
    Qos::default().keep_last(10).reliable().volatile()
}

/// Commands and references where each one counts (`joint_command`, trajectories): reliable, depth 10.
pub fn command() -> Qos {
    Qos::default().keep_last(10).reliable().volatile()
}

/// One value that late joiners get too (`robot_description`, `/tf_static`): reliable, transient local, depth 1.
pub fn latched() -> Qos {
    Qos::default().keep_last(1).reliable().transient_local()
}

/// Subscription to latched values of several publishers (`/tf_static`): reliable, transient local, depth 100.
pub fn latched_many() -> Qos {
    Qos::default().keep_last(100).reliable().transient_local()
}

/// Publisher of `/clock`: reliable, depth 10. Subscribing is the node's own affair, see the parameter `use_sim_time`.
pub fn clock() -> Qos {
    Qos::default().keep_last(10).reliable().volatile()
}

/// `/tf`: reliable, depth 100.
pub fn tf() -> Qos {
    Qos::default().keep_last(100).reliable().volatile()
}

/// Subscription to high-rate data of others, where a lost sample does not matter: best effort, depth 5.
pub fn sensor() -> Qos {
    Qos::sensor_data()
}

/// Subscription to samples and commands, which come at every period: in lockstep each one is waited for, so reliable; else a
/// newer one replaces a lost one before it could be sent again, so best effort, which saves both sides the acknowledgements (a
/// third of the middleware's time at 1 kHz). Depth 10.
pub fn samples(lockstep: bool) -> Qos {
    if lockstep { state() } else { Qos::default().keep_last(10).best_effort().volatile() }
}

/// Subscription to each of many samples or commands, none of which may be lost: reliable, depth 10 000.
pub fn each() -> Qos {
    Qos::default().keep_last(10_000).reliable().volatile()
}

/// Services: reliable, depth 10.
pub(crate) fn service() -> Qos {
    Qos::services_default()
}

/// `/parameter_events`: reliable, depth 1000.
pub(crate) fn parameter_events() -> Qos {
    Qos::parameter_events()
}

/// `/rosout`: reliable, transient local, depth 1000, kept for 10 s.
pub(crate) fn rosout() -> Qos {
    Qos::default().keep_last(1000).reliable().transient_local().lifespan(Duration::from_secs(10))
}
