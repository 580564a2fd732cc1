//! Memory of RCB-1 boards: what they have of a motion, and of places.

use anyhow::{Result, bail};
use karakuri_serial::codec::rcb1::{Answer, CHANNELS, Channel, Order, Pose};

use super::Rcb1;
use super::motion_file::{BOARDS, Home};
use crate::commands::hardware::wire::Wire;

/// Degrees that both boards say by an order.
pub(super) fn places(boards: &mut Rcb1, wire: &mut Wire, order: Order) -> Result<Home> {
    let mut all = [None; BOARDS * CHANNELS];
    for board in 0..BOARDS {
        let id = u8::from(board == 1);
        let Answer::Channels(channels) = boards.expect(wire, id, order)? else { continue };
        for (channel, place) in channels.into_iter().enumerate() {
            if let Channel::Degrees(degrees) = place {
                all[board * CHANNELS + channel] = Some(degrees.into());
            }
        }
    }
    Ok(all)
}

/// Positions that a board's motion has.
pub(super) fn count(boards: &mut Rcb1, wire: &mut Wire, id: u8, motion: u8) -> Result<u8> {
    match boards.expect(wire, id, Order::PositionCount { motion })? {
        Answer::Count(count) => Ok(count),
        other => bail!("board {id} answers {other:?} to a question about a count; try again"),
    }
}

/// A position of a motion that a board has.
pub(super) fn read(
    boards: &mut Rcb1,
    wire: &mut Wire,
    id: u8,
    [motion, position]: [u8; 2],
) -> Result<Pose> {
    match boards.expect(wire, id, Order::ReadPosition { motion, position })? {
        Answer::Pose(pose) => Ok(pose),
        other => bail!("board {id} answers {other:?} to a question about a position; try again"),
    }
}
