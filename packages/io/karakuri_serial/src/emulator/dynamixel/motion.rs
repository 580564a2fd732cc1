//! Between the numbers of a control table and the electromechanics of a servo.

use std::f64::consts::TAU;

use super::memory::Memory;
use crate::codec::dynamixel::{
    ACCELERATION_UNIT, COUNTS_PER_TURN, LOAD_UNIT, Mode, PWM_UNIT, VELOCITY_UNIT, VOLTAGE_UNIT,
    counts, radians, register as r,
};
use crate::emulator::servo::{self, Limits, Rating, Servo};

const REVERSED: i32 = 0b0001;
const BY_TIME: i32 = 0b0100;
/// Acceleration of a shaft without load, by the order of magnitude of a small gear motor. [rad/s²]
const ACCELERATION: f64 = 300.0;
/// Distance from the goal within which a servo counts as arrived. [rad]
const ARRIVED: f64 = 0.01;
/// Distance from its profile beyond which it counts as left behind. [rad]
const LEFT_BEHIND: f64 = 0.2;

/// What the model can do.
pub(super) fn rating(memory: &Memory) -> Rating {
    let model = memory.model;
    Rating {
        no_load_speed: model.no_load_speed,
        stall_torque: model.stall_torque,
        stall_current: model.stall_current,
        voltage: model.voltage,
        acceleration: ACCELERATION,
        stops: [f64::NEG_INFINITY, f64::INFINITY],
    }
}

/// Where the shaft is, in the register's direction and turns.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Turns {
    /// Turns that the position does not count any more.
    forgotten: i32,
}

impl Turns {
    /// Register value of an angle [rad].
    pub(super) fn position(self, memory: &Memory, angle: f64) -> i32 {
        let counted = angle - f64::from(self.forgotten) * TAU;
        counts(counted * direction(memory)) + offset(memory)
    }

    /// Angle of a register value. [rad]
    fn angle(self, memory: &Memory, position: i32) -> f64 {
        let counted = radians(position.saturating_sub(offset(memory))) * direction(memory);
        counted + f64::from(self.forgotten) * TAU
    }

    /// Counts turns from an angle [rad] on: its position becomes one within a turn.
    pub(super) fn forget(&mut self, angle: f64) {
        let position = counts(angle);
        self.forgotten = position.div_euclid(COUNTS_PER_TURN);
    }
}

fn direction(memory: &Memory) -> f64 {
    if memory.get(r::DRIVE_MODE) & REVERSED == 0 { 1.0 } else { -1.0 }
}

/// The homing offset; within a turn, one above a quarter is ignored.
fn offset(memory: &Memory) -> i32 {
    let offset = memory.get(r::HOMING_OFFSET);
    let is_ignored = mode(memory) == Mode::Position && offset.abs() > COUNTS_PER_TURN / 4;
    if is_ignored { 0 } else { offset }
}

/// What goals mean now.
pub(super) fn mode(memory: &Memory) -> Mode {
    Mode::of(memory.get(r::OPERATING_MODE)).unwrap_or(Mode::Position)
}

/// Hands the goals to the drive, and the limits to what watches it.
pub(super) fn drive(memory: &Memory, turns: Turns, servo: &mut Servo) {
    let get = |register| f64::from(memory.get(register));
    let direction = direction(memory);
    let duty = get(r::GOAL_PWM) * PWM_UNIT;
    let stall_current = servo.rating.stall_current;
    let current = memory.model.current_unit.map_or(0.0, |unit| get(r::GOAL_CURRENT) * unit);
    let current_share = (current.abs() / stall_current).min(1.0);
    servo.torque_on = memory.get(r::TORQUE_ENABLE) == 1;
    servo.torque_limit = 1.0;
    (servo.speed_limit, servo.acceleration_limit) = (f64::INFINITY, f64::INFINITY);
    match mode(memory) {
        Mode::Position | Mode::ExtendedPosition => {
            position(memory, turns, servo);
            servo.torque_limit = duty.abs();
        }
        Mode::CurrentBasedPosition => {
            position(memory, turns, servo);
            servo.torque_limit = duty.abs().min(current_share);
        }
        Mode::Velocity => {
            servo.mode = servo::Mode::Velocity;
            servo.goal_velocity = get(r::GOAL_VELOCITY) * VELOCITY_UNIT * direction;
            let change = servo.goal_velocity - servo.velocity;
            servo.acceleration_limit = acceleration(memory, change.abs(), f64::INFINITY);
        }
        // A torque drives the shaft up to the speed that the motor has without load.
        Mode::Current => {
            servo.mode = servo::Mode::Velocity;
            servo.goal_velocity = servo.rating.no_load_speed.copysign(current * direction);
            servo.torque_limit = current_share;
        }
        Mode::Pwm => {
            servo.mode = servo::Mode::Duty;
            servo.goal_duty = duty * direction;
        }
    }
    servo.limits = Limits {
        temperature: get(r::TEMPERATURE_LIMIT),
        voltage: [get(r::MIN_VOLTAGE_LIMIT), get(r::MAX_VOLTAGE_LIMIT)].map(|v| v * VOLTAGE_UNIT),
        ..Limits::default()
    };
}

/// A goal position, and the profile by which it is reached.
fn position(memory: &Memory, turns: Turns, servo: &mut Servo) {
    servo.mode = servo::Mode::Position;
    servo.goal = turns.angle(memory, memory.get(r::GOAL_POSITION));
    let velocity = f64::from(memory.get(r::PROFILE_VELOCITY));
    if velocity <= 0.0 {
        return;
    }
    let distance = (servo.goal - servo.setpoint()).abs();
    if memory.get(r::DRIVE_MODE) & BY_TIME == 0 {
        servo.speed_limit = velocity * VELOCITY_UNIT;
        servo.acceleration_limit = acceleration(memory, servo.speed_limit, f64::INFINITY);
    } else {
        // A trapezoid over all of the time: it covers the distance at full speed in all but one of its ramps.
        let duration = velocity * 1e-3;
        let ramp = (f64::from(memory.get(r::PROFILE_ACCELERATION)) * 1e-3).min(0.5 * duration);
        servo.speed_limit = distance / (duration - ramp);
        servo.acceleration_limit = acceleration(memory, servo.speed_limit, 0.5 * duration);
    }
}

/// Acceleration of a profile that changes the velocity by `change` [rad/s], in `longest` [s] at most. [rad/s²]
fn acceleration(memory: &Memory, change: f64, longest: f64) -> f64 {
    let setting = f64::from(memory.get(r::PROFILE_ACCELERATION));
    if setting <= 0.0 {
        f64::INFINITY
    } else if memory.get(r::DRIVE_MODE) & BY_TIME == 0 {
        setting * ACCELERATION_UNIT
    } else {
        change / (setting * 1e-3).min(longest)
    }
}

/// Writes what the servo feels into the registers that show it, at a time [s].
pub(super) fn feel(memory: &mut Memory, turns: Turns, servo: &Servo, now: f64) {
    let direction = direction(memory);
    let in_velocity = |speed: f64| rounded(speed * direction / VELOCITY_UNIT);
    let load = servo.load();
    let current = match memory.model.current_unit {
        Some(unit) => servo.current / unit,
        None => load / LOAD_UNIT,
    };
    let duty =
        if servo.is_driven() { load + servo.velocity / servo.rating.no_load_speed } else { 0.0 };
    let moves = servo.velocity.abs() / VELOCITY_UNIT > f64::from(memory.get(r::MOVING_THRESHOLD));
    memory.set(r::REALTIME_TICK, rounded((now * 1e3).rem_euclid(32_768.0).floor()));
    memory.set(r::MOVING, moves.into());
    memory.set(r::MOVING_STATUS, moving_status(memory, servo));
    memory.set(r::PRESENT_PWM, rounded((duty * direction).clamp(-1.0, 1.0) / PWM_UNIT));
    memory.set(r::PRESENT_CURRENT, rounded(current * direction));
    memory.set(r::PRESENT_VELOCITY, in_velocity(servo.velocity));
    memory.set(r::PRESENT_POSITION, turns.position(memory, servo.position));
    memory.set(r::VELOCITY_TRAJECTORY, in_velocity(servo.setpoint_velocity()));
    memory.set(r::POSITION_TRAJECTORY, turns.position(memory, servo.setpoint()));
    memory.set(r::PRESENT_INPUT_VOLTAGE, rounded(servo.voltage / VOLTAGE_UNIT));
    memory.set(r::PRESENT_TEMPERATURE, rounded(servo.temperature));
}

fn moving_status(memory: &Memory, servo: &Servo) -> i32 {
    if servo.mode != servo::Mode::Position || !servo.is_driven() {
        return 0;
    }
    let has = |register| memory.get(register) != 0;
    let profile = match (has(r::PROFILE_VELOCITY), has(r::PROFILE_ACCELERATION)) {
        (false, _) => 0,
        (true, false) => 0x10,
        (true, true) => 0x30,
    };
    let arrived = (servo.goal - servo.position).abs() < ARRIVED;
    let goes_on = servo.setpoint_velocity() != 0.0;
    let is_behind = (servo.setpoint() - servo.position).abs() > LEFT_BEHIND;
    profile | i32::from(arrived) | i32::from(goes_on) << 1 | i32::from(is_behind) << 3
}

#[expect(clippy::cast_possible_truncation, reason = "saturates beyond what a register holds")]
fn rounded(number: f64) -> i32 {
    number.round() as i32
}
