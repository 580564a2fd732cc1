//! The devices that a hardware file describes, emulated.

use anyhow::{Context as _, Result, bail};
use karakuri_hardware::driver::{HardwareFile, ServoSetup};
use karakuri_serial::codec::{dynamixel, feetech};
use karakuri_serial::emulator::Bus;
use karakuri_serial::emulator::dynamixel::{Dynamixel, Member, Settings};
use karakuri_serial::emulator::feetech::Feetech;
use karakuri_serial::emulator::ics::Ics;
use karakuri_serial::emulator::rcb1::{self, Rcb1};
use karakuri_serial::emulator::rcb4::{self, Rcb4};

/// The devices, otherwise as they leave the factory.
///
/// # Errors
/// When there is no emulator of one.
pub(in crate::commands) fn bus_of(file: &HardwareFile) -> Result<Box<dyn Bus>> {
    Ok(match file.bus.name {
        "rcb1" => rcb1(file, rcb1::Setup::default()),
        "rcb4" => rcb4(file, false),
        "ics" => Box::new(Ics::new(&numbers(file), file.baud)),
        "feetech" => feetech(file)?,
        "dynamixel" => dynamixel(file, false)?,
        name => {
            bail!("{name} has no servos that turn joints one by one; name a file of another bus")
        }
    })
}

/// Boards with servos at the channels of the file, otherwise as set up.
pub(super) fn rcb1(file: &HardwareFile, mut setup: rcb1::Setup) -> Box<dyn Bus> {
    setup.fit(&numbers(file));
    Box::new(Rcb1::new(&setup))
}

/// A board with or without a project.
pub(super) fn rcb4(file: &HardwareFile, project: bool) -> Box<dyn Bus> {
    let setup = rcb4::Setup { servos: numbers(file), baud: file.baud, project };
    Box::new(Rcb4::new(&setup))
}

fn feetech(file: &HardwareFile) -> Result<Box<dyn Bus>> {
    let mut bus = Feetech::new();
    for servo in &file.servos {
        let known = [&feetech::STS3215, &feetech::SCS0009];
        let name = servo.model.name;
        let model = known.into_iter().find(|model| model.name.eq_ignore_ascii_case(name));
        bus.add(model.with_context(|| no_such(name))?, servo.id);
    }
    Ok(Box::new(bus))
}

/// Servos that take frames without stuffing, or not.
pub(super) fn dynamixel(file: &HardwareFile, is_strict: bool) -> Result<Box<dyn Bus>> {
    let member = |servo: &ServoSetup| {
        let model = dynamixel::Model::named(servo.model.name);
        Ok(Member { id: servo.id, model: model.with_context(|| no_such(servo.model.name))? })
    };
    let members: Vec<Member> = file.servos.iter().map(member).collect::<Result<_>>()?;
    Ok(Box::new(Dynamixel::new(&members, Settings { baud: file.baud, is_strict })))
}

/// Numbers of the servos of a hardware file.
fn numbers(file: &HardwareFile) -> Vec<u8> {
    file.servos.iter().map(|servo| servo.id).collect()
}

fn no_such(model: &str) -> String {
    format!("there is no emulator of `{model}`; write another `model` in the hardware file")
}
