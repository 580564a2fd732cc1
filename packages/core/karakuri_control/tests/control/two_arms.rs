//! Two arms hold a wooden block between their tips by friction and swing it, in the physics simulation. The squeeze is
//! one entry of `{P}` a tip; no force is fed back.
#![expect(clippy::unwrap_used, reason = "a test says so")]

use std::f64::consts::PI;
use std::sync::Arc;

use karakuri_control::nodal::{ForcePoint, Mechanism, Scheme, Target};
use karakuri_model::{
    Base, GeometrySpec, JointKind, JointSpec, LinkSpec, Model, ModelBuilder, Shape,
};
use karakuri_physics::{BodyDescription, World, WorldSettings};
use karakuri_spatial::{Inertia, Matrix3, Pose, Vector3};

/// Both links of both arms. [m]
const LENGTH: f64 = 0.2;
/// Shoulders are this far to either side. [m]
const SHOULDER: f64 = 0.15;
const TIP_RADIUS: f64 = 0.008;
const BLOCK: [f64; 3] = [0.06, 0.03, 0.03];
/// [kg]
const BLOCK_MASS: f64 = 0.02;
const FRICTION: f64 = 0.6;
/// [N]
const SQUEEZE: f64 = 0.5;
/// [s]
const H: f64 = 1e-3;
const DURATION: usize = 4000;

fn at(x: f64, y: f64) -> Pose {
    Pose::from_translation(Vector3::new(x, y, 0.0))
}

/// Axes point up: the arms carry the block's weight without torque.
fn arms() -> Model {
    let hinge = Some(JointKind::Revolute { axis: Vector3::z() });
    let rod = |mass: f64| {
        let i = mass * LENGTH * LENGTH / 12.0;
        let about_com = Matrix3::from_diagonal(&Vector3::new(0.01 * i, i, i));
        Inertia { mass, com: Vector3::new(0.5 * LENGTH, 0.0, 0.0), about_com }
    };
    let mut builder = ModelBuilder::new("arms", Base::Fixed(Pose::IDENTITY))
        .link(LinkSpec::new("ground", Inertia::ZERO));
    for (side, x) in [("left", -SHOULDER), ("right", SHOULDER)] {
        let name = |part: &str| format!("{side}_{part}");
        let (upper, fore) = (name("upper"), name("fore"));
        let mut tip = LinkSpec::new(&fore, rod(0.2));
        let ball = GeometrySpec::new(at(LENGTH, 0.0), Shape::Sphere { radius: TIP_RADIUS });
        tip.collisions.push(GeometrySpec { friction: FRICTION, ..ball });
        builder = builder
            .link(LinkSpec::new(&upper, rod(0.25)))
            .link(tip)
            .joint(
                JointSpec::new(&name("shoulder"), "ground", &upper, hinge.clone()).at(at(x, 0.0)),
            )
            .joint(
                JointSpec::new(&name("elbow"), &upper, &fore, hinge.clone()).at(at(LENGTH, 0.0)),
            );
    }
    builder.build().unwrap()
}

/// Angles that bring a tip to (x, y) from its shoulder; `bend`: the elbow's sign.
fn reach(x: f64, y: f64, bend: f64) -> [f64; 2] {
    let cos = (x * x + y * y) / (2.0 * LENGTH * LENGTH) - 1.0;
    let elbow = bend * cos.acos();
    [y.atan2(x) - (elbow.sin()).atan2(1.0 + elbow.cos()), elbow]
}

/// Desired place of the block, and its acceleration. [m], [m/s²] (2) each
fn block(t: f64) -> [[f64; 2]; 2] {
    let (swing, height) = ((2.0 * PI * t).cos(), (PI * t).cos());
    let place = [-0.04 * swing, 0.25 + 0.015 * (1.0 - height)];
    [place, [0.04 * 4.0 * PI * PI * swing, 0.015 * PI * PI * height]]
}

/// Squeeze in every step over the desired one, and the lowest height of the block. [-], [m]
fn swing() -> (Vec<f64>, f64) {
    let model = Arc::new(arms());
    let mut mechanism = Mechanism::new(Arc::clone(&model));
    for name in ["left_fore", "right_fore"] {
        let body = model.frames[model.frame(name).unwrap().0].body.unwrap();
        let point = Vector3::new(LENGTH, 0.0, 0.0);
        mechanism.force_points.push(ForcePoint { name: name.to_owned(), body, point });
    }
    let reachable = 0.5 * BLOCK[0] + TIP_RADIUS;
    let (mut q, mut forces) = (Vec::new(), Vec::new());
    for i in 0..=DURATION + 1 {
        let [[x, y], a] = block(i as f64 * H);
        let mut angles = vec![0.0; model.nq];
        for (side, sign) in [("left", -1.0), ("right", 1.0)] {
            let pair = reach(x + sign * (reachable - SHOULDER), y, sign);
            for (part, angle) in ["shoulder", "elbow"].into_iter().zip(pair) {
                let joint = model.joint(&format!("{side}_{part}")).unwrap();
                angles[model.joints[joint.0].q_start] = angle;
            }
            let share = |k: usize| 0.5 * BLOCK_MASS * a[k];
            forces.extend([share(0) - sign * SQUEEZE, share(1), 0.0]);
        }
        q.extend(angles);
    }
    let target = Target { dt: H, q: &q, forces: &forces, ..Target::default() };
    let tau = Scheme::new(mechanism).torques(&target).unwrap().tau;

    let nq = model.nq;
    let mut world = World::new(WorldSettings { dt: H, ..WorldSettings::default() });
    let robot = world.add_robot("arms", Arc::clone(&model), &q[..nq]).unwrap();
    let [[x, y], _] = block(0.0);
    let wood = BodyDescription {
        friction: FRICTION,
        ..BodyDescription::new(
            "block",
            Shape::Box { size: Vector3::from(BLOCK) },
            BLOCK_MASS,
            at(x, y),
        )
    };
    let wood = world.add_body(wood).unwrap();
    let (mut squeeze, mut lowest) = (Vec::new(), 0.0_f64);
    for i in 0..DURATION {
        let (now, next) = (&q[nq * i..nq * (i + 1)], &q[nq * (i + 1)..nq * (i + 2)]);
        let drives = world.drive_mut(robot);
        for k in 0..nq {
            drives.enabled[k] = true;
            drives.position[k] = next[k];
            drives.velocity[k] = (next[k] - now[k]) / H;
            drives.effort[k] = tau[nq * i + k];
            (drives.stiffness[k], drives.damping[k]) = (2.0, 0.05);
        }
        world.step();
        let force: f64 = world.contacts().map(|c| c.force.x.abs()).sum();
        squeeze.push(0.5 * force / SQUEEZE);
        lowest = lowest.min(world.body(wood).pose().translation.z);
    }
    (squeeze, lowest)
}

#[test]
fn the_block_is_held_and_squeezed_as_desired() {
    let (squeeze, lowest) = swing();
    let worst = squeeze[300..].iter().fold(0.0_f64, |worst, s| worst.max((s - 1.0).abs()));
    assert!(worst < 0.1, "after 0.3 s the squeeze is off by {worst} of {SQUEEZE} N");
    assert!(lowest > -2e-3, "the block sank by {} m", -lowest);
    let again = swing().0;
    assert!(squeeze.iter().zip(&again).all(|(a, b)| a.to_bits() == b.to_bits()), "repeatable");
}
