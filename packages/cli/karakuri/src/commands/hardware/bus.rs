//! What a maker asks of devices, the same for all buses.

use anyhow::{Result, ensure};
use karakuri_hardware::driver::{BUSES, ServoModel};

use super::wire::{Heard, Wire};

/// Devices on one line: what a maker asks them, one at a time.
pub(super) trait Bus {
    /// What has an id on the line, as `servo` or `board`.
    fn device(&self) -> &'static str;

    /// Least and greatest id of a device.
    fn ids(&self) -> (u8, u8);

    /// A request that moves nothing.
    fn probe(&self, id: u8) -> Vec<u8>;

    /// Looks who has an id: what it is.
    fn find(&mut self, wire: &mut Wire, id: u8) -> Result<Heard<String>>;

    /// All that a device says of itself.
    fn registers(&mut self, wire: &mut Wire, id: u8) -> Result<Vec<Row>>;

    /// What has to be so before an id is changed, and what the change does besides, for the question to the user.
    fn before_set_id(&mut self, wire: &mut Wire, old: u8) -> Result<String>;

    /// Gives a device another id.
    fn set_id(&mut self, wire: &mut Wire, old: u8, new: u8) -> Result<()>;

    /// Least and greatest number of a servo, which is that of the device unless a board has several.
    fn servos(&self) -> (u8, u8) {
        self.ids()
    }

    /// How a servo is now.
    fn state(&mut self, wire: &mut Wire, servo: u8) -> Result<Heard<State>>;

    /// What happens besides when the torque of one servo goes on, for the question to the user; begins with a space.
    fn besides_torque(&self) -> &'static str {
        ""
    }

    /// Sets a servo's goal to where it is, then switches its torque on.
    fn engage(&mut self, wire: &mut Wire, servo: u8, counts: i32) -> Result<()>;

    /// Sends a servo somewhere, its torque being on.
    fn send_to(&mut self, wire: &mut Wire, servo: u8, counts: i32) -> Result<()>;

    /// Switches the torque of a servo off.
    fn limp(&mut self, wire: &mut Wire, servo: u8) -> Result<()>;
}

/// Refuses to go on where others than one device are on the line, who would take its new id with it.
pub(super) fn check_alone(bus: &mut dyn Bus, wire: &mut Wire, alone: u8) -> Result<()> {
    let (least, greatest) = bus.ids();
    let usual = std::mem::replace(&mut wire.tries, 1);
    let mut others = Vec::new();
    for id in (least..=greatest).filter(|id| *id != alone) {
        if bus.find(wire, id)? != Heard::Silence {
            others.push(id.to_string());
        }
    }
    wire.tries = usual;
    ensure!(
        others.is_empty(),
        "all devices on the line take a new id, and {} {} is there, too; leave only the one that is to change",
        bus.device(),
        others.join(", ")
    );
    Ok(())
}

/// One thing that a device says of itself.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    /// Its name.
    pub(super) name: String,
    /// As the device has it.
    pub(super) counts: i64,
    /// The same in units of the SI, where it is a quantity.
    pub(super) value: Option<f64>,
    /// Its unit.
    pub(super) unit: &'static str,
}

impl Row {
    /// A number without a unit.
    pub(super) fn plain(name: impl Into<String>, counts: impl Into<i64>) -> Self {
        Self { name: name.into(), counts: counts.into(), value: None, unit: "" }
    }

    /// A quantity.
    pub(super) fn of(
        name: impl Into<String>,
        counts: impl Into<i64>,
        value: f64,
        unit: &'static str,
    ) -> Self {
        Self { name: name.into(), counts: counts.into(), value: Some(value), unit }
    }
}

/// How a servo is. What it does not measure is none.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct State {
    /// Where it is. [counts]
    pub(super) position: i32,
    /// What counts are: the middle, counts of a radian, range.
    pub(super) scale: Scale,
    /// [rad/s]
    pub(super) velocity: Option<f64>,
    /// Share of the full torque or duty. [-]
    pub(super) load: Option<f64>,
    /// [A]
    pub(super) current: Option<f64>,
    /// [V]
    pub(super) voltage: Option<f64>,
    /// [°C]
    pub(super) temperature: Option<f64>,
    /// Whether its torque is on.
    pub(super) is_on: Option<bool>,
    /// What is wrong.
    pub(super) trouble: Option<String>,
}

/// What counts of a servo are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    /// Counts in the middle. [counts]
    pub(super) zero: f64,
    /// [counts/rad]
    pub(super) counts_per_radian: f64,
    /// Least and greatest goal. [counts]
    pub(super) range: (i32, i32),
}

impl From<&ServoModel> for Scale {
    fn from(model: &ServoModel) -> Self {
        let ServoModel { zero, counts_per_radian, range, .. } = *model;
        Self { zero, counts_per_radian, range }
    }
}

impl Scale {
    /// That of a bus's model of a name, or of its usual one.
    pub(super) fn of(bus: &str, model: &str) -> Self {
        let kind = BUSES.iter().find(|kind| kind.name == bus).copied().unwrap_or(BUSES[0]);
        let model = kind.models.iter().find(|known| known.name.eq_ignore_ascii_case(model));
        model.unwrap_or(&kind.models[0]).into()
    }

    /// Angle of counts, from the middle. [rad]
    pub(super) fn angle(&self, counts: i32) -> f64 {
        (f64::from(counts) - self.zero) / self.counts_per_radian
    }

    /// Counts that are an angle [rad] away from others, within the range.
    pub(super) fn moved(&self, counts: i32, angle: f64) -> i32 {
        let moved = f64::from(counts) + (angle * self.counts_per_radian).round();
        #[expect(clippy::cast_possible_truncation, reason = "limited to numbers of 32 bits")]
        let moved = moved.clamp(self.range.0.into(), self.range.1.into()) as i32;
        moved
    }
}

impl State {
    /// A servo that says where it is, and nothing else.
    pub(super) fn at(position: i32, scale: Scale) -> Self {
        Self {
            position,
            scale,
            velocity: None,
            load: None,
            current: None,
            voltage: None,
            temperature: None,
            is_on: None,
            trouble: None,
        }
    }

    /// Where it is. [rad]
    pub(super) fn angle(&self) -> f64 {
        self.scale.angle(self.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_stay_within_the_range() {
        let scale = Scale::of("feetech", "sts3215");
        assert_eq!(scale.moved(2048, 0.1), 2048 + 65);
        assert_eq!(scale.moved(4090, 0.1), 4095);
        assert!((scale.angle(3072) - std::f64::consts::FRAC_PI_2).abs() < 1e-12);
    }
}
