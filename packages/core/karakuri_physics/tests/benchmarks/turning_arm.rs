//! A block held on an arm that turns, swings and shakes: it stays where it is while friction can hold it, and slips where it cannot.

use std::f64::consts::TAU;

use karakuri_physics::{MotionTable, ObjectId, RobotId, World};
use karakuri_spatial::{Motion, Pose, Vector3};

use crate::support::*;

const MASS: f64 = 0.2;
const FRICTION: f64 = 0.6;
const G: f64 = 9.81;
/// Mass of a pad, and how far it is from the middle of the jaws. [kg; m]
const PAD: f64 = 0.05;
const PAD_AT: f64 = 0.035;
/// Of the block's centre at the shoulder of the arm at rest. [m]
const OUT: f64 = 0.3;

/// Angles of yaw, pitch and roll over time, at rest at the start. [s]; [rad]
type Law = fn(f64) -> [f64; 3];

/// The angle of a turn that comes to its speed within half a second. [rad/s]; [s]
fn turn(speed: f64, t: f64) -> f64 {
    let (rise, x) = (0.5, (t / 0.5).min(1.0));
    // The rate rises as 3 x² − 2 x³.
    speed * (rise * (x * x * x - 0.5 * x.powi(4)) + (t - rise).max(0.0))
}

/// A swing to and fro with a largest rate. [rad/s]; [1/s]; [s]
fn swing(rate: f64, frequency: f64, t: f64) -> f64 {
    rate / (TAU * frequency) * (1.0 - (TAU * frequency * t).cos())
}

const LAWS: [(&str, Law); 4] = [
    ("turns", |t| [turn(10.0, t), 0.0, 0.0]),
    ("swings", |t| [swing(10.0, 1.0, t), swing(6.0, 0.7, t), 0.0]),
    ("rolls", |t| [0.0, swing(3.0, 0.5, t), turn(10.0, t)]),
    ("shakes", |t| [swing(10.0, 2.3, t), swing(10.0, 1.7, t), swing(10.0, 2.9, t)]),
];

fn pose(law: Law, t: f64) -> Pose {
    let [yaw, pitch, roll] = law(t.max(0.0));
    Pose::from_xyz_rpy([0.0, 0.0, 1.0], [roll, pitch, yaw])
}

/// Least force of the jaws that holds the block: friction bears what acts across their axis. [N]
fn least_force(law: Law, seconds: f64) -> f64 {
    let e = 1e-3;
    let place = |t: f64| pose(law, t).transform_point(&Vector3::new(OUT, 0.0, 0.0));
    let needed = |t: f64| {
        let a = (place(t + e) - place(t) * 2.0 + place(t - e)) / (e * e);
        let f = pose(law, t).rotation.tr_mul(&((a + Vector3::z() * G) * MASS));
        // What the pads' own inertia takes off the force of the jaws.
        let apart = |t: f64| pose(law, t).rotation * Vector3::y() * (-2.0 * PAD_AT);
        let opening = (apart(t + e) - apart(t) * 2.0 + apart(t - e)) / (e * e);
        f.x.hypot(f.z) / FRICTION + PAD * pose(law, t).rotation.column(1).dot(&opening)
    };
    (1..10_000).map(|i| needed(f64::from(i) * seconds / 1e4)).fold(0.0, f64::max)
}

struct Grip {
    w: World,
    arm: RobotId,
    block: ObjectId,
}

impl Grip {
    fn new(law: Law, force: f64, dt: f64, seconds: f64) -> Self {
        let mut w = scene_at("turning_arm", dt);
        let (arm, block) = (only_robot(&w), w.find_body("block").unwrap());
        let jaws = dof(&w, arm, "rail_left");
        w.drive_mut(arm).effort[jaws] = force;
        for (axis, name) in ["yaw", "pitch", "roll"].into_iter().enumerate() {
            let n = (seconds * 200.0) as usize + 2;
            let times: Vec<f64> = (0..n).map(|i| i as f64 / 200.0).collect();
            let angles = times.iter().map(|t| law(*t)[axis]).collect();
            let joint = w.robot(arm).model().joint(name).unwrap();
            w.prescribe_joint(arm, joint, MotionTable::new(times, angles, None).unwrap()).unwrap();
        }
        let rest = Pose::from_translation(Vector3::new(OUT, 0.0, 1.0));
        w.set_body_state(block, rest, Motion::default()).unwrap();
        Self { w, arm, block }
    }

    /// How far the block is from its place in the hand. [m]; [rad]
    fn slip(&self) -> (f64, f64) {
        let view = self.w.robot(self.arm);
        let hand = view.data().pose_in_world[view.model().body("hand").unwrap().0];
        let X = hand.inverse() * self.w.body(self.block).pose();
        let off = X.translation - Vector3::new(OUT, 0.0, 0.0);
        (off.norm(), X.quaternion().angle())
    }
}

#[test]
fn a_block_on_an_arm_that_turns_swings_and_shakes_stays_in_its_grip() {
    let seconds = 10.0;
    for (name, law) in LAWS {
        let least = least_force(law, seconds);
        for dt in [1e-3, 5e-3] {
            let mut held = Grip::new(law, 1.05 * least, dt, seconds);
            let (mut off, mut turned) = (0.0_f64, 0.0_f64);
            for _ in 0..n_steps(&held.w, seconds) {
                step(&mut held.w);
                let (distance, angle) = held.slip();
                (off, turned) = (off.max(distance), turned.max(angle));
            }
            println!(
                "{name}, {least:.2} N, h = {dt}: off by {off:.1e} m, {turned:.1e} rad at 1.05"
            );
            assert!(off < 1e-6 && turned < 1e-5, "{name}, h = {dt}: {off} m, {turned} rad");
            let mut lost = Grip::new(law, 0.95 * least, dt, seconds);
            for _ in 0..n_steps(&lost.w, seconds) {
                step(&mut lost.w);
            }
            let (distance, _) = lost.slip();
            println!("{name}, h = {dt}: off by {distance:.1e} m at 0.95");
            assert!(distance > 1e-4, "{name}, h = {dt}: {distance} m");
        }
    }
}

/// A tray that swings on two parallel cranks is moved by the closing of their loop as well.
#[test]
fn a_box_stays_in_its_place_on_a_tray_of_a_mechanism_with_a_loop() {
    let (length, seconds) = (0.2, 10.0);
    // Not through the position in which the cranks lie in one line.
    let law = |t: f64| 0.5 + swing(3.0, 0.8, t);
    for dt in [1e-3, 5e-3] {
        let mut w = scene_at("swing", dt);
        let (id, block) = (only_robot(&w), w.find_body("box").unwrap());
        let n = (seconds * 200.0) as usize + 2;
        let times: Vec<f64> = (0..n).map(|i| i as f64 / 200.0).collect();
        let angles = times.iter().map(|t| law(*t)).collect();
        let crank = w.robot(id).model().joint("crank").unwrap();
        w.prescribe_joint(id, crank, MotionTable::new(times, angles, None).unwrap()).unwrap();
        let (mut off, mut turned) = (0.0_f64, 0.0_f64);
        for _ in 0..n_steps(&w, seconds) {
            step(&mut w);
            let angle = law(w.time());
            let tray = Vector3::new(length * angle.cos(), 0.0, 1.0 + length * angle.sin());
            let place = point(&w, id, "tray", [0.0; 3]);
            assert!((place - tray).norm() < 1e-6, "{place} instead of {tray}");
            let pose = w.body(block).pose();
            off = off.max((pose.translation - place - Vector3::new(0.1, 0.0, 0.045)).norm());
            turned = turned.max(pose.quaternion().angle());
        }
        println!("box on a swinging tray, h = {dt}: off by {off:.1e} m, {turned:.1e} rad");
        assert!(off < 1e-6 && turned < 1e-6, "h = {dt}: {off} m, {turned} rad");
    }
}
