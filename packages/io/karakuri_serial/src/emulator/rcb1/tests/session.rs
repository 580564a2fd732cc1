//! A whole session with both boards, byte by byte on the wire of an [`Emulation`], by its own clock.

use super::super::super::{Emulation, FreeMotion};
use super::*;
use crate::codec::rcb1::{ANSWER_TIME, AnswerDecoder, Command};

/// Bytes of a 10-bit character at 115200 baud. [s]
const BYTE: f64 = 10.0 / 115_200.0;

/// A host that asks, and takes the time.
struct Host {
    wire: Emulation,
    now: f64,
    decoder: AnswerDecoder,
    sent: Vec<u8>,
    heard: Vec<u8>,
}

impl Host {
    fn new() -> Self {
        let wire = Emulation::new(Box::new(Rcb1::new(&Setup::default())), Box::new(FreeMotion));
        let mut host = Self {
            wire,
            now: 0.0,
            decoder: AnswerDecoder::default(),
            sent: Vec::new(),
            heard: Vec::new(),
        };
        host.wait(0.01);
        host
    }

    fn wait(&mut self, time: f64) {
        let until = self.now + time;
        while self.now < until {
            self.now = until.min(self.now + 0.1);
            self.wire.advance(self.now, &mut self.heard);
        }
    }

    /// Sends a request and awaits its answer. The time from the first byte to the last. [s]
    fn exchange(&mut self, request: Request) -> (Result<Answer, ()>, f64) {
        let start = self.now;
        self.sent.clear();
        request.encode(&mut self.sent);
        self.decoder.expect(request);
        self.heard.clear();
        self.wire.hear(&self.sent, BAUD, self.now);
        let deadline = start + self.sent.len() as f64 * BYTE + ANSWER_TIME;
        while self.now < deadline {
            self.wait(1e-5);
            for byte in std::mem::take(&mut self.heard) {
                if let Some(got) = self.decoder.push(byte) {
                    return (got.map_err(drop), self.now - start);
                }
            }
        }
        (Err(()), self.now - start)
    }

    /// The answer of a board, which must have taken as long as the wire and the board need.
    fn ask(&mut self, id: u8, order: Order) -> Answer {
        let request = Request::Board { id, order };
        let command = Command::of(request.code()).unwrap();
        let (answer, time) = self.exchange(request);
        let eeprom = if writes_eeprom(&order) { EEPROM_TIME } else { 0.0 };
        let wire = (command.request + command.answer) as f64 * BYTE;
        near(time, wire + ANSWER_DELAY + eeprom, 2e-5);
        answer.unwrap_or_else(|()| panic!("{} is not answered", command.name))
    }

    fn shafts(&self, board: usize) -> Vec<f64> {
        let servos = self.wire.servos().iter().filter(|servo| servo.board == board);
        servos.map(|servo| servo.position.to_degrees() + 90.0).collect()
    }
}

fn pose(speed: u8, degrees: u8) -> Pose {
    Pose { speed: Speed::new(speed).unwrap(), channels: all(degrees) }
}

#[test]
fn a_session_with_both_boards() {
    let mut host = Host::new();
    greet(&mut host);
    stream(&mut host);
    let motion = upload(&mut host);
    play(&mut host, motion);
}

/// Ids (of which a chain gives no certain answer), switches, home.
fn greet(host: &mut Host) {
    let (answer, time) = host.exchange(Request::GetId);
    assert_eq!(answer, Ok(Answer::Id));
    near(time, 4.0 * BYTE + ANSWER_DELAY, 2e-5);
    let setup = Setup::default();
    for id in [0, 1] {
        assert_eq!(host.ask(id, Order::Switches), Answer::Switches(Switches::default()));
        assert_eq!(host.ask(id, Order::SetSwitches(Switches::default())), Answer::Done);
        let home = setup.home[usize::from(id)].map(Channel::Degrees);
        assert_eq!(host.ask(id, Order::Home), Answer::Channels(home));
        assert_eq!(host.ask(id, Order::Positions), Answer::Channels(home));
        assert_eq!(host.ask(id, Order::Trims), Answer::Trims([0; CHANNELS]));
    }
    let (answer, _) = host.exchange(Request::Board { id: 2, order: Order::Switches });
    assert_eq!(answer, Err(()), "no such board");
}

/// Commands for both boards and the places of both, at 25 Hz: a slow sine of 20°.
fn stream(host: &mut Host) {
    const PERIOD: f64 = 0.040;
    for id in [0, 1] {
        host.ask(id, Order::Move(pose(4, 90)));
    }
    host.wait(1.5);
    let (mut longest, mut worst) = (0.0_f64, 0.0_f64);
    for cycle in 0..100 {
        let start = host.now;
        let phase = f64::from(cycle) * PERIOD * std::f64::consts::TAU / 2.0;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "70 to 110")]
        let goal = (90.0 + 20.0 * phase.sin()).round() as u8;
        for id in [0, 1] {
            assert_eq!(host.ask(id, Order::Move(pose(0, goal))), Answer::Done);
        }
        for id in [0, 1] {
            let Answer::Channels(channels) = host.ask(id, Order::Positions) else {
                panic!("no positions")
            };
            let Channel::Degrees(read) = channels[0] else { panic!("{channels:?}") };
            worst = worst.max((f64::from(read) - f64::from(goal)).abs());
        }
        longest = longest.max(host.now - start);
        host.wait(start + PERIOD - host.now);
    }
    // 16 + 2 bytes to move and 3 + 14 to read, twice, and four answers of 2 ms.
    near(longest, 70.0 * BYTE + 4.0 * ANSWER_DELAY, 1e-4);
    assert!(longest < PERIOD, "{longest} s of {PERIOD} s");
    // 63°/s of the sine in the 11 ms from command to reading, its lag of 10 ms, and the step that is still being made.
    assert!(worst <= 4.0, "{worst} deg behind");
}

/// A motion of 100 positions to both boards, read back.
fn upload(host: &mut Host) -> u8 {
    let motion = 7;
    let start = host.now;
    let position_at = |position: u8| pose(4, if position.is_multiple_of(2) { 95 } else { 85 });
    for id in [0, 1] {
        for position in 0..100 {
            let pose = position_at(position);
            host.ask(id, Order::WritePosition { motion, position, pose });
        }
        assert_eq!(host.ask(id, Order::SetPositionCount { motion, count: 100 }), Answer::Done);
    }
    // 20 bytes and 12 ms each.
    near(host.now - start, 200.0 * (20.0 * BYTE + 0.012) + 2.0 * (7.0 * BYTE + 0.012), 0.01);
    for id in [0, 1] {
        assert_eq!(host.ask(id, Order::PositionCount { motion }), Answer::Count(100));
        for position in 0..100 {
            let answer = host.ask(id, Order::ReadPosition { motion, position });
            assert_eq!(answer, Answer::Pose(position_at(position)));
        }
    }
    motion
}

/// Plays it on both boards: they start apart by one exchange, and end so.
fn play(host: &mut Host, motion: u8) {
    for id in [0, 1] {
        host.ask(id, Order::Move(pose(4, 90)));
    }
    host.wait(0.5);
    let start = host.now;
    for id in [0, 1] {
        assert_eq!(host.ask(id, Order::PlayMotion { motion }), Answer::Done);
    }
    // 5° and 99 times 10° at 200°/s.
    let expected = (5.0 + 990.0) / 200.0;
    let (mut changes, mut above) = (0, false);
    while host.now - start < expected + 0.1 {
        host.wait(0.001);
        let beyond = host.shafts(0)[0] - 90.0;
        if (above && beyond < -3.0) || (!above && beyond > 3.0) {
            (changes, above) = (changes + 1, !above);
        }
    }
    assert_eq!(changes, 100, "every position is reached");
    for board in [0, 1] {
        for place in host.shafts(board) {
            near(place, 85.0, 0.2);
        }
    }
    host.ask(0, Order::PlayMotion { motion });
    host.wait(expected / 2.0);
    host.ask(0, Order::Move(pose(0, 90)));
    host.wait(0.5);
    near(host.shafts(0)[0], 90.0, 0.2);
}
