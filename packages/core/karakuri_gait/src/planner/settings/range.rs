//! Ranges of numbers of a gait.

use std::borrow::Cow;

/// A number of the gait that makes no sense.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("`{name}` is {value}; it must be {range}")]
pub struct SettingError {
    /// Which.
    pub name: &'static str,
    /// What it is. [SI]
    pub value: f64,
    /// What it may be.
    pub range: Cow<'static, str>,
}

/// Refuses what is not from `low` to `high`, NaN too.
pub(in super::super) fn within(
    name: &'static str,
    value: f64,
    (low, high): (f64, f64),
    range: impl Into<Cow<'static, str>>,
) -> Result<(), SettingError> {
    if (low..=high).contains(&value) {
        Ok(())
    } else {
        Err(SettingError { name, value, range: range.into() })
    }
}

/// The same, the range told as it is.
pub(super) fn ranged(
    name: &'static str,
    value: f64,
    low: f64,
    high: f64,
    unit: &'static str,
) -> Result<(), SettingError> {
    let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
    within(name, value, (low, high), format!("from {low} to {high}{unit}"))
}
