//! Ranges of numbers.

use std::fmt;

/// Range of a number, with its ends but for a lower end that is open.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Interval {
    /// Lower end, in the number's unit.
    pub least: f64,
    /// Upper end, in the number's unit.
    pub most: f64,
    /// Whether the lower end is excluded.
    pub is_open: bool,
}

impl Interval {
    /// From `least` to `most`, both included.
    pub(crate) const fn closed(least: f64, most: f64) -> Self {
        Self { least, most, is_open: false }
    }

    /// Above 0, up to `most`.
    pub(crate) const fn positive(most: f64) -> Self {
        Self { least: 0.0, most, is_open: true }
    }

    /// What is in both.
    pub(crate) fn and(&self, other: &Self) -> Self {
        let is_higher = other.least > self.least || (other.is_open && other.least >= self.least);
        let lower = if is_higher { other } else { self };
        Self { least: lower.least, most: self.most.min(other.most), is_open: lower.is_open }
    }

    /// Whether a number is inside; not a number is not.
    pub(crate) fn contains(&self, number: f64) -> bool {
        let is_above = if self.is_open { number > self.least } else { number >= self.least };
        is_above && number <= self.most
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bracket = if self.is_open { '(' } else { '[' };
        write!(f, "{bracket}{}, {}]", self.least, self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_ends_are_outside() {
        let (open, closed) = (Interval::positive(1.0), Interval::closed(0.0, 1.0));
        assert!(!open.contains(0.0) && open.contains(1.0) && closed.contains(0.0));
        assert!(!closed.contains(f64::NAN) && !closed.contains(-f64::MIN_POSITIVE));
        assert!(open.and(&closed).is_open && closed.and(&open).is_open);
        assert_eq!(closed.and(&Interval::closed(0.5, 2.0)), Interval::closed(0.5, 1.0));
        assert_eq!(format!("{open} {closed}"), "(0, 1] [0, 1]");
    }
}
