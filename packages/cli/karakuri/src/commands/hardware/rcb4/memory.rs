//! Memories of the board, and the program in its ROM.

use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use karakuri_serial::Line;
use karakuri_serial::codec::rcb4::memory::{
    CONFIGURATION, Configuration, PROGRAM_COUNTER, ROM_MAIN_LOOP, ROM_PAGE, ROM_WRITE_TIME,
};
use karakuri_serial::codec::rcb4::{
    Answer, BAUDS, Condition, Data, MAX_DATA, Place, Request, Source,
};

use super::{Rcb4, SHORT};
use crate::commands::hardware::wire::Wire;

/// Bytes of a copy of [`MAX_DATA`] bytes, with its answer.
const LONG: usize = MAX_DATA + 16;

impl Rcb4 {
    /// Finds the board at one of its baud rates, the present one first.
    pub(super) fn find_baud(&mut self, wire: &mut Wire) -> Result<()> {
        let usual = std::mem::replace(&mut wire.tries, 1);
        let others = BAUDS.into_iter().rev().filter(|baud| *baud != wire.baud());
        for baud in std::iter::once(wire.baud()).chain(others).collect::<Vec<_>>() {
            wire.set_line(Line::eight_e_one(baud))?;
            if self.ask(wire, &Request::Acknowledge, SHORT)?.answer().is_some() {
                wire.tries = usual;
                return Ok(());
            }
        }
        bail!(
            "no RCB-4 answers on {} at any of its baud rates; check power and cable",
            wire.path().display()
        )
    }

    /// What the board answers to a request.
    pub(super) fn expect(&mut self, wire: &mut Wire, request: &Request) -> Result<Answer> {
        let answer = self.ask(wire, request, LONG)?.answer();
        let answer = answer.context("the board does not answer any more; check its cable")?;
        if let Answer::Refused { command } = answer {
            bail!(
                "the board refuses the command {command:#04x}; switch it off and on, then try again"
            )
        }
        Ok(answer)
    }

    /// Bytes of a memory, 128 at most.
    fn copy(&mut self, wire: &mut Wire, from: Source) -> Result<Data> {
        match self.expect(wire, &Request::Move { to: Place::Host, from })? {
            Answer::Data(data) => Ok(data),
            other => bail!("the board answers {other:?} to a question about its memory; try again"),
        }
    }

    /// Writes to the RAM.
    pub(super) fn write_ram(&mut self, wire: &mut Wire, address: u16, bytes: &[u8]) -> Result<()> {
        let from = Source::Literal(Data::new(bytes)?);
        self.expect(wire, &Request::Move { to: Place::Ram { address }, from }).map(drop)
    }

    /// Bytes of the ROM.
    pub(super) fn read_rom(&mut self, wire: &mut Wire, address: u32, n: u32) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut at = address;
        while at < address + n {
            let count = u8::try_from((address + n - at).min(ROM_PAGE))?;
            let data = self.copy(wire, Source::Rom { address: at, count })?;
            bytes.extend_from_slice(data.bytes());
            at += u32::from(count);
        }
        Ok(bytes)
    }

    /// Writes bytes to the ROM that are within a page, and reads them back, a few times if need be.
    pub(super) fn write_rom(&mut self, wire: &mut Wire, address: u32, bytes: &[u8]) -> Result<()> {
        const TRIES: usize = 3;
        let from = Source::Literal(Data::new(bytes)?);
        let n = u32::try_from(bytes.len())?;
        for _ in 0..TRIES {
            self.expect(wire, &Request::Move { to: Place::Rom { address }, from })?;
            // It is acknowledged before it is there.
            wire.wait(Duration::from_secs_f64(2.0 * ROM_WRITE_TIME))?;
            if self.read_rom(wire, address, n)? == bytes {
                return Ok(());
            }
        }
        bail!(
            "the board does not keep what is written at {address:#07x}; check its supply, then try again"
        )
    }

    /// What the board does now.
    pub(super) fn configuration(&mut self, wire: &mut Wire) -> Result<Configuration> {
        let data = self.copy(wire, Source::Ram { address: CONFIGURATION, count: 2 })?;
        ensure!(data.bytes().len() == 2, "the board answers half a word; try again");
        Ok(Configuration(u16::from_le_bytes([data.bytes()[0], data.bytes()[1]])))
    }

    /// Lets the board do something else.
    pub(super) fn configure(&mut self, wire: &mut Wire, what: Configuration) -> Result<()> {
        self.write_ram(wire, CONFIGURATION, &what.0.to_le_bytes())
    }

    /// Where the program in the ROM is.
    pub(super) fn program_counter(&mut self, wire: &mut Wire) -> Result<u32> {
        let data = self.copy(wire, Source::Ram { address: PROGRAM_COUNTER, count: 3 })?;
        match *data.bytes() {
            [a, b, c] => Ok(u32::from_le_bytes([a, b, c, 0])),
            _ => bail!("the board answers half an address; try again"),
        }
    }

    /// Puts the program, which has to be stopped, to the start of the main loop, with no call under way.
    pub(super) fn reset_program(&mut self, wire: &mut Wire) -> Result<()> {
        let [a, b, c, _] = ROM_MAIN_LOOP.to_le_bytes();
        self.write_ram(wire, PROGRAM_COUNTER, &[a, b, c, 0, 0, 0, 0, 0, 0, 0])
    }

    /// Lets the program, which has to be stopped, begin with what is at an address; it comes back to the main loop.
    pub(super) fn call(&mut self, wire: &mut Wire, address: u32) -> Result<()> {
        let condition = Condition::default();
        self.expect(wire, &Request::Call { address, condition }).map(drop)
    }
}

/// A configuration in which the ROM program stands still.
pub(super) fn stopped(configuration: Configuration) -> Configuration {
    Configuration(configuration.0 & !Configuration::RUN)
}
