//! Walks in copies of khr1's cell: what the nominal one predicts is what then happens, to the bit.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::path::Path;

use karakuri_gait::planner::{StraightWalk, WalkCommand, WalkGoal};
use karakuri_grasp::gripper_command::{CommandUnit, StatedCommand};
use karakuri_hardware::RobotIo as _;
use karakuri_physics::Owner;
use karakuri_rehearsal::{
    Act, Cell, CellFile, Ended, Prediction, RehearsalError, RehearsalSettings, Trouble,
    WalkTrouble, rehearse, worst,
};
use karakuri_simulation::Digest;

fn cell() -> Cell {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let scene = CellFile::new(&root.join("config/scenes/walk.yaml"));
    CellFile { gait: Some(root.join("config/gaits/khr1_walk.yaml")), ..scene }.open().unwrap()
}

/// A walk ahead. [m]
fn ahead(distance: f64) -> Act {
    Act::Walk(WalkCommand::Straight(distance.into()).into())
}

fn predictions(cell: &Cell, act: &Act, copies: usize) -> Vec<Prediction> {
    let settings = RehearsalSettings { copies, ..RehearsalSettings::default() };
    rehearse(cell, None, act, &settings, |_| {}).unwrap()
}

/// Carries an act out; its end, and a digest of the commands.
fn carry_out(cell: &mut Cell, act: &Act, mut each: impl FnMut(&mut Cell)) -> (Ended, Digest) {
    let mut commands = Digest::default();
    cell.begin(act).unwrap();
    cell.add_command(&mut commands);
    for _ in 0..30_000 {
        let ended = cell.step().unwrap();
        cell.add_command(&mut commands);
        if let Some(ended) = ended {
            return (ended, commands);
        }
        each(cell);
    }
    panic!("it does not end");
}

fn place(cell: &Cell) -> [f64; 3] {
    let stance = cell.stance(cell.gait.as_ref().unwrap());
    let [_, _, yaw] = stance.rpy();
    [stance.translation.x, stance.translation.y, yaw]
}

#[test]
fn a_walk_is_as_predicted_and_the_next_too() {
    let mut cell = cell();
    let line = StraightWalk { distance: 0.1, heading: 0.3, ..StraightWalk::default() };
    let turned = WalkGoal { turn: Some(-0.3), ..WalkCommand::Straight(line).into() };
    for act in [ahead(0.15), Act::Walk(turned)] {
        let copies = predictions(&cell, &act, 3);
        let (ended, commands) = carry_out(&mut cell, &act, |_| {});
        assert_eq!(copies[0].result.as_ref(), Some(&ended));
        assert_eq!((ended.trouble(), copies[0].commands), (None, commands));
        assert!(copies[0].end.translation == cell.stance(cell.gait.as_ref().unwrap()).translation);
        assert!(copies.iter().all(|copy| copy.failure().is_none() && copy.margin > 0.1));
        assert!(copies[1].commands != commands, "copies differ");
    }
    let [x, y, yaw] = place(&cell);
    assert!((x - 0.15 - 0.1 * 0.3_f64.cos()).abs() < 0.03, "{x} m");
    assert!((y - 0.1 * 0.3_f64.sin()).abs() < 0.03 && yaw.abs() < 0.06, "{y} m, {yaw} rad");
}

#[test]
fn a_walk_that_is_cancelled_stands_within_two_steps() {
    let mut cell = cell();
    let mut n = 0;
    let (ended, _) = carry_out(&mut cell, &ahead(0.5), |cell| {
        n += 1;
        if n == 1500 {
            cell.cancel();
        }
    });
    assert_eq!(ended.trouble(), Some(Trouble::Walk(WalkTrouble::Canceled)), "{ended:?}");
    let [x, ..] = place(&cell);
    assert!((0.02..0.3).contains(&x) && !cell.is_busy(), "{x} m");
    // It walks again.
    assert_eq!(carry_out(&mut cell, &ahead(0.1), |_| {}).0.trouble(), None);
}

/// On ice the engine's steps bring the robot nowhere.
#[test]
fn a_walk_on_ice_is_predicted_to_fail() {
    let mut cell = cell();
    let name = cell.io.robots()[0].name.clone();
    let soles = cell.gait.as_ref().unwrap().soles(cell.model());
    assert!(soles.len() >= 2, "{soles:?}");
    let world = cell.io.world_mut();
    let robot = world.find_robot(&name).unwrap();
    for frame in soles {
        let part = Owner::Link { robot, frame };
        let mut surface = world.surface(part).unwrap();
        (surface.friction, surface.dynamic_friction) = (0.0, 0.0);
        world.set_surface(part, surface).unwrap();
    }
    let copies = predictions(&cell, &ahead(0.3), 2);
    let failed = worst(&copies).unwrap();
    let expected = [WalkTrouble::Slipped, WalkTrouble::Fell].map(|t| Some(Trouble::Walk(t)));
    assert!(expected.contains(&failed.failure()), "{:?}", failed.result);
}

#[test]
fn what_a_robot_that_walks_cannot_do_is_refused() {
    let mut cell = cell();
    let goal =
        StatedCommand { unit: CommandUnit::Opening, position: 0.0, velocity: 0.0, effort: 0.0 };
    assert!(matches!(cell.begin(&Act::SetGripper(goal)), Err(RehearsalError::NoHand)));
    cell.begin(&ahead(0.2)).unwrap();
    assert!(matches!(cell.begin(&ahead(0.2)), Err(RehearsalError::Walking)));
}

/// Fixed joints and unequal gaits are no such robots.
#[test]
fn a_gait_of_another_robot_is_one_sentence() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let of = |scene: &str, gait: &str| {
        let scene = CellFile::new(&root.join("config/scenes").join(scene));
        CellFile { gait: Some(root.join("config/gaits").join(gait)), ..scene }.open().unwrap_err()
    };
    let other = of("walk.yaml", "anthropomorphic_walk.yaml").to_string();
    assert!(other.contains("whose joints are not those of `khr1`"), "{other}");
    let none = of("pick_and_place.yaml", "khr1_walk.yaml").to_string();
    assert!(none.contains("0 of its robots walk; one must"), "{none}");
}
