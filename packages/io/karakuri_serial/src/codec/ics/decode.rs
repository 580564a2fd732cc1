//! Bytes to requests, as servos read them, and to answers, as their host does.

use super::{
    ANGLE, Answer, EEPROM, Eeprom, FrameError, ID, LONGEST, MAX_ID, POSITION, Parameter, READ,
    Request, WRITE, word,
};

/// The bits of a first byte that are the command.
const COMMAND: u8 = 0xe0;

/// Reads requests. A byte with its highest bit set begins one, whatever was before it.
#[derive(Debug, Clone)]
pub struct RequestDecoder {
    bytes: [u8; LONGEST],
    len: usize,
}

impl Default for RequestDecoder {
    fn default() -> Self {
        Self { bytes: [0; LONGEST], len: 0 }
    }
}

impl RequestDecoder {
    /// Takes one byte.
    pub fn push(&mut self, byte: u8) -> Option<Result<Request, FrameError>> {
        let begins = byte & 0x80 != 0;
        let broken = begins && self.len > 0;
        let got = self.len;
        if begins {
            self.len = 0;
        } else if self.len == 0 {
            return Some(Err(FrameError::Unknown { code: byte }));
        }
        self.bytes[self.len] = byte;
        self.len += 1;
        let expected = request_length(&self.bytes[..self.len]);
        if broken {
            return Some(Err(FrameError::Length { got, least: got + 1, most: LONGEST }));
        }
        if self.len < expected {
            return None;
        }
        let len = std::mem::take(&mut self.len);
        Some(decode_request(&self.bytes[..len]))
    }

    /// Forgets the bytes of an unfinished frame.
    pub fn reset(&mut self) {
        self.len = 0;
    }
}

/// Reads the answer to one request, with or without the request's own bytes before it.
#[derive(Debug, Clone)]
pub struct AnswerDecoder {
    /// First byte of the answer awaited; the highest bit set for none.
    head: u8,
    /// Sub-command of the answer; none where there is none.
    code: Option<u8>,
    answer: usize,
    request: usize,
    bytes: [u8; LONGEST],
    len: usize,
    /// Bytes of the echo that are still to come.
    echo: usize,
}

impl Default for AnswerDecoder {
    fn default() -> Self {
        Self {
            head: COMMAND,
            code: None,
            answer: 0,
            request: 0,
            bytes: [0; LONGEST],
            len: 0,
            echo: 0,
        }
    }
}

impl AnswerDecoder {
    /// Forgets what was read and awaits the answer to a request.
    pub fn expect(&mut self, request: &Request) {
        let (id, command, code, request, answer) = match *request {
            Request::Move { id, .. } => (id, POSITION, None, 3, 3),
            Request::Position { id } => (id, READ, Some(ANGLE), 2, 4),
            Request::Read { id, parameter } => (id, READ, Some(parameter as u8), 2, 3),
            Request::Write { id, parameter, .. } => (id, WRITE, Some(parameter as u8), 3, 3),
            Request::ReadEeprom { id } => (id, READ, Some(EEPROM), 2, LONGEST),
            Request::WriteEeprom { id, .. } => (id, WRITE, Some(EEPROM), LONGEST, 2),
            Request::GetId => (0, ID, None, 4, 1),
            Request::SetId { id } => (id, ID, None, 4, 1),
        };
        let head = command & 0x7f | id;
        *self = Self { head, code, answer, request, ..Self::default() };
    }

    /// Takes one byte.
    pub fn push(&mut self, byte: u8) -> Option<Result<Answer, FrameError>> {
        if self.echo > 0 {
            self.echo -= 1;
            return None;
        }
        // Only what the host has sent begins with the highest bit set.
        if byte & 0x80 != 0 {
            self.len = 0;
            self.echo = self.request.saturating_sub(1);
            return None;
        }
        let any_id = self.head == ID & 0x7f && self.answer == 1;
        if self.len == 0 && byte != self.head && !(any_id && byte & COMMAND == ID & 0x7f) {
            return Some(Err(FrameError::Unknown { code: byte }));
        }
        self.bytes[self.len] = byte;
        self.len += 1;
        if let (2, Some(code)) = (self.len, self.code)
            && byte != code
        {
            self.len = 0;
            return Some(Err(FrameError::Unknown { code: byte }));
        }
        if self.len < self.answer {
            return None;
        }
        let len = std::mem::take(&mut self.len);
        Some(decode_answer(&self.bytes[..len]))
    }

    /// Id of the servo that has answered.
    pub fn id(&self) -> u8 {
        self.bytes[0] & MAX_ID
    }
}

/// Bytes of a request by those that are there.
fn request_length(bytes: &[u8]) -> usize {
    match (bytes[0] & COMMAND, bytes.get(1)) {
        (READ, _) => 2,
        (WRITE, Some(&EEPROM)) => LONGEST,
        (POSITION | WRITE, _) => 3,
        _ => 4,
    }
}

fn decode_request(frame: &[u8]) -> Result<Request, FrameError> {
    let (command, id) = (frame[0] & COMMAND, frame[0] & MAX_ID);
    match (command, &frame[1..]) {
        (POSITION, &[high, low]) => Ok(Request::Move { id, position: word(high, low) }),
        (READ, [EEPROM]) => Ok(Request::ReadEeprom { id }),
        (READ, [ANGLE]) => Ok(Request::Position { id }),
        (READ, [code]) => Ok(Request::Read { id, parameter: a_parameter(*code)? }),
        (WRITE, [EEPROM, nibbles @ ..]) => {
            Ok(Request::WriteEeprom { id, eeprom: Eeprom::from_bytes(nibbles)? })
        }
        (WRITE, [code, value]) => {
            Ok(Request::Write { id, parameter: a_parameter(*code)?, value: *value })
        }
        (ID, [0, 0, 0]) => Ok(Request::GetId),
        (ID, [1, 1, 1]) => Ok(Request::SetId { id }),
        _ => Err(FrameError::Unknown { code: frame.get(1).copied().unwrap_or(frame[0]) }),
    }
}

fn decode_answer(frame: &[u8]) -> Result<Answer, FrameError> {
    match (frame[0] & COMMAND | 0x80, &frame[1..]) {
        (POSITION, &[high, low]) => Ok(Answer::Moved(word(high, low))),
        (READ, &[ANGLE, high, low]) => Ok(Answer::Position(word(high, low))),
        (READ, [EEPROM, nibbles @ ..]) => Ok(Answer::Eeprom(Eeprom::from_bytes(nibbles)?)),
        (READ, [code, value]) => Ok(Answer::Read(a_parameter(*code)?, *value)),
        (WRITE, [EEPROM]) => Ok(Answer::EepromWritten),
        (WRITE, [code, value]) => Ok(Answer::Written(a_parameter(*code)?, *value)),
        (ID, []) => Ok(Answer::Id),
        _ => Err(FrameError::Unknown { code: frame[0] }),
    }
}

fn a_parameter(code: u8) -> Result<Parameter, FrameError> {
    Parameter::of(code).ok_or(FrameError::Unknown { code })
}
