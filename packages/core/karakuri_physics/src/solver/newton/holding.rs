//! What holds: impulses with which nothing slides are looked for, and kept where others solve Coulomb's law as well.
//!
//! A body between two faces that lean has two solutions: it is held, and it falls in the step so fast that both faces open. Mechanics alone does
//! not choose, and which of them a method finds is chance; a grip that holds goes on holding.

use std::ops::Range;

use super::{FINE, GOAL, Newton};
use crate::solver::{Problem, SolverSettings};

/// Distance from the desired velocity from which on a contact that stuck is let go. [m/s or rad/s]
// Gravity gives a thousand times as much in 1 ms; what creeps has a hundredth.
const LEAP: f64 = 1e-5;

impl Newton {
    /// Impulses with which nothing slides, if there are any: their natural map. Looked for once. [m/s or rad/s]
    pub(super) fn hold(
        &mut self,
        problem: &mut Problem,
        island: Range<usize>,
        settings: &SolverSettings,
    ) -> Option<f64> {
        let blocks = &problem.blocks[island.clone()];
        if !std::mem::take(&mut self.may_hold) {
            return None;
        }
        if !self.stick_search.finds(problem, blocks, GOAL * settings.tolerance) {
            return None;
        }
        for (i, state) in self.states.iter_mut().enumerate() {
            state.lambda = self.stick_search.impulse(i);
        }
        Some(self.accept(problem, island).0)
    }

    /// Whether something that stuck in the last step moves away from the velocity that is desired of it.
    pub(super) fn lets_go(&self) -> bool {
        self.states.iter().any(|state| state.stuck && state.u.norm() > LEAP)
    }

    /// Goes back to impulses that let nothing go, where those found do; else to the least that do.
    pub(super) fn keep_holding(&mut self, problem: &mut Problem, island: Range<usize>) {
        let found = [&self.held, &self.loose].into_iter().find(|found| !found.is_empty());
        let Some(found) = found else { return };
        let blocks = &mut problem.blocks[island.clone()];
        if !self.lets_go() && self.measure(blocks).0 <= FINE {
            return;
        }
        for (impulse, block) in found.iter().zip(blocks) {
            block.impulse = *impulse;
        }
        self.recompute(problem, island);
    }
}
