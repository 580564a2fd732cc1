//! The buses that are known.

use super::kind::BusKind;
use super::{dynamixel, feetech, ics, rcb1, rcb4, robotiq};

/// The buses that are known. A new one is a file and a line.
pub const BUSES: [&BusKind; 6] =
    [&feetech::KIND, &dynamixel::KIND, &rcb1::KIND, &rcb4::KIND, &ics::KIND, &robotiq::KIND];
