//! Dynamixel servos of the X series, by protocol 2.0.

use anyhow::{Result, anyhow, bail, ensure};
use karakuri_serial::codec::dynamixel::{
    ACCELERATION_UNIT, Block, Decoder, Instruction, Model, PWM_UNIT, RETURN_DELAY_UNIT, Register,
    Request, Status, VELOCITY_UNIT, VOLTAGE_UNIT, WATCHDOG_UNIT, radians, register as r,
};

use super::bus::{Bus, Row, Scale, State};
use super::wire::{Heard, Step, Wire};

/// From the current to the temperature, read at once.
const STATE: u16 = r::PRESENT_CURRENT.address;
const STATE_SIZE: u16 = r::PRESENT_TEMPERATURE.address + 1 - STATE;

/// Servos on one line.
#[derive(Debug, Default)]
pub(super) struct Dynamixel {
    decoder: Decoder,
}

/// What a servo answers: its data, or why it refuses.
type Answer = Result<Vec<u8>, String>;

impl Dynamixel {
    fn ask(&mut self, wire: &mut Wire, request: &Request<'_>, n: u16) -> Result<Heard<Answer>> {
        let mut bytes = Vec::new();
        request.encode(&mut bytes);
        let decoder = &mut self.decoder;
        decoder.reset();
        // Stuffing makes a frame longer by a third at most.
        wire.ask(&bytes, 11 + usize::from(n) * 4 / 3, |byte| {
            let Some(Ok(frame)) = decoder.push(byte) else { return Step::Unfinished };
            match Status::parse(&frame) {
                Ok(status) if status.id == request.id => Step::Answer(match status.error {
                    Some(error) => Err(error.to_string()),
                    None => Ok(status.data.to_vec()),
                }),
                _ => Step::Other,
            }
        })
    }

    fn read(
        &mut self,
        wire: &mut Wire,
        id: u8,
        address: u16,
        length: u16,
    ) -> Result<Heard<Answer>> {
        let instruction = Instruction::Read(Block { address, length });
        self.ask(wire, &Request { id, instruction }, length)
    }

    /// The number of a register, if the servo says it.
    fn get(&mut self, wire: &mut Wire, id: u8, register: &Register) -> Result<Option<i32>> {
        let heard = self.read(wire, id, register.address, register.size.into())?;
        Ok(heard.answer().and_then(Result::ok).map(|bytes| register.value(&bytes)))
    }

    fn write(&mut self, wire: &mut Wire, id: u8, register: &Register, value: i32) -> Result<()> {
        let bytes = value.to_le_bytes();
        let data = &bytes[..usize::from(register.size)];
        let instruction = Instruction::Write { address: register.address, data };
        match self.ask(wire, &Request { id, instruction }, 0)?.answer() {
            Some(Ok(_)) => Ok(()),
            Some(Err(error)) => bail!(
                "servo {id} refuses {value} for its `{}`: {error}; look at it by `karakuri hardware info`",
                register.name
            ),
            None => {
                bail!("servo {id} did not acknowledge a new `{}`; check its cable", register.name)
            }
        }
    }

    fn model(&mut self, wire: &mut Wire, id: u8) -> Result<Option<&'static Model>> {
        let number = self.get(wire, id, &r::MODEL_NUMBER)?;
        Ok(number.and_then(|number| u16::try_from(number).ok()).and_then(Model::of))
    }
}

/// Value and unit of a register's counts; none where they count nothing physical.
fn quantity(model: &Model, register: &Register, counts: i32) -> Option<(f64, &'static str)> {
    let number = f64::from(counts);
    let is = |others: &[Register]| others.iter().any(|other| other.address == register.address);
    if is(&[r::PRESENT_POSITION, r::GOAL_POSITION, r::POSITION_TRAJECTORY])
        || is(&[r::MIN_POSITION_LIMIT, r::MAX_POSITION_LIMIT])
    {
        return Some((radians(counts), "rad"));
    }
    if is(&[r::PRESENT_VELOCITY, r::GOAL_VELOCITY, r::VELOCITY_TRAJECTORY])
        || is(&[r::VELOCITY_LIMIT, r::PROFILE_VELOCITY, r::MOVING_THRESHOLD])
    {
        return Some((number * VELOCITY_UNIT, "rad/s"));
    }
    if is(&[r::PRESENT_CURRENT, r::GOAL_CURRENT, r::CURRENT_LIMIT]) {
        return model.current_unit.map(|unit| (number * unit, "A"));
    }
    if is(&[r::PRESENT_INPUT_VOLTAGE, r::MIN_VOLTAGE_LIMIT, r::MAX_VOLTAGE_LIMIT]) {
        return Some((number * VOLTAGE_UNIT, "V"));
    }
    if is(&[r::PRESENT_TEMPERATURE, r::TEMPERATURE_LIMIT]) {
        return Some((number, "°C"));
    }
    if is(&[r::PRESENT_PWM, r::GOAL_PWM, r::PWM_LIMIT]) {
        return Some((number * PWM_UNIT, "of all"));
    }
    let others = [
        (r::PROFILE_ACCELERATION, ACCELERATION_UNIT, "rad/s²"),
        (r::RETURN_DELAY_TIME, RETURN_DELAY_UNIT, "s"),
        (r::BUS_WATCHDOG, WATCHDOG_UNIT, "s"),
        (r::REALTIME_TICK, 1e-3, "s"),
    ];
    let found = others.iter().find(|(other, ..)| other.address == register.address);
    found.map(|(_, scale, unit)| (number * scale, *unit))
}

/// What the bits of the hardware error status say.
fn troubles(status: i32) -> Option<String> {
    let names = [(0, "voltage"), (2, "heat"), (3, "angle sensor"), (4, "shock"), (5, "overload")];
    let said: Vec<_> = names.iter().filter(|(bit, _)| status & 1 << bit != 0).collect();
    let said: Vec<_> = said.iter().map(|(_, name)| *name).collect();
    (status != 0).then(|| if said.is_empty() { format!("{status:#04x}") } else { said.join(", ") })
}

impl Bus for Dynamixel {
    fn device(&self) -> &'static str {
        "servo"
    }

    fn ids(&self) -> (u8, u8) {
        (0, 252)
    }

    fn probe(&self, id: u8) -> Vec<u8> {
        let mut bytes = Vec::new();
        Request { id, instruction: Instruction::Ping }.encode(&mut bytes);
        bytes
    }

    fn find(&mut self, wire: &mut Wire, id: u8) -> Result<Heard<String>> {
        let heard = self.ask(wire, &Request { id, instruction: Instruction::Ping }, 3)?;
        Ok(heard.map(|answer| match answer.as_deref() {
            Ok([low, high, firmware]) => {
                let number = u16::from_le_bytes([*low, *high]);
                let name = Model::of(number).map(|model| model.name.to_owned());
                let name = name.unwrap_or_else(|| format!("unknown model {number}"));
                format!("{name}, firmware {firmware}")
            }
            _ => "says nothing of its model".to_owned(),
        }))
    }

    fn registers(&mut self, wire: &mut Wire, id: u8) -> Result<Vec<Row>> {
        let Some(model) = self.model(wire, id)? else {
            let names = Model::ALL.map(|model| model.name).join(", ");
            bail!("servo {id} is of a model whose registers are not known; known are {names}");
        };
        let mut rows = Vec::new();
        for register in model.registers() {
            let Some(counts) = self.get(wire, id, &register)? else { continue };
            rows.push(match quantity(model, &register, counts) {
                Some((value, unit)) => Row::of(register.name, counts, value, unit),
                None => Row::plain(register.name, counts),
            });
        }
        Ok(rows)
    }

    fn before_set_id(&mut self, wire: &mut Wire, old: u8) -> Result<String> {
        let kept = "It keeps the new id without power.";
        if self.get(wire, old, &r::TORQUE_ENABLE)? == Some(1) {
            return Ok(format!(
                "{kept} Its torque is on and goes off for it: hold what it carries."
            ));
        }
        Ok(kept.to_owned())
    }

    fn set_id(&mut self, wire: &mut Wire, old: u8, new: u8) -> Result<()> {
        self.limp(wire, old)?;
        let data = [new];
        let instruction = Instruction::Write { address: r::ID.address, data: &data };
        let answer = self.ask(wire, &Request { id: old, instruction }, 0)?.answer();
        if let Some(Err(error)) = answer {
            bail!("servo {old} refuses the id {new}: {error}");
        }
        ensure!(
            self.get(wire, new, &r::ID)? == Some(new.into()),
            "servo {old} has not become {new}; look for it by `karakuri hardware scan`"
        );
        Ok(())
    }

    fn state(&mut self, wire: &mut Wire, servo: u8) -> Result<Heard<State>> {
        let bytes = match self.read(wire, servo, STATE, STATE_SIZE)? {
            Heard::Answer(Ok(bytes)) => bytes,
            Heard::Answer(Err(error)) => {
                return Err(anyhow!("servo {servo} refuses to be read: {error}"));
            }
            Heard::Noise => return Ok(Heard::Noise),
            Heard::Silence => return Ok(Heard::Silence),
        };
        let get = |register: &Register| {
            let start = usize::from(register.address - STATE);
            register.value(bytes.get(start..start + usize::from(register.size)).unwrap_or_default())
        };
        let unit = self.model(wire, servo)?.and_then(|model| model.current_unit);
        let is_on = self.get(wire, servo, &r::TORQUE_ENABLE)?.map(|value| value == 1);
        let status = self.get(wire, servo, &r::HARDWARE_ERROR_STATUS)?.unwrap_or_default();
        let load = self.get(wire, servo, &r::PRESENT_PWM)?;
        Ok(Heard::Answer(State {
            velocity: Some(f64::from(get(&r::PRESENT_VELOCITY)) * VELOCITY_UNIT),
            load: load.map(|duty| f64::from(duty) * PWM_UNIT),
            current: unit.map(|unit| f64::from(get(&r::PRESENT_CURRENT)) * unit),
            voltage: Some(f64::from(get(&r::PRESENT_INPUT_VOLTAGE)) * VOLTAGE_UNIT),
            temperature: Some(get(&r::PRESENT_TEMPERATURE).into()),
            is_on,
            trouble: troubles(status),
            ..State::at(get(&r::PRESENT_POSITION), Scale::of("dynamixel", "x"))
        }))
    }

    fn engage(&mut self, wire: &mut Wire, servo: u8, counts: i32) -> Result<()> {
        let mode = self.get(wire, servo, &r::OPERATING_MODE)?;
        ensure!(
            mode.is_none_or(|mode| [3, 4, 5].contains(&mode)),
            "servo {servo} is in operating mode {}, which follows no positions; set its register `operating_mode` to 3",
            mode.unwrap_or_default()
        );
        self.write(wire, servo, &r::BUS_WATCHDOG, 0)?;
        self.write(wire, servo, &r::GOAL_POSITION, counts)?;
        self.write(wire, servo, &r::TORQUE_ENABLE, 1)
    }

    fn send_to(&mut self, wire: &mut Wire, servo: u8, counts: i32) -> Result<()> {
        self.write(wire, servo, &r::GOAL_POSITION, counts)
    }

    fn limp(&mut self, wire: &mut Wire, servo: u8) -> Result<()> {
        self.write(wire, servo, &r::TORQUE_ENABLE, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_named() {
        assert_eq!(troubles(0), None);
        assert_eq!(troubles(0b10_0100).as_deref(), Some("heat, overload"));
        assert_eq!(troubles(0x80).as_deref(), Some("0x80"));
    }
}
