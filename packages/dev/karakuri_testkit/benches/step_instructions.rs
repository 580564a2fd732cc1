//! Instructions that `World::step` takes on the scenes of `packages/dev/peers/scenes.yaml`, counted by valgrind: numbers that a busy
//! machine does not disturb. Arguments are the names of scenes; without any, all are counted.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench says so")]

use std::fs;
use std::path::{Path, PathBuf};

use karakuri_physics::World;
use karakuri_simulation::load_scene;
use karakuri_testkit::{can_count_instructions, instructions};
use serde::Deserialize;

/// Steps that are counted at most, after the scene has settled.
const MOST: usize = 2000;

/// Entry of `scenes.yaml`, as far as it concerns us.
#[derive(Deserialize)]
struct Case {
    name: String,
    scene: PathBuf,
    settle: f64,
    window: f64,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

impl Case {
    fn world(&self) -> World {
        load_scene(&root().join(&self.scene)).unwrap().world().unwrap()
    }

    /// Lets the scene settle and goes on for `steps` steps.
    fn run(&self, steps: usize) {
        let mut world = self.world();
        for _ in 0..in_steps(self.settle, &world) + steps {
            world.step();
        }
    }

    /// Mean instructions of a step in the window.
    fn count(&self) -> f64 {
        let steps = in_steps(self.window, &self.world()).min(MOST);
        let count = |steps: usize| instructions(&["--case", &self.name, &steps.to_string()]);
        (count(steps) - count(0)) / steps as f64
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few thousand")]
fn in_steps(duration: f64, world: &World) -> usize {
    (duration / world.settings().dt).round() as usize
}

fn main() {
    let text = fs::read_to_string(root().join("packages/dev/peers/scenes.yaml")).unwrap();
    let cases: Vec<Case> = serde_yaml::from_str(&text).unwrap();
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [flag, name, steps] = &arguments[..]
        && flag == "--case"
    {
        let case = cases.iter().find(|case| case.name == *name).unwrap();
        return case.run(steps.parse().unwrap());
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
        println!("{:18} {:12.0}", case.name, case.count());
    }
}
