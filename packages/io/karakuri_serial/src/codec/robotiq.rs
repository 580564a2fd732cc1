//! Robotiq's two-finger grippers by Modbus RTU: 115200 baud, 8N1, slave 9 from the factory.
//!
//! The host writes three words that say what the gripper has to do, and reads three that say what it does. A frame is
//! `SLAVE FUNCTION … CRC`; words are big-endian, the CRC-16 (polynomial 0xA001, reflected, from 0xFFFF) is sent low byte first.
//! A gripper takes any of the functions 3, 4, 16 and 23 for them.
//!
//! Sources: Robotiq, 2F-85 and 2F-140 instruction manual, section "Control over Modbus RTU"; Modbus application protocol
//! specification 1.1b3, sections 6 and 7. The width of a count is of one source, as `PickNik`'s driver has it.

mod crc;
mod decoder;
mod frame;
mod registers;

pub use decoder::{AnswerDecoder, RequestDecoder};
pub use frame::{Answer, Exception, MAX_WORDS, ReadFunction, Request, Words};
pub use registers::{
    Activation, COMMAND_ADDRESS, Command, GripperFault, Model, Object, Release, STATUS_ADDRESS,
    Status, TWO_F_85, TWO_F_140,
};

/// Baud rate from the factory, 8N1. [bit/s]
pub const BAUD: u32 = 115_200;
/// Address of a gripper from the factory.
pub const SLAVE: u8 = 9;
/// Requests to this address are for all, and nobody answers.
pub const BROADCAST: u8 = 0;

#[cfg(test)]
mod tests;
