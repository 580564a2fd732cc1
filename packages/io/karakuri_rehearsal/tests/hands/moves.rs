//! Moves of the tool: empty and with what was picked, to a pose and to a posture, and what ends them early.

use karakuri_grasp::pick_and_place::{
    Failure, ObjectPose, Part, PlanError, Stage, ToolAim, ToolMove,
};
use karakuri_rehearsal::Act;
use karakuri_spatial::{Pose, Vector3};

use crate::acts::as_predicted;
use crate::cell::{Cell, OBJECT};
use crate::parts;

/// Speed of the moves. [m/s]
const SPEED: f64 = 0.3;

fn to(aim: ToolAim) -> ToolMove {
    ToolMove { aim, speed: SPEED, acceleration: 2.0, along: None }
}

/// A move of a tool that looks down. [m] (3)
fn over(position: [f64; 3], yaw: f64) -> ToolMove {
    to(ToolAim::Pose(ToolMove::looking_down(Vector3::from(position), yaw)))
}

/// Distance [m] and angle [rad] of the tool from a pose.
fn off(cell: &Cell, aim: &Pose) -> (f64, f64) {
    let error = aim.inverse() * cell.tool_pose();
    (error.translation.norm(), error.quaternion().angle())
}

/// Steps for a time, at rest. [s]
fn rest(cell: &mut Cell, time: f64) {
    let end = cell.now().plus_seconds(time);
    while cell.now() < end {
        cell.step();
    }
}

#[test]
fn the_tool_goes_where_it_is_sent() {
    for (aim, yaw) in [([0.5, -0.2, 1.0], 0.0), ([0.35, 0.3, 1.1], 0.8), ([0.6, 0.0, 0.95], -0.5)] {
        let mut cell = parts::cell("arm6");
        let goal = over(aim, yaw);
        let ToolAim::Pose(pose) = goal.aim else { return };
        let (_, result) = as_predicted(&mut cell, &Act::Move(goal.clone()));
        assert_eq!((result.failure, result.stage), (None, Stage::Done), "{aim:?}: {result:?}");
        let (distance, angle) = off(&cell, &pose);
        assert!(distance < 0.003 && angle < 0.02, "{aim:?}: {distance} m, {angle} rad");
        assert!((ToolMove::yaw(&cell.tool_pose()) - yaw).abs() < 0.02, "{aim:?}");
    }
}

#[test]
fn the_tool_keeps_its_speed_on_every_way() {
    let home = to(ToolAim::Posture("home".to_owned()));
    for goal in [over([0.4, 0.35, 1.0], 1.2), home] {
        let mut cell = parts::cell("arm6");
        cell.begin(&Act::Move(goal.clone())).unwrap();
        let (mut last, mut fastest) = (cell.tool(), 0.0_f64);
        let period = 0.001;
        let result = cell.run(|cell| {
            fastest = fastest.max((cell.tool() - last).norm() / period);
            last = cell.tool();
        });
        assert_eq!(result.failure, None, "{result:?}");
        assert!((0.3 * SPEED..1.05 * SPEED).contains(&fastest), "{goal:?}: {fastest} m/s");
    }
}

#[test]
fn a_posture_is_reached_by_the_joints() {
    let mut cell = parts::cell("arm6");
    as_predicted(&mut cell, &Act::Move(over([0.5, 0.0, 1.0], 0.0)));
    let (_, result) = as_predicted(&mut cell, &Act::Move(to(ToolAim::Posture("home".to_owned()))));
    assert_eq!(result.failure, None, "{result:?}");
    let model = cell.model();
    let home = model.postures.iter().find(|posture| posture.name == "home").unwrap();
    let arm = home.positions.iter().filter(|(id, _)| model.groups[0].joints.contains(id));
    for (id, value) in arm {
        let at = cell.sample().position[model.joints[id.0].q_start];
        assert!((at - value).abs() < 0.01, "{}: {at} of {value}", model.joints[id.0].name);
    }
    let unknown = cell.move_tool(&to(ToolAim::Posture("bed".to_owned()))).unwrap_err();
    assert!(unknown.to_string().contains("no posture `bed`; it has "), "{unknown}");
}

#[test]
fn what_was_picked_goes_along_and_is_placed() {
    for robot in ["arm6", "arm6_three_fingers", "arm6_suction"] {
        let mut cell = parts::cell(robot);
        let pick = Act::PickAndPlace(parts::goal(robot, Part::Pick));
        assert_eq!(as_predicted(&mut cell, &pick).1.failure, None, "{robot}");
        let in_tool = cell.tool_pose().inverse() * cell.object();
        let aim = Act::Move(over([0.45, 0.05, 1.1], 0.3));
        let (predicted, result) = as_predicted(&mut cell, &aim);
        assert_eq!(result.failure, None, "{robot}: {result:?}");
        assert!(predicted.margin > 0.0 && predicted.margin < 1.0, "{robot}: {predicted:?}");
        let now = cell.tool_pose().inverse() * cell.object();
        let moved = (now.translation - in_tool.translation).norm();
        assert!(moved < 0.002, "{robot}: {:.2} mm in the hand", 1e3 * moved);
        assert!(cell.machine().feedback().holding, "{robot}");
        let place = Act::Place {
            at: ObjectPose { position: parts::shelf(robot), yaw: 0.0 },
            speed_scale: 0.0,
        };
        let (_, result) = as_predicted(&mut cell, &place);
        assert_eq!(result.failure, None, "{robot}: {result:?}");
        let off = (cell.object().translation - parts::shelf(robot)).norm();
        assert!(off < 0.005, "{robot}: {:.2} mm off", 1e3 * off);
    }
}

#[test]
fn what_is_in_the_way_is_named_before_anything_moves() {
    let mut cell = parts::cell("arm6");
    let digest = cell.digest();
    let within = over([0.5, 0.2, 0.8], 0.0);
    let refused = cell.clone().begin(&Act::Move(within)).unwrap_err().to_string();
    assert!(refused.contains("would hit `shelf`"), "{refused}");
    let far = cell.clone().begin(&Act::Move(over([1.6, 0.0, 1.0], 0.0))).unwrap_err().to_string();
    assert!(far.contains("MOVE"), "{far}");
    for goal in [
        ToolMove { speed: 0.0, ..over([0.5, 0.0, 1.0], 0.0) },
        ToolMove { acceleration: f64::NAN, ..over([0.5, 0.0, 1.0], 0.0) },
        over([f64::INFINITY, 0.0, 1.0], 0.0),
    ] {
        let mut copy = cell.clone();
        let refused = copy.move_tool(&goal);
        assert!(matches!(refused, Err(PlanError::Range { .. })), "{goal:?}: {refused:?}");
    }
    assert_eq!(cell.digest(), digest);
    cell.begin(&Act::Move(over([0.5, 0.0, 1.0], 0.0))).unwrap();
    assert!(cell.machine().is_busy());
    assert_eq!(cell.move_tool(&over([0.4, 0.0, 1.0], 0.0)), Err(PlanError::Busy));
    assert_eq!(cell.start(&parts::goal("arm6", Part::Whole)), Err(PlanError::Busy));
}

#[test]
fn a_cancel_stops_the_tool_where_it_is() {
    let mut cell = parts::cell("arm6");
    cell.begin(&Act::PickAndPlace(parts::goal("arm6", Part::Pick))).unwrap();
    assert_eq!(cell.run(|_| {}).failure, None);
    let aim = [0.45, 0.2, 1.15];
    cell.begin(&Act::Move(over(aim, 0.0))).unwrap();
    let result = cell.run(|cell| {
        if cell.machine().feedback().progress > 0.4 {
            cell.machine_mut().cancel();
        }
    });
    assert_eq!(result.failure, Some(Failure::Canceled), "{result:?}");
    assert!(result.message.contains("still held"), "{result:?}");
    rest(&mut cell, 0.5);
    let stopped = cell.tool();
    rest(&mut cell, 0.5);
    assert!((cell.tool() - stopped).norm() < 1e-3 && cell.machine().feedback().holding);
    assert!((stopped - Vector3::from(aim)).norm() > 0.05, "it went on to {stopped}");
    // The next one goes on from there.
    let (_, result) = as_predicted(&mut cell, &Act::Move(over(aim, 0.0)));
    assert_eq!(result.failure, None, "{result:?}");
}

#[test]
fn what_is_met_or_lost_on_the_way_ends_the_move() {
    let mut cell = parts::cell("arm6");
    cell.faults.blind = true;
    cell.begin(&Act::Move(over([0.5, 0.2, 0.78], 0.0))).unwrap();
    let result = cell.run(|_| {});
    assert_eq!(result.failure, Some(Failure::Collision), "{result:?}");
    rest(&mut cell, 0.5);
    let speed = cell.sample().velocity.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    assert!(speed < 0.02, "{speed} rad/s");

    let mut cell = parts::cell("arm6");
    cell.begin(&Act::PickAndPlace(parts::goal("arm6", Part::Pick))).unwrap();
    assert_eq!(cell.run(|_| {}).failure, None);
    cell.begin(&Act::Move(over([0.45, 0.2, 1.15], 0.0))).unwrap();
    let result = cell.run(|cell| {
        if cell.machine().feedback().progress > 0.4 {
            cell.put([0.5, -0.2, 0.775]);
        }
    });
    assert_eq!(result.failure, Some(Failure::Slipped), "{result:?}");
    assert!(!cell.machine().feedback().holding);
    assert!(cell.io.world().find_body(OBJECT).is_some());
}
