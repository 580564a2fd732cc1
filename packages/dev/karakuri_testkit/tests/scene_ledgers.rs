//! The energy ledger of every scene of the project closes, step by step.

#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]
#![expect(clippy::print_stdout, reason = "the table is the picture")]

use std::path::{Path, PathBuf};

use karakuri_physics::{Ledger, World};
use karakuri_simulation::load_scene;

/// Number of simulated steps per scene.
const STEPS: usize = 500;
/// Scenes with fewer steps: a heap of 960 contacts takes a quarter of a second per step.
const FEWER: [(&str, usize); 2] = [("heap200", 20), ("pile200", 150)];
/// Largest energy of a step that no cause accounts for: this, or this part of the kinetic energy. [J], [-]
const MISSING: f64 = 1e-9;
const ROUND_OFF: f64 = 1e-12;

fn scenes() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../config/scenes");
    let mut found = Vec::new();
    for folder in [folder.clone(), folder.join("bench"), folder.join("benchmarks")] {
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        found.extend(files.filter(|path| path.extension().is_some_and(|e| e == "yaml")));
    }
    // Robots of packages from elsewhere are fetched, and walk, in tests/robots.
    found.retain(|path| !std::fs::read_to_string(path).unwrap().contains("package://"));
    found.sort();
    found
}

/// Sum of the energy of all causes. [J]
fn sum(l: &Ledger) -> f64 {
    let work = l.servos + l.external + l.contacts + l.limits + l.friction + l.dampers;
    work + l.loops + l.stabilisation + l.integration + l.unexplained
}

/// Largest unexplained energy of a step, and the most that it may be. [J]
fn worst(path: &Path) -> (f64, f64, Ledger) {
    let mut loaded = load_scene(path).unwrap();
    loaded.scene.settings.energy_ledger = true;
    let mut world = World::from_scene(&loaded.scene, &loaded.models).unwrap();
    let (mut worst, mut scale): (f64, f64) = (0.0, 0.0);
    let is = |name: &str| path.file_stem().is_some_and(|stem| stem == name);
    let fewer = FEWER.iter().find(|(name, _)| is(name));
    for _ in 0..fewer.map_or(STEPS, |(_, steps)| *steps) {
        let before = world.ledger().unexplained;
        world.step();
        worst = worst.max((world.ledger().unexplained - before).abs());
        scale = scale.max(world.energy().kinetic);
    }
    (worst, MISSING.max(ROUND_OFF * scale), world.ledger())
}

#[test]
fn the_ledger_of_every_scene_closes() {
    let mut open = Vec::new();
    for path in scenes() {
        let (missing, most, ledger) = worst(&path);
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        println!("{name:24} {missing:.1e} J a step (at most {most:.1e}); {ledger:?}");
        let change = ledger.kinetic + ledger.potential;
        let scale = ledger.kinetic.abs().max(ledger.potential.abs()).max(1.0);
        if missing > most || (change - sum(&ledger)).abs() > 1e-12 * scale {
            open.push(format!("{name}: {missing:.1e} J in a step"));
        }
    }
    assert!(open.is_empty(), "{open:#?}");
}
