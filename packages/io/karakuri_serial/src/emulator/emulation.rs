//! A bus on its wire: bytes at their pace in both directions, servos moved in small steps, and faults. Time is an argument.

use std::collections::VecDeque;
use std::fmt;

use super::device::{Answer, Answers, Bus};
use super::event::Event;
use super::fault::Fault;
use super::goal_steps::GoalSteps;
use super::servo::{Alarm, Object, Plant, Root, Servo, move_servos};

/// Step in which servos move. [s]
const STEP: f64 = 1e-3;
/// A pause of the machine that is longer is skipped, not made up for. [s]
const LARGEST_LAG: f64 = 0.5;

/// A bus on its wire.
///
/// ```text
/// host --hear()--> bytes under way --receive()--> bus --answers--> frame under way --advance()--> host
/// ```
pub struct Emulation {
    bus: Box<dyn Bus>,
    plant: Box<dyn Plant>,
    faults: Vec<Fault>,
    answers: Answers,
    /// Bytes of the host under way.
    heard: VecDeque<Heard>,
    /// When the last of them has arrived. [s]
    heard_until: f64,
    sending: Option<Sending>,
    /// When the last frame had left. [s]
    sent_until: f64,
    /// Until when servos have moved. [s]
    moved_until: f64,
    /// Baud rate that the host has opened the port with. [bit/s]
    host_baud: u32,
    /// Baud rates of host and devices that were reported as different. [bit/s]
    reported: Option<[u32; 2]>,
    devices_baud: u32,
    /// Per servo, a bit for each alarm.
    alarms: Vec<u8>,
    goal_steps: GoalSteps,
    events: Vec<Event>,
    random: u64,
}

#[derive(Debug, Clone, Copy)]
struct Heard {
    /// When its last bit is there. [s]
    time: f64,
    byte: u8,
    /// Baud rate at which it was sent. [bit/s]
    baud: u32,
}

#[derive(Debug)]
struct Sending {
    answer: Answer,
    /// Time of its first bit. [s]
    start: f64,
    n_sent: usize,
    /// After how many bytes the port is pulled out.
    cut: Option<usize>,
}

impl Sending {
    /// When so many of its bytes are there. [s]
    fn time_of(&self, n_bytes: usize) -> f64 {
        self.start + n_bytes as f64 * self.answer.line.byte_time()
    }
}

/// What became of the port.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PortState {
    /// It is there.
    Open,
    /// It was pulled out for a time.
    PulledOut {
        /// For how long. [s]
        away_s: f64,
    },
}

impl Emulation {
    /// Puts a bus on a wire, its servos on a plant.
    pub fn new(bus: Box<dyn Bus>, plant: Box<dyn Plant>) -> Self {
        let line = bus.line();
        Self {
            answers: Answers::new(line),
            alarms: vec![0; bus.servos().len()],
            goal_steps: GoalSteps::new(bus.servos().len()),
            devices_baud: line.baud,
            host_baud: line.baud,
            bus,
            plant,
            faults: Vec::new(),
            heard: VecDeque::new(),
            heard_until: f64::NEG_INFINITY,
            sending: None,
            sent_until: f64::NEG_INFINITY,
            moved_until: f64::NEG_INFINITY,
            reported: None,
            events: Vec::new(),
            random: 0x9E37_79B9_7F4A_7C15,
        }
    }

    /// Servos on the bus.
    pub fn servos(&self) -> &[Servo] {
        self.bus.servos()
    }

    /// Root link of the robot that they move, if they move one.
    pub(crate) fn root(&self) -> Option<Root> {
        self.plant.root()
    }

    pub(crate) fn objects(&self) -> Vec<Object> {
        self.plant.objects()
    }

    /// Why the servos cannot be moved on; none as long as they can.
    pub fn failure(&self) -> Option<String> {
        self.plant.failure()
    }

    /// Puts the shaft of a servo, and what its board believes of it, at a position [rad].
    pub fn place(&mut self, servo: usize, position: f64) {
        self.bus.place(servo, position);
    }

    /// The same, to be turned by hand.
    pub(crate) fn servos_mut(&mut self) -> &mut [Servo] {
        self.bus.servos_mut()
    }

    /// Largest step between two goals that each servo has accepted while its torque was on. [rad]
    pub(crate) fn largest_goal_steps(&self) -> impl Iterator<Item = f64> + '_ {
        self.goal_steps.largest()
    }

    /// Faults that are on.
    pub(crate) fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// How the devices listen. [bit/s]
    pub(crate) fn baud(&self) -> u32 {
        self.bus.line().baud
    }

    /// What has happened since the last call.
    pub(crate) fn events(&mut self) -> std::vec::Drain<'_, Event> {
        self.events.drain(..)
    }

    /// Switches a fault on; one of the same kind on the same servo is replaced.
    pub fn switch_on(&mut self, fault: Fault) {
        self.switch_off(&|other| other.strikes_the_same_as(&fault));
        fault.apply(self.bus.servos_mut(), true);
        self.faults.push(fault);
        self.events.push(Event::FaultOn(fault));
    }

    /// Switches off the faults that `which` picks; the number of them.
    pub(crate) fn switch_off(&mut self, which: &dyn Fn(&Fault) -> bool) -> usize {
        let (off, on): (Vec<_>, Vec<_>) = self.faults.drain(..).partition(|fault| which(fault));
        self.faults = on;
        for fault in &off {
            fault.apply(self.bus.servos_mut(), false);
            self.events.push(Event::FaultOff(*fault));
        }
        // What another fault does to the same servo stays.
        for fault in &self.faults {
            fault.apply(self.bus.servos_mut(), true);
        }
        off.len()
    }

    /// Takes what the host has written at `now` [s], at its `baud` [bit/s].
    pub fn hear(&mut self, bytes: &[u8], baud: u32, now: f64) {
        self.bus.attune(baud);
        let mut line = self.bus.line();
        let devices = if self.faults.contains(&Fault::WrongBaud) { 0 } else { line.baud };
        self.host_baud = baud;
        if baud != line.baud && self.reported != Some([baud, line.baud]) && !bytes.is_empty() {
            self.reported = Some([baud, line.baud]);
            self.events.push(Event::WrongBaud { host: baud, devices: line.baud });
        }
        line.baud = baud.max(1);
        for byte in bytes {
            let time = self.heard_until.max(now) + line.byte_time();
            self.heard_until = time;
            let baud = if devices == 0 { 0 } else { baud };
            self.heard.push_back(Heard { time, byte: *byte, baud });
        }
    }

    /// Forgets what is on the wire, as closing a port does.
    pub(crate) fn hang_up(&mut self) {
        self.heard.clear();
        self.answers.clear();
        self.sending = None;
        (self.heard_until, self.sent_until) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        self.reported = None;
    }

    /// Goes on until `now` [s]; appends the bytes that reach the host by then.
    pub fn advance(&mut self, now: f64, to_host: &mut Vec<u8>) -> PortState {
        if now - self.moved_until > LARGEST_LAG {
            self.moved_until = now;
        }
        loop {
            let step = self.moved_until + STEP;
            let heard = self.heard.front().map_or(f64::INFINITY, |heard| heard.time);
            let time = step.min(heard).min(self.next_byte().unwrap_or(f64::INFINITY));
            if time > now {
                self.report();
                return PortState::Open;
            }
            if heard <= time {
                self.take_byte(to_host);
            } else if step <= time {
                self.moved_until = step;
                self.answers.set_line(self.bus.line());
                self.bus.advance(step, &mut self.answers);
                self.goal_steps.look(self.bus.servos());
                move_servos(self.bus.servos_mut(), &mut *self.plant, STEP);
            } else if let Some(away_s) = self.send_byte(time, to_host) {
                self.report();
                self.hang_up();
                return PortState::PulledOut { away_s };
            }
        }
    }

    /// Time of the next thing that the host can notice. [s]
    pub fn next_time(&self) -> Option<f64> {
        let last = self.heard.back().map(|heard| heard.time);
        let sent = match &self.sending {
            Some(sending) => Some(sending.time_of(sending.answer.bytes.len())),
            None => self.next_byte(),
        };
        [last, sent].into_iter().flatten().reduce(f64::min)
    }

    /// A byte of the host arrives.
    fn take_byte(&mut self, to_host: &mut Vec<u8>) {
        let Some(heard) = self.heard.pop_front() else { return };
        if self.bus.echoes() || self.faults.contains(&Fault::Echo) {
            to_host.push(heard.byte);
        }
        let line = self.bus.line();
        if heard.baud == line.baud {
            self.reported = None;
            // The answer leaves with the line of its request, even if that changes the line.
            self.answers.set_line(line);
            self.bus.receive(heard.byte, heard.time, &mut self.answers);
            self.goal_steps.look(self.bus.servos());
        }
    }

    /// When the next byte of an answer is there, or the next answer starts. [s]
    fn next_byte(&self) -> Option<f64> {
        match &self.sending {
            Some(sending) => Some(sending.time_of(sending.n_sent + 1)),
            None => self.answers.next_time().map(|time| (time + self.delay()).max(self.sent_until)),
        }
    }

    /// Starts an answer or sends a byte of one; how long the port is away, if it was pulled out. [s]
    fn send_byte(&mut self, time: f64, to_host: &mut Vec<u8>) -> Option<f64> {
        let Some(sending) = &mut self.sending else {
            self.start_answer(time);
            return None;
        };
        if sending.answer.line.baud == self.host_baud {
            to_host.push(sending.answer.bytes[sending.n_sent]);
        }
        sending.n_sent += 1;
        if sending.cut.is_some_and(|cut| sending.n_sent >= cut) {
            return self.pull_out();
        }
        if sending.n_sent == sending.answer.bytes.len()
            && let Some(sent) = self.sending.take()
        {
            self.sent_until = time;
            self.answers.recycle(sent.answer);
        }
        None
    }

    /// Takes the next answer and lets the faults have it.
    fn start_answer(&mut self, time: f64) {
        let Some(mut answer) = self.answers.take(time) else { return };
        if answer.bytes.is_empty() || self.strikes(|fault| matches!(fault, Fault::Drop { .. })) {
            self.answers.recycle(answer);
            return;
        }
        if self.strikes(|fault| matches!(fault, Fault::BadChecksum { .. }))
            && let Some(last) = answer.bytes.last_mut()
        {
            *last ^= 0x55;
        }
        if self.strikes(|fault| matches!(fault, Fault::Noise { .. })) {
            answer.bytes.splice(0..0, [0x00, 0xFF, 0x5A]);
        }
        let cut = self.faults.iter().any(|fault| matches!(fault, Fault::Closed { .. }));
        let cut = cut.then(|| answer.bytes.len().div_ceil(2));
        self.sending = Some(Sending { answer, start: time, n_sent: 0, cut });
    }

    /// Whether a fault is on and strikes this time.
    fn strikes(&mut self, is_it: impl Fn(&Fault) -> bool) -> bool {
        let share = match self.faults.iter().find(|fault| is_it(fault)) {
            Some(Fault::Drop { share } | Fault::BadChecksum { share } | Fault::Noise { share }) => {
                *share
            }
            _ => return false,
        };
        // Marsaglia's xorshift64: the same answers are struck in every run.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let drawn = (self.random >> 11) as f64 / (1_u64 << 53) as f64;
        drawn < share
    }

    /// By how much answers are late. [s]
    fn delay(&self) -> f64 {
        self.faults.iter().fold(0.0, |sum, fault| match fault {
            Fault::Delay { delay_ms } => sum + delay_ms * 1e-3,
            _ => sum,
        })
    }

    /// The port goes away once.
    fn pull_out(&mut self) -> Option<f64> {
        let place = self.faults.iter().position(|fault| matches!(fault, Fault::Closed { .. }))?;
        match self.faults.swap_remove(place) {
            Fault::Closed { away_s } => {
                self.events.push(Event::PulledOut { away_s });
                Some(away_s)
            }
            _ => None,
        }
    }

    /// Notes alarms and baud rates that have changed.
    fn report(&mut self) {
        let baud = self.baud();
        if baud != self.devices_baud {
            self.devices_baud = baud;
            self.events.push(Event::BaudChanged { baud });
        }
        for (servo, before) in self.bus.servos().iter().zip(&mut self.alarms) {
            for alarm in Alarm::ALL {
                let bit = 1 << alarm as u8;
                let is_raised = servo.is_raised(alarm);
                if is_raised == (*before & bit != 0) {
                    continue;
                }
                *before ^= bit;
                let id = servo.id;
                self.events.push(if is_raised {
                    Event::Raised { id, alarm }
                } else {
                    Event::Cleared { id, alarm }
                });
            }
        }
    }
}

impl fmt::Debug for Emulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let servos = self.bus.servos();
        f.debug_struct("Emulation")
            .field("faults", &self.faults)
            .field("servos", &servos)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
