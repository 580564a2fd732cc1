//! Responses of a robot to unit efforts, which the rows of its joints share.
//!
//! A response costs a walk over the whole tree, three side by side hardly more than one. Rows of joints come one after the other, so
//! the responses of three neighbouring degrees of freedom are found when the first of them is asked for.

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

    /// Response to a unit effort on one degree of freedom; `respond` makes those of three rows of efforts, in place. (nv; 3·nv)
    pub(crate) fn unit(
        &mut self,
        dof: usize,
        response: &mut [f64],
        respond: impl FnOnce(&mut [f64]),
    ) {
        let (nv, first) = (response.len(), dof - dof % 3);
        if self.first_unit != Some(first) {
            self.units.clear();
            self.units.resize(3 * nv, 0.0);
            for (k, row) in (first..nv).zip(self.units.chunks_exact_mut(nv)) {
                row[k] = 1.0;
            }
            respond(&mut self.units);
            self.first_unit = Some(first);
        }
        let at = (dof - first) * nv;
        response.copy_from_slice(&self.units[at..at + nv]);
    }
}
