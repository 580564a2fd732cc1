//! Drivers of servo buses on emulated servos: conformance, faults, loss and return.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper of tests may stop them")]

mod bus_time;
mod configurations;
mod dynamixel;
mod emulated;
mod feetech;
mod khr1;
mod kondo;
mod restarts;
mod robotiq;
mod so101;

use karakuri_testkit::CountingHeap;

#[global_allocator]
static HEAP: CountingHeap = CountingHeap;
