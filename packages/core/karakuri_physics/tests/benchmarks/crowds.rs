//! SimBenchmark (Hwangbo, Kang et al., ETH 2018), section 1.8: a crowd of ANYmals that stand in a square.

use std::sync::Arc;

use karakuri_physics::{Owner, RobotId, StepOutcome, World};
use karakuri_spatial::Vector3;
use karakuri_testkit::cpu_seconds;

use crate::support::*;

/// Between the robots' bases. [m]
const SPACING: f64 = 1.5;

/// `n` copies of the robot of `anymal_stand` in a square.
fn crowd(n: usize) -> World {
    let (mut scene, models) = read_scene("anymal_stand");
    let (one, side) = (scene.robots.remove(0), (n as f64).sqrt().round() as usize);
    for i in 0..n {
        let mut robot = one.clone();
        robot.name = format!("anymal_{i}");
        robot.pose.translation += Vector3::new((i % side) as f64, (i / side) as f64, 0.0) * SPACING;
        scene.robots.push(robot);
    }
    World::from_scene(&scene, &vec![Arc::clone(&models[0]); n]).unwrap()
}

/// The feet of a robot and where they are. [m]
fn feet(w: &World, robot: RobotId) -> [(Owner, Vector3); 4] {
    let view = w.robot(robot);
    ["LF", "RF", "LH", "RH"].map(|leg| {
        let frame = view.model().frame(&format!("{leg}_foot")).unwrap();
        let pose = karakuri_dynamics::frame_pose(view.model(), view.data(), frame);
        (Owner::Link { robot, frame }, pose.translation)
    })
}

fn all_feet(w: &World) -> Vec<(Owner, Vector3)> {
    w.robot_ids().flat_map(|robot| feet(w, robot)).collect()
}

/// Every foot of every robot has its one contact, and nothing else touches.
fn check_contacts(w: &World) {
    let owners: Vec<[Owner; 2]> = w.contacts().map(|c| [c.a, c.b]).collect();
    let feet = all_feet(w);
    assert_eq!(owners.len(), feet.len(), "contacts at {} s", w.time());
    for (foot, _) in feet {
        let n = owners.iter().filter(|pair| pair.contains(&foot)).count();
        assert_eq!(n, 1, "contacts of {foot:?} at {} s", w.time());
    }
}

fn solved(w: &mut World) {
    let outcome = w.step();
    assert!(matches!(outcome, StepOutcome::Solved { .. }), "{outcome:?} at {} s", w.time());
}

/// How far the feet have moved at most, all robots still standing. [m]
fn creep(w: &World, start: &[(Owner, Vector3)]) -> f64 {
    assert!(w.robot_ids().all(|id| w.robot(id).q()[2] > 0.3), "stand");
    let distances = all_feet(w).into_iter().zip(start).map(|(now, then)| (now.1 - then.1).norm());
    distances.fold(0.0, f64::max)
}

#[test]
fn a_crowd_stands_without_creep() {
    let mut w = crowd(9);
    for _ in 0..n_steps(&w, 3.0) {
        solved(&mut w);
    }
    let start = all_feet(&w);
    for _ in 0..n_steps(&w, 3.0) {
        solved(&mut w);
        check_contacts(&w);
    }
    let (creep, islands) = (creep(&w, &start), w.statistics().n_islands);
    println!("1.8 crowd of 9 for 3 s: feet creep by {creep:e} m");
    assert!(creep <= 1e-6, "feet creep by {creep:e} m");
    assert_eq!(islands, 9, "every robot is an island of its own");
}

/// CPU time of 250 s, from a part of them after the robots have come to rest: the source's measure, on another machine.
#[test]
#[ignore = "1 050 000 steps of robots, 9 s"]
fn crowds_of_up_to_225_robots() {
    let mut points = Vec::new();
    for n in [1, 4, 9, 16, 25, 49, 100, 225] {
        let mut w = crowd(n);
        for _ in 0..n_steps(&w, 5.0) {
            solved(&mut w);
        }
        let (start, seconds) = (all_feet(&w), (250.0 / n as f64).max(5.0));
        let (steps, before) = (n_steps(&w, seconds), cpu_seconds());
        for _ in 0..steps {
            solved(&mut w);
        }
        let spent = cpu_seconds() - before;
        let scaled = spent * 250.0 / seconds;
        let creep = creep(&w, &start);
        println!(
            "1.8 crowd of {n}: {scaled:.3} CPU s for 250 s, {:.0} steps/s, {:.2} µs a robot and step; feet creep by {creep:e} m in {seconds:.1} s",
            steps as f64 / spent,
            1e6 * spent / (steps * n) as f64,
        );
        check_contacts(&w);
        assert!(creep <= 1e-6, "{n} robots: feet creep by {creep:e} m");
        points.push((n as f64, scaled));
    }
    plot("crowd", "karakuri, one thread", &points);
}
