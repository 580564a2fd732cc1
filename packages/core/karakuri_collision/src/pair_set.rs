//! Pairs of colliders, as bits.

use crate::collider::ColliderId;

/// Bits of a word.
const WORD: usize = u64::BITS as usize;

/// A set of pairs of colliders: asked for every two boxes that overlap, so a look-up is one bit.
#[derive(Debug, Clone, Default)]
pub(crate) struct PairSet {
    /// Of the higher collider of each pair, a bit for each lower one. (n colliders; words)
    rows: Vec<Vec<u64>>,
}

impl PairSet {
    /// Adds a pair, in either order.
    pub(crate) fn insert(&mut self, a: ColliderId, b: ColliderId) {
        let (low, high) = (a.0.min(b.0), a.0.max(b.0));
        if self.rows.len() <= high {
            self.rows.resize(high + 1, Vec::new());
        }
        let row = &mut self.rows[high];
        if row.len() <= low / WORD {
            row.resize(low / WORD + 1, 0);
        }
        row[low / WORD] |= 1 << (low % WORD);
    }

    /// Whether the pair is in the set; the lower collider first.
    #[inline]
    pub(crate) fn contains(&self, low: ColliderId, high: ColliderId) -> bool {
        let word = self.rows.get(high.0).and_then(|row| row.get(low.0 / WORD));
        word.is_some_and(|word| word >> (low.0 % WORD) & 1 == 1)
    }

    /// Removes all pairs of a collider.
    pub(crate) fn remove(&mut self, id: ColliderId) {
        if let Some(row) = self.rows.get_mut(id.0) {
            row.clear();
        }
        for word in self.rows.iter_mut().filter_map(|row| row.get_mut(id.0 / WORD)) {
            *word &= !(1 << (id.0 % WORD));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The set has the pairs of a list of them, whatever was added and removed in which order.
        #[test]
        fn it_has_the_pairs_of_a_list(
            changes in prop::collection::vec((0..150_usize, 0..150_usize, prop::bool::weighted(0.1)), 0..60),
        ) {
            let (mut set, mut list) = (PairSet::default(), BTreeSet::new());
            for (a, b, is_removed) in changes {
                if is_removed {
                    set.remove(ColliderId(a));
                    list.retain(|&(low, high)| low != a && high != a);
                } else if a != b {
                    set.insert(ColliderId(a), ColliderId(b));
                    list.insert((a.min(b), a.max(b)));
                }
            }
            for low in 0..150 {
                for high in low + 1..150 {
                    let found = set.contains(ColliderId(low), ColliderId(high));
                    prop_assert_eq!(found, list.contains(&(low, high)), "{} {}", low, high);
                }
            }
        }
    }
}
