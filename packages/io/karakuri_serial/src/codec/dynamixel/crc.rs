//! CRC-16 of a frame: polynomial 8005h, from 0, bits in the order of their weight, no final exclusive or.

/// Remainders of all bytes.
const TABLE: [u16; 256] = table();

const fn table() -> [u16; 256] {
    let mut table = [0; 256];
    let mut byte: u16 = 0;
    while byte < 256 {
        let mut remainder = byte << 8;
        let mut bit = 0;
        while bit < 8 {
            remainder =
                if remainder & 0x8000 == 0 { remainder << 1 } else { (remainder << 1) ^ 0x8005 };
            bit += 1;
        }
        table[byte as usize] = remainder;
        byte += 1;
    }
    table
}

/// The CRC of bytes.
pub(super) fn crc(bytes: &[u8]) -> u16 {
    bytes
        .iter()
        .fold(0, |crc: u16, byte| (crc << 8) ^ TABLE[usize::from(crc.to_be_bytes()[0] ^ byte)])
}
