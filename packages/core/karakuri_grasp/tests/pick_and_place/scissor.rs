//! Fingers that lean: a flat box, whose upper edges touch the pads, is pushed out of the hand by them and held by what friction is left.

use karakuri_dynamics::{Data, forward_kinematics, frame_pose};
use karakuri_grasp::end_effector::Reach;
use karakuri_grasp::pick_and_place::{Failure, ObjectPose, PickAndPlaceGoal, PlanError, Stage};
use karakuri_grasp::slip::traction;
use karakuri_model::Shape;
use karakuri_physics::BodyDescription;
use karakuri_spatial::{Force, Vector3};

use crate::cell::{Cell, goal, start, try_start};

/// Edges of the flat box, and the heights at which its middle is. [m]
const FLAT: [f64; 3] = [0.05, 0.05, 0.025];
const ON_THE_TABLE: f64 = 0.7625;
const ON_THE_SHELF: f64 = 0.8625;
/// Reach of its edges from the middle of the pads, which are 18 mm above the table. [m]
const REACH: Reach = Reach { inward: 0.007, outward: 0.018 };

/// A cell with a scissor, and a box of this size and friction in the cube's place.
fn cell(size: [f64; 3], mass: f64, friction: f64) -> Cell {
    Cell::with("start1", "arm6_scissor", |bodies: &mut Vec<BodyDescription>| {
        let cube = bodies.iter_mut().find(|body| body.name == "cube").unwrap();
        cube.shape = Shape::Box { size: size.into() };
        cube.pose.translation.z = 0.75 + 0.5 * size[2];
        // Physics takes the geometric mean with the pads' 0.6.
        (cube.mass, cube.friction) = (mass, friction * friction / 0.6);
    })
}

fn flat() -> PickAndPlaceGoal {
    let at = |y, z| ObjectPose { position: Vector3::new(0.5, y, z), yaw: 0.0 };
    PickAndPlaceGoal {
        size: FLAT.into(),
        pick: at(-0.2, ON_THE_TABLE),
        place: at(0.2, ON_THE_SHELF),
        ..goal()
    }
}

/// Angle by which the fingers lean about the flat box. [rad]
fn lean(cell: &Cell) -> f64 {
    let hand = cell.machine.opening_hand().unwrap().fingers();
    hand.lean(hand.position(hand.opening_about(FLAT[1], REACH)))
}

/// The law of the kind against the robot's kinematics, for both fingers.
#[test]
fn the_opening_and_the_lean_are_those_of_the_urdf() {
    let cell = cell(FLAT, 0.2, 0.6);
    let (model, hand) = (&cell.model, cell.machine.opening_hand().unwrap().fingers());
    let frame = |name: &str| model.frame(name).unwrap();
    let at = |name: &str| model.joints[model.joint(name).unwrap().0].q_start;
    let fingers =
        [("left_pad", "left_finger_joint", 1.0), ("right_pad", "right_finger_joint", -1.0)];
    let (mut data, mut q) = (Data::new(model), model.neutral_position());
    for step in 0..=50 {
        let position = -0.1 + 0.0138 * f64::from(step);
        for (_, joint, _) in &fingers {
            q[at(joint)] = position;
        }
        forward_kinematics(model, &mut data, &q);
        let X_WT = frame_pose(model, &data, hand.tool_frame());
        for (pad, _, side) in fingers {
            let X_TP = X_WT.inverse() * frame_pose(model, &data, frame(pad));
            // The face is half of the pad's 5 mm inside of its frame.
            let face = X_TP.transform_point(&Vector3::new(0.0, side * -0.0025, 0.0));
            let lean = side * X_TP.rotation.m21.atan2(X_TP.rotation.m11);
            let off = [
                face.y - side * 0.5 * hand.opening(position),
                face.x - hand.tool_depth(position),
                lean - hand.lean(position),
            ];
            assert!(off.iter().all(|off| off.abs() < 1e-9), "{pad} at {position} rad: {off:?}");
        }
    }
}

#[test]
fn a_flat_box_is_picked_and_placed() {
    let mut cell = cell(FLAT, 0.2, 0.6);
    start(&mut cell, &flat());
    let result = cell.run(20.0, |_| {});
    assert_eq!((result.failure, result.retries), (None, 0), "{result:?}");
    for _ in 0..300 {
        cell.step();
    }
    let (p, tilt, _) = cell.cube();
    let error = (p - flat().place.position).norm();
    assert!(error < 0.005 && tilt.to_degrees() < 2.0, "{:.2} mm, {tilt} rad off", 1e3 * error);
    let opening = cell.machine.opening_hand().unwrap().fingers().opening_about(FLAT[1], REACH);
    assert!((result.width - opening).abs() < 1e-4, "held at {} m, not {opening}", result.width);
    assert!(cell.peak_force <= 15.0, "{} N", cell.peak_force);
}

/// Narrower than 20 mm the fingers lean the other way; wider, they need more force than parallel ones would.
#[test]
fn narrow_and_wide_boxes_are_picked_and_placed() {
    // The other side of the wide one is wider still, so that it is not taken by that.
    for (size, grip_force, least) in
        [([0.05, 0.012, 0.05], 10.0, 9.0), ([0.09, 0.06, 0.05], 2.0, 9.0)]
    {
        let mut cell = cell(size, 0.2, 0.6);
        let (size, width) = (Vector3::from(size), size[1]);
        let goal = PickAndPlaceGoal { size, grip_force, ..goal() };
        start(&mut cell, &goal);
        let result = cell.run(20.0, |_| {});
        assert_eq!((result.failure, result.retries), (None, 0), "{width} m: {result:?}");
        assert!(result.forces.iter().all(|force| *force > least), "{width} m: {result:?}");
        let off = (cell.cube().0 - goal.place.position).norm();
        assert!(off < 0.005 && cell.peak_force < 20.0, "{width} m: {off} m, {} N", cell.peak_force);
    }
}

/// Held in the air, pulled down by more and more: `2 H tan(φ − γ)`, weight included.
#[test]
fn it_bears_the_pull_that_the_planner_counts_on() {
    for friction in [0.6, 0.45] {
        let mut cell = cell(FLAT, 0.2, friction);
        start(&mut cell, &PickAndPlaceGoal { friction, ..flat() });
        cell.run(20.0, |cell| {
            if cell.machine.feedback().stage == Stage::Move {
                cell.machine.cancel();
            }
        });
        for _ in 0..1000 {
            cell.step();
        }
        let body = cell.world.find_body("cube").unwrap();
        let height = |cell: &Cell| cell.tool().z - cell.cube().0.z;
        let before = height(&cell);
        let (mut pull, mut most) = (0.0, 0.0_f64);
        while height(&cell) - before < 2e-4 {
            pull += 1e-3;
            assert!(pull < 20.0, "it bears {pull} N");
            cell.world.apply_body_wrench(body, Force::new(Vector3::zeros(), Vector3::z() * -pull));
            cell.step();
            let [left, right] = cell.machine.feedback().forces;
            most = most.max(left + right);
        }
        // Dry friction of the drive lets the force rise a little before the box goes.
        let bears = most * traction(friction, lean(&cell));
        let borne = pull + 0.2 * 9.81;
        println!(
            "friction {friction}, {most:.2} N: it bears {borne:.3} N, by the law {bears:.3} N"
        );
        // One end of an edge may press more than the other, and the box then pitches a little earlier.
        let share = borne / bears;
        assert!((0.95..1.01).contains(&share), "it bears {borne} N, by the law {bears}");
    }
}

#[test]
fn what_would_be_squeezed_out_is_refused_before_the_arm_moves() {
    let wide = PickAndPlaceGoal { size: Vector3::new(0.08, 0.08, 0.05), ..goal() };
    let slippery = PickAndPlaceGoal { friction: 0.25, ..flat() };
    for (size, goal, words) in [
        ([0.08, 0.08, 0.05], wide, ["about 80.0 mm", "26.8 degrees", "friction 0.6 ", "20.7"]),
        (FLAT, slippery, ["about 50.0 mm", "11.6 degrees", "friction 0.25 ", "9.0"]),
    ] {
        let mut cell = cell(size, 0.2, goal.friction);
        let error = try_start(&mut cell, &goal).unwrap_err();
        assert!(matches!(error, PlanError::SqueezedOut(_)), "{error:?}");
        let text = error.to_string();
        assert!(words.iter().all(|word| text.contains(word)), "{text}");
        let place = cell.tool();
        for _ in 0..500 {
            assert!(cell.step().is_none());
        }
        assert_eq!((cell.machine.is_busy(), cell.machine.feedback().stage), (false, Stage::Idle));
        assert!((cell.tool() - place).norm() < 1e-6 && cell.cube().0.z < 0.776);
    }
    // By its narrower side the same box is taken.
    let narrow = PickAndPlaceGoal { size: Vector3::new(0.04, 0.08, 0.05), ..goal() };
    let mut cell = cell([0.04, 0.08, 0.05], 0.2, 0.6);
    assert_eq!(try_start(&mut cell, &narrow), Ok(()));
}

/// Friction below what was stated, and below the tangent of the lean: no force holds it.
#[test]
fn a_box_that_slips_more_than_stated_is_left_where_it_was() {
    let mut cell = cell(FLAT, 0.2, 0.15);
    assert!(lean(&cell).tan() > 0.15);
    start(&mut cell, &flat());
    let result = cell.run(40.0, |_| {});
    assert_eq!(result.failure, Some(Failure::Slipped), "{result:?}");
    assert!(result.message.contains("the grip was lost in LIFT_OFF"), "{result:?}");
    // Once it is out, it is neither pressed harder nor set down on.
    assert_eq!(result.retries, 0, "{result:?}");
    assert!(cell.peak_force < 15.0, "{} N", cell.peak_force);
    let (p, tilt, _) = cell.cube();
    assert!((p - flat().pick.position).norm() < 0.01 && tilt < 0.05, "left at {p:?}");
    assert!(cell.tool().z > 0.85, "not back up");
}

#[test]
fn an_object_of_another_width_is_the_wrong_size_by_its_own_width() {
    for (width, words) in [(0.058, "stopped at 58."), (0.04, "stopped at 40.")] {
        let mut cell = cell([0.05, width, 0.05], 0.2, 0.6);
        start(&mut cell, &goal());
        let result = cell.run(40.0, |_| {});
        assert_eq!(result.failure, Some(Failure::WrongSize), "{result:?}");
        assert!(result.message.contains(words), "{result:?}");
    }
}
