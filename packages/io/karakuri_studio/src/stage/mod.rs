//! The stage: what robots and bodies look like, and where they are.

mod decimate;
mod describe;
mod mesh;
mod places;

pub(crate) use describe::describe;
pub(crate) use places::{place_of, robot_places, world_numbers};
