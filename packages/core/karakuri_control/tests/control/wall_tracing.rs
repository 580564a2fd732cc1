//! An arm traces a wall in the physics simulation and pushes it with a constant force, without a Jacobian: the force is
//! one entry of `{P}`.
#![expect(clippy::unwrap_used, reason = "a test says so")]

use std::f64::consts::PI;
use std::sync::Arc;

use karakuri_control::nodal::{ForcePoint, Mechanism, Scheme, Target};
use karakuri_model::{
    Base, GeometrySpec, JointKind, JointSpec, LinkSpec, Model, ModelBuilder, Shape,
};
use karakuri_physics::{BodyDescription, World, WorldSettings};
use karakuri_spatial::{Inertia, Matrix3, Pose, Vector3};

/// [m]
const LENGTHS: [f64; 2] = [0.4, 0.35];
const TIP_RADIUS: f64 = 0.01;
/// Where the tip's centre is when it touches. [m]
const WALL: f64 = 0.5;
/// [s]
const H: f64 = 1e-3;
const DURATION: usize = 4000;
/// [N]
const PUSH: f64 = 5.0;
/// Steps of a mean.
const MEAN: usize = 20;

fn rod(mass: f64, length: f64) -> Inertia {
    let i = mass * length * length / 12.0;
    let about_com = Matrix3::from_diagonal(&Vector3::new(0.01 * i, i, i));
    Inertia { mass, com: Vector3::new(0.5 * length, 0.0, 0.0), about_com }
}

fn at(x: f64) -> Pose {
    Pose::from_translation(Vector3::new(x, 0.0, 0.0))
}

/// Two links in a horizontal plane, a ball at the tip.
fn arm(friction: f64) -> Model {
    let hinge = Some(JointKind::Revolute { axis: Vector3::z() });
    let mut fore = LinkSpec::new("fore", rod(0.8, LENGTHS[1]));
    let ball = GeometrySpec::new(at(LENGTHS[1]), Shape::Sphere { radius: TIP_RADIUS });
    fore.collisions.push(GeometrySpec { friction, ..ball });
    ModelBuilder::new("arm", Base::Fixed(Pose::IDENTITY))
        .link(LinkSpec::new("ground", Inertia::ZERO))
        .link(LinkSpec::new("upper", rod(1.0, LENGTHS[0])))
        .link(fore)
        .joint(JointSpec::new("shoulder", "ground", "upper", hinge.clone()))
        .joint(JointSpec::new("elbow", "upper", "fore", hinge.clone()).at(at(LENGTHS[0])))
        .build()
        .unwrap()
}

/// Angles that bring the tip to the wall at height y.
fn reach(y: f64) -> [f64; 2] {
    let [a, b] = LENGTHS;
    let elbow = -((WALL * WALL + y * y - a * a - b * b) / (2.0 * a * b)).acos();
    [y.atan2(WALL) - (b * elbow.sin()).atan2(a + b * elbow.cos()), elbow]
}

/// Largest error of the normal force's mean over 20 ms, after 0.1 s, and root mean square error of single steps, over
/// the push. A step in which the ball leaves the wall by a tenth of a micrometre has a force of its own.
fn trace(friction: f64, with_force: bool) -> [f64; 2] {
    let model = Arc::new(arm(friction));
    let height = |i: usize| -0.15 + 0.15 * (1.0 - (PI * i as f64 * H).cos());
    let speed = |i: usize| 0.15 * PI * (PI * i as f64 * H).sin();
    let q: Vec<f64> = (0..=DURATION + 1).flat_map(|i| reach(height(i))).collect();
    let mut mechanism = Mechanism::new(Arc::clone(&model));
    let point = Vector3::new(LENGTHS[1], 0.0, 0.0);
    let body = model.frames[model.frame("fore").unwrap().0].body.unwrap();
    mechanism.force_points.push(ForcePoint { name: "tip".to_owned(), body, point });
    // What slides along the wall pushes it on by its friction.
    let push = |i: usize| [PUSH, friction * PUSH * (speed(i) / 1e-3).tanh(), 0.0];
    let forces: Vec<f64> = (0..=DURATION + 1).flat_map(push).collect();
    let forces = if with_force { &forces[..] } else { &[] };
    let target = Target { dt: H, q: &q, forces, ..Target::default() };
    let tau = Scheme::new(mechanism).torques(&target).unwrap().tau;

    let mut world = World::new(WorldSettings { dt: H, ..WorldSettings::default() });
    let robot = world.add_robot("arm", Arc::clone(&model), &q[..2]).unwrap();
    let wall = BodyDescription {
        friction,
        fixed: true,
        ..BodyDescription::new(
            "wall",
            Shape::Box { size: Vector3::new(0.1, 2.0, 0.5) },
            1.0,
            at(WALL + TIP_RADIUS + 0.05),
        )
    };
    world.add_body(wall).unwrap();
    let mut errors = Vec::with_capacity(DURATION);
    for i in 0..DURATION {
        let (now, next) = (&q[2 * i..2 * i + 2], &q[2 * i + 2..2 * i + 4]);
        let drives = world.drive_mut(robot);
        for k in 0..2 {
            drives.enabled[k] = true;
            drives.position[k] = next[k];
            drives.velocity[k] = (next[k] - now[k]) / H;
            drives.effort[k] = tau[2 * i + k];
            (drives.stiffness[k], drives.damping[k]) = (50.0, 2.0);
        }
        world.step();
        let force: f64 = world.contacts().map(|c| c.force.x.abs()).sum();
        errors.push((force - PUSH) / PUSH);
    }
    let errors = &errors[100..];
    let mean = |run: &[f64]| (run.iter().sum::<f64>() / MEAN as f64).abs();
    let squares: f64 = errors.iter().map(|e| e * e).sum();
    let worst = errors.windows(MEAN).map(mean).fold(0.0, f64::max);
    [worst, (squares / errors.len() as f64).sqrt()]
}

#[test]
fn the_push_stays_constant_along_the_wall() {
    let smooth = trace(0.0, true);
    assert!(smooth[0] < 0.01 && smooth[1] < 0.05, "{smooth:?}");
    let rough = trace(0.2, true);
    assert!(rough[0] < 0.02 && rough[1] < 0.05, "{rough:?}");
    assert_eq!(rough.map(f64::to_bits), trace(0.2, true).map(f64::to_bits), "repeatable");
    let without = trace(0.2, false);
    assert!(without[1] > 0.5, "{without:?}");
}
