#![doc = include_str!("../README.md")]
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]

mod broad_phase;
mod convert;
mod manifold;
mod narrow_phase;
mod rim;
mod scene;
mod shape;

pub use manifold::{ContactPoint, Manifold};
pub use scene::{Collider, ColliderId, CollisionScene, RayHit};
pub use shape::{ColliderShape, ShapeError};
