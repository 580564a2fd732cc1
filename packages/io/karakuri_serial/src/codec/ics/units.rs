//! Units of ICS: counts, 0.1 A, and a thermistor's byte.

use std::f64::consts::PI;

/// The middle. [counts]
pub const CENTRE: u16 = 7500;
/// Least position, −135°. [counts]
pub const MIN_COUNTS: u16 = 3500;
/// Greatest position, +135°. [counts]
pub const MAX_COUNTS: u16 = 11500;
/// 4000 counts for 135° (Kondo, ICS 3.5 software manual). [counts/rad]
pub const COUNTS_PER_RADIAN: f64 = 4000.0 / (0.75 * PI);

/// Bytes of the thermistor and their temperatures, the hotter the smaller. [°C] The table in the package rcb4, at its knees.
const THERMISTOR: [(f64, f64); 5] =
    [(0.0, 118.0), (30.0, 100.0), (60.0, 80.0), (90.0, 57.5), (127.0, 26.7)];

/// Position of an angle from the middle [rad], within what a servo takes. [counts]
pub fn counts_from_angle(angle: f64) -> u16 {
    let counts = f64::from(CENTRE) + angle * COUNTS_PER_RADIAN;
    let counts = counts.round().clamp(MIN_COUNTS.into(), MAX_COUNTS.into());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped above")]
    let counts = counts as u16;
    counts
}

/// Angle from the middle of a position. [rad]
pub fn position_from_counts(counts: u16) -> f64 {
    (f64::from(counts) - f64::from(CENTRE)) / COUNTS_PER_RADIAN
}

/// Current of its byte: 0 to 63 forward, from 64 on backward. [A]
pub fn current_from_byte(byte: u8) -> f64 {
    let magnitude = f64::from(byte & 0x3f) / 10.0;
    if byte & 0x40 == 0 { magnitude } else { -magnitude }
}

/// Byte of a current. [A]
pub fn byte_from_current(current: f64) -> u8 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let magnitude = (current.abs() * 10.0).round().min(63.0) as u8;
    if current < 0.0 && magnitude > 0 { magnitude | 0x40 } else { magnitude }
}

/// Temperature of its byte. [°C]
pub fn temperature_from_byte(byte: u8) -> f64 {
    interpolate(f64::from(byte & 0x7f), |(byte, temperature)| (byte, temperature))
}

/// Byte of a temperature. [°C]
pub fn byte_from_temperature(temperature: f64) -> u8 {
    let byte = interpolate(-temperature, |(byte, temperature)| (-temperature, byte));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let byte = byte.round().clamp(0.0, 127.0) as u8;
    byte
}

/// The table at `x`, read as pairs `(x, y)` of rising x; its ends beyond them.
fn interpolate(x: f64, read: impl Fn((f64, f64)) -> (f64, f64)) -> f64 {
    let mut last = read(THERMISTOR[0]);
    for next in THERMISTOR.into_iter().map(read) {
        if x <= next.0 {
            let share = if next.0 > last.0 { (x - last.0) / (next.0 - last.0) } else { 0.0 };
            return last.1 + share.max(0.0) * (next.1 - last.1);
        }
        last = next;
    }
    last.1
}
