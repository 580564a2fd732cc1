//! The falling humanoid and the grasp by a hand of many fingers, section 2, from their scene files.
//! [Erez, Tassa, Todorov 2015]

use karakuri_physics::{Statistics, StepOutcome, World, WorldSettings};
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

/// A fall of the humanoid.
struct Fall {
    /// Levels of the methods by which steps of four blocks or more were solved.
    levels: Vec<u32>,
    /// Deepest contact. [m]
    depth: f64,
}

/// Lets the humanoid fall for 1.5 s, limp, or with springs for drives.
fn fall(is_limp: bool, method: &'static str) -> Fall {
    let mut w = scene("humanoid_fall");
    let id = only_robot(&w);
    if is_limp {
        w.drive_mut(id).enabled.fill(false);
    }
    set_method(&mut w, method);
    let mut fall = Fall { levels: Vec::new(), depth: 0.0 };
    let mut before = energy(&mut w);
    for _ in 0..n_steps(&w, 1.5) {
        let start = w.clone();
        step(&mut w);
        let Statistics { residual, tolerance, level, iterations, n_blocks, .. } = w.statistics();
        // Newton's method ends at a few digits more or less.
        assert!(residual <= tolerance.max(1e-7), "{residual} m/s at {} s", w.time());
        if n_blocks >= 4 && iterations > 0 {
            fall.levels.push(u32::from(level));
        }
        // It starts within the ground.
        if w.time() > 0.3 {
            let depth = w.contacts().map(|contact| -contact.gap);
            fall.depth = depth.fold(fall.depth, f64::max);
        }
        let after = energy(&mut w);
        if after - before > 1e-6 {
            // As much as the integrator gives with the exact impulses.
            let mut exact = start;
            set_method(&mut exact, "newton");
            step(&mut exact);
            let [gained, expected] = [after, energy(&mut exact)].map(|energy| energy - before);
            assert!(gained < 1.05 * expected + 1e-6, "{gained} J, exactly {expected} J");
        }
        before = after;
    }
    fall
}

fn set_method(w: &mut World, method: &'static str) {
    let mut settings = *w.settings();
    settings.solver.method = method;
    w.set_settings(settings);
}

#[test]
fn a_limp_robot_is_swept_and_one_that_is_driven_solved_to_all_digits() {
    let [limp, exact] = ["automatic", "newton"].map(|method| fall(true, method));
    let n_swept = limp.levels.iter().filter(|level| **level == 1).count();
    println!(
        "2 limp humanoid: {n_swept} of {} steps swept, {:.3} mm deep, {:.3} by `newton`",
        limp.levels.len(),
        1e3 * limp.depth,
        1e3 * exact.depth,
    );
    assert!(limp.levels.len() > 500 && 10 * n_swept > 9 * limp.levels.len());
    assert!(limp.depth < 1e-4, "{} m", limp.depth);
    let driven = fall(false, "automatic");
    assert!(driven.levels.len() > 500 && driven.levels.iter().all(|level| *level >= 2));
}

#[test]
fn a_hand_in_clutter_is_swept_at_a_bounded_price() {
    let mut w = scene("clutter");
    let (mut visits, mut n_unsolved) = (0, 0);
    let n = n_steps(&w, 1.0);
    for _ in 0..n {
        n_unsolved += usize::from(!matches!(w.step(), StepOutcome::Solved { .. }));
        visits += w.statistics().iterations;
        // Once the fingers have come.
        assert!(w.time() < 0.1 || w.statistics().residual < 1e-2, "{:?}", w.statistics());
    }
    println!("2 hand in clutter: {} sweeps a step, {n_unsolved} of {n} unsolved", visits / n);
    assert!(visits < 60 * n && 10 * n_unsolved < n, "{visits} sweeps, {n_unsolved} unsolved");
    // It holds still what it has taken.
    let places = |w: &World| w.body_ids().map(|id| w.body(id).pose().translation).collect();
    let before: Vec<Vector3> = places(&w);
    run(&mut w, 0.5);
    let mut moved: Vec<_> =
        before.iter().zip(places(&w)).map(|(a, b): (_, Vector3)| (b - a).norm()).collect();
    moved.sort_by(f64::total_cmp);
    println!("2 half of it moves by {:.1e} m in 0.5 s", moved[moved.len() / 2]);
    assert!(moved[moved.len() / 2] < 1e-4, "{moved:?}");
}
