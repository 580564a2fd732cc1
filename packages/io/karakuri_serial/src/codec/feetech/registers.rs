//! Registers of the servos: where they are, what they may hold, and what a count of them is worth.
//!
//! The tables are data, used alike by drivers, the emulator and the command line. Sources: the maker's memory tables of the STS
//! and SCS series, as its SDK and `feetech-cli` 0.1.8 have them; the sign bits of `lerobot`'s tables; the size of an SCS step of
//! `rustypot` 1.13.1.

/// Baud rates by the code in the register `baud_rate`. [Bd]
pub const BAUDS: [u32; 8] = [1_000_000, 500_000, 250_000, 128_000, 115_200, 76_800, 57_600, 38_400];

/// Address from which on registers lose their values with the power; those before it are kept.
const FIRST_VOLATILE: u8 = 40;

/// Whether a host may set a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Measured, or fixed by the maker.
    Read,
    /// Set by the host.
    ReadWrite,
}

/// Order of the bytes of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteOrder {
    /// Low byte first: STS and SMS.
    Little,
    /// High byte first: SCS.
    Big,
}

/// What a register's numbers count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nothing physical: codes, bits, gains.
    Count,
    /// Steps of the angle, from the middle of the range. [rad]
    Position,
    /// Steps between two places. [rad]
    Distance,
    /// Steps a second. [rad/s]
    Speed,
    /// 100 steps a second, a second. [rad/s²]
    Acceleration,
    /// 0.1 % of full torque or duty. [-]
    PerMille,
    /// 1 % of full torque. [-]
    Percent,
    /// 6.5 mA. [A]
    Current,
    /// 0.1 V. [V]
    Voltage,
    /// 1 °C. [°C]
    Temperature,
    /// 2 µs. [s]
    TwoMicroseconds,
    /// 1 ms. [s]
    Millisecond,
    /// 10 ms. [s]
    TenMilliseconds,
}

/// One register of one or two bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Register {
    /// Its name in lower case.
    pub name: &'static str,
    /// Its first byte.
    pub address: u8,
    /// 1 or 2.
    pub size: u8,
    /// The bit that makes it negative; none for numbers from 0 on.
    pub sign_bit: Option<u8>,
    /// Whether a host may set it.
    pub access: Access,
    /// Least value that makes sense.
    pub least: i32,
    /// Greatest value that makes sense.
    pub most: i32,
    /// As it leaves the factory; where it is not kept without power, as the servo starts.
    pub factory: i32,
    /// What it counts.
    pub unit: Unit,
}

impl Register {
    /// A register of plain numbers that the host may set.
    pub(super) const fn new(name: &'static str, address: u8, size: u8) -> Self {
        let most = if size == 1 { 0xFF } else { 0xFFFF };
        Self {
            name,
            address,
            size,
            sign_bit: None,
            access: Access::ReadWrite,
            least: 0,
            most,
            factory: 0,
            unit: Unit::Count,
        }
    }

    /// The same, with a sign in `bit`.
    pub(super) const fn signed(mut self, bit: u8) -> Self {
        self.sign_bit = Some(bit);
        self.most = (1 << bit) - 1;
        self.least = -self.most;
        self
    }

    /// The same, for the servo to set.
    pub(super) const fn measured(mut self) -> Self {
        self.access = Access::Read;
        self
    }

    /// The same, between two values.
    pub(super) const fn range(mut self, least: i32, most: i32) -> Self {
        self.least = least;
        self.most = most;
        self
    }

    /// The same, with a value to start with.
    pub(super) const fn factory(mut self, value: i32) -> Self {
        self.factory = value;
        self
    }

    /// The same, counting something.
    pub(super) const fn unit(mut self, unit: Unit) -> Self {
        self.unit = unit;
        self
    }

    /// Whether it is kept without power; such a register can be set only while the lock is open.
    pub fn is_kept(&self) -> bool {
        self.address < FIRST_VOLATILE
    }

    /// The byte behind it.
    pub fn end(&self) -> usize {
        usize::from(self.address) + usize::from(self.size)
    }

    /// The number of a raw word: sign and magnitude, not two's complement.
    fn number(&self, raw: u16) -> i32 {
        match self.sign_bit {
            Some(bit) if raw >> bit & 1 == 1 => -i32::from(raw & !(1 << bit)),
            _ => raw.into(),
        }
    }

    /// The raw word of a number, which is limited to what the register can hold.
    fn raw(&self, value: i32) -> u16 {
        let magnitude_bits = u32::from(self.sign_bit.unwrap_or(8 * self.size));
        let largest = (1_u32 << magnitude_bits) - 1;
        #[expect(clippy::cast_possible_truncation, reason = "at most 16 bits")]
        let magnitude = value.unsigned_abs().min(largest) as u16;
        match self.sign_bit {
            Some(bit) if value < 0 => magnitude | 1 << bit,
            None if value < 0 => 0,
            _ => magnitude,
        }
    }
}

/// A kind of servo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Model {
    /// As on the case, in lower case.
    pub name: &'static str,
    /// What its register `model_number` holds.
    pub number: u16,
    /// Order of the bytes of its words.
    pub order: ByteOrder,
    /// Whether it answers a sync read.
    pub has_sync_read: bool,
    /// Steps of the angle's whole range, of which the middle is the zero.
    pub steps: i32,
    /// The angle's whole range in degrees, as the maker says it. [deg]
    pub range_deg: i32,
    /// All its registers, by address.
    pub registers: &'static [Register],
    /// The register that locks those that are kept.
    pub lock: Register,
}

impl Model {
    /// The register of a name.
    pub fn register(&self, name: &str) -> Option<&'static Register> {
        self.registers.iter().find(|register| register.name == name)
    }

    /// The number of a register in `bytes`, of which the first is at address `base`; nothing if it is not wholly among them.
    pub fn get(&self, register: &Register, base: u8, bytes: &[u8]) -> Option<i32> {
        let at = usize::from(register.address.checked_sub(base)?);
        let raw = match (bytes.get(at..at + usize::from(register.size))?, self.order) {
            (&[byte], _) => byte.into(),
            (&[first, second], ByteOrder::Little) => u16::from_le_bytes([first, second]),
            (&[first, second], ByteOrder::Big) => u16::from_be_bytes([first, second]),
            _ => return None,
        };
        Some(register.number(raw))
    }

    /// The bytes of a number in a register, of which the first `register.size` count. What does not fit is limited.
    pub fn bytes(&self, register: &Register, value: i32) -> [u8; 2] {
        let raw = register.raw(value);
        match self.order {
            ByteOrder::Big if register.size == 2 => raw.to_be_bytes(),
            _ => raw.to_le_bytes(),
        }
    }

    /// Angle of one step. [rad]
    pub fn step(&self) -> f64 {
        f64::from(self.range_deg).to_radians() / f64::from(self.steps)
    }

    /// A register's number in units of the SI; angles are from the middle of the range.
    pub fn si(&self, register: &Register, counts: i32) -> f64 {
        f64::from(counts - self.zero(register.unit)) * self.scale(register.unit)
    }

    /// The number that is nearest to a value in units of the SI, within the register's limits.
    pub fn counts(&self, register: &Register, si: f64) -> i32 {
        let counts = (si / self.scale(register.unit)).round() + f64::from(self.zero(register.unit));
        #[expect(clippy::cast_possible_truncation, reason = "limited to numbers of 16 bits")]
        let counts = counts.clamp(register.least.into(), register.most.into()) as i32;
        counts
    }

    fn zero(&self, unit: Unit) -> i32 {
        if unit == Unit::Position { self.steps / 2 } else { 0 }
    }

    /// What one count is worth, in the unit's SI.
    fn scale(&self, unit: Unit) -> f64 {
        match unit {
            Unit::Count | Unit::Temperature => 1.0,
            Unit::Position | Unit::Distance | Unit::Speed => self.step(),
            Unit::Acceleration => 100.0 * self.step(),
            Unit::PerMille | Unit::Millisecond => 1e-3,
            Unit::Percent | Unit::TenMilliseconds => 1e-2,
            Unit::Current => 6.5e-3,
            Unit::Voltage => 0.1,
            Unit::TwoMicroseconds => 2e-6,
        }
    }
}

/// Makes a constant of each register, and the list of them all.
macro_rules! registers {
    ($($(#[$doc:meta])+ $name:ident = $register:expr;)+) => {
        $($(#[$doc])+ pub const $name: Register = $register;)+
        /// All of them, by address.
        pub(super) const ALL: &[Register] = &[$($name),+];
    };
}
pub(super) use registers;
