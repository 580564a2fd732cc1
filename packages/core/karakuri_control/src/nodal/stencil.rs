//! One instant: position, velocity and acceleration of the joints, through three neighbouring positions of the nodes.
//!
//! `q(±h) = q ± h v + h² v̇/2` side by side in three lanes, then central differences of the nodes' displacements.
//! Nothing is kept between instants.

use karakuri_dynamics::integrate;
use karakuri_model::Model;
use karakuri_spatial::{Force, Vector3};

use super::Nodes;
use super::lanes::{Lane, V, gather, rotate, splat};
use super::nodes::Link;
use super::places::{At, Place, Wrench};

/// Step `h` of the differences. Truncation is `h² u⁗/12`, rounding `2.4·10⁻¹⁶ |u|/h²`: at 1 ms the former dominates (1e-5 of
/// gravity at 10 rad/s and 1 m), at 0.1 ms the latter (3e-8 and growing). [s]
const STEP: f64 = 2.5e-4;

/// The scheme at one instant, for a tree; see [`super::Scheme`] for motions, payloads and loops.
#[derive(Debug, Clone)]
pub struct Stencil {
    places: Vec<Place>,
    links: Vec<Link>,
    gravity: Vector3,
    /// Positions before, at and after. (3 × nq)
    q: Vec<f64>,
    rate: Vec<f64>,
    /// Places of the world and then of the bodies. (1 + n bodies) each
    at: Vec<At<Lane>>,
    body: Vec<At<f64>>,
    wrenches: Vec<Wrench<f64>>,
}

impl Stencil {
    /// Sets the gravitational acceleration, in world axes. [m/s²] (3)
    pub fn set_gravity(&mut self, gravity: &Vector3) {
        self.gravity = *gravity;
    }

    /// Scratch for a model. `gravity`: [m/s²] (3)
    pub fn new(model: &Model, gravity: Vector3) -> Self {
        let n = model.bodies.len();
        let zero = Wrench { moment: V::zeros(), force: V::zeros() };
        let place =
            |(body, joint): (&karakuri_model::Body, _)| Place::new(body.parent.map(|p| p.0), joint);
        Self {
            places: model.bodies.iter().zip(&model.joints).map(place).collect(),
            // `Point` needs no logarithm of a rotation and no velocity: three positions are all there is here.
            links: model.bodies.iter().map(|b| Link::new(Nodes::Point, &b.inertia)).collect(),
            gravity,
            q: [(); 3].iter().flat_map(|()| model.neutral_position()).collect(),
            rate: vec![0.0; model.nv],
            at: vec![At::world(); n + 1],
            body: vec![At::world(); n + 1],
            wrenches: vec![zero; n],
        }
    }

    /// Efforts of the tree with its loops cut, without armature and damping, for positions [rad or m] (nq), velocities
    /// and accelerations (nv), and wrenches of the surroundings on the bodies at their origins, in world axes, or none
    /// [N·m; N] (n bodies). [N·m or N] (nv)
    pub fn efforts(
        &mut self,
        model: &Model,
        [q, v, vdot]: [&[f64]; 3],
        external: &[Force],
        tau: &mut [f64],
    ) {
        let nq = model.nq;
        self.q[nq..2 * nq].copy_from_slice(q);
        // q(±h) = q ⊕ h (±v + h v̇/2): exact for constant acceleration, so the differences return v̇ to second order.
        for (sign, slot) in [(-1.0, 0), (1.0, 2)] {
            for ((rate, v), vdot) in self.rate.iter_mut().zip(v).zip(vdot) {
                *rate = sign * v + 0.5 * STEP * vdot;
            }
            let moved = &mut self.q[slot * nq..(slot + 1) * nq];
            integrate(model, q, &self.rate, STEP, moved);
        }
        for i in 0..self.places.len() {
            self.move_link(i, nq);
        }
        // What the surroundings exert on a body its joint need not.
        for (needed, given) in self.wrenches.iter_mut().zip(external) {
            needed.moment -= given.moment;
            needed.force -= given.force;
        }
        for (i, place) in self.places.iter().enumerate().rev() {
            // Inwards: τ_k = S_k · F, then the wrench moves to the parent's origin, where its moment gains d × f.
            let (inner, outer) = self.wrenches.split_at_mut(i);
            let (F, R, parent) = (&outer[0], &self.body[i + 1].R, outward(place));
            let q = |k: usize| self.q[nq + place.q_start + k];
            place.efforts(R, || self.body[parent].R, q, F, |k, x| tau[place.v_start + k] = x);
            if let Some(p) = place.parent {
                let d = self.body[i + 1].p - self.body[parent].p;
                inner[p].moment += F.moment + d.cross(&F.force);
                inner[p].force += F.force;
            }
        }
    }

    /// Place of a body in all lanes, and the wrench it needs.
    #[inline(always)]
    fn move_link(&mut self, i: usize, nq: usize) {
        let (place, link) = (&self.places[i], &self.links[i]);
        let (inner, outer) = self.at.split_at_mut(i + 1);
        let (parent, at) = (&inner[outward(place)], &mut outer[0]);
        // The instants before, at and after; the fourth lane repeats the one at hand.
        let q = |k: usize| gather(&self.q, [0, 1, 2, 1], nq, place.q_start + k);
        *at = place.body(parent, q);
        let com: V<Lane> = rotate(&at.R, &splat(&link.com));
        // f = m (c̈ − g) and M = Σ (R S)_j × r̈_j, with central differences over the lanes.
        let force = ((at.p + com).map(second) - self.gravity) * link.mass;
        let tip = |j: usize| V::new(at.R[(0, j)], at.R[(1, j)], at.R[(2, j)]).map(second);
        let tips = [tip(0), tip(1), tip(2)];
        let body = &mut self.body[i + 1];
        // The middle lane is the instant itself, where efforts are taken.
        *body = At { R: at.R.map(middle), p: at.p.map(middle) };
        let moment = link.moment_point(&body.R, tips);
        self.wrenches[i] = Link::wrench(&com.map(middle), force, moment);
    }
}

/// Slot of the body that carries a body.
fn outward(place: &Place) -> usize {
    place.parent.map_or(0, |p| p + 1)
}

fn middle(x: Lane) -> f64 {
    x.0.to_array()[1]
}

/// Second difference of the first three lanes over the step squared.
fn second(x: Lane) -> f64 {
    let [before, at, after, _] = x.0.to_array();
    // Neighbours are so close that their differences are exact; `after − 2 at + before` would round at the size of the position.
    ((after - at) - (at - before)) * (1.0 / (STEP * STEP))
}
