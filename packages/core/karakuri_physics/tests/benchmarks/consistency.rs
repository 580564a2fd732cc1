//! Consistency, section 2: how far a step of `h` takes the world from its own reference at 1/64 ms, from sampled states on.
//! [Erez, Tassa, Todorov 2015]

use karakuri_physics::{Integrator, RobotId, World, WorldSettings};
use karakuri_spatial::{Motion, Pose};

use crate::support::*;

/// Step of the reference. [s]
const FINE: f64 = 1e-3 / 64.0;
/// Time between samples: a whole number of every step. [s]
const APART: f64 = 0.128;
/// [s]
const STEPS: [f64; 6] = [5e-4, 1e-3, 2e-3, 4e-3, 8e-3, 16e-3];

/// Five rods of 1 m and 1 kg, hinged, stretched out level.
fn chain(dt: f64, integrator: Integrator) -> (World, RobotId) {
    let mut w = scene_at("rods", dt);
    w.set_settings(WorldSettings { integrator, ..*w.settings() });
    let id = only_robot(&w);
    (w, id)
}

fn root_mean_square(squares: f64, n: usize) -> f64 {
    (squares / n as f64).sqrt()
}

#[test]
fn a_swinging_chain_agrees_with_itself() {
    for (integrator, bar) in [(Integrator::Default, 1e-2), (Integrator::RungeKutta4, 1e-4)] {
        let (mut reference, id) = chain(FINE, integrator);
        let mut samples = Vec::new();
        for _ in 0..=20 {
            samples.push((reference.robot(id).q().to_vec(), reference.robot(id).v().to_vec()));
            run(&mut reference, APART);
        }
        let deviations = STEPS.map(|h| {
            let (mut w, id) = chain(h, integrator);
            let mut sum = 0.0;
            for pair in samples.windows(2) {
                w.set_robot_state(id, &pair[0].0, &pair[0].1).unwrap();
                run(&mut w, APART);
                let off = w.robot(id).q().iter().zip(&pair[1].0).map(|(a, b)| (a - b).powi(2));
                sum += off.sum::<f64>();
            }
            root_mean_square(sum, 20 * 5)
        });
        let shown = deviations.map(|d| format!("{d:.1e}"));
        println!("2 chain, {integrator:?}: {shown:?} rad at {STEPS:?} s");
        assert!(deviations[3] <= bar, "{integrator:?} at 4 ms: {:e} rad", deviations[3]);
    }
}

#[test]
fn a_swinging_chain_keeps_its_energy() {
    for (integrator, h) in [(Integrator::Default, 1e-3), (Integrator::RungeKutta4, 1e-3)] {
        let (mut w, _) = chain(h, integrator);
        let start = energy(&mut w);
        let mut worst: f64 = 0.0;
        for _ in 0..5000 {
            step(&mut w);
            worst = worst.max((energy(&mut w) - start).abs());
        }
        println!("2 chain, {integrator:?}, h = {h}: energy within {worst:.1e} J in 5 s");
        // Of 123 J that the rods can fall by.
        assert!(worst < 0.12, "{worst} J");
    }
}

#[test]
#[ignore = "90 000 steps of 27 capsules"]
fn falling_capsules_agree_with_themselves() {
    let states = |w: &World| -> Vec<(Pose, Motion)> {
        w.body_ids().map(|id| (w.body(id).pose(), w.body(id).velocity())).collect()
    };
    let mut reference = scene_at("capsules", FINE);
    let mut samples = Vec::new();
    for _ in 0..=10 {
        samples.push(states(&reference));
        run(&mut reference, APART);
    }
    for h in STEPS {
        let (mut w, mut sum) = (scene_at("capsules", h), 0.0);
        let ids: Vec<_> = w.body_ids().collect();
        for pair in samples.windows(2) {
            for (&id, (pose, velocity)) in ids.iter().zip(&pair[0]) {
                w.set_body_state(id, *pose, *velocity).unwrap();
            }
            run(&mut w, APART);
            let ends = ids.iter().zip(&pair[1]);
            sum += ends
                .map(|(&id, (X, _))| (w.body(id).pose().translation - X.translation).norm_squared())
                .sum::<f64>();
        }
        let deviation = root_mean_square(sum, 270);
        println!("2 capsules, h = {h}: {deviation:.1e} m");
        assert!(deviation < 0.05, "h = {h}: {deviation} m");
    }
}
