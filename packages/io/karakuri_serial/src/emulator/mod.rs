//! Boards and servos on a pseudo-terminal, in the place of a machine.

mod dynamixel;
mod feetech;
mod ics;
mod rcb1;
mod rcb4;
mod robotiq;
