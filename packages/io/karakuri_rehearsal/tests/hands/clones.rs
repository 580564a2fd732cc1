//! A copy of a cell in the middle of a run: it goes on as the cell itself does, and neither feels the other.

use karakuri_grasp::pick_and_place::{PickAndPlaceGoal, Stage};
use karakuri_spatial::Pose;

use crate::cell::{Cell, OBJECT};
use crate::{suction, three_fingers};

fn at_the_lift(robot: &str, goal: &PickAndPlaceGoal, mut cell: Cell) -> Cell {
    cell.start(goal).unwrap_or_else(|why| panic!("{robot}: {why}"));
    while cell.machine().feedback().stage != Stage::Lift {
        assert!(cell.step().is_none(), "{robot} does not lift");
    }
    cell
}

/// Poses of the object and the robot's joints at each step to the end, as bits.
fn course(cell: &mut Cell) -> Vec<u64> {
    let mut course = Vec::new();
    let result = cell.run(|cell| {
        let Pose { translation, rotation } = cell.object();
        let numbers = translation.iter().chain(rotation.iter()).chain(&cell.sample().position);
        course.extend(numbers.map(|number| number.to_bits()));
    });
    assert_eq!(result.failure, None, "{result:?}");
    course
}

#[test]
fn a_copied_three_fingered_cell_goes_on_to_the_same_bits() {
    let (goal, pick) = three_fingers::cone();
    let size = goal.size.into();
    let cell = three_fingers::cell("arm6_three_fingers", &goal.shape, size, goal.mass, &pick);
    goes_on_alike(at_the_lift("arm6_three_fingers", &goal, cell));
}

#[test]
fn a_copied_suction_cell_goes_on_to_the_same_bits() {
    let cell = Cell::new("arm6_suction", "start1", |_| {});
    goes_on_alike(at_the_lift("arm6_suction", &suction::goal(), cell));
}

fn goes_on_alike(mut cell: Cell) {
    let mut copy = cell.clone();
    let mut before = cell.clone();
    assert_eq!(cell.digest(), copy.digest());
    every_part_is_in_the_digest(&cell);
    let known = course(&mut cell);
    // The cell has run to its end: nothing of the copy's may be its.
    assert!(course(&mut copy) == known, "the copy goes another way");
    // A copy whose object is taken away ends otherwise.
    before.put([1.5, 0.0, 0.1]);
    let result = before.run(|_| {});
    assert!(result.failure.is_some(), "{result:?}");
}

/// A change of any part, small as it is, is another digest.
fn every_part_is_in_the_digest(cell: &Cell) {
    let known = cell.digest();
    let differs = |what: &str, change: &dyn Fn(&mut Cell)| {
        let mut other = cell.clone();
        change(&mut other);
        assert_ne!(other.digest(), known, "{what}");
    };
    let object = cell.io.world().find_body(OBJECT).unwrap();
    let motion = || cell.io.world().body(object).velocity();
    differs("pose of an object", &|cell| {
        let pose = cell.io.world().body(object).pose();
        let moved = Pose { translation: pose.translation.map(f64::next_up), ..pose };
        cell.io.world_mut().set_body_state(object, moved, motion()).unwrap();
    });
    differs("mass of an object", &|cell| {
        let mass = cell.io.world().body(object).description().mass.next_up();
        cell.io.world_mut().set_mass(object, mass).unwrap();
    });
    differs("setting of the controller", &|cell| {
        let mut settings = cell.controller.settings().clone();
        settings.feedforward_scale = 1.0_f64.next_down();
        cell.controller.set_settings(settings).unwrap();
    });
    differs("setting of the hand's machine", &|cell| {
        cell.machine_mut().settings_mut().speed = cell.machine().settings().speed.next_up();
    });
    differs("a cancel", &|cell| cell.machine_mut().cancel());
    differs("fault of the sight", &|cell| cell.faults.blind = true);
    differs("a step of the world", &|cell| cell.advance().unwrap());
    differs("a period", &|cell| {
        cell.step();
    });
}
