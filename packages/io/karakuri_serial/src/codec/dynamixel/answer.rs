//! What servos answer.

use super::frame::{self, BROADCAST, Frame, Writer, append_crc};
use super::request::code;
use crate::codec::FrameError;

/// Bit of the error byte that says that the hardware error status is not 0.
const ALERT: u8 = 0x80;

/// Answer of one servo. Data follow an error too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status<'a> {
    /// The servo.
    pub id: u8,
    /// Whether its hardware error status is not 0.
    pub alert: bool,
    /// Why it did not do what it was asked.
    pub error: Option<ErrorNumber>,
    /// What it was asked for.
    pub data: &'a [u8],
}

/// Why a servo did not do what it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ErrorNumber {
    /// It failed.
    #[error("the instruction failed")]
    Result = 1,
    /// Not an instruction that it knows, or an action without a write that was kept.
    #[error("unknown instruction")]
    Instruction = 2,
    /// The CRC of the request is wrong.
    #[error("wrong CRC")]
    Crc = 3,
    /// The value is outside of what the register takes.
    #[error("value out of range")]
    Range = 4,
    /// Fewer bytes than the register has, or a request that is too short.
    #[error("wrong length of data")]
    Length = 5,
    /// The value is outside of a limit that another register sets.
    #[error("value beyond its limit")]
    Limit = 6,
    /// The register cannot be written, or not while torque is on.
    #[error("no access: a register that is read only, or a setting while torque is on")]
    Access = 7,
}

impl ErrorNumber {
    fn of(number: u8) -> Option<Self> {
        const ALL: [ErrorNumber; 7] = [
            ErrorNumber::Result,
            ErrorNumber::Instruction,
            ErrorNumber::Crc,
            ErrorNumber::Range,
            ErrorNumber::Length,
            ErrorNumber::Limit,
            ErrorNumber::Access,
        ];
        ALL.into_iter().find(|error| *error as u8 == number)
    }
}

impl<'a> Status<'a> {
    /// Appends the frame of it.
    pub fn encode(&self, out: &mut Vec<u8>) {
        Writer::new(out, self.id, code::STATUS).bytes(&[self.error_byte()]).bytes(self.data).end();
    }

    /// The answer that a frame is. A request, such as the host's own from an adapter that echoes, is none.
    ///
    /// # Errors
    /// When the frame is no status, or too short for one.
    pub fn parse(frame: &Frame<'a>) -> Result<Self, FrameError> {
        if frame.instruction != code::STATUS {
            return Err(FrameError::Unknown { code: frame.instruction });
        }
        let (&error, data) = frame.params.split_first().ok_or(FrameError::Length {
            got: 3,
            least: 4,
            most: 1024,
        })?;
        Self::new(frame.id, error, data)
    }

    fn new(id: u8, byte: u8, data: &'a [u8]) -> Result<Self, FrameError> {
        let number = byte & !ALERT;
        let error = ErrorNumber::of(number);
        if error.is_none() && number != 0 {
            let got = number.into();
            return Err(FrameError::Range { field: "error number", got, least: 0, most: 7 });
        }
        Ok(Self { id, alert: byte & ALERT != 0, error, data })
    }

    fn error_byte(&self) -> u8 {
        self.error.map_or(0, |error| error as u8) | if self.alert { ALERT } else { 0 }
    }
}

/// Writes the one frame of several servos that answers a fast read, a part at a time.
///
/// Each part ends with the CRC of all bytes so far, by which the next servo knows that the chain is unbroken; the last one's is
/// the CRC of the frame. It is not stuffed.
#[derive(Debug)]
pub struct FastAnswer<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
}

impl<'a> FastAnswer<'a> {
    /// Starts the frame of parts with these numbers of data bytes.
    pub fn new(out: &'a mut Vec<u8>, lengths: impl Iterator<Item = u16>) -> Self {
        let start = out.len();
        let length = 1 + lengths.map(|length| usize::from(length) + 4).sum::<usize>();
        frame::start(out, BROADCAST, code::STATUS, length);
        Self { out, start }
    }

    /// Adds a servo's part.
    pub fn part(&mut self, status: &Status<'_>) {
        self.out.extend_from_slice(&[status.error_byte(), status.id]);
        self.out.extend_from_slice(status.data);
        append_crc(self.out, self.start);
    }
}

/// Takes the answer to a fast read apart.
#[derive(Debug, Clone)]
pub struct FastParts<'a> {
    rest: &'a [u8],
}

impl<'a> FastParts<'a> {
    /// The parts of a frame, whose own CRC vouches for theirs.
    ///
    /// # Errors
    /// When the parts do not fill the frame, or a checksum of theirs does not fit.
    pub fn new(frame: &Frame<'a>) -> Result<Self, FrameError> {
        if frame.instruction == code::STATUS && frame.id == BROADCAST {
            Ok(Self { rest: frame.params })
        } else {
            Err(FrameError::Unknown { code: frame.instruction })
        }
    }

    /// The next servo's part, which has `length` bytes of data; none at the end.
    pub fn next_part(&mut self, length: usize) -> Option<Result<Status<'a>, FrameError>> {
        let (&[error, id], rest) = self.rest.split_first_chunk()?;
        let Some((data, rest)) = rest.split_at_checked(length) else {
            let got = std::mem::take(&mut self.rest).len();
            return Some(Err(FrameError::Length { got, least: length + 2, most: length + 2 }));
        };
        // Between two parts is the CRC of the first; the last one's went with the frame.
        self.rest = rest.get(2..).unwrap_or_default();
        Some(Status::new(id, error, data))
    }
}
