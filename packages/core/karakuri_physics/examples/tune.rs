//! Tunes a servo in a batch of worlds: a cart carries a box that nothing but friction holds, half a metre as fast as it can.
//! Every copy has other gains; then the same batch on 1, 2, 4 … threads, for the scaling.
//!
//! `cargo run --release -p karakuri_physics --example tune [copies]`

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a program that takes the time and prints tables"
)]

use std::sync::Arc;
use std::time::Instant;

use karakuri_model::{Base, Drive, GeometrySpec, JointSpec, Limits, LinkSpec, ModelBuilder, Shape};
use karakuri_physics::{Batch, BodyDescription, World, WorldSettings};
use karakuri_spatial::{Inertia, Matrix3, Pose, Vector3};

/// Where the cart is to go. [m]
const TARGET: f64 = 0.5;
const STEPS: usize = 1500;

/// A cart of 2 kg on a rail, and a box of 0.5 kg on its tray.
fn carrier() -> World {
    let inertia =
        Inertia { mass: 2.0, com: Vector3::zeros(), about_com: Matrix3::identity() * 0.01 };
    let mut cart = LinkSpec::new("cart", inertia);
    let tray = Shape::Box { size: Vector3::new(0.3, 0.2, 0.02) };
    cart.collisions.push(GeometrySpec { friction: 0.3, ..GeometrySpec::new(Pose::IDENTITY, tray) });
    let rail = JointSpec {
        drive: Some(Drive { stiffness: 0.0, damping: 0.0 }),
        limits: Limits { effort: 40.0, ..Limits::NONE },
        ..JointSpec::prismatic("rail", "base", "cart", Vector3::x())
    };
    let model = ModelBuilder::new("carrier", Base::Fixed(Pose::IDENTITY))
        .link(LinkSpec::new("base", Inertia::ZERO))
        .link(cart)
        .joint(rail)
        .build()
        .unwrap();
    let mut world = World::new(WorldSettings::default());
    world.add_robot("carrier", Arc::new(model), &[0.0]).unwrap();
    let load = BodyDescription {
        friction: 0.3,
        ..BodyDescription::new(
            "load",
            Shape::Box { size: Vector3::repeat(0.06) },
            0.5,
            Pose::from_translation(Vector3::z() * 0.04),
        )
    };
    world.add_body(load).unwrap();
    world
}

/// Gains of a copy: eight stiffnesses by as many damping ratios as it takes. [N/m], [N·s/m]
fn gains(i: usize) -> (f64, f64) {
    let stiffness = 5.0 * 2.0_f64.powf((i % 8) as f64);
    let ratio = 0.6 + 0.2 * (i / 8) as f64;
    (stiffness, 2.0 * ratio * (stiffness * 2.5).sqrt())
}

/// Runs one copy: mean error of the load over the path [m], and how far it slid on the tray. [m]
fn carry(i: usize, world: &mut World) -> (f64, f64) {
    let robot = world.find_robot("carrier").unwrap();
    let load = world.find_body("load").unwrap();
    let drives = world.drive_mut(robot);
    (drives.stiffness[0], drives.damping[0]) = gains(i);
    drives.position[0] = TARGET;
    let mut error = 0.0;
    for _ in 0..STEPS {
        world.step();
        error += (world.body(load).pose().translation.x - TARGET).abs();
    }
    let slid = world.body(load).pose().translation.x - world.robot(robot).q()[0];
    (error / STEPS as f64, slid.abs())
}

fn main() {
    let copies = std::env::args().nth(1).map_or(64, |n| n.parse().unwrap());
    let world = carrier();
    let mut batch = Batch::new(&world, copies, 2);
    let results = batch.run(carry);
    let mut order: Vec<_> = (0..copies).filter(|&i| results[i].1 < 1e-6).collect();
    order.sort_by(|&i, &j| results[i].0.total_cmp(&results[j].0));
    println!("{copies} pairs of gains, {} of them without slip; the best:\n", order.len());
    println!("| stiffness, N/m | damping, N·s/m | mean error, m | slip, m |");
    println!("|---|---|---|---|");
    for &i in order.iter().take(5) {
        let ((stiffness, damping), (error, slid)) = (gains(i), results[i]);
        println!("| {stiffness:.0} | {damping:.1} | {error:.4} | {slid:.1e} |");
    }
    println!("\n| threads | steps/s | speed-up |\n|---|---|---|");
    let mut serial = f64::INFINITY;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for threads in std::iter::successors(Some(1), |n| Some(2 * n)).take_while(|&n| n <= cores) {
        let mut batch = Batch::new(&world, copies, threads);
        let start = Instant::now();
        assert_eq!(batch.run(carry), results, "the same bits on any number of threads");
        let elapsed = start.elapsed().as_secs_f64();
        if threads == 1 {
            serial = elapsed;
        }
        let rate = (copies * STEPS) as f64 / elapsed;
        println!("| {threads} | {rate:.0} | {:.2} |", serial / elapsed);
    }
}
