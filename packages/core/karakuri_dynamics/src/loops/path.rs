//! The part of the tree that a loop closes: the coordinates between its two bodies.

use karakuri_model::{BodyId, LoopJoint, Model};

/// A degree of freedom between the two bodies of a loop joint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathDof {
    /// +1 where it carries body A, −1 where it carries body B. [-]
    pub sign: f64,
    /// Index of the velocity coordinate.
    pub dof: usize,
}

/// Degrees of freedom that move the two ends of a loop joint against each other.
pub fn loop_path(model: &Model, l: &LoopJoint) -> Vec<PathDof> {
    let mut path = Vec::new();
    for_each_between(model, l.body_a, l.body_b, |sign, dof| path.push(PathDof { sign, dof }));
    path
}

/// Coordinates and bodies that take part in loops and couplings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constrained {
    /// Velocity coordinates that a loop or a coupling constrains, ascending.
    pub dofs: Vec<usize>,
    /// Bodies that move with these coordinates, ascending.
    pub bodies: Vec<usize>,
}

/// Collects the coordinates that loops and couplings constrain.
pub fn constrained(model: &Model) -> Constrained {
    let mut is_constrained = vec![false; model.nv];
    for l in &model.loops {
        for_each_between(model, l.body_a, l.body_b, |_, k| is_constrained[k] = true);
    }
    for c in &model.couplings {
        is_constrained[model.joints[c.follower.0].v_start] = true;
        is_constrained[model.joints[c.leader.0].v_start] = true;
    }
    let mut moves = vec![false; model.bodies.len()];
    for (i, (body, joint)) in model.bodies.iter().zip(&model.joints).enumerate() {
        let by_itself =
            is_constrained[joint.v_start..joint.v_start + joint.kind.nv()].contains(&true);
        // A body moves by its own joint or with its parent, which comes before it.
        moves[i] = by_itself || body.parent.is_some_and(|p| moves[p.0]);
    }
    let chosen = |flags: &[bool]| (0..flags.len()).filter(|&k| flags[k]).collect();
    Constrained { dofs: chosen(&is_constrained), bodies: chosen(&moves) }
}

/// Visits the degrees of freedom between two bodies: with +1 those that carry only `a`, with −1 those that carry only
/// `b`. Common ancestors move neither body against the other.
fn for_each_between(
    model: &Model,
    mut a: Option<BodyId>,
    mut b: Option<BodyId>,
    mut visit: impl FnMut(f64, usize),
) {
    // Parents come before children, so the later body is never the common one.
    while a != b {
        // The world, `None`, is below every body: a side that has arrived there waits for the other.
        let (body, sign) = if a > b { (&mut a, 1.0) } else { (&mut b, -1.0) };
        let Some(BodyId(i)) = *body else { return };
        let joint = &model.joints[i];
        (joint.v_start..joint.v_start + joint.kind.nv()).for_each(|k| visit(sign, k));
        *body = model.bodies[i].parent;
    }
}
