//! Every solver on the same scenes: time, iterations and residual of a step, as a Markdown table.
//!
//! `cargo run --release -p karakuri_physics --example solvers [scene]`

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::disallowed_methods,
    reason = "a program that takes the time and prints a table"
)]

#[path = "../tests/scenes/mod.rs"]
mod scenes;

use std::time::Instant;

use karakuri_physics::solver::SOLVERS;
use karakuri_spatial::Vector3;
use scenes::{Scene, grasp, mass_ratio, solid_box, stack, world};

/// Two hundred boxes fall into each other.
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
    let selected = |name: &str| only.as_ref().is_none_or(|o| name.contains(o.as_str()));
    for solver in SOLVERS {
        let m = solver.name;
        if selected("stack") {
            report("stack", m, stack(m), 2.0);
        }
        if selected("ratio") {
            report("mass ratio", m, mass_ratio(m), 1.0);
        }
        if selected("grasp") {
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
        if selected("pile") {
            report("pile", m, pile(m), 1.0);
        }
    }
}
