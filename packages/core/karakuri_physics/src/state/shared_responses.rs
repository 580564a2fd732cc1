//! Responses of a robot to unit efforts, which the rows of its joints and of its contacts share.
//!
//! A response costs a walk over the whole tree, three side by side hardly more than one. So those of three neighbouring degrees of
//! freedom are found when the first of them is asked for, and where they are known that of any row is their sum:
//!
//! ```text
//! Y = Â⁻¹ Jᵀ = Σ J_k Â⁻¹ e_k       over the degrees of freedom between the base and the contact
//! ```

/// Degrees of freedom whose responses are found together.
const TOGETHER: usize = 3;

/// Most groups of unit efforts that a contact finds for itself: as many cost as its own three rows, and its neighbours share them.
const MOST_NEW: usize = 1;

/// The responses, from when they are first asked for to the end of the rows of a step.
#[derive(Debug, Clone, Default)]
pub(crate) struct SharedResponses {
    /// To unit efforts on each degree of freedom. (nv × nv)
    units: Vec<f64>,
    /// Whether those of a group are known.
    known: Vec<bool>,
}

impl SharedResponses {
    /// Forgets them: the operator is another.
    pub(crate) fn forget(&mut self) {
        self.known.fill(false);
    }

    /// Response to a unit effort on one degree of freedom; `respond` makes those of three rows of efforts, in place. (nv; 3·nv)
    pub(crate) fn unit(
        &mut self,
        dof: usize,
        response: &mut [f64],
        respond: impl FnOnce(&mut [f64]),
    ) {
        let nv = response.len();
        self.find(dof / TOGETHER, nv, respond);
        response.copy_from_slice(&self.units[dof * nv..][..nv]);
    }

    /// Responses to the three rows of a contact on one robot, from those to unit efforts; false, and none, where too many of these would
    /// have to be found. (3·nv; 3·nv)
    pub(crate) fn of_contact(
        &mut self,
        rows: &[f64],
        responses: &mut [f64],
        mut respond: impl FnMut(&mut [f64]),
    ) -> bool {
        let nv = rows.len() / 3;
        let (x, yz) = rows.split_at(nv);
        let (y, z) = yz.split_at(nv);
        let acts = |dof: &usize| x[*dof] != 0.0 || y[*dof] != 0.0 || z[*dof] != 0.0;
        let of_group = |group: usize| TOGETHER * group..nv.min(TOGETHER * (group + 1));
        let groups =
            || (0..nv.div_ceil(TOGETHER)).filter(|group| of_group(*group).any(|k| acts(&k)));
        let is_known = |group: &usize| self.known.get(*group).copied().unwrap_or(false);
        if groups().filter(|group| !is_known(group)).nth(MOST_NEW).is_some() {
            return false;
        }
        for group in groups() {
            self.find(group, nv, &mut respond);
        }
        responses.fill(0.0);
        let (of_x, of_yz) = responses.split_at_mut(nv);
        let (of_y, of_z) = of_yz.split_at_mut(nv);
        for dof in (0..nv).filter(acts) {
            let (x, y, z) = (x[dof], y[dof], z[dof]);
            let responses = of_x.iter_mut().zip(&mut *of_y).zip(&mut *of_z);
            for (((of_x, of_y), of_z), unit) in responses.zip(&self.units[dof * nv..][..nv]) {
                *of_x += x * unit;
                *of_y += y * unit;
                *of_z += z * unit;
            }
        }
        true
    }

    /// Finds the responses of a group, if they are not known.
    fn find(&mut self, group: usize, nv: usize, respond: impl FnOnce(&mut [f64])) {
        let first = TOGETHER * group;
        if self.known.get(group) == Some(&true) {
            return;
        }
        // Whole groups, so that the last one has three rows, too.
        let n_groups = nv.div_ceil(TOGETHER);
        self.known.resize(n_groups, false);
        self.units.resize(n_groups * TOGETHER * nv, 0.0);
        let rows = &mut self.units[first * nv..][..TOGETHER * nv];
        rows.fill(0.0);
        for (k, row) in (first..nv).zip(rows.chunks_exact_mut(nv)) {
            row[k] = 1.0;
        }
        respond(rows);
        self.known[group] = true;
    }
}
