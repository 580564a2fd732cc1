//! The mechanism: model, payloads, force points, drives.

use std::sync::Arc;

use karakuri_model::{Base, BodyId, Model};
use karakuri_spatial::{Inertia, Matrix3, Vector3};

use super::Rule;

/// A mass carried at a point of a link: one more node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Payload {
    /// The body that carries it.
    pub body: BodyId,
    /// Position in the body's frame. [m] (3)
    pub point: Vector3,
    /// Mass carried. [kg]
    pub mass: f64,
}

/// A point at which the mechanism exerts a force on its surroundings.
#[derive(Debug, Clone, PartialEq)]
pub struct ForcePoint {
    /// Name, such as `tip`.
    pub name: String,
    /// The body it belongs to.
    pub body: BodyId,
    /// Position in the body's frame. [m] (3)
    pub point: Vector3,
}

/// A mechanism: all that the scheme needs besides the motion.
#[derive(Debug, Clone)]
pub struct Mechanism {
    /// Tree, loop joints (the cuts) and mimic joints.
    pub model: Arc<Model>,
    /// Gravitational acceleration, in world axes. [m/s²] (3)
    pub gravity: Vector3,
    /// Masses that the links carry.
    pub payloads: Vec<Payload>,
    /// Points at which it exerts forces.
    pub force_points: Vec<ForcePoint>,
    /// Whether a velocity coordinate has a motor. (nv)
    pub driven: Vec<bool>,
    /// Whether it must get no effort from the mechanism's own motors, and is not asked to: a floating base, whose
    /// effort is the wrench that the surroundings must give. (nv)
    pub supported: Vec<bool>,
    /// Distribution of effort over redundant drives.
    pub rule: Rule,
}

impl Mechanism {
    /// Mechanism under the earth's gravity along −z. Joints with a drive in the model are driven, or all of them if none
    /// has one; those with mimic relations follow. A floating base is supported.
    pub fn new(model: Arc<Model>) -> Self {
        // A URDF alone names no drives; a robot of it is taken as driven at all its joints.
        let any = model.joints.iter().any(|joint| joint.drive.is_some());
        let (mut driven, mut supported) = (vec![false; model.nv], vec![false; model.nv]);
        for (i, joint) in model.joints.iter().enumerate() {
            let dofs = joint.v_start..joint.v_start + joint.kind.nv();
            if i == 0 && model.base == Base::Floating {
                supported[dofs].fill(true);
            } else {
                // A joint that follows another has no motor of its own, even where the model gives it a drive.
                let follows = model.couplings.iter().any(|c| c.follower == BodyId(i));
                driven[dofs].fill(!follows && (!any || joint.drive.is_some()));
            }
        }
        Self {
            model,
            gravity: Vector3::new(0.0, 0.0, -karakuri_dynamics::EARTH_GRAVITY),
            payloads: Vec::new(),
            force_points: Vec::new(),
            driven,
            supported,
            rule: Rule::LeastNorm,
        }
    }

    /// The model with the payloads as parts of the links that carry them.
    pub fn loaded_model(&self) -> Model {
        let mut model = Model::clone(&self.model);
        for payload in &self.payloads {
            let inertia = &mut model.bodies[payload.body.0].inertia;
            // A point mass: all of its rotational inertia is Steiner's part, which `combined` adds.
            let about_com = Matrix3::zeros();
            *inertia =
                inertia.combined(&Inertia { mass: payload.mass, com: payload.point, about_com });
        }
        model
    }
}
