//! State from which a plan goes on; a candidate has one of its own.

use super::preview::CartState;
use super::swing::Course;

/// Increments of position that are kept for the extrapolation.
pub(super) const N_INCREMENTS: usize = 4;

/// State of one pass: its cart, and its last posture.
#[derive(Debug, Clone, Default)]
pub(super) struct Pass {
    pub(super) cart: [CartState; 2],
    pub(super) end: End,
}

/// End of a row of postures.
#[derive(Debug, Default)]
pub(super) struct End {
    /// Last posture. (nq)
    pub(super) q: Vec<f64>,
    /// Increments of position from posture to posture, newest last. (4 × nv)
    pub(super) increments: [Vec<f64>; N_INCREMENTS],
}

impl Clone for End {
    fn clone(&self) -> Self {
        Self { q: self.q.clone(), increments: self.increments.clone() }
    }

    fn clone_from(&mut self, other: &Self) {
        self.q.clone_from(&other.q);
        for (increment, other) in self.increments.iter_mut().zip(&other.increments) {
            increment.clone_from(other);
        }
    }
}

impl Pass {
    /// Becomes another pass, in the memory that it has.
    fn assign(&mut self, other: &Self) {
        self.cart = other.cart;
        self.end.clone_from(&other.end);
    }
}

/// Motion by which a leaning trunk comes upright again.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Righting {
    /// Sample at which it began, and how many it takes.
    pub(super) from: u64,
    pub(super) span: f64,
    /// Roll and pitch beyond the gait's lean. [rad] (2)
    pub(super) lean: [Course; 2],
}

impl Righting {
    /// Roll and pitch, and their rates. [rad, rad per sample] (2)
    pub(super) fn lean(&self, index: u64) -> [(f64, f64); 2] {
        // One sample earlier it came from where its rate says.
        let at = index as f64 - self.from as f64;
        self.lean.map(|course| {
            if at < 0.0 {
                (course.from + at * course.rate, course.rate)
            } else {
                course.at(at, self.span.max(1.0))
            }
        })
    }
}

/// State of a plan, from which it goes on.
#[derive(Debug, Clone, Default)]
pub(super) struct PlanState {
    /// States of the passes before each sample of the last chunk and after it. (n+1 × passes)
    pub(super) states: Vec<Pass>,
    /// Number of samples of the last chunk.
    pub(super) n_states: usize,
    pub(super) righting: Righting,
    /// Index of the sample that comes next.
    pub(super) next_index: u64,
}

impl PlanState {
    /// Becomes the state of another plan before one of the samples of its last chunk.
    pub(super) fn branch_off(&mut self, from: &Self, n_passes: usize, index: u64) {
        let back = usize::try_from(from.next_index.saturating_sub(index)).unwrap_or(usize::MAX);
        // States are kept before every sample of the chunk for this: a candidate begins at any of them.
        let first = from.n_states.saturating_sub(back) * n_passes;
        // All passes at this sample; what lies behind is the future of the plan that is left.
        self.set_states(&from.states[first..first + n_passes]);
        *self = Self {
            states: core::mem::take(&mut self.states),
            n_states: 0,
            righting: from.righting,
            next_index: index,
        };
    }

    /// Becomes another state, in the memory that it has.
    pub(super) fn assign(&mut self, other: &Self, n_passes: usize) {
        self.set_states(&other.states[..(other.n_states + 1) * n_passes]);
        let states = core::mem::take(&mut self.states);
        *self = Self { states, ..*other };
    }

    /// Sets the first states; those behind stay as memory.
    fn set_states(&mut self, states: &[Pass]) {
        // Never shortened: what lies behind is memory for longer chunks.
        let n = self.states.len().max(states.len());
        self.states.resize_with(n, Pass::default);
        for (to, from) in self.states.iter_mut().zip(states) {
            to.assign(from);
        }
    }
}
