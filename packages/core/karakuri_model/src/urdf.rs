//! URDF text to a [`ModelBuilder`](crate::ModelBuilder).
//!
//! The text is parsed once. `document` asks whether it is a URDF; `elements` and `values` walk it with line numbers, report
//! everything that is wrong, and fill the robot of `urdf-rs` with what is right; `convert` makes the builder of that robot
//! and asks for the meshes. So a messy file costs a sentence for each problem and never the whole robot to the first one.
//!
//! `urdf-rs`' own parser stops at the first error, without a line, and drops numbers that it can't read: of files without
//! errors ours must give the same robot (`tests`).

mod convert;
mod document;
mod elements;
mod values;

pub(crate) use convert::read;

#[cfg(test)]
mod tests;
