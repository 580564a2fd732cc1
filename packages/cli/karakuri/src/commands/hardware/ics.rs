//! ICS servos on one wire.

use anyhow::{Result, ensure};
use karakuri_serial::codec::ics::{
    Answer, AnswerDecoder, CENTRE, COUNTS_PER_RADIAN, EEPROM_TIME, Eeprom, FIELDS, Flags,
    MAX_COUNTS, MAX_ID, MIN_COUNTS, Parameter, Request, current_from_byte, temperature_from_byte,
};
use std::time::Duration;

use super::bus::{Bus, Row, Scale, State, check_alone};
use super::wire::{Heard, Step, Wire};

/// Position that takes the torque away.
const FREE: u16 = 0;

/// Servos on one wire.
#[derive(Debug, Default)]
pub(super) struct Ics {
    decoder: AnswerDecoder,
}

impl Ics {
    fn ask(&mut self, wire: &mut Wire, request: &Request) -> Result<Heard<Answer>> {
        let mut bytes = Vec::new();
        request.encode(&mut bytes);
        let decoder = &mut self.decoder;
        decoder.expect(request);
        wire.ask(&bytes, Eeprom::LEN + 2, |byte| match decoder.push(byte) {
            Some(Ok(answer)) => Step::Answer(answer),
            _ => Step::Unfinished,
        })
    }

    fn eeprom(&mut self, wire: &mut Wire, id: u8) -> Result<Heard<Eeprom>> {
        Ok(match self.ask(wire, &Request::ReadEeprom { id })? {
            Heard::Answer(Answer::Eeprom(eeprom)) => Heard::Answer(eeprom),
            Heard::Silence => Heard::Silence,
            _ => Heard::Noise,
        })
    }

    fn parameter(&mut self, wire: &mut Wire, id: u8, parameter: Parameter) -> Result<Option<u8>> {
        let heard = self.ask(wire, &Request::Read { id, parameter })?;
        Ok(match heard.answer() {
            Some(Answer::Read(_, byte)) => Some(byte),
            _ => None,
        })
    }

    /// Id of the only servo on the wire.
    fn only(&mut self, wire: &mut Wire) -> Result<Option<u8>> {
        let heard = self.ask(wire, &Request::GetId)?;
        Ok(heard.answer().map(|_| self.decoder.id()))
    }
}

impl Bus for Ics {
    fn device(&self) -> &'static str {
        "servo"
    }

    fn ids(&self) -> (u8, u8) {
        (0, MAX_ID)
    }

    fn probe(&self, id: u8) -> Vec<u8> {
        let mut bytes = Vec::new();
        Request::Read { id, parameter: Parameter::Stretch }.encode(&mut bytes);
        bytes
    }

    fn find(&mut self, wire: &mut Wire, id: u8) -> Result<Heard<String>> {
        let heard = self.ask(wire, &Request::Read { id, parameter: Parameter::Stretch })?;
        Ok(heard.map(|_| "ICS servo".to_owned()))
    }

    fn registers(&mut self, wire: &mut Wire, id: u8) -> Result<Vec<Row>> {
        let Some(eeprom) = self.eeprom(wire, id)?.answer() else { return Ok(Vec::new()) };
        let scale = Scale::of("ics", "ics");
        let mut rows = Vec::new();
        for field in FIELDS {
            let counts = eeprom.get(field);
            let byte = u8::try_from(counts).unwrap_or(u8::MAX);
            let named = |other: karakuri_serial::codec::ics::Field| other.name == field.name;
            rows.push(if named(Eeprom::MAX_POSITION) || named(Eeprom::MIN_POSITION) {
                Row::of(field.name, counts, scale.angle(counts.into()), "rad")
            } else if named(Eeprom::TEMPERATURE_LIMIT) {
                Row::of(field.name, counts, temperature_from_byte(byte), "°C")
            } else if named(Eeprom::CURRENT_LIMIT) {
                Row::of(field.name, counts, 0.1 * f64::from(counts), "A")
            } else {
                Row::plain(field.name, counts)
            });
        }
        if let Heard::Answer(Answer::Position(counts)) =
            self.ask(wire, &Request::Position { id })?
        {
            rows.push(Row::of("present position", counts, scale.angle(counts.into()), "rad"));
        }
        if let Some(byte) = self.parameter(wire, id, Parameter::Current)? {
            rows.push(Row::of("present current", byte, current_from_byte(byte), "A"));
        }
        if let Some(byte) = self.parameter(wire, id, Parameter::Temperature)? {
            rows.push(Row::of("present temperature", byte, temperature_from_byte(byte), "°C"));
        }
        Ok(rows)
    }

    fn before_set_id(&mut self, wire: &mut Wire, old: u8) -> Result<String> {
        check_alone(self, wire, old)?;
        Ok("All servos on the wire take the new id: it has to be alone there.".to_owned())
    }

    fn set_id(&mut self, wire: &mut Wire, _old: u8, new: u8) -> Result<()> {
        // The answer may wait for the EEPROM.
        let patience = wire.patience;
        wire.patience += Duration::from_secs_f64(EEPROM_TIME);
        let heard = self.ask(wire, &Request::SetId { id: new });
        wire.patience = patience;
        heard?;
        let only = self.only(wire)?;
        ensure!(
            only == Some(new),
            "the servo has not become {new}; take others off the wire, then try again"
        );
        Ok(())
    }

    fn state(&mut self, wire: &mut Wire, servo: u8) -> Result<Heard<State>> {
        let counts = match self.ask(wire, &Request::Position { id: servo })? {
            Heard::Answer(Answer::Position(counts)) => counts,
            Heard::Silence => return Ok(Heard::Silence),
            _ => return Ok(Heard::Noise),
        };
        let current = self.parameter(wire, servo, Parameter::Current)?;
        let temperature = self.parameter(wire, servo, Parameter::Temperature)?;
        Ok(Heard::Answer(State {
            current: current.map(current_from_byte),
            temperature: temperature.map(temperature_from_byte),
            ..State::at(counts.into(), SCALE)
        }))
    }

    fn engage(&mut self, wire: &mut Wire, servo: u8, counts: i32) -> Result<()> {
        let turns = self.eeprom(wire, servo)?.answer();
        ensure!(
            turns.is_none_or(|eeprom| eeprom.get(Eeprom::FLAGS) & Flags::ROTATION == 0),
            "servo {servo} is set to turn without end; take the flag `rotation` out of its EEPROM"
        );
        self.send_to(wire, servo, counts)
    }

    fn send_to(&mut self, wire: &mut Wire, servo: u8, counts: i32) -> Result<()> {
        let counts = counts.clamp(MIN_COUNTS.into(), MAX_COUNTS.into());
        let position = u16::try_from(counts).unwrap_or(CENTRE);
        let heard = self.ask(wire, &Request::Move { id: servo, position })?;
        ensure!(
            heard.answer().is_some(),
            "servo {servo} does not answer any more; check its cable"
        );
        Ok(())
    }

    fn limp(&mut self, wire: &mut Wire, servo: u8) -> Result<()> {
        let heard = self.ask(wire, &Request::Move { id: servo, position: FREE })?;
        ensure!(
            heard.answer().is_some(),
            "servo {servo} does not answer any more; check its cable"
        );
        Ok(())
    }
}

/// 8000 counts over 270°.
const SCALE: Scale = Scale {
    zero: CENTRE as f64,
    counts_per_radian: COUNTS_PER_RADIAN,
    range: (MIN_COUNTS as i32, MAX_COUNTS as i32),
};
