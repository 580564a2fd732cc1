//! An act that is carried out in the cell, watched against its rehearsal.

use karakuri_commands::{Code, Refusal};
use karakuri_grasp::pick_and_place::PickAndPlaceResult;
use karakuri_rehearsal::{Cell, RehearsalError};
use karakuri_simulation::Digest;
use karakuri_spatial::Time;
use serde_json::{Value, json};

use crate::caller::{Flow, Instant};
use crate::preview::Preview;
use crate::refusals::{code, described, of_error};

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
pub(crate) fn run(
    cell: &mut Cell,
    preview: &Preview,
    watch: &mut dyn FnMut(&Instant<'_>, &Cell) -> Flow,
) -> Ended {
    let before = *cell.machine.settings();
    *cell.machine.settings_mut() = before.at_speed(preview.scale);
    let mut commands = Digest::default();
    let answer = carry_out(cell, preview, &mut commands, watch);
    *cell.machine.settings_mut() = before;
    Ended { answer, commands }
}

fn carry_out(
    cell: &mut Cell,
    preview: &Preview,
    commands: &mut Digest,
    watch: &mut dyn FnMut(&Instant<'_>, &Cell) -> Flow,
) -> Result<Value, Refusal> {
    let start = cell.now();
    let begun = cell.begin(&preview.order.act);
    begun.map_err(|error| of_error(cell, &error))?;
    cell.add_command(commands);
    let mut diverged = (preview.stream.first() != Some(commands)).then_some(0);
    let mut result = None;
    let mut is_cancelled = false;
    let mut n = 0;
    while result.is_none() {
        if diverged.is_some() && !is_cancelled {
            cell.cancel();
            is_cancelled = true;
        }
        if !cell.is_busy() {
            break;
        }
        n += 1;
        result = step(cell)?;
        cell.add_command(commands);
        if !is_cancelled && preview.stream.get(n) != Some(commands) {
            diverged = Some(n);
        }
        let elapsed = cell.now().seconds_since(start);
        if watch(&instant(cell, preview, elapsed), cell) == Flow::Cancel && !is_cancelled {
            cell.cancel();
            is_cancelled = true;
        }
    }
    let duration = cell.now().seconds_since(start);
    settle(cell, preview, start, watch)?;
    if let Some(sample) = diverged {
        let hint =
            "rehearse again: the robot was braked, as its commands were not the rehearsed ones";
        return Err(Refusal::new(Code::Diverged, hint).of("sample", sample));
    }
    let Some(result) = result else {
        return Err(Refusal::new(Code::Canceled, "rehearse again: the hand stays where it is"));
    };
    answered(cell, &result, duration)
}

/// Comes to rest after an act that began at `start`.
fn settle(
    cell: &mut Cell,
    preview: &Preview,
    start: Time,
    watch: &mut dyn FnMut(&Instant<'_>, &Cell) -> Flow,
) -> Result<(), Refusal> {
    let end = cell.now().plus_seconds(SETTLE);
    while cell.now() < end {
        step(cell)?;
        // What is at its end cannot be cancelled.
        watch(&instant(cell, preview, cell.now().seconds_since(start)), cell);
    }
    Ok(())
}

fn step(cell: &mut Cell) -> Result<Option<PickAndPlaceResult>, Refusal> {
    cell.step().map_err(|error| of_error(cell, &RehearsalError::Io(error)))
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
