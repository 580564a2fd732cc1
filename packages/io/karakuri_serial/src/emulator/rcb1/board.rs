//! One board: what it remembers, and how it moves its channels.
//!
//! Assumed: within a position all channels arrive together, the one with the longest move at the speed of the code, each in a straight
//! line; motions play their positions back to back, scenarios their motions; a move ends a motion under way. A board that sleeps
//! acknowledges moves and motions and does nothing, and so does one with motions switched off when it is to play.

use super::{Case, Servo};
use crate::codec::rcb1::{
    Answer, CHANNELS, Channel, KeyAssignment, MOTIONS, Order, POSITIONS, Pose, SCENARIO_LENGTH,
    SCENARIOS, Switches,
};

/// Byte at which a shaft is at its zero. [deg]
const CENTRE: f64 = 90.0;

/// Angle of the shaft at a position. [rad]
pub(super) fn shaft_from_degrees(degrees: f64) -> f64 {
    (degrees - CENTRE).to_radians()
}

/// One board.
#[derive(Debug)]
pub(super) struct Board {
    /// Its number on the line.
    pub(super) id: u8,
    case: Case,
    /// Its seconds in one of ours.
    rate: f64,
    /// Servo of each channel, if there is one.
    servos: [Option<usize>; CHANNELS],
    memory: Memory,
    switches: Switches,
    /// Channels that have torque when the board does not sleep.
    driven: [bool; CHANNELS],
    /// Where the move began. [deg] (12)
    from: [f64; CHANNELS],
    /// Where it ends. [deg] (12)
    to: [f64; CHANNELS],
    /// Where it is. [deg] (12)
    commanded: [f64; CHANNELS],
    /// When it began and ends, by the board's clock. [s]
    start: f64,
    end: f64,
    play: Option<Play>,
}

/// What stays without power.
#[derive(Debug)]
struct Memory {
    home: [Channel; CHANNELS],
    trims: [i8; CHANNELS],
    motions: Vec<List<Pose>>,
    scenarios: Vec<List<u8>>,
    /// Key assignments, by key.
    keys: Vec<KeyAssignment>,
}

/// Entries of which the first `count` are played.
#[derive(Debug, Clone)]
struct List<T> {
    count: u8,
    entries: Vec<T>,
}

/// Where a motion under way is.
#[derive(Debug, Clone, Copy)]
struct Play {
    motion: u8,
    /// Index of the next position.
    position: u8,
    /// The scenario that the motion is a part of, and the index of its next one.
    scenario: Option<Place>,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    scenario: u8,
    index: u8,
}

impl<T: Copy + Default> List<T> {
    fn new(most: u8) -> Self {
        Self { count: 0, entries: vec![T::default(); most.into()] }
    }

    fn set(&mut self, index: u8, value: T) {
        if let Some(entry) = self.entries.get_mut(usize::from(index)) {
            *entry = value;
        }
    }

    fn get(&self, index: u8) -> T {
        self.entries.get(usize::from(index)).copied().unwrap_or_default()
    }

    /// The entry, if it is played.
    fn played(&self, index: u8) -> Option<T> {
        (index < self.count).then(|| self.get(index))
    }
}

impl Board {
    /// A board at home, without servos.
    pub(super) fn new(id: u8, case: Case, rate: f64, home: [Channel; CHANNELS]) -> Self {
        let places = home.map(|channel| match channel {
            Channel::Degrees(degrees) => f64::from(degrees),
            _ => CENTRE,
        });
        Self {
            id,
            case,
            rate,
            servos: [None; CHANNELS],
            memory: Memory {
                home,
                trims: [0; CHANNELS],
                motions: vec![List::new(POSITIONS); MOTIONS.into()],
                scenarios: vec![List::new(SCENARIO_LENGTH); SCENARIOS.into()],
                keys: (0..=u8::MAX)
                    .map(|key| KeyAssignment { key, ..Default::default() })
                    .collect(),
            },
            switches: Switches::default(),
            driven: [false; CHANNELS],
            from: places,
            to: places,
            commanded: places,
            start: f64::NEG_INFINITY,
            end: f64::NEG_INFINITY,
            play: None,
        }
    }

    /// The same with servos at the channels that are fitted, the first of them at an index.
    pub(super) fn with(mut self, first: usize, fitted: [bool; CHANNELS]) -> Self {
        let mut next = first..;
        for (servo, is_fitted) in self.servos.iter_mut().zip(fitted) {
            *servo = if is_fitted { next.next() } else { None };
        }
        self
    }

    /// Lets the next move of a channel begin at an angle of its shaft [rad].
    pub(super) fn place(&mut self, channel: usize, position: f64) {
        let degrees = (position.to_degrees() + CENTRE).round();
        for place in [&mut self.from, &mut self.to, &mut self.commanded] {
            place[channel] = degrees;
        }
    }

    /// Moves the channels on until `now` [s].
    pub(super) fn advance(&mut self, now: f64, servos: &mut [Servo]) {
        let now = now * self.rate;
        while now >= self.end {
            self.commanded = self.to;
            let Some(pose) = self.next_pose() else { break };
            self.move_to(&pose, self.end);
        }
        if now < self.end {
            let share = (now - self.start) / (self.end - self.start);
            for channel in 0..CHANNELS {
                let (from, to) = (self.from[channel], self.to[channel]);
                self.commanded[channel] = from + share * (to - from);
            }
        }
        self.drive(servos);
    }

    /// Gives the servos their goals.
    pub(super) fn drive(&self, servos: &mut [Servo]) {
        for channel in 0..CHANNELS {
            let Some(servo) = self.servos[channel].and_then(|index| servos.get_mut(index)) else {
                continue;
            };
            servo.torque_on = self.driven[channel] && !self.switches.sleep;
            let trim = f64::from(self.memory.trims[channel]);
            servo.goal = shaft_from_degrees(self.commanded[channel] + trim);
        }
    }

    /// Does what a request asks for at `now` [s].
    pub(super) fn obey(&mut self, order: &Order, now: f64, servos: &[Servo]) -> Answer {
        match *order {
            Order::Move(pose) => {
                if !self.switches.sleep {
                    self.play = None;
                    self.move_to(&pose, now * self.rate);
                }
            }
            Order::Positions => return Answer::Channels(self.positions(servos)),
            Order::SetSwitches(switches) => self.set_switches(switches, now),
            Order::Switches => return Answer::Switches(self.switches),
            Order::PlayMotion { motion } => {
                let play = Play { motion, position: 0, scenario: None };
                self.start_playing(play, now);
            }
            Order::PlayScenario { scenario } => {
                if let Some(motion) = self.scenario(scenario).played(0) {
                    let scenario = Some(Place { scenario, index: 1 });
                    self.start_playing(Play { motion, position: 0, scenario }, now);
                }
            }
            Order::StoreHome => self.memory.home = self.positions(servos),
            _ => return self.memory.obey(order),
        }
        Answer::Done
    }

    fn set_switches(&mut self, switches: Switches, now: f64) {
        self.switches = switches;
        if switches.sleep || !switches.motion_enabled {
            self.play = None;
        }
        if switches.sleep {
            // What it wakes up to is the place where it fell asleep.
            (self.from, self.to) = (self.commanded, self.commanded);
            (self.start, self.end) = (now * self.rate, now * self.rate);
        }
    }

    fn start_playing(&mut self, play: Play, now: f64) {
        if self.switches.sleep || !self.switches.motion_enabled {
            return;
        }
        self.play = Some(play);
        if let Some(pose) = self.next_pose() {
            self.move_to(&pose, now * self.rate);
        }
    }

    /// The next position of the motion under way; none at its end.
    fn next_pose(&mut self) -> Option<Pose> {
        loop {
            let mut play = self.play?;
            let motion = self.memory.motions.get(usize::from(play.motion))?;
            if let Some(pose) = motion.played(play.position) {
                play.position += 1;
                self.play = Some(play);
                return Some(pose);
            }
            self.play = play.scenario.and_then(|place| {
                let motion = self.scenario(place.scenario).played(place.index)?;
                let scenario = Some(Place { index: place.index + 1, ..place });
                Some(Play { motion, position: 0, scenario })
            });
        }
    }

    fn scenario(&self, scenario: u8) -> &List<u8> {
        &self.memory.scenarios[usize::from(scenario.min(SCENARIOS - 1))]
    }

    /// Begins a move at `start` by the board's clock [s].
    fn move_to(&mut self, pose: &Pose, start: f64) {
        self.from = self.commanded;
        self.to = self.commanded;
        for (channel, target) in pose.channels.into_iter().enumerate() {
            match target {
                Channel::Degrees(degrees) => {
                    self.to[channel] = degrees.into();
                    self.driven[channel] = true;
                }
                Channel::Free if self.case == Case::Red => self.driven[channel] = false,
                // Outputs have no servo; sets of stiffness make no difference here.
                _ => {}
            }
        }
        let moves = self.from.iter().zip(self.to).map(|(from, to)| (to - from).abs());
        let longest = moves.fold(0.0, f64::max);
        self.start = start;
        self.end = start + longest.to_radians() / pose.speed.rad_per_s();
    }

    /// What the board says of its positions: red servos tell where they are, blue ones do not.
    fn positions(&self, servos: &[Servo]) -> [Channel; CHANNELS] {
        let mut positions = [Channel::Degrees(0); CHANNELS];
        for (channel, position) in positions.iter_mut().enumerate() {
            let servo = self.servos[channel].and_then(|index| servos.get(index));
            let degrees = match (self.case, servo) {
                (Case::Red, Some(servo)) => {
                    servo.position.to_degrees() + CENTRE - f64::from(self.memory.trims[channel])
                }
                _ => self.commanded[channel],
            };
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
            let degrees = degrees.round().clamp(0.0, 180.0) as u8;
            *position = Channel::Degrees(degrees);
        }
        positions
    }
}

impl Memory {
    /// Writes or reads what a request names.
    fn obey(&mut self, order: &Order) -> Answer {
        match *order {
            Order::Home => return Answer::Channels(self.home),
            Order::WritePosition { motion, position, pose } => {
                self.motion(motion).set(position, pose);
            }
            Order::ReadPosition { motion, position } => {
                return Answer::Pose(self.motion(motion).get(position));
            }
            Order::SetPositionCount { motion, count } => self.motion(motion).count = count,
            Order::PositionCount { motion } => return Answer::Count(self.motion(motion).count),
            Order::WriteScenario { scenario, index, motion } => {
                self.scenario(scenario).set(index, motion);
            }
            Order::ReadScenario { scenario, index } => {
                return Answer::Motion(self.scenario(scenario).get(index));
            }
            Order::SetScenarioLength { scenario, count } => self.scenario(scenario).count = count,
            Order::ScenarioLength { scenario } => {
                return Answer::Count(self.scenario(scenario).count);
            }
            Order::SetKey(assignment) => self.keys[usize::from(assignment.key)] = assignment,
            Order::Key { key } => return Answer::Key(self.keys[usize::from(key)]),
            Order::SetTrims(trims) => self.trims = trims,
            Order::Trims => return Answer::Trims(self.trims),
            _ => {}
        }
        Answer::Done
    }

    fn motion(&mut self, motion: u8) -> &mut List<Pose> {
        &mut self.motions[usize::from(motion.min(MOTIONS - 1))]
    }

    fn scenario(&mut self, scenario: u8) -> &mut List<u8> {
        &mut self.scenarios[usize::from(scenario.min(SCENARIOS - 1))]
    }
}
