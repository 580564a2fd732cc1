//! The checksum of Modbus RTU.

/// CRC-16 of the polynomial 0xA001, reflected, from 0xFFFF. [Modbus over serial line 1.02, §6.2.2]
pub(super) fn crc(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0xFFFF, |crc, byte| {
        (0..8).fold(crc ^ u16::from(*byte), |crc, _| {
            if crc & 1 == 0 { crc >> 1 } else { (crc >> 1) ^ 0xA001 }
        })
    })
}
