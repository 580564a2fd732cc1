//! One contact with exact Coulomb friction, everything else fixed.
//!
//! Find `λ ∈ K_μ` with `u = G λ + w` such that `0 ≤ λ_n ⟂ u_n ≥ 0` and the friction opposes the sliding:
//! open (`λ = 0`), sticking (`u = 0`) or sliding with `u_t = s d`, `λ_t = −μ λ_n d`, `u_n = 0`. In sliding the
//! direction `d(θ)` is the root of `d × u_t(θ) = 0` with `d·u_t ≥ 0`, found by a bracketed search.
//! [Hwangbo, Lee, Hutter 2018, §IV]

use nalgebra::{Matrix3, Vector2, Vector3};

/// Relative width at which the sliding direction counts as found. [rad]
const ANGLE_TOLERANCE: f64 = 1e-15;
/// Sectors of the full turn that are searched when the guess has no root near.
const SECTORS: usize = 32;

/// Solves one contact. `G` (3×3) and `w` (3) are ordered normal, tangent, tangent. Impulse. [N·s] (3)
pub fn solve_contact(G: &Matrix3<f64>, w: &Vector3<f64>, friction: f64) -> Vector3<f64> {
    // Open, then sticking, then sliding.
    if w.x >= 0.0 {
        return Vector3::zeros();
    }
    let frictionless = Vector3::new(-w.x / G[(0, 0)], 0.0, 0.0);
    if friction <= 0.0 {
        return frictionless;
    }
    // A singular `G` has no sticking solution: along its null direction nothing resists.
    let Some(sticking) = G.try_inverse().map(|inverse| -(inverse * w)) else {
        return frictionless;
    };
    let tangential = sticking.yz().norm();
    if sticking.x >= 0.0 && tangential <= friction * sticking.x {
        return sticking;
    }
    Sliding::new(G, w, friction)
        // Against the sticking impulse, as friction opposes the slip that it would have stopped.
        .direction(-sticking.yz())
        .unwrap_or_else(|| on_cone(&sticking, friction))
}

/// Whether an impulse is in Coulomb's cone `‖λ_t‖ ≤ μ λ_n`. (3)
#[inline]
pub(crate) fn is_inside_cone(impulse: &Vector3<f64>, friction: f64) -> bool {
    let most = friction * impulse.x;
    impulse.x >= 0.0 && impulse.yz().norm_squared() <= most * most
}

/// Nearest point of Coulomb's cone `‖λ_t‖ ≤ μ λ_n`. (3)
pub fn project_on_cone(impulse: &Vector3<f64>, friction: f64) -> Vector3<f64> {
    if is_inside_cone(impulse, friction) {
        return *impulse;
    }
    let tangential = impulse.yz().norm();
    // From the polar cone the apex is nearest, from elsewhere outside a point of the generator `(1, μ d)`.
    if friction * tangential <= -impulse.x {
        return Vector3::zeros();
    }
    let normal = (impulse.x + friction * tangential) / (1.0 + friction * friction);
    let scale = friction * normal / tangential;
    Vector3::new(normal, impulse.y * scale, impulse.z * scale)
}

/// The normal part kept, the tangential part cut to the cone: the result where no sliding solution exists
/// (Painlevé's paradox).
fn on_cone(impulse: &Vector3<f64>, friction: f64) -> Vector3<f64> {
    let normal = impulse.x.max(0.0);
    let tangential = impulse.yz().norm();
    let scale = if tangential > 0.0 { (friction * normal / tangential).min(1.0) } else { 0.0 };
    Vector3::new(normal, impulse.y * scale, impulse.z * scale)
}

struct Sliding<'a> {
    G: &'a Matrix3<f64>,
    w: &'a Vector3<f64>,
    friction: f64,
}

impl<'a> Sliding<'a> {
    fn new(G: &'a Matrix3<f64>, w: &'a Vector3<f64>, friction: f64) -> Self {
        Self { G, w, friction }
    }

    /// Impulse and sliding velocity for the direction `d`, unless the normal impulse would have to be negative.
    fn at(&self, d: &Vector2<f64>) -> Option<(Vector3<f64>, Vector2<f64>)> {
        let (G, mu) = (self.G, self.friction);
        // `u_n = 0` with `λ_t = −μ λ_n d`: `λ_n = −w_n/(G_nn − μ b·d)`, `b` the coupling of the normal with the tangents.
        let b = Vector2::new(G[(0, 1)], G[(0, 2)]);
        let stiffness = G[(0, 0)] - mu * b.dot(d);
        // Painlevé's configuration: friction presses the contact together as much as its normal can relieve it.
        if stiffness <= 1e-12 * G[(0, 0)] {
            return None;
        }
        let normal = -self.w.x / stiffness;
        let impulse = Vector3::new(normal, -mu * normal * d.x, -mu * normal * d.y);
        let u = G * impulse + self.w;
        Some((impulse, u.yz()))
    }

    /// `d × u_t`: zero where the sliding velocity is along `d`.
    fn misalignment(&self, angle: f64) -> Option<f64> {
        let d = Vector2::new(angle.cos(), angle.sin());
        let (_, u) = self.at(&d)?;
        Some(d.x * u.y - d.y * u.x)
    }

    /// The impulse of the sliding contact, searched from the direction `guess` outwards.
    fn direction(&self, guess: Vector2<f64>) -> Option<Vector3<f64>> {
        let start = guess.y.atan2(guess.x);
        let sector = core::f64::consts::TAU / SECTORS as f64;
        // Outwards on both sides, the nearest root first.
        // Sectors find a sign change that one Newton or secant run from the guess can step over.
        for i in 0..SECTORS / 2 {
            for side in [1.0, -1.0] {
                let near = start + side * sector * i as f64;
                if let Some(impulse) = self.root_between(near, near + side * sector) {
                    return Some(impulse);
                }
            }
        }
        None
    }

    /// A root with `d·u_t ≥ 0` between two angles, by the Illinois variant of false position.
    fn root_between(&self, start: f64, end: f64) -> Option<Vector3<f64>> {
        let (mut a, mut b) = (start, end);
        let (mut fa, mut fb) = (self.misalignment(a)?, self.misalignment(b)?);
        if fa * fb > 0.0 {
            return None;
        }
        // Convergence is superlinear; the bound is for what rounding keeps from ending.
        for _ in 0..80 {
            if fa == 0.0 || (b - a).abs() <= ANGLE_TOLERANCE * a.abs().max(1.0) {
                break;
            }
            if fb == 0.0 {
                a = b;
                break;
            }
            // The secant; an end that stays has its value halved.
            let mid = (a * fb - b * fa) / (fb - fa);
            let fmid = self.misalignment(mid)?;
            if fmid * fb <= 0.0 {
                (a, fa) = (b, fb);
            } else {
                fa *= 0.5;
            }
            (b, fb) = (mid, fmid);
            if fb == 0.0 {
                a = b;
            }
        }
        let angle = if fa.abs() < fb.abs() { a } else { b };
        let d = Vector2::new(angle.cos(), angle.sin());
        let (impulse, u) = self.at(&d)?;
        // The other root of the cross product has friction along the slip.
        (d.dot(&u) >= 0.0).then_some(impulse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Complementarity, cone and opposition hold for any contact of a rigid body pair.
        #[test]
        fn contact_law_holds(
            a in prop::array::uniform9(-1.0..1.0_f64),
            w in prop::array::uniform3(-1.0..1.0_f64),
            friction in 0.0..1.0_f64,
        ) {
            let A = Matrix3::from_row_slice(&a);
            let G = A * A.transpose() + Matrix3::identity() * 0.5;
            let w = Vector3::from(w);
            let impulse = solve_contact(&G, &w, friction);
            let u = G * impulse + w;
            let tolerance = 1e-9 * (1.0 + impulse.norm());
            prop_assert!(impulse.x >= 0.0);
            prop_assert!(impulse.yz().norm() <= friction * impulse.x + tolerance);
            prop_assert!(u.x >= -tolerance, "approaches at {}", u.x);
            prop_assert!((u.x * impulse.x).abs() <= tolerance, "pushes while opening");
            let slides = u.yz().norm() > tolerance;
            if slides && impulse.x > tolerance {
                let opposing = u.yz().dot(&impulse.yz()) + friction * impulse.x * u.yz().norm();
                prop_assert!(opposing.abs() <= 1e-7 * (1.0 + impulse.norm()), "friction does not oppose: {opposing}");
            }
        }

        /// The projection is the nearest point: idempotent, and the rest is in the polar cone.
        #[test]
        fn projection_is_orthogonal(x in prop::array::uniform3(-1.0..1.0_f64), friction in 0.01..2.0_f64) {
            let x = Vector3::from(x);
            let p = project_on_cone(&x, friction);
            prop_assert!((project_on_cone(&p, friction) - p).norm() <= 1e-14);
            prop_assert!((x - p).dot(&p).abs() <= 1e-14);
        }
    }

    #[test]
    fn a_contact_without_friction_does_not_pull() {
        assert_eq!(project_on_cone(&Vector3::new(-1.0, 0.0, 0.0), 0.0), Vector3::zeros());
        assert_eq!(project_on_cone(&Vector3::new(1.0, 0.0, 0.0), 0.0), Vector3::x());
        assert_eq!(project_on_cone(&Vector3::new(1.0, 2.0, 3.0), 0.0), Vector3::x());
    }

    #[test]
    fn a_resting_point_mass_sticks_below_the_cone_and_slides_above() {
        let G = Matrix3::identity();
        let stuck = solve_contact(&G, &Vector3::new(-1.0, 0.5, 0.0), 0.6);
        assert!((stuck - Vector3::new(1.0, -0.5, 0.0)).norm() < 1e-15, "{stuck}");
        let slid = solve_contact(&G, &Vector3::new(-1.0, 0.8, 0.0), 0.6);
        assert!((slid - Vector3::new(1.0, -0.6, 0.0)).norm() < 1e-14, "{slid}");
    }
}
