//! Registers of the SCS0009: 1024 steps over 300°, words with the high byte first. What it shares with the STS is there.

use super::registers::{ByteOrder, Model, Register, Unit, registers};
use super::sts;

/// SCS0009: 1024 steps over 300°.
pub const SCS0009: Model = Model {
    name: "scs0009",
    number: 1284,
    order: ByteOrder::Big,
    has_sync_read: false,
    steps: 1024,
    range_deg: 300,
    registers: ALL,
    lock: LOCK,
};

registers! {
    /// As [`sts::FIRMWARE_MAJOR`].
    FIRMWARE_MAJOR = sts::FIRMWARE_MAJOR;
    /// As [`sts::FIRMWARE_MINOR`].
    FIRMWARE_MINOR = sts::FIRMWARE_MINOR;
    /// Order of bytes: 1 is high byte first.
    BYTE_ORDER = sts::BYTE_ORDER.factory(1);
    /// As [`sts::MODEL_NUMBER`].
    MODEL_NUMBER = sts::MODEL_NUMBER.factory(1284);
    /// As [`sts::ID`].
    ID = sts::ID;
    /// As [`sts::BAUD_RATE`].
    BAUD_RATE = sts::BAUD_RATE;
    /// As [`sts::ANSWER_DELAY`].
    ANSWER_DELAY = sts::ANSWER_DELAY;
    /// As [`sts::ANSWER_LEVEL`].
    ANSWER_LEVEL = sts::ANSWER_LEVEL;
    /// Least goal.
    MIN_POSITION = Register::new("min_position", 9, 2).range(0, 1023).factory(20).unit(Unit::Position);
    /// Greatest goal.
    MAX_POSITION = Register::new("max_position", 11, 2).range(0, 1023).factory(1003).unit(Unit::Position);
    /// As [`sts::MAX_TEMPERATURE`].
    MAX_TEMPERATURE = sts::MAX_TEMPERATURE;
    /// As [`sts::MAX_VOLTAGE`].
    MAX_VOLTAGE = sts::MAX_VOLTAGE.factory(90);
    /// As [`sts::MIN_VOLTAGE`].
    MIN_VOLTAGE = sts::MIN_VOLTAGE;
    /// As [`sts::MAX_TORQUE`].
    MAX_TORQUE = sts::MAX_TORQUE;
    /// Bit 0: direction.
    PHASE = sts::PHASE;
    /// As [`sts::UNLOAD_MASK`].
    UNLOAD_MASK = sts::UNLOAD_MASK;
    /// As [`sts::LED_MASK`].
    LED_MASK = sts::LED_MASK;
    /// As [`sts::P_GAIN`].
    P_GAIN = sts::P_GAIN;
    /// As [`sts::D_GAIN`].
    D_GAIN = sts::D_GAIN;
    /// As [`sts::I_GAIN`].
    I_GAIN = sts::I_GAIN;
    /// As [`sts::MIN_START_FORCE`].
    MIN_START_FORCE = sts::MIN_START_FORCE;
    /// As [`sts::CW_DEAD_ZONE`].
    CW_DEAD_ZONE = sts::CW_DEAD_ZONE;
    /// As [`sts::CCW_DEAD_ZONE`].
    CCW_DEAD_ZONE = sts::CCW_DEAD_ZONE;
    /// As [`sts::PROTECTIVE_TORQUE`], at another address.
    PROTECTIVE_TORQUE = Register { address: 37, ..sts::PROTECTIVE_TORQUE };
    /// As [`sts::PROTECTION_TIME`], at another address.
    PROTECTION_TIME = Register { address: 38, ..sts::PROTECTION_TIME };
    /// As [`sts::OVERLOAD_TORQUE`], at another address.
    OVERLOAD_TORQUE = Register { address: 39, ..sts::OVERLOAD_TORQUE };
    /// 0 off, 1 on.
    TORQUE_ENABLE = sts::TORQUE_ENABLE.range(0, 1);
    /// Where to go; setting it switches torque on.
    GOAL_POSITION = Register::new("goal_position", 42, 2).range(0, 1023).factory(512).unit(Unit::Position);
    /// How long a move takes; 0 leaves it to the speed.
    GOAL_TIME = Register::new("goal_time", 44, 2).range(0, 9999).unit(Unit::Millisecond);
    /// Speed of a move; 0 is as fast as it can.
    GOAL_SPEED = Register::new("goal_speed", 46, 2).range(0, 1000).unit(Unit::Speed);
    /// As [`sts::LOCK`], at another address.
    LOCK = Register { address: 48, ..sts::LOCK };
    /// Where it is.
    PRESENT_POSITION = Register::new("present_position", 56, 2).measured().unit(Unit::Position);
    /// As [`sts::PRESENT_SPEED`].
    PRESENT_SPEED = sts::PRESENT_SPEED;
    /// As [`sts::PRESENT_LOAD`].
    PRESENT_LOAD = sts::PRESENT_LOAD;
    /// As [`sts::PRESENT_VOLTAGE`].
    PRESENT_VOLTAGE = sts::PRESENT_VOLTAGE;
    /// As [`sts::PRESENT_TEMPERATURE`].
    PRESENT_TEMPERATURE = sts::PRESENT_TEMPERATURE;
    /// As [`sts::REG_WRITE_PENDING`].
    REG_WRITE_PENDING = sts::REG_WRITE_PENDING;
    /// As [`sts::STATUS`].
    STATUS = sts::STATUS;
    /// As [`sts::MOVING`].
    MOVING = sts::MOVING;
}
