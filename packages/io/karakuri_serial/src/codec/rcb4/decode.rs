//! Bytes to frames, and frames to requests and answers.

use super::{
    ACK, ACKNOWLEDGE, Answer, CALL, COMPARE, Condition, Data, FrameError, GET_VERSION, Goal, JUMP,
    LONGEST, MOVE, NAK, ONE_SERVO, Operation, RETURN, Request, SERVO_PARAMETER, SERVOS,
    SERVOS_ONE_TIME, SERVOS_OWN_TIMES, SHORTEST, ServoParameter, ServoSet, checksum, copy,
};

/// A frame whose sum is right.
#[derive(Clone, Copy)]
pub struct Frame {
    bytes: [u8; LONGEST],
    len: usize,
}

/// Finds frames.
///
/// Nothing marks the start of a frame but a size that agrees with the sum. After a wrong one the search goes on at its second byte.
#[derive(Debug, Clone)]
pub struct Decoder {
    bytes: [u8; LONGEST],
    len: usize,
}

impl Default for Decoder {
    fn default() -> Self {
        Self { bytes: [0; LONGEST], len: 0 }
    }
}

impl Decoder {
    /// Takes one byte.
    pub fn push(&mut self, byte: u8) -> Option<Result<Frame, FrameError>> {
        self.bytes[self.len] = byte;
        self.len += 1;
        let mut wrong = None;
        while self.len > 0 {
            match Frame::first_of(&self.bytes[..self.len]) {
                Ok(None) => break,
                Ok(Some(frame)) => {
                    self.drop_first(frame.len);
                    return Some(Ok(frame));
                }
                Err(error) => {
                    wrong = Some(error);
                    self.drop_first(1);
                }
            }
        }
        wrong.map(Err)
    }

    /// Forgets the bytes of an unfinished frame.
    pub fn reset(&mut self) {
        self.len = 0;
    }

    fn drop_first(&mut self, count: usize) {
        self.bytes.copy_within(count..self.len, 0);
        self.len -= count;
    }
}

impl Frame {
    /// The frame that bytes begin with; none if some are missing.
    ///
    /// # Errors
    /// When the bytes begin no frame, or the checksum does not fit.
    pub fn first_of(bytes: &[u8]) -> Result<Option<Self>, FrameError> {
        let Some(size) = bytes.first().map(|size| usize::from(*size)) else { return Ok(None) };
        if !(SHORTEST..=LONGEST).contains(&size) {
            return Err(FrameError::Length { got: size, least: SHORTEST, most: LONGEST });
        }
        let Some(frame) = bytes.get(..size) else { return Ok(None) };
        let (got, expected) = (frame[size - 1], checksum(&frame[..size - 1]));
        if got != expected {
            return Err(FrameError::Checksum { got: got.into(), expected: expected.into() });
        }
        let mut whole = Self { bytes: [0; LONGEST], len: size };
        whole.bytes[..size].copy_from_slice(frame);
        Ok(Some(whole))
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Its command.
    pub fn command(&self) -> u8 {
        self.bytes[1]
    }

    /// What is between command and sum.
    fn body(&self) -> &[u8] {
        &self.bytes[2..self.len - 1]
    }

    /// As a request.
    ///
    /// # Errors
    /// What of it the board does not know; it answers [`Answer::Refused`].
    pub fn request(&self) -> Result<Request, FrameError> {
        let body = self.body();
        match (self.command(), body) {
            (MOVE, _) => copy::decode(body).map(|(to, from)| Request::Move { to, from }),
            (command @ (0x01..=0x03 | 0x07), &[kind, low, high, _, ref value @ ..]) => {
                if kind & !COMPARE != copy::LITERAL_TO_RAM {
                    return Err(FrameError::Unknown { code: kind });
                }
                Ok(Request::Operate {
                    operation: operation(command)?,
                    compare: kind & COMPARE != 0,
                    address: u16::from_le_bytes([low, high]),
                    value: Data::new(value)?,
                })
            }
            (command @ (JUMP | CALL), &[a, b, c, bits]) => {
                let address = copy::rom_address([a, b, c])?;
                let condition = Condition::from_bits(bits);
                Ok(match command {
                    JUMP => Request::Jump { address, condition },
                    _ => Request::Call { address, condition },
                })
            }
            (RETURN, []) => Ok(Request::Return { condition: Condition::default() }),
            (RETURN, [bits]) => Ok(Request::Return { condition: Condition::from_bits(*bits) }),
            (ONE_SERVO, &[servo, frames, low, high]) if usize::from(servo) < SERVOS => {
                let goal = Goal::from_word(u16::from_le_bytes([low, high]));
                Ok(Request::MoveServo { servo, frames, goal })
            }
            (SERVOS_ONE_TIME | SERVOS_OWN_TIMES | SERVO_PARAMETER, _) => self.of_servos(),
            (GET_VERSION, []) => Ok(Request::Version),
            (ACKNOWLEDGE, [ACK]) => Ok(Request::Acknowledge),
            (code, _) => Err(FrameError::Unknown { code }),
        }
    }

    /// A request with a mask of servos.
    fn of_servos(&self) -> Result<Request, FrameError> {
        let wrong = |least, each: usize| FrameError::Length {
            got: self.len,
            least,
            most: least + each * SERVOS,
        };
        let Some((mask, rest)) = self.body().split_first_chunk::<{ ServoSet::BYTES }>() else {
            return Err(wrong(8, 3));
        };
        let servos = ServoSet::from_bytes(*mask)?;
        let n = servos.n_servos();
        match (self.command(), rest) {
            (SERVOS_ONE_TIME, [frames, words @ ..]) if words.len() == 2 * n => {
                let mut goals = [Goal::default(); SERVOS];
                for (servo, word) in servos.numbers().zip(words.chunks_exact(2)) {
                    goals[servo] = Goal::from_word(u16::from_le_bytes([word[0], word[1]]));
                }
                Ok(Request::MoveServos { servos, frames: *frames, goals })
            }
            (SERVOS_OWN_TIMES, moves) if moves.len() == 3 * n => {
                let (mut frames, mut goals) = ([0; SERVOS], [Goal::default(); SERVOS]);
                for (servo, one) in servos.numbers().zip(moves.chunks_exact(3)) {
                    frames[servo] = one[0];
                    goals[servo] = Goal::from_word(u16::from_le_bytes([one[1], one[2]]));
                }
                Ok(Request::MoveServosApart { servos, frames, goals })
            }
            (SERVO_PARAMETER, [code, bytes @ ..]) if bytes.len() == n => {
                let mut values = [0; SERVOS];
                for (servo, byte) in servos.numbers().zip(bytes) {
                    values[servo] = *byte;
                }
                Ok(Request::SetServos { servos, parameter: ServoParameter::of(*code)?, values })
            }
            (SERVOS_ONE_TIME, _) => Err(wrong(9, 2)),
            (SERVO_PARAMETER, _) => Err(wrong(9, 1)),
            _ => Err(wrong(8, 3)),
        }
    }

    /// As an answer.
    ///
    /// # Errors
    /// What of it no board sends.
    pub fn answer(&self) -> Result<Answer, FrameError> {
        match (self.command(), self.body()) {
            (MOVE, [ACK]) => Ok(Answer::Done { command: MOVE }),
            (MOVE, [NAK]) => Ok(Answer::Refused { command: MOVE }),
            (MOVE, data) => Ok(Answer::Data(Data::new(data)?)),
            (GET_VERSION, text) => match text.try_into() {
                Ok(text) => Ok(Answer::Version(text)),
                Err(_) => Err(FrameError::Length { got: self.len, least: 35, most: 35 }),
            },
            (command, [ACK]) => Ok(Answer::Done { command }),
            (command, [NAK]) => Ok(Answer::Refused { command }),
            (code, _) => Err(FrameError::Unknown { code }),
        }
    }
}

/// Reads the answer to one request.
#[derive(Debug, Clone, Default)]
pub struct AnswerDecoder {
    frames: Decoder,
    command: u8,
    /// Bytes of memory that the answer has; none for an acknowledgement.
    data: Option<u8>,
}

impl AnswerDecoder {
    /// Forgets what was read and awaits the answer to a request.
    pub fn expect(&mut self, request: &Request) {
        let data = match request {
            Request::Move { to: super::Place::Host, from } => Some(match from {
                super::Source::Ram { count, .. }
                | super::Source::Device { count, .. }
                | super::Source::Rom { count, .. } => *count,
                super::Source::Literal(data) => u8::try_from(data.bytes().len()).unwrap_or(u8::MAX),
            }),
            _ => None,
        };
        *self = Self { frames: Decoder::default(), command: request.command(), data };
    }

    /// Takes one byte. Frames that answer another request are passed over.
    pub fn push(&mut self, byte: u8) -> Option<Result<Answer, FrameError>> {
        let frame = match self.frames.push(byte)? {
            Ok(frame) => frame,
            Err(error) => return Some(Err(error)),
        };
        if frame.command() != self.command {
            return Some(Err(FrameError::Unknown { code: frame.command() }));
        }
        let Some(count) = self.data else { return Some(frame.answer()) };
        // A single byte of data looks as an acknowledgement does, and a refusal as data of one byte.
        match frame.body() {
            data if data.len() == usize::from(count) => Some(Data::new(data).map(Answer::Data)),
            [NAK] => Some(Ok(Answer::Refused { command: MOVE })),
            data => {
                let count = usize::from(count);
                Some(Err(FrameError::Length { got: data.len(), least: count, most: count }))
            }
        }
    }
}

fn operation(code: u8) -> Result<Operation, FrameError> {
    [Operation::And, Operation::Or, Operation::Xor, Operation::Subtract]
        .into_iter()
        .find(|operation| *operation as u8 == code)
        .ok_or(FrameError::Unknown { code })
}

impl PartialEq for Frame {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl std::fmt::Debug for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:02X?}", self.bytes())
    }
}
