//! Islands: movers that something joins, and what makes their rows, before there are any rows.
//!
//! Rows are made island by island, so that the solver finds those of an island side by side in memory.

use crate::state::mover::NO_MOVER;

/// Source of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowSource {
    /// A robot by its index: its joints.
    Robot(usize),
    /// A constraint by the index of its kind, and its own in the set.
    Constraint { kind: usize, index: usize },
}

/// The movers of a world, robots first, and what joins them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Islands {
    parents: Vec<usize>,
    /// Sources of rows, each with one of its movers.
    makers: Vec<(RowSource, usize)>,
    /// Sources sorted by island.
    sorted: Vec<(RowSource, usize)>,
    /// First places in `sorted`, by the first mover of an island.
    starts: Vec<usize>,
}

impl Islands {
    /// Puts every mover on its own.
    pub(crate) fn clear(&mut self, n_movers: usize) {
        self.parents.clear();
        self.parents.extend(0..n_movers);
        self.makers.clear();
    }

    /// Joins two movers, or none or one and the ground.
    pub(crate) fn join(&mut self, maker: RowSource, movers: [usize; 2]) {
        let [a, b] = movers;
        match (a == NO_MOVER, b == NO_MOVER) {
            (true, true) => return,
            (false, false) => join_sets(&mut self.parents, a, b),
            // The ground joins nothing: what stands on it side by side are islands of their own.
            _ => {}
        }
        self.makers.push((maker, if a == NO_MOVER { b } else { a }));
    }

    /// First mover of the island of a mover.
    pub(crate) fn first(&mut self, mover: usize) -> usize {
        root(&mut self.parents, mover)
    }

    /// Sorts what was joined by island, each in the order in which it was; ascending by their first movers.
    pub(crate) fn sort(&mut self) {
        let Self { parents, makers, sorted, starts } = self;
        starts.clear();
        starts.resize(parents.len() + 1, 0);
        // Counting sort by the first mover of the island.
        for (_, mover) in &mut *makers {
            *mover = root(parents, *mover);
            starts[*mover + 1] += 1;
        }
        // `starts[k]` counts places before k; filling moves it to the end of its run, in the order of joining.
        for k in 1..starts.len() {
            starts[k] += starts[k - 1];
        }
        sorted.clone_from(makers);
        for maker in &*makers {
            let place = &mut starts[maker.1];
            sorted[*place] = *maker;
            *place += 1;
        }
    }

    /// Sources of the rows of each island, after [`Self::sort`].
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[(RowSource, usize)]> {
        self.sorted.chunk_by(|a, b| a.1 == b.1)
    }
}

/// Makes one set of those that `a` and `b` are in.
pub(crate) fn join_sets(parents: &mut [usize], a: usize, b: usize) {
    let (a, b) = (root(parents, a), root(parents, b));
    // The lowest mover is the root, whatever the order of joins: the order of islands is that of their first movers.
    parents[a.max(b)] = a.min(b);
}

/// First of the set that `i` is in.
pub(crate) fn root(parents: &mut [usize], mut i: usize) -> usize {
    while parents[i] != i {
        // Halving of the path, without a rank: near constant in the end.
        parents[i] = parents[parents[i]];
        i = parents[i];
    }
    i
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contact(index: usize) -> RowSource {
        RowSource::Constraint { kind: 0, index }
    }

    #[test]
    fn what_joins_movers_is_sorted_by_island() {
        let mut islands = Islands::default();
        islands.clear(5);
        islands.join(RowSource::Robot(0), [0, NO_MOVER]);
        islands.join(contact(0), [4, 2]);
        islands.join(contact(1), [NO_MOVER, 3]);
        islands.join(contact(2), [NO_MOVER, NO_MOVER]);
        islands.join(contact(3), [4, NO_MOVER]);
        islands.join(contact(4), [3, 0]);
        islands.sort();
        let found: Vec<Vec<RowSource>> =
            islands.iter().map(|island| island.iter().map(|m| m.0).collect()).collect();
        let of_robot = vec![RowSource::Robot(0), contact(1), contact(4)];
        assert_eq!(found, [of_robot, vec![contact(0), contact(3)]]);
        assert_eq!([0, 1, 2, 3, 4].map(|mover| islands.first(mover)), [0, 1, 2, 0, 2]);
    }
}
