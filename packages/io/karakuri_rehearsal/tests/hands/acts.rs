//! Acts one after the other: each is rehearsed in copies of the cell as it is then, and carried out to the same bits.

use karakuri_grasp::gripper_command::{CommandUnit, GripperCommandError, StatedCommand};
use karakuri_grasp::pick_and_place::{Failure, ObjectPose, Part, PickAndPlaceResult, Stage};
use karakuri_rehearsal::{
    Act, Ended, Prediction, RehearsalError, RehearsalSettings, Variation, rehearse,
};
use karakuri_simulation::Digest;
use karakuri_spatial::Vector3;

use crate::cell::{Cell, OBJECT};
use crate::parts;

fn set(position: f64, effort: f64) -> Act {
    Act::SetGripper(StatedCommand { unit: CommandUnit::Opening, position, velocity: 0.0, effort })
}

/// Rehearses an act and carries it out: the nominal copy's result and commands are the real ones.
pub(crate) fn as_predicted(cell: &mut Cell, act: &Act) -> (Prediction, PickAndPlaceResult) {
    let settings = RehearsalSettings { copies: 3, ..RehearsalSettings::default() };
    let digest = cell.digest();
    let nominal = rehearse(cell, Some(OBJECT), act, &settings, |_| {}).unwrap().remove(0);
    assert_eq!(cell.digest(), digest, "the cell is as it was");
    let mut commands = Digest::default();
    cell.begin(act).unwrap();
    cell.add_command(&mut commands);
    let result = cell.run(|cell| cell.add_command(&mut commands));
    assert_eq!(nominal.result, Some(Ended::Hand(result.clone())), "{act:?}");
    assert_eq!(nominal.commands, commands, "{act:?}");
    assert_eq!(nominal.end.translation, cell.object().translation, "{act:?}");
    (nominal, result)
}

#[test]
fn acts_in_the_middle_of_a_run_end_as_predicted() {
    for robot in ["arm6", "arm6_three_fingers", "arm6_suction"] {
        let mut cell = parts::cell(robot);
        let pick = Act::PickAndPlace(parts::goal(robot, Part::Pick));
        let (_, result) = as_predicted(&mut cell, &pick);
        assert_eq!(result.failure, None, "{robot}: {result:?}");
        for _ in 0..100 {
            cell.step();
        }
        // One that the placing ends: what comes then is the placing's result.
        if robot == "arm6" {
            cell.begin(&set(0.0, 10.0)).unwrap();
        }
        let place = Act::Place {
            at: ObjectPose { position: parts::shelf(robot), yaw: 0.3 },
            speed_scale: 0.0,
        };
        let (predicted, result) = as_predicted(&mut cell, &place);
        assert_eq!(result.failure, None, "{robot}: {result:?}");
        let off = (predicted.end.translation - parts::shelf(robot)).norm();
        assert!(off < 0.005, "{robot}: {:.2} mm off", 1e3 * off);
    }
}

/// Fingers that close on the cube round which they stand, then open.
#[test]
fn gripper_commands_end_as_predicted() {
    let mut cell = parts::cell("arm6");
    let (_, closed) = as_predicted(&mut cell, &set(0.0, 5.0));
    assert_eq!(closed.failure, None, "{closed:?}");
    assert!(closed.width < 0.002 && closed.message.contains("as commanded"), "{closed:?}");
    let (_, open) = as_predicted(&mut cell, &set(0.06, 0.0));
    assert!((open.width - 0.06).abs() < 0.001, "{open:?}");
    // At the object, from a pick that is cancelled where the fingers are round it.
    cell.begin(&Act::PickAndPlace(parts::goal("arm6", Part::Pick))).unwrap();
    let result = cell.run(|cell| {
        if cell.machine().feedback().stage == Stage::Close {
            cell.machine_mut().cancel();
        }
    });
    assert!(result.failure.is_some(), "{result:?}");
    for _ in 0..500 {
        cell.step();
    }
    let (_, gripped) = as_predicted(&mut cell, &set(0.0, 8.0));
    assert!((gripped.width - 0.06).abs() < 0.002, "{gripped:?}");
    assert!((gripped.forces[0] - 8.0).abs() < 1.0, "{gripped:?}");
}

#[test]
fn a_cup_is_commanded_by_its_vacuum() {
    let mut cell = parts::cell("arm6_suction");
    // Nothing is under the cup.
    let (_, result) = as_predicted(&mut cell, &set(0.0, 0.0));
    assert!(result.failure.is_some() && result.message.contains("stalled"), "{result:?}");
    let (_, result) = as_predicted(&mut cell, &set(1.0, 0.0));
    assert_eq!(result.failure, None, "{result:?}");
}

#[test]
fn what_cannot_be_is_refused() {
    let mut cell = parts::cell("arm6");
    for act in [set(0.5, 0.0), set(-0.1, 0.0), set(0.03, 1e4)] {
        let copies = rehearse(&cell, None, &act, &RehearsalSettings::default(), |_| {});
        assert!(copies.is_err(), "{act:?}");
        let refused = cell.begin(&act);
        assert_eq!(refused.unwrap_err().to_string(), copies.unwrap_err().to_string());
    }
    let far = Act::Place {
        at: ObjectPose { position: Vector3::new(0.5, 0.2, 0.9), yaw: 0.0 },
        speed_scale: 0.0,
    };
    let refused = cell.begin(&far).unwrap_err().to_string();
    assert!(refused.contains("pick an object first"), "{refused}");
    cell.begin(&Act::PickAndPlace(parts::goal("arm6", Part::Whole))).unwrap();
    let Act::SetGripper(open) = set(0.06, 0.0) else { return };
    let refused = cell.set_gripper(&open);
    assert!(matches!(refused, Err(RehearsalError::Gripper(GripperCommandError::Busy))));
}

#[test]
fn a_robot_that_differs_is_another_one() {
    let goal = parts::goal("arm6_suction", Part::Pick);
    let mut cell = parts::cell("arm6_suction");
    // Half as much and twice as much is what copies have.
    cell.vary(None, &Variation { leak: 1e4, ..Variation::NONE }).unwrap();
    cell.start(&goal).unwrap();
    let result = cell.run(|_| {});
    assert_eq!(result.failure, Some(Failure::NoSeal), "{result:?}");
    let cell = parts::cell("arm6");
    let mut other = cell.clone();
    other.vary(None, &Variation { joint_friction: 1.2, ..Variation::NONE }).unwrap();
    let [before, after] = [&cell, &other].map(|cell| {
        let world = cell.io.world();
        let robot = world.robot(world.robot_ids().next().unwrap());
        let joints = (0..cell.model().nv).map(|dof| robot.joint_dynamics(dof));
        joints.map(|joint| (joint.friction, joint.viscous)).unzip::<_, _, Vec<_>, Vec<_>>()
    });
    let by = |factor: f64, values: &[f64]| values.iter().map(|x| factor * x).collect::<Vec<_>>();
    assert_eq!(after, (by(1.2, &before.0), by(1.2, &before.1)));
    assert!(before.0.iter().any(|&friction| friction > 0.0), "{before:?}");
    assert_ne!(cell.digest(), other.digest());
    other.vary(None, &Variation::NONE).unwrap();
}
