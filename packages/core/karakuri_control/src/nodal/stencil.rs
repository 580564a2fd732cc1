//! One instant: position, velocity and acceleration of the joints, through three neighbouring positions of the nodes.
//!
//! `q(±h) = q ± h v + h² v̇/2`, then central differences of the nodes' displacements. Nothing is kept between instants.

use karakuri_dynamics::{Data, forward_kinematics, integrate};
use karakuri_model::Model;
use karakuri_spatial::Force;

use super::nodes::NodeSet;
use super::superpose::superpose;
use super::variant::central;

/// Truncation is `h² u⁗/12`, rounding `2.4·10⁻¹⁶ |u|/h²`: at 1 ms the former dominates (1e-5 of gravity at 10 rad/s and
/// 1 m), at 0.1 ms the latter (3e-8 and growing). [s]
const STEP: f64 = 2.5e-4;

/// Scratch for one instant.
#[derive(Debug, Clone)]
pub(crate) struct Stencil {
    nodes: NodeSet,
    before: Data,
    at: Data,
    after: Data,
    q: Vec<f64>,
    rate: Vec<f64>,
    du_before: Vec<f64>,
    du_after: Vec<f64>,
    v: Vec<f64>,
    a: Vec<f64>,
    wrenches: Vec<Force>,
}

impl Stencil {
    pub(crate) fn new(model: &Model, nodes: NodeSet) -> Self {
        let n = nodes.n_components();
        Self {
            before: Data::new(model),
            at: Data::new(model),
            after: Data::new(model),
            q: model.neutral_position(),
            rate: vec![0.0; model.nv],
            du_before: vec![0.0; n],
            du_after: vec![0.0; n],
            v: vec![0.0; n],
            a: vec![0.0; n],
            wrenches: vec![Force::default(); model.bodies.len()],
            nodes,
        }
    }

    /// Efforts of the tree with its loops cut. [N·m or N] (nv)
    pub(crate) fn efforts(
        &mut self,
        model: &Model,
        q: &[f64],
        v: &[f64],
        vdot: &[f64],
        tau: &mut [f64],
    ) {
        forward_kinematics(model, &mut self.at, q);
        for (sign, data) in [(-1.0, &mut self.before), (1.0, &mut self.after)] {
            for ((rate, v), vdot) in self.rate.iter_mut().zip(v).zip(vdot) {
                *rate = sign * v + 0.5 * STEP * vdot;
            }
            integrate(model, q, &self.rate, STEP, &mut self.q);
            forward_kinematics(model, data, &self.q);
        }
        self.nodes.increments(&self.before, &self.at, &mut self.du_before);
        self.nodes.increments(&self.at, &self.after, &mut self.du_after);
        central(STEP, &self.du_before, &self.du_after, &mut self.v, &mut self.a);
        self.nodes.forces(&self.at, &self.v, &self.a, &mut self.wrenches);
        superpose(model, &self.at, &mut self.wrenches, tau);
    }

    /// Kinematics of the instant.
    pub(crate) fn data(&self) -> &Data {
        &self.at
    }
}
