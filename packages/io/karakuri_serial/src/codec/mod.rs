//! Protocols of servo buses: frames to bytes and back, without input or output.
//!
//! Every protocol is a file with the same three things: requests and answers as types, `encode` which appends a frame to a buffer, and
//! decoders that take a byte at a time, `push(byte) -> Option<Result<Frame, FrameError>>`, and find the next frame after a wrong one.

pub mod dynamixel;
pub mod feetech;
pub mod ics;
pub mod rcb1;
pub mod rcb4;
pub mod robotiq;

/// Why bytes are no frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// The checksum does not fit the bytes before it.
    #[error("checksum {got:#x}, expected {expected:#x}")]
    Checksum {
        /// That of the frame.
        got: u16,
        /// That of its bytes.
        expected: u16,
    },
    /// A length that no frame of the protocol has.
    #[error("length {got}, expected {least} to {most}")]
    Length {
        /// That of the frame.
        got: usize,
        /// Shortest.
        least: usize,
        /// Longest.
        most: usize,
    },
    /// A byte that begins no frame, or an instruction that the protocol does not have.
    #[error("unknown code {code:#04x}")]
    Unknown {
        /// The byte.
        code: u8,
    },
    /// A field outside of its range.
    #[error("{field} is {got}, expected {least} to {most}")]
    Range {
        /// Its name.
        field: &'static str,
        /// Its value.
        got: u32,
        /// Least value.
        least: u32,
        /// Greatest value.
        most: u32,
    },
}
