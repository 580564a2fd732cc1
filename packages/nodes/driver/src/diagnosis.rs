//! Diagnostics of the robot, its bus and its servos.

use karakuri_hardware::{Fault, Health, HealthLevel, RobotIo};
use karakuri_ros::{Level, Status};

use crate::node::Driver;

/// Health of all parts now: the bus first, then the servos.
pub(crate) fn health(io: &impl RobotIo) -> Vec<Health> {
    let mut health = Vec::new();
    io.health(0, &mut health);
    health
}

/// Status of the gravest problem of the robot, or that all is well.
pub(crate) fn robot(driver: &mut Driver) -> Status {
    let io = driver.pacer.io();
    if let Some(Fault::Device { what }) = io.fault(0) {
        return Status::error(what);
    }
    let rivals = driver.rivals.look(driver.joints.sole());
    if let Some(rivals) = rivals {
        Status::warn(rivals)
    } else if driver.pacer.is_lost(0) {
        Status::warn("in hold: no joint_command")
    } else {
        Status::ok("running")
    }
}

/// Status of a part.
pub(crate) fn part(driver: &Driver, index: usize) -> Status {
    let mut all = health(driver.pacer.io());
    if index >= all.len() {
        return Status::new(Level::Stale, "nothing is known of it");
    }
    let part = all.swap_remove(index);
    let level = match part.level {
        HealthLevel::Ok => Level::Ok,
        HealthLevel::Warn => Level::Warn,
        HealthLevel::Error => Level::Error,
    };
    let what = if part.what.is_empty() { "well".to_owned() } else { part.what };
    let mut status = Status::new(level, what)
        .value("age_s", part.age)
        .value("errors", format!("{:#x}", part.errors));
    for (key, value) in [
        ("temperature_celsius", part.temperature),
        ("voltage_v", part.voltage),
        ("current_a", part.current),
    ] {
        if let Some(value) = value {
            status = status.value(key, format!("{value:.3}"));
        }
    }
    if let Some(time) = part.cycle_time {
        status = status
            .value("cycle_time_s", format!("{time:.6}"))
            .value("period_s", driver.pacer.io().period())
            .value("skipped_cycles", part.missed_deadlines);
    }
    status
}
