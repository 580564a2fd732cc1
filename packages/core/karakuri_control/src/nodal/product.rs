//! `[L]`, `[T]` and `{P}` of one instant, written out.
//!
//! `{τ} = [L][T]{P}` for the tree with its loops cut: `{P}` holds the nodal force and moment of every link and the force of
//! everything beyond each of its outboard points, `[T] = diag(R_jᵀ, …)` turns them into the link's axes, and row i of `[L]`
//! has `aᵢᵀ R_j ([c_j], 1, [d_j1], …)` for every link j that joint i carries. Planar mechanisms are written with two components
//! a force and one a moment, `(−c_y, c_x, 1 | −d_y, d_x | …)`. The code that computes motions adds up the same terms without
//! the matrices. Units: m, N, N·m; `{P}` in world axes.

use karakuri_dynamics::{Data, forward_kinematics, update_accelerations, update_velocities};
use karakuri_spatial::{Matrix3, Vector3};

use super::Mechanism;

/// A length, a direction or a velocity of a degree of freedom below this is rounding. [m], [-]
const ROUNDING: f64 = 1e-12;

/// Kind of an entry of `{P}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Component of the link's nodal force. [N]
    Force,
    /// Component of the link's nodal moment. [N·m]
    Moment,
    /// Component of the force at an outboard point: of a child's subtree, a payload or an exerted force. [N]
    Beyond,
}

/// The three factors and their product.
#[derive(Debug, Clone, PartialEq)]
pub struct Product {
    /// Two components a force and one a moment, or three and three.
    pub planar: bool,
    /// Body of each column of `[L]`, and what it multiplies. (n columns)
    pub columns: Vec<(usize, Part)>,
    /// `[L]`, row-major. [m or 1] (nv × n columns)
    pub lengths: Vec<f64>,
    /// `[T]`, row-major. (n columns × n columns)
    pub turns: Vec<f64>,
    /// `{P}`. [N or N·m] (n columns)
    pub forces: Vec<f64>,
    /// Efforts of the tree, without rotors. [N·m or N] (nv)
    pub tau: Vec<f64>,
}

/// A link's own part of the factors.
struct Link {
    R: Matrix3,
    force: Vector3,
    moment: Vector3,
    /// Vector from the joint to the centre of mass, in world axes.
    c: Vector3,
    /// Offsets and forces of the outboard points, in world axes.
    beyond: Vec<(Vector3, Vector3)>,
}

impl Link {
    fn total(&self) -> Vector3 {
        self.beyond.iter().fold(self.force, |sum, (_, Q)| sum + Q)
    }
}

impl Mechanism {
    /// The factors for positions [rad or m] (nq), velocities, accelerations (nv), and exerted forces in world axes, or
    /// none [N] (n points × 3).
    pub fn product(&self, [q, v, vdot]: [&[f64]; 3], exerted: &[f64]) -> Product {
        let model = &self.model;
        let mut data = Data::new(model);
        forward_kinematics(model, &mut data, q);
        update_velocities(model, &mut data, v);
        update_accelerations(model, &mut data, v, vdot);
        let links = self.links(&data, exerted);
        // Axes along z, slides across it, every link's z upright: then two components a force and one a moment leave nothing out.
        let planar = (0..model.nv).all(|k| {
            let S = &data.subspace[k];
            S.angular.xy().norm() < ROUNDING && S.linear.z.abs() < ROUNDING
        }) && links.iter().all(|link| (link.R.m33 - 1.0).abs() < ROUNDING);
        let mut product = Product {
            planar,
            columns: Vec::new(),
            lengths: Vec::new(),
            turns: Vec::new(),
            forces: Vec::new(),
            tau: vec![0.0; model.nv],
        };
        for (j, link) in links.iter().enumerate() {
            product.add_forces(j, link);
        }
        product.fill_turns(&links);
        for (i, joint) in model.joints.iter().enumerate() {
            for k in joint.v_start..joint.v_start + joint.kind.nv() {
                let S = &data.subspace[k];
                let at = data.pose_in_world[i].translation - data.origin;
                // Motion of the joint's own point: a slide, or a degree of freedom that does not turn about it.
                let mut along = S.linear + S.angular.cross(&at);
                along.iter_mut().filter(|x| x.abs() < ROUNDING).for_each(|x| *x = 0.0);
                for (j, link) in links.iter().enumerate() {
                    if self.carries(i, j) {
                        // A slide takes the force at its own link, among whose outboard forces are those of all links beyond.
                        let along = if i == j { along } else { Vector3::zeros() };
                        product.add_lengths(link, &S.angular, &along);
                    } else {
                        // Zeros, as all rows of [L] have the same columns.
                        let n = product.columns.iter().filter(|(body, _)| *body == j).count();
                        product.lengths.extend(core::iter::repeat_n(0.0, n));
                    }
                }
            }
        }
        product.multiply();
        product
    }

    /// Whether joint `i` moves body `j`.
    fn carries(&self, i: usize, j: usize) -> bool {
        let mut body = Some(j);
        while let Some(j) = body {
            if i == j {
                return true;
            }
            body = self.model.bodies[j].parent.map(|p| p.0);
        }
        false
    }

    fn links(&self, data: &Data, exerted: &[f64]) -> Vec<Link> {
        let model = &self.model;
        let acceleration = |i: usize, p: &Vector3| {
            // Classical acceleration of a point: a + α × p + ω × (v + ω × p).
            let (V, A) = (&data.velocity[i], &data.acceleration[i]);
            let v = V.linear + V.angular.cross(p);
            A.linear + A.angular.cross(p) + V.angular.cross(&v)
        };
        let mut links: Vec<Link> = Vec::with_capacity(model.bodies.len());
        for (i, body) in model.bodies.iter().enumerate() {
            let (X, com) = (&data.pose_in_world[i], &data.com[i]);
            let I = X.rotation * body.inertia.about_com * X.rotation.transpose();
            let (w, alpha) = (&data.velocity[i].angular, &data.acceleration[i].angular);
            // f = m (a − g), M = I α + ω × I ω, in world axes.
            links.push(Link {
                R: X.rotation,
                force: (acceleration(i, com) - self.gravity) * body.inertia.mass,
                moment: I * alpha + w.cross(&(I * w)),
                c: com - (X.translation - data.origin),
                beyond: Vec::new(),
            });
        }
        let forces = exerted.chunks_exact(3).map(Vector3::from_column_slice);
        let mut points: Vec<(usize, Vector3, Vector3)> = Vec::new();
        for payload in &self.payloads {
            let i = payload.body.0;
            let d = data.pose_in_world[i].rotation * payload.point;
            let p = data.pose_in_world[i].translation - data.origin + d;
            points.push((i, d, (acceleration(i, &p) - self.gravity) * payload.mass));
        }
        for (point, F) in self.force_points.iter().zip(forces) {
            let i = point.body.0;
            points.push((i, data.pose_in_world[i].rotation * point.point, F));
        }
        for i in (0..links.len()).rev() {
            // Children come after their parents: all that they carry is known.
            for child in i + 1..links.len() {
                if model.bodies[child].parent.is_some_and(|p| p.0 == i) {
                    let d =
                        data.pose_in_world[child].translation - data.pose_in_world[i].translation;
                    let Q = links[child].total();
                    links[i].beyond.push((d, Q));
                }
            }
            let own = points.iter().filter(|(body, ..)| *body == i);
            links[i].beyond.extend(own.map(|(_, d, F)| (*d, *F)));
        }
        links
    }
}

impl Product {
    /// Components of a vector that are written.
    fn parts(&self) -> core::ops::Range<usize> {
        if self.planar { 0..2 } else { 0..3 }
    }

    fn add_forces(&mut self, body: usize, link: &Link) {
        let mut add = |part: Part, v: &Vector3, range: core::ops::Range<usize>| {
            for k in range {
                self.columns.push((body, part));
                self.forces.push(v[k]);
            }
        };
        let (parts, turning) = if self.planar { (0..2, 2..3) } else { (0..3, 0..3) };
        add(Part::Force, &link.force, parts.clone());
        add(Part::Moment, &link.moment, turning);
        for (_, Q) in &link.beyond {
            add(Part::Beyond, Q, parts.clone());
        }
    }

    fn fill_turns(&mut self, links: &[Link]) {
        let n = self.columns.len();
        self.turns = vec![0.0; n * n];
        let mut at = 0;
        while at < n {
            // Every force and moment has its block R_jᵀ; a planar moment is not turned.
            let (body, part) = self.columns[at];
            if self.planar && part == Part::Moment {
                self.turns[at * n + at] = 1.0;
                at += 1;
                continue;
            }
            let R = &links[body].R;
            for a in self.parts() {
                for b in self.parts() {
                    self.turns[(at + a) * n + at + b] = R[(b, a)];
                }
            }
            at += self.parts().len();
        }
    }

    /// One row's entries for one link: the components of its forces along an axis and a slide, in its axes.
    fn add_lengths(&mut self, link: &Link, axis: &Vector3, along: &Vector3) {
        let turned = |v: Vector3| {
            // [T] has turned the forces into the link's axes already.
            let mut v = link.R.transpose() * v;
            v.iter_mut().filter(|x| x.abs() < ROUNDING).for_each(|x| *x = 0.0);
            v
        };
        // aᵀ (d × F) = (a × d)ᵀ F.
        let lever = |d: &Vector3| turned(axis.cross(d) + along);
        let parts = self.parts();
        let moments = if self.planar { 2..3 } else { 0..3 };
        self.lengths.extend(parts.clone().map(|k| lever(&link.c)[k]));
        let a = turned(*axis);
        self.lengths.extend(moments.map(|k| a[k]));
        for (d, _) in &link.beyond {
            let lever = lever(d);
            self.lengths.extend(parts.clone().map(|k| lever[k]));
        }
    }

    /// Multiplies `{τ} = [L][T]{P}` out.
    fn multiply(&mut self) {
        let turned = self.turned();
        let n = self.columns.len().max(1);
        for (tau, row) in self.tau.iter_mut().zip(self.lengths.chunks_exact(n)) {
            *tau = row.iter().zip(&turned).map(|(l, p)| l * p).sum();
        }
    }

    /// `[T]{P}`. (n columns)
    pub fn turned(&self) -> Vec<f64> {
        let rows = self.turns.chunks_exact(self.columns.len().max(1));
        rows.map(|row| row.iter().zip(&self.forces).map(|(t, p)| t * p).sum()).collect()
    }
}
