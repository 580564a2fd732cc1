use karakuri_model::{BodyId, EndEffector as Config, FrameId, Joint, JointKind, Limits};
use karakuri_spatial::{Pose, Vector3};

use super::{BANDWIDTH, DriveForce};
use crate::EndEffector;
use crate::end_effector::KINDS;

const INERTIA: f64 = 0.03;
const VISCOUS: f64 = 0.6;
/// In the joint's damping, not in what the current tells.
const BACK_EMF: f64 = 0.4;
const FRICTION: f64 = 0.05;

fn drive() -> DriveForce {
    let joint = Joint {
        name: "jaw".to_owned(),
        kind: JointKind::Revolute { axis: Vector3::z() },
        pose_in_parent: Pose::IDENTITY,
        q_start: 0,
        v_start: 0,
        limits: Limits::NONE,
        bumper: None,
        limit_restitution: 0.0,
        cone: None,
        armature: INERTIA,
        damping: VISCOUS + BACK_EMF,
        back_emf: BACK_EMF,
        friction: FRICTION,
        drive: None,
    };
    DriveForce::new(&joint)
}

/// A jaw of which both faces meet at the tool's origin.
fn jaw() -> Box<dyn EndEffector> {
    let kind = KINDS.iter().find(|kind| kind.name == "pivoting_jaw").unwrap();
    let config = Config {
        kind: kind.name.to_owned(),
        tool_frame: FrameId(0),
        joints: vec![BodyId(0)],
        sensors: Vec::new(),
        parameters: kind.example.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
    };
    (kind.make)(&config).unwrap()
}

/// Mean force of the fingers.
fn force(drive: &DriveForce, hand: &dyn EndEffector, position: f64) -> f64 {
    let [a, b] = drive.forces(hand, position).map(|finger| finger.normal);
    assert!((a - b).abs() < 1e-15, "one drive, one force");
    a
}

#[test]
fn a_free_motion_is_no_force() {
    for dt in [0.001, 0.01, 0.02] {
        let (mut drive, hand) = (drive(), jaw());
        // A motion that accelerates, turns round and rests; the drive exerts just what it takes.
        for step in 0..400 {
            let time = f64::from(step) * dt;
            let (v, before) = ((3.0 * time).sin(), (3.0 * (time - dt)).sin());
            let dry = FRICTION * (v / super::SLIDING).clamp(-1.0, 1.0);
            let effort = INERTIA * (v - before) / dt + VISCOUS * v + dry;
            if step == 0 {
                drive.update(0.0, 0.0, dt);
            } else {
                drive.update(v, effort, dt);
            }
            let felt = force(&drive, hand.as_ref(), 0.5);
            assert!(felt.abs() < 1e-9, "{dt} s: {felt} N after {time:.3} s");
        }
    }
}

#[test]
fn a_blocked_jaw_feels_what_its_drive_exerts_with_the_lag_of_the_estimate() {
    let (mut drive, hand, dt) = (drive(), jaw(), 0.01);
    let position = hand.position(0.025);
    let effort = hand.effort(position, 8.0);
    drive.update(0.0, 0.0, dt);
    let mut lag = f64::NAN;
    for step in 1..=100 {
        drive.update(0.0, effort, dt);
        let felt = force(&drive, hand.as_ref(), position);
        assert!(felt < 8.0 + 1e-9, "no overshoot: {felt} N");
        if lag.is_nan() && felt > 8.0 * (1.0 - (-1.0_f64).exp()) {
            lag = f64::from(step) * dt;
        }
    }
    assert!((force(&drive, hand.as_ref(), position) - 8.0).abs() < 1e-6);
    assert!((lag - 1.0 / BANDWIDTH).abs() < dt, "63 % after {lag} s");
}

#[test]
fn the_first_measurement_of_a_hand_that_holds_is_its_force() {
    let (mut drive, hand) = (drive(), jaw());
    let position = hand.position(0.03);
    assert!(!drive.is_known());
    drive.update(0.0, hand.effort(position, 6.0), 0.01);
    assert!(drive.is_known() && (force(&drive, hand.as_ref(), position) - 6.0).abs() < 1e-12);
    drive.update(0.0, f64::NAN, 0.01);
    assert!(
        !drive.is_known() && force(&drive, hand.as_ref(), position).abs() < 1e-15,
        "unknown is no force"
    );
}
