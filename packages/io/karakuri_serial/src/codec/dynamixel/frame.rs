//! Frames: `FF FF FD 00`, id, length, instruction, parameters, CRC. The length counts what follows it.

use super::crc::crc;
use super::request::code;
use super::stuffing::{self, Run};
use crate::codec::FrameError;

/// Id of a frame that is for every servo.
pub const BROADCAST: u8 = 0xFE;

const HEADER: [u8; 4] = [0xFF, 0xFF, 0xFD, 0x00];
/// Where the instruction is: after header, id and length.
const BODY: usize = 7;
const CRC_SIZE: usize = 2;
/// Instruction and CRC.
const SHORTEST: usize = 3;
/// A servo has less than 1 kB to read, and the maker's own library receives no more.
const LONGEST: usize = 1024;

/// A frame whose CRC is right, without its stuffing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Servo that it is for or from, or [`BROADCAST`].
    pub id: u8,
    /// Code of the instruction, or 55h in an answer.
    pub instruction: u8,
    /// What follows the instruction.
    pub params: &'a [u8],
}

/// Writes one frame to the end of a buffer.
#[derive(Debug)]
pub(super) struct Writer<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
    run: Run,
}

impl<'a> Writer<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>, id: u8, instruction: u8) -> Self {
        let start = out.len();
        out.extend_from_slice(&HEADER);
        out.extend_from_slice(&[id, 0, 0, instruction]);
        Self { out, start, run: Run::None }
    }

    pub(super) fn bytes(mut self, bytes: &[u8]) -> Self {
        for &byte in bytes {
            self.out.push(byte);
            self.run = self.run.then(byte);
            if self.run == Run::Whole {
                self.out.push(0xFD);
                self.run = Run::None;
            }
        }
        self
    }

    pub(super) fn word(self, word: u16) -> Self {
        self.bytes(&word.to_le_bytes())
    }

    /// Fills in the length and adds the CRC.
    pub(super) fn end(self) {
        let length = self.out.len() - self.start - BODY + CRC_SIZE;
        set_length(&mut self.out[self.start..], length);
        append_crc(self.out, self.start);
    }
}

/// Appends a frame of any instruction with any parameters.
#[cfg(test)]
pub(crate) fn append_frame(out: &mut Vec<u8>, id: u8, instruction: u8, params: &[u8]) {
    Writer::new(out, id, instruction).bytes(params).end();
}

/// Writes the start of a frame that has `length` bytes after its length, up to its instruction.
pub(super) fn start(out: &mut Vec<u8>, id: u8, instruction: u8, length: usize) {
    let start = out.len();
    out.extend_from_slice(&HEADER);
    out.extend_from_slice(&[id, 0, 0, instruction]);
    set_length(&mut out[start..], length);
}

/// Adds the CRC of everything from `start` on.
pub(super) fn append_crc(out: &mut Vec<u8>, start: usize) {
    let crc = crc(&out[start..]);
    out.extend_from_slice(&crc.to_le_bytes());
}

fn set_length(frame: &mut [u8], length: usize) {
    // Frames above 64 kB do not exist; one would be refused by its receiver.
    let length = u16::try_from(length).unwrap_or(u16::MAX);
    frame[5..BODY].copy_from_slice(&length.to_le_bytes());
}

/// Finds frames in a stream of bytes, requests and answers alike.
///
/// After a wrong frame it goes on with the next header, be it inside of the wrong one. With stuffing, a header inside of a frame
/// means that the rest of that frame was lost. A lenient decoder takes such a frame by its length instead: some
/// hosts send values that look like a header as they are.
#[derive(Debug, Clone)]
pub struct Decoder {
    bytes: Vec<u8>,
    /// How many of them are a frame that was handed out.
    delivered: usize,
    /// How many of them were searched for headers inside.
    searched: usize,
    run: Run,
    accepts_unstuffed: bool,
    rejected: Option<u8>,
}

/// What the bytes so far are.
enum Found {
    /// The start of a frame.
    Part,
    /// A frame, whose parameters end here.
    Frame { end: usize },
    /// No frame, and none starts within this many bytes.
    Wrong { error: FrameError, skip: usize },
}

impl Default for Decoder {
    fn default() -> Self {
        Self {
            bytes: Vec::with_capacity(BODY + LONGEST + 1),
            delivered: 0,
            searched: BODY,
            run: Run::None,
            accepts_unstuffed: false,
            rejected: None,
        }
    }
}

impl Decoder {
    /// A decoder that takes frames of hosts that do not stuff.
    pub(crate) fn accepting_unstuffed() -> Self {
        Self { accepts_unstuffed: true, ..Self::default() }
    }

    /// Takes a byte, and returns the frame that it completes, or why one that seemed to have started is none.
    pub fn push(&mut self, byte: u8) -> Option<Result<Frame<'_>, FrameError>> {
        self.drop_first(self.delivered);
        self.bytes.push(byte);
        let mut wrong = None;
        let end = loop {
            self.find_header();
            match self.examine() {
                Found::Part => return wrong.map(Err),
                Found::Frame { end } => break end,
                Found::Wrong { error, skip } => {
                    self.drop_first(skip);
                    wrong = Some(error);
                }
            }
        };
        Some(Ok(Frame {
            id: self.bytes[4],
            instruction: self.bytes[BODY],
            params: &self.bytes[BODY + 1..end],
        }))
    }

    /// Forgets what it has of a frame, as servos do after a pause.
    pub fn reset(&mut self) {
        self.drop_first(self.bytes.len());
    }

    /// Id in the last frame whose CRC was wrong, once: its servo reports that.
    pub(crate) fn take_rejected(&mut self) -> Option<u8> {
        self.rejected.take()
    }

    fn drop_first(&mut self, count: usize) {
        if count > 0 {
            self.bytes.drain(..count);
            self.delivered = 0;
            self.searched = BODY;
            self.run = Run::None;
        }
    }

    /// Drops what no header begins in.
    fn find_header(&mut self) {
        let begins = |at: &usize| self.bytes[*at..].iter().zip(HEADER).all(|(byte, h)| *byte == h);
        let start = (0..self.bytes.len()).find(begins).unwrap_or(self.bytes.len());
        self.drop_first(start);
    }

    fn examine(&mut self) -> Found {
        let &[_, _, _, _, id, low, high, ..] = self.bytes.as_slice() else { return Found::Part };
        if id > BROADCAST || id == HEADER[2] {
            let error = FrameError::Range { field: "id", got: id.into(), least: 0, most: 252 };
            return Found::Wrong { error, skip: 1 };
        }
        let length = usize::from(u16::from_le_bytes([low, high]));
        if !(SHORTEST..=LONGEST).contains(&length) {
            let error = FrameError::Length { got: length, least: SHORTEST, most: LONGEST };
            return Found::Wrong { error, skip: 1 };
        }
        let whole = BODY + length;
        if let Some(header) = self.header_inside(whole - CRC_SIZE) {
            let error = FrameError::Length { got: header - BODY, least: length, most: length };
            return Found::Wrong { error, skip: header };
        }
        if self.bytes.len() < whole {
            return Found::Part;
        }
        let (frame, sum) = self.bytes[..whole].split_at(whole - CRC_SIZE);
        let (expected, got) = (crc(frame), u16::from_le_bytes([sum[0], sum[1]]));
        if got != expected {
            self.rejected = Some(id);
            return Found::Wrong { error: FrameError::Checksum { got, expected }, skip: 1 };
        }
        self.delivered = whole;
        let end = if self.is_fast_answer() {
            whole - CRC_SIZE
        } else {
            BODY + stuffing::remove(&mut self.bytes[BODY..whole - CRC_SIZE])
        };
        Found::Frame { end }
    }

    /// Where a header starts inside of the frame, up to `end`.
    fn header_inside(&mut self, end: usize) -> Option<usize> {
        if self.accepts_unstuffed || self.is_fast_answer() {
            return None;
        }
        while self.searched < end.min(self.bytes.len()) {
            let byte = self.bytes[self.searched];
            match (self.run, byte) {
                (Run::Whole, 0xFD) => self.run = Run::None,
                (Run::Whole, _) => return Some(self.searched - 3),
                (run, byte) => self.run = run.then(byte),
            }
            self.searched += 1;
        }
        None
    }

    /// Whether it is one frame of several servos, which is not stuffed: its first servo cannot know what the others will add.
    fn is_fast_answer(&self) -> bool {
        self.bytes[4] == BROADCAST && self.bytes.get(BODY) == Some(&code::STATUS)
    }
}
