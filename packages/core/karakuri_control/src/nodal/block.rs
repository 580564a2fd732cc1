//! A stretch of time: all nodes of all its samples as flat rows, one row a component, one column a sample.
//!
//! Outwards, body after body: places of all samples, displacement increments along each row, accelerations from them,
//! forces. Inwards: wrenches add up, `{τ} = [L][T]{P}`. Nothing passes from sample to sample but through the variants
//! that remember, and from body to body only the place. World axes; m, rad, s, N, N·m.

use core::ops::Range;

use karakuri_dynamics::{Data, forward_kinematics, update_accelerations, update_velocities};
use karakuri_spatial::Vector3;
use nalgebra::SimdValue;

use super::check::Watch;
use super::lanes::{LANES, Lane, M, V, gather, load, rotate, splat, store};
use super::nodes::{Link, exact, rotation_between};
use super::places::{At, Place, Wrench};
use super::{Mechanism, Nodes, Target, Variant};

/// Samples before a stretch, for the watch on its accelerations.
// The watch compares five neighbouring accelerations: four come before the newest.
pub(super) const LEAD: usize = 4;
/// Columns of a block, both neighbours and the lead included.
// 6 of 128 columns, lead and neighbours, give no effort; a longer row would give less of them away and take more cache than 1 kB.
const COLUMNS: usize = 128;
/// Samples of a full stretch.
pub(super) const STRETCH: usize = COLUMNS - LEAD - 2;
/// One component along time; groups of lanes may begin anywhere and run over the end.
type Row = [f64; COLUMNS + LANES];
const ZERO: Row = [0.0; COLUMNS + LANES];
/// Rows of a body's place: centre of mass, columns of its rotation, origin.
type PlaceRows = [Row; 15];
const ROTATION: usize = 3;
const ORIGIN: usize = 12;
/// Components of one link at most.
type LinkRows = Box<[Row; 12]>;

/// Scratch of one thread.
#[derive(Debug, Clone)]
pub(super) struct Block {
    kind: Nodes,
    places: Vec<Place>,
    links: Vec<Link>,
    nq: usize,
    /// Place of every body. (n bodies)
    place: Vec<PlaceRows>,
    /// Increments that end at a column, velocities and accelerations of one link.
    du: LinkRows,
    v: LinkRows,
    a: LinkRows,
    /// Moment about the body's origin and force. (n bodies)
    wrench: Vec<[Row; 6]>,
    /// Efforts by velocity coordinate. (nv)
    tau: Vec<Row>,
    /// State of a recursion, by component.
    memory: Vec<Memory>,
    /// Velocities and accelerations given from outside. (n components) each, or empty
    outside: [Vec<Row>; 2],
    data: Data,
    spare: [Vec<f64>; 2],
    /// Column of the first sample asked for.
    lead: usize,
    pub(super) watch: Watch,
}

/// Velocity and last accelerations of a component, oldest first.
#[derive(Debug, Clone, Copy, Default)]
struct Memory {
    v: f64,
    a: [f64; LEAD],
}

/// The samples of the columns.
#[derive(Debug, Clone, Copy)]
struct Window {
    /// Sample of column 0.
    first: usize,
    /// Columns whose places are computed, and whose accelerations.
    placed: usize,
    moved: usize,
    /// Column of the first sample asked for.
    lead: usize,
    /// Whether column 0 is the first sample of the target, and whether the last placed column is its last.
    starts: bool,
    ends: bool,
}

impl Window {
    /// Samples of the columns from `at` on; the last one stands in for those beyond the end.
    #[inline(always)]
    fn samples(&self, at: usize, n: usize) -> [usize; LANES] {
        let sample = |k: usize| (self.first + at + k).min(n - 1);
        [sample(0), sample(1), sample(2), sample(3)]
    }
}

#[inline(always)]
fn vector(rows: &[Row], r: usize, at: usize) -> V<Lane> {
    V::new(load(&rows[r], at), load(&rows[r + 1], at), load(&rows[r + 2], at))
}

#[inline(always)]
fn put(rows: &mut [Row], r: usize, at: usize, v: &V<Lane>) {
    for k in 0..3 {
        store(&mut rows[r + k], at, v[k]);
    }
}

#[inline(always)]
fn rotation_at(rows: &PlaceRows, at: usize) -> M<Lane> {
    let column = |j: usize| vector(rows, ROTATION + 3 * j, at);
    M::from_columns(&[column(0), column(1), column(2)])
}

#[inline(always)]
fn body_at(rows: &PlaceRows, at: usize) -> At<Lane> {
    At { R: rotation_at(rows, at), p: vector(rows, ORIGIN, at) }
}

impl Block {
    pub(super) fn new(mechanism: &Mechanism, kind: Nodes, variant: Variant) -> Self {
        let model = &mechanism.model;
        let n = model.bodies.len();
        let place =
            |(body, joint): (&karakuri_model::Body, _)| Place::new(body.parent.map(|p| p.0), joint);
        let components = n * kind.width() + 3 * mechanism.payloads.len();
        let outside = if variant == Variant::External { components } else { 0 };
        let rows = || Box::new([ZERO; 12]);
        Self {
            kind,
            places: model.bodies.iter().zip(&model.joints).map(place).collect(),
            links: model.bodies.iter().map(|b| Link::new(kind, &b.inertia)).collect(),
            nq: model.nq,
            place: vec![[ZERO; 15]; n],
            du: rows(),
            v: rows(),
            a: rows(),
            wrench: vec![[ZERO; 6]; n],
            tau: vec![ZERO; model.nv],
            memory: vec![Memory::default(); if variant.remembers() { components } else { 0 }],
            outside: [vec![ZERO; outside], vec![ZERO; outside]],
            data: Data::new(model),
            spare: [vec![0.0; components], vec![0.0; components]],
            lead: 0,
            watch: Watch::default(),
        }
    }

    /// Efforts of the tree with its loops cut, for the samples in `range`.
    pub(super) fn run(
        &mut self,
        mechanism: &Mechanism,
        variant: Variant,
        target: &Target<'_>,
        range: &Range<usize>,
    ) {
        let n = target.q.len() / self.nq;
        // Differences need the neighbours on both sides, the watch the lead before them.
        // Central differences of the first watched sample need one more column before the lead.
        let lead = range.start.min(LEAD + 1);
        let first = range.start - lead;
        let end = n.min(range.end + 1);
        let window = Window {
            first,
            placed: end - first,
            moved: range.end - first,
            lead,
            starts: first == 0,
            ends: end == range.end,
        };
        self.lead = lead;
        self.take_rates(mechanism, variant, target, &window);
        for i in 0..self.places.len() {
            self.place_body(i, target, &window, n);
            self.move_link(i, mechanism, variant, target.dt, &window);
        }
        self.load_points(mechanism, variant, target, &window);
        self.superpose(target, &window, n);
    }

    /// Effort of a degree of freedom at the `k`th sample of the last run.
    pub(super) fn effort(&self, dof: usize, k: usize) -> f64 {
        self.tau[dof][self.lead + k]
    }

    /// Velocities and accelerations that the target gives.
    fn take_rates(&mut self, m: &Mechanism, variant: Variant, target: &Target<'_>, w: &Window) {
        let has_rates = !target.v.is_empty() && !target.vdot.is_empty();
        if variant.remembers() && w.starts && w.lead == 0 {
            // Without rates a recursion starts from rest; a target that starts otherwise makes it ring, which the watch reports.
            self.memory.fill(Memory::default());
            if has_rates {
                self.rates_of(m, target, 0);
                for (memory, (v, a)) in
                    self.memory.iter_mut().zip(self.spare[0].iter().zip(&self.spare[1]))
                {
                    *memory = Memory { v: *v, a: [*a; LEAD] };
                }
            }
        }
        if variant == Variant::External {
            for column in 0..w.moved {
                // Newmark's step begins one sample earlier; the target's first sample has none and keeps its own rates.
                self.rates_of(m, target, (w.first + column).saturating_sub(1));
                for (rows, values) in self.outside.iter_mut().zip(&self.spare) {
                    for (c, x) in values.iter().enumerate() {
                        rows[c][column] = *x;
                    }
                }
            }
        }
    }

    fn rates_of(&mut self, m: &Mechanism, target: &Target<'_>, sample: usize) {
        let model = &m.model;
        let run = sample * model.nv..(sample + 1) * model.nv;
        let (v, vdot) = (&target.v[run.clone()], &target.vdot[run]);
        forward_kinematics(model, &mut self.data, &target.q[sample * model.nq..][..model.nq]);
        update_velocities(model, &mut self.data, v);
        update_accelerations(model, &mut self.data, v, vdot);
        let [v, a] = &mut self.spare;
        exact(self.kind, model, &m.payloads, &self.data, v, a);
    }

    fn place_body(&mut self, i: usize, target: &Target<'_>, w: &Window, n: usize) {
        let (place, com) = (&self.places[i], splat(&self.links[i].com));
        let (inner, outer) = self.place.split_at_mut(i);
        let (parent, outer) = (place.parent.map(|p| &inner[p]), &mut outer[0]);
        for at in (0..w.placed).step_by(LANES) {
            let parent = if let Some(p) = parent { body_at(p, at) } else { At::world() };
            let samples = w.samples(at, n);
            let q = |k: usize| gather(target.q, samples, self.nq, place.q_start + k);
            let body = place.body(&parent, q);
            put(outer, 0, at, &(body.p + rotate(&body.R, &com)));
            for j in 0..3 {
                put(outer, ROTATION + 3 * j, at, &body.R.column(j).into_owned());
            }
            put(outer, ORIGIN, at, &body.p);
        }
    }

    /// Increments, accelerations and forces of a link.
    fn move_link(&mut self, i: usize, m: &Mechanism, variant: Variant, dt: f64, w: &Window) {
        let link = self.links[i];
        let rows = &self.place[i];
        // Rows of the place that are displacements as they are: the centre of mass and, of `Point`, the columns of the rotation.
        let direct = match self.kind {
            Nodes::Com => 3,
            Nodes::Point => 12,
            Nodes::Beam { .. } => 0,
        };
        if let Nodes::Beam { elements, .. } = self.kind {
            // Positions of the nodes along the rod, with the rows of the velocities as scratch.
            for at in (0..w.placed).step_by(LANES) {
                let (c, o) = (vector(rows, 0, at), vector(rows, ORIGIN, at));
                for k in 0..=elements {
                    // The centre of mass is halfway: node k of n elements is at o + (2 k/n) (c − o).
                    let part = Lane::splat(2.0 * k as f64 / elements as f64);
                    put(&mut self.v[..], 3 * k, at, &(o + (c - o) * part));
                }
            }
            for (u, du) in self.v[..self.kind.width()].iter().zip(self.du.iter_mut()) {
                differences(u, du, w);
            }
        }
        for (u, du) in rows[..direct].iter().zip(self.du.iter_mut()) {
            differences(u, du, w);
        }
        if self.kind == Nodes::Com {
            // The rotational increment of a step is log(R' Rᵀ).
            // Column 0 has nothing before it; groups of lanes may begin at any column.
            for at in (1..w.placed).step_by(LANES) {
                let turn = rotation_between(&rotation_at(rows, at - 1), &rotation_at(rows, at));
                put(&mut self.du[..], 3, at, &turn);
            }
        }
        self.accelerate(i * self.kind.width(), self.kind.width(), variant, dt, w);
        // Of a rod the far end is watched: of its nodes it usually accelerates most.
        let last = if direct > 0 { 0 } else { self.kind.width() - 3 };
        for c in 0..3 {
            self.watch.see(w.first, &self.place[i][c], &self.a[last + c], m.gravity[c], w.moved);
        }
        let (g, mass) = (splat(&m.gravity), Lane::splat(link.mass));
        let (rows, v, a, out) = (&self.place[i], &self.v[..], &self.a[..], &mut self.wrench[i]);
        // The columns of the lead are for the watch alone: nobody asks for their forces.
        for at in (w.lead..w.moved).step_by(LANES) {
            // f = m (a − g) at the centre of mass and the moment about it, both moved to the body's origin.
            let body = body_at(rows, at);
            let force = (vector(a, 0, at) - g) * mass;
            let p_BC = vector(rows, 0, at) - body.p;
            let F = match self.kind {
                Nodes::Com => {
                    let moment = link.moment_com(&body.R, &vector(v, 3, at), &vector(a, 3, at));
                    Link::wrench(&p_BC, force, moment)
                }
                Nodes::Point => {
                    let moment = link.moment_point(&body.R, [3, 6, 9].map(|r| vector(a, r, at)));
                    Link::wrench(&p_BC, force, moment)
                }
                Nodes::Beam { elements, lumped } => {
                    // A uniform rod that begins at its joint ends twice as far as its centre of mass.
                    let far = p_BC * Lane::splat(2.0);
                    link.beam(elements, lumped, &far, |k| vector(a, 3 * k, at) - g)
                }
            };
            put(out, 0, at, &F.moment);
            put(out, 3, at, &F.force);
        }
    }

    /// Accelerations, and where they are needed velocities, of `width` components from their increments.
    fn accelerate(&mut self, first: usize, width: usize, variant: Variant, dt: f64, w: &Window) {
        for c in 0..width {
            let (du, v, a) = (&mut self.du[c], &mut self.v[c], &mut self.a[c]);
            // At the ends of the target increments are extrapolated so that accelerations continue linearly.
            if w.starts {
                du[0] = 3.0 * du[1] - 3.0 * du[2] + du[3];
            }
            if w.ends {
                let n = w.placed;
                du[n] = 3.0 * du[n - 1] - 3.0 * du[n - 2] + du[n - 3];
            }
            match variant {
                Variant::Central => {
                    // Column 0 has no increment unless it is the first sample; nobody looks at it then.
                    // a = (Δu' − Δu)/h², and v = (Δu' + Δu)/(2h) for the gyroscopic moment.
                    let (by_v, by_a) = (0.5 / dt, 1.0 / (dt * dt));
                    for (a, ends) in a[..w.moved].iter_mut().zip(du.windows(2)) {
                        *a = by_a * (ends[1] - ends[0]);
                    }
                    // Only the gyroscopic moment takes a velocity, and only rotations of `Com` have one.
                    if c >= 3 && self.kind == Nodes::Com {
                        for (v, ends) in v[..w.moved].iter_mut().zip(du.windows(2)) {
                            *v = by_v * (ends[1] + ends[0]);
                        }
                    }
                }
                Variant::External => {
                    // One Newmark step from the target's own state at the sample before.
                    let rows = [0, 1].map(|k| &self.outside[k][first + c]);
                    for r in 0..w.moved {
                        (v[r], a[r]) = (rows[0][r], rows[1][r]);
                        if w.first + r > 0 {
                            variant.advance(dt, du[r], &mut v[r], &mut a[r]);
                        }
                    }
                }
                _ => {
                    // The recursion goes on from the last stretch, whose last accelerations fill the lead for the watch.
                    let memory = &mut self.memory[first + c];
                    let begin = w.lead;
                    let known = begin.min(LEAD);
                    a[begin - known..begin].copy_from_slice(&memory.a[LEAD - known..]);
                    let (mut v_now, mut a_now) = (memory.v, memory.a[LEAD - 1]);
                    for r in begin..w.moved {
                        if w.first + r > 0 {
                            variant.advance(dt, du[r], &mut v_now, &mut a_now);
                        }
                        (v[r], a[r]) = (v_now, a_now);
                        // Accelerations are kept for the watch alone; the recursion itself needs only the last.
                        memory.a.rotate_left(1);
                        memory.a[LEAD - 1] = a_now;
                    }
                    memory.v = v_now;
                }
            }
        }
    }

    /// Payloads and exerted forces.
    fn load_points(&mut self, m: &Mechanism, variant: Variant, target: &Target<'_>, w: &Window) {
        for (k, payload) in m.payloads.iter().enumerate() {
            let (body, point) = (payload.body.0, splat(&payload.point));
            // Positions of the payload's node, with spare rows of the velocities as scratch.
            for at in (0..w.placed).step_by(LANES) {
                let place = body_at(&self.place[body], at);
                put(&mut self.v[..], 9, at, &(place.p + rotate(&place.R, &point)));
            }
            for c in 0..3 {
                differences(&self.v[9 + c], &mut self.du[c], w);
            }
            // Components of payloads come after those of all links.
            let first = self.links.len() * self.kind.width() + 3 * k;
            self.accelerate(first, 3, variant, target.dt, w);
            for c in 0..3 {
                self.watch.see(w.first, &self.v[9 + c], &self.a[c], m.gravity[c], w.moved);
            }
            let (g, mass) = (splat(&m.gravity), Lane::splat(payload.mass));
            for at in (w.lead..w.moved).step_by(LANES) {
                self.add_at_point(
                    body,
                    &payload.point,
                    at,
                    (vector(&self.a[..], 0, at) - g) * mass,
                );
            }
        }
        if target.forces.is_empty() {
            return;
        }
        let (n, width) = (target.q.len() / self.nq, 3 * m.force_points.len());
        for (k, point) in m.force_points.iter().enumerate() {
            for at in (w.lead..w.moved).step_by(LANES) {
                let samples = w.samples(at, n);
                // The link must get what it exerts, as it must get what accelerates it: both enter with one sign.
                let F = [0, 1, 2].map(|c| gather(target.forces, samples, width, 3 * k + c));
                self.add_at_point(point.body.0, &point.point, at, V::from(F));
            }
        }
    }

    fn add_at_point(&mut self, body: usize, point: &Vector3, at: usize, force: V<Lane>) {
        let R = rotation_at(&self.place[body], at);
        let F = Link::wrench(&rotate(&R, &splat(point)), force, V::zeros());
        add_wrench(&mut self.wrench[body], at, &F);
    }

    /// Efforts, from the tips to the root.
    fn superpose(&mut self, target: &Target<'_>, w: &Window, n: usize) {
        let moved = w.moved;
        for (i, place) in self.places.iter().enumerate().rev() {
            let (inner, outer) = self.wrench.split_at_mut(i);
            let (wrench, body) = (&outer[0], &self.place[i]);
            let tau = &mut self.tau[place.v_start..];
            for at in (self.lead..moved).step_by(LANES) {
                // τ_k = S_k · F with the wrench of everything outboard about the body's origin.
                let F = Wrench { moment: vector(wrench, 0, at), force: vector(wrench, 3, at) };
                // Read only for joints whose axes stay with the parent.
                let parent =
                    || place.parent.map_or_else(M::identity, |p| rotation_at(&self.place[p], at));
                let R = rotation_at(body, at);
                let samples = w.samples(at, n);
                let q = |k: usize| gather(target.q, samples, self.nq, place.q_start + k);
                place.efforts(&R, parent, q, &F, |k, x| store(&mut tau[k], at, x));
            }
            let Some(p) = place.parent else { continue };
            // Inwards: about the parent's origin the moment gains d × f.
            for at in (self.lead..moved).step_by(LANES) {
                let (moment, force) = (vector(wrench, 0, at), vector(wrench, 3, at));
                let d = vector(body, ORIGIN, at) - vector(&self.place[p], ORIGIN, at);
                add_wrench(&mut inner[p], at, &Link::wrench(&d, force, moment));
            }
        }
    }
}

#[inline(always)]
fn add_wrench(rows: &mut [Row; 6], at: usize, F: &Wrench<Lane>) {
    for (r, part) in [(0, F.moment), (3, F.force)] {
        let sum = vector(rows, r, at) + part;
        put(rows, r, at, &sum);
    }
}

/// `du[r] = u[r] − u[r − 1]`.
fn differences(u: &Row, du: &mut Row, w: &Window) {
    for (du, ends) in du[1..w.placed].iter_mut().zip(u.windows(2)) {
        *du = ends[1] - ends[0];
    }
}
