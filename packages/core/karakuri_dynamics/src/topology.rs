//! The tree of degrees of freedom (dofs): every velocity coordinate and its parent towards the root.
//!
//! A joint with several dofs counts as a chain of them. Every body has at least one dof
//! (the model merges fixed joints), so the chain from a body's last dof to the root passes through every
//! joint that moves the body. [Featherstone 2008, §6.5]

use std::ops::Range;

use karakuri_model::{Base, JointKind, Model};
use karakuri_spatial::Matrix3;

/// Parent of a dof that hangs on the world.
pub(crate) const WORLD: usize = usize::MAX;

/// The tree of dofs.
#[derive(Debug, Clone)]
pub(crate) struct Topology {
    /// Parent of the dof towards the root, or [`WORLD`]. (nv)
    pub(crate) dof_parent: Vec<usize>,
    /// The body that the dof moves. (nv)
    pub(crate) dof_body: Vec<usize>,
    /// First dof of a body. (n bodies)
    pub(crate) first_dof: Vec<usize>,
    /// Last dof of a body. (n bodies)
    pub(crate) last_dof: Vec<usize>,
    /// First of the run of consecutive numbers that ends at this dof, each the parent of the next. (nv)
    pub(crate) run_start: Vec<usize>,
    /// Whether the joint's placement in its parent is a mere shift, as in most URDFs. (n bodies)
    pub(crate) is_shift: Vec<bool>,
    /// Whether the dof is a custom joint's. (nv)
    pub(crate) is_custom: Vec<bool>,
    has_custom: bool,
    /// Dofs of a floating base, 6 or 0: each a unit vector of the six, translations first, as the base is at O.
    pub(crate) n_base: usize,
}

impl Topology {
    pub(crate) fn new(model: &Model) -> Self {
        let mut topology = Self {
            dof_parent: vec![WORLD; model.nv],
            dof_body: vec![0; model.nv],
            first_dof: Vec::with_capacity(model.bodies.len()),
            last_dof: Vec::with_capacity(model.bodies.len()),
            run_start: vec![0; model.nv],
            is_shift: Vec::with_capacity(model.bodies.len()),
            is_custom: vec![false; model.nv],
            has_custom: false,
            n_base: if model.base == Base::Floating { 6 } else { 0 },
        };
        for (i, (body, joint)) in model.bodies.iter().zip(&model.joints).enumerate() {
            let dofs = joint.v_start..joint.v_start + joint.kind.nv();
            // The dofs of a joint are a chain with nothing between them; the first hangs on the last dof of the parent body.
            let mut before = body.parent.map_or(WORLD, |p| topology.last_dof[p.0]);
            let custom = matches!(joint.kind, JointKind::Custom(_));
            topology.has_custom |= custom;
            topology.is_custom[dofs.clone()].fill(custom);
            for k in dofs.clone() {
                topology.dof_parent[k] = before;
                topology.dof_body[k] = i;
                before = k;
            }
            topology.first_dof.push(dofs.start);
            topology.last_dof.push(dofs.end - 1);
            // Exactly the identity, as `rpy="0 0 0"` gives it: a rotation that is merely small must not be dropped.
            topology.is_shift.push(joint.pose_in_parent.rotation == Matrix3::identity());
        }
        for k in 0..model.nv {
            let parent = topology.dof_parent[k];
            // A run goes on while the parent is the dof just before.
            let joins = parent != WORLD && parent + 1 == k;
            topology.run_start[k] = if joins { topology.run_start[parent] } else { k };
        }
        topology
    }

    /// Whether there are custom joints.
    #[inline]
    pub(crate) fn has_custom(&self) -> bool {
        self.has_custom
    }

    /// The dofs of a body.
    #[inline]
    pub(crate) fn dofs(&self, body: usize) -> Range<usize> {
        self.first_dof[body]..self.last_dof[body] + 1
    }

    /// `dof` and all dofs before it, towards the root. Empty for [`WORLD`].
    #[inline]
    pub(crate) fn chain(&self, dof: usize) -> Chain<'_> {
        Chain { parent: &self.dof_parent, next: dof }
    }
}

/// Iterator from a dof to the root.
#[derive(Debug, Clone)]
pub(crate) struct Chain<'a> {
    parent: &'a [usize],
    next: usize,
}

impl Iterator for Chain<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.next == WORLD {
            return None;
        }
        let k = self.next;
        self.next = self.parent[k];
        Some(k)
    }
}
