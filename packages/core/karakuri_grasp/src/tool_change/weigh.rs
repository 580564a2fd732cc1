//! Weighing of a tool by the sensor of the wrist.

use karakuri_dynamics::{Data, EARTH_GRAVITY, forward_kinematics, frame_pose};
use karakuri_model::{BodyId, FrameId, Model};
use karakuri_spatial::Force;

/// Share of the tool's mass by which the felt mass may differ. [-]
// Of a wrong tool mostly more than this is missing; cables and hoses of the right one weigh less.
const SHARE: f64 = 0.2;
/// Difference of masses that is no sign of a tool. [kg]
// An offset of the sensor of 0.2 N.
const LEAST: f64 = 0.02;

/// Mass of a tool, as the wrist feels it and as it should be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weight {
    /// Mass that is felt. [kg]
    pub felt: f64,
    /// Mass by the models. [kg]
    pub expected: f64,
}

impl Weight {
    /// Whether what is felt is the tool: within a fifth of its mass, or 20 g.
    pub fn is_right(&self) -> bool {
        (self.felt - self.expected).abs() <= (SHARE * self.expected).max(LEAST)
    }
}

/// The wrist's sensor as a scale.
#[derive(Debug, Clone)]
pub(super) struct Scale {
    frame: FrameId,
    /// Mass of the bare arm beyond the sensor. [kg]
    carried: f64,
    data: Data,
}

impl Scale {
    /// Scale of a sensor on `frame`, which is carried by the joint of `body`.
    pub(super) fn new(bare: &Model, frame: FrameId, body: BodyId) -> Self {
        let hangs = |id: BodyId| {
            core::iter::successors(Some(id), |id| bare.bodies[id.0].parent).any(|id| id == body)
        };
        let beyond = (0..bare.bodies.len()).filter(|i| hangs(BodyId(*i)));
        let carried = beyond.map(|i| bare.bodies[i].inertia.mass).sum();
        Self { frame, carried, data: Data::new(bare) }
    }

    /// Mass beyond the bare arm's own at rest, by the vertical part of the wrench that the arm exerts through the wrist's joint, in the
    /// link's axes. [kg] (nq)
    pub(super) fn mass(&mut self, bare: &Model, q: &[f64], wrench: &Force) -> f64 {
        forward_kinematics(bare, &mut self.data, q);
        let up = frame_pose(bare, &self.data, self.frame).transform_vector(&wrench.force).z;
        up / EARTH_GRAVITY - self.carried
    }
}
