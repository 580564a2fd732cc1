//! Digests of runs.

use core::fmt::{self, Write as _};

/// Digest of numbers in their order, equal for equal runs (FNV-1a). Displayed as 16 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    /// Digest of all that a value holds, by the text of its derived [`fmt::Debug`]: each field is in it, and each number by decimals that read
    /// back as the same bits. Only one NaN is as another.
    pub fn of(value: &impl fmt::Debug) -> Self {
        let mut digest = Self::default();
        // It takes all text.
        write!(digest, "{value:?}").ok();
        digest
    }

    /// Adds the bits of a number.
    pub fn add(&mut self, bits: u64) {
        self.add_bytes(&bits.to_le_bytes());
    }

    fn add_bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

impl fmt::Write for Digest {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.add_bytes(text.as_bytes());
        Ok(())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
