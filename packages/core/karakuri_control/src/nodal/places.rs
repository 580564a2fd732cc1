//! Places of links: rotations and positions of a body in four samples at once, and the efforts of its joint.
//!
//! `X_WB = X_WP X_PJ X_J(q)` and `τ_k = S_k · F`, with the wrench of everything outboard about the body's own origin,
//! the last step of `{τ} = [L][T]{P}`: a hinge takes the moment about its axis, a slide the force along it.

use karakuri_model::{Joint, JointKind, JointMotion, MAX_DOFS};
use karakuri_spatial::{Force, Matrix3, Motion, Vector3};
use nalgebra::SimdValue;

use super::lanes::{
    LANES, Lane, M, Number, V, dot, rotate, sin_cos, splat, splat_matrix, times, unrotate,
};

/// The joint of a body, ready for lanes.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) parent: Option<usize>,
    pub(super) kind: JointKind,
    pub(super) q_start: usize,
    pub(super) v_start: usize,
    /// `R_PJ`; `None` is the identity. (3×3)
    rotation: Option<Matrix3>,
    /// `p_PJ`. [m] (3)
    translation: Vector3,
}

/// Rotation `R_WB` and position `p_WB` [m] of a body.
#[derive(Debug, Clone, Copy)]
pub(super) struct At<T> {
    pub(super) R: M<T>,
    pub(super) p: V<T>,
}

impl<T: Number> At<T> {
    #[inline(always)]
    pub(super) fn world() -> Self {
        Self { R: M::identity(), p: V::zeros() }
    }
}

/// Moment about the body's origin and force, in world axes. [N·m; N]
#[derive(Debug, Clone, Copy)]
pub(super) struct Wrench<T> {
    pub(super) moment: V<T>,
    pub(super) force: V<T>,
}

impl Place {
    pub(super) fn new(parent: Option<usize>, joint: &Joint) -> Self {
        let R = joint.pose_in_parent.rotation;
        Self {
            parent,
            kind: joint.kind.clone(),
            q_start: joint.q_start,
            v_start: joint.v_start,
            // Exactly the identity, as of most URDF joints, which then cost no product.
            rotation: (R != Matrix3::identity()).then_some(R),
            translation: joint.pose_in_parent.translation,
        }
    }

    /// Rotation `R_WJ` of the joint's frame on the parent's side.
    #[inline(always)]
    // R_WJ = R_WP R_PJ.
    fn frame<T: Number>(&self, R_WP: &M<T>) -> M<T> {
        match &self.rotation {
            Some(R) => times(R_WP, &splat_matrix(R)),
            None => *R_WP,
        }
    }

    /// Place of the body at the joint's own coordinates, which `q` gives.
    #[inline(always)]
    pub(super) fn body(&self, parent: &At<Lane>, q: impl Fn(usize) -> Lane) -> At<Lane> {
        // X_WJ = X_WP X_PJ; the motion of the joint follows in the joint's axes.
        let R = self.frame(&parent.R);
        let p = parent.p + rotate(&parent.R, &splat(&self.translation));
        match &self.kind {
            JointKind::Revolute { axis } => At { R: turn(&R, axis, q(0)), p },
            JointKind::Prismatic { axis } => At { R, p: p + rotate(&R, &(splat(axis) * q(0))) },
            JointKind::Spherical => At { R: times(&R, &rotation([q(0), q(1), q(2), q(3)])), p },
            JointKind::Planar { x, y } => {
                let d: V<Lane> = splat(x) * q(0) + splat(y) * q(1);
                At { R: turn(&R, &x.cross(y), q(2)), p: p + rotate(&R, &d) }
            }
            JointKind::Floating => {
                let d = rotate(&R, &V::new(q(0), q(1), q(2)));
                At { R: times(&R, &rotation([q(3), q(4), q(5), q(6)])), p: p + d }
            }
            JointKind::Custom(motion) => {
                let (mut R_JB, mut p_JB) = (M::<Lane>::identity(), V::<Lane>::zeros());
                // A custom joint knows single numbers only, so it is asked lane by lane.
                for at in 0..LANES {
                    let X_JB = motion.pose(&coordinates(motion.as_ref(), &q, at));
                    R_JB.replace(at, X_JB.rotation);
                    p_JB.replace(at, X_JB.translation);
                }
                At { R: times(&R, &R_JB), p: p + rotate(&R, &p_JB) }
            }
        }
    }

    /// Hands `put` the efforts of the joint for the wrench through it, by degree of freedom; joints whose axes do not turn with
    /// the body ask for the parent.
    #[inline(always)]
    pub(super) fn efforts<T: Number>(
        &self,
        R_WB: &M<T>,
        R_WP: impl Fn() -> M<T>,
        q: impl Fn(usize) -> T,
        F: &Wrench<T>,
        mut put: impl FnMut(usize, T),
    ) {
        let along = |R: &M<T>, axis: &Vector3, v: &V<T>| dot(&rotate(R, &splat(axis)), v);
        let column = |R: &M<T>, j: usize, v: &V<T>| dot(&R.column(j).into_owned(), v);
        // τ_k = S_k · F: a rotation takes the moment about its axis, a slide the force along it.
        match &self.kind {
            JointKind::Revolute { axis } => {
                put(
                    0,
                    match along_coordinate(axis) {
                        Some(j) => column(R_WB, j, &F.moment) * T::splat(axis[j]),
                        None => along(R_WB, axis, &F.moment),
                    },
                );
            }
            // Of hinges and slides the axis reads the same in B as in the joint's frame, whose rotation is then not needed.
            JointKind::Prismatic { axis } => put(0, along(R_WB, axis, &F.force)),
            // Axes of these joints are those of the parent side, so the parent's rotation is needed, and read only here.
            JointKind::Spherical => {
                let R = self.frame(&R_WP());
                (0..3).for_each(|j| put(j, column(&R, j, &F.moment)));
            }
            JointKind::Planar { x, y } => {
                let R = self.frame(&R_WP());
                put(0, along(&R, x, &F.force));
                put(1, along(&R, y, &F.force));
                put(2, along(&R, &x.cross(y), &F.moment));
            }
            JointKind::Floating => {
                let R = self.frame(&R_WP());
                for j in 0..3 {
                    put(j, column(&R, j, &F.force));
                    put(3 + j, column(&R, j, &F.moment));
                }
            }
            JointKind::Custom(motion) => {
                let R = self.frame(&R_WP());
                let (moment, force) = (unrotate(&R, &F.moment), unrotate(&R, &F.force));
                let n = motion.dof_kinds().len();
                let mut efforts = [T::splat(0.0); MAX_DOFS];
                for at in 0..T::LANES {
                    let mut S = [Motion::default(); MAX_DOFS];
                    motion.subspace(&coordinates(motion.as_ref(), &q, at), &mut S[..n]);
                    let F = Force::new(moment.extract(at), force.extract(at));
                    for (effort, S) in efforts.iter_mut().zip(&S[..n]) {
                        effort.replace(at, S.dot(&F));
                    }
                }
                (0..n).for_each(|k| put(k, efforts[k]));
            }
        }
    }
}

/// The coordinates of a custom joint in one lane.
fn coordinates<T: Number>(
    motion: &dyn JointMotion,
    q: &impl Fn(usize) -> T,
    at: usize,
) -> Coordinates {
    let n = motion.dof_kinds().len();
    Coordinates { n, q: std::array::from_fn(|k| if k < n { q(k).extract(at) } else { 0.0 }) }
}

/// Coordinates of a custom joint, at most six.
struct Coordinates {
    n: usize,
    q: [f64; MAX_DOFS],
}

impl std::ops::Deref for Coordinates {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.q[..self.n]
    }
}

/// The coordinate axis that an axis lies along, if it does.
fn along_coordinate(axis: &Vector3) -> Option<usize> {
    (0..3).find(|j| axis[(j + 1) % 3] == 0.0 && axis[(j + 2) % 3] == 0.0)
}

/// `R · Rot(axis, angle)`; cheap along the coordinate axes.
#[inline(always)]
fn turn(R: &M<Lane>, axis: &Vector3, angle: Lane) -> M<Lane> {
    let (sin, cos) = sin_cos(angle);
    let column = |j: usize| R.column(j).into_owned();
    let Some(j) = along_coordinate(axis) else {
        return times(R, &about(axis, sin, cos));
    };
    let (k, l) = ((j + 1) % 3, (j + 2) % 3);
    // The column along the axis stays, the other two turn in their plane.
    let s = sin * Lane::splat(axis[j]);
    let (a, b) = (column(k), column(l));
    let mut out = *R;
    out.set_column(k, &(a * cos + b * s));
    out.set_column(l, &(b * cos - a * s));
    out
}

/// `1 cos + [a] sin + a aᵀ (1 − cos)`.
#[inline(always)]
fn about(axis: &Vector3, sin: Lane, cos: Lane) -> M<Lane> {
    // Rodrigues' formula: with b = a (1 − cos θ) and s = a sin θ every entry is one product and one sum.
    let a: V<Lane> = splat(axis);
    let b = a * (Lane::splat(1.0) - cos);
    let s = a * sin;
    M::new(
        a.x * b.x + cos,
        a.x * b.y - s.z,
        a.x * b.z + s.y,
        a.x * b.y + s.z,
        a.y * b.y + cos,
        a.y * b.z - s.x,
        a.x * b.z - s.y,
        a.y * b.z + s.x,
        a.z * b.z + cos,
    )
}

/// The matrix of a unit quaternion `x y z w`.
#[inline(always)]
fn rotation([x, y, z, w]: [Lane; 4]) -> M<Lane> {
    let one = Lane::splat(1.0);
    // Doubled once here, every entry below takes two products.
    let (x2, y2, z2) = (x + x, y + y, z + z);
    M::new(
        one - y2 * y - z2 * z,
        x2 * y - z2 * w,
        x2 * z + y2 * w,
        x2 * y + z2 * w,
        one - x2 * x - z2 * z,
        y2 * z - x2 * w,
        x2 * z - y2 * w,
        y2 * z + x2 * w,
        one - x2 * x - y2 * y,
    )
}
