//! An act that a robot carries out, watched against its rehearsal.

use karakuri_commands::{Code, Refusal};
use karakuri_rehearsal::{Cell, Ended as Outcome};
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
    watch: &mut dyn FnMut(&Instant, &Cell) -> Flow,
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
    watch: &mut dyn FnMut(&Instant, &Cell) -> Flow,
) -> Result<Value, Refusal> {
    robot.begin(&preview.order)?;
    let start = robot.now();
    robot.add_command(commands);
    let mut diverged = None;
    if !is_as_rehearsed(robot, preview, 0, *commands) {
        diverged = Some((0, beside(robot, preview, 0.0)));
    }
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
        let elapsed = robot.now().seconds_since(start);
        let flow = watch(&instant(robot.cell(), preview, elapsed), robot.cell());
        // What was stopped may brake in this sample already.
        if flow == Flow::Cancel && !is_cancelled {
            robot.cancel()?;
            is_cancelled = true;
        }
        let beside = beside(robot, preview, elapsed);
        if !is_cancelled && (beside.is_some() || !is_as_rehearsed(robot, preview, n, *commands)) {
            diverged = Some((n, beside));
        }
    }
    let duration = robot.now().seconds_since(start);
    settle(robot, preview, start, watch)?;
    if let Some((sample, beside)) = diverged {
        let hint =
            "rehearse again: the robot was braked, as its commands were not the rehearsed ones";
        let refusal = Refusal::new(Code::Diverged, hint).of("sample", sample);
        let why = beside.or_else(|| robot.difference().map(str::to_owned));
        let why = why.map(|why| format!("sample {sample}: {why}"));
        return Err(
            why.map_or(refusal.clone(), |why| described(refusal, robot.cell(), "why", &why))
        );
    }
    let Some(result) = result else {
        return Err(Refusal::new(Code::Canceled, "rehearse again: the robot stays where it is"));
    };
    answered(robot.cell(), &result, duration)
}

/// Whether the robot and its commands up to a sample are those of the nominal copy, where they are the same to the bit at all.
fn is_as_rehearsed(robot: &dyn Robot, preview: &Preview, n: usize, commands: Digest) -> bool {
    let is_other = robot.positions().is_none() && preview.stream.get(n) != Some(&commands);
    robot.difference().is_none() && !is_other
}

/// Joint or force that is outside of the band of all copies, where the robot does not go as they do to the bit.
fn beside(robot: &dyn Robot, preview: &Preview, elapsed: f64) -> Option<String> {
    let measured = robot.positions()?;
    let joints = robot.cell().joints_of(&preview.order.act);
    let positions: Vec<_> = joints.iter().map(|&joint| measured[joint]).collect();
    let felt = robot.finger_force().unwrap_or_default();
    if let Some(most) = preview.band.find_exceeded(elapsed, felt) {
        return Some(format!(
            "after {elapsed:.2} s a finger feels {felt:.1} N, and up to {most:.1} N in all copies about then"
        ));
    }
    let (joint, position, [least, most]) = preview.band.find_outside(elapsed, &positions)?;
    let name = &robot.cell().layout().joints[joints[joint]].name;
    Some(format!(
        "after {elapsed:.2} s joint `{name}` is at {position:.3}, and from {least:.3} to {most:.3} in all copies about then"
    ))
}

/// Comes to rest after an act that began at `start`.
fn settle(
    robot: &mut dyn Robot,
    preview: &Preview,
    start: Time,
    watch: &mut dyn FnMut(&Instant, &Cell) -> Flow,
) -> Result<(), Refusal> {
    let end = robot.now().plus_seconds(SETTLE);
    while robot.difference().is_none() && robot.now() < end {
        robot.step()?;
        // What is at its end cannot be cancelled.
        let elapsed = robot.now().seconds_since(start);
        watch(&instant(robot.cell(), preview, elapsed), robot.cell());
    }
    Ok(())
}

fn instant(cell: &Cell, preview: &Preview, elapsed: f64) -> Instant {
    let predicted = preview.forecast.duration_s.max(1e-3);
    let progress = (elapsed / predicted).clamp(0.0, 1.0);
    Instant { elapsed, progress, stage: cell.stage(), holding: cell.is_holding() }
}

fn answered(cell: &Cell, outcome: &Outcome, duration: f64) -> Result<Value, Refusal> {
    match outcome.trouble() {
        None => Ok(json!({
            "outcome": "DONE",
            "duration_s": duration,
            "holds": cell.is_holding(),
            "retries": outcome.hand().map_or(0, |result| result.retries),
        })),
        Some(trouble) => {
            let hint = "look at the scene, then rehearse again";
            let stage = outcome.hand().map(|result| format!("in {}: ", result.stage));
            let text = format!("{}{}", stage.unwrap_or_default(), outcome.message());
            Err(described(Refusal::new(code(trouble), hint), cell, "why", &text))
        }
    }
}
