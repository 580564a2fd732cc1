//! Changes of tools in copies of arm6's cell, and acts with each of them.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::path::{Path, PathBuf};

use karakuri_grasp::gripper_command::{CommandUnit, StatedCommand};
use karakuri_grasp::pick_and_place::{Part, Statement};
use karakuri_grasp::tool_change::{ToolChangeFailure, ToolChangeSettings};
use karakuri_rehearsal::{
    Act, Cell, CellFile, Ended, RehearsalError, RehearsalSettings, Trouble, rehearse, state,
};
use karakuri_simulation::Digest;
use karakuri_spatial::Vector3;

fn cell() -> Cell {
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../config");
    let tools: Option<PathBuf> = Some(config.join("tools/arm6.yaml"));
    let scene = CellFile::new(&config.join("scenes/pick_and_place_tools.yaml"));
    CellFile { tools, ..scene }.open().unwrap()
}

fn change(tool: &str) -> Act {
    Act::ChangeTool { tool: tool.to_owned(), settings: ToolChangeSettings::default() }
}

fn pick(cell: &Cell, object: &str) -> Act {
    let stated = state(cell, object, &Vector3::zeros(), 0.0).unwrap();
    Act::Stated(Box::new(Statement { part: Part::Pick, ..stated }))
}

/// Runs a cell until its act ends.
fn run(cell: &mut Cell, mut each: impl FnMut(&mut Cell)) -> Ended {
    for _ in 0..30_000 {
        let ended = cell.step().unwrap();
        each(cell);
        if let Some(ended) = ended {
            return ended;
        }
    }
    panic!("it does not end");
}

/// Rehearses an act by two copies, and carries it out as the nominal one did.
fn as_predicted(cell: &mut Cell, act: &Act) -> Ended {
    let settings = RehearsalSettings { copies: 2, ..RehearsalSettings::default() };
    let copies = rehearse(cell, None, act, &settings, |_| {}).unwrap();
    let mut commands = Digest::default();
    cell.begin(act).unwrap();
    cell.add_command(&mut commands);
    let ended = run(cell, |cell| cell.add_command(&mut commands));
    assert_eq!((copies[0].result.as_ref(), copies[0].commands), (Some(&ended), commands));
    ended
}

#[test]
fn each_tool_takes_what_is_its_own() {
    let mut cell = cell();
    for (tool, object) in [("cup", "plate"), ("jaws", "cube")] {
        let ended = as_predicted(&mut cell, &change(tool));
        assert!(matches!(&ended, Ended::Tool(result) if result.failure.is_none()), "{ended:?}");
        assert_eq!(cell.tool(), Some(tool));
        let act = pick(&cell, object);
        let picked = as_predicted(&mut cell, &act);
        assert!(picked.trouble().is_none() && cell.is_holding(), "{picked:?}");
        let held = cell.begin(&change("none")).unwrap_err().to_string();
        assert!(held.contains("the hand holds an object"), "{held}");
        // Let go where it hangs: it falls on the table, and the next tool takes something else.
        let open = StatedCommand {
            unit: CommandUnit::Opening,
            position: if tool == "cup" { 1.0 } else { 0.06 },
            velocity: 0.0,
            effort: 0.0,
        };
        as_predicted(&mut cell, &Act::SetGripper(open));
        for _ in 0..500 {
            cell.step().unwrap();
        }
    }
}

#[test]
fn a_change_that_is_cancelled_leaves_the_arm_where_a_change_begins_again() {
    let mut cell = cell();
    cell.begin(&change("cup")).unwrap();
    for _ in 0..500 {
        assert_eq!(cell.step().unwrap(), None);
    }
    assert!(matches!(cell.begin(&change("none")), Err(RehearsalError::Plan(_))), "it is busy");
    cell.cancel();
    let ended = run(&mut cell, |_| {});
    assert_eq!(ended.trouble(), Some(Trouble::Tool(ToolChangeFailure::Canceled)), "{ended:?}");
    assert_eq!(cell.tool(), Some("jaws"));
    cell.begin(&change("none")).unwrap();
    assert_eq!(run(&mut cell, |_| {}).trouble(), None);
    // The bare arm has no hand, and takes a tool again.
    let act = pick(&cell, "cube");
    assert!(matches!(cell.begin(&act), Err(RehearsalError::NoHand)));
    cell.begin(&change("cup")).unwrap();
    assert_eq!(run(&mut cell, |_| {}).trouble(), None);
    assert!(cell.hand.is_some() && cell.tool() == Some("cup"));
}

#[test]
fn there_is_no_such_tool_and_no_tools() {
    let unknown = cell().begin(&change("drill")).unwrap_err();
    assert!(matches!(unknown, RehearsalError::Tool { .. }), "{unknown}");
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../config");
    let mut one = CellFile::new(&config.join("scenes/pick_and_place.yaml")).open().unwrap();
    assert!(matches!(one.begin(&change("cup")), Err(RehearsalError::NoTools)));
    let scene = CellFile::new(&config.join("scenes/walk.yaml"));
    let other = CellFile { tools: Some(config.join("tools/arm6.yaml")), ..scene };
    let other = other.open().unwrap_err().to_string();
    assert!(other.contains("0 of its robots have a hand"), "{other}");
}
