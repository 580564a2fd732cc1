//! Nodes of the links: displacement increments in, wrenches on the links out.
//!
//! Flat arrays, link after link and then the payloads; see [`Nodes`] for the components of a link. Only the rows of a
//! link's own node enter its force, so every node of every time may be computed on its own.

use karakuri_dynamics::Data;
use karakuri_model::Model;
use karakuri_spatial::{Force, Matrix3, Vector3};

use super::Payload;

/// Where the mass of a link sits. Both are exact for every rigid body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Nodes {
    /// One node at the centre of mass: its displacement and the link's rotation vector over the step. (6)
    #[default]
    Com,
    /// Equimomental point masses, reduced to the displacements that matter: those of the centre of mass and of the
    /// tips of the link's three unit axes about it. No rotation is extracted, no gyroscopic term needed. (12)
    Point,
}

/// The nodes of a mechanism.
#[derive(Debug, Clone)]
pub(crate) struct NodeSet {
    kind: Nodes,
    links: Vec<Link>,
    pub(crate) payloads: Vec<Payload>,
    pub(crate) gravity: Vector3,
}

#[derive(Debug, Clone)]
struct Link {
    mass: f64,
    /// About the centre of mass, in the body's axes: the inertia `I`, or `S = (tr I/2) 1 − I`. [kg·m²] (3×3)
    moments: Matrix3,
}

impl NodeSet {
    pub(crate) fn new(
        model: &Model,
        kind: Nodes,
        payloads: Vec<Payload>,
        gravity: Vector3,
    ) -> Self {
        let link = |body: &karakuri_model::Body| {
            let I = body.inertia.about_com;
            let moments = match kind {
                Nodes::Com => I,
                Nodes::Point => Matrix3::identity() * (0.5 * I.trace()) - I,
            };
            Link { mass: body.inertia.mass, moments }
        };
        Self { kind, links: model.bodies.iter().map(link).collect(), payloads, gravity }
    }

    /// Components of a link.
    fn width(&self) -> usize {
        match self.kind {
            Nodes::Com => 6,
            Nodes::Point => 12,
        }
    }

    /// Components of all nodes.
    pub(crate) fn n_components(&self) -> usize {
        self.links.len() * self.width() + 3 * self.payloads.len()
    }

    /// Runs of components that are displacements of centres of mass and payloads; each run is x, y, z. [m]
    pub(crate) fn translations(&self) -> impl Iterator<Item = core::ops::Range<usize>> {
        let (width, n) = (self.width(), self.links.len());
        let payloads = (0..self.payloads.len()).map(move |k| n * width + 3 * k);
        (0..n).map(move |i| i * width).chain(payloads).map(|first| first..first + 3)
    }

    /// Displacement increments between two positions. [m or rad or -] (n components)
    pub(crate) fn increments(&self, from: &Data, to: &Data, du: &mut [f64]) {
        let shift = to.origin - from.origin;
        let width = self.width();
        let (of_links, of_payloads) = du.split_at_mut(self.links.len() * width);
        for (i, du) in of_links.chunks_exact_mut(width).enumerate() {
            let (R, R_next) = (&from.pose_in_world[i].rotation, &to.pose_in_world[i].rotation);
            put(du, &(to.com[i] - from.com[i] + shift));
            match self.kind {
                Nodes::Com => put(&mut du[3..], &rotation_between(R, R_next)),
                Nodes::Point => du[3..].copy_from_slice((R_next - R).as_slice()),
            }
        }
        for (payload, du) in self.payloads.iter().zip(of_payloads.chunks_exact_mut(3)) {
            let at =
                |data: &Data| data.pose_in_world[payload.body.0].transform_point(&payload.point);
            put(du, &(at(to) - at(from)));
        }
    }

    /// Velocities and accelerations of the nodes "from outside": exact, by the velocities and accelerations in `data`.
    /// (n components) each
    pub(crate) fn exact(&self, data: &Data, v: &mut [f64], a: &mut [f64]) {
        let width = self.width();
        let point = |body: usize, p: &Vector3| {
            let (V, A) = (&data.velocity[body], &data.acceleration[body]);
            let v = V.linear + V.angular.cross(p);
            (v, A.linear + A.angular.cross(p) + V.angular.cross(&v))
        };
        for i in 0..self.links.len() {
            let run = i * width..(i + 1) * width;
            let (v, a) = (&mut v[run.clone()], &mut a[run]);
            let (v_com, a_com) = point(i, &data.com[i]);
            put(v, &v_com);
            put(a, &a_com);
            let (w, alpha) = (&data.velocity[i].angular, &data.acceleration[i].angular);
            match self.kind {
                Nodes::Com => {
                    put(&mut v[3..], w);
                    put(&mut a[3..], alpha);
                }
                Nodes::Point => {
                    let columns = data.pose_in_world[i].rotation.column_iter();
                    for (j, r) in columns.enumerate() {
                        let rate = w.cross(&r);
                        put(&mut v[3 + 3 * j..], &rate);
                        put(&mut a[3 + 3 * j..], &(alpha.cross(&r) + w.cross(&rate)));
                    }
                }
            }
        }
        let first = self.links.len() * width;
        for (k, payload) in self.payloads.iter().enumerate() {
            let p = self.payload_from_origin(data, k);
            let (v_p, a_p) = point(payload.body.0, &p);
            put(&mut v[first + 3 * k..], &v_p);
            put(&mut a[first + 3 * k..], &a_p);
        }
    }

    /// The wrench on every link that its nodes need, about the data's point O. [N·m; N] (n bodies)
    pub(crate) fn forces(&self, data: &Data, v: &[f64], a: &[f64], out: &mut [Force]) {
        let width = self.width();
        for (i, (link, out)) in self.links.iter().zip(out.iter_mut()).enumerate() {
            let (v, a) = (&v[i * width..(i + 1) * width], &a[i * width..(i + 1) * width]);
            let force = (get(a) - self.gravity) * link.mass;
            let R = &data.pose_in_world[i].rotation;
            let moment = match self.kind {
                Nodes::Com => {
                    // Euler's equation in the body's axes, where the inertia is constant.
                    let (w, alpha) = (R.tr_mul(&get(&v[3..])), R.tr_mul(&get(&a[3..])));
                    R * (link.moments * alpha + w.cross(&(link.moments * w)))
                }
                Nodes::Point => {
                    let B = R * link.moments;
                    B.column(0).cross(&get(&a[3..]))
                        + B.column(1).cross(&get(&a[6..]))
                        + B.column(2).cross(&get(&a[9..]))
                }
            };
            *out = Force::new(moment + data.com[i].cross(&force), force);
        }
        let first = self.links.len() * width;
        for (k, payload) in self.payloads.iter().enumerate() {
            let force = (get(&a[first + 3 * k..]) - self.gravity) * payload.mass;
            let p = self.payload_from_origin(data, k);
            out[payload.body.0] += Force::new(p.cross(&force), force);
        }
    }

    /// `p_OP` of a payload. [m] (3)
    fn payload_from_origin(&self, data: &Data, k: usize) -> Vector3 {
        let payload = &self.payloads[k];
        data.pose_in_world[payload.body.0].transform_point(&payload.point) - data.origin
    }
}

fn put(out: &mut [f64], v: &Vector3) {
    out[..3].copy_from_slice(v.as_slice());
}

fn get(a: &[f64]) -> Vector3 {
    Vector3::new(a[0], a[1], a[2])
}

/// `log(R' Rᵀ)` in world axes. [rad] (3)
fn rotation_between(R: &Matrix3, R_next: &Matrix3) -> Vector3 {
    // The sum of the columns' cross products is 2 sin θ times the axis; that of their dot products 1 + 2 cos θ.
    let mut axis = Vector3::zeros();
    for j in 0..3 {
        axis += R.column(j).cross(&R_next.column(j)) * 0.5;
    }
    let s2 = axis.norm_squared();
    let cos = 0.5 * (R.dot(R_next) - 1.0);
    if s2 < 1e-3 && cos > 0.0 {
        // asin(s)/s; the first term left out is 0.023 s¹⁰ < 1e-16.
        let series = 1.0
            + s2 * (1.0 / 6.0 + s2 * (3.0 / 40.0 + s2 * (15.0 / 336.0 + s2 * (105.0 / 3456.0))));
        return axis * series;
    }
    let sin = s2.sqrt();
    if sin > 0.0 { axis * (sin.atan2(cos) / sin) } else { axis }
}
