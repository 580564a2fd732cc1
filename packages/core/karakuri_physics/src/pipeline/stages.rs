//! The stages of a step, reported to an observer: the world reads no clock, an observer may.

use crate::solver::Problem;

/// A stage of [`crate::World::step`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Contacts are found and matched to those of the last step.
    Collision,
    /// Velocities without contacts, operators factorised; impacts of bodies that bounce.
    FreeMotion,
    /// Rows of contacts, limits, friction and springs, and their islands.
    Rows,
    /// The solver on all islands.
    Solve,
    /// Penetrations undone, impulses remembered, sensors read, positions moved, energy booked.
    Integrate,
}

impl Stage {
    /// All stages, in the order of a step.
    pub const ALL: [Self; 5] =
        [Self::Collision, Self::FreeMotion, Self::Rows, Self::Solve, Self::Integrate];

    /// Name of the stage in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Collision => "collision",
            Self::FreeMotion => "free_motion",
            Self::Rows => "rows",
            Self::Solve => "solve",
            Self::Integrate => "integrate",
        }
    }

    /// Work that its time holds, in words.
    pub fn holds(self) -> &'static str {
        match self {
            Self::Collision => {
                "contacts found and matched to those of the last step; with the energy ledger, energies before"
            }
            Self::FreeMotion => {
                "velocities without contacts, inertia factorised, impacts of what bounces"
            }
            Self::Rows => "rows of contacts, limits, friction and springs, and their islands",
            Self::Solve => "the contact solver",
            Self::Integrate => {
                "penetrations undone, sensors read, positions moved; with the energy ledger, its booking"
            }
        }
    }
}

/// Is called as the stages of a step begin.
pub trait StageObserver {
    /// A stage begins, and the one before is over. Free motion, rows and solve come again where a drive turned out to
    /// saturate.
    fn enter(&mut self, stage: Stage);

    /// The contact problem that is about to be solved, with the impulses that the solver starts from.
    fn problem(&mut self, _problem: &Problem) {}
}

/// Observes nothing, and costs nothing.
impl StageObserver for () {
    #[inline]
    fn enter(&mut self, _stage: Stage) {}
}
