//! Dynamixel servos of the X series, by protocol 2.0.
//!
//! Indirect addresses put everything that is measured side by side, so that a cycle is a sync write of goals and a fast sync read, which
//! all servos answer in one frame. One that is silent breaks that frame: every other cycle then reads servo by servo, until it
//! answers again or counts as lost. A watchdog in each servo stops it when the driver falls silent.

use std::f64::consts::TAU;
use std::time::{Duration, Instant};

use karakuri_serial::Line;
use karakuri_serial::codec::dynamixel::{
    BAUD_RATES, BROADCAST, Block, COUNTS_PER_TURN, Decoder, FastParts, Instruction, Mode, Model,
    Register, Request, Status, SyncItems, VELOCITY_UNIT, VOLTAGE_UNIT, WATCHDOG_UNIT,
    register as r,
};
use karakuri_serial::port::{PortError, Settings};

use super::bus::{Alarms, HelloError, Reading, Servo, ServoBus};
use super::kind::{BusKind, Cost, ServoModel};
use super::link::Link;
use super::robot::ServoRobot;
use super::setup::HardwareFile;

/// Dynamixel servos in hardware files.
pub(super) const KIND: BusKind = BusKind {
    name: "dynamixel",
    // 57600 is the factory's, too slow for more than two servos.
    bauds: &[1_000_000, 57_600, 9_600, 115_200, 2_000_000, 3_000_000, 4_000_000, 4_500_000],
    ids: (0, 252),
    first_id: 1,
    most: 32,
    period: 0.005,
    models: &[
        ServoModel {
            name: "x",
            zero: 2048.0,
            counts_per_radian: 4096.0 / TAU,
            range: (0, COUNTS_PER_TURN - 1),
            limits_torque: false,
        },
        ServoModel {
            name: MULTI_TURN,
            zero: 2048.0,
            counts_per_radian: 4096.0 / TAU,
            range: (-1_048_575, 1_048_575),
            limits_torque: false,
        },
    ],
    line: Line::eight_n_one,
    cost: Cost { bytes: 38, bytes_per_servo: 26, pause: 0.0, pause_per_servo: 0.0 },
    make: |file, layout, ports| {
        Box::new(ServoRobot::new(file, Dynamixel::new(file), layout, ports))
    },
};
const _: () = assert!(KIND.bauds.len() == BAUD_RATES.len());

/// Servos that count turns, in mode 4 or 5.
const MULTI_TURN: &str = "x_multi_turn";
/// Times that a servo is asked before it counts as missing.
const TRIES: usize = 3;
/// Registers that are put side by side, in this order.
const STATE: [Register; 8] = [
    r::PRESENT_CURRENT,
    r::PRESENT_VELOCITY,
    r::PRESENT_POSITION,
    r::PRESENT_INPUT_VOLTAGE,
    r::PRESENT_TEMPERATURE,
    r::HARDWARE_ERROR_STATUS,
    r::TORQUE_ENABLE,
    r::BUS_WATCHDOG,
];
const STATE_SIZE: u16 = 16;
/// Bytes of an answer beside its data.
const FRAME: usize = 11;
/// The same of the one answer of all servos to a fast read: at its head, and at each servo's part.
const FAST_HEAD: usize = 8;
const FAST_PART: usize = 4;
const GOAL_SIZE: u16 = 4;
/// Settings and switches that are read in the hello.
const SETTINGS: Block = Block { address: 0, length: 100 };
/// Shortest silence after which servos stop. [s]
const WATCHDOG: f64 = 0.1;
/// Value of the watchdog once it has tripped.
const TRIPPED: i32 = 255;
/// Longest time that a servo takes to start again. [s]
const RESTART: Duration = Duration::from_secs(2);

/// Servos on one line.
#[derive(Debug)]
pub(super) struct Dynamixel {
    baud: u32,
    /// In the order of the file's servos.
    known: Vec<Known>,
    decoder: Decoder,
    ids: Vec<u8>,
    items: Vec<u8>,
    /// Watchdog in its own unit.
    watchdog: u8,
    /// Whether the watchdogs of all engaged servos run.
    is_armed: bool,
    /// Whether all servos answer to a fast read.
    has_fast_read: bool,
    /// Whether the next cycle may count on the answers of all servos.
    is_whole: bool,
    /// The servo with which reads one by one begin.
    turn: usize,
}

/// What is known of a servo.
#[derive(Debug, Clone, Copy)]
struct Known {
    id: u8,
    counts_turns: bool,
    /// Current of a count, where it measures any. [A]
    current_unit: Option<f64>,
    /// Where its state is read.
    address: u16,
}

impl Dynamixel {
    pub(super) fn new(file: &HardwareFile) -> Self {
        let n = file.servos.len();
        let known = file.servos.iter().map(|servo| Known {
            id: servo.id,
            counts_turns: servo.model.name == MULTI_TURN,
            current_unit: None,
            address: 0,
        });
        // Not so short that a few late cycles stop the robot.
        let watchdog = (WATCHDOG.max(8.0 * file.period) / WATCHDOG_UNIT).ceil().min(127.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "5 to 127")]
        let watchdog = watchdog as u8;
        Self {
            baud: file.baud,
            known: known.collect(),
            decoder: Decoder::default(),
            ids: Vec::with_capacity(n),
            items: Vec::with_capacity(n * (1 + usize::from(GOAL_SIZE))),
            watchdog,
            is_armed: false,
            has_fast_read: false,
            is_whole: true,
            turn: 0,
        }
    }

    fn known(&self, id: u8) -> Known {
        let known = self.known.iter().find(|known| known.id == id);
        known.copied().unwrap_or(self.known[0])
    }

    /// Asks one servo, a few times if need be; whether `take` got its answer with `length` bytes of data.
    fn ask(
        &mut self,
        link: &mut Link,
        request: &Request<'_>,
        length: u16,
        take: &mut dyn FnMut(&Status<'_>),
    ) -> Result<bool, PortError> {
        for _ in 0..link.tries(TRIES) {
            link.send(|out| request.encode(out))?;
            let by = link.deadline(usize::from(length) + 30);
            if self.answer(link, request.id, length, by, take)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Awaits one answer; others are passed over. One with an error has no data.
    fn answer(
        &mut self,
        link: &mut Link,
        id: u8,
        length: u16,
        by: Instant,
        take: &mut dyn FnMut(&Status<'_>),
    ) -> Result<bool, PortError> {
        self.decoder.reset();
        link.expect(FRAME + usize::from(length));
        while let Some(byte) = link.byte(by)? {
            let Some(Ok(frame)) = self.decoder.push(byte) else { continue };
            let Ok(status) = Status::parse(&frame) else { continue };
            if status.id == id && status.data.len() == usize::from(length) {
                take(&status);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Sets a register; why the servo refuses it, if it does. A silent servo refuses nothing here.
    fn write(
        &mut self,
        link: &mut Link,
        id: u8,
        register: &Register,
        value: i32,
    ) -> Result<Option<String>, PortError> {
        let bytes = value.to_le_bytes();
        let data = &bytes[..usize::from(register.size)];
        self.write_bytes(link, id, register.address, data)
    }

    fn write_bytes(
        &mut self,
        link: &mut Link,
        id: u8,
        address: u16,
        data: &[u8],
    ) -> Result<Option<String>, PortError> {
        let request = Request { id, instruction: Instruction::Write { address, data } };
        let mut refusal = Some("it does not answer".to_owned());
        self.ask(link, &request, 0, &mut |status| {
            refusal = status.error.map(|error| error.to_string());
        })?;
        Ok(refusal)
    }

    /// Meets one servo; whether it answers.
    fn meet(
        &mut self,
        link: &mut Link,
        servo: &mut Servo,
        index: usize,
    ) -> Result<bool, HelloError> {
        let id = servo.id;
        let mut settings = [0; SETTINGS.length as usize];
        let read = Request { id, instruction: Instruction::Read(SETTINGS) };
        let take = &mut |status: &Status<'_>| settings.copy_from_slice(status.data);
        if !self.ask(link, &read, SETTINGS.length, take)? {
            return Ok(false);
        }
        let get = |register: &Register| {
            let start = usize::from(register.address);
            register.value(&settings[start..start + usize::from(register.size)])
        };
        let number = get(&r::MODEL_NUMBER);
        let Some(model) = u16::try_from(number).ok().and_then(Model::of) else {
            let names = Model::ALL.map(|model| model.name).join(", ");
            let remedy = format!("known are {names}; leave it out or add its table");
            return Err(servo.unfit(format!("is of the unknown model {number}"), remedy));
        };
        let modes: &[Mode] = if self.known[index].counts_turns {
            &[Mode::ExtendedPosition, Mode::CurrentBasedPosition]
        } else {
            &[Mode::Position, Mode::ExtendedPosition, Mode::CurrentBasedPosition]
        };
        let mode = get(&r::OPERATING_MODE);
        if !Mode::of(mode).is_some_and(|mode| modes.contains(&mode)) {
            let found =
                format!("is in operating mode {mode}, which does not follow such positions");
            let remedy = format!("set its register `operating_mode` to {}", modes[0] as i32);
            return Err(servo.unfit(found, remedy));
        }
        servo.heat_limit = Some(get(&r::TEMPERATURE_LIMIT).into());
        self.known[index].current_unit = model.current_unit;
        let firmware = u8::try_from(get(&r::FIRMWARE_VERSION)).unwrap_or_default();
        let indirect = model.indirect(firmware)[0];
        self.known[index].address = indirect.data;
        self.write(link, id, &r::STATUS_RETURN_LEVEL, 2)?;
        // Kept registers can be set without torque only, and a robot that stands is not dropped for a faster answer.
        if get(&r::RETURN_DELAY_TIME) != 0 && get(&r::TORQUE_ENABLE) == 0 {
            self.write(link, id, &r::RETURN_DELAY_TIME, 0)?;
        }
        let words = STATE.iter().flat_map(|register| register.address..register.end());
        let words: Vec<u8> = words.flat_map(u16::to_le_bytes).collect();
        if let Some(why) = self.write_bytes(link, id, indirect.addresses, &words)? {
            let found = format!("refuses its indirect addresses ({why})");
            return Err(servo.unfit(found, "update its firmware"));
        }
        Ok(self.look(link, servo)?)
    }

    /// Whether servos answer to a fast read: those with older programs do not.
    fn try_fast_read(&mut self, link: &mut Link, servos: &[Servo]) -> Result<bool, PortError> {
        for servo in servos.iter().filter(|servo| servo.reading.answered) {
            let block = Block { address: self.known(servo.id).address, length: STATE_SIZE };
            let instruction = Instruction::FastSyncRead { block, ids: &[servo.id] };
            let mut answers = false;
            for _ in 0..link.tries(TRIES) {
                link.send(|out| Request::to_all(instruction).encode(out))?;
                let by = link.deadline(60);
                self.decoder.reset();
                while !answers && let Some(byte) = link.byte(by)? {
                    let frame = self.decoder.push(byte).and_then(Result::ok);
                    answers = frame.is_some_and(|frame| FastParts::new(&frame).is_ok());
                }
                if answers {
                    break;
                }
            }
            if !answers {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Takes what a servo says of its state.
fn take_state(known: Known, status: &Status<'_>, reading: &mut Reading) {
    let mut rest = status.data;
    let values = STATE.map(|register| {
        let (value, after) = rest.split_at(usize::from(register.size).min(rest.len()));
        rest = after;
        register.value(value)
    });
    let [current, velocity, position, voltage, temperature, errors, torque, watchdog] = values;
    let has = |bit: i32| errors & 1 << bit != 0;
    *reading = Reading {
        answered: true,
        position,
        velocity: Some(f64::from(velocity) * VELOCITY_UNIT * f64::from(COUNTS_PER_TURN) / TAU),
        current: known.current_unit.map(|unit| unit * f64::from(current)),
        voltage: Some(f64::from(voltage) * VOLTAGE_UNIT),
        temperature: Some(temperature.into()),
        is_on: Some(torque == 1),
        alarms: Alarms {
            voltage: has(0),
            sensor: has(1) || has(3),
            heat: has(2),
            overload: has(4) || has(5),
            silence: watchdog == TRIPPED,
        },
        errors: errors.unsigned_abs(),
    };
}

impl ServoBus for Dynamixel {
    fn port_settings(&self) -> Settings {
        Settings { line: Line::eight_n_one(self.baud), raises_dtr: true }
    }

    fn hello(&mut self, link: &mut Link, servos: &mut [Servo]) -> Result<(), HelloError> {
        let first = servos.first().map_or(0, |servo| servo.id);
        let ping = Request { id: first, instruction: Instruction::Ping };
        link.detect_echo(|out| ping.encode(out))?;
        for (index, servo) in servos.iter_mut().enumerate() {
            self.meet(link, servo, index)?;
        }
        self.has_fast_read = self.try_fast_read(link, servos)?;
        (self.is_armed, self.is_whole) = (false, true);
        Ok(())
    }

    fn look(&mut self, link: &mut Link, servo: &mut Servo) -> Result<bool, PortError> {
        let known = self.known(servo.id);
        let block = Block { address: known.address, length: STATE_SIZE };
        let request = Request { id: servo.id, instruction: Instruction::Read(block) };
        let reading = &mut servo.reading;
        self.ask(link, &request, STATE_SIZE, &mut |status| take_state(known, status, reading))
    }

    fn recover(&mut self, link: &mut Link, servo: &Servo) -> Result<(), PortError> {
        if servo.reading.errors == 0 {
            return Ok(());
        }
        // After a shutdown nothing else switches the torque on again.
        let reboot = Request { id: servo.id, instruction: Instruction::Reboot };
        self.ask(link, &reboot, 0, &mut |_| {})?;
        let end = link.now() + RESTART;
        let mut again = servo.clone();
        let index = self.known.iter().position(|known| known.id == servo.id).unwrap_or(0);
        while link.now() < end {
            if let Ok(true) = self.meet(link, &mut again, index) {
                break;
            }
        }
        Ok(())
    }

    fn engage(&mut self, link: &mut Link, servo: &Servo) -> Result<bool, PortError> {
        let id = servo.id;
        self.is_armed = false;
        self.write(link, id, &r::BUS_WATCHDOG, 0)?;
        self.write(link, id, &r::PROFILE_ACCELERATION, 0)?;
        self.write(link, id, &r::PROFILE_VELOCITY, 0)?;
        // A servo takes no goal without torque that it would not have with it.
        let goal = self.write(link, id, &r::GOAL_POSITION, servo.goal)?;
        let torque = self.write(link, id, &r::TORQUE_ENABLE, 1)?;
        Ok(goal.is_none() && torque.is_none())
    }

    fn limp(&mut self, link: &mut Link, servo: &Servo) -> Result<(), PortError> {
        self.write(link, servo.id, &r::TORQUE_ENABLE, 0).map(drop)
    }

    fn limp_all(&mut self, link: &mut Link, _servos: &[Servo]) -> Result<(), PortError> {
        let address = r::TORQUE_ENABLE.address;
        let off =
            Request { id: BROADCAST, instruction: Instruction::Write { address, data: &[0] } };
        link.send(|out| off.encode(out))
    }

    fn exchange(
        &mut self,
        link: &mut Link,
        servos: &mut [Servo],
        by: Instant,
    ) -> Result<(), PortError> {
        self.send_goals(link, servos)?;
        let is_fast = self.is_whole && self.has_fast_read;
        if is_fast {
            self.read_fast(link, servos, by)?;
        } else {
            self.read_one_by_one(link, servos, by)?;
        }
        let all_answered = servos.iter().all(|servo| servo.reading.answered || !servo.is_present);
        // A busy machine may have time for one frame and not for many: the fast read is tried again in between.
        self.is_whole = all_answered || !is_fast;
        Ok(())
    }
}

impl Dynamixel {
    fn send_goals(&mut self, link: &mut Link, servos: &[Servo]) -> Result<(), PortError> {
        self.items.clear();
        for servo in servos.iter().filter(|servo| servo.is_engaged) {
            self.items.push(servo.id);
            self.items.extend(servo.goal.to_le_bytes());
        }
        if self.items.is_empty() {
            return Ok(());
        }
        let items = SyncItems { length: GOAL_SIZE, bytes: &self.items };
        let address = r::GOAL_POSITION.address;
        link.send(|out| Request::to_all(Instruction::SyncWrite { address, items }).encode(out))?;
        if std::mem::replace(&mut self.is_armed, true) {
            return Ok(());
        }
        self.items.clear();
        for servo in servos.iter().filter(|servo| servo.is_engaged) {
            self.items.extend([servo.id, self.watchdog]);
        }
        let items = SyncItems { length: 1, bytes: &self.items };
        let address = r::BUS_WATCHDOG.address;
        link.send_after(|out| {
            Request::to_all(Instruction::SyncWrite { address, items }).encode(out);
        })
    }

    /// Reads servos by one frame for each address at which their state is.
    fn read_fast(
        &mut self,
        link: &mut Link,
        servos: &mut [Servo],
        by: Instant,
    ) -> Result<(), PortError> {
        let mut done = 0;
        while let Some(address) =
            self.known.iter().map(|known| known.address).filter(|address| *address > done).min()
        {
            done = address;
            self.ids.clear();
            let of_address = servos
                .iter()
                .zip(&self.known)
                .filter(|(servo, known)| servo.is_present && known.address == address);
            self.ids.extend(of_address.map(|(servo, _)| servo.id));
            if self.ids.is_empty() {
                continue;
            }
            let block = Block { address, length: STATE_SIZE };
            let instruction = Instruction::FastSyncRead { block, ids: &self.ids };
            link.send_after(|out| Request::to_all(instruction).encode(out))?;
            self.decoder.reset();
            link.expect(FAST_HEAD + self.ids.len() * (FAST_PART + usize::from(STATE_SIZE)));
            while let Some(byte) = link.byte(by)? {
                let Some(Ok(frame)) = self.decoder.push(byte) else { continue };
                let Ok(mut parts) = FastParts::new(&frame) else { continue };
                while let Some(Ok(status)) = parts.next_part(STATE_SIZE.into()) {
                    let index = self.known.iter().position(|known| known.id == status.id);
                    if let Some(index) = index {
                        take_state(self.known[index], &status, &mut servos[index].reading);
                    }
                }
                break;
            }
        }
        Ok(())
    }

    /// Reads servo by servo, as many as there is time for; the next cycle begins with the others.
    fn read_one_by_one(
        &mut self,
        link: &mut Link,
        servos: &mut [Servo],
        by: Instant,
    ) -> Result<(), PortError> {
        let n = servos.len();
        for i in 0..n {
            let index = (self.turn + i) % n;
            if link.now() >= by {
                self.turn = index;
                return Ok(());
            }
            let (servo, known) = (&mut servos[index], self.known[index]);
            if !servo.is_present {
                continue;
            }
            let block = Block { address: known.address, length: STATE_SIZE };
            let request = Request { id: servo.id, instruction: Instruction::Read(block) };
            link.send_after(|out| request.encode(out))?;
            let reading = &mut servo.reading;
            let by = link.share(by, n - i);
            self.answer(link, known.id, STATE_SIZE, by, &mut |status| {
                take_state(known, status, reading);
            })?;
        }
        self.turn = (self.turn + 1) % n.max(1);
        Ok(())
    }
}
