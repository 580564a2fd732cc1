//! The law of a block: the distance from it, and its regularised form with a slope.

use nalgebra::{Matrix3, Vector2, Vector3};

use super::cone::{is_inside_cone, project_on_cone};
use super::{Admissible, Block, Problem};

/// Distance of a block from its law as a velocity, the natural map `‖λ − Π_C(λ − (û + R λ)/g)‖ g` with De Saxcé's
/// `û = u − u* + (μ‖u_t‖, 0, 0)` and `g` the mean diagonal of its Delassus block. [m/s or rad/s]
/// [Acary, Cadoux, Lemaréchal, Malick 2011]
pub fn natural_map(problem: &Problem, block: &Block) -> f64 {
    natural_map_at(block, problem.jacobian_times(&problem.velocity, block))
}

/// The natural map of a block where `J v` is `u`. [m/s or rad/s]; (3)
#[inline]
pub(super) fn natural_map_at(block: &Block, mut u: Vector3<f64>) -> f64 {
    block.add_yielding(&mut u, &block.impulse);
    residual(block, &block.impulse, &(u - block.bias), None)
}

/// The natural map at the impulse `λ` and the biased velocity `u − u*`; with a shift in place of De Saxcé's the one of
/// a convex law. [m/s or rad/s]
pub(crate) fn residual(
    block: &Block,
    impulse: &Vector3<f64>,
    u: &Vector3<f64>,
    shift: Option<f64>,
) -> f64 {
    // By the mean diagonal, a natural map is a velocity, and blocks of grams and of tonnes compare.
    let g = block.inverse_effective_mass();
    let normal = u.x + block.compliance * impulse.x;
    match block.admissible {
        Admissible::Interval { lower, upper } => {
            let step = impulse.x - normal / g;
            (impulse.x - step.clamp(lower, upper)).abs() * g
        }
        Admissible::FrictionMoment { soft, .. } => {
            let own = (impulse - block.admissible.project(&(impulse - u / g))).norm() * g;
            soft.map_or(own, |soft| own.max(soft.error))
        }
        // What is apart and carries nothing: a fifth of a crowd's contacts.
        Admissible::Cone { .. }
            if shift.is_none() && normal >= 0.0 && *impulse == Vector3::zeros() =>
        {
            0.0
        }
        Admissible::Cone { friction } => {
            let shift = shift.unwrap_or_else(|| friction * u.yz().norm());
            let shifted = Vector3::new(normal + shift, u.y, u.z);
            let step = impulse - shifted * (1.0 / g);
            // The projection is the step itself.
            // Inside, `λ − Π(λ − û/g) = û/g`: without a difference of impulses, which would cost digits of a small velocity.
            if is_inside_cone(&step, friction) {
                return shifted.norm();
            }
            (impulse - project_on_cone(&step, friction)).norm() * g
        }
    }
}

/// A block's law, made single-valued by weights `W` in place of its compliance:
/// `λ = argmin_{λ ∈ C} ½ λᵀ W λ − λᵀ y` with `y = W₀ λ₀ − (u − u*) − s e_n`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Softened {
    /// Weight of the normal, or of a single row. [1/kg or 1/(kg·m²)]
    normal: f64,
    /// Weight of both tangents.
    tangential: f64,
    /// Their inverses, which every line search asks for again and again.
    inverse_normal: f64,
    inverse_tangential: f64,
}

impl Softened {
    /// The law with these weights of the normal and of both tangents. [1/kg or 1/(kg·m²)]
    pub(crate) fn new(normal: f64, tangential: f64) -> Self {
        let (inverse_normal, inverse_tangential) = (1.0 / normal, 1.0 / tangential);
        Self { normal, tangential, inverse_normal, inverse_tangential }
    }

    /// Weighted impulse `W λ`.
    pub(crate) fn weigh(&self, impulse: &Vector3<f64>) -> Vector3<f64> {
        let (n, t) = (self.normal, self.tangential);
        Vector3::new(n * impulse.x, t * impulse.y, t * impulse.z)
    }

    /// The impulse for `y`. [Todorov 2014; Castro 2023]
    pub(crate) fn impulse(&self, admissible: &Admissible, y: &Vector3<f64>) -> Vector3<f64> {
        match *admissible {
            Admissible::Interval { lower, upper } => {
                Vector3::new((y.x * self.inverse_normal).clamp(lower, upper), 0.0, 0.0)
            }
            Admissible::Cone { friction } => match self.nearest_on_cone(friction, y) {
                OnCone::Apex => Vector3::zeros(),
                OnCone::Inside(free) => free,
                OnCone::Surface(point) => point.along * point.normal,
            },
            Admissible::FrictionMoment { .. } => admissible.project(&self.free(y)),
        }
    }

    /// The impulse for `y`, and its slope `∂λ/∂y`, symmetric and positive semidefinite. [Todorov 2014; Castro 2023]
    pub(crate) fn respond(
        &self,
        admissible: &Admissible,
        y: &Vector3<f64>,
    ) -> (Vector3<f64>, Matrix3<f64>) {
        let mut slope = Matrix3::zeros();
        let (n, t) = (self.inverse_normal, self.inverse_tangential);
        match *admissible {
            Admissible::Interval { lower, upper } => {
                // Clamped to the bounds; the slope is `1/W` between them.
                let free = y.x * n;
                if free > lower && free < upper {
                    slope.m11 = n;
                }
                (Vector3::new(free.clamp(lower, upper), 0.0, 0.0), slope)
            }
            Admissible::Cone { friction } => match self.nearest_on_cone(friction, y) {
                OnCone::Apex => (Vector3::zeros(), slope),
                OnCone::Inside(free) => (free, Matrix3::from_diagonal(&Vector3::new(n, t, t))),
                OnCone::Surface(SurfacePoint { along, d, normal, scale, tangential }) => {
                    // The slope along the generator `(1, μ d)` of the cone, and across it, where `d` turns.
                    // Along the generator the law is that of one row of weight `W_n + μ² W_t`.
                    slope = along * along.transpose() * (n * scale);
                    let tangential_stiffness = friction * normal / tangential * t;
                    slope.m22 += tangential_stiffness * d.y * d.y;
                    slope.m33 += tangential_stiffness * d.x * d.x;
                    slope.m23 -= tangential_stiffness * d.x * d.y;
                    slope.m32 -= tangential_stiffness * d.x * d.y;
                    (along * normal, slope)
                }
            },
            Admissible::FrictionMoment { spinning, rolling, load, .. } => {
                // Spinning is clamped to an interval, rolling to a disc, on whose edge the slope is that of the direction.
                let free = self.free(y);
                if free.x.abs() < spinning * load {
                    // Inside its bounds a moment answers linearly; at them it is constant, and adds nothing to `D`.
                    slope.m11 = n;
                }
                let (most, about_tangents) = (rolling * load, free.yz().norm());
                if about_tangents < most {
                    (slope.m22, slope.m33) = (t, t);
                } else if about_tangents > 0.0 {
                    let (d, tangential_stiffness) =
                        (free.yz() / about_tangents, most / about_tangents * t);
                    slope.m22 = tangential_stiffness * d.y * d.y;
                    slope.m33 = tangential_stiffness * d.x * d.x;
                    slope.m23 = -tangential_stiffness * d.x * d.y;
                    slope.m32 = slope.m23;
                }
                (admissible.project(&free), slope)
            }
        }
    }

    /// The impulse `W⁻¹ y` without bounds.
    fn free(&self, y: &Vector3<f64>) -> Vector3<f64> {
        let (n, t) = (self.inverse_normal, self.inverse_tangential);
        Vector3::new(y.x * n, y.y * t, y.z * t)
    }

    /// Nearest point of Coulomb's cone in the metric of the weights.
    fn nearest_on_cone(&self, friction: f64, y: &Vector3<f64>) -> OnCone {
        let free = self.free(y);
        let tangential = free.yz().norm();
        // In the metric of the weights the polar cone's bound is `μ W_t/W_n` instead of `μ`.
        let ratio = || friction * self.tangential / self.normal;
        // Before the cone itself: without friction a pull along the normal is on both their lines. The apex, where new
        // contacts begin, belongs to the cone: it sticks until shown otherwise.
        if free.x < 0.0 && ratio() * tangential < -free.x {
            return OnCone::Apex;
        }
        if tangential <= friction * free.x {
            return OnCone::Inside(free);
        }
        let ratio = ratio();
        let scale = 1.0 / (1.0 + friction * ratio);
        let normal = (free.x + ratio * tangential) * scale;
        let d = free.yz() / tangential;
        let along = Vector3::new(1.0, friction * d.x, friction * d.y);
        OnCone::Surface(SurfacePoint { along, d, normal, scale, tangential })
    }
}

/// Where the point of a cone is that is nearest to an impulse.
enum OnCone {
    /// Zero: the contact separates.
    Apex,
    /// The impulse itself: it sticks.
    Inside(Vector3<f64>),
    /// It slides.
    Surface(SurfacePoint),
}

/// A point on the surface of a cone.
struct SurfacePoint {
    /// Generator `(1, μ d)`, and the direction `d` of friction.
    along: Vector3<f64>,
    d: Vector2<f64>,
    /// Normal impulse.
    normal: f64,
    /// `1/(1 + μ² W_t/W_n)`.
    scale: f64,
    /// Tangential impulse without bounds.
    tangential: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Optimal on the cone, and the slope is that of finite differences.
        #[test]
        fn the_softened_law_is_a_weighted_projection(
            y in prop::array::uniform3(-1.0..1.0_f64),
            friction in 0.0..2.0_f64,
            normal in 0.1..2.0_f64,
            tangential in 0.1..2.0_f64,
        ) {
            let soft = Softened::new(normal, tangential);
            let turning = Admissible::FrictionMoment {
                spinning: 0.5,
                rolling: 0.3,
                load: friction,
                soft: None,
            };
            slope_is_right(soft, turning, Vector3::from(y))?;
            let admissible = Admissible::Cone { friction };
            let y = Vector3::from(y);
            let (impulse, _) = soft.respond(&admissible, &y);
            let W = Matrix3::from_diagonal(&Vector3::new(normal, tangential, tangential));
            let gradient = W * impulse - y;
            prop_assert_eq!(impulse, soft.impulse(&admissible, &y));
            prop_assert!(impulse.yz().norm() <= friction * impulse.x + 1e-12);
            // The gradient is in the dual cone and does no work.
            prop_assert!(friction * gradient.yz().norm() <= gradient.x + 1e-12 || impulse.norm() == 0.0 || gradient.norm() < 1e-12 || (gradient.x - friction * gradient.yz().norm()).abs() < 1e-12);
            prop_assert!(gradient.dot(&impulse).abs() < 1e-12);
            slope_is_right(soft, admissible, y)?;
        }
    }

    #[test]
    fn a_contact_without_friction_does_not_pull() {
        let soft = Softened::new(0.5, 0.5);
        let apart =
            soft.respond(&Admissible::Cone { friction: 0.0 }, &Vector3::new(-1.0, 0.0, 0.0));
        assert_eq!(apart, (Vector3::zeros(), Matrix3::zeros()));
    }

    /// Against finite differences, where the law has no kink.
    fn slope_is_right(
        soft: Softened,
        admissible: Admissible,
        y: Vector3<f64>,
    ) -> Result<(), TestCaseError> {
        let (step, slope) = (1e-7, soft.respond(&admissible, &y).1);
        for k in 0..3 {
            let mut dy = Vector3::zeros();
            dy[k] = step;
            let (up, slope_up) = soft.respond(&admissible, &(y + dy));
            let (down, slope_down) = soft.respond(&admissible, &(y - dy));
            prop_assume!((slope_up - slope_down).amax() < 1e-3);
            let error = ((up - down) / (2.0 * step) - slope.column(k)).amax();
            prop_assert!(error < 1e-5, "column {k}: {error}");
        }
        Ok(())
    }
}
