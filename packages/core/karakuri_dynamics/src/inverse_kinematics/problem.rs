//! The problem: targets, joints that may move, stopping criteria.

use karakuri_model::{BodyId, FrameId, Model};
use karakuri_spatial::{Matrix3, Pose, Vector3};

use super::step::{CENTER_OF_MASS_ROWS, ROWS};

/// A desired pose of a frame, or a part of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IkTarget {
    /// The frame (URDF link) to bring there.
    pub frame: FrameId,
    /// `X_WT`, the desired pose. Weights count along its axes.
    pub pose_in_world: Pose,
    /// Weight of the position error along the target's axes; 0 leaves an axis free. [1/m] (3)
    pub position_weight: Vector3,
    /// Weight of the turn about the target's axes; 0 leaves an axis free. [1/rad] (3)
    pub orientation_weight: Vector3,
}

impl IkTarget {
    /// Target of position and orientation.
    pub fn pose(frame: FrameId, pose_in_world: Pose) -> Self {
        let one = Vector3::repeat(1.0);
        Self { frame, pose_in_world, position_weight: one, orientation_weight: one }
    }

    /// Target of the frame's origin, in the world; the orientation is free. [m] (3)
    pub fn position(frame: FrameId, position: Vector3) -> Self {
        let target = Self::pose(frame, Pose::from_translation(position));
        Self { orientation_weight: Vector3::zeros(), ..target }
    }

    /// Target of the frame's orientation `R_WT`; the position is free. (3×3)
    pub fn orientation(frame: FrameId, rotation: Matrix3) -> Self {
        let target = Self::pose(frame, Pose::new(rotation, Vector3::zeros()));
        Self { position_weight: Vector3::zeros(), ..target }
    }

    /// Target with other weights, position [1/m] (3) and orientation [1/rad] (3).
    #[must_use]
    pub fn weighted(self, position: Vector3, orientation: Vector3) -> Self {
        Self { position_weight: position, orientation_weight: orientation, ..self }
    }
}

/// A desired position of the robot's centre of mass, or a part of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IkCenterOfMass {
    /// Desired position in the world. [m] (3)
    pub position: Vector3,
    /// Weight of the error along the world's axes; 0 leaves an axis free, as the height in (1, 1, 0). [1/m] (3)
    pub weight: Vector3,
}

/// A problem of inverse kinematics.
#[derive(Debug, Clone, Copy, Default)]
pub struct IkProblem<'a> {
    /// Desired poses of frames.
    pub targets: &'a [IkTarget],
    /// Desired position of the centre of mass.
    pub center_of_mass: Option<IkCenterOfMass>,
    /// First position to start from; brought inside the limits if it is outside. (nq)
    pub start: &'a [f64],
    /// Joints that keep their position.
    pub locked: &'a [BodyId],
}

/// The rule of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum IkMethod {
    /// Levenberg-Marquardt: adapted damping, the error never grows.
    DampedLeastSquares,
    /// `gain · J⁺ r`, `J⁺` with a small fixed damping.
    Newton {
        /// Fraction of the full step, in (0, 1]. [-]
        gain: f64,
        /// Damping relative to the mean of `J Jᵀ`'s diagonal. [-]
        damping: f64,
    },
}

impl IkMethod {
    /// Newton as in the KHR-1 programs: half of the error a step.
    // The damping lets Cholesky's method pass where errors repeat each other, and shortens a regular step by about 1e-9 of itself.
    pub const NEWTON: Self = Self::Newton { gain: 0.5, damping: 1e-9 };
}

/// Method and stopping criteria.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IkOptions {
    /// The rule of a step.
    pub method: IkMethod,
    /// Largest position error of a frame that counts as reached. [m]
    pub position_tolerance: f64,
    /// Largest orientation error of a frame that counts as reached. [rad]
    pub orientation_tolerance: f64,
    /// Steps from one start, those taken back included.
    pub max_iterations: usize,
    /// Random starts after the given one.
    pub restarts: usize,
    /// Seed of the random starts: equal seeds give equal answers.
    pub seed: u64,
}

impl Default for IkOptions {
    /// Damped least squares to 1e-6 m and 1e-6 rad, 100 steps, 20 random starts.
    fn default() -> Self {
        Self {
            method: IkMethod::DampedLeastSquares,
            position_tolerance: 1e-6,
            orientation_tolerance: 1e-6,
            max_iterations: 100,
            restarts: 20,
            seed: 0,
        }
    }
}

/// An invalid problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IkError {
    /// There is no target.
    #[error(
        "no target is given; name at least one frame and its pose, or a position of the centre of mass"
    )]
    NoTarget,
    /// The target of the centre of mass is not finite, leaves everything free, or the robot has no mass.
    #[error(
        "the target of the centre of mass has a number that is not finite, a negative weight, no weight at all, or a robot without mass"
    )]
    BadCenterOfMass,
    /// A number of a target is NaN or infinite, or a weight is negative.
    #[error("target {0} has a pose that is not finite or a negative weight")]
    BadTarget(usize),
    /// A target's weights are all zero.
    #[error("target {0} leaves everything free: all its weights are 0")]
    EmptyTarget(usize),
    /// The start has the wrong length or is not finite.
    #[error("the start has {given} coordinates, the model has {expected}; all must be finite")]
    BadStart {
        /// Length of the given position.
        given: usize,
        /// Length of a position of the model.
        expected: usize,
    },
}

impl IkProblem<'_> {
    /// Number of weighted errors.
    pub(super) fn n_rows(&self) -> usize {
        ROWS * self.targets.len()
            + if self.center_of_mass.is_some() { CENTER_OF_MASS_ROWS } else { 0 }
    }

    pub(super) fn check(&self, model: &Model) -> Result<(), IkError> {
        if self.targets.is_empty() && self.center_of_mass.is_none() {
            return Err(IkError::NoTarget);
        }
        if let Some(IkCenterOfMass { position, weight }) = self.center_of_mass {
            let is_finite = position.iter().chain(weight.iter()).all(|x| x.is_finite());
            let is_weighted = weight.min() >= 0.0 && weight.max() > 0.0;
            let mass: f64 = model.bodies.iter().map(|body| body.inertia.mass).sum();
            if !(is_finite && is_weighted && mass > 0.0) {
                return Err(IkError::BadCenterOfMass);
            }
        }
        if self.start.len() != model.nq || !self.start.iter().all(|x| x.is_finite()) {
            return Err(IkError::BadStart { given: self.start.len(), expected: model.nq });
        }
        for (i, target) in self.targets.iter().enumerate() {
            let mut weights =
                target.position_weight.iter().chain(target.orientation_weight.iter()).copied();
            let X_WT = &target.pose_in_world;
            let mut pose = X_WT.translation.iter().chain(X_WT.rotation.iter());
            if !pose.all(|x| x.is_finite()) || !weights.clone().all(|w| w.is_finite() && w >= 0.0) {
                return Err(IkError::BadTarget(i));
            }
            if weights.all(|w| w == 0.0) {
                return Err(IkError::EmptyTarget(i));
            }
        }
        Ok(())
    }
}
