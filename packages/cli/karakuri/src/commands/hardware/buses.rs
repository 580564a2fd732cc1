//! The buses on the command line, and how each is opened.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Result, anyhow, ensure};
use karakuri_hardware::driver::{BUSES, BusKind};
use karakuri_serial::port::Settings;

use super::bus::Bus;
use super::dynamixel::Dynamixel;
use super::feetech::Feetech;
use super::ics::Ics;
use super::rcb1::Rcb1;
use super::rcb4::Rcb4;
use super::robotiq::Robotiq;
use super::wire::{Heard, Wire};
use crate::interrupt::Interrupt;

/// A bus by its name on the command line.
#[derive(Debug, Clone, Copy)]
pub(super) struct BusName(&'static BusKind);

impl FromStr for BusName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        BUSES.iter().find(|bus| bus.name == text).map(|bus| Self(bus)).ok_or_else(|| {
            format!(
                "there is no bus `{text}`; write one of {}",
                BUSES.map(|bus| bus.name).join(", ")
            )
        })
    }
}

/// Which bus, and where it is.
#[derive(Debug, clap::Args)]
pub(super) struct BusArgs {
    /// Kind of bus: feetech, dynamixel, rcb1, rcb4, ics or robotiq
    bus: BusName,
    /// Its port, best one of /dev/serial/by-id: that name follows the adapter
    device: PathBuf,
}

impl BusArgs {
    /// Name of the bus.
    pub(super) fn name(&self) -> &'static str {
        self.bus.0.name
    }

    /// Its baud rates, the usual one first. [bit/s]
    pub(super) fn bauds(&self) -> &'static [u32] {
        self.bus.0.bauds
    }

    /// A baud rate of the command line, or the usual one. [bit/s]
    pub(super) fn baud(&self, given: Option<u32>) -> Result<u32> {
        let Some(baud) = given else { return Ok(self.bauds()[0]) };
        let list: Vec<String> = self.bauds().iter().map(ToString::to_string).collect();
        let known = self.bauds().contains(&baud);
        ensure!(known, "--baud {baud}: {} has {}", self.name(), list.join(", "));
        Ok(baud)
    }

    /// Opens the port at a baud rate [bit/s].
    pub(super) fn open(&self, baud: u32, interrupt: &Interrupt) -> Result<(Box<dyn Bus>, Wire)> {
        open(self.bus.0, &self.device, baud, interrupt)
    }

    /// Changes the baud rate. [bit/s]
    pub(super) fn set_baud(&self, wire: &mut Wire, baud: u32) -> Result<()> {
        wire.set_line((self.bus.0.line)(baud))
    }

    /// What else to look at where a servo is silent.
    pub(super) fn servos_known(&self) -> &'static str {
        match self.name() {
            "rcb4" => "; a board knows the servos alone that its project assigns, by HeartToHeart4",
            _ => "",
        }
    }

    /// The answer, or why there is none.
    pub(super) fn expect<T>(&self, wire: &Wire, what: &str, heard: Heard<T>) -> Result<T> {
        let (bus, device, baud) = (self.name(), wire.path().display(), wire.baud());
        match heard {
            Heard::Answer(answer) => Ok(answer),
            Heard::Noise => Err(anyhow!(
                "{what} answers on {device} at {baud} baud, but not in whole frames; give each servo an id of its own, and check the cable"
            )),
            Heard::Silence => Err(anyhow!(
                "{what} does not answer on {device} at {baud} baud; check power and cable, and look for it by `karakuri hardware scan {bus} {device}`{}",
                self.servos_known()
            )),
        }
    }
}

/// Opens the port of a kind of bus at a baud rate [bit/s].
pub(super) fn open(
    kind: &BusKind,
    device: &Path,
    baud: u32,
    interrupt: &Interrupt,
) -> Result<(Box<dyn Bus>, Wire)> {
    // An RCB-1 board's transmitter is fed from this line: raised, nothing is heard of it.
    let settings = Settings { line: (kind.line)(baud), raises_dtr: kind.name != "rcb1" };
    let mut wire = Wire::open(device, settings, interrupt.clone())?;
    let bus = bus(kind.name);
    wire.detect_echo(&bus.probe(bus.ids().0))?;
    Ok((bus, wire))
}

/// The bus of a name.
fn bus(name: &str) -> Box<dyn Bus> {
    match name {
        "dynamixel" => Box::new(Dynamixel::default()),
        "rcb1" => Box::new(Rcb1::default()),
        "rcb4" => Box::new(Rcb4::default()),
        "ics" => Box::new(Ics::default()),
        "robotiq" => Box::new(Robotiq::default()),
        _ => Box::new(Feetech::default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bus_of_the_drivers_has_its_commands() {
        for kind in BUSES {
            let bus = bus(kind.name);
            assert_eq!(bus.servos(), kind.ids, "{}", kind.name);
            let name: BusName = kind.name.parse().unwrap();
            assert_eq!(name.0.name, kind.name);
        }
        let said = "i2c".parse::<BusName>().unwrap_err();
        assert!(said.contains("there is no bus `i2c`; write one of feetech, dynamixel"), "{said}");
    }
}
