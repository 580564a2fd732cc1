//! Ranges of numbers of a gait.

use core::ops::RangeInclusive;
use std::borrow::Cow;

/// A number of the gait that is out of its range.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("`{name}` is {value}; it must be {range}")]
pub struct SettingError {
    /// Name of the setting.
    pub name: &'static str,
    /// Value of the setting. [SI]
    pub value: f64,
    /// Range of values that are permitted.
    pub range: Cow<'static, str>,
}

/// Refuses a number outside the permitted range, NaN too.
pub(in super::super) fn within(
    name: &'static str,
    value: f64,
    allowed: RangeInclusive<f64>,
    range: impl Into<Cow<'static, str>>,
) -> Result<(), SettingError> {
    if allowed.contains(&value) {
        Ok(())
    } else {
        Err(SettingError { name, value, range: range.into() })
    }
}

/// Refuses as [`within`] does, with the range in numbers as its description.
pub(super) fn ranged(
    name: &'static str,
    value: f64,
    low: f64,
    high: f64,
    unit: &'static str,
) -> Result<(), SettingError> {
    let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
    within(name, value, low..=high, format!("from {low} to {high}{unit}"))
}
