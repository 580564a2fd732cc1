//! Instructions a step takes, counted by valgrind: a number that a busy machine does not disturb.
//!
//! A chain's step is linear in its links: fails when one of 500 takes over 4.5 times what one of 125 takes (a square law gives 16).
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench says so")]

use std::sync::Arc;

use karakuri_model::Drive;
use karakuri_physics::{JointDynamics, World, WorldSettings};
use karakuri_testkit::{can_count_instructions, chain, instructions};

const LENGTHS: [usize; 3] = [125, 250, 500];
/// `dry`: its last joint has dry friction, which slips: a row on the whole chain.
const CASES: [&str; 3] = ["free", "servos", "dry"];
/// In the longer one of two runs.
const STEPS: usize = 20;

/// Steps a hanging chain that is bent a little.
fn run(case: &str, links: usize, steps: usize) {
    let drive = (case == "servos").then_some(Drive { stiffness: 10.0, damping: 0.1 });
    let mut world = World::new(WorldSettings::default());
    let q: Vec<f64> = (0..links).map(|i| 0.1 * (i as f64).sin()).collect();
    let robot = world.add_robot("chain", Arc::new(chain(links, drive)), &q).unwrap();
    if case == "dry" {
        let dynamics = JointDynamics { armature: 0.0, viscous: 0.0, friction: 1e-3 };
        world.set_joint_dynamics(robot, links - 1, dynamics).unwrap();
    }
    for _ in 0..steps {
        world.step();
    }
}

/// Instructions of one step.
fn count(case: &str, links: usize) -> f64 {
    let run =
        |steps: usize| instructions(&["--case", case, &links.to_string(), &steps.to_string()]);
    // The first step makes room for all others.
    (run(1 + STEPS) - run(1)) / STEPS as f64
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let [_, flag, case, links, steps] = &args[..]
        && flag == "--case"
    {
        return run(case, links.parse().unwrap(), steps.parse().unwrap());
    }
    if !can_count_instructions() {
        println!("valgrind is not installed; without it nothing is counted");
        return;
    }
    println!("instructions per step of a chain, and per link");
    for case in CASES {
        let counts = LENGTHS.map(|links| count(case, links));
        for (links, n) in LENGTHS.iter().zip(counts) {
            println!("{case:8} {links:4} links {n:10.0} {:7.0}", n / *links as f64);
        }
        assert!(counts[2] < 4.5 * counts[0], "{case}: not linear in the links");
    }
}
