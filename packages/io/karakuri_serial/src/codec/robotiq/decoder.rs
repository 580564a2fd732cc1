//! Bytes to frames.
//!
//! Modbus RTU ends a frame by silence. Here its length follows from what it says, which needs no clock: a frame that cannot be
//! right loses its first byte, and what is left is looked at again.

use super::super::FrameError;
use super::crc::crc;
use super::frame::{
    Answer, EXCEPTION, Exception, MAX_WORDS, READ_HOLDING, READ_INPUT, READ_WRITE, ReadFunction,
    Request, WRITE, Words,
};

/// Longest frame: function 23 with all its words.
const LONGEST: usize = 13 + 2 * MAX_WORDS;

/// The device's side: takes bytes, gives requests with their slaves.
#[derive(Debug, Clone)]
pub struct RequestDecoder(Buffer);

/// The host's side: takes bytes, gives answers with their slaves.
#[derive(Debug, Clone)]
pub struct AnswerDecoder(Buffer);

impl Default for RequestDecoder {
    fn default() -> Self {
        Self(Buffer::new())
    }
}

impl Default for AnswerDecoder {
    fn default() -> Self {
        Self(Buffer::new())
    }
}

impl RequestDecoder {
    /// Take a byte; the slave and the request of a frame that it completes.
    pub fn push(&mut self, byte: u8) -> Option<Result<(u8, Request), FrameError>> {
        self.0.push(byte, request_length, request)
    }

    /// Forget an unfinished frame, as silence does.
    pub fn reset(&mut self) {
        self.0.n = 0;
    }
}

impl AnswerDecoder {
    /// Take a byte; the slave and the answer of a frame that it completes.
    pub fn push(&mut self, byte: u8) -> Option<Result<(u8, Answer), FrameError>> {
        self.0.push(byte, answer_length, answer)
    }

    /// Forget an unfinished frame, as silence does.
    pub fn reset(&mut self) {
        self.0.n = 0;
    }
}

#[derive(Debug, Clone)]
struct Buffer {
    bytes: [u8; LONGEST],
    n: usize,
}

impl Buffer {
    fn new() -> Self {
        Self { bytes: [0; LONGEST], n: 0 }
    }

    fn push<Frame>(
        &mut self,
        byte: u8,
        length: fn(&[u8]) -> Result<Option<usize>, FrameError>,
        read: fn(&[u8]) -> Frame,
    ) -> Option<Result<(u8, Frame), FrameError>> {
        self.bytes[self.n] = byte;
        self.n += 1;
        let mut first_error = None;
        loop {
            let error = match length(&self.bytes[..self.n]) {
                Ok(Some(length)) if length <= self.n => match checked(&self.bytes[..length]) {
                    Ok(()) => {
                        let frame = (self.bytes[0], read(&self.bytes[1..length - 2]));
                        self.discard(length);
                        return Some(Ok(frame));
                    }
                    Err(error) => error,
                },
                Ok(_) => return first_error.map(Err),
                Err(error) => error,
            };
            first_error.get_or_insert(error);
            self.discard(1);
        }
    }

    fn discard(&mut self, n: usize) {
        self.bytes.copy_within(n..self.n, 0);
        self.n -= n;
    }
}

fn checked(frame: &[u8]) -> Result<(), FrameError> {
    let (body, sum) = frame.split_at(frame.len() - 2);
    let (got, expected) = (u16::from_le_bytes([sum[0], sum[1]]), crc(body));
    if got == expected { Ok(()) } else { Err(FrameError::Checksum { got, expected }) }
}

/// Length of a request's frame, as soon as its bytes say it.
fn request_length(bytes: &[u8]) -> Result<Option<usize>, FrameError> {
    let Some(&code) = bytes.get(1) else { return Ok(None) };
    match code {
        1 | 2 | READ_HOLDING | READ_INPUT | 5 | 6 => Ok(Some(8)),
        WRITE => with_words(bytes, 6),
        READ_WRITE => with_words(bytes, 10),
        code => Err(FrameError::Unknown { code }),
    }
}

/// Length of a frame that has its number of words before `place`, that of their bytes at it, and ends by the words.
fn with_words(bytes: &[u8], place: usize) -> Result<Option<usize>, FrameError> {
    let Some(&n_bytes) = bytes.get(place) else { return Ok(None) };
    let n_words = usize::from(u16::from_be_bytes([bytes[place - 2], bytes[place - 1]]));
    let n_bytes = usize::from(n_bytes);
    if n_bytes != 2 * n_words || n_words == 0 || n_words > MAX_WORDS {
        return Err(FrameError::Length { got: n_bytes, least: 2, most: 2 * MAX_WORDS });
    }
    Ok(Some(place + 1 + n_bytes + 2))
}

/// Length of an answer's frame, as soon as its bytes say it.
fn answer_length(bytes: &[u8]) -> Result<Option<usize>, FrameError> {
    let (Some(&code), Some(&third)) = (bytes.get(1), bytes.get(2)) else { return Ok(None) };
    match code {
        READ_HOLDING | READ_INPUT | READ_WRITE => {
            let n_bytes = usize::from(third);
            if n_bytes % 2 == 0 && (2..=2 * MAX_WORDS).contains(&n_bytes) {
                Ok(Some(3 + n_bytes + 2))
            } else {
                Err(FrameError::Length { got: n_bytes, least: 2, most: 2 * MAX_WORDS })
            }
        }
        WRITE => Ok(Some(8)),
        code if code & EXCEPTION != 0 => Ok(Some(5)),
        code => Err(FrameError::Unknown { code }),
    }
}

/// A request of which the length is right, from its function to before its checksum.
fn request(bytes: &[u8]) -> Request {
    let word = |place: usize| u16::from_be_bytes([bytes[place], bytes[place + 1]]);
    let read = |function| Request::Read { function, address: word(1), count: word(3) };
    match bytes[0] {
        READ_HOLDING => read(ReadFunction::Holding),
        READ_INPUT => read(ReadFunction::Input),
        WRITE => Request::Write { address: word(1), words: Words::from_bytes(&bytes[6..]) },
        READ_WRITE => Request::ReadWrite {
            read_address: word(1),
            read_count: word(3),
            write_address: word(5),
            words: Words::from_bytes(&bytes[10..]),
        },
        function => Request::Other { function, data: [bytes[1], bytes[2], bytes[3], bytes[4]] },
    }
}

/// An answer of which the length is right, from its function to before its checksum.
fn answer(bytes: &[u8]) -> Answer {
    match bytes[0] {
        WRITE => Answer::Written {
            address: u16::from_be_bytes([bytes[1], bytes[2]]),
            count: u16::from_be_bytes([bytes[3], bytes[4]]),
        },
        code if code & EXCEPTION != 0 => Answer::Exception {
            function: code & !EXCEPTION,
            exception: Exception::from_code(bytes[1]),
        },
        function => Answer::Words { function, words: Words::from_bytes(&bytes[2..]) },
    }
}
