//! URDF text to a [`ModelBuilder`](crate::ModelBuilder).
//!
//! Three stages. `clean` walks the XML with line numbers, reports everything that is wrong, and writes a clean URDF of
//! only what is right; `urdf-rs` parses that; `convert` makes the builder of it and asks for the meshes. So a messy
//! file costs a sentence for each problem and never the whole robot to the first one.

mod clean;
mod convert;
mod elements;
mod values;

pub(crate) use convert::read;
