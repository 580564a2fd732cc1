//! Registers of the STS3215 and its siblings: 4096 steps a turn, words with the low byte first.

use super::registers::{ByteOrder, Model, Register, Unit, registers};

/// STS3215: 4096 steps a turn.
pub const STS3215: Model = Model {
    name: "sts3215",
    number: 777,
    order: ByteOrder::Little,
    has_sync_read: true,
    steps: 4096,
    range_deg: 360,
    registers: ALL,
    lock: LOCK,
};

registers! {
    /// Firmware, first number.
    FIRMWARE_MAJOR = Register::new("firmware_major", 0, 1).measured().factory(3);
    /// Firmware, second number.
    FIRMWARE_MINOR = Register::new("firmware_minor", 1, 1).measured().factory(10);
    /// Order of bytes: 0 is low byte first.
    BYTE_ORDER = Register::new("byte_order", 2, 1).measured();
    /// Kind of the servo.
    MODEL_NUMBER = Register::new("model_number", 3, 2).measured().factory(777);
    /// Id on the wire.
    ID = Register::new("id", 5, 1).range(0, 253).factory(1);
    /// Code of the baud rate.
    BAUD_RATE = Register::new("baud_rate", 6, 1).range(0, 7);
    /// Silence before an answer.
    ANSWER_DELAY = Register::new("answer_delay", 7, 1).range(0, 254).factory(250).unit(Unit::TwoMicroseconds);
    /// 0 answers pings and reads only, 1 writes also.
    ANSWER_LEVEL = Register::new("answer_level", 8, 1).range(0, 1).factory(1);
    /// Least goal; 0 together with the greatest of 0 lets goals go over several turns.
    MIN_POSITION = Register::new("min_position", 9, 2).signed(15).unit(Unit::Position);
    /// Greatest goal.
    MAX_POSITION = Register::new("max_position", 11, 2).signed(15).factory(4095).unit(Unit::Position);
    /// Temperature above which it sets the alarm.
    MAX_TEMPERATURE = Register::new("max_temperature", 13, 1).range(0, 100).factory(70).unit(Unit::Temperature);
    /// Supply above which it sets the alarm.
    MAX_VOLTAGE = Register::new("max_voltage", 14, 1).range(0, 254).factory(140).unit(Unit::Voltage);
    /// Supply below which it sets the alarm.
    MIN_VOLTAGE = Register::new("min_voltage", 15, 1).range(0, 254).factory(40).unit(Unit::Voltage);
    /// Torque limit that it starts with.
    MAX_TORQUE = Register::new("max_torque", 16, 2).range(0, 1000).factory(1000).unit(Unit::PerMille);
    /// Bits: 0 direction, 2 unit of speed, 4 feedback over several turns, 7 direction of the feedback.
    PHASE = Register::new("phase", 18, 1).factory(12);
    /// Alarms that let the motor go.
    UNLOAD_MASK = Register::new("unload_mask", 19, 1).factory(0x2C);
    /// Alarms that light the lamp.
    LED_MASK = Register::new("led_mask", 20, 1).factory(0x2F);
    /// Proportional gain of the position.
    P_GAIN = Register::new("p_gain", 21, 1).range(0, 254).factory(32);
    /// Derivative gain of the position.
    D_GAIN = Register::new("d_gain", 22, 1).range(0, 254).factory(32);
    /// Integral gain of the position.
    I_GAIN = Register::new("i_gain", 23, 1).range(0, 254);
    /// Least torque that it starts to move with.
    MIN_START_FORCE = Register::new("min_start_force", 24, 2).range(0, 1000).factory(16).unit(Unit::PerMille);
    /// Error that it accepts on one side.
    CW_DEAD_ZONE = Register::new("cw_dead_zone", 26, 1).range(0, 32).factory(1).unit(Unit::Distance);
    /// Error that it accepts on the other side.
    CCW_DEAD_ZONE = Register::new("ccw_dead_zone", 27, 1).range(0, 32).factory(1).unit(Unit::Distance);
    /// Current that it protects itself from.
    PROTECTION_CURRENT = Register::new("protection_current", 28, 2).range(0, 511).factory(500).unit(Unit::Current);
    /// Factor of the steps, for goals over several turns.
    ANGULAR_RESOLUTION = Register::new("angular_resolution", 30, 1).range(1, 100).factory(1);
    /// What is taken off the sensor's reading: position = (reading − offset) mod 4096.
    OFFSET = Register::new("offset", 31, 2).signed(11).unit(Unit::Distance);
    /// 0 position, 1 wheel at a speed, 2 PWM, 3 step by step.
    MODE = Register::new("mode", 33, 1).range(0, 3);
    /// Torque that is left after an overload.
    PROTECTIVE_TORQUE = Register::new("protective_torque", 34, 1).range(0, 100).factory(20).unit(Unit::Percent);
    /// How long a load must last to be an overload.
    PROTECTION_TIME = Register::new("protection_time", 35, 1).range(0, 254).factory(200).unit(Unit::TenMilliseconds);
    /// Load from which on it may be an overload.
    OVERLOAD_TORQUE = Register::new("overload_torque", 36, 1).range(0, 100).factory(80).unit(Unit::Percent);
    /// Proportional gain of the speed.
    SPEED_P_GAIN = Register::new("speed_p_gain", 37, 1).range(0, 100).factory(10);
    /// How long a current above the protection's must last.
    OVERCURRENT_TIME = Register::new("overcurrent_time", 38, 1).range(0, 254).factory(200).unit(Unit::TenMilliseconds);
    /// Integral gain of the speed.
    SPEED_I_GAIN = Register::new("speed_i_gain", 39, 1).range(0, 254).factory(10);
    /// 0 off, 1 on, 128 makes this place the middle, 2048.
    TORQUE_ENABLE = Register::new("torque_enable", 40, 1).range(0, 128);
    /// Acceleration; 0 is as fast as it can.
    ACCELERATION = Register::new("acceleration", 41, 1).range(0, 254).unit(Unit::Acceleration);
    /// Where to go; setting it switches torque on.
    GOAL_POSITION = Register::new("goal_position", 42, 2).signed(15).factory(2048).unit(Unit::Position);
    /// Duty in PWM mode, and no time there.
    GOAL_TIME = Register::new("goal_time", 44, 2).signed(10).range(-1000, 1000).unit(Unit::PerMille);
    /// Speed of the wheel, or of a move; there 0 is as fast as it can.
    GOAL_SPEED = Register::new("goal_speed", 46, 2).signed(15).unit(Unit::Speed);
    /// Torque limit of now.
    TORQUE_LIMIT = Register::new("torque_limit", 48, 2).range(0, 1000).factory(1000).unit(Unit::PerMille);
    /// 0 lets kept registers be set; otherwise what is written to them is lost without a word.
    LOCK = Register::new("lock", 55, 1).range(0, 1).factory(1);
    /// Where it is.
    PRESENT_POSITION = Register::new("present_position", 56, 2).signed(15).measured().unit(Unit::Position);
    /// How fast it is.
    PRESENT_SPEED = Register::new("present_speed", 58, 2).signed(15).measured().unit(Unit::Speed);
    /// Duty of the motor.
    PRESENT_LOAD = Register::new("present_load", 60, 2).signed(10).measured().unit(Unit::PerMille);
    /// Supply.
    PRESENT_VOLTAGE = Register::new("present_voltage", 62, 1).measured().unit(Unit::Voltage);
    /// Temperature inside.
    PRESENT_TEMPERATURE = Register::new("present_temperature", 63, 1).measured().unit(Unit::Temperature);
    /// Whether a reg write waits for its action.
    REG_WRITE_PENDING = Register::new("reg_write_pending", 64, 1).measured();
    /// Alarm bits.
    STATUS = Register::new("status", 65, 1).measured();
    /// Whether it is on the move.
    MOVING = Register::new("moving", 66, 1).measured();
    /// Current of the motor.
    PRESENT_CURRENT = Register::new("present_current", 69, 2).signed(15).measured().unit(Unit::Current);
    /// Speed below which it says that it rests, in 50 steps a second.
    MOVING_THRESHOLD = Register::new("moving_threshold", 80, 1).factory(1);
    /// Period of the derivative gain.
    DERIVATIVE_TIME = Register::new("derivative_time", 81, 1).factory(10).unit(Unit::Millisecond);
    /// Factor of the speed.
    SPEED_FACTOR = Register::new("speed_factor", 82, 1).factory(1);
    /// Greatest speed, in 50 steps a second.
    MAX_SPEED = Register::new("max_speed", 84, 1).factory(67);
    /// Greatest acceleration; 0 is none.
    MAX_ACCELERATION = Register::new("max_acceleration", 85, 1).range(0, 254).factory(254).unit(Unit::Acceleration);
    /// Factor of the acceleration where that is 0.
    ACCELERATION_FACTOR = Register::new("acceleration_factor", 86, 1).factory(1);
}
