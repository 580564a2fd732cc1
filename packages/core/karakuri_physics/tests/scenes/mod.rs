//! Scenes that solvers are measured on.
#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]

use std::sync::Arc;

use karakuri_model::{Base, Drive, GeometrySpec, JointSpec, LinkSpec, ModelBuilder, Shape};
use karakuri_physics::solver::SOLVERS;
use karakuri_physics::{BodyDescription, ObjectId, SolverSettings, World, WorldSettings};
use karakuri_spatial::{Inertia, Matrix3, Pose, Vector3};

pub(crate) fn solid_box(
    name: &str,
    size: Vector3,
    mass: f64,
    position: Vector3,
) -> BodyDescription {
    BodyDescription {
        friction: 0.6,
        ..BodyDescription::new(name, Shape::Box { size }, mass, Pose::from_translation(position))
    }
}

pub(crate) fn world(dt: f64, method: &'static str) -> World {
    let solver = SOLVERS.iter().find(|s| s.name == method).unwrap();
    let settings = SolverSettings {
        method,
        iterations: solver.iterations,
        tolerance: 1e-10,
        escalate: false,
        ..SolverSettings::default()
    };
    World::new(WorldSettings { dt, solver: settings, ..WorldSettings::default() })
}

/// A world, and the body whose height is watched.
pub(crate) type Scene = (World, ObjectId);

pub(crate) fn stack(method: &'static str) -> Scene {
    let mut w = world(1e-3, method);
    w.add_ground(0.6, 0.0);
    let ids: Vec<_> = (0..10)
        .map(|i| {
            let z = 0.05 + 0.1 * f64::from(i);
            let size = Vector3::repeat(0.1);
            w.add_body(solid_box(&format!("box{i}"), size, 1.0, Vector3::new(0.0, 0.0, z))).unwrap()
        })
        .collect();
    (w, ids[9])
}

pub(crate) fn mass_ratio(method: &'static str) -> Scene {
    let mut w = world(1e-3, method);
    w.add_ground(0.6, 0.0);
    let size = Vector3::repeat(0.1);
    w.add_body(solid_box("light", size, 1.0, Vector3::new(0.0, 0.0, 0.05))).unwrap();
    let top = solid_box("heavy", size, 1000.0, Vector3::new(0.0, 0.0, 0.15));
    let id = w.add_body(top).unwrap();
    (w, id)
}

/// Two pads on rails squeeze a block with `ratio` times the least force that holds it.
pub(crate) fn grasp(method: &'static str, dt: f64, ratio: f64) -> Scene {
    let mut w = world(dt, method);
    let inertia = |mass: f64| Inertia {
        mass,
        com: Vector3::zeros(),
        about_com: Matrix3::identity() * (mass * 2e-4),
    };
    let pad = |name: &str| {
        let mut link = LinkSpec::new(name, inertia(0.1));
        let shape = Shape::Box { size: Vector3::new(0.02, 0.04, 0.04) };
        link.collisions
            .push(GeometrySpec { friction: 0.6, ..GeometrySpec::new(Pose::IDENTITY, shape) });
        link
    };
    let rail = |name: &str, child: &str, axis: f64| JointSpec {
        drive: Some(Drive { stiffness: 0.0, damping: 0.0 }),
        origin: Pose::from_translation(Vector3::new(-0.035 * axis, 0.0, 0.5)),
        ..JointSpec::prismatic(name, "base", child, Vector3::x() * axis)
    };
    let model = ModelBuilder::new("pads", Base::Fixed(Pose::IDENTITY))
        .link(LinkSpec::new("base", Inertia::ZERO))
        .link(pad("left"))
        .link(pad("right"))
        .joint(rail("left_rail", "left", 1.0))
        .joint(rail("right_rail", "right", -1.0))
        .build()
        .unwrap();
    let id = w.add_robot("pads", Arc::new(model), &[0.0; 2]).unwrap();
    let block =
        solid_box("block", Vector3::new(0.05, 0.04, 0.04), 0.2, Vector3::new(0.0, 0.0, 0.5));
    let block = w.add_body(block).unwrap();
    w.drive_mut(id).effort.copy_from_slice(&[ratio * 0.2 * 9.81 / 1.2; 2]);
    (w, block)
}
