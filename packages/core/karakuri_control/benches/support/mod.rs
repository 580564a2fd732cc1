//! Robots, states and motions for the benches.

use karakuri_control::nodal::{Mechanism, Nodes, Scheme, Target};
use karakuri_model::{Base, Model, NoAssets, Source, load};
use karakuri_spatial::Pose;
use karakuri_testkit::{Random, random_vector};

/// Samples of a planned motion.
pub(crate) const SAMPLES: usize = 2000;
/// [s]
const DT: f64 = 1e-3;

fn robot(urdf: &str, config: Option<&str>) -> Model {
    let mut source = Source::urdf("robot.urdf", urdf).with_base(Base::Fixed(Pose::IDENTITY));
    if let Some(config) = config {
        source = source.with_config("robot.yaml", config);
    }
    load(&source, &mut NoAssets).unwrap().model
}

/// A six-axis arm, the same with a hand whose fingers follow one joint, and with a hand of closed linkages.
pub(crate) fn robots() -> Vec<(&'static str, Model)> {
    vec![
        ("ur5", robot(include_str!("../../../../../tests/robots/ur5/ur5.urdf"), None)),
        (
            "arm6_mimic",
            robot(
                include_str!("../../../../../urdf/arm6/arm6_mimic.urdf"),
                Some(include_str!("../../../../../config/arm6_mimic.yaml")),
            ),
        ),
        (
            "arm6",
            robot(
                include_str!("../../../../../urdf/arm6/arm6.urdf"),
                Some(include_str!("../../../../../config/arm6.yaml")),
            ),
        ),
    ]
}

/// A motion of all joints with its rates, loops closed.
pub(crate) struct Plan {
    pub(crate) scheme: Scheme,
    pub(crate) q: Vec<f64>,
    pub(crate) v: Vec<f64>,
    pub(crate) vdot: Vec<f64>,
}

impl Plan {
    pub(crate) fn new(model: &Model, nodes: Nodes) -> Self {
        let mechanism = Mechanism::new(model.clone().into());
        let mut random = Random::new(1);
        let middle = model.neutral_position();
        let amplitude = random_vector(model.nv, &mut random);
        let (mut q, mut v, mut vdot) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..SAMPLES {
            let (sin, cos) = (i as f64 * DT * 3.0).sin_cos();
            for (k, a) in amplitude.iter().enumerate() {
                let a = 0.3 * a;
                q.push(middle[k] + a * sin);
                v.push(3.0 * a * cos);
                vdot.push(-9.0 * a * sin);
            }
        }
        mechanism.close(DT, &mut q).unwrap();
        Self { scheme: Scheme { nodes, ..Scheme::new(mechanism) }, q, v, vdot }
    }

    pub(crate) fn target(&self) -> Target<'_> {
        Target { dt: DT, q: &self.q, v: &self.v, vdot: &self.vdot, forces: &[] }
    }

    pub(crate) fn sample(&self, i: usize) -> [&[f64]; 3] {
        let (nq, nv) = (self.scheme.mechanism.model.nq, self.scheme.mechanism.model.nv);
        [&self.q[i * nq..][..nq], &self.v[i * nv..][..nv], &self.vdot[i * nv..][..nv]]
    }
}
