//! Every cell passes the same suite.

#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]

use std::sync::Arc;

use karakuri_hardware::conformance::{Trial, check};
use karakuri_hardware::{Mock, RobotIo, Simulation};
use karakuri_model::{Drive, JointSpec, Limits, LinkSpec, Model, ModelBuilder};
use karakuri_physics::{World, WorldSettings};
use karakuri_spatial::{Inertia, Matrix3, Pose, Vector3};

/// Two hinged links of 1 kg that lie in the horizontal plane, so that gravity asks nothing of the drives.
fn model() -> Arc<Model> {
    let inertia = Inertia {
        mass: 1.0,
        com: Vector3::new(0.1, 0.0, 0.0),
        about_com: Matrix3::identity() * 0.01,
    };
    let hinge = |name: &str, parent: &str, child: &str| {
        let at = Pose::from_translation(Vector3::new(0.2, 0.0, 0.0));
        let mut joint = JointSpec::revolute(name, parent, child, Vector3::z()).at(at);
        joint.drive = Some(Drive { stiffness: 200.0, damping: 20.0 });
        joint.limits = Limits { lower: -2.0, upper: 2.0, velocity: 5.0, effort: 20.0 };
        joint
    };
    let built = ModelBuilder::new("arm", karakuri_model::Base::Fixed(Pose::IDENTITY))
        .link(LinkSpec::new("base", Inertia::ZERO))
        .link(LinkSpec::new("upper", inertia))
        .link(LinkSpec::new("lower", inertia))
        .joint(hinge("shoulder", "base", "upper"))
        .joint(hinge("elbow", "upper", "lower"))
        .build()
        .unwrap();
    Arc::new(built)
}

fn trial() -> Trial {
    Trial { joint: "elbow".to_owned(), stroke: 0.3, tolerance: 1e-3, settle: 2.0 }
}

#[test]
fn the_simulation_conforms() {
    let mut world = World::new(WorldSettings::default());
    world.add_robot("arm", model(), &[0.0, 0.0]).unwrap();
    let mut simulation = Simulation::new(world, 2);
    assert!((simulation.period() - 2e-3).abs() < 1e-15);
    check(&mut simulation, &trial()).unwrap();
}

#[test]
fn the_mock_conforms() {
    check(&mut Mock::new("arm", &model(), &[0.0, 0.0], 2e-3), &trial()).unwrap();
}
