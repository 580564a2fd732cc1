//! Pacing of samples: the instants at which the robots advance to the next one, and the hold when a commander falls silent.
//!
//! Two clocks meet here. Sample time is a whole number of periods, so its stamps are exact. Wall time (any steady clock, in
//! seconds) only paces the samples and detects a dead partner; with `lockstep` no result depends on it.

mod wall;

use crate::{JointCommand, RobotIo, RobotIoError};
use wall::WallPace;

/// Wall time between two repeats of a sample while time stands still. [s]
const REPEAT_PERIOD: f64 = 0.05;

/// Settings of a [`Pacer`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PacingSettings {
    /// Whether time waits for the command computed from the last sample.
    pub lockstep: bool,
    /// Seconds of sample time per wall second; 0 is as fast as the commanders keep up: a command may then lag by one sample, as
    /// it does in real time. [-]
    pub real_time_factor: f64,
    /// Age of commands in sample time beyond which the robot goes into hold, its end effector still gripping; 0 is never. [s]
    pub command_timeout: f64,
    /// The same in wall time, where time waits for commanders (`lockstep`, or a real-time factor of 0). [s]
    pub lockstep_timeout: f64,
}

/// Outcome of [`Pacer::poll`], or the time until the next call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tick {
    /// A new sample is there: publish it.
    Advanced,
    /// Time stands still, and the present sample is due to be published again for late joiners.
    Repeat,
    /// Nothing is due for this wall time, unless a command comes. [s]
    Wait(f64),
}

/// Loss or return of a commander, reported once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PacingEvent {
    /// No command came for this long; the robot holds its position, and its end effector its grip.
    CommandsLost {
        /// Index of the robot.
        robot: usize,
        /// Time without a command. [s]
        silence: f64,
    },
    /// Commands came back.
    CommandsBack {
        /// Index of the robot.
        robot: usize,
    },
}

/// Number of samples that a command may lag behind when time runs as fast as it can without lockstep.
const LARGEST_COMMAND_LAG: i64 = 1;
/// Age of samples whose answers may still be under way, where time runs faster than the wall's. [ns]
const UNDER_WAY: i64 = 10_000_000_000;

/// State of a robot's commander.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Commander {
    /// No command so far. In lockstep time waits for the first one.
    Never,
    /// No command so far to a robot that was added while time ran: not waited for before the first one.
    Guest,
    /// Commands arrive: stamp of the newest one, and the sample and wall times of its arrival.
    Alive { stamp: i64, sample: i64, wall: f64 },
    /// Silent for too long: the robot is in hold, and its commands are not awaited.
    Lost,
}

/// Pacer of robots that are sampled together.
pub struct Pacer<Io> {
    io: Io,
    settings: PacingSettings,
    commanders: Vec<Commander>,
    /// Stamps of the sample at which commands were forgotten last, and of the one from which time went on. [ns]
    forgotten: [i64; 2],
    /// Index from which robots were added while time ran.
    n_own: usize,
    events: Vec<PacingEvent>,
    ticks: i64,
    period_ns: i64,
    playing: bool,
    /// Samples still to be taken while paused.
    single_steps: u64,
    /// Wall times at which the present sample came, and at which it was published last. [s]
    sampled: f64,
    repeated: f64,
    pace: WallPace,
}

impl<Io> std::fmt::Debug for Pacer<Io> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pacer")
            .field("settings", &self.settings)
            .field("ticks", &self.ticks)
            .finish_non_exhaustive()
    }
}

impl<Io: RobotIo> Pacer<Io> {
    /// Pacer of `io`, playing from the start.
    pub fn new(io: Io, settings: PacingSettings) -> Self {
        let commanders = vec![Commander::Never; io.robots().len()];
        #[expect(clippy::cast_possible_truncation, reason = "a period is far below 2^63 ns")]
        let period_ns = (io.period() * 1e9).round() as i64;
        Self {
            io,
            settings,
            n_own: commanders.len(),
            commanders,
            forgotten: [i64::MIN; 2],
            events: Vec::new(),
            ticks: 0,
            period_ns,
            playing: true,
            single_steps: 0,
            sampled: f64::NEG_INFINITY,
            repeated: f64::NEG_INFINITY,
            pace: WallPace::default(),
        }
    }

    /// Robots that are paced.
    pub fn io(&self) -> &Io {
        &self.io
    }

    /// Robots that are paced, for changes between two samples.
    pub fn io_mut(&mut self) -> &mut Io {
        &mut self.io
    }

    /// Stamp of the present sample; the first is one period, never 0. [ns]
    pub fn stamp(&self) -> i64 {
        (self.ticks + 1) * self.period_ns
    }

    /// Stamp of the first sample: one period. [ns]
    pub fn first_stamp(&self) -> i64 {
        self.period_ns
    }

    /// Jumps to the stamp of a restored state, rounded to whole periods. The drives keep the targets of that state. [ns]
    pub fn set_stamp(&mut self, stamp: i64) {
        let before = self.stamp();
        self.ticks = (stamp / self.period_ns - 1).max(0);
        self.forgotten = [before, self.stamp()];
        for robot in 0..self.commanders.len() {
            self.forget_commander(robot);
        }
        self.pace.restart();
        self.repeated = f64::NEG_INFINITY;
    }

    /// Present settings of the pacing.
    pub fn settings(&self) -> PacingSettings {
        self.settings
    }

    /// Changes the settings of the pacing from now on.
    pub fn set_settings(&mut self, settings: PacingSettings) {
        self.settings = settings;
        self.pace.restart();
    }

    /// Whether time advances by itself.
    pub fn is_playing(&self) -> bool {
        self.playing
    }

    /// Makes time advance, or stand still.
    pub fn set_playing(&mut self, playing: bool) {
        self.playing = playing;
        self.single_steps = 0;
        self.pace.restart();
    }

    /// Takes this many samples while paused.
    pub fn step(&mut self, samples: u64) {
        self.single_steps += samples;
    }

    /// Number of samples still to be taken of those asked by [`Self::step`].
    pub fn remaining_steps(&self) -> u64 {
        self.single_steps
    }

    /// Drops samples still to be taken.
    pub fn cancel_steps(&mut self) {
        self.single_steps = 0;
    }

    /// Restarts time at the first sample. The state of the simulation is reset by its owner.
    pub fn reset_time(&mut self) {
        let before = self.stamp();
        self.ticks = 0;
        self.forget_commands();
        self.forgotten = [before, self.stamp()];
    }

    /// Forgets all commands: the robots hold until the next ones.
    pub fn forget_commands(&mut self) {
        self.forgotten = [self.stamp(); 2];
        for robot in 0..self.commanders.len() {
            self.forget_commander(robot);
            self.io.hold(robot, false);
        }
        self.pace.restart();
        self.repeated = f64::NEG_INFINITY;
    }

    fn forget_commander(&mut self, robot: usize) {
        let own = robot < self.n_own;
        self.commanders[robot] = if own { Commander::Never } else { Commander::Guest };
    }

    /// Adds robot `robot` of [`Self::io`], which came while time ran. Its commands are awaited from the first one on.
    pub fn add_guest(&mut self, robot: usize) {
        self.commanders.resize(self.commanders.len().max(robot + 1), Commander::Guest);
        self.forget_commander(robot);
    }

    /// Forgets the commander of a robot that was exchanged between two samples, its arm going on by the last command: in lockstep time
    /// waits for the first command to the present sample.
    pub fn renew_commander(&mut self, robot: usize) {
        self.forgotten = [self.stamp(); 2];
        self.forget_commander(robot);
        self.repeated = f64::NEG_INFINITY;
    }

    /// Whether a robot is in hold for lack of commands.
    pub fn is_lost(&self, robot: usize) -> bool {
        self.commanders[robot] == Commander::Lost
    }

    /// Robots whose commands are awaited before time advances.
    pub fn awaited(&self) -> impl Iterator<Item = usize> + '_ {
        let lockstep = self.settings.lockstep;
        let lag = if lockstep { 0 } else { LARGEST_COMMAND_LAG * self.period_ns };
        let oldest = self.stamp() - lag;
        let waits = move |commander: &Commander| match commander {
            Commander::Never => lockstep,
            Commander::Alive { stamp, .. } => *stamp < oldest,
            Commander::Guest | Commander::Lost => false,
        };
        let waiting = self.commanders.iter().enumerate().filter(move |(_, c)| waits(c));
        waiting.map(|(robot, _)| robot).filter(|&robot| self.io.is_present(robot))
    }

    /// Whether time waits for commanders at all.
    fn is_waiting_kind(&self) -> bool {
        self.settings.lockstep || self.settings.real_time_factor <= 0.0
    }

    /// Takes a command computed from the sample stamped `stamp` [ns]; 0 stands for the present one. In lockstep a command for
    /// another sample is not carried out; one for an older sample from a lost commander is a sign of life, and time waits for
    /// it again: a machine too busy to answer within a period would never be taken back otherwise. `now` is wall time. [s]
    ///
    /// # Errors
    /// When the device refuses the command.
    pub fn command(
        &mut self,
        robot: usize,
        stamp: i64,
        command: &JointCommand,
        now: f64,
    ) -> Result<(), RobotIoError> {
        let stamp = self.answered(stamp);
        let lost = self.is_lost(robot);
        if self.is_forgotten(stamp) {
            return Ok(());
        }
        if !self.settings.lockstep || stamp == self.stamp() {
            self.io.write(robot, command)?;
        } else if !lost || stamp > self.stamp() {
            return Ok(());
        }
        if lost {
            self.events.push(PacingEvent::CommandsBack { robot });
        }
        self.commanders[robot] = Commander::Alive { stamp, sample: self.stamp(), wall: now };
        Ok(())
    }

    /// Stamp of the sample that a command with this stamp answers: 0 stands for the present one. [ns]
    fn answered(&self, stamp: i64) -> i64 {
        if stamp == 0 { self.stamp() } else { stamp }
    }

    /// Whether a command with this stamp [ns] answers a sample from before commands were forgotten: it was under way meanwhile.
    pub fn is_forgotten(&self, stamp: i64) -> bool {
        let stamp = self.answered(stamp);
        let [before, after] = self.forgotten;
        if !(before.saturating_sub(UNDER_WAY)..=before).contains(&stamp) {
            return false;
        }
        // Where time jumped back such a sample has not come yet; else the sample itself may have been answered afterwards.
        if after < before { stamp > self.stamp() } else { stamp < before }
    }

    /// Advances to the next sample if it is due. `now` is wall time. [s]
    ///
    /// # Errors
    /// When the device fails to advance.
    pub fn poll(&mut self, now: f64) -> Result<Tick, RobotIoError> {
        if !self.playing && self.single_steps == 0 {
            self.pace.restart();
            return Ok(self.stand_still(now));
        }
        self.watch_commanders(now);
        if self.is_waiting_kind() && self.awaited().next().is_some() {
            return Ok(self.stand_still(now));
        }
        let wait = self.wait_for_pace(now);
        if wait > 0.0 {
            return Ok(Tick::Wait(wait));
        }
        self.io.advance()?;
        self.ticks += 1;
        self.single_steps = self.single_steps.saturating_sub(1);
        self.sampled = now;
        self.repeated = now;
        Ok(Tick::Advanced)
    }

    /// Events since the last call.
    pub fn take_events(&mut self) -> std::vec::Drain<'_, PacingEvent> {
        self.events.drain(..)
    }

    fn stand_still(&mut self, now: f64) -> Tick {
        let due = self.repeated + REPEAT_PERIOD - now;
        if due > 0.0 {
            return Tick::Wait(due);
        }
        self.repeated = now;
        Tick::Repeat
    }

    fn watch_commanders(&mut self, now: f64) {
        let waits = self.is_waiting_kind();
        let PacingSettings { command_timeout, lockstep_timeout, .. } = self.settings;
        let timeout = if waits { lockstep_timeout } else { command_timeout };
        if timeout <= 0.0 {
            return;
        }
        for robot in 0..self.commanders.len() {
            let Commander::Alive { sample, wall, .. } = self.commanders[robot] else { continue };
            if !self.io.is_present(robot) {
                self.forget_commander(robot);
                continue;
            }
            let silence = if waits {
                now - wall.max(self.sampled)
            } else {
                (self.stamp() - sample) as f64 * 1e-9
            };
            if silence > timeout {
                self.io.hold(robot, true);
                self.commanders[robot] = Commander::Lost;
                self.events.push(PacingEvent::CommandsLost { robot, silence });
            }
        }
    }

    /// Wall time until the next sample is due. [s]
    fn wait_for_pace(&mut self, now: f64) -> f64 {
        // Nothing paces robots whose commander is lost; in real time that one finds them again not far ahead.
        let lost = self.commanders.contains(&Commander::Lost);
        let factor = match self.settings.real_time_factor {
            factor if factor > 0.0 => factor,
            _ if lost => 1.0,
            _ => 0.0,
        };
        if factor <= 0.0 || self.single_steps > 0 {
            self.pace.restart();
            return 0.0;
        }
        // Two grids of one period would drift apart, and each cycle of the machine begin in the middle of its time.
        if let Some(wait) = self.io.due_in() {
            return wait;
        }
        self.pace.wait(now, self.stamp(), self.period_ns, factor)
    }
}

#[cfg(test)]
mod tests;
