//! Feetech STS and SCS servos.
//!
//! A cycle is a sync write of goals and a sync read of everything that is measured, or a read of each servo for kinds without sync read;
//! then one servo is asked whether its torque is on. Setting a goal switches torque on, so that goals go to engaged servos only.

use std::time::Instant;

use karakuri_serial::Line;
use karakuri_serial::codec::feetech::{
    Alarms as Bits, BAUDS, BROADCAST, Model, Register, Request, SCS0009, STS3215, Status,
    StatusDecoder, sts,
};
use karakuri_serial::port::{PortError, Settings};

use super::bus::{Alarms, HelloError, Reading, Servo, ServoBus};
use super::kind::{BusKind, Cost, ServoModel};
use super::link::Link;
use super::robot::ServoRobot;
use super::setup::HardwareFile;

/// Feetech servos in hardware files.
pub(super) const KIND: BusKind = BusKind {
    name: "feetech",
    bauds: &BAUDS,
    ids: (0, 253),
    first_id: 1,
    most: 35,
    period: 0.010,
    models: &[
        ServoModel {
            name: STS3215.name,
            zero: 2048.0,
            counts_per_radian: 4096.0 / std::f64::consts::TAU,
            range: (0, 4095),
            limits_torque: true,
        },
        ServoModel {
            name: SCS0009.name,
            zero: 512.0,
            counts_per_radian: 1024.0 / (300.0 / 360.0 * std::f64::consts::TAU),
            range: (0, 1023),
            limits_torque: false,
        },
    ],
    line: Line::eight_n_one,
    cost: Cost { bytes: 31, bytes_per_servo: 29, pause: 0.0, pause_per_servo: 0.0 },
    make: |file, layout, ports| Box::new(ServoRobot::new(file, Feetech::new(file), layout, ports)),
};

/// Times that a servo is asked before it counts as missing.
const TRIES: usize = 3;
/// Registers of a goal: position, time, speed.
const GOAL_SIZE: u8 = 6;
/// What is read in a cycle: position to current, and without current where there is none.
const STATE: u8 = sts::PRESENT_POSITION.address;
const STATE_SIZE: u8 = 15;
const SHORT_STATE_SIZE: u8 = 11;
/// Bytes of an answer beside its data.
const FRAME: usize = 6;
/// Registers that are kept, read in the hello.
const KEPT: u8 = 0;
const KEPT_SIZE: u8 = 40;

/// Servos on one line.
#[derive(Debug)]
pub(super) struct Feetech {
    baud: u32,
    /// Numbers and kinds of the servos, in their order.
    known: Vec<u8>,
    models: Vec<&'static Model>,
    decoder: StatusDecoder,
    /// Ids of a sync read, and entries of a sync write.
    ids: Vec<u8>,
    entries: Vec<u8>,
    /// The servo that is asked next whether its torque is on.
    turn: usize,
}

impl Feetech {
    pub(super) fn new(file: &HardwareFile) -> Self {
        let n = file.servos.len();
        let model = |name| if name == SCS0009.name { &SCS0009 } else { &STS3215 };
        Self {
            baud: file.baud,
            known: file.servos.iter().map(|servo| servo.id).collect(),
            models: file.servos.iter().map(|servo| model(servo.model.name)).collect(),
            decoder: StatusDecoder::default(),
            ids: Vec::with_capacity(n),
            entries: Vec::with_capacity(n * (1 + usize::from(GOAL_SIZE))),
            turn: 0,
        }
    }

    fn model(&self, id: u8) -> &'static Model {
        let index = self.known.iter().position(|known| *known == id).unwrap_or(0);
        self.models[index]
    }

    /// Asks one servo, a few times if need be; whether `take` got its answer with `size` bytes of data.
    fn ask(
        &mut self,
        link: &mut Link,
        request: &Request<'_>,
        [id, size]: [u8; 2],
        take: &mut dyn FnMut(&Status<'_>),
    ) -> Result<bool, PortError> {
        for _ in 0..link.tries(TRIES) {
            link.send(|out| encode(request, out))?;
            let by = link.deadline(usize::from(size) + 20);
            if self.answer(link, [id, size], by, take)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Awaits one answer; others are passed over.
    fn answer(
        &mut self,
        link: &mut Link,
        [id, size]: [u8; 2],
        by: Instant,
        take: &mut dyn FnMut(&Status<'_>),
    ) -> Result<bool, PortError> {
        self.decoder.reset();
        link.expect(FRAME + usize::from(size));
        while let Some(byte) = link.byte(by)? {
            if let Some(Ok(status)) = self.decoder.push(byte)
                && status.id == id
                && status.data.len() == usize::from(size)
            {
                take(&status);
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn write(
        &mut self,
        link: &mut Link,
        id: u8,
        address: u8,
        data: &[u8],
    ) -> Result<bool, PortError> {
        self.ask(link, &Request::Write { id, address, data }, [id, 0], &mut |_| {})
    }

    /// Limits the torque of a servo to a share of its stall torque; whether it answered. The register is lost with the supply, so that it
    /// is set at each start. [-]
    fn limit_torque(&mut self, link: &mut Link, id: u8, limit: f64) -> Result<bool, PortError> {
        #[expect(clippy::cast_possible_truncation, reason = "0 to 1000")]
        let counts = (1000.0 * limit).round() as i32;
        let bytes = self.model(id).bytes(&sts::TORQUE_LIMIT, counts);
        self.write(link, id, sts::TORQUE_LIMIT.address, &bytes)
    }

    /// Meets one servo.
    fn meet(
        &mut self,
        link: &mut Link,
        servo: &mut Servo,
        model: &Model,
    ) -> Result<(), HelloError> {
        let id = servo.id;
        let mut kept = [0; KEPT_SIZE as usize];
        let read = Request::Read { id, address: KEPT, size: KEPT_SIZE };
        let heard = self
            .ask(link, &read, [id, KEPT_SIZE], &mut |status| kept.copy_from_slice(status.data))?;
        if !heard {
            return Ok(());
        }
        let get = |register: &Register| model.get(register, KEPT, &kept).unwrap_or_default();
        check(servo, model, get(&sts::MODEL_NUMBER), get(&sts::MODE))?;
        servo.heat_limit = Some(model.si(&sts::MAX_TEMPERATURE, get(&sts::MAX_TEMPERATURE)));
        // Half a millisecond before each answer from the factory would double the cycle.
        if get(&sts::ANSWER_DELAY) != 0 || get(&sts::ANSWER_LEVEL) != 1 {
            for (register, value) in [
                (&model.lock, 0),
                (&sts::ANSWER_LEVEL, 1),
                (&sts::ANSWER_DELAY, 0),
                (&model.lock, 1),
            ] {
                self.write(link, id, register.address, &[value])?;
            }
        }
        self.look(link, servo)?;
        Ok(())
    }
}

/// Refuses a servo that is of another kind, or not set to follow positions.
fn check(servo: &Servo, model: &Model, number: i32, mode: i32) -> Result<(), HelloError> {
    let others = [STS3215, SCS0009];
    if let Some(other) = others.iter().find(|other| i32::from(other.number) == number)
        && other.number != model.number
    {
        let found = format!("is a {}, not a {}", other.name, model.name);
        return Err(servo.unfit(found, format!("write `model: {}`", other.name)));
    }
    if model.register(sts::MODE.name).is_some() && mode != 0 {
        let found = format!("is in mode {mode}, which follows no positions");
        return Err(servo.unfit(found, "set its register `mode` to 0"));
    }
    Ok(())
}

fn encode(request: &Request<'_>, out: &mut Vec<u8>) {
    // A hardware file has no more servos than fit.
    let _fits = request.encode(out);
}

/// Bytes of a goal: position, and the time and speed that leave all to the servo.
fn goal_bytes(model: &Model, goal: i32) -> [u8; GOAL_SIZE as usize] {
    let [first, second] = model.bytes(&sts::GOAL_POSITION, goal);
    [first, second, 0, 0, 0, 0]
}

fn state_size(model: &Model) -> u8 {
    if model.has_sync_read { STATE_SIZE } else { SHORT_STATE_SIZE }
}

/// Takes what a servo says of its state.
fn take_state(model: &Model, status: &Status<'_>, reading: &mut Reading) {
    let si = |register: &Register| {
        model.get(register, STATE, status.data).map(|counts| model.si(register, counts))
    };
    let alarms = status.alarms;
    *reading = Reading {
        answered: true,
        position: model.get(&sts::PRESENT_POSITION, STATE, status.data).unwrap_or(reading.position),
        velocity: model.get(&sts::PRESENT_SPEED, STATE, status.data).map(f64::from),
        current: model.register(sts::PRESENT_CURRENT.name).and_then(&si),
        voltage: si(&sts::PRESENT_VOLTAGE),
        temperature: si(&sts::PRESENT_TEMPERATURE),
        is_on: reading.is_on,
        alarms: Alarms {
            voltage: alarms.intersects(Bits::VOLTAGE),
            sensor: alarms.intersects(Bits::SENSOR),
            heat: alarms.intersects(Bits::HEAT),
            overload: alarms.intersects(Bits::CURRENT | Bits::OVERLOAD),
            silence: false,
        },
        errors: alarms.0.into(),
    };
}

impl ServoBus for Feetech {
    fn port_settings(&self) -> Settings {
        Settings { line: Line::eight_n_one(self.baud), raises_dtr: true }
    }

    fn hello(&mut self, link: &mut Link, servos: &mut [Servo]) -> Result<(), HelloError> {
        let first = servos.first().map_or(BROADCAST, |servo| servo.id);
        link.detect_echo(|out| encode(&Request::Ping { id: first }, out))?;
        for servo in servos {
            let model = self.model(servo.id);
            self.meet(link, servo, model)?;
        }
        Ok(())
    }

    fn look(&mut self, link: &mut Link, servo: &mut Servo) -> Result<bool, PortError> {
        let model = self.model(servo.id);
        let size = state_size(model);
        let id = servo.id;
        let request = Request::Read { id, address: STATE, size };
        let reading = &mut servo.reading;
        let heard = self.ask(link, &request, [id, size], &mut |status| {
            take_state(model, status, reading);
        })?;
        reading.is_on = None;
        Ok(heard)
    }

    fn engage(&mut self, link: &mut Link, servo: &Servo) -> Result<bool, PortError> {
        let model = self.model(servo.id);
        if model.register(sts::ACCELERATION.name).is_some() {
            self.write(link, servo.id, sts::ACCELERATION.address, &[0])?;
        }
        let goal = goal_bytes(model, servo.goal);
        if let Some(limit) = servo.torque_limit
            && !self.limit_torque(link, servo.id, limit)?
        {
            return Ok(false);
        }
        Ok(self.write(link, servo.id, sts::GOAL_POSITION.address, &goal)?
            && self.write(link, servo.id, sts::TORQUE_ENABLE.address, &[1])?)
    }

    fn limp(&mut self, link: &mut Link, servo: &Servo) -> Result<(), PortError> {
        self.write(link, servo.id, sts::TORQUE_ENABLE.address, &[0]).map(drop)
    }

    fn limp_all(&mut self, link: &mut Link, _servos: &[Servo]) -> Result<(), PortError> {
        let address = sts::TORQUE_ENABLE.address;
        link.send(|out| encode(&Request::Write { id: BROADCAST, address, data: &[0] }, out))
    }

    fn exchange(
        &mut self,
        link: &mut Link,
        servos: &mut [Servo],
        by: Instant,
    ) -> Result<(), PortError> {
        self.send_goals(link, servos)?;
        self.read_together(link, servos, by)?;
        self.read_one_by_one(link, servos, by)?;
        self.ask_for_torque(link, servos, by)
    }
}

impl Feetech {
    fn send_goals(&mut self, link: &mut Link, servos: &[Servo]) -> Result<(), PortError> {
        self.entries.clear();
        for (servo, model) in servos.iter().zip(&self.models) {
            if servo.is_engaged {
                self.entries.push(servo.id);
                self.entries.extend(goal_bytes(model, servo.goal));
            }
        }
        if self.entries.is_empty() {
            return Ok(());
        }
        let address = sts::GOAL_POSITION.address;
        let request = Request::SyncWrite { address, size: GOAL_SIZE, entries: &self.entries };
        link.send(|out| encode(&request, out))
    }

    fn read_together(
        &mut self,
        link: &mut Link,
        servos: &mut [Servo],
        by: Instant,
    ) -> Result<(), PortError> {
        self.ids.clear();
        let parts = servos.iter().zip(&self.models);
        let together = parts.filter(|(servo, model)| servo.is_present && model.has_sync_read);
        self.ids.extend(together.map(|(servo, _)| servo.id));
        if self.ids.is_empty() {
            return Ok(());
        }
        let request = Request::SyncRead { address: STATE, size: STATE_SIZE, ids: &self.ids };
        link.send_after(|out| encode(&request, out))?;
        self.decoder.reset();
        let mut awaited = self.ids.len();
        link.expect(awaited * (FRAME + usize::from(STATE_SIZE)));
        while awaited > 0
            && let Some(byte) = link.byte(by)?
        {
            let Some(Ok(status)) = self.decoder.push(byte) else { continue };
            let Some(index) = servos.iter().position(|servo| servo.id == status.id) else {
                continue;
            };
            if status.data.len() == usize::from(STATE_SIZE) && !servos[index].reading.answered {
                take_state(self.models[index], &status, &mut servos[index].reading);
                awaited -= 1;
            }
        }
        Ok(())
    }

    fn read_one_by_one(
        &mut self,
        link: &mut Link,
        servos: &mut [Servo],
        by: Instant,
    ) -> Result<(), PortError> {
        let n = servos.len();
        for (index, servo) in servos.iter_mut().enumerate() {
            let model = self.models[index];
            if model.has_sync_read || !servo.is_present {
                continue;
            }
            let size = state_size(model);
            let request = Request::Read { id: servo.id, address: STATE, size };
            link.send(|out| encode(&request, out))?;
            let reading = &mut servo.reading;
            let by = link.share(by, n - index);
            self.answer(link, [servo.id, size], by, &mut |status| {
                take_state(model, status, reading);
            })?;
        }
        Ok(())
    }

    /// Asks one servo whether its torque is on.
    fn ask_for_torque(
        &mut self,
        link: &mut Link,
        servos: &mut [Servo],
        by: Instant,
    ) -> Result<(), PortError> {
        self.turn = (self.turn + 1) % servos.len().max(1);
        let Some(servo) = servos.get_mut(self.turn).filter(|servo| servo.reading.answered) else {
            return Ok(());
        };
        let (id, address, size) = (servo.id, sts::TORQUE_ENABLE.address, 1);
        link.send(|out| encode(&Request::Read { id, address, size }, out))?;
        let is_on = &mut servo.reading.is_on;
        self.answer(link, [id, size], by, &mut |status| *is_on = Some(status.data[0] == 1))?;
        Ok(())
    }
}
