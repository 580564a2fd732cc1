//! Sets of servos and what is asked of them.

use super::FrameError;

/// Servos that a board can have, by ICS number: twice the servo's id, and 1 more on the second port.
pub const SERVOS: usize = 35;

/// Word that switches the torque on and holds the present position.
const HOLD: u16 = 32767;
/// Word that switches the torque off.
const FREE: u16 = 32768;

/// Where a servo is to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// A position; 7500 is the middle. A servo without torque does not go there. [counts]
    Position(u16),
    /// Torque on, where it is.
    Hold,
    /// Torque off.
    Free,
}

impl Goal {
    /// Its word.
    pub fn word(self) -> u16 {
        match self {
            Self::Position(counts) => counts,
            Self::Hold => HOLD,
            Self::Free => FREE,
        }
    }

    /// That of a word.
    pub fn from_word(word: u16) -> Self {
        match word {
            HOLD => Self::Hold,
            FREE => Self::Free,
            counts => Self::Position(counts),
        }
    }
}

impl Default for Goal {
    fn default() -> Self {
        Self::Position(crate::codec::ics::CENTRE)
    }
}

/// A parameter of servos.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServoParameter {
    /// Stiffness, 1 to 127.
    Stretch = 1,
    /// Greatest speed, 1 to 127.
    Speed = 2,
    /// Greatest current, 1 to 63 in 0.1 A.
    CurrentLimit = 3,
    /// Greatest temperature, 1 to 127.
    TemperatureLimit = 4,
}

impl ServoParameter {
    pub(super) fn of(code: u8) -> Result<Self, FrameError> {
        [Self::Stretch, Self::Speed, Self::CurrentLimit, Self::TemperatureLimit]
            .into_iter()
            .find(|parameter| *parameter as u8 == code)
            .ok_or(FrameError::Unknown { code })
    }
}

/// Servos by ICS number; sent as a mask of 5 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ServoSet(u64);

impl ServoSet {
    /// Bytes of the mask.
    pub(super) const BYTES: usize = 5;

    /// Adds a servo; numbers from 35 on are left out.
    pub fn insert(&mut self, servo: usize) {
        if servo < SERVOS {
            self.0 |= 1 << servo;
        }
    }

    /// Whether a servo is one of them.
    pub fn contains(&self, servo: usize) -> bool {
        servo < SERVOS && self.0 & (1 << servo) != 0
    }

    /// How many they are.
    pub fn n_servos(&self) -> usize {
        self.numbers().count()
    }

    /// Their numbers, rising.
    pub fn numbers(&self) -> impl Iterator<Item = usize> + use<> {
        let set = *self;
        (0..SERVOS).filter(move |servo| set.contains(*servo))
    }

    /// Of values of all servos those of the set.
    pub(super) fn pick<T: Copy>(&self, values: &[T; SERVOS]) -> impl Iterator<Item = T> {
        self.numbers().map(|servo| values[servo])
    }

    pub(super) fn bytes(self) -> [u8; Self::BYTES] {
        let [a, b, c, d, e, ..] = self.0.to_le_bytes();
        [a, b, c, d, e]
    }

    /// Those of a mask.
    pub(super) fn from_bytes([a, b, c, d, e]: [u8; Self::BYTES]) -> Result<Self, FrameError> {
        let set = u64::from_le_bytes([a, b, c, d, e, 0, 0, 0]);
        if set >> SERVOS == 0 {
            return Ok(Self(set));
        }
        Err(FrameError::Range {
            field: "last byte of the servo mask",
            got: e.into(),
            least: 0,
            most: 7,
        })
    }
}

impl FromIterator<usize> for ServoSet {
    fn from_iter<T: IntoIterator<Item = usize>>(servos: T) -> Self {
        let mut set = Self::default();
        servos.into_iter().for_each(|servo| set.insert(servo));
        set
    }
}
