//! How bytes are sent on a line.

/// Parity bit of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parity {
    /// No parity bit.
    None,
    /// A bit that makes the number of ones even.
    Even,
}

/// How bytes are sent: 8 data bits, one stop bit, and this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// Baud rate. [bit/s]
    pub baud: u32,
    /// Parity bit.
    pub parity: Parity,
}

impl Line {
    /// 8 data bits, no parity, one stop bit at `baud` [bit/s].
    pub const fn eight_n_one(baud: u32) -> Self {
        Self { baud, parity: Parity::None }
    }

    /// 8 data bits, even parity, one stop bit at `baud` [bit/s].
    pub const fn eight_e_one(baud: u32) -> Self {
        Self { baud, parity: Parity::Even }
    }

    /// Time that a byte takes on the wire, with its start, parity and stop bits. [s]
    pub fn byte_time(self) -> f64 {
        let bits = match self.parity {
            Parity::None => 10.0,
            Parity::Even => 11.0,
        };
        bits / f64::from(self.baud)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_takes_its_bits() {
        assert!((Line::eight_n_one(1_000_000).byte_time() - 10e-6).abs() < 1e-12);
        assert!((Line::eight_e_one(1_250_000).byte_time() - 8.8e-6).abs() < 1e-12);
    }
}
