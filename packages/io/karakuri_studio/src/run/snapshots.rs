//! States to go back to: one a second, and those that a user asked for.

use std::collections::VecDeque;

use karakuri_physics::{Snapshot, World};

use crate::script::{Memory, Scripts};
use crate::wire::SnapshotReport;

/// Snapshots that are kept of each kind.
const KEPT: usize = 60;
/// Simulated time between them. [s]
const EVERY: f64 = 1.0;

/// A world as it was.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) report: SnapshotReport,
    pub(super) state: Snapshot,
    pub(super) memory: Vec<Memory>,
}

/// The snapshots of a run.
#[derive(Debug, Default)]
pub(super) struct Snapshots {
    kept: VecDeque<Kept>,
    made: u32,
    next: f64,
}

/// Digest of a world's state, as text.
pub(super) fn digest(world: &World) -> String {
    format!("{:016x}", world.state_hash())
}

impl Snapshots {
    /// Takes a snapshot.
    pub(super) fn take(&mut self, world: &World, scripts: &Scripts, asked: bool) -> SnapshotReport {
        self.made += 1;
        let report =
            SnapshotReport { id: self.made, time: world.time(), digest: digest(world), asked };
        let same = |kept: &Kept| kept.report.asked == asked;
        if self.kept.iter().filter(|kept| same(kept)).count() >= KEPT
            && let Some(oldest) = self.kept.iter().position(same)
        {
            self.kept.remove(oldest);
        }
        self.kept.push_back(Kept {
            report: report.clone(),
            state: world.snapshot(),
            memory: scripts.memory(),
        });
        report
    }

    /// Takes one if the last is a second ago.
    pub(super) fn tick(&mut self, world: &World, scripts: &Scripts) {
        if world.time() >= self.next {
            self.next = world.time() + EVERY;
            self.take(world, scripts, false);
        }
    }

    /// The snapshot of a number, or the last one that is not after a time.
    pub(super) fn find(&self, id: Option<u32>, time: Option<f64>) -> Option<&Kept> {
        if let Some(id) = id {
            return self.kept.iter().find(|kept| kept.report.id == id);
        }
        let time = time.unwrap_or(0.0);
        let before = self.kept.iter().filter(|kept| kept.report.time <= time + 1e-9);
        before.max_by(|a, b| a.report.time.total_cmp(&b.report.time))
    }

    /// Forgets what has not happened any more: snapshots of its own after a time, to which the run went back.
    pub(super) fn forget_after(&mut self, time: f64) {
        self.kept.retain(|kept| kept.report.asked || kept.report.time <= time + 1e-9);
        self.next = time + EVERY;
    }

    /// Reports of all.
    pub(super) fn reports(&self) -> Vec<SnapshotReport> {
        self.kept.iter().map(|kept| kept.report.clone()).collect()
    }
}
