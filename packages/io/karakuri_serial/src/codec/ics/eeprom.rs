//! EEPROM of a servo: 64 nibbles, a byte each, of which fields take some.

use super::FrameError;

/// What a servo remembers without power.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Eeprom([u8; Self::LEN]);

/// One field of the EEPROM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// What it holds.
    pub name: &'static str,
    /// Its first nibble, the highest, counted from 1 as Kondo does.
    pub first: usize,
    /// Number of its nibbles.
    pub nibbles: usize,
    /// What a new servo has there. (Assumed for the limits; servos of other types have other values.)
    pub factory: u16,
}

/// All fields that have a meaning; the nibbles between them are to stay as they are.
pub const FIELDS: [Field; 18] = [
    Eeprom::STRETCH,
    Eeprom::SPEED,
    field("punch", 7, 2, 0),
    field("dead band", 9, 2, 2),
    field("damping", 11, 2, 30),
    field("safe timer", 13, 2, 250),
    Eeprom::FLAGS,
    Eeprom::MAX_POSITION,
    Eeprom::MIN_POSITION,
    Eeprom::BAUD,
    Eeprom::TEMPERATURE_LIMIT,
    Eeprom::CURRENT_LIMIT,
    field("response", 51, 2, 1),
    field("offset", 53, 2, 0),
    Eeprom::ID,
    field("stretch 1", 59, 2, 60),
    field("stretch 2", 61, 2, 120),
    field("stretch 3", 63, 2, 254),
];

/// What the first two nibbles of every EEPROM hold.
const HEADER: Field = field("header", 1, 2, 0x5a);

const fn field(name: &'static str, first: usize, nibbles: usize, factory: u16) -> Field {
    Field { name, first, nibbles, factory }
}

/// Bits of [`Eeprom::FLAGS`]. A servo is to be limp while they change.
#[derive(Debug, Clone, Copy)]
pub struct Flags;

impl Flags {
    /// The servo does not answer.
    pub const SLAVE: u16 = 1 << 7;
    /// Turns without end; positions are speeds.
    pub const ROTATION: u16 = 1 << 4;
    /// Serial only, no pulses.
    pub const SERIAL: u16 = 1 << 3;
    /// Limp.
    pub const FREE: u16 = 1 << 1;
    /// Turns the other sense.
    pub const REVERSE: u16 = 1;
}

impl Eeprom {
    /// Nibbles.
    pub const LEN: usize = 64;
    /// Twice the stiffness of the command.
    pub const STRETCH: Field = field("stretch", 3, 2, 2 * 60);
    /// Greatest speed, 1 to 127.
    pub const SPEED: Field = field("speed", 5, 2, 127);
    /// [`Flags`].
    pub const FLAGS: Field = field("flags", 15, 2, Flags::SERIAL);
    /// Greatest position. [counts]
    pub const MAX_POSITION: Field = field("greatest position", 17, 4, super::MAX_COUNTS);
    /// Least position. [counts]
    pub const MIN_POSITION: Field = field("least position", 21, 4, super::MIN_COUNTS);
    /// 10 for 115200, 1 for 625000, 0 for 1250000; the higher nibble is the type of servo.
    pub const BAUD: Field = field("baud rate", 27, 2, 10);
    /// Byte of the greatest temperature.
    pub const TEMPERATURE_LIMIT: Field = field("temperature limit", 29, 2, 60);
    /// Greatest current, in 0.1 A.
    pub const CURRENT_LIMIT: Field = field("current limit", 31, 2, 40);
    /// Id of the servo.
    pub const ID: Field = field("id", 57, 2, 0);

    /// That of a new servo, but for its id and baud rate [bit/s].
    pub fn new(id: u8, baud: u32) -> Self {
        let mut eeprom = Self([0; Self::LEN]);
        for field in FIELDS.into_iter().chain([HEADER]) {
            eeprom.set(field, field.factory);
        }
        let code = match baud {
            115_200 => 10,
            625_000 => 1,
            _ => 0,
        };
        eeprom.set(Self::BAUD, code);
        eeprom.set(Self::ID, id.into());
        eeprom
    }

    /// That of its bytes.
    ///
    /// # Errors
    /// [`FrameError::Length`] unless there are 64.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FrameError> {
        let bytes: [u8; Self::LEN] = bytes.try_into().map_err(|_| FrameError::Length {
            got: bytes.len(),
            least: Self::LEN,
            most: Self::LEN,
        })?;
        Ok(Self(bytes.map(|byte| byte & 0x0f)))
    }

    /// Its bytes, a nibble each.
    pub fn bytes(&self) -> [u8; Self::LEN] {
        self.0
    }

    /// Value of a field.
    pub fn get(&self, field: Field) -> u16 {
        let nibbles = self.0.iter().skip(field.first - 1).take(field.nibbles);
        nibbles.fold(0, |value, nibble| value << 4 | u16::from(*nibble))
    }

    /// Gives a field a value.
    pub fn set(&mut self, field: Field, value: u16) {
        let mut rest = value;
        for nibble in self.0.iter_mut().skip(field.first - 1).take(field.nibbles).rev() {
            [*nibble, _] = (rest & 0x0f).to_le_bytes();
            rest >>= 4;
        }
    }

    /// Baud rate; none for a code that has no meaning. [bit/s]
    pub fn baud(&self) -> Option<u32> {
        match self.get(Self::BAUD) & 0x0f {
            10 => Some(115_200),
            1 => Some(625_000),
            0 => Some(1_250_000),
            _ => None,
        }
    }
}
