//! Instructions that `World::step` takes on the scenes of `packages/dev/peers/scenes.yaml`, counted by valgrind: numbers that a busy
//! machine does not disturb. Arguments are the names of scenes; without any, all are counted.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench says so")]

mod support;

use karakuri_testkit::{can_count_instructions, instructions};

use support::{Case, cases, steps};

/// Steps that are counted at most, after the scene has settled.
const MOST: usize = 2000;

/// Lets a scene settle and goes on for `n` steps.
fn run(case: &Case, n: usize) {
    let mut world = case.world();
    for _ in 0..steps(&world, case.settle) + n {
        world.step();
    }
}

/// Mean instructions of a step in the window.
fn count(case: &Case) -> f64 {
    let n = steps(&case.world(), case.window).min(MOST);
    let count = |n: usize| instructions(&["--case", &case.name, &n.to_string()]);
    (count(n) - count(0)) / n as f64
}

fn main() {
    let cases: Vec<Case> = cases();
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [flag, name, n] = &arguments[..]
        && flag == "--case"
    {
        let case = cases.iter().find(|case| case.name == *name).unwrap();
        return run(case, n.parse().unwrap());
    }
    if !can_count_instructions() {
        println!("valgrind is not installed; without it nothing is counted");
        return;
    }
    println!("instructions per step");
    for case in &cases {
        if !arguments.is_empty() && !arguments.contains(&case.name) {
            continue;
        }
        println!("{:18} {:12.0}", case.name, count(case));
    }
}
