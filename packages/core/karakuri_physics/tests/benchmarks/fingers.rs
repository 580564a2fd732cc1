//! Grasp and hold, section 7, by fingers of parallel cranks: four-bar loops of 0.06 m that keep the pads parallel.

use karakuri_physics::{ObjectId, Owner, RobotId, World, loop_gap};
use karakuri_spatial::{Matrix3, Vector3};

use crate::support::*;

const CRANK: f64 = 0.06;
const G: f64 = 9.81;
/// Angle at which the pads are beside the origin of y.
const LEVEL: f64 = std::f64::consts::FRAC_PI_6;
const SIDES: [(&str, f64); 2] = [("left", 1.0), ("right", -1.0)];

fn gap(w: &World, id: RobotId) -> f64 {
    loop_gap(w.robot(id).model(), w.robot(id).data())
}

/// The scene with one gripper left, its cranks at `angle` about a block that fits.
fn gripping(angle: f64) -> (World, RobotId, ObjectId) {
    let mut w = scene("fingers");
    let id = w.find_robot("fingers_held").unwrap();
    w.remove_robot(w.find_robot("fingers_lost").unwrap());
    w.remove_body(w.find_body("held").unwrap());
    w.remove_body(w.find_body("lost").unwrap());
    let q = vec![angle; w.robot(id).q().len()];
    let v = vec![0.0; q.len()];
    w.set_robot_state(id, &q, &v).unwrap();
    let y = CRANK * (angle.cos() - LEVEL.cos());
    let width = 0.11 - 2.0 * CRANK * angle.sin();
    let mut block = cuboid("block", [width, 0.04, 0.04], 0.2, at(0.0, y, 1.0));
    block.friction = 0.6;
    let block = w.add_body(block).unwrap();
    (w, id, block)
}

/// The middle of a pad, and how far it is turned. [m], [-]
fn pad(w: &World, id: RobotId, side: &str, sign: f64) -> (Vector3, f64) {
    let name = format!("pad_{side}");
    let middle = point(w, id, &name, [0.01 * sign, 0.08 - CRANK * LEVEL.cos(), 0.0]);
    let body = w.robot(id).model().body(&name).unwrap();
    let R_WB = w.robot(id).data().pose_in_world[body.0].rotation;
    (middle, (R_WB - Matrix3::identity()).amax())
}

/// The cranks are driven from −29° to 57° and back: the pads shift by 0.06 sin θ and do not turn.
#[test]
fn pads_shift_and_do_not_turn() {
    let (mut w, id, block) = gripping(0.25);
    w.remove_body(block);
    let (mut off, mut turned, mut open): (f64, f64, f64) = (0.0, 0.0, 0.0);
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for _ in 0..n_steps(&w, 2.0) {
        let target = 0.25 + 0.75 * (std::f64::consts::PI * w.time()).sin();
        for (side, _) in SIDES {
            let k = dof(&w, id, &format!("crank_{side}"));
            let drives = w.drive_mut(id);
            (drives.effort[k], drives.position[k]) = (0.0, target);
            (drives.stiffness[k], drives.damping[k]) = (50.0, 0.5);
        }
        step(&mut w);
        for (side, sign) in SIDES {
            let angle = joint(&w, id, &format!("crank_{side}"));
            let (middle, turn) = pad(&w, id, side, sign);
            let x = sign * (CRANK * angle.sin() - 0.065);
            let expected = Vector3::new(x, CRANK * (angle.cos() - LEVEL.cos()), 1.0);
            off = off.max((middle - expected).norm());
            turned = turned.max(turn);
            (least, most) = (least.min(angle), most.max(angle));
        }
        open = open.max(gap(&w, id));
    }
    println!("7 fingers: pads off by {off:e} m, turned by {turned:e}, loops open by {open:e} m");
    assert!(least < -0.45 && most > 0.95, "cranks from {least} to {most} rad");
    assert!(off <= 1e-9, "pads off by {off:e} m");
    assert!(turned <= 1e-9, "pads turned by {turned:e}");
    assert!(open <= 1e-9, "gap {open:e} m");
}

/// A crank's torque over 0.06 cos θ is what its pad presses with, at rest.
#[test]
fn cranks_press_by_their_lever() {
    let torque = 0.3;
    for degrees in [0.0_f64, 15.0, 30.0, 45.0] {
        let (mut w, id, block) = gripping(degrees.to_radians());
        for (side, _) in SIDES {
            let k = dof(&w, id, &format!("crank_{side}"));
            w.drive_mut(id).effort[k] = torque;
        }
        run(&mut w, 0.2);
        for (side, sign) in SIDES {
            let angle = joint(&w, id, &format!("crank_{side}"));
            let frame = w.robot(id).model().frame(&format!("pad_{side}")).unwrap();
            let by = Owner::Link { robot: id, frame };
            let pressed = sign * w.pair_wrench(by, Owner::Body(block)).force.x;
            let error = pressed * CRANK * angle.cos() / torque - 1.0;
            println!("7 fingers at {degrees}°, {side}: {pressed} N, off by {:e}", error.abs());
            assert!((angle - degrees.to_radians()).abs() < 1e-6, "{side}: at {angle} rad");
            assert!(error.abs() <= 1e-6, "{degrees}°, {side}: {pressed} N, off by {error:e}");
        }
    }
}

fn check_holding(seconds: f64) {
    for dt in [1e-3, 5e-3] {
        let mut w = scene_at("fingers", dt);
        let robots: Vec<RobotId> = w.robot_ids().collect();
        let [held, lost] = ["held", "lost"].map(|name| w.find_body(name).unwrap());
        let (mut fallen, mut open): (f64, f64) = (0.0, 0.0);
        for i in 0..n_steps(&w, seconds) {
            step(&mut w);
            open = robots.iter().fold(open, |open, &id| open.max(gap(&w, id)));
            if i + 1 == n_steps(&w, 0.2) {
                fallen = 1.0 - height(&w, lost);
            }
        }
        let slip = (w.body(held).pose().translation - Vector3::z()).norm();
        println!(
            "7 fingers, h = {dt}: slips by {slip:e} m in {seconds} s at 1.01, loops open by {open:e} m"
        );
        assert!(slip <= 1e-6, "h = {dt}: slips by {slip:e} m");
        // With g − 2 μ F / m, in steps whose velocity is that of their end.
        let expected = 0.5 * 0.01 * G * 0.2 * (0.2 + dt);
        let ratio = fallen / expected;
        println!("7 fingers, h = {dt}: falls by {ratio} of the distance at 0.99");
        assert!((ratio - 1.0).abs() < 1e-4, "h = {dt}: falls {fallen} of {expected} m");
        assert!(open <= 1e-9, "h = {dt}: gap {open:e} m");
    }
}

#[test]
fn fingers_hold_at_the_limit() {
    check_holding(1.0);
}

#[test]
#[ignore = "12 000 steps of two grippers"]
fn fingers_hold_at_the_limit_for_ten_seconds() {
    check_holding(10.0);
}
