//! Degrees of freedom that carry a body.

use std::ops::Range;

use karakuri_model::{BodyId, Model};

/// Degrees of freedom between every body and the world, ascending.
#[derive(Debug, Clone)]
pub(crate) struct Chains {
    dofs: Vec<usize>,
    /// Ends in `dofs`, one a body.
    ends: Vec<usize>,
}

impl Chains {
    pub(crate) fn new(model: &Model) -> Self {
        let mut chains = Self { dofs: Vec::new(), ends: Vec::new() };
        for (i, body) in model.bodies.iter().enumerate() {
            if let Some(parent) = body.parent {
                // Parents come before their children, so their chains are complete.
                let inherited = chains.of(parent).to_vec();
                chains.dofs.extend(inherited);
            }
            let joint = &model.joints[i];
            chains.dofs.extend(joint.v_start..joint.v_start + joint.kind.nv());
            chains.ends.push(chains.dofs.len());
        }
        chains
    }

    /// Place on its chain of every degree of freedom of a body's own joint, from 1 at the root.
    pub(crate) fn depths(&self, body: BodyId, own: usize) -> Range<usize> {
        let depth = self.of(body).len();
        depth + 1 - own..depth + 1
    }

    #[inline]
    pub(crate) fn of(&self, body: BodyId) -> &[usize] {
        let start = if body.0 == 0 { 0 } else { self.ends[body.0 - 1] };
        &self.dofs[start..self.ends[body.0]]
    }
}
