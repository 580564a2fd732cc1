//! Chain of links, equal to the one that the benches build with Pinocchio.

use karakuri_model::{Base, Drive, JointSpec, LinkSpec, Model, ModelBuilder};
use karakuri_spatial::{Inertia, Matrix3, Pose, Vector3};

/// Fixed chain of `n` links of 0.1 m and 0.5 kg on hinges about y and x in turn, hanging at zero, each with the servo `drive`
/// if there is one.
///
/// # Panics
/// Never: the chain is valid.
#[expect(clippy::unwrap_used, reason = "a test's model says so when it is not well made")]
pub fn chain(n: usize, drive: Option<Drive>) -> Model {
    let com = Vector3::new(0.0, 0.0, -0.05);
    let inertia = Inertia { mass: 0.5, com, about_com: Matrix3::identity() * 1e-3 };
    let mut builder = ModelBuilder::new("chain", Base::Fixed(Pose::IDENTITY))
        .link(LinkSpec::new("link0", Inertia::ZERO));
    for i in 0..n {
        let axis = if i % 2 == 0 { Vector3::y() } else { Vector3::x() };
        let (parent, child) = (format!("link{i}"), format!("link{}", i + 1));
        let offset = Vector3::new(0.0, 0.0, if i == 0 { 0.0 } else { -0.1 });
        let hinge = JointSpec::revolute(&format!("joint{i}"), &parent, &child, axis);
        builder = builder
            .link(LinkSpec::new(&child, inertia))
            .joint(JointSpec { drive, ..hinge }.at(Pose::from_translation(offset)));
    }
    builder.build().unwrap()
}
