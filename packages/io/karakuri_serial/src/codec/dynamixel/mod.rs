//! Dynamixel protocol 2.0, as servos of the X series speak it.
//!
//! A host sends a [`Request`] to one servo or to all, and servos answer with a [`Status`] each, in the order in which the
//! request lists them; to a fast read they answer with one frame that each adds its part to ([`FastParts`]).
//! What a servo has to read and write is its control table: [`Model`], with the units of its numbers beside it.
//!
//! Words are little-endian, negative numbers two's complement. Source: ROBOTIS e-Manual, "DYNAMIXEL Protocol 2.0" and the pages of
//! the models.

mod answer;
mod control_table;
mod crc;
mod frame;
mod models;
mod request;
mod stuffing;
mod units;

#[cfg(test)]
mod tests;

pub use answer::{ErrorNumber, FastAnswer, FastParts, Status};
pub use control_table::{Access, Register, Values, register};
#[cfg(test)]
pub(crate) use frame::append_frame;
pub use frame::{BROADCAST, Decoder, Frame};
pub use models::{BAUD_RATES, IndirectBlock, Mode, Model};
pub use request::{Block, BulkReads, BulkWrites, Instruction, Keep, Request, SyncItems};
pub use units::{
    ACCELERATION_UNIT, COUNTS_PER_TURN, LOAD_UNIT, PWM_UNIT, RETURN_DELAY_UNIT, VELOCITY_UNIT,
    VOLTAGE_UNIT, WATCHDOG_UNIT, counts, radians,
};
