//! Contact solvers: matrices only, one file a solver, one line in the registry [`SOLVERS`].
//!
//! The law of every block is `u + R λ − u* ∈ −N_C(λ)` with `u = J v`, and for a contact Coulomb's exact law in
//! De Saxcé's form: `K_μ* ∋ û ⟂ λ ∈ K_μ`, `û = u + (μ‖u_t‖, 0, 0)`. [De Saxcé & Feng 1998]
//!
//! | level | solver | for |
//! |---|---|---|
//! | 0 | `projected_gauss_seidel` | teaching: Springhead's |
//! | 1 | `block_gauss_seidel` | few contacts, each on its own |
//! | 1 | `cone_gauss_seidel` | crowds that move |
//! | 2 | `newton` | robots, grips, stacks: the reference |
//! | 3 | `admm` | what defeats Newton: ill-conditioned, redundant |
//! | 4 | `accelerated_gradient` | piles, matrix-free |
//!
//! The default, `automatic`, takes `cone_gauss_seidel` for crowds of free bodies that move, and `newton` for all else.
//! An island that the asked solver leaves above the tolerance goes to the next level, and the [`Solution`] says how
//! far it went and how well it ended: nothing is returned unconverged in silence.

mod accelerated_gradient;
mod active_set;
mod admm;
mod automatic;
mod block_factor;
mod block_gauss_seidel;
mod certificate;
mod cone;
mod cone_gauss_seidel;
mod delassus;
mod dense_rows;
mod dot;
mod impulse_steps;
mod interior_point;
mod ladder;
mod law;
mod local_contact;
mod method;
mod newton;
mod packed_contacts;
mod problem;
mod projected_gauss_seidel;
mod soft_finger;
mod team;

pub(crate) use automatic::CROWD;
pub use cone::{project_on_cone, solve_contact};
pub(crate) use dot::dot;
pub use ladder::{Ladder, SOLVERS, solver};
pub use law::natural_map;
pub use method::{ContactSolver, Method, Solution, SolverSettings};
pub use problem::{Admissible, Block, Problem, RowSpec, Run, Side};
pub(crate) use problem::{apply, apply_rows};
pub use soft_finger::SoftFinger;
pub(crate) use team::Team;
