//! Byte stuffing: what keeps the start of a header out of a frame's inside.
//!
//! From the instruction to the last parameter, an FD is added after every `FF FF FD`. Whether a byte is one of these is a matter of
//! the bytes before it, not of a pattern of four: in `FF FF FD FF FD FD`, none is.

/// How much of `FF FF FD` the last bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Run {
    /// Nothing.
    #[default]
    None,
    /// `FF`
    First,
    /// `FF FF`
    Second,
    /// All: an added FD follows.
    Whole,
}

impl Run {
    /// The run after one more byte.
    pub(super) fn then(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::Second, 0xFD) => Self::Whole,
            (Self::First | Self::Second, 0xFF) => Self::Second,
            (_, 0xFF) => Self::First,
            _ => Self::None,
        }
    }
}

/// Takes the added bytes out, in place, and returns how many bytes remain.
pub(super) fn remove(bytes: &mut [u8]) -> usize {
    let mut run = Run::None;
    let mut kept = 0;
    for at in 0..bytes.len() {
        let byte = bytes[at];
        if run == Run::Whole && byte == 0xFD {
            run = Run::None;
            continue;
        }
        run = run.then(byte);
        bytes[kept] = byte;
        kept += 1;
    }
    kept
}
