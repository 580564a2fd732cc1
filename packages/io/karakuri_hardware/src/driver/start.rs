//! Start of servos: meet, read where they are, and only then switch on, with goals at those places.

use std::time::Duration;

use super::bus::{HelloError, Servo, ServoBus};
use super::error::OpenError;
use super::joint::Joint;
use super::link::Link;
use super::ports::Ports;
use super::setup::{HardwareFile, Missing};

/// How a robot has started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Started {
    /// All servos are on.
    Whole,
    /// Servos are missing, and the rest holds.
    Held(String),
}

/// Longest wait for the one servo that is asked whether anybody is there again. [s]
const KNOCK: Duration = Duration::from_millis(100);

/// Opens the port after a loss and asks one servo whether it is there: all of them would take long to be silent.
pub(super) fn reopen<Bus: ServoBus>(
    file: &HardwareFile,
    bus: &mut Bus,
    servo: &mut Servo,
    ports: &mut dyn Ports,
) -> Result<Link, OpenError> {
    let mut link = Link::open(ports, &file.device, bus.port_settings())?;
    link.set_hurry(Some(link.now() + KNOCK));
    let is_there = bus.knock(&mut link, servo).map_err(HelloError::from)?;
    link.set_hurry(None);
    if is_there { Ok(link) } else { Err(OpenError::Missing(nobody(file, &link))) }
}

/// Starts all servos on an open port. Nothing moves.
pub(super) fn start<Bus: ServoBus>(
    file: &HardwareFile,
    bus: &mut Bus,
    mut link: Link,
    servos: &mut [Servo],
    joints: &mut [Joint],
) -> Result<(Link, Started), OpenError> {
    for servo in &mut *servos {
        (servo.is_present, servo.is_engaged, servo.reading.answered) = (false, false, false);
    }
    bus.hello(&mut link, servos)?;
    let silent: Vec<&Servo> = servos.iter().filter(|servo| !servo.reading.answered).collect();
    let mut started = Started::Whole;
    if silent.len() == servos.len() {
        return Err(OpenError::Missing(nobody(file, &link)));
    }
    if !silent.is_empty() {
        let sentence = missing(&silent);
        match file.missing {
            Missing::Refuse => return Err(OpenError::Missing(sentence)),
            Missing::HoldRest => started = Started::Held(sentence),
            Missing::Ignore => {}
        }
    }
    for (servo, joint) in servos.iter_mut().zip(joints) {
        if servo.reading.answered {
            switch_on(bus, &mut link, servo, joint)?;
        }
    }
    Ok((link, started))
}

/// Switches a servo on that was read, where it is.
pub(super) fn switch_on<Bus: ServoBus>(
    bus: &mut Bus,
    link: &mut Link,
    servo: &mut Servo,
    joint: &mut Joint,
) -> Result<(), HelloError> {
    joint.begin(servo);
    servo.is_present = true;
    if !bus.engage(link, servo)? {
        let found = "answers no more when its torque is switched on".to_owned();
        return Err(servo.unfit(found, "check its cable and its supply"));
    }
    servo.is_engaged = true;
    Ok(())
}

/// No servo answers.
pub(super) fn nobody(file: &HardwareFile, link: &Link) -> String {
    let baud = link.settings().line.baud;
    format!(
        "no {} servo answers on {} at {baud} baud; check power and cable, and find the servos' baud rate by `karakuri hardware scan`",
        file.bus.name,
        file.device.display()
    )
}

/// Some servos do not answer.
fn missing(silent: &[&Servo]) -> String {
    let names: Vec<_> =
        silent.iter().map(|servo| format!("{} (joint `{}`)", servo.id, servo.joint)).collect();
    let (noun, verb) = if names.len() == 1 { ("servo", "does") } else { ("servos", "do") };
    format!(
        "{noun} {} {verb} not answer; check cable, supply and id, or write `missing: ignore`",
        names.join(", ")
    )
}
