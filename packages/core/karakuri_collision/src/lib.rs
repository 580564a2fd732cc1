#![doc = include_str!("../README.md")]
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]

mod bounds;
mod broad_phase;
mod collider;
mod convert;
mod decompose;
mod ellipsoid;
mod hull;
mod manifold;
mod mass_distribution;
mod model_shape;
mod narrow;
mod pair_set;
mod polyhedron;
mod query;
mod scene;
mod shape;
mod solid;
mod surface;
mod sweep;

pub use collider::{Collider, ColliderId};
pub use decompose::{DECOMPOSITION, Decomposition, decompose};
pub use hull::HullFace;
pub use manifold::{ContactPoint, Manifold};
pub use polyhedron::Polyhedron;
pub use query::{ClosestPoints, RayHit};
pub use scene::CollisionScene;
pub use shape::{ColliderShape, ShapeError};
pub use sweep::{Impact, Sweep, Swept};
