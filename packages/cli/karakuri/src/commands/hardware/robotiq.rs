//! A Robotiq two-finger gripper.

use anyhow::{Result, bail, ensure};
use karakuri_serial::codec::robotiq::{
    Activation, Answer, AnswerDecoder, COMMAND_ADDRESS, Command, GripperFault, ReadFunction,
    Request, STATUS_ADDRESS, Status, Words,
};

use super::bus::{Bus, Row, Scale, State};
use super::wire::{Heard, Step, Wire};

/// Asks for the status.
const STATUS: Request =
    Request::Read { function: ReadFunction::Input, address: STATUS_ADDRESS, count: 3 };
/// Speed and force of jogging, as shares of 255: slow and soft.
const SPEED: u8 = 40;
const FORCE: u8 = 20;

/// Grippers on a line.
#[derive(Debug, Default)]
pub(super) struct Robotiq {
    decoder: AnswerDecoder,
}

impl Robotiq {
    fn ask(&mut self, wire: &mut Wire, slave: u8, request: &Request) -> Result<Heard<Answer>> {
        let mut bytes = Vec::new();
        request.encode(slave, &mut bytes);
        let decoder = &mut self.decoder;
        decoder.reset();
        wire.ask(&bytes, 24, |byte| match decoder.push(byte) {
            Some(Ok((from, answer))) if from == slave && answer.is_of(request) => {
                Step::Answer(answer)
            }
            Some(Ok(_)) => Step::Other,
            _ => Step::Unfinished,
        })
    }

    fn status(&mut self, wire: &mut Wire, slave: u8) -> Result<Heard<Status>> {
        Ok(match self.ask(wire, slave, &STATUS)? {
            Heard::Answer(Answer::Words { words, .. }) => match *words {
                [a, b, c] => Heard::Answer(Status::from_words([a, b, c])),
                _ => Heard::Noise,
            },
            Heard::Silence => Heard::Silence,
            _ => Heard::Noise,
        })
    }

    fn command(&mut self, wire: &mut Wire, slave: u8, command: Command) -> Result<()> {
        let Some(words) = Words::new(&command.to_words()) else { return Ok(()) };
        let request = Request::Write { address: COMMAND_ADDRESS, words };
        let answer = self.ask(wire, slave, &request)?.answer();
        ensure!(
            matches!(answer, Some(Answer::Written { .. })),
            "gripper {slave} did not acknowledge a command; check its cable and its 24 V supply"
        );
        Ok(())
    }
}

impl Bus for Robotiq {
    fn device(&self) -> &'static str {
        "gripper"
    }

    fn ids(&self) -> (u8, u8) {
        (1, 247)
    }

    fn probe(&self, id: u8) -> Vec<u8> {
        let mut bytes = Vec::new();
        STATUS.encode(id, &mut bytes);
        bytes
    }

    fn find(&mut self, wire: &mut Wire, id: u8) -> Result<Heard<String>> {
        let heard = self.status(wire, id)?;
        Ok(heard.map(|status| match status.activation {
            Activation::Ready => "two-finger gripper, active".to_owned(),
            _ => "two-finger gripper, not active".to_owned(),
        }))
    }

    fn registers(&mut self, wire: &mut Wire, id: u8) -> Result<Vec<Row>> {
        let Some(status) = self.status(wire, id)?.answer() else { return Ok(Vec::new()) };
        let [first, second, _] = status.to_words();
        Ok(vec![
            Row::plain("gACT, active", status.is_active),
            Row::plain("gGTO, goes to its goal", status.goes),
            Row::plain("gSTA, activation: 3 is done", first >> 12 & 3),
            Row::plain("gOBJ, object: 1 and 2 are held, 3 is arrived", first >> 14),
            Row::plain("gFLT, fault", second >> 8),
            Row::plain("gPR, goal", status.goal),
            Row::plain("gPO, position: 0 open, 255 shut", status.position),
            Row::of("gCU, current", status.current, status.current_a(), "A"),
        ])
    }

    fn before_set_id(&mut self, _wire: &mut Wire, _old: u8) -> Result<String> {
        bail!("a gripper's address is not changed on its bus; use the maker's User Interface")
    }

    fn set_id(&mut self, wire: &mut Wire, old: u8, _new: u8) -> Result<()> {
        self.before_set_id(wire, old).map(drop)
    }

    fn state(&mut self, wire: &mut Wire, servo: u8) -> Result<Heard<State>> {
        Ok(self.status(wire, servo)?.map(|status| State {
            current: Some(status.current_a()),
            is_on: Some(status.is_active && status.activation == Activation::Ready),
            trouble: (status.fault != GripperFault::None).then(|| status.fault.to_string()),
            ..State::at(status.position.into(), Scale::of("robotiq", "2f85"))
        }))
    }

    fn engage(&mut self, wire: &mut Wire, servo: u8, counts: i32) -> Result<()> {
        let status = self.status(wire, servo)?.answer();
        ensure!(
            status.is_some_and(|status| status.activation == Activation::Ready),
            "gripper {servo} is not active, and an activation opens and shuts it once; start its driver for that"
        );
        self.send_to(wire, servo, counts)
    }

    fn send_to(&mut self, wire: &mut Wire, servo: u8, counts: i32) -> Result<()> {
        let position = u8::try_from(counts.clamp(0, 255)).unwrap_or_default();
        let (speed, force) = (SPEED, FORCE);
        let command =
            Command { is_active: true, goes: true, position, speed, force, ..Command::default() };
        self.command(wire, servo, command)
    }

    fn limp(&mut self, wire: &mut Wire, servo: u8) -> Result<()> {
        // Without the activation it would have to find its ends again.
        self.command(wire, servo, Command { is_active: true, ..Command::default() })
    }
}
