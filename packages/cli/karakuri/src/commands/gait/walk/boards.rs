//! A walk over emulated boards: the driver of a hardware file, its bus, and the servos that move the simulated robot.
//!
//! Driver and emulator share the process and a time that goes on while the driver waits, so that a walk is the same each time.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result};
use karakuri_hardware::driver::{HardwareFile, open_on};
use karakuri_hardware::{JointCommand, RobotIo, RobotLayout, RobotState};
use karakuri_model::Model;
use karakuri_physics::{RobotId, World};
use karakuri_serial::emulator::InProcess;
use karakuri_simulation::ServoWorld;

use super::watch::{Snapshot, Watch};
use crate::commands::emulate::bus_of;

/// The boards of a robot, with their driver.
pub(super) struct Boards {
    io: Box<dyn RobotIo>,
    state: RobotState,
    command: JointCommand,
    snapshots: Arc<Mutex<Vec<Snapshot>>>,
}

/// Boards on the command line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hardware<'a> {
    /// Their hardware file.
    pub(super) path: &'a Path,
    /// Period of a cycle in place of the file's. [s]
    pub(super) period: Option<f64>,
}

/// What the boards move, and what is noted of it.
pub(super) struct Behind {
    pub(super) world: Arc<Mutex<World>>,
    pub(super) robot: RobotId,
    pub(super) watch: Watch,
    /// Steps of the world between two snapshots.
    pub(super) every: u32,
}

impl Boards {
    /// Starts the driver of a hardware file over its emulated boards, with a world behind them.
    pub(super) fn start(
        Hardware { path, period }: Hardware<'_>,
        model: &Arc<Model>,
        behind: Behind,
    ) -> Result<Self> {
        let layout = RobotLayout::new("walker", Arc::clone(model));
        let file = HardwareFile::read(path, &layout)?;
        let file = match period {
            None => file,
            Some(period) => {
                let least = file.bus.cycle_time(file.servos.len(), file.baud);
                file.with_period(period).with_context(|| {
                    format!("--command-period {period}: a cycle of the boards needs {least:.4} s")
                })?
            }
        };
        let bus = bus_of(&file).with_context(|| path.display().to_string())?;
        let snapshots = Arc::new(Mutex::new(Vec::new()));
        let (noted, watch, every) = (Arc::clone(&snapshots), behind.watch, behind.every);
        let mut n_steps = 0;
        let world = ServoWorld::new(
            behind.world,
            behind.robot,
            &file,
            karakuri_serial::emulator::Bus::servos(&*bus),
        )?;
        let world = world.with_hook(Box::new(move |world| {
            n_steps += 1;
            if n_steps % every == 0 {
                let mut noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
                noted.push(watch.snapshot(world));
            }
        }));
        let line = InProcess::new(world.emulate(bus));
        let io = open_on(&file, layout.clone(), Box::new(line))?;
        let (state, command) = (RobotState::new(&layout), JointCommand::new(&layout));
        let mut boards = Self { io, state, command, snapshots };
        boards.io.read(0, &mut boards.state);
        Ok(boards)
    }

    /// Time between two commands. [s]
    pub(super) fn period(&self) -> f64 {
        self.io.period()
    }

    /// What the boards have said of the joints, in place of those of `q` (nq) and `v` (nv).
    pub(super) fn read(&self, q: &mut [f64], v: &mut [f64]) {
        for (i, joint) in self.io.robots()[0].joints.iter().enumerate() {
            q[joint.q] = self.state.position[i];
            v[joint.v] = self.state.velocity[i];
        }
    }

    /// Sends the joints to positions (nq), and lets a period go by; what was noted meanwhile.
    pub(super) fn send(&mut self, position: &[f64]) -> Result<Vec<Snapshot>> {
        for (i, joint) in self.io.robots()[0].joints.iter().enumerate() {
            self.command.position[i] = position[joint.q];
        }
        self.io.write(0, &self.command)?;
        self.io.advance()?;
        self.io.read(0, &mut self.state);
        let mut noted = self.snapshots.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(core::mem::take(&mut *noted))
    }

    /// What is wrong with the boards.
    pub(super) fn fault(&self) -> Option<String> {
        self.io.fault(0).map(|fault| format!("{fault:?}"))
    }
}
