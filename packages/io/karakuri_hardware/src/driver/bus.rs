//! What a bus of servos does for a driver.

use std::time::Instant;

use karakuri_serial::port::{PortError, Settings};

use super::link::Link;

/// Servos on one line: their protocol, without joints, time or policy.
///
/// All calls but [`exchange`](Self::exchange) may take their time. Positions are the servos' counts.
pub trait ServoBus: Send + std::fmt::Debug {
    /// How the port is opened.
    fn port_settings(&self) -> Settings;

    /// Meets the servos: checks what they are, sets what makes them answer fast, and reads where they are. Nothing moves. One that does
    /// not answer is left without [`Reading::answered`].
    ///
    /// # Errors
    /// When a servo does not answer, is of another model than the file says, or the port fails.
    fn hello(&mut self, link: &mut Link, servos: &mut [Servo]) -> Result<(), HelloError>;

    /// Reads the place of one servo alone, be it limp or not; whether it answered.
    ///
    /// # Errors
    /// When the port fails.
    fn look(&mut self, link: &mut Link, servo: &mut Servo) -> Result<bool, PortError>;

    /// Whether a servo seems to be there again, asked once, before the whole start that follows a loss.
    ///
    /// # Errors
    /// When the port fails.
    fn knock(&mut self, link: &mut Link, servo: &mut Servo) -> Result<bool, PortError> {
        self.look(link, servo)
    }

    /// Undoes what keeps a servo from being switched on again, such as a shutdown.
    ///
    /// # Errors
    /// When the port fails.
    fn recover(&mut self, _link: &mut Link, _servo: &Servo) -> Result<(), PortError> {
        Ok(())
    }

    /// Sets a servo's goal to [`Servo::goal`], then switches its torque on and forgets its overload; whether it answered.
    ///
    /// # Errors
    /// When the port fails.
    fn engage(&mut self, link: &mut Link, servo: &Servo) -> Result<bool, PortError>;

    /// Switches the torque of a servo off.
    ///
    /// # Errors
    /// When the port fails.
    fn limp(&mut self, link: &mut Link, servo: &Servo) -> Result<(), PortError>;

    /// Switches the torque of all servos off, whoever hears it.
    ///
    /// # Errors
    /// When the port fails.
    fn limp_all(&mut self, link: &mut Link, servos: &[Servo]) -> Result<(), PortError> {
        servos.iter().try_for_each(|servo| self.limp(link, servo))
    }

    /// One cycle: sends the goals of servos that are engaged, and reads those that are present, until `by` at the latest. Allocates
    /// nothing.
    ///
    /// # Errors
    /// When the port fails.
    fn exchange(
        &mut self,
        link: &mut Link,
        servos: &mut [Servo],
        by: Instant,
    ) -> Result<(), PortError>;
}

/// One servo, between the robot and its bus.
#[derive(Debug, Clone)]
pub struct Servo {
    /// Number on the bus.
    pub id: u8,
    /// The joint that it turns, for messages.
    pub joint: String,
    /// Whether it is there: asked in each cycle.
    pub is_present: bool,
    /// Whether its torque is on: its goal is sent in each cycle.
    pub is_engaged: bool,
    /// Where it is to go. [counts]
    pub goal: i32,
    /// What it has said last.
    pub reading: Reading,
    /// Temperature at which it is let go, if it says one. [°C]
    pub heat_limit: Option<f64>,
    /// Share of its stall torque that it may exert; its own setting where none is given. [-]
    pub torque_limit: Option<f64>,
}

/// What a servo says. What it does not measure is none.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reading {
    /// Whether it answered in this cycle; if not, the rest is of an earlier one.
    pub answered: bool,
    /// Where it is. [counts]
    pub position: i32,
    /// How fast it is. [counts/s]
    pub velocity: Option<f64>,
    /// Current of the motor, positive where it drives to greater counts. [A]
    pub current: Option<f64>,
    /// Supply. [V]
    pub voltage: Option<f64>,
    /// Temperature. [°C]
    pub temperature: Option<f64>,
    /// Whether its torque is on.
    pub is_on: Option<bool>,
    /// What is wrong.
    pub alarms: Alarms,
    /// The same, as the device sends it.
    pub errors: u32,
}

/// What is wrong with a servo, the same for all buses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "conditions that come in any combination")]
pub struct Alarms {
    /// The supply is outside of its limits.
    pub voltage: bool,
    /// The angle sensor fails.
    pub sensor: bool,
    /// Too hot.
    pub heat: bool,
    /// Too much current or load for too long.
    pub overload: bool,
    /// It has stopped because it heard nothing for too long.
    pub silence: bool,
}

/// Why servos cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum HelloError {
    /// The port fails.
    #[error(transparent)]
    Port(#[from] PortError),
    /// A device is not what the hardware file says, or not set for a robot.
    #[error("{device} {found}; {remedy}")]
    Unfit {
        /// Which.
        device: String,
        /// What it is or says.
        found: String,
        /// What to do.
        remedy: String,
    },
}

impl Servo {
    /// A servo that was not met yet.
    pub(super) fn new(id: u8, joint: &str) -> Self {
        Self {
            id,
            joint: joint.to_owned(),
            is_present: false,
            is_engaged: false,
            goal: 0,
            reading: Reading::default(),
            heat_limit: None,
            torque_limit: None,
        }
    }

    /// Why it is not used.
    pub(super) fn unfit(&self, found: String, remedy: impl Into<String>) -> HelloError {
        let device = format!("servo {} of joint `{}`", self.id, self.joint);
        HelloError::Unfit { device, found, remedy: remedy.into() }
    }
}
