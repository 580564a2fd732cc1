//! The RCB-4 board. It is the only device of its line; a servo is an ICS number: twice the id, and 1 more on the second port.

mod memory;
mod motion_file;
mod play;
mod program;
mod upload;

use anyhow::{Result, bail, ensure};
use karakuri_serial::codec::ics::{CENTRE, MAX_COUNTS, MIN_COUNTS};
use karakuri_serial::codec::rcb4::memory::{
    CONFIGURATION, Configuration, ICS_TABLE, UNASSIGNED, record, record_of,
};
use karakuri_serial::codec::rcb4::{Answer, AnswerDecoder, Goal, Place, Request, SERVOS, Source};

use super::bus::{Bus, Row, Scale, State};
use super::wire::{Heard, Step, Wire};
pub(super) use play::play;
pub(super) use upload::upload;

/// Bytes of a move, with its answer.
const SHORT: usize = 16;
/// Number of the board, which has none.
const BOARD: u8 = 0;

/// A board.
#[derive(Debug, Default)]
pub(super) struct Rcb4 {
    decoder: AnswerDecoder,
}

impl Rcb4 {
    fn ask(&mut self, wire: &mut Wire, request: &Request, n: usize) -> Result<Heard<Answer>> {
        let mut bytes = Vec::new();
        request.encode(&mut bytes);
        let decoder = &mut self.decoder;
        decoder.expect(request);
        wire.ask(&bytes, n, |byte| match decoder.push(byte) {
            Some(Ok(answer)) => Step::Answer(answer),
            _ => Step::Unfinished,
        })
    }

    /// A word of the RAM.
    fn word(&mut self, wire: &mut Wire, address: u16) -> Result<Heard<u16>> {
        let request = Request::Move { to: Place::Host, from: Source::Ram { address, count: 2 } };
        Ok(match self.ask(wire, &request, SHORT)? {
            Heard::Answer(Answer::Data(data)) => match *data.bytes() {
                [low, high] => Heard::Answer(u16::from_le_bytes([low, high])),
                _ => Heard::Noise,
            },
            Heard::Silence => Heard::Silence,
            _ => Heard::Noise,
        })
    }

    fn move_one(&mut self, wire: &mut Wire, servo: u8, goal: Goal) -> Result<()> {
        let answer =
            self.ask(wire, &Request::MoveServo { servo, frames: 1, goal }, SHORT)?.answer();
        ensure!(
            matches!(answer, Some(Answer::Done { .. })),
            "the board did not acknowledge a move of servo {servo}; check its cable"
        );
        Ok(())
    }

    /// Whether the board talks to a servo.
    fn talks_to(&mut self, wire: &mut Wire, servo: u8) -> Result<Heard<bool>> {
        let entry = self.word(wire, ICS_TABLE + 2 * u16::from(servo))?;
        Ok(entry.map(|address| address != UNASSIGNED))
    }
}

impl Bus for Rcb4 {
    fn device(&self) -> &'static str {
        "board"
    }

    fn ids(&self) -> (u8, u8) {
        (BOARD, BOARD)
    }

    fn servos(&self) -> (u8, u8) {
        (0, 34)
    }

    fn probe(&self, _id: u8) -> Vec<u8> {
        let mut bytes = Vec::new();
        // The answer to an acknowledge is as its request, which would pass for an echo.
        Request::Version.encode(&mut bytes);
        bytes
    }

    fn find(&mut self, wire: &mut Wire, _id: u8) -> Result<Heard<String>> {
        let heard = self.ask(wire, &Request::Version, 40)?;
        Ok(heard.map(|answer| match answer {
            Answer::Version(text) => {
                let printable =
                    text.iter().take_while(|byte| byte.is_ascii_graphic() || **byte == b' ');
                let text: String = printable.map(|byte| char::from(*byte)).collect();
                format!("R{}", text.split_whitespace().collect::<Vec<_>>().join(" "))
            }
            _ => "RCB-4".to_owned(),
        }))
    }

    fn registers(&mut self, wire: &mut Wire, _id: u8) -> Result<Vec<Row>> {
        let Some(word) = self.word(wire, CONFIGURATION)?.answer() else { return Ok(Vec::new()) };
        let configuration = Configuration(word);
        let mut rows = vec![
            Row::plain("configuration", word),
            Row::plain("talks to servos", configuration.has(Configuration::ICS)),
            Row::plain("runs its program", configuration.has(Configuration::RUN)),
            Row::of(
                "output frame",
                (word & Configuration::FRAME) >> 4,
                configuration.frame_time(),
                "s",
            ),
            Row::plain("baud rate of the servos", configuration.ics_baud().unwrap_or_default()),
        ];
        let scale = Scale::of("rcb4", "ics");
        for servo in 0..SERVOS {
            let number = u8::try_from(servo).unwrap_or(u8::MAX);
            if self.talks_to(wire, number)?.answer() != Some(true) {
                continue;
            }
            let record = record_of(servo);
            if let Some(trim) = self.word(wire, record + record::TRIM)?.answer() {
                let trim = trim.cast_signed();
                let angle = f64::from(trim) / scale.counts_per_radian;
                rows.push(Row::of(format!("trim of servo {servo}"), trim, angle, "rad"));
            }
            if let Some(counts) = self.word(wire, record + record::PRESENT)?.answer() {
                let angle = scale.angle(counts.into());
                rows.push(Row::of(format!("position of servo {servo}"), counts, angle, "rad"));
            }
        }
        Ok(rows)
    }

    fn before_set_id(&mut self, _wire: &mut Wire, _old: u8) -> Result<String> {
        bail!(
            "ids are in the servos, and the board does not change them; put the servo on an ICS adapter, then `karakuri hardware set-id ics`"
        )
    }

    fn set_id(&mut self, wire: &mut Wire, old: u8, _new: u8) -> Result<()> {
        self.before_set_id(wire, old).map(drop)
    }

    fn state(&mut self, wire: &mut Wire, servo: u8) -> Result<Heard<State>> {
        match self.talks_to(wire, servo)? {
            Heard::Answer(true) => {}
            Heard::Answer(false) | Heard::Silence => return Ok(Heard::Silence),
            Heard::Noise => return Ok(Heard::Noise),
        }
        let counts = self.word(wire, record_of(servo.into()) + record::PRESENT)?;
        Ok(match counts {
            // A servo that has reported nothing yet.
            Heard::Answer(0) => Heard::Silence,
            heard => heard.map(|counts| State::at(counts.into(), Scale::of("rcb4", "ics"))),
        })
    }

    fn engage(&mut self, wire: &mut Wire, servo: u8, counts: i32) -> Result<()> {
        // A servo moves only after one hold.
        self.move_one(wire, servo, Goal::Hold)?;
        self.send_to(wire, servo, counts)
    }

    fn send_to(&mut self, wire: &mut Wire, servo: u8, counts: i32) -> Result<()> {
        let counts = counts.clamp(MIN_COUNTS.into(), MAX_COUNTS.into());
        self.move_one(wire, servo, Goal::Position(u16::try_from(counts).unwrap_or(CENTRE)))
    }

    fn limp(&mut self, wire: &mut Wire, servo: u8) -> Result<()> {
        self.move_one(wire, servo, Goal::Free)
    }
}
