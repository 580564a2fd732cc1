//! Rate of transforms: limited as in `robot_state_publisher`, by the stamps of the messages.

use std::collections::BTreeMap;
use std::time::Duration;

use karakuri_spatial::Time;

/// Backward step of a stamp beyond which it belongs to another time: after a jump back of the clock, messages from before it
/// may still arrive and be noted.
const JUMP: Duration = Duration::from_secs(2);

/// Stamp of the last publication of each joint.
#[derive(Debug, Default)]
pub(crate) struct Rate {
    published: BTreeMap<String, Time>,
}

impl Rate {
    /// Whether a message stamped `stamp` is to be published: its least recently published joint is at least `period`
    /// old, or was never published.
    pub(crate) fn is_due<'a>(
        &self,
        names: impl Iterator<Item = &'a String>,
        stamp: Time,
        period: Duration,
    ) -> bool {
        let last = names.map(|name| self.published.get(name).copied()).min().flatten();
        last.is_none_or(|last| stamp >= last + period || stamp + JUMP < last)
    }

    /// Notes that these joints were published.
    pub(crate) fn note<'a>(&mut self, names: impl Iterator<Item = &'a String>, stamp: Time) {
        for name in names {
            match self.published.get_mut(name) {
                Some(last) => *last = stamp,
                None => drop(self.published.insert(name.clone(), stamp)),
            }
        }
    }

    /// Forgets everything, as after a jump back of time.
    pub(crate) fn clear(&mut self) {
        self.published.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_published_joint_decides() {
        let at = |ms: i64| Time::from_nanoseconds(ms * 1_000_000);
        let (arm, hand) = (["a".to_owned()], ["h".to_owned()]);
        let period = Duration::from_millis(50);
        let mut rate = Rate::default();
        assert!(rate.is_due(arm.iter(), at(1000), period));
        rate.note(arm.iter(), at(1000));
        assert!(!rate.is_due(arm.iter(), at(1049), period));
        assert!(rate.is_due(arm.iter(), at(1050), period));
        assert!(rate.is_due(arm.iter().chain(&hand), at(1001), period), "the hand is new");
        assert!(rate.is_due(arm.iter().chain(&hand), at(-1001), period), "time has jumped back");
        rate.clear();
        assert!(rate.is_due(arm.iter(), at(5), period));
    }
}
