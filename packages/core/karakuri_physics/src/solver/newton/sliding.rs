//! The least impulses of a small island that slides: of the solutions in which a face slides and turns with uneven loads, the
//! one with even loads.

use std::ops::Range;

use nalgebra::Vector3;

use super::{
    BlockState, GOAL, LEAST_REGULARISATION, Newton, REGULARISED_ACCURACY, ROUND_ACCURACY, ROUNDING,
    SLOW_PROGRESS,
};
use crate::solver::law::Softened;
use crate::solver::{Block, Problem, SolverSettings};

/// Most blocks of an island whose sliding is solved for the least impulses first: a hand, two feet. Heaps take longer for it.
const MOST_SLIDING: usize = 20;

impl Newton {
    /// Solves an island that slides from the impulses of the regularised law with centre zero, which are the least; whether that
    /// went well, and let nothing go. If not, everything is as before.
    pub(super) fn slide(
        &mut self,
        problem: &mut Problem,
        island: Range<usize>,
        settings: &SolverSettings,
    ) -> bool {
        if self.states.len() > MOST_SLIDING
            || !self.has_redundant_contacts(&problem.blocks[island.clone()])
        {
            return false;
        }
        self.before_sliding.clone_from(&self.states);
        let regularisations = [self.floor, self.least_regularisation, self.regularisation];
        // Coulomb's term in the Jacobian, centre zero, one weight for all contacts of a pair: the least impulses are even loads.
        self.make_coulomb(&problem.blocks[island.clone()]);
        let scale = self.velocity_scale(&problem.blocks[island.clone()]);
        // As little as rounding allows: with more, contacts would creep and the loads not be those of sliding.
        self.regularisation = LEAST_REGULARISATION.max(ROUNDING * scale / settings.tolerance);
        for state in &mut self.states {
            state.center = Vector3::zeros();
        }
        self.set_regularisation(&problem.blocks[island.clone()]);
        self.weigh_faces_evenly(&problem.blocks[island.clone()]);
        let enough = REGULARISED_ACCURACY * self.regularisation * scale;
        if self.round(problem, island.clone(), enough, settings)
            && self.finish_sliding(problem, island.clone(), settings)
        {
            if !self.lets_go() {
                return true;
            }
            self.loose.clear();
            self.loose.extend(self.states.iter().map(|state| state.alpha));
        }
        // All as before, so that a failed try costs only time.
        let blocks = &mut problem.blocks[island.clone()];
        for (state, block) in self.before_sliding.iter().zip(blocks) {
            block.impulse = state.alpha;
        }
        self.recompute(problem, island);
        self.states.clone_from(&self.before_sliding);
        [self.floor, self.least_regularisation, self.regularisation] = regularisations;
        false
    }

    /// Rounds from the least impulses, as long as each brings the solution much nearer; whether it is reached.
    fn finish_sliding(
        &mut self,
        problem: &mut Problem,
        island: Range<usize>,
        settings: &SolverSettings,
    ) -> bool {
        let (mut last, _) = self.accept(problem, island.clone());
        let mut before = f64::INFINITY;
        // A round that gains little will not end at the tolerance: the ordinary rounds take over.
        while last > settings.tolerance && last < SLOW_PROGRESS * before {
            before = last;
            self.set_regularisation(&problem.blocks[island.clone()]);
            let enough = (ROUND_ACCURACY * last).max(GOAL * settings.tolerance);
            if !self.round(problem, island.clone(), enough, settings) {
                return false;
            }
            (last, _) = self.accept(problem, island.clone());
        }
        last <= settings.tolerance
    }

    /// Whether a pair has more contacts than mechanics alone can load: three carry their loads as a tripod does.
    fn has_redundant_contacts(&self, blocks: &[Block]) -> bool {
        let contacts = self.states.iter().zip(blocks).filter(|(_, block)| block.is_contact());
        contacts.clone().any(|(state, _)| {
            contacts.clone().filter(|(other, _)| other.nodes == state.nodes).count() > 3
        })
    }

    /// Gives all contacts of a pair one weight, so that equal points carry equal loads wherever the centre of mass is.
    fn weigh_faces_evenly(&mut self, blocks: &[Block]) {
        for i in 0..blocks.len() {
            let nodes = self.states[i].nodes;
            let is_same =
                |(state, block): &(&BlockState, &Block)| state.nodes == nodes && block.is_contact();
            let of_pair = self.states.iter().zip(blocks).filter(is_same);
            let (n, sum) = of_pair.fold((0, 0.0), |(n, sum), (_, block)| {
                (n + 1, sum + block.inverse_effective_mass())
            });
            if blocks[i].is_contact() {
                let state = &mut self.states[i];
                state.proximal = self.regularisation * sum / f64::from(n);
                let normal = state.proximal + blocks[i].compliance;
                state.softened = Softened::new(normal, state.proximal);
            }
        }
    }
}
