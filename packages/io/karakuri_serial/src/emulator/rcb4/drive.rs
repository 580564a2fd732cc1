//! Servos by their records in RAM, once a frame.
//!
//! A move takes so many frames: each brings the reference nearer to the goal by an equal step, and the servo is sent to reference plus
//! trim. Free and hold act at once, but their frames are counted down too. A servo without torque is not moved.

use super::memory::Memory;
use super::{SERVOS, Servo};
use crate::codec::ics::{
    counts_from_angle, current_from_byte, position_from_counts, temperature_from_byte,
};
use crate::codec::rcb4::memory::{
    CONFIGURATION, Configuration, ICS_TABLE, RECORDS, record, record_of,
};
use crate::codec::rcb4::{Goal, ServoParameter};
use crate::emulator::Trouble;

/// Baud rate of the servos; the board reaches them only when it is set to the same. [bit/s]
const ICS_BAUD: u32 = 1_250_000;

/// Begins a move of so many frames.
pub(super) fn begin_move(memory: &mut Memory, servo: usize, frames: u8, goal: Goal) {
    let address = address_of(memory, servo).unwrap_or_else(|| record_of(servo));
    let reference = Goal::from_word(memory.word(address + record::REFERENCE));
    let start = match (goal, reference) {
        (Goal::Position(_), Goal::Free) => return,
        (Goal::Position(_), Goal::Hold) => memory.word(address + record::PRESENT),
        (Goal::Position(_), Goal::Position(counts)) => counts,
        (Goal::Hold | Goal::Free, _) => goal.word(),
    };
    let frames = frames.max(1);
    memory.set_word(address + record::REFERENCE, start);
    memory.set_word(address + record::GOAL, goal.word());
    memory.store(address + record::STEPS_LEFT, &[frames]);
    memory.store(address + record::STEPS, &[frames]);
}

/// Whether a servo has not arrived yet.
pub(super) fn is_moving(memory: &Memory, servo: usize) -> bool {
    address_of(memory, servo).is_some_and(|a| memory.byte(a + record::STEPS_LEFT) != 0)
}

/// Does one frame.
pub(super) fn drive(memory: &mut Memory, plugged: &[Option<usize>; SERVOS], servos: &mut [Servo]) {
    let configuration = Configuration(memory.word(CONFIGURATION));
    if !configuration.has(Configuration::ICS) {
        return;
    }
    let is_heard = configuration.ics_baud() == Some(ICS_BAUD);
    for (number, index) in plugged.iter().enumerate() {
        let Some(address) = address_of(memory, number) else { continue };
        step(memory, address);
        let servo = index.and_then(|index| servos.get_mut(index));
        if let Some(servo) = servo.filter(|servo| is_heard && !servo.has(Trouble::Gone)) {
            send(memory, address, servo);
        }
    }
}

/// Sets a parameter of a servo.
pub(super) fn set(servo: &mut Servo, parameter: ServoParameter, value: u8) {
    let value_of = f64::from(value);
    match parameter {
        // Stiffness makes no difference here.
        ServoParameter::Stretch => {}
        ServoParameter::Speed => servo.speed_limit = servo.rating.no_load_speed * value_of / 127.0,
        ServoParameter::CurrentLimit => servo.limits.current = current_from_byte(value),
        ServoParameter::TemperatureLimit => {
            servo.limits.temperature = temperature_from_byte(value);
        }
    }
}

/// Address of the record that the ICS table names for a servo, if any.
fn address_of(memory: &Memory, servo: usize) -> Option<u16> {
    let entry = ICS_TABLE + 2 * u16::try_from(servo).ok()?;
    // What the host may have written there besides the address of a record is no servo's, as `UNASSIGNED` is none's.
    Some(memory.word(entry)).filter(|address| (RECORDS..=record_of(SERVOS - 1)).contains(address))
}

/// Brings the reference one step nearer to the goal.
fn step(memory: &mut Memory, address: u16) {
    let left = memory.byte(address + record::STEPS_LEFT);
    if left == 0 {
        return;
    }
    let goal = Goal::from_word(memory.word(address + record::GOAL));
    let reference = Goal::from_word(memory.word(address + record::REFERENCE));
    if let (Goal::Position(goal), Goal::Position(reference)) = (goal, reference) {
        let ahead = (i32::from(goal) - i32::from(reference)) / i32::from(left);
        let next = if left == 1 { i32::from(goal) } else { i32::from(reference) + ahead };
        memory.set_word(address + record::REFERENCE, u16::try_from(next).unwrap_or(goal));
    }
    memory.store(address + record::STEPS_LEFT, &[left - 1]);
}

/// Sends a servo where its record says, and takes where it is.
fn send(memory: &mut Memory, address: u16, servo: &mut Servo) {
    let trim = memory.word(address + record::TRIM).cast_signed();
    match Goal::from_word(memory.word(address + record::REFERENCE)) {
        Goal::Free => servo.torque_on = false,
        Goal::Hold => {
            if !servo.torque_on {
                servo.goal = servo.position;
                servo.clear_overload();
            }
            servo.torque_on = true;
        }
        Goal::Position(counts) => {
            servo.goal = position_from_counts(counts.saturating_add_signed(trim));
            servo.torque_on = true;
        }
    }
    let present = counts_from_angle(servo.position).saturating_add_signed(-trim);
    memory.set_word(address + record::PRESENT, present);
}
