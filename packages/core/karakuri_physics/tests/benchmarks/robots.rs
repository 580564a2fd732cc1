//! The falling humanoid and the grasp by a hand of many fingers, section 2, from their scene files.
//! [Erez, Tassa, Todorov 2015]

use karakuri_physics::{World, WorldSettings};
use karakuri_spatial::Vector3;

use crate::support::*;

/// Step of the reference. [s]
const FINE: f64 = 1e-3 / 64.0;
/// Time between samples: a whole number of every step. [s]
const APART: f64 = 0.128;
/// [s]
const STEPS: [f64; 6] = [5e-4, 1e-3, 2e-3, 4e-3, 8e-3, 16e-3];

/// Names of all links that touch the ground.
fn touching(w: &World) -> Vec<String> {
    let mut names: Vec<String> = w.contacts().map(|c| format!("{:?} {:?}", c.a, c.b)).collect();
    names.sort();
    names.dedup();
    names
}

#[test]
#[ignore = "180 000 steps of a humanoid"]
fn a_falling_humanoid_agrees_with_itself() {
    let mut reference = scene_at("humanoid_fall", FINE);
    let id = only_robot(&reference);
    let mut samples = Vec::new();
    for _ in 0..=20 {
        let view = reference.robot(id);
        samples.push((view.q().to_vec(), view.v().to_vec(), touching(&reference)));
        run(&mut reference, APART);
    }
    let down = reference.robot(id).q()[2];
    assert!(down < 0.4, "it has fallen: {down} m");
    let n_joints = samples[0].0.len() - 7;
    for h in STEPS {
        let mut w = scene_at("humanoid_fall", h);
        let (mut all, mut quiet, mut n_quiet) = (0.0, 0.0, 0);
        for pair in samples.windows(2) {
            w.set_robot_state(id, &pair[0].0, &pair[0].1).unwrap();
            run(&mut w, APART);
            let ends = w.robot(id).q()[7..].iter().zip(&pair[1].0[7..]);
            let squares = ends.map(|(a, b)| (a - b).powi(2)).sum::<f64>() / n_joints as f64;
            all += squares;
            if pair[0].2 == pair[1].2 {
                quiet += squares;
                n_quiet += 1;
            }
        }
        let (all, quiet) = ((all / 20.0).sqrt(), (quiet / f64::from(n_quiet.max(1))).sqrt());
        println!(
            "2 humanoid, h = {h}: {all:.1e} rad, {quiet:.1e} rad in the {n_quiet} of 20 windows without new contacts"
        );
        assert!(n_quiet > 3 && (h > 4e-3 || quiet < 1e-2), "h = {h}: {quiet} rad");
    }
}

/// How far the object moves in the hand in two seconds of shaking, after half a second to close. [m]
fn shaken(dt: f64, direction: Vector3) -> f64 {
    let mut w = scene_at("hand", dt);
    let object = w.find_body("object").unwrap();
    run(&mut w, 0.5);
    let start = w.body(object).pose().translation;
    let (omega, earth) = (2.0 * std::f64::consts::TAU, w.settings().gravity);
    for i in 0..n_steps(&w, 2.0) {
        // The hand stands still, and the world with its gravity is shaken.
        let a = direction * (-0.05 * omega * omega * (omega * dt * i as f64).sin());
        w.set_settings(WorldSettings { gravity: earth - a, ..*w.settings() });
        step(&mut w);
    }
    (w.body(object).pose().translation - start).norm()
}

/// Shakes at these steps; the object must stay within 5 mm.
fn holds(steps: &[f64]) {
    for &dt in steps {
        for (name, direction) in [("across", Vector3::y()), ("along", Vector3::z())] {
            let moved = shaken(dt, direction);
            println!("2 hand, shaken {name}, h = {dt}: {moved:.1e} m");
            assert!(moved < 5e-3, "h = {dt}: {moved} m");
        }
    }
}

#[test]
fn a_hand_of_five_fingers_holds_what_is_shaken() {
    holds(&[8e-3, 16e-3]);
}

#[test]
#[ignore = "20 000 steps of a hand"]
fn a_hand_of_five_fingers_holds_at_any_step() {
    holds(&[5e-4, 1e-3, 2e-3, 4e-3, 32e-3]);
}
