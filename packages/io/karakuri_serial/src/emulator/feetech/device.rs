//! One servo's registers, and what they do.
//!
//! * Setting the goal position switches torque on: measured on an STS3215. Until a host sets a goal, it is where the servo is.
//! * Setting torque to 128 makes this place the middle by means of the offset. That the goal goes with it, so that nothing moves,
//!   is assumed.
//! * Position is the sensor's reading less the offset, within one turn; over several turns with phase bit 4.
//! * Registers that are kept without power ignore what is written to them while the lock is closed, without a word: measured.
//! * After an overload only the protective torque is left, and every answer says so, also that to switching the torque off. By the
//!   maker it ends with a goal to the other side; that it also ends when torque is switched on again is assumed.
//! * Heat and current switch the torque off, as the mask of the alarms says.
//! * A factory reset brings back id 1 and 1 Mbaud, as `feetech-cli` has it.
//!
//! Not played: direction bits of the phase, gains, dead zones, least force to start, and an SCS0009 that turns without end.

use crate::codec::feetech::{Access, Alarms, BAUDS, Model, Register, Request, Status, Unit, sts};
use crate::emulator::{Alarm, Mode, Servo};

/// Bytes of registers.
const MEMORY: usize = 128;
/// Value of the torque register that makes this place the middle.
const MAKE_MIDDLE: i32 = 0x80;
/// Bit of the phase register: the position counts turns.
const COUNTS_TURNS: i32 = 1 << 4;
/// Bit of the phase register: speeds are single steps a second, otherwise 50.
const FINE_SPEED: i32 = 1 << 2;
/// Speed from which on a servo says that it moves. [steps/s]
const MOVING: f64 = 50.0;

/// A servo's electronics.
#[derive(Debug)]
pub(super) struct Device {
    model: &'static Model,
    memory: [u8; MEMORY],
    /// A write that waits for its action: the address and the bytes; empty for none.
    pending: Vec<u8>,
    /// Whether a host set the goal; until then it is where the servo is.
    has_goal: bool,
    /// For how long the current has been too high. [s]
    overcurrent_for: f64,
    overcurrent: bool,
    /// Speed that the time of a move asks for, on models that know one. [rad/s]
    pace: Option<f64>,
}

impl Device {
    /// As it leaves the factory, but for the id of `servo`.
    pub(super) fn new(model: &'static Model, servo: &mut Servo) -> Self {
        let mut device = Self {
            model,
            memory: [0; MEMORY],
            pending: Vec::new(),
            has_goal: false,
            overcurrent_for: 0.0,
            overcurrent: false,
            pace: None,
        };
        let id = servo.id;
        device.reset(servo);
        device.set(&sts::ID, id.into());
        device.configure(servo);
        device
    }

    pub(super) fn model(&self) -> &'static Model {
        self.model
    }

    /// Baud rate that it listens and answers with. [Bd]
    pub(super) fn baud(&self) -> u32 {
        let code = usize::try_from(self.get(&sts::BAUD_RATE)).unwrap_or_default();
        BAUDS[code % BAUDS.len()]
    }

    /// Silence before its answers. [s]
    pub(super) fn answer_delay(&self) -> f64 {
        self.si(&sts::ANSWER_DELAY)
    }

    /// Does what a request to one servo asks, and appends the answer.
    pub(super) fn obey(&mut self, servo: &mut Servo, request: &Request<'_>, out: &mut Vec<u8>) {
        // An answer to a change of the id has the old one.
        let id = servo.id;
        let mut data: &[u8] = &[];
        let mut is_answered = self.get(&sts::ANSWER_LEVEL) != 0;
        match *request {
            Request::Ping { .. } => is_answered = true,
            Request::Read { address, size, .. } => {
                self.measure(servo);
                let start = usize::from(address).min(MEMORY);
                data = &self.memory[start..(start + usize::from(size)).min(MEMORY)];
                is_answered = true;
            }
            Request::Write { address, data, .. } => self.write(servo, address, data),
            Request::RegWrite { address, data, .. } => {
                self.pending.clear();
                self.pending.push(address);
                self.pending.extend_from_slice(data);
            }
            Request::Action { .. } => {
                let mut pending = std::mem::take(&mut self.pending);
                if let [address, data @ ..] = &pending[..] {
                    self.write(servo, *address, data);
                }
                pending.clear();
                self.pending = pending;
            }
            Request::FactoryReset { .. } => self.reset(servo),
            Request::SyncRead { .. } | Request::SyncWrite { .. } => is_answered = false,
        }
        if is_answered {
            let status = Status { id, alarms: self.alarms(servo), data };
            // More than a frame holds cannot be asked for: the registers end before that.
            let sent = status.encode(out);
            debug_assert_eq!(sent, Ok(()));
        }
    }

    /// Lets `dt` pass [s]: protection.
    pub(super) fn advance(&mut self, servo: &mut Servo, dt: f64) {
        let too_much = servo.is_raised(Alarm::Current);
        self.overcurrent_for = if too_much { self.overcurrent_for + dt } else { 0.0 };
        self.overcurrent |= too_much && self.overcurrent_for >= self.si(&sts::OVERCURRENT_TIME);
        let mask = self.mask(&sts::UNLOAD_MASK);
        let alarms = self.alarms(servo);
        let unloads = Alarms(alarms.0 & mask.0);
        if unloads.intersects(Alarms::HEAT | Alarms::CURRENT | Alarms::VOLTAGE | Alarms::SENSOR) {
            servo.torque_on = false;
        }
        servo.torque_limit = self.torque_limit();
        if unloads.intersects(Alarms::OVERLOAD) {
            servo.torque_limit = servo.torque_limit.min(self.si(&sts::PROTECTIVE_TORQUE));
        }
        if !self.has_goal {
            let here = self.present(servo);
            self.set(&sts::GOAL_POSITION, here);
        }
    }

    fn alarms(&self, servo: &Servo) -> Alarms {
        let mut alarms = Alarms::NONE;
        for (alarm, bit) in [
            (Alarm::Voltage, Alarms::VOLTAGE),
            (Alarm::Sensor, Alarms::SENSOR),
            (Alarm::Heat, Alarms::HEAT),
            (Alarm::Overload, Alarms::OVERLOAD),
        ] {
            if servo.is_raised(alarm) {
                alarms |= bit;
            }
        }
        if self.overcurrent {
            alarms |= Alarms::CURRENT;
        }
        alarms
    }

    /// Sets registers that may be set, and does what they say.
    fn write(&mut self, servo: &mut Servo, address: u8, data: &[u8]) {
        let is_open = self.get(&sts::LOCK) == 0;
        let range = usize::from(address)..usize::from(address) + data.len();
        let old_offset = self.get(&sts::OFFSET);
        for (place, byte) in range.clone().zip(data) {
            let register =
                self.model.registers.iter().find(|register| {
                    (usize::from(register.address)..register.end()).contains(&place)
                });
            let may_set = register.is_some_and(|register| {
                register.access == Access::ReadWrite && (is_open || !register.is_kept())
            });
            if may_set {
                self.memory[place] = *byte;
            }
        }
        let is_touched = |register: &Register| {
            let register = self.model.register(register.name);
            register.is_some_and(|register| {
                usize::from(register.address) < range.end && range.start < register.end()
            })
        };
        let (torque, goal) = (is_touched(&sts::TORQUE_ENABLE), is_touched(&sts::GOAL_POSITION));
        let frame = [sts::MIN_POSITION, sts::MAX_POSITION, sts::MODE].iter().any(is_touched);
        let frame = frame || old_offset != self.get(&sts::OFFSET);
        if torque {
            self.switch(servo);
        }
        if goal {
            self.has_goal = true;
            servo.torque_on = true;
        }
        self.configure(servo);
        if goal || torque || frame {
            self.aim(servo, goal);
        }
    }

    /// What the torque register says.
    fn switch(&mut self, servo: &mut Servo) {
        match self.get(&sts::TORQUE_ENABLE) {
            0 => servo.torque_on = false,
            MAKE_MIDDLE if self.model.register(sts::OFFSET.name).is_some() => {
                let middle = self.model.steps / 2;
                let ahead = self.present(servo) - middle;
                let steps = self.model.steps;
                let offset = self.get(&sts::OFFSET) + ahead;
                let offset = (offset + middle).rem_euclid(steps) - middle;
                self.set(&sts::OFFSET, offset);
                self.set(&sts::GOAL_POSITION, middle);
                self.has_goal = true;
            }
            _ => {
                servo.torque_on = true;
                servo.clear_overload();
                (self.overcurrent, self.overcurrent_for) = (false, 0.0);
            }
        }
    }

    /// Hands the settings to the motor.
    fn configure(&self, servo: &mut Servo) {
        #[expect(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "of one byte")]
        let id = self.get(&sts::ID) as u8;
        servo.id = id;
        servo.limits.temperature = self.si(&sts::MAX_TEMPERATURE);
        servo.limits.voltage = [self.si(&sts::MIN_VOLTAGE), self.si(&sts::MAX_VOLTAGE)];
        servo.limits.overload = self.si(&sts::OVERLOAD_TORQUE);
        servo.limits.overload_time = self.si(&sts::PROTECTION_TIME);
        let has_current = self.model.register(sts::PROTECTION_CURRENT.name).is_some();
        servo.limits.current =
            if has_current { self.si(&sts::PROTECTION_CURRENT) } else { f64::INFINITY };
        servo.torque_limit = self.torque_limit();
        let speed_unit = if self.get(&sts::PHASE) & FINE_SPEED == 0 { 50.0 } else { 1.0 };
        let speed = speed_unit * self.si(&sts::GOAL_SPEED);
        let set_or_none = |value: f64| if value > 0.0 { value } else { f64::INFINITY };
        servo.acceleration_limit = set_or_none(self.si(&sts::ACCELERATION))
            .min(set_or_none(self.si(&sts::MAX_ACCELERATION)));
        servo.mode = match self.get(&sts::MODE) {
            1 => Mode::Velocity,
            2 => Mode::Duty,
            _ => Mode::Position,
        };
        let position_speed = self.pace.unwrap_or_else(|| set_or_none(speed.abs()));
        servo.goal_velocity = speed;
        servo.goal_duty = self.si(&sts::GOAL_TIME);
        servo.speed_limit =
            if servo.mode == Mode::Position { position_speed } else { f64::INFINITY };
    }

    /// Share of the stall torque; on a model without a limit of now, that to start with. [-]
    fn torque_limit(&self) -> f64 {
        let has_own = self.model.register(sts::TORQUE_LIMIT.name).is_some();
        self.si(if has_own { &sts::TORQUE_LIMIT } else { &sts::MAX_TORQUE })
    }

    /// Hands the goal to the motor: along the shortest change of the position's number, as it has no other idea of turns.
    fn aim(&mut self, servo: &mut Servo, is_new: bool) {
        /// Mode in which a goal is a number of steps from the last one.
        const STEP_BY_STEP: i32 = 3;
        let goal = self.get(&sts::GOAL_POSITION);
        let step = self.model.step();
        if self.get(&sts::MODE) == STEP_BY_STEP {
            servo.goal = if is_new { servo.goal + f64::from(goal) * step } else { servo.position };
            return;
        }
        let (least, most) = (self.get(&sts::MIN_POSITION), self.get(&sts::MAX_POSITION));
        let has_limits = least < most;
        let goal = if has_limits { goal.clamp(least, most) } else { goal };
        let change = f64::from(goal - self.present(servo)) * step;
        if servo.is_raised(Alarm::Overload) && is_new && change * servo.effort < 0.0 {
            servo.clear_overload();
        }
        // From the number that the host reads, so that a goal at the present place moves nothing.
        let here = f64::from(self.reading(servo) - self.model.steps / 2) * step;
        servo.goal = here + change;
        let time = self.model.register(sts::GOAL_TIME.name).filter(|r| r.unit == Unit::Millisecond);
        let time = time.map_or(0.0, |register| self.si(register));
        self.pace = Some(change.abs() / time).filter(|_| time > 0.0);
        self.configure(servo);
    }

    /// Factory settings.
    fn reset(&mut self, servo: &mut Servo) {
        for register in self.model.registers {
            self.set(register, register.factory);
        }
        self.has_goal = false;
        servo.torque_on = false;
        self.configure(servo);
        let here = self.present(servo);
        self.set(&sts::GOAL_POSITION, here);
    }

    /// Fills the registers that are measured.
    fn measure(&mut self, servo: &Servo) {
        let (model, step) = (self.model, self.model.step());
        let position = self.present(servo);
        let is_moving =
            servo.setpoint_velocity().abs() > 0.0 || servo.velocity.abs() > MOVING * step;
        let is_moving = servo.is_driven() && is_moving;
        let alarms = self.alarms(servo);
        let counts = |register: &Register, si| model.counts(register, si);
        for (register, value) in [
            (sts::TORQUE_ENABLE, i32::from(servo.torque_on)),
            (sts::PRESENT_POSITION, position),
            (sts::PRESENT_SPEED, counts(&sts::PRESENT_SPEED, servo.velocity)),
            (sts::PRESENT_LOAD, counts(&sts::PRESENT_LOAD, servo.load())),
            (sts::PRESENT_VOLTAGE, counts(&sts::PRESENT_VOLTAGE, servo.voltage)),
            (sts::PRESENT_TEMPERATURE, counts(&sts::PRESENT_TEMPERATURE, servo.temperature)),
            (sts::REG_WRITE_PENDING, i32::from(!self.pending.is_empty())),
            (sts::STATUS, alarms.0.into()),
            (sts::MOVING, i32::from(is_moving)),
            (sts::PRESENT_CURRENT, counts(&sts::PRESENT_CURRENT, servo.current)),
        ] {
            self.set(&register, value);
        }
        if !self.has_goal {
            self.set(&sts::GOAL_POSITION, position);
        }
    }

    /// What the angle sensor reads, counted over turns. [steps]
    fn reading(&self, servo: &Servo) -> i32 {
        #[expect(clippy::cast_possible_truncation, reason = "far fewer turns than 2^31 steps")]
        let steps = (servo.position / self.model.step()).round() as i32;
        steps + self.model.steps / 2
    }

    /// The position as the register has it. [steps]
    fn present(&self, servo: &Servo) -> i32 {
        let (reading, steps) = (self.reading(servo), self.model.steps);
        let counts_turns = self.get(&sts::PHASE) & COUNTS_TURNS != 0;
        match self.model.register(sts::OFFSET.name) {
            Some(_) if counts_turns => reading - self.get(&sts::OFFSET),
            Some(_) => (reading - self.get(&sts::OFFSET)).rem_euclid(steps),
            None => reading.clamp(0, steps - 1),
        }
    }

    fn mask(&self, register: &Register) -> Alarms {
        #[expect(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "of one byte")]
        Alarms(self.get(register) as u8)
    }

    /// The number in the model's own register of that name; 0 if it has none.
    fn get(&self, register: &Register) -> i32 {
        let own = self.model.register(register.name);
        own.and_then(|own| self.model.get(own, 0, &self.memory)).unwrap_or(0)
    }

    /// The same in units of the SI.
    fn si(&self, register: &Register) -> f64 {
        let own = self.model.register(register.name);
        own.map_or(0.0, |own| self.model.si(own, self.get(own)))
    }

    /// Sets the model's own register of that name, whatever the lock; nothing if it has none.
    fn set(&mut self, register: &Register, value: i32) {
        let Some(own) = self.model.register(register.name) else { return };
        let bytes = self.model.bytes(own, value);
        let size = usize::from(own.size);
        self.memory[usize::from(own.address)..own.end()].copy_from_slice(&bytes[..size]);
    }
}
