#![doc = include_str!("../README.md")]
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]

mod inertia;
mod motion;
mod pose;
mod tangent_frame;
mod time;

pub use inertia::{Inertia, InertiaError};
pub use motion::{Force, Motion, skew};
pub use pose::Pose;
pub use tangent_frame::tangent_frame;
pub use time::Time;

/// Vector of three reals.
pub type Vector3 = nalgebra::Vector3<f64>;
/// Matrix of 3×3 reals.
pub type Matrix3 = nalgebra::Matrix3<f64>;
/// Vector of six reals; angular part first.
pub type Vector6 = nalgebra::Vector6<f64>;
/// Matrix of 6×6 reals; angular part first.
pub type Matrix6 = nalgebra::Matrix6<f64>;
/// Unit quaternion; written `x, y, z, w` at every border.
pub type UnitQuaternion = nalgebra::UnitQuaternion<f64>;
