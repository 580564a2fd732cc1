//! Units of the control table.
//!
//! Source: ROBOTIS e-Manual, pages of the X series. Currents differ by model: [`Model::current_unit`](super::Model::current_unit).

use std::f64::consts::TAU;

/// Counts of a turn. [-]
pub const COUNTS_PER_TURN: i32 = 4096;
/// Counts at which the horn is in the middle of its turn. [-]
const MIDDLE: f64 = 2048.0;
/// Velocity of one count: 0.229 rev/min. [rad/s]
pub const VELOCITY_UNIT: f64 = 0.229 * TAU / 60.0;
/// Acceleration of one count: 214.577 rev/min². [rad/s²]
pub const ACCELERATION_UNIT: f64 = 214.577 * TAU / 3600.0;
/// Duty of one count: 885 are all, 0.113 % each. [-]
pub const PWM_UNIT: f64 = 1.0 / 885.0;
/// Load of one count, of models that do not measure current. [-]
pub const LOAD_UNIT: f64 = 0.001;
/// Voltage of one count. [V]
pub const VOLTAGE_UNIT: f64 = 0.1;
/// Time of one count of the return delay. [s]
pub const RETURN_DELAY_UNIT: f64 = 2e-6;
/// Time of one count of the bus watchdog. [s]
pub const WATCHDOG_UNIT: f64 = 0.02;

/// Angle of a position, 0 in the middle of the turn. [rad]
pub fn radians(counts: i32) -> f64 {
    (f64::from(counts) - MIDDLE) * TAU / f64::from(COUNTS_PER_TURN)
}

/// Position of an angle, rounded. [-]
#[expect(clippy::cast_possible_truncation, reason = "saturates far outside of any servo's turns")]
pub fn counts(radians: f64) -> i32 {
    (radians * f64::from(COUNTS_PER_TURN) / TAU + MIDDLE).round() as i32
}
