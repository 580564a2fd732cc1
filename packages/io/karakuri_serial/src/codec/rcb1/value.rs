//! Values in the frames of an RCB-1: positions with their special bytes, speeds, switches, trims.

use crate::codec::FrameError;

/// Channels of a board.
pub const CHANNELS: usize = 12;
/// Greatest id of a board.
pub const MAX_ID: u8 = 31;
/// Greatest speed code, the slowest.
pub const MAX_SPEED: u8 = 7;
/// Greatest position. [deg]
const MAX_DEGREES: u8 = 180;
/// Trims are sent with this added, so that none is negative.
const TRIM_ZERO: i8 = 20;

/// What a channel is to do, or where it is.
///
/// `Free` to `PortHigh` are those of servos with red cases; blue ones do not know them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Channel {
    /// A position, 0 to 180; 90 is the middle. [deg]
    Degrees(u8),
    /// No torque.
    Free,
    /// The servo's characteristic 1, 2 or 3: its sets of stiffness.
    Characteristic(u8),
    /// The channel is a digital output: low.
    PortLow,
    /// The channel is a digital output: high.
    PortHigh,
    /// The target stays as it is. (Assumed: a program of the time sends it to unused channels.)
    #[default]
    Keep,
}

impl Channel {
    /// Its byte.
    pub fn to_byte(self) -> u8 {
        match self {
            Self::Degrees(degrees) => degrees.min(MAX_DEGREES),
            Self::Free => 0xdd,
            Self::Characteristic(n) => 0xdd + n.clamp(1, 3),
            Self::PortLow => 0xe1,
            Self::PortHigh => 0xe2,
            Self::Keep => 0xff,
        }
    }

    /// That of a byte; between 180 and the special bytes it is 180.
    ///
    /// # Errors
    /// [`FrameError::Range`] for a byte that has no meaning.
    pub fn from_byte(byte: u8) -> Result<Self, FrameError> {
        Ok(match byte {
            0..=0xdc => Self::Degrees(byte.min(MAX_DEGREES)),
            0xdd => Self::Free,
            0xde..=0xe0 => Self::Characteristic(byte - 0xdd),
            0xe1 => Self::PortLow,
            0xe2 => Self::PortHigh,
            0xff => Self::Keep,
            _ => return Err(range("position", byte, 0, 0xe2)),
        })
    }
}

/// A speed code: 0 is the fastest, 7 the slowest, 4 the usual one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Speed(u8);

impl Speed {
    /// Speeds of the codes. [deg/s] (8)
    ///
    /// Assumed: a servo's greatest speed at 0, and for the others what agrees with the pauses that owners use after moves of 100°
    /// (3 s, 1.7 s and 0.5 s at 7, 6 and 5).
    const DEG_PER_S: [f64; 8] = [350.0, 320.0, 280.0, 240.0, 200.0, 150.0, 105.0, 60.0];

    /// That of a code.
    ///
    /// # Errors
    /// [`FrameError::Range`] for a code above 7.
    pub fn new(code: u8) -> Result<Self, FrameError> {
        within("speed", code, MAX_SPEED).map(Self)
    }

    /// Its code.
    pub fn code(self) -> u8 {
        self.0
    }

    /// Speed of the joint with the longest move. [rad/s]
    pub fn rad_per_s(self) -> f64 {
        Self::DEG_PER_S[usize::from(self.0)].to_radians()
    }
}

/// Where all channels go, and how fast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pose {
    /// Speed of the longest move; the others arrive with it.
    pub speed: Speed,
    /// Targets. [deg] (12)
    pub channels: [Channel; CHANNELS],
}

impl Pose {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.push(self.speed.code());
        out.extend(self.channels.map(Channel::to_byte));
    }

    /// That of `SPEED CH1..CH12`.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, FrameError> {
        let [speed, channels @ ..] = bytes else { return Err(length(bytes.len(), 1 + CHANNELS)) };
        Ok(Self { speed: Speed::new(*speed)?, channels: decode_channels(channels)? })
    }
}

/// The software switches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switches {
    /// Servos have no torque.
    pub sleep: bool,
    /// Motions can be played.
    pub motion_enabled: bool,
}

impl Default for Switches {
    fn default() -> Self {
        Self { sleep: false, motion_enabled: true }
    }
}

impl Switches {
    /// As a byte.
    pub fn bits(self) -> u8 {
        u8::from(self.sleep) | u8::from(self.motion_enabled) << 1
    }

    /// Those of a byte.
    pub fn from_bits(bits: u8) -> Self {
        Self { sleep: bits & 1 != 0, motion_enabled: bits & 2 != 0 }
    }
}

/// What a key of the remote control does. (Names and order of the fields are assumed.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeyAssignment {
    /// The key.
    pub key: u8,
    /// 0 nothing, 1 a motion, 2 a scenario.
    pub kind: u8,
    /// Number of the motion or scenario.
    pub number: u8,
    /// How it is played.
    pub mode: u8,
}

pub(super) fn trim_to_byte(trim: i8) -> u8 {
    trim.clamp(-TRIM_ZERO, TRIM_ZERO - 1).wrapping_add(TRIM_ZERO).unsigned_abs()
}

fn trim_from_byte(byte: u8) -> Result<i8, FrameError> {
    let byte = within("trim", byte, 2 * TRIM_ZERO.unsigned_abs() - 1)?;
    Ok(byte.cast_signed() - TRIM_ZERO)
}

pub(super) fn decode_channels(bytes: &[u8]) -> Result<[Channel; CHANNELS], FrameError> {
    let bytes: [u8; CHANNELS] = bytes.try_into().map_err(|_| length(bytes.len(), CHANNELS))?;
    let mut channels = [Channel::default(); CHANNELS];
    for (channel, byte) in channels.iter_mut().zip(bytes) {
        *channel = Channel::from_byte(byte)?;
    }
    Ok(channels)
}

pub(super) fn decode_trims(bytes: &[u8]) -> Result<[i8; CHANNELS], FrameError> {
    let bytes: [u8; CHANNELS] = bytes.try_into().map_err(|_| length(bytes.len(), CHANNELS))?;
    let mut trims = [0; CHANNELS];
    for (trim, byte) in trims.iter_mut().zip(bytes) {
        *trim = trim_from_byte(byte)?;
    }
    Ok(trims)
}

/// A field that is at most `most`.
pub(super) fn within(field: &'static str, value: u8, most: u8) -> Result<u8, FrameError> {
    if value <= most { Ok(value) } else { Err(range(field, value, 0, most)) }
}

fn range(field: &'static str, got: u8, least: u8, most: u8) -> FrameError {
    FrameError::Range { field, got: got.into(), least: least.into(), most: most.into() }
}

pub(super) fn length(got: usize, expected: usize) -> FrameError {
    FrameError::Length { got, least: expected, most: expected }
}
