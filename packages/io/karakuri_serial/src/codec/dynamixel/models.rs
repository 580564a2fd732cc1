//! Types of servos: what of the control table is theirs alone, and what the servo can do.
//!
//! Source: the pages of the models in the ROBOTIS e-Manual; ratings are those at the recommended voltage.

use std::f64::consts::TAU;

use super::control_table::{Register, Values, register as r};

/// Baud rates, by their code. [bit/s]
pub const BAUD_RATES: [u32; 8] =
    [9_600, 57_600, 115_200, 1_000_000, 2_000_000, 3_000_000, 4_000_000, 4_500_000];

/// A type of servo.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Model {
    /// Name, as it is sold.
    pub name: &'static str,
    /// Number that it answers to a ping.
    pub number: u16,
    /// Version of the program that it has when it is new.
    pub firmware: u8,
    /// Current of one count; none where it has a load in its place. [A]
    pub current_unit: Option<f64>,
    /// Recommended voltage. [V]
    pub voltage: f64,
    /// Speed without load. [rad/s]
    pub no_load_speed: f64,
    /// Torque at standstill. [N·m]
    pub stall_torque: f64,
    /// Current at standstill. [A]
    pub stall_current: f64,
    /// Registers that are not as in the common table.
    own: &'static [Register],
    /// Addresses of the common table that it does not have.
    lacks: &'static [u16],
    /// Where other registers can be put side by side, in this program and in those before [`X330_MOVED`].
    indirect: [&'static [IndirectBlock]; 2],
}

/// What goals mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Current.
    Current = 0,
    /// Velocity.
    Velocity = 1,
    /// Position within a turn.
    Position = 3,
    /// Position over many turns.
    ExtendedPosition = 4,
    /// Position over many turns, with the goal current as a limit.
    CurrentBasedPosition = 5,
    /// Duty.
    Pwm = 16,
}

impl Mode {
    /// The mode of a register's value.
    pub fn of(value: i32) -> Option<Self> {
        const ALL: [Mode; 6] = [
            Mode::Current,
            Mode::Velocity,
            Mode::Position,
            Mode::ExtendedPosition,
            Mode::CurrentBasedPosition,
            Mode::Pwm,
        ];
        ALL.into_iter().find(|mode| *mode as i32 == value)
    }
}

/// A run of indirect addresses: a byte that is read or written at `data + n` is that of the address in the word at
/// `addresses + 2 n`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndirectBlock {
    /// Address of the first word.
    pub addresses: u16,
    /// Address of the first byte.
    pub data: u16,
    /// How many there are.
    pub count: u16,
}

impl IndirectBlock {
    const fn new(addresses: u16, data: u16, count: u16) -> Self {
        Self { addresses, data, count }
    }

    /// Address after its last byte.
    pub fn end(&self) -> u16 {
        self.data + self.count
    }
}

/// Program of the X330 series that moved the indirect data to make room.
const X330_MOVED: u8 = 52;
const SHORT: &[IndirectBlock] = &[IndirectBlock::new(168, 208, 20)];
const BEFORE: &[IndirectBlock] = &[IndirectBlock::new(168, 224, 28)];
const LONG: &[IndirectBlock] =
    &[IndirectBlock::new(168, 224, 28), IndirectBlock::new(578, 634, 28)];

const fn between(least: i32, most: i32) -> Values {
    Values::Between { least, most }
}

// What servos of the X330 series have in common.
const X330_BAUD: Register = r::BAUD_RATE.taking(between(0, 6));
const X330_PROTOCOL: Register = r::PROTOCOL_TYPE.taking(Values::OneOf(&[2, 20, 21, 22]));
const X330_HEAT: Register = r::TEMPERATURE_LIMIT.initially(70);
const XL330_MAX_VOLTAGE: Register = r::MAX_VOLTAGE_LIMIT.taking(between(31, 70)).initially(70);
const XL330_MIN_VOLTAGE: Register = r::MIN_VOLTAGE_LIMIT.taking(between(31, 70)).initially(35);
const XL330_CURRENT: Register = r::CURRENT_LIMIT.taking(between(0, 1_750)).initially(1_750);
const XL330_SHUTDOWN: Register = r::SHUTDOWN.initially(53);
const X330_VELOCITY: Register = r::VELOCITY_LIMIT.taking(between(0, 2_047));
const PWM_SLOPE_AT: u16 = r::PWM_SLOPE.address;

const fn rev_per_min(speed: f64) -> f64 {
    speed * TAU / 60.0
}

impl Model {
    /// Those that are known.
    pub const ALL: [Self; 6] = [
        Self {
            name: "XL330-M077",
            number: 1190,
            firmware: X330_MOVED,
            current_unit: Some(0.001),
            voltage: 5.0,
            no_load_speed: rev_per_min(383.0),
            stall_torque: 0.215,
            stall_current: 1.47,
            own: &[
                X330_BAUD,
                X330_PROTOCOL,
                X330_HEAT,
                XL330_MAX_VOLTAGE,
                XL330_MIN_VOLTAGE,
                XL330_CURRENT,
                XL330_SHUTDOWN,
                X330_VELOCITY.initially(1_620),
                r::VELOCITY_I_GAIN.initially(400),
                r::VELOCITY_P_GAIN.initially(40),
                r::POSITION_I_GAIN.initially(400),
                r::POSITION_P_GAIN.initially(400),
            ],
            lacks: &[],
            indirect: [SHORT, BEFORE],
        },
        Self {
            name: "XL330-M288",
            number: 1200,
            firmware: X330_MOVED,
            current_unit: Some(0.001),
            voltage: 5.0,
            no_load_speed: rev_per_min(103.0),
            stall_torque: 0.52,
            stall_current: 1.47,
            own: &[
                X330_BAUD,
                X330_PROTOCOL,
                X330_HEAT,
                XL330_MAX_VOLTAGE,
                XL330_MIN_VOLTAGE,
                XL330_CURRENT,
                XL330_SHUTDOWN,
                X330_VELOCITY.initially(445),
                r::VELOCITY_I_GAIN.initially(1_600),
                r::VELOCITY_P_GAIN.initially(180),
                r::POSITION_P_GAIN.initially(400),
            ],
            lacks: &[],
            indirect: [SHORT, BEFORE],
        },
        Self {
            name: "XC330-T288",
            number: 1220,
            firmware: X330_MOVED,
            current_unit: Some(0.001),
            voltage: 11.1,
            no_load_speed: rev_per_min(65.0),
            stall_torque: 0.92,
            stall_current: 0.80,
            own: &[
                X330_BAUD,
                X330_PROTOCOL,
                X330_HEAT,
                r::MAX_VOLTAGE_LIMIT.taking(between(55, 140)).initially(140),
                r::MIN_VOLTAGE_LIMIT.taking(between(55, 140)).initially(55),
                r::CURRENT_LIMIT.taking(between(0, 910)).initially(910),
                r::PWM_SLOPE.initially(255),
                X330_VELOCITY.initially(320),
                r::VELOCITY_I_GAIN.initially(1_200),
                r::VELOCITY_P_GAIN.initially(40),
                r::POSITION_P_GAIN.initially(900),
            ],
            lacks: &[],
            indirect: [SHORT, BEFORE],
        },
        Self {
            name: "XL430-W250",
            number: 1060,
            firmware: 46,
            current_unit: None,
            voltage: 11.1,
            no_load_speed: rev_per_min(57.0),
            stall_torque: 1.4,
            stall_current: 1.3,
            own: &[
                r::OPERATING_MODE.taking(Values::OneOf(&[1, 3, 4, 16])),
                r::TEMPERATURE_LIMIT.initially(72),
                r::MAX_VOLTAGE_LIMIT.taking(between(60, 140)).initially(140),
                r::MIN_VOLTAGE_LIMIT.taking(between(60, 140)).initially(60),
                r::VELOCITY_LIMIT.initially(265),
                r::VELOCITY_I_GAIN.initially(1_000),
                r::POSITION_D_GAIN.initially(4_000),
                r::POSITION_P_GAIN.initially(640),
                r::PRESENT_CURRENT.named("present_load"),
            ],
            lacks: &[r::CURRENT_LIMIT.address, r::GOAL_CURRENT.address, PWM_SLOPE_AT],
            indirect: [LONG, LONG],
        },
        Self {
            name: "XM430-W350",
            number: 1020,
            firmware: 46,
            current_unit: Some(0.002_69),
            voltage: 12.0,
            no_load_speed: rev_per_min(46.0),
            stall_torque: 4.1,
            stall_current: 2.3,
            own: &[],
            lacks: &[PWM_SLOPE_AT],
            indirect: [LONG, LONG],
        },
        Self {
            name: "XM430-W210",
            number: 1030,
            firmware: 46,
            current_unit: Some(0.002_69),
            voltage: 12.0,
            no_load_speed: rev_per_min(77.0),
            stall_torque: 3.0,
            stall_current: 2.3,
            own: &[r::VELOCITY_LIMIT.initially(330)],
            lacks: &[PWM_SLOPE_AT],
            indirect: [LONG, LONG],
        },
    ];

    /// The model that answers with a number.
    pub fn of(number: u16) -> Option<&'static Self> {
        const { &Self::ALL }.iter().find(|model| model.number == number)
    }

    /// The model of a name, in any case.
    pub fn named(name: &str) -> Option<&'static Self> {
        const { &Self::ALL }.iter().find(|model| model.name.eq_ignore_ascii_case(name))
    }

    /// Its registers, by address, without indirect ones.
    pub fn registers(&self) -> impl Iterator<Item = Register> + '_ {
        r::ALL.iter().filter(|common| !self.lacks.contains(&common.address)).map(|common| {
            *self.own.iter().find(|own| own.address == common.address).unwrap_or(common)
        })
    }

    /// The register that begins at an address.
    pub fn register(&self, address: u16) -> Option<Register> {
        self.registers().find(|register| register.address == address)
    }

    /// Baud rates that it has, by their code. [bit/s]
    pub fn baud_rates(&self) -> &'static [u32] {
        match self.register(r::BAUD_RATE.address).map(|register| register.values) {
            Some(Values::Between { most, .. }) => {
                let count = usize::try_from(most + 1).unwrap_or_default();
                &BAUD_RATES[..count.min(BAUD_RATES.len())]
            }
            _ => &BAUD_RATES,
        }
    }

    /// Where other registers can be put side by side, to be read at once, in a version of its program.
    pub fn indirect(&self, firmware: u8) -> &'static [IndirectBlock] {
        self.indirect[usize::from(firmware < X330_MOVED)]
    }
}
