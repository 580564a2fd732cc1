//! The program of one servo.

use super::Member;
use super::memory::{Memory, Write};
use super::motion::{self, Turns};
use crate::codec::dynamixel::{
    Access, BAUD_RATES, Block, ErrorNumber, Instruction, Keep, Mode, RETURN_DELAY_UNIT, Register,
    Values, WATCHDOG_UNIT, register as r,
};
use crate::emulator::servo::{Alarm, Servo, Trouble};

/// How long a servo is deaf when it starts again. [s]
const START_TIME: f64 = 0.2;
/// Value of the watchdog once it has tripped.
const TRIPPED: i32 = 255;
/// Most counts of a position over many turns.
const MOST_TURNS: i32 = 1_048_575;
/// Bit of the drive mode: a goal switches torque on.
const TORQUE_BY_GOAL: i32 = 0b1000;
/// Bit of the startup configuration: torque is on from the start.
const TORQUE_AT_START: i32 = 0b01;
/// Bits of the hardware error status, and the alarms that set them.
const ERRORS: [(i32, Alarm); 4] = [
    (1 << 0, Alarm::Voltage),
    (1 << 2, Alarm::Heat),
    (1 << 3, Alarm::Sensor),
    (1 << 5, Alarm::Overload),
];

/// Control table and program of a servo; its electromechanics are a [`Servo`] beside it.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) memory: Memory,
    turns: Turns,
    registered: Option<(u16, Vec<u8>)>,
    backup: Option<Vec<u8>>,
    /// Hardware errors that switched torque off.
    shutdown: i32,
    /// When the last request was on the line. [s]
    last_request: f64,
    deaf_until: f64,
}

impl Program {
    /// A servo with all values of the factory but its id and its baud rate [bit/s], and its electromechanics.
    pub(super) fn new(member: Member, baud: u32) -> (Self, Servo) {
        let mut memory = Memory::new(member.model);
        memory.set(r::ID, member.id.into());
        let code = member.model.baud_rates().iter().position(|rate| *rate == baud);
        if let Some(code) = code.and_then(|code| i32::try_from(code).ok()) {
            memory.set(r::BAUD_RATE, code);
        }
        let mut servo = Servo::new(member.id, motion::rating(&memory));
        let mut program = Self {
            memory,
            turns: Turns::default(),
            registered: None,
            backup: None,
            shutdown: 0,
            last_request: 0.0,
            deaf_until: f64::NEG_INFINITY,
        };
        program.start(&mut servo);
        (program, servo)
    }

    pub(super) fn id(&self) -> u8 {
        self.memory.get(r::ID).to_le_bytes()[0]
    }

    /// Whether an id is its second one, to which it does not answer.
    pub(super) fn is_shadow(&self, id: u8) -> bool {
        id <= 252 && self.memory.get(r::SECONDARY_ID) == i32::from(id)
    }

    /// Baud rate with which it listens. [bit/s]
    pub(super) fn baud(&self) -> u32 {
        let code = usize::try_from(self.memory.get(r::BAUD_RATE)).unwrap_or_default();
        BAUD_RATES.get(code).copied().unwrap_or(BAUD_RATES[1])
    }

    /// Time before its answers. [s]
    pub(super) fn delay(&self) -> f64 {
        f64::from(self.memory.get(r::RETURN_DELAY_TIME)) * RETURN_DELAY_UNIT
    }

    /// Which answers it gives: 0 to pings, 1 to reads too, 2 to all.
    pub(super) fn status_level(&self) -> i32 {
        self.memory.get(r::STATUS_RETURN_LEVEL)
    }

    /// Whether its hardware error status is not 0.
    pub(super) fn alert(&self) -> bool {
        self.memory.get(r::HARDWARE_ERROR_STATUS) != 0
    }

    /// Whether it hears and answers at a time [s].
    pub(super) fn is_there(&self, servo: &Servo, now: f64) -> bool {
        now >= self.deaf_until && !servo.has(Trouble::Gone)
    }

    /// Notes that a request, for whomever, is on the line at a time [s].
    pub(super) fn notice(&mut self, now: f64) {
        self.last_request = now;
    }

    /// Appends what is read at a time [s] to `out`.
    pub(super) fn read(
        &mut self,
        block: Block,
        servo: &Servo,
        now: f64,
        out: &mut Vec<u8>,
    ) -> Result<(), ErrorNumber> {
        motion::feel(&mut self.memory, self.turns, servo, now);
        self.memory.read(block, out)
    }

    /// Does what time brings until `now` [s].
    pub(super) fn advance(&mut self, servo: &mut Servo, now: f64) {
        if self.memory.get(r::TORQUE_ENABLE) == 1 && !servo.torque_on {
            self.memory.set(r::TORQUE_ENABLE, 0);
        }
        let raised = ERRORS.iter().filter(|(_, alarm)| servo.is_raised(*alarm));
        let errors = raised.fold(0, |bits, (bit, _)| bits | bit);
        self.shutdown |= errors & self.memory.get(r::SHUTDOWN);
        self.memory.set(r::HARDWARE_ERROR_STATUS, errors | self.shutdown);
        if self.shutdown != 0 {
            self.set_torque(servo, false);
        }
        let watchdog = self.memory.get(r::BUS_WATCHDOG);
        let is_watching = (1..TRIPPED).contains(&watchdog) && servo.torque_on;
        if is_watching && now - self.last_request > f64::from(watchdog) * WATCHDOG_UNIT {
            self.memory.set(r::BUS_WATCHDOG, TRIPPED);
            self.memory.set(r::PROFILE_ACCELERATION, 0);
            self.memory.set(r::PROFILE_VELOCITY, 0);
            self.stop(servo);
        }
    }

    /// Does an instruction that is for one servo and reads nothing.
    pub(super) fn obey(
        &mut self,
        instruction: Instruction<'_>,
        servo: &mut Servo,
        now: f64,
    ) -> Result<(), ErrorNumber> {
        let is_on = self.memory.get(r::TORQUE_ENABLE) == 1;
        match instruction {
            Instruction::Write { address, data } => self.write(address, data, servo),
            Instruction::RegWrite { address, data } => {
                self.check(address, data)?;
                self.registered = Some((address, data.to_vec()));
                self.memory.set(r::REGISTERED_INSTRUCTION, 1);
                Ok(())
            }
            Instruction::Action => {
                let (address, data) = self.registered.take().ok_or(ErrorNumber::Instruction)?;
                self.memory.set(r::REGISTERED_INSTRUCTION, 0);
                self.write(address, &data, servo)
            }
            Instruction::Reboot => {
                self.restart(servo, now);
                Ok(())
            }
            Instruction::FactoryReset(keep) => {
                self.factory_reset(keep);
                self.restart(servo, now);
                Ok(())
            }
            Instruction::ClearTurns if servo.velocity != 0.0 => Err(ErrorNumber::Result),
            Instruction::ClearTurns => {
                self.turns.forget(servo.position);
                self.stop(servo);
                Ok(())
            }
            Instruction::Store | Instruction::Restore if is_on => Err(ErrorNumber::Result),
            Instruction::Store => {
                self.backup = Some(self.memory.copy());
                self.memory.set(r::BACKUP_READY, 1);
                Ok(())
            }
            Instruction::Restore => {
                let backup = self.backup.as_ref().ok_or(ErrorNumber::Result)?;
                self.memory.restore(backup, |register| is_kept(register) || is_gain(register));
                self.restart(servo, now);
                Ok(())
            }
            _ => Err(ErrorNumber::Instruction),
        }
    }

    fn factory_reset(&mut self, keep: Keep) {
        let kept = |register: &Register| match keep {
            Keep::Nothing => false,
            Keep::Id => register.address == r::ID.address,
            Keep::IdAndBaud => [r::ID, r::BAUD_RATE].iter().any(|r| r.address == register.address),
        };
        self.memory.reset(|register| is_kept(register) && !kept(register));
    }

    /// Starts again, deaf for a while from `now` [s] on.
    fn restart(&mut self, servo: &mut Servo, now: f64) {
        self.deaf_until = now + START_TIME;
        self.start(servo);
    }

    /// What power-up does: RAM as it is at first, errors and turns forgotten.
    fn start(&mut self, servo: &mut Servo) {
        self.memory.reset(|register| !is_kept(register));
        self.memory.reset_indirect();
        self.memory.set(r::BACKUP_READY, self.backup.is_some().into());
        self.registered = None;
        self.memory.set(r::REGISTERED_INSTRUCTION, 0);
        self.shutdown = 0;
        servo.clear_overload();
        servo.id = self.id();
        self.turns.forget(servo.position);
        self.reset_goals();
        self.stop(servo);
        let starts_driven = self.memory.get(r::STARTUP_CONFIGURATION) & TORQUE_AT_START != 0;
        self.set_torque(servo, starts_driven);
    }

    /// Goals that are limits in most modes.
    fn reset_goals(&mut self) {
        for (goal, limit) in [(r::GOAL_PWM, r::PWM_LIMIT), (r::GOAL_CURRENT, r::CURRENT_LIMIT)] {
            if self.memory.has(goal) {
                self.memory.set(goal, self.memory.get(limit));
            }
        }
        self.memory.set(r::PROFILE_ACCELERATION, 0);
        self.memory.set(r::PROFILE_VELOCITY, 0);
    }

    /// Makes the place where it is its goal.
    fn stop(&mut self, servo: &mut Servo) {
        self.memory.set(r::GOAL_POSITION, self.turns.position(&self.memory, servo.position));
        self.memory.set(r::GOAL_VELOCITY, 0);
        match motion::mode(&self.memory) {
            Mode::Pwm => self.memory.set(r::GOAL_PWM, 0),
            Mode::Current => self.memory.set(r::GOAL_CURRENT, 0),
            _ => {}
        }
        motion::drive(&self.memory, self.turns, servo);
    }

    fn set_torque(&mut self, servo: &mut Servo, on: bool) {
        self.memory.set(r::TORQUE_ENABLE, on.into());
        if on && !servo.torque_on && motion::mode(&self.memory) == Mode::Position {
            self.turns.forget(servo.position);
        }
        motion::drive(&self.memory, self.turns, servo);
    }

    fn write(&mut self, address: u16, data: &[u8], servo: &mut Servo) -> Result<(), ErrorNumber> {
        self.check(address, data)?;
        let (mut address, mut data) = (address, data);
        while let Some(write) = self.memory.writes(address, data).next().transpose()? {
            self.memory.store(&write);
            self.follow(&write, servo);
            address += u16::from(write.register.size);
            data = &data[write.data.len()..];
        }
        Ok(())
    }

    /// Whether all of a write is allowed: nothing is written otherwise.
    fn check(&self, address: u16, data: &[u8]) -> Result<(), ErrorNumber> {
        self.memory.writes(address, data).try_for_each(|write| self.check_register(&write?))
    }

    fn check_register(&self, write: &Write<'_>) -> Result<(), ErrorNumber> {
        let (register, value) = (write.register, write.value());
        let is_on = self.memory.get(r::TORQUE_ENABLE) == 1;
        if register.access == Access::Read || (register.is_setting() && is_on) {
            return Err(ErrorNumber::Access);
        }
        let is_tripped = self.memory.get(r::BUS_WATCHDOG) == TRIPPED;
        let is_watchdog = register.address == r::BUS_WATCHDOG.address;
        if is_tripped && (is_goal(&register) || (is_watchdog && value != 0)) {
            return Err(ErrorNumber::Range);
        }
        let is_in_range = match register.values {
            Values::Between { least, most } => (least..=most).contains(&value),
            Values::OneOf(values) => values.contains(&value),
            Values::Bits(bits) => value & !bits == 0,
            Values::Any | Values::UpTo(_) | Values::Position => true,
        };
        if !is_in_range {
            return Err(ErrorNumber::Range);
        }
        let limits = match register.values {
            Values::UpTo(address) => {
                let limit = self.memory.model.register(address).map(|limit| self.memory.get(limit));
                limit.map(|most| -most..=most)
            }
            Values::Position => self.position_limits(),
            _ => None,
        };
        let is_in_limits = limits.is_none_or(|limits| limits.contains(&value));
        is_in_limits.then_some(()).ok_or(ErrorNumber::Limit)
    }

    fn position_limits(&self) -> Option<std::ops::RangeInclusive<i32>> {
        match motion::mode(&self.memory) {
            Mode::Position => {
                let limit = |register| self.memory.get(register);
                Some(limit(r::MIN_POSITION_LIMIT)..=limit(r::MAX_POSITION_LIMIT))
            }
            Mode::ExtendedPosition | Mode::CurrentBasedPosition => Some(-MOST_TURNS..=MOST_TURNS),
            _ => None,
        }
    }

    /// What a write to a register brings about.
    fn follow(&mut self, write: &Write<'_>, servo: &mut Servo) {
        let register = write.register;
        let is = |other: Register| register.address == other.address;
        if is(r::ID) {
            servo.id = self.id();
        } else if is(r::OPERATING_MODE) {
            self.memory.reset(is_gain);
            self.reset_goals();
            if motion::mode(&self.memory) == Mode::Position {
                self.turns.forget(servo.position);
            }
            self.stop(servo);
        } else if is(r::DRIVE_MODE) || is(r::HOMING_OFFSET) {
            self.stop(servo);
        } else if is(r::TORQUE_ENABLE) {
            self.set_torque(servo, write.value() == 1 && self.shutdown == 0);
        } else if is_goal(&register) {
            let by_goal = self.memory.get(r::DRIVE_MODE) & TORQUE_BY_GOAL != 0;
            if by_goal && self.shutdown == 0 {
                self.memory.set(r::TORQUE_ENABLE, 1);
            }
            motion::drive(&self.memory, self.turns, servo);
        } else if register.is_setting() {
            motion::drive(&self.memory, self.turns, servo);
        }
    }
}

fn is_goal(register: &Register) -> bool {
    let goals = [r::GOAL_PWM, r::GOAL_CURRENT, r::GOAL_VELOCITY, r::GOAL_POSITION];
    goals.iter().any(|goal| goal.address == register.address)
}

/// Whether a register keeps its value without power.
fn is_kept(register: &Register) -> bool {
    register.is_setting()
}

fn is_gain(register: &Register) -> bool {
    (r::VELOCITY_I_GAIN.address..r::BUS_WATCHDOG.address).contains(&register.address)
}
