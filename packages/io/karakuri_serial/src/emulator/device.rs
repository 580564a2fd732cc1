//! The border between what hangs on a line and what carries its bytes.

use std::collections::VecDeque;

use super::Servo;
pub(crate) use crate::line::Line;

/// Boards or servos on one line.
///
/// Time is an argument, from any origin and never falling: equal bytes at equal times give equal answers.
pub trait Bus: Send {
    /// How the devices listen now. Bytes that are sent otherwise are not heard.
    fn line(&self) -> Line;

    /// Whether the host hears its own bytes, as on one wire.
    fn echoes(&self) -> bool {
        false
    }

    /// The host sends at `baud` [bit/s] from now on. Devices that may listen with different rates on one line hear it if it is one of
    /// theirs; those of other buses listen as they do.
    fn attune(&mut self, _baud: u32) {}

    /// Take a byte whose last bit arrives at `now` [s]; queue what is answered.
    fn receive(&mut self, byte: u8, now: f64, answers: &mut Answers);

    /// Do what time alone brings until `now` [s]: interpolations, watchdogs, frames that broke off. Called at least once a
    /// millisecond, before the servos are moved.
    fn advance(&mut self, now: f64, answers: &mut Answers);

    /// Servos on the line, in a fixed order.
    fn servos(&self) -> &[Servo];

    /// The same, to be moved and disturbed.
    fn servos_mut(&mut self) -> &mut [Servo];

    /// Put the shaft of a servo at a position [rad], as it was before the power came.
    fn place(&mut self, servo: usize, position: f64) {
        if let Some(servo) = self.servos_mut().get_mut(servo) {
            servo.place(position);
        }
    }
}

/// Frames that wait to be sent by the devices, in the order of their times.
#[derive(Debug)]
pub struct Answers {
    line: Line,
    waiting: VecDeque<Answer>,
    spare: Vec<Vec<u8>>,
}

/// A frame that a device sends.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Earliest time of its first bit. [s]
    pub(crate) not_before: f64,
    /// How it is sent, whatever the devices listen with by then.
    pub(crate) line: Line,
    pub(crate) bytes: Vec<u8>,
}

impl Answers {
    /// An empty queue of frames that are sent by `line`.
    pub fn new(line: Line) -> Self {
        Self { line, waiting: VecDeque::new(), spare: Vec::new() }
    }

    /// Send frames by `line` from now on; those that wait keep theirs.
    pub(crate) fn set_line(&mut self, line: Line) {
        self.line = line;
    }

    /// Queue a frame that starts at `not_before` [s] or as soon as the wire is free after it.
    pub fn send(&mut self, not_before: f64, bytes: &[u8]) {
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(bytes);
        let place = self.waiting.partition_point(|answer| answer.not_before <= not_before);
        self.waiting.insert(place, Answer { not_before, line: self.line, bytes: buffer });
    }

    /// Earliest time of the next frame. [s]
    pub(crate) fn next_time(&self) -> Option<f64> {
        self.waiting.front().map(|answer| answer.not_before)
    }

    /// The next frame whose time has come by `now` [s].
    pub(crate) fn take(&mut self, now: f64) -> Option<Answer> {
        self.next_time().filter(|time| *time <= now)?;
        self.waiting.pop_front()
    }

    /// Give a frame's buffer back, so that the next one needs no new memory.
    pub(crate) fn recycle(&mut self, answer: Answer) {
        self.spare.push(answer.bytes);
    }

    /// Forget what waits.
    pub(crate) fn clear(&mut self) {
        while let Some(answer) = self.waiting.pop_front() {
            self.recycle(answer);
        }
    }

    /// All frames, in the order in which they are sent, each with its earliest time [s].
    #[cfg(test)]
    pub(crate) fn drain(&mut self) -> Vec<(f64, Vec<u8>)> {
        self.waiting.drain(..).map(|answer| (answer.not_before, answer.bytes)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_leave_in_the_order_of_their_times() {
        let mut answers = Answers::new(Line::eight_n_one(115_200));
        answers.send(2.0, b"late");
        answers.send(1.0, b"first");
        answers.send(1.0, b"second");
        assert!(answers.take(0.5).is_none());
        assert_eq!(answers.next_time(), Some(1.0));
        assert_eq!(answers.take(1.0).unwrap().bytes, b"first");
        assert_eq!(answers.drain(), [(1.0, b"second".to_vec()), (2.0, b"late".to_vec())]);
    }

    #[test]
    fn a_frame_keeps_the_line_of_its_request() {
        let mut answers = Answers::new(Line::eight_n_one(115_200));
        answers.send(0.0, b"yes");
        answers.set_line(Line::eight_n_one(1_000_000));
        assert_eq!(answers.take(0.0).unwrap().line.baud, 115_200);
    }
}
