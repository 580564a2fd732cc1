//! Kinematic loops and mimic couplings as constraints on the tree: gaps, Jacobians, and their elimination.
//!
//! A loop joint locks some directions of joint frame B against joint frame A, with constraint rows in A's axes; a
//! coupling is one more row, `v_f − k v_l = 0`. Three users, one law of the rows:
//!
//! * Simulation removes the constraints from the mass operator [Featherstone 2008, §8.5]: [`LoopProjection`].
//! * Inverse dynamics eliminates the dependent coordinates [Featherstone 2008, §8.12]: [`ConstraintEmbedding`].
//! * The nodal scheme cuts the loops and solves for the forces across the cuts: [`LoopEnds::unit_wrench`] along
//!   [`loop_path`].
//!
//! Derivation: docs/theory/loops.md.

mod embedding;
mod ends;
mod path;
mod projection;
mod rows;
#[cfg(test)]
mod tests;

pub use embedding::{ConstraintEmbedding, Contradiction, MotionMut};
pub use ends::{LoopEnds, largest_gap};
pub use path::{Constrained, PathDof, constrained, loop_path};
pub use projection::{LoopProjection, PrescribedCoordinate};
pub use rows::{
    constraint_gaps, constraint_jacobian, joint_frames, loop_gap, n_constraints, relative_gap,
};
