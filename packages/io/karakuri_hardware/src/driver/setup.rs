//! What a hardware file says of a robot.

use std::path::PathBuf;

use super::kind::{BusKind, ServoModel};
use super::servo_map::ServoMap;

/// What a silent servo means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// The robot does not start; in motion its other servos hold.
    Refuse,
    /// The other servos hold.
    HoldRest,
    /// The robot goes on without it.
    Ignore,
}

/// What servos are left with when the driver ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtExit {
    /// Without torque.
    Limp,
    /// Holding their places, without anybody to watch over them.
    Hold,
}

/// A hardware file, checked against a robot.
#[derive(Debug, Clone)]
pub struct HardwareFile {
    /// The bus.
    pub bus: &'static BusKind,
    /// Its port.
    pub device: PathBuf,
    /// Baud rate. [bit/s]
    pub baud: u32,
    /// Period of a cycle. [s]
    pub(super) period: f64,
    /// Commands nearer than this are followed at once. [rad or m]
    pub(super) start_tolerance: f64,
    /// Speed at which others are approached. [rad/s or m/s]
    pub(super) ramp_speed: f64,
    /// What a silent servo means.
    pub(super) missing: Missing,
    /// What servos are left with.
    pub(super) at_exit: AtExit,
    /// The servos.
    pub servos: Vec<ServoSetup>,
}

/// One servo of the file.
#[derive(Debug, Clone)]
pub struct ServoSetup {
    /// Joint of the layout.
    pub joint: usize,
    /// Number on the bus.
    pub id: u8,
    /// What it is.
    pub model: &'static ServoModel,
    /// Its counts.
    pub map: ServoMap,
    /// Share of its stall torque that it may exert; its own setting where none is given. [-]
    pub torque_limit: Option<f64>,
}

impl HardwareFile {
    /// The same with another period of a cycle [s]; none where the wire needs more time for one.
    #[must_use]
    pub fn with_period(mut self, period: f64) -> Option<Self> {
        self.period = period;
        (period >= self.bus.cycle_time(self.servos.len(), self.baud)).then_some(self)
    }
}

impl ServoSetup {
    /// Angle of the servo's shaft, from the middle of its counts, where its joint is at a position [rad or m]. [rad]
    pub fn shaft(&self, position: f64) -> f64 {
        (self.map.exact_counts(position) - self.model.zero) / self.model.counts_per_radian
    }

    /// Turn of the shaft by that of its joint, negative where it turns against it. [rad/rad or rad/m]
    pub fn shaft_ratio(&self) -> f64 {
        self.map.counts_per_radian / self.model.counts_per_radian
    }
}
