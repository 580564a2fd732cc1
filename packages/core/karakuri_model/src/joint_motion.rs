//! Joints beyond the built-in kinds: the motion of a body against its parent as a function of plain coordinates.
//!
//! A kind is one file that implements [`JointMotion`]; a line in [`KINDS`](kinds::KINDS) gives it a name in robot YAMLs, and
//! programs may bring their own without one. From the pose `X_JB(q)` of the body B in the joint's frame J, the motion subspace
//! `S(q)` with `[ω; ṗ] = S q̇` and its rate `Ṡ(q, q̇)`, every algorithm follows: kinematics, inverse and forward
//! dynamics, inertias, physics. The coordinates are plain: as many as degrees of freedom, `v = q̇`.
//! [Featherstone 2008, §3.5, §4.4]

mod ball;
pub(crate) mod kinds;
mod path;
mod screw;

use std::fmt::Debug;

use karakuri_spatial::{Motion, Pose};

use crate::{Cone, JointKind};

pub use path::{Path, PathError};
pub use screw::Screw;

/// Most degrees of freedom of a joint.
pub const MAX_DOFS: usize = 6;

/// Quantity that a coordinate measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DofKind {
    /// Angle [rad], its effort in N·m.
    Angle,
    /// Length [m], its effort in N.
    Length,
}

/// Motion of a body against its parent: configuration to pose, motion subspace and its rate.
///
/// All in the axes of the joint's frame J. A column of the subspace is, for a unit rate of its coordinate, the angular
/// velocity of the body and the velocity of the body frame's *origin*; its rate is the plain derivative of these six
/// numbers in time.
pub trait JointMotion: Debug + Send + Sync {
    /// Name of the kind.
    fn name(&self) -> &'static str;

    /// Quantity of each coordinate; one to six. (n)
    fn dof_kinds(&self) -> &[DofKind];

    /// Pose `X_JB` of the body in the joint's frame. `q`: [rad or m] (n)
    fn pose(&self, q: &[f64]) -> Pose;

    /// Motion subspace `S(q)`: `[ω; ṗ_JB]` for a unit rate of each coordinate. (n)
    fn subspace(&self, q: &[f64], columns: &mut [Motion]);

    /// Rate `Ṡ(q, v)` of the motion subspace. (n)
    fn subspace_rate(&self, q: &[f64], v: &[f64], columns: &mut [Motion]);

    /// Ends of the coordinate of a joint with one degree of freedom, if it has any by itself. [rad or m]
    fn range(&self) -> Option<(f64, f64)> {
        None
    }
}

/// Kind of a joint as a robot YAML sets it.
pub(crate) struct Reshaped {
    pub(crate) kind: JointKind,
    pub(crate) cone: Option<Cone>,
}
