//! Laws of mechanics as properties of random robots.
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]
#![expect(clippy::unwrap_used, reason = "a test says so")]

mod common;
mod couplings;
mod custom_joints;
mod derivatives;
mod dynamics;
mod inverse_kinematics;
