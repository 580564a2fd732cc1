//! Impacts of bodies that rows join: robots, patches of contact, bodies that rest on each other.
//!
//! Where a contact or a joint's limit with restitution meets faster than the threshold, the velocities of its island jump at the
//! start of the step, before forces act, by Poisson's law on all of the island's contacts at once [Glocker 1995]:
//!
//! 1. **Compression**: the contact problem of the step from the velocity before it, without forces and without bounce.
//!    Its impulses are `λ_c`.
//! 2. **Restitution**: every contact that was compressed returns `e λ_c` along its normal. Friction resists with at most
//!    `μ e λ_c`, and bodies that others push together are kept apart by the contact problem once more: `λ_r` in all.
//! 3. **Certificate**: the kinetic energy after `λ_c + s λ_r` is a quadratic of `s`; the largest `s ≤ 1` is taken at which
//!    it is not above that before, in the problem's own metric and against the surfaces' own velocities. Compression alone
//!    passes, so there always is one.
//!
//! The step then continues from there: Coriolis forces are those of the velocity after the impact.

use std::ops::Range;

use karakuri_spatial::{Matrix3, Vector3};

use crate::solver::{Admissible, Block, Problem, apply};

/// Most sweeps of friction in the phase of restitution.
// Normal impulses stay as they are: only slips of neighbours change each other.
const SWEEPS: usize = 200;
/// Change of an impulse, relative to the largest, at which they end. [-]
const SETTLED: f64 = 1e-13;

/// Scratch of impacts of rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowImpacts {
    /// Blocks of the islands where something bounces, in the problem of the step.
    pub(super) islands: Vec<Range<usize>>,
    /// The same blocks as the impact sees them, one island after the other.
    pub(super) blocks: Vec<Block>,
    pub(super) island_ends: Vec<usize>,
    /// Indices of the blocks in the problem of the step.
    pub(super) places: Vec<usize>,
    /// Velocity of their surfaces, against which impulses do no work. [m/s] (blocks × 3)
    pub(super) surfaces: Vec<Vector3>,
    /// Part of the compression that each returns; 0 where nothing bounces. [-] (blocks)
    pub(super) restitution: Vec<f64>,
    /// Impulses of compression, then of the whole impact. [N·s] (blocks × 3)
    pub(super) impulses: Vec<Vector3>,
    /// Impulses of restitution along the normals and against slip. [N·s] (blocks × 3)
    pub(super) returned: Vec<Vector3>,
    /// Velocity of the world after compression. (n)
    pub(super) compressed: Vec<f64>,
    /// Velocity of the world after the impact; empty where there is none. (n)
    pub(super) velocity: Vec<f64>,
    /// Movers of the islands.
    pub(super) movers: Vec<usize>,
}

impl RowImpacts {
    pub(super) fn clear(&mut self) {
        self.islands.clear();
        self.blocks.clear();
        self.island_ends.clear();
        self.places.clear();
        self.surfaces.clear();
        self.restitution.clear();
        self.impulses.clear();
        self.velocity.clear();
        self.movers.clear();
    }

    /// Velocity after the impacts of the step, if there were any. (n)
    pub(crate) fn velocity(&self) -> Option<&[f64]> {
        (!self.velocity.is_empty()).then_some(&self.velocity)
    }
}

impl RowImpacts {
    /// Puts the blocks of the impact and its velocity into the problem, and those of the step aside; or back.
    pub(super) fn swap_with(&mut self, problem: &mut Problem) {
        std::mem::swap(&mut self.blocks, &mut problem.blocks);
        std::mem::swap(&mut self.island_ends, &mut problem.island_ends);
        std::mem::swap(&mut self.velocity, &mut problem.velocity);
    }

    /// Gives back impulses of restitution along the normals, after compression, and of friction against the slip that they leave.
    pub(super) fn give_back(&mut self, problem: &mut Problem, before: &[f64], threshold: f64) {
        self.returned.clear();
        for i in 0..problem.blocks.len() {
            let block = problem.blocks[i];
            // An upper limit pushes backwards along its row.
            let away = if block.impulse.x < 0.0 { -1.0 } else { 1.0 };
            let approach = problem.rows_times(before, &block.sides, 1).x - self.surfaces[i].x;
            // A contact at rest bounces where it is compressed as if it had met at the threshold.
            let compression = block.impulse.x.abs() * block.delassus.m11;
            let fast = (away * approach).min(-compression) < -threshold;
            let rotation = matches!(block.admissible, Admissible::FrictionMoment { .. });
            let returns = fast && !rotation;
            let normal = if returns { self.restitution[i] * block.impulse.x } else { 0.0 };
            self.returned.push(Vector3::new(normal, 0.0, 0.0));
            problem.apply(&block, &self.returned[i]);
            // Separation starts from zero: its impulses add to those returned, whatever they were in compression.
            problem.blocks[i].impulse = Vector3::zeros();
        }
        // Friction against the slip, bounded by `μ e λ_c`, contact by contact until nothing changes.
        let largest = self.returned.iter().fold(0.0_f64, |most, r| most.max(r.x));
        for _ in 0..SWEEPS {
            let mut change = 0.0_f64;
            for (i, returned) in self.returned.iter_mut().enumerate().filter(|(_, r)| r.x > 0.0) {
                let block = problem.blocks[i];
                let Admissible::Cone { friction } = block.admissible else { continue };
                let slip = problem.velocity_of(&block) - self.surfaces[i];
                let delta = resist(&block.delassus, returned, &slip, friction);
                problem.apply(&block, &delta);
                *returned += delta;
                change = change.max(delta.norm());
            }
            if change <= SETTLED * largest {
                break;
            }
        }
    }

    /// Takes as much of the restitution as gives no energy; the velocity after the impact, and its impulses.
    pub(super) fn certify(&mut self, problem: &mut Problem, before: &[f64]) {
        let mut start = 0;
        for e in 0..problem.island_ends.len() {
            let island = start..problem.island_ends[e];
            start = island.end;
            // `E(s)` of both phases, velocities against the surfaces' own: `u` before, `u_c` after compression, `u⁺`.
            let (mut compression, mut linear, mut square) = ([0.0; 2], 0.0, 0.0);
            for i in island.clone() {
                let block = &problem.blocks[i];
                let [first, middle, last] = [before, &self.compressed, &problem.velocity]
                    .map(|v| problem.jacobian_times(v, block) - self.surfaces[i]);
                let (lambda, returned) = (self.impulses[i], self.returned[i] + block.impulse);
                // `G λ_c = u_c − u` and `G λ_r = u⁺ − u_c`: the quadratic takes no Delassus matrix of the island.
                compression[0] += lambda.dot(&first);
                compression[1] += 0.5 * lambda.dot(&(middle - first));
                linear += returned.dot(&middle);
                square += 0.5 * returned.dot(&(last - middle));
            }
            // What no solver finished is cut short first.
            let kept = passing([0.0, compression[0], compression[1]]);
            let loss = kept * (compression[0] + kept * compression[1]);
            // A compression that had to be cut is returned by nothing: its contacts still approach.
            let part = if kept < 1.0 { 0.0 } else { passing([loss.min(0.0), linear, square]) };
            // `v⁺ = v + Y (λ_c + s λ_r)`, from the velocity before.
            for i in island.clone() {
                let block = &problem.blocks[i];
                self.impulses[i] =
                    self.impulses[i] * kept + (self.returned[i] + block.impulse) * part;
                for side in &block.sides {
                    let run = side.start..side.start + side.len;
                    // From the velocity before, as rounding of taking a part back would add up.
                    problem.velocity[run.clone()].copy_from_slice(&before[run]);
                }
            }
            for i in island {
                let Problem { velocity, response, blocks, .. } = &mut *problem;
                apply(velocity, response, &blocks[i], &self.impulses[i]);
            }
        }
    }
}

/// Largest `s` from 0 to 1 with `c + b s + a s² ≤ 0`, for `[c, b, a]` with `c ≤ 0 ≤ a`. [-]
pub(crate) fn passing([c, b, a]: [f64; 3]) -> f64 {
    if c + b + a <= 0.0 {
        return 1.0;
    }
    // The larger root, without cancellation where `b` is positive.
    let root = (b * b - 4.0 * a * c).max(0.0).sqrt();
    let s = if b > 0.0 { -2.0 * c / (b + root) } else { (root - b) / (2.0 * a) };
    if s.is_finite() { s.clamp(0.0, 1.0) } else { 0.0 }
}

/// Change of a contact's tangential impulse against its slip, with the normal impulse as it is: a step of projected descent,
/// which never adds energy. [N·s] (3)
pub(crate) fn resist(G: &Matrix3, impulse: &Vector3, slip: &Vector3, friction: f64) -> Vector3 {
    // The step `1/γ` against the slip, `γ` the largest eigenvalue of the tangential block, then cut to the disc.
    let G = G.fixed_view::<2, 2>(1, 1);
    let mean = 0.5 * (G[(0, 0)] + G[(1, 1)]);
    // The step of projected descent takes at most the energy of the slip, whatever the coupling of the tangents.
    let stiffest = mean + (0.5 * (G[(0, 0)] - G[(1, 1)])).hypot(G[(0, 1)]);
    if stiffest <= 0.0 {
        return Vector3::zeros();
    }
    let mut next = impulse.yz() - slip.yz() / stiffest;
    let (most, norm) = (friction * impulse.x, next.norm());
    if norm > most {
        next *= most / norm;
    }
    Vector3::new(0.0, next.x - impulse.y, next.y - impulse.z)
}

#[cfg(test)]
mod tests {
    use super::passing;

    #[test]
    fn the_largest_part_that_gives_no_energy_is_found() {
        let cases = [
            ([-1.0, 0.5, 0.25], 1.0),
            ([0.0, 1.0, 1.0], 0.0),
            ([-1.0, 0.0, 4.0], 0.5),
            ([0.0, -1.0, 2.0], 0.5),
            ([-1.0, 3.0, 4.0], 0.25),
            ([-1.0, f64::NAN, 4.0], 0.0),
        ];
        for (parabola, part) in cases {
            assert!((passing(parabola) - part).abs() < 1e-15, "{parabola:?}");
        }
    }
}
