//! The stages of a step; [`step`] is their table of contents.

pub(crate) mod assemble;
pub(crate) mod carry;
pub(crate) mod collide;
pub(crate) mod continuous;
pub(crate) mod correct;
mod corrected_row;
pub(crate) mod energy;
pub(crate) mod free_motion;
pub(crate) mod impacts;
pub(crate) mod impulses;
pub(crate) mod integrate;
pub(crate) mod integrators;
pub(crate) mod islands;
pub(crate) mod ledger;
pub(crate) mod operators;
pub(crate) mod outcome;
pub(crate) mod restitution;
pub(crate) mod row_impacts;
pub(crate) mod scratch;
pub(crate) mod sensors;
pub(crate) mod sleep;
pub(crate) mod solve;
pub(crate) mod stages;
pub(crate) mod step;
pub(crate) mod strikes;
pub(crate) mod work;
