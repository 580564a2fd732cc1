//! Responses of a robot to unit efforts, which the rows of its joints share.
//!
//! A response costs a walk over the whole tree, three side by side hardly more than one. Rows of joints come one after the other, so
//! the responses of three neighbouring degrees of freedom are found when the first of them is asked for.

use crate::state::robot::Robot;

/// The responses, from when they are first asked for to the end of the rows of a step.
#[derive(Debug, Clone, Default)]
pub(crate) struct SharedResponses {
    /// To unit efforts on three neighbouring degrees of freedom; the first of them. (3·nv)
    units: Vec<f64>,
    first_unit: Option<usize>,
}

impl SharedResponses {
    /// Forgets them: the operator is another.
    pub(crate) fn forget(&mut self) {
        self.first_unit = None;
    }
}

impl Robot {
    /// [`Self::respond`] for a unit effort on one degree of freedom. (nv)
    pub(crate) fn respond_to_unit(&mut self, dof: usize, response: &mut [f64]) {
        if !self.factor.keeps_mass_matrix() {
            // Along a long chain three responses cost three times as much as one.
            response.fill(0.0);
            response[dof] = 1.0;
            self.respond(response);
            return;
        }
        let (nv, first) = (response.len(), dof - dof % 3);
        let mut shared = std::mem::take(&mut self.shared_responses);
        if shared.first_unit != Some(first) {
            shared.units.clear();
            shared.units.resize(3 * nv, 0.0);
            for (k, row) in (first..nv).zip(shared.units.chunks_exact_mut(nv)) {
                row[k] = 1.0;
            }
            self.respond_to_three(&mut shared.units);
            shared.first_unit = Some(first);
        }
        let at = (dof - first) * nv;
        response.copy_from_slice(&shared.units[at..at + nv]);
        self.shared_responses = shared;
    }
}
