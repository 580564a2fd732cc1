//! Rehearsals: what copies of a cell predict is what the cell then does, and the cell does not feel them.

use karakuri_grasp::pick_and_place::{Failure, PickAndPlaceGoal};
use karakuri_rehearsal::{Ended, Prediction, RehearsalSettings, Spread, Trouble, rehearse, worst};
use karakuri_simulation::Digest;
use rayon::ThreadPoolBuilder;

use crate::cell::{Cell, OBJECT};
use crate::three_fingers;

/// A cone of this mass between three fingers, and the goal of it.
fn cone(mass: f64) -> (Cell, PickAndPlaceGoal) {
    let (goal, pick) = three_fingers::cone();
    let size = goal.size.into();
    let cell = three_fingers::cell("arm6_three_fingers", &goal.shape, size, mass, &pick);
    (cell, goal)
}

fn predictions(cell: &Cell, goal: &PickAndPlaceGoal, copies: usize) -> Vec<Prediction> {
    let settings = RehearsalSettings { copies, ..RehearsalSettings::default() };
    rehearse(cell, Some(OBJECT), &goal.clone().into(), &settings, |_| {}).unwrap()
}

#[test]
fn the_nominal_prediction_is_what_then_happens() {
    let (mut cell, goal) = cone(0.3);
    let before = cell.io.world().state_hash();
    let nominal = predictions(&cell, &goal, 1).remove(0);
    assert_eq!((nominal.failure(), cell.io.world().state_hash()), (None, before));
    assert!((0.0..0.5).contains(&nominal.margin), "{}", nominal.margin);
    // Varying by nothing is no other object.
    cell.begin(&goal.into()).unwrap();
    let mut commands = Digest::default();
    cell.add_command(&mut commands);
    let result = cell.run(|cell| cell.add_command(&mut commands));
    assert_eq!(nominal.result, Some(Ended::Hand(result)));
    assert_eq!(nominal.commands, commands, "the commands are others");
    assert!((nominal.end.translation - cell.object().translation).norm() <= 0.0);
}

#[test]
fn copies_are_the_same_on_any_number_of_threads() {
    let (cell, goal) = cone(0.3);
    let on = |n: usize| {
        let pool = ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        let (cell, goal) = (cell.clone(), goal.clone());
        pool.install(move || predictions(&cell, &goal, 8))
    };
    let one = on(1);
    assert!(on(4) == one && on(16) == one, "other bits on other numbers of threads");
    assert_eq!(one.len(), 8);
    // Heavier or lighter, with more friction or less, all are carried; the worst is the one with the least to spare.
    let corners = &one[..5];
    let failures: Vec<_> = corners.iter().map(Prediction::failure).collect();
    assert!(failures.iter().all(Option::is_none), "{failures:?}");
    let least = corners.iter().map(|copy| copy.margin).fold(1.0, f64::min);
    assert!(worst(corners).is_some_and(|copy| copy.margin <= least), "{least}");
}

/// As stated the cone is carried; with a third of its friction, and heavier, it is predicted to fail.
#[test]
fn what_may_fail_is_predicted() {
    let (cell, goal) = cone(0.3);
    let spread = Spread { friction: 0.65, ..Spread::default() };
    let settings = RehearsalSettings { copies: 2, spread, ..RehearsalSettings::default() };
    let both = rehearse(&cell, Some(OBJECT), &goal.into(), &settings, |_| {}).unwrap();
    assert_eq!(both[0].failure(), None, "{:?}", both[0].result);
    let failed = worst(&both).unwrap();
    assert!(failed.variation.mass > 1.0 && failed.variation.friction < 1.0, "{failed:?}");
    let codes = [Failure::TooHeavy, Failure::Slipped].map(|failure| Some(Trouble::Hand(failure)));
    assert!(codes.contains(&failed.failure()), "{failed:?}");
}
