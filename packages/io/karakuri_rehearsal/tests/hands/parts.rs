//! A pick, and later a place: what was picked stays in the hand between the two, and nothing else is taken with it.

use karakuri_grasp::pick_and_place::{
    Failure, ObjectPose, ObjectShape, Part, PickAndPlaceGoal, PlanError, Profile, Stage,
};
use karakuri_model::Shape;
use karakuri_spatial::{Pose, Vector3};

use crate::cell::Cell;

const ROBOTS: [&str; 7] = [
    "arm6",
    "arm6_scissor",
    "arm6_three_fingers",
    "arm6_underactuated",
    "arm6_suction",
    "arm6_suction4",
    "arm6_bellows",
];

/// Edges of the object: a block, of cups a plate. [m] (3)
fn edges(robot: &str) -> [f64; 3] {
    if robot.starts_with("arm6_suction") { [0.18, 0.14, 0.02] } else { [0.05, 0.06, 0.05] }
}

pub(crate) fn cell(robot: &str) -> Cell {
    let size = edges(robot);
    Cell::new(robot, "start1", |body| {
        (body.shape, body.mass, body.friction) = (Shape::Box { size: size.into() }, 0.2, 0.6);
        body.pose = Pose::from_translation(Vector3::new(0.5, -0.2, 0.75 + 0.5 * size[2]));
    })
}

/// Middle of the object on the shelf. [m] (3)
pub(crate) fn shelf(robot: &str) -> Vector3 {
    Vector3::new(0.5, 0.2, 0.85 + 0.5 * edges(robot)[2])
}

pub(crate) fn goal(robot: &str, part: Part) -> PickAndPlaceGoal {
    let size = Vector3::from(edges(robot));
    let (grip_force, max_grip_force) = match robot {
        "arm6_suction" | "arm6_suction4" => (69.0, 69.0),
        "arm6_bellows" => (12.0, 12.0),
        _ => (10.0, 25.0),
    };
    let at = |position| ObjectPose { position, yaw: 0.0 };
    PickAndPlaceGoal {
        part,
        shape: ObjectShape::Box,
        profile: Profile::Box,
        size,
        mass: 0.2,
        friction: 0.6,
        pick: at(Vector3::new(0.5, -0.2, 0.75 + 0.5 * size.z)),
        place: at(shelf(robot)),
        grip_force,
        max_grip_force,
        approach_height: 0.12,
        grasps: Vec::new(),
    }
}

/// Puts down what is in the hand, on the shelf, turned by an angle. [rad]
fn place(cell: &mut Cell, robot: &str, turn: f64) -> Result<(), PlanError> {
    cell.place(ObjectPose { position: shelf(robot), yaw: turn })
}

fn picked(robot: &str) -> Cell {
    let mut cell = cell(robot);
    cell.start(&goal(robot, Part::Pick)).unwrap();
    let result = cell.run(|_| {});
    assert_eq!((result.failure, result.stage), (None, Stage::Done), "{robot}: {result:?}");
    assert!(result.message.contains("in the hand"), "{robot}: {result:?}");
    cell
}

fn is_placed(cell: &Cell, robot: &str, turn: f64) {
    let Pose { translation, rotation } = cell.object();
    let off = (translation - shelf(robot)).norm();
    let turned = rotation[(1, 0)].atan2(rotation[(0, 0)]);
    assert!(off < 0.005, "{robot}: {:.2} mm off", 1e3 * off);
    assert!((turned - turn).abs().to_degrees() < 3.0, "{robot}: turned by {turned} rad");
    assert!(!cell.machine().feedback().holding && cell.machine().margin().is_nan());
}

#[test]
fn what_is_picked_is_held_until_it_is_placed() {
    const TURN: f64 = 0.4;
    for robot in ROBOTS {
        let mut cell = picked(robot);
        let lifted = cell.object().translation;
        assert!(lifted.z > 0.85, "{robot}: {lifted}");
        for _ in 0..1500 {
            cell.step();
            assert!(cell.machine().feedback().holding && cell.machine().margin() > 0.0, "{robot}");
        }
        let moved = (cell.object().translation - lifted).norm();
        assert!(moved < 0.002, "{robot}: {:.2} mm while it is held", 1e3 * moved);
        let refused = cell.start(&goal(robot, Part::Whole));
        assert_eq!(refused, Err(PlanError::Holding), "{robot}");
        let far = ObjectPose { position: Vector3::new(1.5, 0.2, 0.9), yaw: 0.0 };
        let refused = cell.place(far).unwrap_err();
        assert!(matches!(refused, PlanError::Unreachable { .. }), "{robot}: {refused}");
        place(&mut cell, robot, TURN).unwrap();
        let mut progress = 0.0;
        let result = cell.run(|cell| {
            let now = cell.machine().feedback().progress;
            assert!((progress..=1.0).contains(&now), "{robot}: {progress} to {now}");
            progress = now;
        });
        assert_eq!(result.failure, None, "{robot}: {result:?}");
        is_placed(&cell, robot, TURN);
        assert_eq!(place(&mut cell, robot, 0.0), Err(PlanError::EmptyHand), "{robot}");
    }
}

/// What was seen at the end of the first run says nothing about the second one.
#[test]
fn what_was_placed_is_picked_again_without_a_retry() {
    for robot in ROBOTS {
        let mut cell = cell(robot);
        let there = goal(robot, Part::Whole);
        let back = PickAndPlaceGoal { pick: there.place, place: there.pick, ..there.clone() };
        for goal in [&there, &back, &there] {
            cell.start(goal).unwrap();
            let result = cell.run(|_| {});
            assert_eq!((result.failure, result.retries), (None, 0), "{robot}: {result:?}");
            let off = (cell.object().translation - goal.place.position).norm();
            assert!(off < 0.005, "{robot}: {:.2} mm off", 1e3 * off);
        }
    }
}

#[test]
fn what_leaves_the_hand_is_not_held_any_more() {
    for robot in ["arm6", "arm6_suction"] {
        let mut cell = picked(robot);
        cell.put([0.5, -0.2, 0.75 + 0.5 * edges(robot)[2]]);
        for _ in 0..500 {
            cell.step();
        }
        assert!(!cell.machine().feedback().holding, "{robot}");
        assert_eq!(place(&mut cell, robot, 0.0), Err(PlanError::EmptyHand), "{robot}");
        cell.start(&goal(robot, Part::Whole)).unwrap();
        let result = cell.run(|_| {});
        assert_eq!(result.failure, None, "{robot}: {result:?}");
        is_placed(&cell, robot, 0.0);
    }
}

#[test]
fn what_is_still_held_after_a_cancel_can_be_placed() {
    let robot = "arm6";
    let mut cell = cell(robot);
    cell.start(&goal(robot, Part::Whole)).unwrap();
    let result = cell.run(|cell| {
        if cell.machine().feedback().stage == Stage::Move {
            cell.machine_mut().cancel();
        }
    });
    assert_eq!(result.failure, Some(Failure::Canceled), "{result:?}");
    for _ in 0..500 {
        cell.step();
    }
    place(&mut cell, robot, 0.0).unwrap();
    let result = cell.run(|_| {});
    assert_eq!(result.failure, None, "{result:?}");
    is_placed(&cell, robot, 0.0);
}
