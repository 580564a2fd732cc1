//! An act that a robot carries out, watched against its rehearsal.

use karakuri_commands::{Code, Refusal};
use karakuri_grasp::pick_and_place::PickAndPlaceResult;
use karakuri_rehearsal::Cell;
use karakuri_simulation::Digest;
use karakuri_spatial::Time;
use serde_json::{Value, json};

use crate::caller::{Flow, Instant};
use crate::preview::Preview;
use crate::refusals::{code, described};
use crate::robot::Robot;

/// Time for which a cell comes to rest after an act. [s]
// A drive settles in a tenth of it.
const SETTLE: f64 = 0.3;

/// End of an act.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Result of the verb, or why it failed.
    pub(crate) answer: Result<Value, Refusal>,
    /// Digest of its commands.
    pub(crate) commands: Digest,
}

/// Carries out what was rehearsed; `watch` sees each period, and may cancel. The first command that is not the rehearsed one brakes the robot.
/// Then time stands still again.
pub(crate) fn run(
    robot: &mut dyn Robot,
    preview: &Preview,
    watch: &mut dyn FnMut(&Instant<'_>, &Cell) -> Flow,
) -> Ended {
    let mut commands = Digest::default();
    let answer = carry_out(robot, preview, &mut commands, watch);
    let held = robot.hold();
    Ended { answer: answer.and_then(|answer| held.map(|()| answer)), commands }
}

fn carry_out(
    robot: &mut dyn Robot,
    preview: &Preview,
    commands: &mut Digest,
    watch: &mut dyn FnMut(&Instant<'_>, &Cell) -> Flow,
) -> Result<Value, Refusal> {
    let start = robot.cell().now();
    robot.begin(&preview.order)?;
    robot.add_command(commands);
    let mut diverged = (preview.stream.first() != Some(commands)).then_some(0);
    let mut result = None;
    let mut is_cancelled = false;
    let mut n = 0;
    while result.is_none() {
        if diverged.is_some() && !is_cancelled {
            robot.cancel()?;
            is_cancelled = true;
        }
        if !robot.is_busy() {
            break;
        }
        n += 1;
        result = robot.step()?;
        robot.add_command(commands);
        let is_as_rehearsed =
            robot.difference().is_none() && preview.stream.get(n) == Some(commands);
        if !is_cancelled && !is_as_rehearsed {
            diverged = Some(n);
        }
        let elapsed = robot.cell().now().seconds_since(start);
        let flow = watch(&instant(robot.cell(), preview, elapsed), robot.cell());
        if flow == Flow::Cancel && !is_cancelled {
            robot.cancel()?;
            is_cancelled = true;
        }
    }
    let duration = robot.cell().now().seconds_since(start);
    settle(robot, preview, start, watch)?;
    if let Some(sample) = diverged {
        let hint =
            "rehearse again: the robot was braked, as its commands were not the rehearsed ones";
        let refusal = Refusal::new(Code::Diverged, hint).of("sample", sample);
        let why = robot.difference().map(|why| format!("sample {sample}: {why}"));
        return Err(
            why.map_or(refusal.clone(), |why| described(refusal, robot.cell(), "why", &why))
        );
    }
    let Some(result) = result else {
        return Err(Refusal::new(Code::Canceled, "rehearse again: the hand stays where it is"));
    };
    answered(robot.cell(), &result, duration)
}

/// Comes to rest after an act that began at `start`.
fn settle(
    robot: &mut dyn Robot,
    preview: &Preview,
    start: Time,
    watch: &mut dyn FnMut(&Instant<'_>, &Cell) -> Flow,
) -> Result<(), Refusal> {
    let end = robot.cell().now().plus_seconds(SETTLE);
    while robot.difference().is_none() && robot.cell().now() < end {
        robot.step()?;
        // What is at its end cannot be cancelled.
        let elapsed = robot.cell().now().seconds_since(start);
        watch(&instant(robot.cell(), preview, elapsed), robot.cell());
    }
    Ok(())
}

fn instant<'a>(cell: &'a Cell, preview: &Preview, elapsed: f64) -> Instant<'a> {
    let predicted = preview.forecast.duration_s.max(1e-3);
    let feedback = cell.machine.feedback();
    Instant { elapsed, progress: (elapsed / predicted).clamp(0.0, 1.0), feedback }
}

fn answered(cell: &Cell, result: &PickAndPlaceResult, duration: f64) -> Result<Value, Refusal> {
    match result.failure {
        None => Ok(json!({
            "outcome": "DONE",
            "duration_s": duration,
            "holds": cell.machine.feedback().holding,
            "retries": result.retries,
        })),
        Some(failure) => {
            let hint = "look at the scene, then rehearse again";
            let text = format!("in {}: {}", result.stage, result.message);
            Err(described(Refusal::new(code(failure), hint), cell, "why", &text))
        }
    }
}
