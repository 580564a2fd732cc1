//! A motion out of the ROM of the board.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use karakuri_serial::codec::ics::COUNTS_PER_RADIAN;
use karakuri_serial::codec::rcb4::memory::{
    Configuration, ICS_TABLE, MOTION_SIZE, motion_at, record, record_of,
};
use karakuri_serial::codec::rcb4::{Goal, Request, SERVOS, ServoSet};

use super::Rcb4;
use super::memory::stopped;
use super::program::Outline;
use super::upload::start_of;
use crate::commands::hardware::motions::Task;
use crate::commands::hardware::wire::{Heard, Wire};
use crate::progress;

/// Time between two looks at where the program is: the board has the rest.
const LOOK: Duration = Duration::from_millis(50);
/// How much longer than its frames a motion may take. [-]
const PATIENCE: f64 = 1.5;
/// Distance from the last position at which it counts as reached. [deg]
const NEAR: f64 = 3.0;
/// Time in which servos that the board begins to talk to report where they are.
const FIRST_REPORT: Duration = Duration::from_millis(100);
/// Time that servos take to arrive after the last frame.
const ARRIVAL: Duration = Duration::from_millis(200);

/// Plays a motion that the board has; what was done.
pub(in super::super) fn play(task: &mut Task) -> Result<String> {
    let Task { wire, motion: number, user } = task;
    let number = *number;
    let mut board = Rcb4::default();
    board.find_baud(wire)?;
    let start = start_of(number)?;
    let rom = board.read_rom(wire, start, MOTION_SIZE)?;
    let outline = Outline::of(&rom)
        .with_context(|| format!("motion {number} of the board has no program; upload it first"))?;
    let before = board.configuration(wire)?;
    let seconds = outline.frames.map(|frames| f64::from(frames) * before.frame_time());
    let how_long = seconds.map_or_else(
        || "until it comes back, which depends on what it meets".to_owned(),
        |seconds| format!("for {seconds:.1} s"),
    );
    user.confirm(&format!("Motion {number} moves the robot {how_long}. Is its path free?"))?;
    board.configure(wire, Configuration(stopped(before).0 | Configuration::ICS))?;
    let result = board.run(wire, start, &outline, before, seconds);
    if result.is_err() {
        wire.go_on();
        board.stop(wire, before, outline.servos)?;
    }
    let took = result?;
    // As it was, but for the servos: they go on holding.
    board.configure(wire, Configuration(before.0 | Configuration::ICS))?;
    if let Some(servo) = board.off(wire, &outline)? {
        bail!("servo {servo} is not where the motion ends; free it, or give its moves more time")
    }
    Ok(format!("motion {number} was played in {took:.1} s"))
}

impl Rcb4 {
    /// Holds the servos where they are, calls the motion, and watches until it has come back; how long that took. [s]
    fn run(
        &mut self,
        wire: &mut Wire,
        start: u32,
        outline: &Outline,
        before: Configuration,
        seconds: Option<f64>,
    ) -> Result<f64> {
        self.hold(wire, outline.servos)?;
        self.reset_program(wire)?;
        self.call(wire, start)?;
        let runs = Configuration::RUN | Configuration::VECTORS | Configuration::ICS;
        self.configure(wire, Configuration(before.0 & !Configuration::PROGRAM_ERROR | runs))?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "milliseconds")]
        let bar = progress::bar((1e3 * seconds.unwrap_or(0.0)) as u64, "playing [ms]");
        let began = Instant::now();
        loop {
            wire.wait(LOOK)?;
            bar.set_position(u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX));
            ensure!(
                !self.configuration(wire)?.has(Configuration::PROGRAM_ERROR),
                "the board came to something in its ROM that is no step of a program; upload the motion again"
            );
            let elapsed = began.elapsed().as_secs_f64();
            if motion_at(self.program_counter(wire)?).is_none() {
                bar.finish_and_clear();
                return Ok(elapsed);
            }
            if let Some(seconds) = seconds {
                ensure!(
                    elapsed < PATIENCE * seconds + 1.0,
                    "the motion has not ended after {elapsed:.1} s, and takes {seconds:.1} s; switch the board off and on"
                );
            }
        }
    }

    /// Lets the board talk to servos, and switches those on that are off, where they are: a servo moves only after a hold.
    fn hold(&mut self, wire: &mut Wire, servos: ServoSet) -> Result<()> {
        for servo in servos.numbers() {
            let number = u8::try_from(servo)?;
            if self.talks_to(wire, number)? == Heard::Answer(true) {
                continue;
            }
            // The record of a board without a project says "to the middle".
            let record = record_of(servo);
            self.write_ram(wire, record + record::REFERENCE, &Goal::Free.word().to_le_bytes())?;
            self.write_ram(wire, ICS_TABLE + 2 * u16::from(number), &record.to_le_bytes())?;
        }
        wire.wait(FIRST_REPORT)?;
        for servo in servos.numbers() {
            let place = self.word(wire, record_of(servo) + record::PRESENT)?.answer();
            ensure!(
                place.is_some_and(|place| place != 0),
                "servo {servo} of the motion does not answer the board; check its cable and its id"
            );
        }
        let goals = [Goal::Hold; SERVOS];
        self.expect(wire, &Request::MoveServos { servos, frames: 1, goals })?;
        wire.wait(FIRST_REPORT)
    }

    /// Stops the program and holds servos where they are.
    fn stop(&mut self, wire: &mut Wire, before: Configuration, servos: ServoSet) -> Result<()> {
        self.configure(wire, Configuration(stopped(before).0 | Configuration::ICS))?;
        let goals = [Goal::Hold; SERVOS];
        self.expect(wire, &Request::MoveServos { servos, frames: 1, goals })?;
        self.reset_program(wire)
    }

    /// A servo that is not where the motion has left it.
    fn off(&mut self, wire: &mut Wire, outline: &Outline) -> Result<Option<usize>> {
        wire.wait(ARRIVAL)?;
        for (servo, end) in outline.ends.iter().enumerate() {
            let Some(Goal::Position(end)) = end else { continue };
            let place = self.word(wire, record_of(servo) + record::PRESENT)?.answer();
            let place = place.context("the board does not answer any more; check its cable")?;
            let off = (f64::from(place) - f64::from(*end)).abs() / COUNTS_PER_RADIAN;
            if off.to_degrees() > NEAR {
                return Ok(Some(servo));
            }
        }
        Ok(None)
    }
}
