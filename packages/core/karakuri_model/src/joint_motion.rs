//! Joints beyond the built-in kinds: how a body moves against its parent, as a function of plain coordinates.
//!
//! A kind is one file that implements [`JointMotion`]; a line in [`KINDS`](kinds::KINDS) gives it a name in robot YAMLs, and programs
//! may bring their own without one. From the pose `X_JB(q)` of the body B in the joint's frame J, the motion subspace
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

/// What a coordinate measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DofKind {
    /// [rad], its effort in N·m.
    Angle,
    /// [m], its effort in N.
    Length,
}

/// How a body moves against its parent: configuration to pose, motion subspace and its rate.
///
/// All in the axes of the joint's frame J. A column of the subspace is, for a unit rate of its coordinate, the angular
/// velocity of the body and the velocity of the body frame's *origin*; its rate is the plain derivative of these six
/// numbers in time.
pub trait JointMotion: Debug + Send + Sync {
    /// Name of the kind.
    fn name(&self) -> &'static str;

    /// What each coordinate measures; one to six. (n)
    fn dof_kinds(&self) -> &[DofKind];

    /// `X_JB`. `q`: [rad or m] (n)
    fn pose(&self, q: &[f64]) -> Pose;

    /// `S(q)`: `[ω; ṗ_JB]` for a unit rate of each coordinate. (n)
    fn subspace(&self, q: &[f64], columns: &mut [Motion]);

    /// `Ṡ(q, v)`. (n)
    fn subspace_rate(&self, q: &[f64], v: &[f64], columns: &mut [Motion]);

    /// Where the coordinate of a joint with one degree of freedom ends of itself. [rad or m]
    fn range(&self) -> Option<(f64, f64)> {
        None
    }
}

/// What a robot YAML makes of a joint.
pub(crate) struct Reshaped {
    pub(crate) kind: JointKind,
    pub(crate) cone: Option<Cone>,
}
