//! Parallel (nodal) inverse dynamics: efforts from the shape of a mechanism and its positions alone.
//!
//! Every link is a few nodes; the force on a node follows from its own displacements,
//! `a = (Δu_{n+1} − Δu_n)/h²`, `f = m (a − g)`, independent of every other node and, but for the variants that
//! remember, of every other time; then `{τ} = [L][T]{P}` superposes them along the tree. Loops are cut: opposite
//! forces enter `{P}` at both sides, and the passive joints fix them.
//! [Isobe 2003], docs/theory/parallel-inverse-dynamics.md. World axes; m, rad, s, N, N·m.
//!
//! Limits: rigid links. Joint armature and damping are added; dry friction is the controller's.

#![expect(clippy::inline_always, reason = "arithmetic on lanes is fast only where it is inlined")]

mod block;
mod check;
mod closing;
mod cuts;
mod lanes;
mod mechanism;
mod nodes;
mod places;
mod product;
mod stencil;
mod sweep;
#[cfg(test)]
mod tests;
mod variant;

pub use check::{NodalError, Warning};
pub use cuts::Rule;
pub(crate) use cuts::{Cuts, Drives};
pub use mechanism::{ForcePoint, Mechanism, Payload};
pub use nodes::Nodes;
pub use product::{Part, Product};
pub use stencil::Stencil;
pub use sweep::{Scheme, Target, Torques};
pub use variant::Variant;
