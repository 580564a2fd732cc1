//! Every solver on the same scenes: time, iterations and residual of a step, as a Markdown table.
//!
//! `cargo run --release -p karakuri_physics --example solvers`

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::disallowed_methods,
    reason = "a program that takes the time and prints a table"
)]

use std::sync::Arc;
use std::time::Instant;

use karakuri_model::{Base, Drive, GeometrySpec, JointSpec, LinkSpec, ModelBuilder, Shape};
use karakuri_physics::solver::SOLVERS;
use karakuri_physics::{BodyDescription, ObjectId, SolverSettings, World, WorldSettings};
use karakuri_spatial::{Inertia, Matrix3, Motion, Pose, Vector3};

fn solid_box(name: &str, size: Vector3, mass: f64, position: Vector3) -> BodyDescription {
    BodyDescription {
        name: name.to_owned(),
        shape: Shape::Box { size },
        mass,
        inertia: None,
        pose: Pose::from_translation(position),
        velocity: Motion::default(),
        friction: 0.6,
        restitution: 0.0,
        fixed: false,
        color: [1.0; 4],
    }
}

fn world(dt: f64, method: &'static str) -> World {
    let solver = SOLVERS.iter().find(|s| s.name() == method).unwrap();
    let settings = SolverSettings {
        method,
        iterations: solver.iterations(),
        tolerance: 1e-10,
        escalate: false,
    };
    World::new(WorldSettings { dt, solver: settings, ..WorldSettings::default() })
}

/// A scene, and the body whose height is watched.
type Scene = (World, ObjectId);

fn stack(method: &'static str) -> Scene {
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

fn mass_ratio(method: &'static str) -> Scene {
    let mut w = world(1e-3, method);
    w.add_ground(0.6, 0.0);
    let size = Vector3::repeat(0.1);
    w.add_body(solid_box("light", size, 1.0, Vector3::new(0.0, 0.0, 0.05))).unwrap();
    let top = solid_box("heavy", size, 1000.0, Vector3::new(0.0, 0.0, 0.15));
    let id = w.add_body(top).unwrap();
    (w, id)
}

fn pile(method: &'static str) -> Scene {
    let mut w = world(2e-3, method);
    w.add_ground(0.6, 0.0);
    let mut last = None;
    for i in 0..200 {
        let (x, y, z) = (i % 5, i / 5 % 5, i / 25);
        let offset = 0.013 * f64::from(z * 7 % 5);
        let p = Vector3::new(
            0.11 * f64::from(x) + offset,
            0.11 * f64::from(y) - offset,
            0.06 + 0.115 * f64::from(z),
        );
        let b = solid_box(&format!("box{i}"), Vector3::repeat(0.1), 1.0, p);
        last = Some(w.add_body(b).unwrap());
    }
    (w, last.unwrap())
}

/// Two pads on rails squeeze a block with `ratio` times the least force that holds it.
fn grasp(method: &'static str, dt: f64, ratio: f64) -> Scene {
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

fn report(name: &str, method: &str, scene: Scene, seconds: f64) {
    let (mut w, id) = scene;
    let start = w.body(id).pose().translation.z;
    let steps = (seconds / w.settings().dt).round() as usize;
    let mut worst: f64 = 0.0;
    let (mut iterations, mut most, mut unsolved) = (0, 0, 0);
    let began = Instant::now();
    let mut warm = 0.0;
    for i in 0..steps {
        if i == steps / 2 {
            warm = began.elapsed().as_secs_f64();
        }
        w.step();
        let s = w.statistics();
        worst = worst.max(s.residual);
        unsolved += usize::from(s.residual > w.settings().solver.tolerance);
        iterations += s.iterations;
        most = most.max(s.iterations);
    }
    let total = began.elapsed().as_secs_f64();
    let sunk = (start - w.body(id).pose().translation.z) * 1e6;
    println!(
        "| {name} | {method} | {:.0} | {:.0} | {:.1} | {most} | {unsolved} | {worst:.1e} | {sunk:.3} |",
        1e6 * total / steps as f64,
        1e6 * (total - warm) / (steps - steps / 2) as f64,
        iterations as f64 / steps as f64,
    );
}

fn main() {
    println!(
        "| scene | solver | step, µs | second half, µs | iterations | most | unsolved steps | worst residual, m/s | sinks, µm |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let only = std::env::args().nth(1);
    let wanted = |name: &str| only.as_ref().is_none_or(|o| name.contains(o.as_str()));
    for solver in SOLVERS {
        let m = solver.name();
        if wanted("stack") {
            report("stack", m, stack(m), 2.0);
        }
        if wanted("ratio") {
            report("mass ratio", m, mass_ratio(m), 1.0);
        }
        if wanted("grasp") {
            for (dt, ratio) in [
                (1e-3, 1.001),
                (5e-3, 1.001),
                (1e-3, 1.01),
                (5e-3, 1.01),
                (1e-3, 2.0),
                (1e-3, 0.99),
            ] {
                let seconds = if ratio < 1.0 { 0.5 } else { 10.0 };
                report(&format!("grasp {ratio} {dt}"), m, grasp(m, dt, ratio), seconds);
            }
        }
        if wanted("pile") {
            report("pile", m, pile(m), 0.2);
        }
    }
}
