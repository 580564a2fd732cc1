//! ANYmal of SimBenchmark, section 1.5: a floating base and four legs of three joints.
//!
//! The published parts add up to 33.896674 kg, 50 g less than the published total; forces are scaled by the model's
//! own mass. Of the collision shapes the base's box and the feet are taken: the others are fixed by no published
//! orientation and touch nothing in these scenes.

use karakuri_model::{Base, GeometrySpec, JointSpec, LinkSpec, ModelBuilder, Shape};
use karakuri_spatial::{Inertia, Pose, Vector3};

use crate::support::inertia;

/// Joint positions at the start. [rad]
pub(crate) const START: [(&str, f64); 12] = [
    ("LF_HAA", 0.03),
    ("LF_HFE", 0.4),
    ("LF_KFE", -0.8),
    ("RF_HAA", -0.03),
    ("RF_HFE", 0.4),
    ("RF_KFE", -0.8),
    ("LH_HAA", 0.03),
    ("LH_HFE", -0.4),
    ("LH_KFE", 0.8),
    ("RH_HAA", -0.03),
    ("RH_HFE", -0.4),
    ("RH_KFE", 0.8),
];

/// An inertia of the left front leg, mirrored where `x` or `y` is −1.
fn mirrored(mass: f64, com: [f64; 3], i: [f64; 6], (x, y): (f64, f64)) -> Inertia {
    let com = [x * com[0], y * com[1], com[2]];
    inertia(mass, com, [i[0], i[1], i[2], x * y * i[3], x * i[4], y * i[5]])
}

/// The robot; with its box and feet if it shall touch something.
pub(crate) fn anymal(solid: bool) -> ModelBuilder {
    let i = [
        0.268388530624,
        0.884235660795,
        0.829158678306,
        0.000775392455,
        -0.0151848534451,
        -0.000989297489507,
    ];
    let mut trunk = LinkSpec::new("trunk", inertia(21.39, [0.0; 3], i));
    if solid {
        let size = Vector3::new(0.531, 0.232, 0.26);
        let pose = Pose::from_translation(Vector3::new(0.0, 0.0, 0.08));
        trunk.collisions.push(GeometrySpec::new(pose, Shape::Box { size }));
    }
    let mut builder = ModelBuilder::new("anymal", Base::Floating).link(trunk);
    for (name, x, y) in [("LF", 1.0, 1.0), ("RF", 1.0, -1.0), ("LH", -1.0, 1.0), ("RH", -1.0, -1.0)]
    {
        builder = leg(builder, name, (x, y), solid);
    }
    builder
}

fn leg(builder: ModelBuilder, name: &str, signs: (f64, f64), solid: bool) -> ModelBuilder {
    let (x, y) = signs;
    let named = |part: &str| format!("{name}_{part}");
    let origin = |p: [f64; 3]| Pose::from_translation(Vector3::new(x * p[0], y * p[1], p[2]));
    let hip = [1.23301508523e-3, 9.93231183e-4, 1.42160349e-3, -6.4285330e-5, 6.999e-8, 2.3274e-6];
    let thigh = [
        1.47571628e-2,
        1.44188926e-2,
        1.78449076e-3,
        -1.7996508e-5,
        2.05877679e-4,
        -1.812913424e-3,
    ];
    let shank = [
        3.7693717909e-3,
        4.00446467635e-3,
        4.18471691904e-4,
        -7.7334500762e-5,
        -1.52069372983e-4,
        -3.218356083e-4,
    ];
    let foot = [8.3086e-5, 8.286e-5, 8.1948e-5, 0.0, 0.0, 0.0];
    let shank_com = [0.016355414056, -0.00562219106, -0.064350437219];
    let link =
        |part: &str, mass, com, i| LinkSpec::new(&named(part), mirrored(mass, com, i, signs));
    let mut sole = LinkSpec::new(
        &named("foot"),
        mirrored(0.1922685, [-5.55e-6, 7.113e-5, -0.021388648], foot, signs),
    );
    if solid {
        sole.collisions.push(GeometrySpec::new(Pose::IDENTITY, Shape::Sphere { radius: 0.03 }));
    }
    let ankle = Pose::from_xyz_rpy([0.0, -0.016 * y, -0.31], [0.323 * y, 0.549 * x, 0.0]);
    builder
        .link(link("hip", 1.1064, [0.0542, -0.0136, 0.0], hip))
        .link(link("thigh", 1.51, [0.0008, 0.0545, -0.1975], thigh))
        .link(link("shank", 0.318, shank_com, shank))
        .link(sole)
        .joint(
            JointSpec::revolute(&named("HAA"), "trunk", &named("hip"), Vector3::x())
                .at(origin([0.2629, 0.115, 0.0])),
        )
        .joint(
            JointSpec::revolute(&named("HFE"), &named("hip"), &named("thigh"), Vector3::y())
                .at(origin([0.0585, 0.0315, 0.0])),
        )
        .joint(
            JointSpec::revolute(&named("KFE"), &named("thigh"), &named("shank"), Vector3::y())
                .at(origin([0.0, 0.111, -0.25])),
        )
        .joint(JointSpec::fixed(&named("ankle"), &named("shank"), &named("foot")).at(ankle))
}
