//! The control table that all servos of the X series share; what differs is in [`super::Model`].

/// A register of a control table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Register {
    /// Name, as in the maker's manual.
    pub name: &'static str,
    /// Address of its first byte.
    pub address: u16,
    /// Number of bytes: 1, 2 or 4.
    pub size: u8,
    /// Whether it can be written.
    pub access: Access,
    /// What can be written.
    pub values: Values,
    /// Value as it leaves the factory, or after power-up where it is not kept.
    pub initial: i32,
}

/// Whether a register can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It can only be read.
    Read,
    /// It can be read and written.
    Write,
}

/// What can be written to a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// Anything.
    Any,
    /// From `least` to `most`.
    Between {
        /// Least.
        least: i32,
        /// Most.
        most: i32,
    },
    /// These alone.
    OneOf(&'static [i32]),
    /// These bits alone.
    Bits(i32),
    /// Up to the value of the register at this address, in both directions.
    UpTo(u16),
    /// A position: within its limits, or a few hundred turns in modes that count turns.
    Position,
}

impl Register {
    const fn read(name: &'static str, address: u16, size: u8) -> Self {
        Self { name, address, size, access: Access::Read, values: Values::Any, initial: 0 }
    }

    const fn write(name: &'static str, address: u16, size: u8, values: Values) -> Self {
        Self { name, address, size, access: Access::Write, values, initial: 0 }
    }

    /// The same with another initial value.
    pub(super) const fn initially(self, initial: i32) -> Self {
        Self { initial, ..self }
    }

    /// The same with other values.
    pub(super) const fn taking(self, values: Values) -> Self {
        Self { values, ..self }
    }

    /// The same with another name.
    pub(super) const fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// Whether it is a setting: kept without power, and written with torque off only.
    pub fn is_setting(&self) -> bool {
        self.address < 64
    }

    /// Address after its last byte.
    pub fn end(&self) -> u16 {
        self.address + u16::from(self.size)
    }

    /// The number that its bytes are; 0 where they are more or fewer than it has.
    pub fn value(&self, bytes: &[u8]) -> i32 {
        match *bytes {
            [a] if self.size == 1 => i32::from(a),
            [a, b] if self.size == 2 && self.is_signed() => i32::from(i16::from_le_bytes([a, b])),
            [a, b] if self.size == 2 => i32::from(u16::from_le_bytes([a, b])),
            [a, b, c, d] if self.size == 4 => i32::from_le_bytes([a, b, c, d]),
            _ => 0,
        }
    }

    /// Whether a word is negative where its first bit is set; that of one and four bytes is the same either way.
    fn is_signed(&self) -> bool {
        matches!(self.values, Values::UpTo(_))
            || matches!(self.address, register::PRESENT_PWM_AT | register::PRESENT_CURRENT_AT)
    }
}

const fn between(least: i32, most: i32) -> Values {
    Values::Between { least, most }
}

/// The registers, by name.
pub mod register {
    use super::{Register, Values, between};

    pub(super) const PRESENT_PWM_AT: u16 = 124;
    pub(super) const PRESENT_CURRENT_AT: u16 = 126;
    const SWITCH: Values = between(0, 1);
    const GAIN: Values = between(0, 16_383);
    const PROFILE: Values = between(0, 32_767);

    /// Type of the servo.
    pub const MODEL_NUMBER: Register = Register::read("model_number", 0, 2);
    const MODEL_INFORMATION: Register = Register::read("model_information", 2, 4);
    /// Version of its program.
    pub const FIRMWARE_VERSION: Register = Register::read("firmware_version", 6, 1);
    /// Number on the bus.
    pub const ID: Register = Register::write("id", 7, 1, between(0, 252)).initially(1);
    /// Index into [`BAUD_RATES`](super::super::BAUD_RATES).
    pub const BAUD_RATE: Register = Register::write("baud_rate", 8, 1, between(0, 7)).initially(1);
    /// Time before an answer, in units of [`RETURN_DELAY_UNIT`](super::super::RETURN_DELAY_UNIT).
    pub const RETURN_DELAY_TIME: Register =
        Register::write("return_delay_time", 9, 1, between(0, 254)).initially(250);
    /// Bit 0: reversed; 2: profiles by time; 3: a goal switches torque on.
    pub const DRIVE_MODE: Register = Register::write("drive_mode", 10, 1, Values::Bits(0b1101));
    /// What goals mean: [`Mode`](super::super::Mode).
    pub const OPERATING_MODE: Register =
        Register::write("operating_mode", 11, 1, Values::OneOf(&[0, 1, 3, 4, 5, 16])).initially(3);
    /// A second number, which is obeyed and not answered; none above 252.
    pub const SECONDARY_ID: Register =
        Register::write("secondary_id", 12, 1, between(0, 255)).initially(255);
    /// 2 for this protocol.
    pub const PROTOCOL_TYPE: Register =
        Register::write("protocol_type", 13, 1, Values::OneOf(&[1, 2])).initially(2);
    /// What is added to the position.
    pub const HOMING_OFFSET: Register =
        Register::write("homing_offset", 20, 4, between(-1_044_479, 1_044_479));
    /// Velocity below which it counts as standing.
    pub const MOVING_THRESHOLD: Register =
        Register::write("moving_threshold", 24, 4, between(0, 1_023)).initially(10);
    /// Highest temperature. [°C]
    pub const TEMPERATURE_LIMIT: Register =
        Register::write("temperature_limit", 31, 1, between(0, 100)).initially(80);
    /// Highest voltage.
    pub const MAX_VOLTAGE_LIMIT: Register =
        Register::write("max_voltage_limit", 32, 2, between(95, 160)).initially(160);
    /// Lowest voltage.
    pub const MIN_VOLTAGE_LIMIT: Register =
        Register::write("min_voltage_limit", 34, 2, between(95, 160)).initially(95);
    /// Greatest duty.
    pub const PWM_LIMIT: Register =
        Register::write("pwm_limit", 36, 2, between(0, 885)).initially(885);
    /// Greatest current.
    pub const CURRENT_LIMIT: Register =
        Register::write("current_limit", 38, 2, between(0, 1_193)).initially(1_193);
    /// Greatest velocity.
    pub const VELOCITY_LIMIT: Register =
        Register::write("velocity_limit", 44, 4, between(0, 1_023)).initially(200);
    /// Greatest position.
    pub const MAX_POSITION_LIMIT: Register =
        Register::write("max_position_limit", 48, 4, between(0, 4_095)).initially(4_095);
    /// Least position.
    pub const MIN_POSITION_LIMIT: Register =
        Register::write("min_position_limit", 52, 4, between(0, 4_095));
    /// Bit 0: torque is on from the start; 1: RAM as in the copy of the settings.
    pub const STARTUP_CONFIGURATION: Register =
        Register::write("startup_configuration", 60, 1, Values::Bits(0b11));
    /// How fast duty rises; the X330 series alone has it.
    pub(in super::super) const PWM_SLOPE: Register =
        Register::write("pwm_slope", 62, 1, between(1, 255)).initially(140);
    /// Bits of the hardware error status that switch torque off.
    pub const SHUTDOWN: Register = Register::write("shutdown", 63, 1, Values::Any).initially(52);
    /// Whether the drive is on.
    pub const TORQUE_ENABLE: Register = Register::write("torque_enable", 64, 1, SWITCH);
    const LED: Register = Register::write("led", 65, 1, SWITCH);
    /// What is answered: 0 pings, 1 reads too, 2 all.
    pub const STATUS_RETURN_LEVEL: Register =
        Register::write("status_return_level", 68, 1, between(0, 2)).initially(2);
    /// Whether a write waits for its action.
    pub const REGISTERED_INSTRUCTION: Register = Register::read("registered_instruction", 69, 1);
    /// Bit 0: voltage; 2: heat; 3: encoder; 4: shock; 5: overload.
    pub const HARDWARE_ERROR_STATUS: Register = Register::read("hardware_error_status", 70, 1);
    /// Integral gain of the velocity.
    pub const VELOCITY_I_GAIN: Register =
        Register::write("velocity_i_gain", 76, 2, GAIN).initially(1_920);
    /// Proportional gain of the velocity.
    pub const VELOCITY_P_GAIN: Register =
        Register::write("velocity_p_gain", 78, 2, GAIN).initially(100);
    /// Derivative gain of the position.
    pub const POSITION_D_GAIN: Register = Register::write("position_d_gain", 80, 2, GAIN);
    /// Integral gain of the position.
    pub const POSITION_I_GAIN: Register = Register::write("position_i_gain", 82, 2, GAIN);
    /// Proportional gain of the position.
    pub const POSITION_P_GAIN: Register =
        Register::write("position_p_gain", 84, 2, GAIN).initially(800);
    const FEEDFORWARD_2ND_GAIN: Register = Register::write("feedforward_2nd_gain", 88, 2, GAIN);
    const FEEDFORWARD_1ST_GAIN: Register = Register::write("feedforward_1st_gain", 90, 2, GAIN);
    /// Longest silence of the bus 0 for any; 255 once it was longer, and goals are refused until it is 0 again.
    pub const BUS_WATCHDOG: Register = Register::write("bus_watchdog", 98, 1, between(0, 127));
    /// Duty.
    pub const GOAL_PWM: Register = Register::write("goal_pwm", 100, 2, Values::UpTo(36));
    /// Current.
    pub const GOAL_CURRENT: Register = Register::write("goal_current", 102, 2, Values::UpTo(38));
    /// Velocity.
    pub const GOAL_VELOCITY: Register = Register::write("goal_velocity", 104, 4, Values::UpTo(44));
    /// Acceleration of profiles, 0 for any; with profiles by time, how long it lasts. [ms]
    pub const PROFILE_ACCELERATION: Register =
        Register::write("profile_acceleration", 108, 4, PROFILE);
    /// Velocity of profiles, 0 for any; with profiles by time, how long they last. [ms]
    pub const PROFILE_VELOCITY: Register = Register::write("profile_velocity", 112, 4, PROFILE);
    /// Position.
    pub const GOAL_POSITION: Register = Register::write("goal_position", 116, 4, Values::Position);
    /// Clock, from 0 to 32767. [ms]
    pub const REALTIME_TICK: Register = Register::read("realtime_tick", 120, 2);
    /// Whether it turns faster than the threshold.
    pub const MOVING: Register = Register::read("moving", 122, 1);
    /// Bit 0: at its goal; 1: on a profile; 3: not where the profile is; 4, 5: kind of profile.
    pub const MOVING_STATUS: Register = Register::read("moving_status", 123, 1);
    /// Duty.
    pub const PRESENT_PWM: Register = Register::read("present_pwm", PRESENT_PWM_AT, 2);
    /// Current, or load where the model measures none.
    pub const PRESENT_CURRENT: Register = Register::read("present_current", PRESENT_CURRENT_AT, 2);
    /// Velocity.
    pub const PRESENT_VELOCITY: Register = Register::read("present_velocity", 128, 4);
    /// Position.
    pub const PRESENT_POSITION: Register = Register::read("present_position", 132, 4);
    /// Velocity of the profile.
    pub const VELOCITY_TRAJECTORY: Register = Register::read("velocity_trajectory", 136, 4);
    /// Position of the profile.
    pub const POSITION_TRAJECTORY: Register = Register::read("position_trajectory", 140, 4);
    /// Voltage.
    pub const PRESENT_INPUT_VOLTAGE: Register = Register::read("present_input_voltage", 144, 2);
    /// Temperature. [°C]
    pub const PRESENT_TEMPERATURE: Register = Register::read("present_temperature", 146, 1);
    /// Whether a copy of the settings exists.
    pub const BACKUP_READY: Register = Register::read("backup_ready", 147, 1);

    /// All, by address, with the values of the XM430-W350; the PWM slope is the X330 series' alone.
    pub(in super::super) const ALL: [Register; 54] = [
        MODEL_NUMBER,
        MODEL_INFORMATION,
        FIRMWARE_VERSION,
        ID,
        BAUD_RATE,
        RETURN_DELAY_TIME,
        DRIVE_MODE,
        OPERATING_MODE,
        SECONDARY_ID,
        PROTOCOL_TYPE,
        HOMING_OFFSET,
        MOVING_THRESHOLD,
        TEMPERATURE_LIMIT,
        MAX_VOLTAGE_LIMIT,
        MIN_VOLTAGE_LIMIT,
        PWM_LIMIT,
        CURRENT_LIMIT,
        VELOCITY_LIMIT,
        MAX_POSITION_LIMIT,
        MIN_POSITION_LIMIT,
        STARTUP_CONFIGURATION,
        PWM_SLOPE,
        SHUTDOWN,
        TORQUE_ENABLE,
        LED,
        STATUS_RETURN_LEVEL,
        REGISTERED_INSTRUCTION,
        HARDWARE_ERROR_STATUS,
        VELOCITY_I_GAIN,
        VELOCITY_P_GAIN,
        POSITION_D_GAIN,
        POSITION_I_GAIN,
        POSITION_P_GAIN,
        FEEDFORWARD_2ND_GAIN,
        FEEDFORWARD_1ST_GAIN,
        BUS_WATCHDOG,
        GOAL_PWM,
        GOAL_CURRENT,
        GOAL_VELOCITY,
        PROFILE_ACCELERATION,
        PROFILE_VELOCITY,
        GOAL_POSITION,
        REALTIME_TICK,
        MOVING,
        MOVING_STATUS,
        PRESENT_PWM,
        PRESENT_CURRENT,
        PRESENT_VELOCITY,
        PRESENT_POSITION,
        VELOCITY_TRAJECTORY,
        POSITION_TRAJECTORY,
        PRESENT_INPUT_VOLTAGE,
        PRESENT_TEMPERATURE,
        BACKUP_READY,
    ];
}
