//! Values of an envelope file, with their ranges.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _};

use super::{ANYBODY, Principal};
use crate::interval::Interval;
use crate::name::{LONGEST, is_name, is_pattern};

/// Coordinates of a workspace. [m]
pub(super) const COORDINATE: Interval = Interval::closed(-1000.0, 1000.0);
/// Speeds, forces, masses and times of any robot, in their units.
const POSITIVE: Interval = Interval::positive(1e6);
/// Margins. [-]
const PART: Interval = Interval::closed(0.0, 1.0);
/// Copies of a rehearsal, and acts within a minute.
const COUNT: std::ops::RangeInclusive<u32> = 1..=10_000;

/// A value that its key does not allow.
#[derive(Debug)]
pub struct OutOfRange(String);

impl OutOfRange {
    pub(super) fn of(number: f64, range: &Interval) -> Self {
        Self(format!("{number} is out of range; write a number in {range}"))
    }

    pub(super) fn corners() -> Self {
        Self("a box without inside; write [[x, y, z] of the least corner, [x, y, z] of the largest], in metres".to_owned())
    }
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn number<'de, D: Deserializer<'de>>(deserializer: D, range: &Interval) -> Result<f64, D::Error> {
    let number = f64::deserialize(deserializer)?;
    if range.contains(number) {
        return Ok(number);
    }
    Err(D::Error::custom(OutOfRange::of(number, range)))
}

pub(super) fn positive<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    number(deserializer, &POSITIVE)
}

pub(super) fn part<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    number(deserializer, &PART)
}

fn count<'de, D: Deserializer<'de>>(deserializer: D, least: u32) -> Result<u32, D::Error> {
    let number = u32::deserialize(deserializer)?;
    if (least..=*COUNT.end()).contains(&number) {
        return Ok(number);
    }
    let allowed = format!("write a whole number from {least} to {}", COUNT.end());
    Err(D::Error::custom(format_args!("{number} is out of range; {allowed}")))
}

pub(super) fn copies<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    count(deserializer, *COUNT.start())
}

pub(super) fn acts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    // 0: everything is rehearsed and nothing carried out.
    count(deserializer, 0)
}

pub(super) fn patterns<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<String>, D::Error> {
    let patterns = Vec::<String>::deserialize(deserializer)?;
    match patterns.iter().find(|pattern| !is_pattern(pattern)) {
        None => Ok(patterns),
        Some(wrong) => Err(D::Error::custom(format_args!(
            "`{wrong}` is no pattern of names; write up to {LONGEST} letters, digits, `_`, `-`, `*` and `?`"
        ))),
    }
}

pub(super) fn principals<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, Principal>, D::Error> {
    let principals = BTreeMap::<String, Principal>::deserialize(deserializer)?;
    match principals.keys().find(|name| !is_name(name) && *name != ANYBODY) {
        None => Ok(principals),
        Some(wrong) => Err(D::Error::custom(format_args!(
            "`{wrong}` is no principal; write up to {LONGEST} letters, digits, `_` and `-`, or `*` for everybody else"
        ))),
    }
}

pub(super) fn acceleration() -> f64 {
    2.0
}

pub(super) fn walk_speed() -> f64 {
    0.2
}

pub(super) fn duration() -> f64 {
    60.0
}

pub(super) fn acts_per_minute() -> u32 {
    6
}
