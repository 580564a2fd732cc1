//! Nodes of the links: their displacements, and the forces of their accelerations.
//!
//! Every component of every node is a number of its own; the accelerations of a link's own components and its
//! rotation are all that its force depends on, so every node of every time may be computed on its own.

use karakuri_dynamics::Data;
use karakuri_model::Model;
use karakuri_spatial::{Inertia, Matrix3, Vector3};

use super::Payload;
use super::lanes::{
    Lane, M, Number, V, cross, dot, lane, rotate, splat, splat_matrix, times, unrotate,
};
use super::places::Wrench;

/// Tolerated deviation of a rod's moments of inertia, as a part of m l²/4. [-]
const ROD_TOLERANCE: f64 = 1e-6;

/// Distribution of a link's mass over nodes. The first two are exact for every rigid body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Nodes {
    /// One node at the centre of mass: its displacement and the link's rotation vector over the step. (6)
    #[default]
    Com,
    /// Equimomental point masses, reduced to the displacements that matter: those of the centre of mass and of the
    /// tips of the link's three unit axes about it. No rotation is extracted, no gyroscopic term needed. (12)
    Point,
    /// The ends of linear beam elements from the joint to the far end of a uniform slender rod, equally long: forces alone.
    /// (3 a node)
    Beam {
        /// Elements of a link, 1 to 3.
        elements: usize,
        /// The mass sits in the nodes; otherwise it is consistent with the linear displacement between them, which is that of
        /// a rigid rod: exact. Lumped, its rotary inertia is too large by m l²/24 with two elements, m l²/6 with one.
        lumped: bool,
    },
}

impl Nodes {
    /// Most elements of a link.
    pub const MOST_ELEMENTS: usize = 3;

    /// Displacement components of a link.
    pub(super) fn width(self) -> usize {
        match self {
            Self::Com => 6,
            Self::Point => 12,
            Self::Beam { elements, .. } => 3 * (elements + 1),
        }
    }
}

/// Whether a body is a uniform slender rod that begins at its joint, or a mass at the joint.
pub(super) fn is_rod(inertia: &Inertia) -> bool {
    let (m, c) = (inertia.mass, inertia.com);
    // m l²/12 across the rod of length l = 2 |c|, nothing along it.
    let rod = (Matrix3::identity() * c.norm_squared() - c * c.transpose()) * (m / 3.0);
    (inertia.about_com - rod).abs().max() <= ROD_TOLERANCE * m * c.norm_squared()
}

/// Mass of a link and its distribution.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    /// Mass of the link. [kg]
    pub(super) mass: f64,
    /// Centre of mass in the body's frame. [m] (3)
    pub(super) com: Vector3,
    /// Inertia `I` about the centre of mass in the body's axes, or `S = (tr I/2) 1 − I`. [kg·m²] (3×3)
    moments: Matrix3,
}

impl Link {
    pub(super) fn new(kind: Nodes, inertia: &Inertia) -> Self {
        let I = inertia.about_com;
        let moments = match kind {
            Nodes::Com | Nodes::Beam { .. } => I,
            // `S = ∫ x xᵀ dm` about the centre of mass: `I = tr(S) 1 − S`, hence `tr S = ½ tr I`.
            Nodes::Point => Matrix3::identity() * (0.5 * I.trace()) - I,
        };
        Self { mass: inertia.mass, com: inertia.com, moments }
    }

    /// Wrench of a force at a point `p_BC` (world axes) and a moment.
    #[inline(always)]
    pub(super) fn wrench<T: Number>(p_BC: &V<T>, force: V<T>, moment: V<T>) -> Wrench<T> {
        Wrench { moment: moment + cross(p_BC, &force), force }
    }

    /// The wrench on a rod's nodes, `far` from its joint to its other end, for their accelerations less gravity, in
    /// world axes. `m_e/6 [[2, 1], [1, 2]]` an element, or `m_e/2` at both its nodes.
    #[inline(always)]
    pub(super) fn beam<T: Number>(
        &self,
        elements: usize,
        lumped: bool,
        far: &V<T>,
        A: impl Fn(usize) -> V<T>,
    ) -> Wrench<T> {
        let each = self.mass / elements as f64;
        let by = |x: f64| T::splat(x * each);
        let mut sum = Wrench { moment: V::zeros(), force: V::zeros() };
        for k in 0..=elements {
            let n_elements = if k == 0 || k == elements { 1.0 } else { 2.0 };
            // Of each own element a node has m_e/2 lumped, and m_e/3 consistent with m_e/6 for the other end.
            let mut force = A(k) * by(if lumped { n_elements / 2.0 } else { n_elements / 3.0 });
            if !lumped {
                if k > 0 {
                    force += A(k - 1) * by(1.0 / 6.0);
                }
                if k < elements {
                    force += A(k + 1) * by(1.0 / 6.0);
                }
            }
            let p = far * T::splat(k as f64 / elements as f64);
            sum.moment += cross(&p, &force);
            sum.force += force;
        }
        sum
    }

    /// Moment about the centre of mass for angular velocity and acceleration in world axes. [N·m] (3)
    #[inline(always)]
    pub(super) fn moment_com<T: Number>(&self, R: &M<T>, w: &V<T>, alpha: &V<T>) -> V<T> {
        // Euler's equation in the body's axes, where the inertia is constant.
        let I = splat_matrix(&self.moments);
        let (w, alpha) = (unrotate(R, w), unrotate(R, alpha));
        rotate(R, &(rotate(&I, &alpha) + cross(&w, &rotate(&I, &w))))
    }

    /// Moment about the centre of mass for the accelerations of the tips of the axes. [N·m] (3)
    #[inline(always)]
    pub(super) fn moment_point<T: Number>(&self, R: &M<T>, tips: [V<T>; 3]) -> V<T> {
        // M = Σ (R S)_j × r̈_j.
        // With r = R x for every particle, `∫ r × r̈ dm = Σ_jk S_jk r_j × r̈_k` over the columns of R.
        let B = times(R, &splat_matrix(&self.moments));
        let part = |j: usize| cross(&B.column(j).into_owned(), &tips[j]);
        part(0) + part(1) + part(2)
    }
}

/// Velocities and accelerations of all nodes "from outside", link after link and then the payloads: exact, by the
/// velocities and accelerations in `data`. (n components) each
pub(super) fn exact(
    kind: Nodes,
    model: &Model,
    payloads: &[Payload],
    data: &Data,
    v: &mut [f64],
    a: &mut [f64],
) {
    let width = kind.width();
    let point = |body: usize, p: &Vector3| {
        // Velocity and classical acceleration of a point: v + ω × p, a + α × p + ω × (v + ω × p).
        let (V, A) = (&data.velocity[body], &data.acceleration[body]);
        let v = V.linear + V.angular.cross(p);
        (v, A.linear + A.angular.cross(p) + V.angular.cross(&v))
    };
    for i in 0..model.bodies.len() {
        let run = i * width..(i + 1) * width;
        let (v, a) = (&mut v[run.clone()], &mut a[run]);
        if let Nodes::Beam { elements, .. } = kind {
            let o = data.pose_in_world[i].translation - data.origin;
            // A uniform rod that begins at its joint has its centre of mass halfway.
            let far = (data.com[i] - o) * 2.0;
            for k in 0..=elements {
                let (v_k, a_k) = point(i, &(o + far * (k as f64 / elements as f64)));
                put(&mut v[3 * k..], &v_k);
                put(&mut a[3 * k..], &a_k);
            }
            continue;
        }
        let (v_com, a_com) = point(i, &data.com[i]);
        put(v, &v_com);
        put(a, &a_com);
        let (w, alpha) = (&data.velocity[i].angular, &data.acceleration[i].angular);
        match kind {
            Nodes::Com => {
                put(&mut v[3..], w);
                put(&mut a[3..], alpha);
            }
            Nodes::Point => {
                // Columns of the rotation: ṙ = ω × r, r̈ = α × r + ω × ṙ.
                let columns = data.pose_in_world[i].rotation.column_iter();
                for (j, r) in columns.enumerate() {
                    let rate = w.cross(&r);
                    put(&mut v[3 + 3 * j..], &rate);
                    put(&mut a[3 + 3 * j..], &(alpha.cross(&r) + w.cross(&rate)));
                }
            }
            Nodes::Beam { .. } => {}
        }
    }
    let first = model.bodies.len() * width;
    for (k, payload) in payloads.iter().enumerate() {
        let body = payload.body.0;
        let p = data.pose_in_world[body].transform_point(&payload.point) - data.origin;
        let (v_p, a_p) = point(body, &p);
        put(&mut v[first + 3 * k..], &v_p);
        put(&mut a[first + 3 * k..], &a_p);
    }
}

fn put(out: &mut [f64], v: &Vector3) {
    out[..3].copy_from_slice(v.as_slice());
}

/// `log(R' Rᵀ)` in world axes. [rad] (3)
#[inline(always)]
pub(super) fn rotation_between(R: &M<Lane>, R_next: &M<Lane>) -> V<Lane> {
    // The sum of the columns' cross products is 2 sin θ times the axis; that of their dot products 1 + 2 cos θ.
    let column = |R: &M<Lane>, j: usize| R.column(j).into_owned();
    let mut axis = V::zeros();
    let mut trace: Lane = splat(&Vector3::zeros()).x;
    for j in 0..3 {
        let (from, to) = (column(R, j), column(R_next, j));
        axis += cross(&from, &to);
        trace += dot(&from, &to);
    }
    let half = lane([0.5; 4]);
    axis *= half;
    let s2 = dot(&axis, &axis);
    let (s2s, traces) = (s2.0.to_array(), trace.0.to_array());
    // A turn by nearly π has as small a sine; only the trace tells them apart, above 1 where the cosine is positive.
    if s2s.iter().all(|s2| *s2 < 1e-3) && traces.iter().all(|trace| *trace > 1.0) {
        // asin(s)/s; the first term left out is 0.023 s¹⁰ < 1e-16.
        let series = [105.0 / 3456.0, 15.0 / 336.0, 3.0 / 40.0, 1.0 / 6.0, 1.0];
        let factor = series[1..].iter().fold(lane([series[0]; 4]), |f, c| f * s2 + lane([*c; 4]));
        return axis * factor;
    }
    // Larger turns: θ from sin θ and cos θ = (tr − 1)/2.
    let factor = |s2: f64, trace: f64| {
        let sin = s2.sqrt();
        // At exactly π the cross products vanish and the axis is lost; steps of a motion are far from it.
        if sin > 0.0 { sin.atan2(0.5 * (trace - 1.0)) / sin } else { 1.0 }
    };
    axis * lane(core::array::from_fn(|k| factor(s2s[k], traces[k])))
}
