//! A search for impulses with which nothing slides, by a primal–dual interior-point method.
//!
//! Without De Saxcé's shift the contact problem is convex: `min ½ λᵀ(G + R) λ + λᵀ b` over the cones and intervals, and its
//! velocity `u = (G + R) λ + b` is unique. Where impulses exist that hold every loaded contact, they make the gradient zero there
//! and so are a solution of it, and one of Coulomb's law as well, whose shift is zero. So if anything holds, this problem says
//! so, whatever the start. Near the limit of a grip the feasible impulses are few, and rounds that regularise approach them
//! slowly; the central path leads through the middle of them in some twenty steps.
//!
//! With the scaled impulse `x = (μ λ_n, λ_t)` and velocity `s = (u_n / μ, u_t)` in the second-order cone, a step solves
//! `(G + R + H) Δλ = −u + τ x⁻¹` with the Nesterov–Todd scaling `H x = s`. [Nesterov & Todd 1998; Vandenberghe 2010, §5 and 6]
//!
//! Limits: dense, for islands of at most [`MOST_ROWS`] rows, of contacts with friction and bounded rows.

use nalgebra::{Matrix3, Vector3};

use super::block_factor::{backward, factorize_dense, forward};
use super::delassus::Delassus;
use super::dot::dot;
use super::law::residual;
use super::{Admissible, Block, Problem};

/// Largest island: a search takes less than a millisecond.
const MOST_ROWS: usize = 60;
/// Most steps of a search; twenty are usual.
const MOST_STEPS: usize = 40;
/// Complementarity that a step aims at, as part of the mean before it. [-]
const CENTERING: f64 = 0.1;
/// Part of the length to the boundary that a step goes at most. [-]
// 1 would end on the boundary, where the barrier has no value.
const TO_BOUNDARY: f64 = 0.99;
/// Part of a block's own Delassus diagonal that is added to its rows: redundant rows have a factor. [-]
const PROXIMAL: f64 = 1e-12;
/// Part of the impulses below which a contact counts as open: it may slide. [-]
const OPEN: f64 = 1e-6;

/// A block on the central path.
#[derive(Debug, Clone, Copy)]
struct Item {
    /// Impulse `λ`, inside its cone or interval. [N·s or N·m·s] (3)
    impulse: Vector3<f64>,
    /// Dual of the impulse: `s` of a cone; the velocities that keep an interval from its lower and upper end.
    dual: Vector3<f64>,
    /// `G λ + R λ + b`. [m/s or rad/s]
    u: Vector3<f64>,
    step: Vector3<f64>,
    dual_step: Vector3<f64>,
}

/// The search, and its memory.
#[derive(Debug, Default)]
pub(super) struct StickSearch {
    items: Vec<Item>,
    /// Delassus matrix with the compliances, `G + R`.
    delassus: Delassus,
    factor: Vec<f64>,
    /// Biased velocity without impulses, `b`. [m/s or rad/s] (rows)
    free: Vec<f64>,
    /// Impulses, and the right-hand side that becomes their change. (rows)
    impulse: Vec<f64>,
    change: Vec<f64>,
}

impl StickSearch {
    /// Searches impulses that satisfy the exact law within a tolerance, no contact sliding; [`Self::impulse`] has them then.
    /// The blocks' impulses belong to the problem's velocity. [m/s or rad/s]
    pub(super) fn finds(&mut self, problem: &Problem, blocks: &[Block], tolerance: f64) -> bool {
        let known = |b: &Block| match b.admissible {
            Admissible::Cone { friction } => friction > 0.0,
            Admissible::Interval { lower, upper } => lower < upper,
            Admissible::FrictionMoment { .. } => false,
        };
        let rows: usize = blocks.iter().map(Block::rows).sum();
        // Friction moments are bounded by a load that the solution changes: no fixed cone to have a path in.
        if rows > MOST_ROWS || !blocks.iter().all(known) {
            return false;
        }
        self.prepare(problem, blocks);
        for _ in 0..MOST_STEPS {
            self.find_velocities(blocks);
            let holds = self.items.iter().zip(blocks);
            let worst = holds.fold(0.0_f64, |worst, (item, block)| {
                // The natural map takes the compliance itself, so `u` is given without it.
                let u = item.u - Vector3::x() * (block.compliance * item.impulse.x);
                worst.max(residual(block, &item.impulse, &u, None))
            });
            if worst <= tolerance {
                return true;
            }
            // A contact that surely slides ends the search: the convex problem has one velocity, so nothing else holds.
            if self.slides(blocks, tolerance) || !self.go_on(blocks) {
                return false;
            }
        }
        false
    }

    /// The impulse of a block. (3)
    pub(super) fn impulse(&self, block: usize) -> Vector3<f64> {
        self.items[block].impulse
    }

    /// `G + R`, `b`, and a start inside every cone and interval.
    fn prepare(&mut self, problem: &Problem, blocks: &[Block]) {
        self.delassus.fill(problem, blocks);
        let n = self.delassus.rows;
        for rows in [&mut self.free, &mut self.impulse, &mut self.change] {
            rows.clear();
            rows.resize(n, 0.0);
        }
        self.factor.resize(n * n, 0.0);
        for (block, &start) in blocks.iter().zip(&self.delassus.starts) {
            for row in 0..block.rows() {
                self.impulse[start + row] = block.impulse[row];
            }
        }
        // Scaled to the problem: a start much nearer to the boundary than the solution takes steps to leave it.
        // The largest impulse that stops a block on its own, and its velocity.
        let (mut impulse, mut velocity) = (f64::MIN_POSITIVE, f64::MIN_POSITIVE);
        for (block, &start) in blocks.iter().zip(&self.delassus.starts) {
            // `b = u − u* − G λ`, without the impulses of the island.
            let u = problem.velocity_of(block) - block.bias;
            let mut free = Vector3::zeros();
            for row in 0..block.rows() {
                free[row] = u[row] - dot(self.delassus.row(start + row), &self.impulse);
                self.free[start + row] = free[row];
            }
            self.delassus.matrix[start * (n + 1)] += block.compliance;
            // Where the free velocity is zero, the impulses of the warm start tell the scale.
            let own = free.norm().max((block.impulse * block.inverse_effective_mass()).norm());
            impulse = impulse.max(own / block.inverse_effective_mass());
            velocity = velocity.max(own);
        }
        self.items.clear();
        self.items.extend(blocks.iter().map(|block| start(block, impulse, velocity)));
    }

    /// `u` at the impulses.
    fn find_velocities(&mut self, blocks: &[Block]) {
        let starts = &self.delassus.starts;
        for ((item, block), start) in self.items.iter().zip(blocks).zip(starts) {
            for row in 0..block.rows() {
                self.impulse[start + row] = item.impulse[row];
            }
        }
        for ((item, block), start) in self.items.iter_mut().zip(blocks).zip(starts) {
            for row in 0..block.rows() {
                let at = start + row;
                item.u[row] = dot(self.delassus.row(at), &self.impulse) + self.free[at];
            }
        }
    }

    /// Whether a contact slides by more than the distance from the end of the path explains: `½ m u²` of it is more than the
    /// complementarity that is left.
    fn slides(&self, blocks: &[Block], tolerance: f64) -> bool {
        let left: f64 = self.items.iter().zip(blocks).map(|(item, b)| item.left(b)).sum();
        let most = self.items.iter().fold(0.0_f64, |most, item| most.max(item.impulse.x));
        // A loaded contact with `u_t² > 100 g Σ λᵀs`.
        self.items.iter().zip(blocks).any(|(item, block)| {
            let sliding = item.u.yz().norm();
            matches!(block.admissible, Admissible::Cone { .. })
                && item.impulse.x > OPEN * most
                && sliding > tolerance
                && sliding * sliding > 100.0 * left * block.inverse_effective_mass()
        })
    }

    /// A step along the central path; false where there is none.
    fn go_on(&mut self, blocks: &[Block]) -> bool {
        let n = self.delassus.rows;
        // A second-order cone counts once, as a pair of bounds counts twice: on the path each has `xᵀs = τ`.
        let barriers: usize = blocks.iter().map(n_barriers).sum();
        let left: f64 = self.items.iter().zip(blocks).map(|(item, b)| item.left(b)).sum();
        // A tenth of the mean: less aims beyond what one linearisation reaches, more takes more steps.
        let aim = CENTERING * left / barriers.max(1) as f64;
        // `(G + R + H) Δλ = −u + τ x⁻¹`, with `τ` as part of the mean complementarity.
        self.factor.copy_from_slice(&self.delassus.matrix);
        for ((item, block), &start) in self.items.iter().zip(blocks).zip(&self.delassus.starts) {
            let (H, pull) = item.barrier(block, aim);
            let rows = block.rows();
            for i in 0..rows {
                self.change[start + i] = pull[i] - item.u[i];
                for j in 0..rows {
                    self.factor[(start + i) * n + start + j] += H[(i, j)];
                }
                // Far below the barrier's own diagonal until the end, where redundant rows would have no factor.
                self.factor[(start + i) * (n + 1)] += PROXIMAL * block.inverse_effective_mass();
            }
        }
        if !factorize_dense(&mut self.factor, n) {
            return false;
        }
        forward(&self.factor, n, &mut self.change);
        backward(&self.factor, n, &mut self.change);
        // One length for both, as `x` and `s` are linearised together.
        // The longest step that leaves every impulse and dual inside its set.
        let mut length = 1.0_f64;
        for ((item, block), &start) in self.items.iter_mut().zip(blocks).zip(&self.delassus.starts)
        {
            item.step = Vector3::zeros();
            for row in 0..block.rows() {
                item.step[row] = self.change[start + row];
            }
            let (H, pull) = item.barrier(block, aim);
            item.dual_step = item.change_of_dual(block, aim, &H, &pull);
            length = length.min(TO_BOUNDARY * item.length(block));
        }
        for item in &mut self.items {
            item.impulse += item.step * length;
            item.dual += item.dual_step * length;
        }
        // No progress left: the boundary is met from a point off the path.
        length.is_finite() && length > 1e-10
    }
}

/// Number of complementary pairs of a block.
fn n_barriers(block: &Block) -> usize {
    match block.admissible {
        Admissible::Interval { lower, upper } => {
            usize::from(lower.is_finite()) + usize::from(upper.is_finite())
        }
        _ => 1,
    }
}

/// Start inside the block's set, with a velocity inside the dual one.
fn start(block: &Block, impulse: f64, velocity: f64) -> Item {
    let zero = Vector3::zeros();
    let mut item = Item { impulse: zero, dual: zero, u: zero, step: zero, dual_step: zero };
    if let Admissible::Interval { lower, upper } = block.admissible {
        item.impulse.x = match (lower.is_finite(), upper.is_finite()) {
            (true, true) => 0.5 * (lower + upper),
            (true, false) => lower + impulse,
            (false, true) => upper - impulse,
            (false, false) => block.impulse.x,
        };
        let against = |bound: f64| if bound.is_finite() { velocity } else { 0.0 };
        item.dual = Vector3::new(against(lower), against(upper), 0.0);
    } else {
        item.impulse.x = impulse;
        item.dual.x = velocity;
    }
    item
}

/// Lorentz product `a_0 b_0 − ā·b̄`.
fn lorentz(a: &Vector3<f64>, b: &Vector3<f64>) -> f64 {
    a.x * b.x - a.y * b.y - a.z * b.z
}

/// Length along a step at which a point of the cone reaches its surface; infinite where it never does. [-]
fn length_in_cone(x: &Vector3<f64>, step: &Vector3<f64>) -> f64 {
    let (a, b, c) = (lorentz(step, step), lorentz(x, step), lorentz(x, x));
    // First positive root of a t² + 2 b t + c.
    let discriminant = b * b - a * c;
    let mut length = f64::INFINITY;
    if discriminant >= 0.0 {
        let root = discriminant.sqrt();
        // Both roots without cancellation: `q/a` and `c/q`.
        // `b` and the root are added with one sign, so nothing cancels. [Higham 2002, §1.8]
        let q = -(b + root.copysign(b));
        for t in [q / a, c / q] {
            if t > 0.0 {
                length = length.min(t);
            }
        }
    }
    // The Lorentz form is positive in the opposite cone, too: leaving through the apex has its own length.
    if step.x < 0.0 { length.min(-x.x / step.x) } else { length }
}

impl Item {
    /// Complementarity that is left: what the path takes to zero. [J]
    fn left(&self, block: &Block) -> f64 {
        match block.admissible {
            Admissible::Interval { lower, upper } => {
                let pair = |room: f64, dual: f64| if room.is_finite() { room * dual } else { 0.0 };
                pair(self.impulse.x - lower, self.dual.x)
                    + pair(upper - self.impulse.x, self.dual.y)
            }
            Admissible::Cone { friction } => self.scaled(friction).dot(&self.dual),
            Admissible::FrictionMoment { .. } => 0.0,
        }
    }

    fn scaled(&self, friction: f64) -> Vector3<f64> {
        Vector3::new(friction * self.impulse.x, self.impulse.y, self.impulse.z)
    }

    /// `H` and `τ x⁻¹` of the block, for its impulses.
    fn barrier(&self, block: &Block, aim: f64) -> (Matrix3<f64>, Vector3<f64>) {
        let (mut H, mut pull) = (Matrix3::zeros(), Vector3::zeros());
        match block.admissible {
            Admissible::Interval { lower, upper } => {
                // Of each end with room `x` and dual `s`: `H = s/x`, and `τ/x` away from it.
                let ends =
                    [(self.impulse.x - lower, self.dual.x), (upper - self.impulse.x, self.dual.y)];
                for ((room, dual), sign) in ends.into_iter().zip([1.0, -1.0]) {
                    if room.is_finite() {
                        H.m11 += dual / room;
                        pull.x += sign * aim / room;
                    }
                }
            }
            Admissible::Cone { friction } => {
                // Nesterov–Todd: of the unit vectors `x₁`, `s₁`, `v = (s₁ + J x₁)/(2 γ)`, and `H = (2 v vᵀ − J) ‖s‖/‖x‖`;
                // `D` scales it to `λ`.
                let (x, s) = (self.scaled(friction), self.dual);
                let [norm_x, norm_s] = [lorentz(&x, &x), lorentz(&s, &s)].map(f64::sqrt);
                let (x_1, s_1) = (x / norm_x, s / norm_s);
                let gamma = (0.5 * (1.0 + x_1.dot(&s_1))).sqrt();
                let v = (s_1 + Vector3::new(x_1.x, -x_1.y, -x_1.z)) / (2.0 * gamma);
                let J = Matrix3::from_diagonal(&Vector3::new(1.0, -1.0, -1.0));
                let D = Matrix3::from_diagonal(&Vector3::new(friction, 1.0, 1.0));
                H = D * (v * v.transpose() * 2.0 - J) * D * (norm_s / norm_x);
                pull = D * Vector3::new(x.x, -x.y, -x.z) * (aim / (norm_x * norm_x));
            }
            Admissible::FrictionMoment { .. } => {}
        }
        (H, pull)
    }

    /// The change of the dual that goes with that of the impulse: `Δs = −s + τ x⁻¹ − H Δx`.
    fn change_of_dual(
        &self,
        block: &Block,
        aim: f64,
        H: &Matrix3<f64>,
        pull: &Vector3<f64>,
    ) -> Vector3<f64> {
        match block.admissible {
            Admissible::Interval { lower, upper } => {
                // Of each end: `Δs = (τ − s Δx)/x − s`.
                let one = |room: f64, dual: f64, step: f64| {
                    if room.is_finite() { (aim - dual * step) / room - dual } else { 0.0 }
                };
                let step = self.step.x;
                let low = one(self.impulse.x - lower, self.dual.x, step);
                Vector3::new(low, one(upper - self.impulse.x, self.dual.y, -step), 0.0)
            }
            Admissible::Cone { friction } => {
                let along = pull - H * self.step;
                Vector3::new(along.x / friction, along.y, along.z) - self.dual
            }
            Admissible::FrictionMoment { .. } => Vector3::zeros(),
        }
    }

    /// Length along their steps at which its impulse or its dual reaches the boundary. [-]
    fn length(&self, block: &Block) -> f64 {
        match block.admissible {
            Admissible::Interval { lower, upper } => {
                let room = |left: f64, step: f64| {
                    if left.is_finite() && step < 0.0 { -left / step } else { f64::INFINITY }
                };
                let own = room(self.impulse.x - lower, self.step.x)
                    .min(room(upper - self.impulse.x, -self.step.x));
                let against = |dual: f64, step: f64| {
                    if dual > 0.0 && step < 0.0 { -dual / step } else { f64::INFINITY }
                };
                own.min(against(self.dual.x, self.dual_step.x))
                    .min(against(self.dual.y, self.dual_step.y))
            }
            Admissible::Cone { friction } => {
                let step = Vector3::new(friction * self.step.x, self.step.y, self.step.z);
                length_in_cone(&self.scaled(friction), &step)
                    .min(length_in_cone(&self.dual, &self.dual_step))
            }
            Admissible::FrictionMoment { .. } => f64::INFINITY,
        }
    }
}

#[cfg(test)]
mod tests;
