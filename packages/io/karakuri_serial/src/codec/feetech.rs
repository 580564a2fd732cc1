//! Feetech's protocol of the STS, SMS and SCS servos: many servos on one wire, 8N1, 1 Mbaud from the factory.
//!
//! A frame is `FF FF ID LEN INST P… CHK`: `LEN` counts the parameters and 2 more, `CHK` is the complement of the sum from `ID` on.
//! An answer has alarm bits in the place of `INST`, and the data follow whatever they say. Words are little-endian on the STS and
//! big-endian on the SCS; negative numbers have a sign bit, of which the place depends on the register. Servos answer one at a
//! time; a request to all ([`BROADCAST`]) has no answer, but for a ping.
//!
//! Sources: the maker's memory tables and SDK (`feetech-servo-sdk` 1.0.0), compared with the tables of `lerobot` and `rustypot`.
//! Where they differ the maker's numbers stand: baud codes 5 to 7 are 76800, 57600 and 38400.

mod decoder;
mod frame;
mod registers;
pub mod scs;
pub mod sts;

pub use decoder::{RequestDecoder, StatusDecoder};
pub use frame::{Alarms, BROADCAST, Request, Status};
pub use registers::{Access, BAUDS, ByteOrder, Model, Register, Unit};
pub use scs::SCS0009;
pub use sts::STS3215;

#[cfg(test)]
mod tests;
