//! RCB-1 boards. A device is a board; a servo is a channel, 1 to 12 of board 0 and 13 to 24 of board 1.

mod memory;
mod motion_file;
mod play;
mod upload;

use anyhow::{Context as _, Result, bail, ensure};
use karakuri_serial::codec::rcb1::{
    Answer, AnswerDecoder, CHANNELS, Channel, MAX_ID, Order, Pose, Request, Switches,
};

use super::bus::{Bus, Row, Scale, State, check_alone};
use super::wire::{Heard, Step, Wire};
pub(super) use play::play;
pub(super) use upload::upload;

/// Longest answer. [byte]
const LONGEST: usize = 15;

/// Boards on their line.
#[derive(Debug, Default)]
pub(super) struct Rcb1 {
    decoder: AnswerDecoder,
}

impl Rcb1 {
    fn ask(&mut self, wire: &mut Wire, request: Request) -> Result<Heard<Answer>> {
        let mut bytes = Vec::new();
        request.encode(&mut bytes);
        let decoder = &mut self.decoder;
        decoder.expect(request);
        wire.ask(&bytes, LONGEST, |byte| match decoder.push(byte) {
            Some(Ok(answer)) => Step::Answer(answer),
            _ => Step::Unfinished,
        })
    }

    fn order(&mut self, wire: &mut Wire, id: u8, order: Order) -> Result<Heard<Answer>> {
        self.ask(wire, Request::Board { id, order })
    }

    /// What a board answers to an order.
    fn expect(&mut self, wire: &mut Wire, id: u8, order: Order) -> Result<Answer> {
        let answer = self.order(wire, id, order)?.answer();
        answer.with_context(|| format!("board {id} does not answer; check power and cable"))
    }

    /// Moves one servo; the others keep what they have.
    fn move_one(&mut self, wire: &mut Wire, servo: u8, to: Channel) -> Result<()> {
        let (board, channel) = place(servo);
        let mut pose = Pose::default();
        pose.channels[channel] = to;
        let heard = self.order(wire, board, Order::Move(pose))?;
        ensure!(
            heard.answer().is_some(),
            "board {board} does not answer any more; check its cable"
        );
        Ok(())
    }
}

/// Board and channel of a servo, the channel from 0.
fn place(servo: u8) -> (u8, usize) {
    let channel = usize::from(servo.saturating_sub(1));
    (u8::from(channel >= CHANNELS), channel % CHANNELS)
}

/// Rows of all channels.
fn rows(name: &str, degrees: impl Iterator<Item = Option<i64>>) -> Vec<Row> {
    let rows = degrees.enumerate().filter_map(|(index, degrees)| {
        let degrees = degrees?;
        #[expect(clippy::cast_precision_loss, reason = "whole degrees")]
        let angle = (degrees as f64).to_radians();
        Some(Row::of(format!("{name} of channel {}", index + 1), degrees, angle, "rad"))
    });
    rows.collect()
}

fn degrees(channel: Channel) -> Option<i64> {
    match channel {
        Channel::Degrees(degrees) => Some(degrees.into()),
        _ => None,
    }
}

impl Bus for Rcb1 {
    fn device(&self) -> &'static str {
        "board"
    }

    fn ids(&self) -> (u8, u8) {
        (0, MAX_ID)
    }

    fn servos(&self) -> (u8, u8) {
        (1, 24)
    }

    fn probe(&self, id: u8) -> Vec<u8> {
        let mut bytes = Vec::new();
        Request::Board { id, order: Order::Switches }.encode(&mut bytes);
        bytes
    }

    fn find(&mut self, wire: &mut Wire, id: u8) -> Result<Heard<String>> {
        let heard = self.order(wire, id, Order::Switches)?;
        Ok(heard.map(|answer| match answer {
            Answer::Switches(switches) if switches.sleep => "RCB-1, asleep".to_owned(),
            _ => "RCB-1".to_owned(),
        }))
    }

    fn registers(&mut self, wire: &mut Wire, id: u8) -> Result<Vec<Row>> {
        let mut all = Vec::new();
        if let Some(Answer::Switches(switches)) = self.order(wire, id, Order::Switches)?.answer() {
            all.push(Row::plain("asleep", switches.sleep));
            all.push(Row::plain("motions enabled", switches.motion_enabled));
        }
        for (name, order) in [("home", Order::Home), ("position", Order::Positions)] {
            if let Some(Answer::Channels(channels)) = self.order(wire, id, order)?.answer() {
                all.extend(rows(name, channels.into_iter().map(degrees)));
            }
        }
        if let Some(Answer::Trims(trims)) = self.order(wire, id, Order::Trims)?.answer() {
            all.extend(rows("trim", trims.into_iter().map(|trim| Some(trim.into()))));
        }
        Ok(all)
    }

    fn before_set_id(&mut self, wire: &mut Wire, old: u8) -> Result<String> {
        check_alone(self, wire, old)?;
        Ok("All boards on the line take the new id: it has to be alone there.".to_owned())
    }

    fn set_id(&mut self, wire: &mut Wire, _old: u8, new: u8) -> Result<()> {
        let heard = self.ask(wire, Request::SetId { id: new })?;
        ensure!(
            heard.answer().is_some() && self.order(wire, new, Order::Switches)?.answer().is_some(),
            "the board has not become {new}; take the other one off the line, then try again"
        );
        Ok(())
    }

    fn state(&mut self, wire: &mut Wire, servo: u8) -> Result<Heard<State>> {
        let (board, channel) = place(servo);
        Ok(match self.order(wire, board, Order::Positions)? {
            Heard::Answer(Answer::Channels(channels)) => match degrees(channels[channel]) {
                Some(degrees) => {
                    let degrees = i32::try_from(degrees).unwrap_or_default();
                    Heard::Answer(State::at(degrees, Scale::of("rcb1", "krs784")))
                }
                None => Heard::Silence,
            },
            Heard::Silence => Heard::Silence,
            _ => Heard::Noise,
        })
    }

    fn besides_torque(&self) -> &'static str {
        " The first move after power-up switches all servos of its board on."
    }

    fn engage(&mut self, wire: &mut Wire, servo: u8, counts: i32) -> Result<()> {
        let (board, _) = place(servo);
        let switches = self.order(wire, board, Order::Switches)?.answer();
        if let Some(Answer::Switches(Switches { sleep: true, .. })) = switches {
            bail!(
                "board {board} is asleep, and awake it switches all of its servos on; wake it by its own switch first"
            );
        }
        self.send_to(wire, servo, counts)
    }

    fn send_to(&mut self, wire: &mut Wire, servo: u8, counts: i32) -> Result<()> {
        let degrees = u8::try_from(counts.clamp(0, 180)).unwrap_or_default();
        self.move_one(wire, servo, Channel::Degrees(degrees))
    }

    fn limp(&mut self, wire: &mut Wire, servo: u8) -> Result<()> {
        self.move_one(wire, servo, Channel::Free)
    }
}
