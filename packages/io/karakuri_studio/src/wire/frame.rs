//! Binary frames, little-endian: a header of 16 bytes, `u8 kind, u8 version, u16 stream, u32 seq, f64 time_s`, and then `f32`.

/// Version of the frames.
const VERSION: u8 = 1;

/// Kind of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// Per body `x y z qx qy qz qw`, then per joint position, velocity, effort. `stream` is the number of the stage.
    State = 1,
    /// Rows as those of [`Kind::State`] at a fixed time step, which `time_s` is; `seq` is the index of the first row.
    Clip = 2,
    /// Per contact the point [m] (3), the force on the first body [N] (3), and the two bodies' indices; -1 is the ground.
    Contacts = 3,
    /// Values of the quantities of `RunState.plots`, in their order.
    Plots = 4,
    /// The measured robot: poses of its bodies in its first, per joint position, velocity, effort.
    Measured = 5,
}

/// Header of a frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Header {
    /// Kind of the frame.
    pub kind: Kind,
    /// Number of the stage that the frame is of.
    pub stream: u16,
    /// Number of the frame, to be acknowledged.
    pub seq: u32,
    /// Time that the frame is of. [s]
    pub time: f64,
}

/// Bytes of a header.
pub const HEADER_LEN: usize = 16;
/// Place of the number of a frame among its bytes.
const SEQ_AT: usize = 4;

/// Bytes of a frame.
#[expect(clippy::cast_possible_truncation, reason = "pictures need no more than single precision")]
pub fn encode(header: Header, numbers: &[f64]) -> Vec<u8> {
    frame_of(header, numbers.iter().map(|&x| x as f32))
}

/// Bytes of a frame of single precision.
pub fn encode_rows(header: Header, numbers: &[f32]) -> Vec<u8> {
    frame_of(header, numbers.iter().copied())
}

fn frame_of(header: Header, numbers: impl ExactSizeIterator<Item = f32>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER_LEN + 4 * numbers.len());
    bytes.extend([header.kind as u8, VERSION]);
    bytes.extend(header.stream.to_le_bytes());
    bytes.extend(header.seq.to_le_bytes());
    bytes.extend(header.time.to_le_bytes());
    bytes.extend(numbers.flat_map(f32::to_le_bytes));
    bytes
}

/// Gives a frame its number: each client counts its own.
pub fn set_seq(bytes: &mut [u8], seq: u32) {
    bytes[SEQ_AT..SEQ_AT + 4].copy_from_slice(&seq.to_le_bytes());
}
