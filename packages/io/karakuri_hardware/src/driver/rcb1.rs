//! The two RCB-1 boards of a KHR-1.
//!
//! A servo's number is its channel, 1 to 12 on board 0 and 13 to 24 on board 1; its counts are the bytes of the protocol, whole degrees
//! from 0 to 180. A cycle sends both boards their positions and reads one of them in turn. The boards tell of no temperature, current
//! or fault. They keep their last positions when nobody sends any: there is no watchdog.

use std::time::{Duration, Instant};

use karakuri_serial::Line;
use karakuri_serial::codec::rcb1::{
    Answer, AnswerDecoder, BAUD, CHANNELS, Channel, MAX_SPEED, Order, Pose, Request, Speed,
    Switches,
};
use karakuri_serial::port::{PortError, Settings};

use super::bus::{HelloError, Servo, ServoBus};
use super::kind::{BusKind, Cost, ServoModel};
use super::link::Link;
use super::robot::ServoRobot;
use super::setup::HardwareFile;

/// RCB-1 boards in hardware files.
pub(super) const KIND: BusKind = BusKind {
    name: "rcb1",
    bauds: &[BAUD],
    ids: (1, 24),
    first_id: 1,
    most: 24,
    period: 0.040,
    models: &[ServoModel {
        name: "krs784",
        zero: 90.0,
        counts_per_radian: 180.0 / std::f64::consts::PI,
        range: (0, 180),
        limits_torque: false,
    }],
    line: Line::eight_n_one,
    // Two moves and a read, each answered within 5 ms.
    cost: Cost { bytes: 53, bytes_per_servo: 0, pause: 0.015, pause_per_servo: 0.0 },
    make: |file, layout, ports| Box::new(ServoRobot::new(file, Rcb1::new(file), layout, ports)),
};

const BOARDS: usize = 2;
/// Times that a board is asked before it counts as missing, as often as others do.
const TRIES: usize = 4;
/// Time that a board has for an answer within a cycle. [s] It takes 1 ms to 5 ms, adapter and system some more.
const PATIENCE: Duration = Duration::from_millis(12);

/// The boards on their line.
#[derive(Debug)]
pub(super) struct Rcb1 {
    decoder: AnswerDecoder,
    /// What each board was sent last. A channel without a servo of ours keeps what it has.
    poses: [Pose; BOARDS],
    /// Whether a board has a servo of ours.
    is_used: [bool; BOARDS],
    /// The board that is read next.
    turn: usize,
    /// Time between two moves. [s]
    period: f64,
}

impl Rcb1 {
    pub(super) fn new(file: &HardwareFile) -> Self {
        Self {
            period: file.period,
            decoder: AnswerDecoder::default(),
            poses: [Pose::default(); BOARDS],
            is_used: [false; BOARDS],
            turn: 0,
        }
    }

    /// Asks a board, a few times if need be.
    fn ask(
        &mut self,
        link: &mut Link,
        board: usize,
        order: Order,
    ) -> Result<Option<Answer>, PortError> {
        link.retry(TRIES, 32, |link, by| self.ask_once(link, board, order, by))
    }

    fn ask_once(
        &mut self,
        link: &mut Link,
        board: usize,
        order: Order,
        by: Instant,
    ) -> Result<Option<Answer>, PortError> {
        let request = Request::Board { id: u8::from(board == 1), order };
        self.decoder.expect(request);
        link.exchange(by, |out| request.encode(out), |byte| self.decoder.push(byte)?.ok())
    }

    /// Sends a board where its servos are to go.
    fn send_pose(&mut self, link: &mut Link, board: usize) -> Result<bool, PortError> {
        let order = Order::Move(self.poses[board]);
        Ok(self.ask(link, board, order)?.is_some())
    }
}

/// The longest way of a channel from one position to another. [rad]
fn longest_move(from: &Pose, to: &Pose) -> f64 {
    let degrees = |channel| match channel {
        Channel::Degrees(degrees) => Some(f64::from(degrees)),
        _ => None,
    };
    let channels = from.channels.into_iter().zip(to.channels);
    let ways = channels.filter_map(|(from, to)| Some((degrees(to)? - degrees(from)?).abs()));
    ways.fold(0.0, f64::max).to_radians()
}

/// The slowest speed that is as fast as `least` [rad/s], so that a move takes its period: at the fastest, joints would rush and wait by
/// turns. The fastest where none is.
fn gentlest(least: f64) -> Speed {
    let speeds = (0..=MAX_SPEED).rev().filter_map(|code| Speed::new(code).ok());
    speeds.into_iter().find(|speed| speed.rad_per_s() >= least).unwrap_or_default()
}

/// Board and channel of a servo, from 0.
fn place(id: u8) -> (usize, usize) {
    let channel = usize::from(id.saturating_sub(1));
    (channel / CHANNELS, channel % CHANNELS)
}

/// The position that a servo is sent to.
fn degrees(goal: i32) -> Channel {
    Channel::Degrees(u8::try_from(goal.clamp(0, 180)).unwrap_or_default())
}

/// Takes what a board says of its servos.
fn take_positions(channels: &[Channel; CHANNELS], board: usize, servos: &mut [Servo]) {
    for servo in servos {
        let (of_board, channel) = place(servo.id);
        if of_board == board {
            servo.reading.answered = true;
            if let Channel::Degrees(degrees) = channels[channel] {
                servo.reading.position = degrees.into();
            }
        }
    }
}

impl ServoBus for Rcb1 {
    fn port_settings(&self) -> Settings {
        // The board's own transmitter is fed from this line: raised, nothing is heard of it.
        Settings { line: Line::eight_n_one(BAUD), raises_dtr: false }
    }

    fn hello(&mut self, link: &mut Link, servos: &mut [Servo]) -> Result<(), HelloError> {
        for board in 0..BOARDS {
            self.poses[board] = Pose { speed: Speed::default(), ..Pose::default() };
            self.is_used[board] = servos.iter().any(|servo| place(servo.id).0 == board);
            if !self.is_used[board] {
                continue;
            }
            if let Some(Answer::Channels(channels)) = self.ask(link, board, Order::Positions)? {
                take_positions(&channels, board, servos);
            }
        }
        for servo in servos.iter().filter(|servo| servo.reading.answered) {
            // The first frame to a board switches all of its servos on: each where it is.
            let (board, channel) = place(servo.id);
            self.poses[board].channels[channel] = degrees(servo.reading.position);
        }
        Ok(())
    }

    fn look(&mut self, link: &mut Link, servo: &mut Servo) -> Result<bool, PortError> {
        let (board, _) = place(servo.id);
        let answer = self.ask(link, board, Order::Positions)?;
        if let Some(Answer::Channels(channels)) = answer {
            take_positions(&channels, board, std::slice::from_mut(servo));
        }
        Ok(answer.is_some())
    }

    fn engage(&mut self, link: &mut Link, servo: &Servo) -> Result<bool, PortError> {
        let (board, channel) = place(servo.id);
        self.poses[board].channels[channel] = degrees(servo.goal);
        let Some(Answer::Switches(switches)) = self.ask(link, board, Order::Switches)? else {
            return Ok(false);
        };
        if switches.sleep {
            self.ask(link, board, Order::SetSwitches(Switches::default()))?;
        }
        self.send_pose(link, board)
    }

    fn limp(&mut self, link: &mut Link, servo: &Servo) -> Result<(), PortError> {
        let (board, channel) = place(servo.id);
        self.poses[board].channels[channel] = Channel::Free;
        self.send_pose(link, board).map(drop)
    }

    fn limp_all(&mut self, link: &mut Link, _servos: &[Servo]) -> Result<(), PortError> {
        let sleep = Order::SetSwitches(Switches { sleep: true, ..Switches::default() });
        for board in (0..BOARDS).filter(|board| self.is_used[*board]).collect::<Vec<_>>() {
            self.ask(link, board, sleep)?;
        }
        Ok(())
    }

    fn exchange(
        &mut self,
        link: &mut Link,
        servos: &mut [Servo],
        by: Instant,
    ) -> Result<(), PortError> {
        let before = self.poses;
        for servo in servos.iter().filter(|servo| servo.is_engaged) {
            let (board, channel) = place(servo.id);
            self.poses[board].channels[channel] = degrees(servo.goal);
        }
        for (pose, before) in self.poses.iter_mut().zip(&before) {
            pose.speed = gentlest(longest_move(before, pose) / self.period);
        }
        for board in 0..BOARDS {
            let is_engaged = |servo: &Servo| servo.is_engaged && place(servo.id).0 == board;
            if servos.iter().any(is_engaged) {
                let by = by.min(link.now() + PATIENCE);
                self.ask_once(link, board, Order::Move(self.poses[board]), by)?;
            }
        }
        self.turn = (self.turn + 1) % BOARDS;
        if !self.is_used[self.turn] {
            self.turn = (self.turn + 1) % BOARDS;
        }
        let board = self.turn;
        let by = by.min(link.now() + PATIENCE);
        let answer = self.ask_once(link, board, Order::Positions, by)?;
        if let Some(Answer::Channels(channels)) = answer {
            take_positions(&channels, board, servos);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_as_slow_as_their_period_allows() {
        let pose = |degrees: [u8; 2]| {
            let mut pose = Pose::default();
            pose.channels[3] = Channel::Degrees(degrees[0]);
            pose.channels[9] = Channel::Degrees(degrees[1]);
            pose
        };
        let longest = longest_move(&pose([90, 10]), &pose([88, 15]));
        assert!((longest.to_degrees() - 5.0).abs() < 1e-9);
        // 5° in 33 ms are 150 °/s, in 34 ms a little less.
        assert_eq!(gentlest(longest / 0.033).code(), 4);
        assert_eq!(gentlest(longest / 0.034).code(), 5);
        assert_eq!(gentlest(0.0).code(), 7);
        assert_eq!(gentlest(10.0).code(), 0);
        let away = longest_move(&Pose::default(), &pose([88, 15]));
        assert!(away == 0.0, "a channel that had no place yet is switched on where it is");
    }
}
