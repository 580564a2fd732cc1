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

/// When an answer is no longer waited for, and what is sent next has its turn. An adapter or a machine that is busy elsewhere may take
/// longer than a cycle.
const LATEST: Duration = Duration::from_millis(60);

/// A board that was asked, and when.
#[derive(Debug, Clone, Copy)]
struct Late {
    board: usize,
    sent: Instant,
}

/// The boards on their line.
#[derive(Debug)]
pub(super) struct Rcb1 {
    decoder: AnswerDecoder,
    /// What each board was sent last. A channel without a servo of ours keeps what it has.
    poses: [Pose; BOARDS],
    /// Whether a board has a servo of ours.
    is_used: [bool; BOARDS],
    /// What is sent next: a move to each board, then a reading.
    step: usize,
    /// The board that is read next.
    turn: usize,
    /// A request whose answer has not come yet.
    late: Option<Late>,
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
            step: 0,
            turn: 1,
            late: None,
        }
    }

    /// Waits for an answer that is late, within a cycle: requests that are sent across it would be answered late, too. Whether the line
    /// is free.
    fn catch_up(
        &mut self,
        link: &mut Link,
        servos: &mut [Servo],
        by: Instant,
    ) -> Result<bool, PortError> {
        let Some(Late { board, sent }) = self.late else { return Ok(true) };
        let given_up = sent + LATEST;
        let answer = link.answer(by.min(given_up), |byte| self.decoder.push(byte)?.ok())?;
        if answer.is_none() && link.now() < given_up {
            return Ok(false);
        }
        Self::take(answer, board, servos);
        self.late = None;
        self.go_on(board);
        Ok(true)
    }

    /// Takes the positions of an answer, if it has some.
    fn take(answer: Option<Answer>, board: usize, servos: &mut [Servo]) {
        if let Some(Answer::Channels(channels)) = answer {
            take_positions(&channels, board, servos);
        }
    }

    /// Turns to what is sent after a request to a board.
    fn go_on(&mut self, board: usize) {
        if self.step == BOARDS {
            self.turn = (board + 1) % BOARDS;
        }
        self.step = (self.step + 1) % (BOARDS + 1);
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
        self.late = None;
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
        let mut poses = self.poses;
        let mut is_moved = [false; BOARDS];
        let mut is_there = [false; BOARDS];
        for servo in servos.iter() {
            let (board, channel) = place(servo.id);
            is_there[board] |= servo.is_present;
            if servo.is_engaged {
                poses[board].channels[channel] = degrees(servo.goal);
                is_moved[board] = true;
            }
        }
        for (pose, sent) in poses.iter_mut().zip(&self.poses) {
            pose.speed = gentlest(longest_move(sent, pose) / self.period);
        }
        if !self.catch_up(link, servos, by)? {
            return Ok(());
        }
        for _ in 0..=BOARDS {
            let order = if self.step < BOARDS {
                is_moved[self.step].then(|| (self.step, Order::Move(poses[self.step])))
            } else {
                let mut boards = (0..BOARDS).map(|k| (self.turn + k) % BOARDS);
                boards.find(|board| is_there[*board]).map(|board| (board, Order::Positions))
            };
            if let Some((board, order)) = order {
                if let Order::Move(pose) = order {
                    self.poses[board] = pose;
                }
                let sent = link.now();
                let answer = self.ask_once(link, board, order, by)?;
                if answer.is_none() {
                    self.late = Some(Late { board, sent });
                    return Ok(());
                }
                Self::take(answer, board, servos);
                self.go_on(board);
            } else {
                self.go_on(self.turn);
            }
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
