//! Feetech servos.

use anyhow::{Result, anyhow, ensure};
use karakuri_serial::codec::feetech::{
    Model, Register, Request, SCS0009, STS3215, Status, StatusDecoder, Unit, sts,
};

use super::bus::{Bus, Row, Scale, State};
use super::wire::{Heard, Step, Wire};

/// What is measured: position to current, and without current where there is none.
const STATE: u8 = sts::PRESENT_POSITION.address;
const STATE_SIZE: u8 = 15;
const SHORT_STATE_SIZE: u8 = 11;

/// Servos on one line.
#[derive(Debug, Default)]
pub(super) struct Feetech {
    decoder: StatusDecoder,
    /// The kind of the servo that was asked last, by its id.
    known: Option<(u8, &'static Model)>,
}

impl Feetech {
    /// Asks a servo; its answer has `size` bytes.
    fn ask<T>(
        &mut self,
        wire: &mut Wire,
        request: &Request<'_>,
        [id, size]: [u8; 2],
        mut take: impl FnMut(&Status<'_>) -> T,
    ) -> Result<Heard<T>> {
        let mut bytes = Vec::new();
        request.encode(&mut bytes)?;
        let decoder = &mut self.decoder;
        decoder.reset();
        wire.ask(&bytes, usize::from(size) + 6, |byte| match decoder.push(byte) {
            Some(Ok(status)) if status.id == id && status.data.len() == usize::from(size) => {
                Step::Answer(take(&status))
            }
            Some(Ok(_)) => Step::Other,
            _ => Step::Unfinished,
        })
    }

    fn read(&mut self, wire: &mut Wire, id: u8, address: u8, size: u8) -> Result<Heard<Vec<u8>>> {
        let request = Request::Read { id, address, size };
        self.ask(wire, &request, [id, size], |status| status.data.to_vec())
    }

    /// Writes a register; an error says that it was not acknowledged.
    fn write(&mut self, wire: &mut Wire, id: u8, register: &Register, value: i32) -> Result<()> {
        let model = self.known.map_or(&STS3215, |(_, model)| model);
        let bytes = model.bytes(register, value);
        let data = &bytes[..usize::from(register.size)];
        let request = Request::Write { id, address: register.address, data };
        let heard = self.ask(wire, &request, [id, 0], |_| ())?;
        heard.answer().ok_or_else(|| {
            anyhow!("servo {id} did not acknowledge a new `{}`; check its cable", register.name)
        })
    }

    /// The kind of a servo, and its number where that is another one.
    fn meet(&mut self, wire: &mut Wire, id: u8) -> Result<Heard<(&'static Model, u16)>> {
        let (address, size) = (sts::BYTE_ORDER.address, 3);
        let heard = self.read(wire, id, address, size)?;
        Ok(heard.map(|bytes| {
            let (order, number) = (bytes[0], [bytes[1], bytes[2]]);
            let is_scs = order == 1 || u16::from_be_bytes(number) == SCS0009.number;
            let (model, number) = if is_scs {
                (&SCS0009, u16::from_be_bytes(number))
            } else {
                (&STS3215, u16::from_le_bytes(number))
            };
            self.known = Some((id, model));
            (model, number)
        }))
    }

    fn model(&mut self, wire: &mut Wire, id: u8) -> Result<Heard<&'static Model>> {
        match self.known {
            Some((known, model)) if known == id => Ok(Heard::Answer(model)),
            _ => Ok(self.meet(wire, id)?.map(|(model, _)| model)),
        }
    }
}

/// Value and unit of a register's counts; none where they count nothing physical.
fn quantity(model: &Model, register: &Register, counts: i32) -> Option<(f64, &'static str)> {
    let unit = match register.unit {
        Unit::Count => return None,
        Unit::Position | Unit::Distance => "rad",
        Unit::Speed => "rad/s",
        Unit::Acceleration => "rad/s²",
        Unit::PerMille | Unit::Percent => "of all",
        Unit::Current => "A",
        Unit::Voltage => "V",
        Unit::Temperature => "°C",
        Unit::TwoMicroseconds | Unit::Millisecond | Unit::TenMilliseconds => "s",
    };
    Some((model.si(register, counts), unit))
}

impl Bus for Feetech {
    fn device(&self) -> &'static str {
        "servo"
    }

    fn ids(&self) -> (u8, u8) {
        (0, 253)
    }

    fn probe(&self, id: u8) -> Vec<u8> {
        let mut bytes = Vec::new();
        // An id of a servo always fits.
        let _fits = Request::Ping { id }.encode(&mut bytes);
        bytes
    }

    fn find(&mut self, wire: &mut Wire, id: u8) -> Result<Heard<String>> {
        match self.ask(wire, &Request::Ping { id }, [id, 0], |_| ())? {
            Heard::Answer(()) => {}
            silent => return Ok(silent.map(|()| String::new())),
        }
        let heard = self.meet(wire, id)?;
        Ok(heard.map(|(model, number)| {
            if number == model.number {
                model.name.to_owned()
            } else {
                format!("model {number}, registers of {}", model.name)
            }
        }))
    }

    fn registers(&mut self, wire: &mut Wire, id: u8) -> Result<Vec<Row>> {
        let Some(model) = self.model(wire, id)?.answer() else { return Ok(Vec::new()) };
        let mut rows = Vec::new();
        for register in model.registers {
            let heard = self.read(wire, id, register.address, register.size)?;
            let counts =
                heard.answer().and_then(|bytes| model.get(register, register.address, &bytes));
            let Some(counts) = counts else { continue };
            rows.push(match quantity(model, register, counts) {
                Some((value, unit)) => Row::of(register.name, counts, value, unit),
                None => Row::plain(register.name, counts),
            });
        }
        Ok(rows)
    }

    fn before_set_id(&mut self, _wire: &mut Wire, _old: u8) -> Result<String> {
        Ok("It keeps the new id without power.".to_owned())
    }

    fn set_id(&mut self, wire: &mut Wire, old: u8, new: u8) -> Result<()> {
        let Some(model) = self.model(wire, old)?.answer() else {
            return Err(anyhow!("servo {old} does not say what it is; check its cable"));
        };
        self.write(wire, old, &model.lock, 0)?;
        let data = [new];
        let request = Request::Write { id: old, address: sts::ID.address, data: &data };
        // Some answer with the old id, others with the new one: reading it back tells.
        self.ask(wire, &request, [old, 0], |_| ())?;
        self.known = Some((new, model));
        let heard = self.read(wire, new, sts::ID.address, 1)?;
        ensure!(
            heard.answer().is_some_and(|bytes| bytes == [new]),
            "servo {old} has not become {new}; look for it by `karakuri hardware scan`"
        );
        self.write(wire, new, &model.lock, 1)
    }

    fn state(&mut self, wire: &mut Wire, servo: u8) -> Result<Heard<State>> {
        let model = match self.model(wire, servo)? {
            Heard::Answer(model) => model,
            Heard::Noise => return Ok(Heard::Noise),
            Heard::Silence => return Ok(Heard::Silence),
        };
        let has_current = model.register(sts::PRESENT_CURRENT.name).is_some();
        let size = if has_current { STATE_SIZE } else { SHORT_STATE_SIZE };
        let request = Request::Read { id: servo, address: STATE, size };
        let heard = self.ask(wire, &request, [servo, size], |status| {
            let counts = |register: &Register| model.get(register, STATE, status.data);
            let si = |register| counts(register).map(|counts| model.si(register, counts));
            let alarms = status.alarms;
            State {
                velocity: si(&sts::PRESENT_SPEED),
                load: si(&sts::PRESENT_LOAD),
                current: si(&sts::PRESENT_CURRENT),
                voltage: si(&sts::PRESENT_VOLTAGE),
                temperature: si(&sts::PRESENT_TEMPERATURE),
                trouble: (alarms.0 != 0).then(|| alarms.to_string()),
                ..State::at(
                    counts(&sts::PRESENT_POSITION).unwrap_or_default(),
                    Scale::of("feetech", model.name),
                )
            }
        })?;
        let torque = self.read(wire, servo, sts::TORQUE_ENABLE.address, 1)?.answer();
        Ok(heard.map(|state| State { is_on: torque.map(|bytes| bytes[0] == 1), ..state }))
    }

    fn engage(&mut self, wire: &mut Wire, servo: u8, counts: i32) -> Result<()> {
        let model = self.model(wire, servo)?.answer();
        if let Some(mode) = model.and_then(|model| model.register(sts::MODE.name)) {
            let mode = self.read(wire, servo, mode.address, mode.size)?.answer();
            ensure!(
                mode.as_deref() == Some(&[0]),
                "servo {servo} is not in mode 0, and follows no positions; set its register `mode` to 0"
            );
        }
        self.send_to(wire, servo, counts)?;
        self.write(wire, servo, &sts::TORQUE_ENABLE, 1)
    }

    fn send_to(&mut self, wire: &mut Wire, servo: u8, counts: i32) -> Result<()> {
        self.write(wire, servo, &sts::GOAL_POSITION, counts)
    }

    fn limp(&mut self, wire: &mut Wire, servo: u8) -> Result<()> {
        self.write(wire, servo, &sts::TORQUE_ENABLE, 0)
    }
}
