#![doc = include_str!("../README.md")]
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]

mod broad_phase;
mod convert;
mod hull;
mod manifold;
mod narrow;
mod scene;
mod shape;
mod solid;

pub use manifold::{ContactPoint, Manifold};
pub use scene::{Collider, ColliderId, CollisionScene, RayHit};
pub use shape::{ColliderShape, ShapeError};
