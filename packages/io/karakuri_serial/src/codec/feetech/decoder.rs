//! Bytes to frames, one byte at a time.

use super::frame::{BROADCAST, HEADER, OVERHEAD, Request, Status, checksum};
use crate::codec::FrameError;

/// The longest frame: what its length byte can count, and the four bytes before that.
const LONGEST: usize = 259;

/// Finds requests in a stream of bytes, as a servo does.
#[derive(Debug, Clone, Default)]
pub struct RequestDecoder(Buffer);

impl RequestDecoder {
    /// Takes a byte, and gives the request that it completes.
    ///
    /// Bytes that begin no frame are skipped. After a wrong frame the next one is looked for behind its first byte, so that a
    /// damaged length swallows nothing; if a frame was found there, it is given in the place of the error.
    pub fn push(&mut self, byte: u8) -> Option<Result<Request<'_>, FrameError>> {
        Some(self.0.push(byte)?.and_then(Request::from_frame))
    }

    /// Forgets an unfinished frame, as after a silence.
    pub fn reset(&mut self) {
        self.0.reset();
    }
}

/// Finds answers in a stream of bytes, as a host does.
#[derive(Debug, Clone, Default)]
pub struct StatusDecoder(Buffer);

impl StatusDecoder {
    /// Takes a byte, and gives the answer that it completes; as [`RequestDecoder::push`].
    pub fn push(&mut self, byte: u8) -> Option<Result<Status<'_>, FrameError>> {
        Some(self.0.push(byte)?.map(Status::from_frame))
    }

    /// Forgets an unfinished frame, as before a new request.
    pub fn reset(&mut self) {
        self.0.reset();
    }
}

/// Bytes of a frame that is not complete.
#[derive(Clone)]
struct Buffer {
    bytes: [u8; LONGEST],
    len: usize,
    /// Length of the frame that was given last, which is dropped with the next byte.
    given: usize,
}

impl Default for Buffer {
    fn default() -> Self {
        Self { bytes: [0; LONGEST], len: 0, given: 0 }
    }
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Buffer").field(&&self.bytes[self.given..self.len]).finish()
    }
}

/// What the bytes so far are.
enum Parsed {
    Unfinished,
    /// A frame of so many bytes.
    Frame(usize),
    /// No frame begins here.
    Noise,
    Wrong(FrameError),
}

impl Buffer {
    fn push(&mut self, byte: u8) -> Option<Result<&[u8], FrameError>> {
        let given = std::mem::take(&mut self.given);
        self.drop_front(given);
        self.bytes[self.len] = byte;
        self.len += 1;
        let mut error = None;
        loop {
            match parse(&self.bytes[..self.len]) {
                Parsed::Unfinished => return error.map(Err),
                Parsed::Frame(len) => {
                    self.given = len;
                    return Some(Ok(&self.bytes[..len]));
                }
                Parsed::Noise => self.drop_front(1),
                Parsed::Wrong(wrong) => {
                    error.get_or_insert(wrong);
                    self.drop_front(1);
                }
            }
        }
    }

    fn drop_front(&mut self, n: usize) {
        self.bytes.copy_within(n..self.len, 0);
        self.len -= n;
    }

    fn reset(&mut self) {
        self.len = 0;
        self.given = 0;
    }
}

fn parse(bytes: &[u8]) -> Parsed {
    if bytes.iter().zip(HEADER).any(|(byte, header)| *byte != header) {
        return Parsed::Noise;
    }
    // A third FF is no id: the header begins one byte later.
    if bytes.get(2).is_some_and(|id| *id > BROADCAST) {
        return Parsed::Noise;
    }
    let Some(counted) = bytes.get(3).map(|counted| usize::from(*counted)) else {
        return Parsed::Unfinished;
    };
    let len = counted + 4;
    if len < OVERHEAD {
        return Parsed::Wrong(FrameError::Length { got: counted, least: 2, most: LONGEST - 4 });
    }
    if bytes.len() < len {
        return Parsed::Unfinished;
    }
    let (got, expected) = (bytes[len - 1], checksum(&bytes[2..len - 1]));
    if got == expected {
        return Parsed::Frame(len);
    }
    Parsed::Wrong(FrameError::Checksum { got: got.into(), expected: expected.into() })
}
