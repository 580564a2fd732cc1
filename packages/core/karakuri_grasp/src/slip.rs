//! Slip: grip force that a motion needs, and motion that a grip force allows.
//!
//! The fingers must carry `f = m (a − g)`, `a` the acceleration of the centre of mass, and the moment `m j = I α + ω × I ω` about it. With n the
//! closing direction and w the distance of the fingers:
//! * along the pads `m (|(a − g)_t| + 2 |j_t|/w) ≤ μ (N_L + N_R)/s`, `s` the safety factor: a moment across n is borne by friction on the two pads
//!   in opposite directions;
//! * along n `m |(a − g)_n| < N_L + N_R` for a pair held by force;
//! * about n, with the centre of mass off the grip line by d, `m |(d × (a − g) + j)_n| ≤ μ r_c (N_L + N_R)`, `r_c` the
//!   effective radius of the pads.
//!
//! Sliding and twisting use the same friction: together they must stay inside the ellipse
//! `(tangential load)² + (twist load)² ≤ 1`. [Howe 1996]
//!
//! Faces that lean by γ against the tool push the object along it. A finger that presses across the tool with H and bears the pull P out of the
//! hand has the normal force `N = H cos γ − P sin γ` and the tangential one `T = H sin γ + P cos γ` in the plane of the lean, so that with Q along the
//! face across that plane, twisting included, the object is held for
//!
//! `(H sin γ + P cos γ)² + Q² ≤ μ² (H cos γ − P sin γ)²`;
//!
//! with Q = 0 for `P ≤ H tan(φ − γ)`, φ = atan μ, which is `N (μ cos γ − sin γ)`: `docs/theory/grasping.md` (1), (2).
//!
//! Units: SI; any one set of axes.

use karakuri_spatial::{Matrix3, Vector3};

/// Wrench about its centre of mass by which a kilogram of an object moves as it does, gravity included.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SpecificWrench {
    /// Specific force `a − g` of the centre of mass. [m/s²] (3)
    pub force: Vector3,
    /// Moment `j = (I α + ω × I ω)/m`. [m²/s²] (3)
    pub moment: Vector3,
}

impl SpecificWrench {
    /// Wrench of an object that does not turn, by the specific force of its centre of mass. [m/s²] (3)
    pub fn without_moment(force: Vector3) -> Self {
        Self { force, moment: Vector3::zeros() }
    }
}

/// Grip of an object between two fingers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grip {
    /// Mass of the object. [kg]
    pub mass: f64,
    /// Coefficient of friction between pads and object. [-]
    pub friction: f64,
    /// Normal forces of both fingers together. [N]
    pub force: f64,
    /// Safety factor s, at least 1. [-]
    pub safety: f64,
}

impl Grip {
    /// Share of the grip that a motion uses, safety included; 1 is all of it. `specific_force` is `a − g` [m/s²] (3), `closing` a
    /// unit vector along the opening. [-]
    pub fn load(&self, specific_force: &Vector3, closing: &Vector3) -> f64 {
        let along = specific_force.dot(closing);
        // Gravity counts as −g of the acceleration, so a load at rest is a load like any other.
        let tangential = (specific_force - closing * along).norm();
        // Along the pads `s m |(a − g)_t|/(μ (N_L + N_R))`, along the closing direction `s m |(a − g)_n|/(N_L + N_R)`.
        let by_friction = self.safety * self.mass * tangential / (self.friction * self.force);
        // Along the closing direction a finger pushes, and no friction is needed: the larger of both demands counts.
        by_friction.max(self.safety * self.mass * along.abs() / self.force)
    }

    /// Share of the grip that a motion uses by sliding and twisting together, with the centre of mass `offset` from the grip line
    /// and, in any direction, up to `uncertainty` further. [-]
    pub fn total_load(&self, needed: &SpecificWrench, closing: &Vector3, patch: &Patch) -> f64 {
        let SpecificWrench { force, moment } = needed;
        // On one of the pads the couple adds to the load.
        let across = moment - closing * moment.dot(closing);
        let couple = self.share() * patch.couple(across.norm()) / self.friction;
        // Sliding and twisting combine by the ellipse of [Howe 1996].
        (self.load(force, closing) + couple).hypot(self.total_twist(needed, closing, patch))
    }

    /// Share of the pads' resistance to twisting that a motion uses, known and unknown offset together. [-]
    fn total_twist(&self, needed: &SpecificWrench, closing: &Vector3, patch: &Patch) -> f64 {
        let SpecificWrench { force, moment } = needed;
        // What the offset tilts the object by, across the closing direction, the pads bear by pressure.
        let twist = patch.offset.cross(force) + moment;
        // The unknown part of the offset twists most across the load.
        let tangential = force - closing * force.dot(closing);
        let about = twist.dot(closing).abs() + patch.uncertainty * tangential.norm();
        self.share() * about / (self.friction * patch.radius)
    }

    /// Share of the fingers' force that a kilogram's newton is, safety included. [kg/N]
    fn share(&self) -> f64 {
        self.safety * self.mass / self.force
    }

    /// Share of the grip that a motion uses where the fingers lean by `lean` [rad] against the tool, whose axes are `R_WT`: the factor by which the
    /// motion's forces may be divided until they are at the edge of the cone. Infinite where the object is squeezed out at rest. [-]
    pub fn leaning_load(
        &self,
        needed: &SpecificWrench,
        R_WT: &Matrix3,
        patch: &Patch,
        lean: f64,
    ) -> f64 {
        let closing = R_WT.column(1).into_owned();
        // Where nothing leans the same law in fewer roundings.
        if lean.abs() <= 0.0 {
            return self.total_load(needed, &closing, patch);
        }
        let (sin, cos) = lean.sin_cos();
        let mu = self.friction;
        // Of `H² (μ² cos²γ − sin²γ)`, what the squeezing leaves of the friction.
        let left = (mu * cos).powi(2) - sin * sin;
        if lean.abs() >= mu.atan() || left <= 0.0 {
            return f64::INFINITY;
        }
        let SpecificWrench { force, moment } = needed;
        // Everything as a share of the fingers' force: P/H and Q/H.
        let share = self.share();
        // What is borne by a couple adds to the load on one of the fingers, in either direction.
        let couples = [2, 0].map(|axis| share * patch.couple(moment.dot(&R_WT.column(axis)).abs()));
        // The fingers hold back what pulls away from the hand.
        let pull = -share * force.dot(&R_WT.column(0));
        let twist = self.total_twist(needed, &closing, patch);
        let across = ((share * force.dot(&R_WT.column(2))).abs() + couples[1]).hypot(mu * twist);
        let by_friction = [pull - couples[0], pull + couples[0]].map(|pull| {
            // With P/s and Q/s at the edge of the cone, `left s² − 2 b s − a = 0`; `b² + left a` is `μ² P² + left Q²`.
            let b = pull * sin * cos * (1.0 + mu * mu);
            (b + (mu * mu * pull * pull + left * across * across).sqrt()) / left
        });
        // As for level faces: along the closing direction a finger pushes, and twisting adds to that.
        let pushed = (share * force.dot(&closing).abs()).hypot(twist);
        by_friction.into_iter().fold(pushed, f64::max)
    }
}

/// Contact patch of the fingers on the object.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Patch {
    /// Effective radius of the pads, see [`effective_radius`]. [m]
    pub radius: f64,
    /// Offset from the grip line to the centre of mass. [m] (3)
    pub offset: Vector3,
    /// Largest error of the offset. [m]
    pub uncertainty: f64,
    /// Distance of the fingers from each other. [m]
    pub width: f64,
}

impl Patch {
    /// What a moment across the closing direction adds to the load of a pair, on one of the fingers. [m²/s²], [m/s²]
    fn couple(&self, moment: f64) -> f64 {
        2.0 * moment / self.width
    }
}

/// Effective radius of a rectangular pad under even pressure: the mean distance of its points from its middle,
/// `d/6 + a²/(12 b) ln((b + d)/a) + b²/(12 a) ln((a + d)/b)`, `d` the diagonal. [m]
// For a square of edge e: (√2 + asinh 1)/6 e; for a long strip a quarter of its length.
pub fn effective_radius(a: f64, b: f64) -> f64 {
    let d = a.hypot(b);
    d / 6.0 + a * a / (12.0 * b) * ((b + d) / a).ln() + b * b / (12.0 * a) * ((a + d) / b).ln()
}

/// Pull out of the hand that a finger bears by its force across the tool, with a face that leans by `lean` [rad]: `tan(φ − γ)`. At γ = 0 it is the
/// friction; not above 0 it is squeezed out. [-]
pub fn traction(friction: f64, lean: f64) -> f64 {
    // By way of the angles only where something leans: the way there and back rounds.
    if lean.abs() > 0.0 { (friction.atan() - lean).tan() } else { friction }
}

/// Friction at which a face that leans by `lean` [rad] bears a pull: the inverse of [`traction`]. [-]
pub fn friction_for(traction: f64, lean: f64) -> f64 {
    if lean.abs() > 0.0 { (traction.atan() + lean).tan() } else { traction }
}

/// Normal force of each finger for a specific force along the pads: `N = s m |(a − g)_t|/(2 μ)`. [N]
pub fn required_force(mass: f64, friction: f64, safety: f64, tangential: f64) -> f64 {
    // Both pads bear by friction: 2 μ N = s m |(a − g)_t|.
    safety * mass * tangential / (2.0 * friction)
}

#[cfg(test)]
mod tests {
    use super::{
        Grip, Patch, SpecificWrench, effective_radius, friction_for, required_force, traction,
    };
    use karakuri_spatial::{Matrix3, Vector3};

    #[test]
    fn worked_examples() {
        // m 0.1 kg, μ 0.5, 5 N a finger, s 1.5: A = 33, up 23, horizontal 32 m/s².
        let grip = Grip { mass: 0.1, friction: 0.5, force: 10.0, safety: 1.5 };
        let load_of = |grip: &Grip, along: f64, up: f64| {
            grip.load(&Vector3::new(along, 0.0, 9.81 + up), &Vector3::y())
        };
        assert!((load_of(&grip, 0.0, 33.333 - 9.81) - 1.0).abs() < 1e-4);
        assert!((load_of(&grip, 0.0, 23.52) - 1.0).abs() < 1e-3);
        assert!((load_of(&grip, 31.86, 0.0) - 1.0).abs() < 1e-3);
        let heavy = Grip { mass: 0.3, ..grip };
        assert!((load_of(&heavy, 0.0, 1.30) - 1.0).abs() < 1e-3);
        assert!((load_of(&heavy, 5.22, 0.0) - 1.0).abs() < 1e-3);
        // 0.4 kg cannot be held at all.
        assert!(load_of(&Grip { mass: 0.4, ..grip }, 0.0, 0.0) > 1.0);
    }

    #[test]
    fn required_force_uses_the_whole_grip() {
        let force = required_force(0.2, 0.6, 1.5, 12.0);
        let grip = Grip { mass: 0.2, friction: 0.6, force: 2.0 * force, safety: 1.5 };
        let load = grip.load(&Vector3::new(0.0, 7.0, 12.0), &Vector3::y());
        assert!((load - 1.0).abs() < 1e-12, "{load}");
    }

    #[test]
    fn sideways_motion_needs_no_friction() {
        let grip = Grip { mass: 1.0, friction: 1e-3, force: 20.0, safety: 1.0 };
        let load = grip.load(&Vector3::new(0.0, 10.0, 0.0), &Vector3::y());
        assert!((load - 0.5).abs() < 1e-12);
        let patch = Patch { offset: Vector3::x() * 0.01, ..level(0.01) };
        let twist = grip.total_twist(&still(Vector3::z()), &Vector3::y(), &patch);
        assert!((twist - 50.0).abs() < 1e-9);
    }

    fn still(force: Vector3) -> SpecificWrench {
        SpecificWrench::without_moment(force)
    }

    /// Pads in line with the centre of mass, 40 mm apart.
    fn level(radius: f64) -> Patch {
        Patch { radius, offset: Vector3::zeros(), uncertainty: 0.0, width: 0.04 }
    }

    /// A moment of 0.02 N·m about the closing direction against `2 μ r N`, one across it as 0.5 N on each pad against `μ N`.
    #[test]
    fn turning_needs_force() {
        let grip = Grip { mass: 0.2, friction: 0.5, force: 20.0, safety: 1.0 };
        let patch = level(0.01);
        let load = |moment: Vector3, lean: f64| {
            let needed = SpecificWrench { force: Vector3::zeros(), moment: moment * 0.1 };
            grip.leaning_load(&needed, &down(), &patch, lean)
        };
        for lean in [0.0, 1e-9, -1e-9] {
            let about = [load(Vector3::y(), lean), load(-Vector3::y(), lean)];
            assert!(about.iter().all(|load| (load - 0.2).abs() < 1e-6), "{about:?}");
            let across = [Vector3::x(), -Vector3::z()].map(|moment| load(moment, lean));
            assert!(across.iter().all(|load| (load - 0.1).abs() < 1e-6), "{across:?}");
        }
        // Of a pair that leans, one finger is pulled at, for which the wedge law says tan(φ − γ) in place of μ.
        let known = 0.1 * 0.5 / traction(0.5, 0.2);
        let along = load(Vector3::x(), 0.2);
        assert!((along - known).abs() < 1e-9, "{along} and {known}");
    }

    #[test]
    fn a_square_pad_has_its_known_radius() {
        // (√2 + asinh 1)/6 of the edge.
        let known = (core::f64::consts::SQRT_2 + 1.0_f64.asinh()) / 6.0;
        assert!((effective_radius(0.02, 0.02) / 0.02 - known).abs() < 1e-12);
        // A disc has 2/3 R; a long strip a quarter of its length.
        assert!((effective_radius(1.0, 1e-6) - 0.25).abs() < 1e-4);
    }

    #[test]
    fn twisting_takes_from_what_is_left_for_sliding() {
        let grip = Grip { mass: 0.2, friction: 0.6, force: 20.0, safety: 1.5 };
        let (up, closing) = (Vector3::z() * 9.81, Vector3::y());
        let patch = |x: f64, uncertainty| Patch {
            offset: Vector3::new(x, 0.0, 0.0),
            uncertainty,
            ..level(0.01)
        };
        let straight = grip.total_load(&still(up), &closing, &patch(0.0, 0.0));
        assert!((straight - grip.load(&up, &closing)).abs() < 1e-12);
        // At one radius off, twisting needs as much as sliding.
        let off = grip.total_load(&still(up), &closing, &patch(0.01, 0.0));
        assert!((off - straight * core::f64::consts::SQRT_2).abs() < 1e-12);
        let unsure = grip.total_load(&still(up), &closing, &patch(0.0, 0.01));
        assert!((unsure - off).abs() < 1e-12);
    }

    /// The tool looks down: its x away from the hand, its y along the opening.
    fn down() -> Matrix3 {
        Matrix3::from_columns(&[-Vector3::z(), Vector3::y(), Vector3::x()])
    }

    #[test]
    fn leaning_fingers_bear_what_the_wedge_law_says() {
        // μ 0.6, 10 degrees, 10 N a finger: 2 H tan(30.96° − 10°) = 7.66 N, and by N = H/(cos γ + μ sin γ) the same.
        let (friction, lean) = (0.6_f64, 10_f64.to_radians());
        let bears = 20.0 * traction(friction, lean);
        assert!((bears - 7.66).abs() < 5e-3, "{bears} N");
        let normal = 20.0 / (lean.cos() + friction * lean.sin());
        assert!((normal * (friction * lean.cos() - lean.sin()) - bears).abs() < 1e-12);
        assert!((friction_for(traction(friction, lean), lean) - friction).abs() < 1e-15);
        let grip = Grip { mass: bears / 9.81, friction, force: 20.0, safety: 1.0 };
        let patch = level(0.01);
        let load = |up: f64, lean: f64| {
            grip.leaning_load(&still(Vector3::z() * up), &down(), &patch, lean)
        };
        assert!((load(9.81, lean) - 1.0).abs() < 1e-12, "{}", load(9.81, lean));
        // Pushed into the hand it is held by tan(φ + γ).
        let pushed = load(-9.81, lean) * traction(friction, -lean) / traction(friction, lean);
        assert!(
            (pushed - 1.0).abs() < 1e-12 && (load(9.81, -lean) - load(-9.81, lean)).abs() < 1e-12
        );
        for lean in [friction.atan(), 0.6, -0.6] {
            assert!(load(0.1, lean).is_infinite());
        }
        // Level faces are no other law.
        let level = grip.total_load(&still(Vector3::z() * 9.81), &Vector3::y(), &patch);
        assert!(
            (load(9.81, 0.0).to_bits(), load(9.81, 1e-9) - level < 1e-7) == (level.to_bits(), true)
        );
    }

    /// At the load that it names, the contact force is at the edge of Coulomb's cone, in any direction.
    #[test]
    fn a_leaning_grip_is_lost_at_the_edge_of_the_cone() {
        let grip = Grip { mass: 0.2, friction: 0.5, force: 16.0, safety: 1.3 };
        let patch = Patch { offset: Vector3::z() * -0.004, uncertainty: 0.002, ..level(0.006) };
        for (lean, push) in [
            (0.3, Vector3::new(2.0, 0.0, 9.81)),
            (0.3, Vector3::new(-7.0, 3.0, -4.0)),
            (-0.2, Vector3::new(1.0, -1.0, 12.0)),
            (-0.2, Vector3::new(5.0, 0.0, -9.0)),
        ] {
            let load = grip.leaning_load(&still(push), &down(), &patch, lean);
            let force = push * (grip.safety * grip.mass / load);
            let press = grip.force;
            // On the object by both fingers, mirrored onto one whose face looks to −y.
            let (normal, face) = (
                Vector3::new(lean.sin(), -lean.cos(), 0.0),
                Vector3::new(lean.cos(), lean.sin(), 0.0),
            );
            let on = Vector3::new(-force.z, -press, force.x);
            let moved = push - Vector3::y() * push.y;
            let twist = patch.offset.cross(&force).y.abs()
                + grip.safety * grip.mass / load * patch.uncertainty * moved.norm();
            let tangential = on.dot(&face).hypot(on.z.hypot(twist / patch.radius));
            let cone = grip.friction * on.dot(&normal);
            assert!(
                (tangential - cone).abs() < 1e-12 * press,
                "lean {lean}: {tangential} of {cone} N"
            );
        }
    }
}
