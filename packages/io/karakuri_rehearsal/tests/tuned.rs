//! Cells with other settings than the usual ones, as nodes whose parameters are set.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::path::{Path, PathBuf};

use karakuri_control::Gains;
use karakuri_gait::planner::{StabilizerSettings, WalkCommand};
use karakuri_grasp::pick_and_place::{ObjectPose, Part, Statement};
use karakuri_rehearsal::{
    Act, Cell, CellFile, Ended, RehearsalSettings, Tuning, WalkTuning, rehearse, state,
};
use karakuri_simulation::Digest;
use karakuri_spatial::{Time, Vector3};

/// Top of the shelf, with half of the cube. [m] (3)
const SHELF: Vector3 = Vector3::new(0.5, 0.2, 0.875);

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn scene() -> CellFile {
    CellFile::new(&root().join("config/scenes/pick_and_place.yaml"))
}

fn walker() -> Cell {
    let scene = CellFile::new(&root().join("config/scenes/walk.yaml"));
    CellFile { gait: Some(root().join("config/gaits/khr1_walk.yaml")), ..scene }.open().unwrap()
}

fn pick(cell: &Cell) -> Act {
    let stated = state(cell, "cube", &SHELF, 0.0).unwrap();
    Act::Stated(Box::new(Statement { part: Part::Pick, ..stated }))
}

fn place() -> Act {
    Act::Place { at: ObjectPose { position: SHELF, yaw: 0.0 }, speed_scale: 0.0 }
}

/// Settings in force, changed.
fn with(cell: &Cell, change: impl FnOnce(&mut Tuning)) -> Tuning {
    let mut tuning = cell.tuning().clone();
    change(&mut tuning);
    tuning
}

fn stiff(tuning: &mut Tuning) {
    let gains = Gains { p: 200.0, d: 5.0, ..Gains::default() };
    tuning.gains.insert("elbow_pitch".to_owned(), gains);
}

/// Carries an act out, and half a second more; its end, how long it took [s], and a digest of the commands.
fn carry_out(cell: &mut Cell, act: &Act) -> (Ended, f64, Digest) {
    let mut commands = Digest::default();
    let begun = cell.now();
    cell.begin(act).unwrap();
    cell.add_command(&mut commands);
    let mut end: Option<(Ended, Time)> = None;
    for _ in 0..30_000 {
        let ended = cell.step().unwrap();
        cell.add_command(&mut commands);
        end = end.or(ended.map(|ended| (ended, cell.now())));
        if let Some((ended, at)) = &end
            && cell.now().seconds_since(*at) > 0.5
        {
            return (ended.clone(), at.seconds_since(begun), commands);
        }
    }
    panic!("it does not end");
}

#[test]
fn the_settings_in_force_change_nothing() {
    let mut cell = scene().open().unwrap();
    let mut tuned = cell.clone();
    tuned.tune(&cell.tuning().clone()).unwrap();
    assert_eq!(tuned.digest(), cell.digest());
    let act = pick(&cell);
    assert_eq!(carry_out(&mut tuned, &act), carry_out(&mut cell, &act));
}

#[test]
fn a_slower_tool_takes_longer_as_is_rehearsed() {
    let mut cell = scene().open().unwrap();
    let act = pick(&cell);
    carry_out(&mut cell, &act);
    let mut slow = cell.clone();
    slow.tune(&with(&cell, |tuning| tuning.hand.pick_and_place.speed = 0.1)).unwrap();
    assert_ne!(slow.digest(), cell.digest(), "tickets of before are stale");
    let settings = RehearsalSettings { copies: 2, ..RehearsalSettings::default() };
    let nominal = rehearse(&slow, Some("cube"), &place(), &settings, |_| {}).unwrap().remove(0);
    let (ended, usual, _) = carry_out(&mut cell, &place());
    assert_eq!(ended.trouble(), None, "{ended:?}");
    let (ended, duration, _) = carry_out(&mut slow, &place());
    assert_eq!(Some(&ended), nominal.result.as_ref());
    assert!(duration > 1.5 * usual, "{duration:.2} s at 0.1 m/s, {usual:.2} s as usual");
}

#[test]
fn what_is_set_between_acts_counts_from_the_next_sample_on() {
    let mut cell = scene().open().unwrap();
    let act = pick(&cell);
    let (ended, ..) = carry_out(&mut cell, &act);
    assert_eq!(ended.trouble(), None, "{ended:?}");
    let mut usual = cell.clone();
    let answer = format!("{:?}", cell.command());
    cell.tune(&with(&cell, stiff)).unwrap();
    assert_eq!(format!("{:?}", cell.command()), answer, "the present sample was answered before");
    let mut copy = cell.clone();
    let placed = carry_out(&mut cell, &place());
    assert_eq!(placed.0.trouble(), None, "{:?}", placed.0);
    assert_eq!(carry_out(&mut copy, &place()), placed);
    assert_ne!(carry_out(&mut usual, &place()).2, placed.2, "the gains have no effect");
}

#[test]
fn a_new_cell_is_as_if_made_with_its_settings() {
    let new = CellFile { settle: 0.0, ..scene() }.open().unwrap();
    let change = |tuning: &mut Tuning| {
        stiff(tuning);
        tuning.hand.grip.speed = 0.03;
    };
    let mut early = new.clone();
    let is_tuned = |cell: &Cell| {
        let hand = cell.machine().unwrap().opening_hand().unwrap();
        *hand.grip().settings() == cell.tuning().hand.grip
    };
    early.tune(&with(&new, change)).unwrap();
    assert!(is_tuned(&early));
    // What is set later is the hand's at its next act only.
    let mut late = new.clone();
    late.step().unwrap();
    late.tune(&with(&new, change)).unwrap();
    assert!(!is_tuned(&late));
    let act = pick(&new);
    late.begin(&act).unwrap();
    assert!(is_tuned(&late));
}

#[test]
fn a_cell_that_is_put_elsewhere_keeps_its_settings() {
    let mut cell = scene().open().unwrap();
    cell.tune(&with(&cell, |tuning| {
        stiff(tuning);
        tuning.constraints.following_tolerance = 0.5;
    }))
    .unwrap();
    let settings = cell.controller.settings().clone();
    assert_eq!(settings.gains.iter().filter(|gains| gains.p > 0.0).count(), 1);
    let check = |cell: &Cell| {
        assert_eq!(*cell.controller.settings(), settings);
        let groups = cell.controller.groups().iter();
        let tolerances = groups.map(|group| group.machine.settings().following_tolerance);
        assert_eq!(tolerances.collect::<Vec<_>>(), [0.5; 2]);
    };
    check(&cell);
    let there = cell.sample().position.clone();
    cell.put(&there, &[]).unwrap();
    check(&cell);
    cell.start_again().unwrap();
    check(&cell);
}

#[test]
fn a_setting_that_is_none_of_the_robots_is_refused() {
    let mut cell = scene().open().unwrap();
    let before = cell.digest();
    let unknown = with(&cell, |tuning| "magic".clone_into(&mut tuning.control.method));
    let refused = cell.tune(&unknown).unwrap_err();
    assert!(refused.to_string().contains("`magic` is not known"), "{refused}");
    assert_eq!(cell.digest(), before);
}

#[test]
fn a_walk_has_the_gains_of_its_stabiliser() {
    let mut cell = walker();
    let act = Act::Walk(WalkCommand::Straight(0.1.into()).into());
    let file = cell.gait.as_ref().unwrap().engine().generator().settings.stabilizer;
    let set = |stabilizer: StabilizerSettings, without_imu| {
        let mut cell = cell.clone();
        let walk = WalkTuning { stabilizer: Some(stabilizer), without_imu, ..cell.tuning().walk };
        cell.tune(&with(&cell, |tuning| tuning.walk = walk)).unwrap();
        cell
    };
    let mut same = set(file, false);
    let mut other = set(StabilizerSettings { ankle: 0.5 * file.ankle, ..file }, false);
    let mut unmeasured = set(file, true);
    let usual = carry_out(&mut cell, &act);
    assert_eq!(usual.0.trouble(), None, "{:?}", usual.0);
    assert_eq!(carry_out(&mut same, &act), usual);
    assert_ne!(carry_out(&mut other, &act).2, usual.2, "the gains have no effect");
    assert_ne!(carry_out(&mut unmeasured, &act).2, usual.2, "its sensor has no effect");
}
