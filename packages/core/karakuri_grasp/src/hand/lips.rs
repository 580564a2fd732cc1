//! Lips of cups on a face: the law of a ring for one, shared by their stiffness among several.
//!
//! Cups of one kind yield alike: each as a ring of springs, along all directions as stiff as its area, against tilting by `R²/2` of that and
//! against turning by `R²`. For one cup the share is the whole wrench, for cups side by side `F/n + M xᵢ/Σx²`.
//!
//! Units: m, N, kg; tool axes, x along the cups' axes.

use karakuri_spatial::{Force, Vector3, Vector6};

use super::payload::{MOVABLE, Payload, ToolMotion};
use super::springs::{Held, Springs, Stiffness};
use crate::suction::cup::Cup;

/// What a strength is the force of, after a number in newtons.
pub(super) const UNIT: &str = "N of vacuum";

/// A cup and its place on the tool.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Place {
    /// Effective area. [m²]
    pub(super) area: f64,
    /// Radius of the ring on which its lip rests. [m]
    pub(super) radius: f64,
    /// Least radius of cylinders and balls that it seals on. [m]
    pub(super) least_radius: f64,
    /// Centre of the lip in the tool frame. [m] (3)
    pub(super) center: Vector3,
}

/// Lips that hold an object by one of its faces.
#[derive(Debug, Clone)]
pub(crate) struct Lips {
    places: Vec<Place>,
    springs: Springs,
    held: Held,
}

impl Lips {
    /// Lips that hold an object of this mass distribution.
    pub(super) fn with(places: &[Place], held: Held) -> Option<Self> {
        let springs: Vec<_> = places.iter().map(|place| (stiffness(place), place.center)).collect();
        Some(Self { springs: Springs::new(&springs)?, places: places.to_vec(), held })
    }

    /// Force of the vacuum over all areas that holds the payload at rest, its centre of mass off by the tolerance. [N]
    pub(super) fn at_rest(&self, payload: &Payload) -> f64 {
        payload.safety * self.force(payload, &self.held.at_rest(payload))
    }

    /// Force of the vacuum that carries the payload, and can move it. [N]
    pub(super) fn needed(&self, payload: &Payload) -> f64 {
        MOVABLE * self.at_rest(payload)
    }

    /// Share of the vacuum's force that a motion uses. [-]
    pub(super) fn load(&self, payload: &Payload, force: f64, motion: &ToolMotion<'_>) -> f64 {
        payload.safety * self.force(payload, &self.held.moving(payload, motion)) / force
    }

    /// Force of the vacuum over all areas that bears each of these wrenches about the tool.
    fn force(&self, payload: &Payload, pulls: &[Force]) -> f64 {
        let axis = Vector3::x();
        let area: f64 = self.places.iter().map(|place| place.area).sum();
        let mut vacuum: f64 = 0.0;
        for pull in pulls {
            for (place, wrench) in self.places.iter().zip(self.springs.bear(pull)) {
                let Place { area, radius, .. } = *place;
                let cup = Cup { area, radius, friction: payload.friction };
                vacuum = vacuum.max(cup.needed_force(&wrench, &axis) / area);
            }
        }
        vacuum * area
    }
}

/// Stiffness of a lip against turning and moving at its centre.
fn stiffness(place: &Place) -> Stiffness {
    let Place { area, radius, .. } = *place;
    let tilt = 0.5 * radius * radius;
    let turn = radius * radius;
    Vector6::new(turn, tilt, tilt, 1.0, 1.0, 1.0) * area
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;
    use karakuri_spatial::{Matrix3, Motion, Pose};

    use super::*;
    use crate::hand::payload::COM_TOLERANCE;

    const GRAVITY: f64 = 9.81;

    fn place(y: f64, z: f64) -> Place {
        Place {
            area: 69.0 / 60e3,
            radius: 0.0191,
            least_radius: 0.06,
            center: Vector3::new(0.0, y, z),
        }
    }

    fn payload(mass: f64) -> Payload {
        Payload { mass, friction: 0.5, safety: 1.0, gravity: GRAVITY }
    }

    /// `m g (1 + e/R)` with the centre of mass off by the tolerance: `V/(1 + e/R)` of the pull.
    #[test]
    fn one_lip_bears_the_whole_wrench() {
        let lips = Lips::with(
            &[place(0.0, 0.0)],
            Held::new(Vector3::x() * 0.025, &Vector3::new(0.05, 0.1, 0.1)),
        )
        .unwrap();
        let known = 2.0 * GRAVITY * (1.0 + COM_TOLERANCE / 0.0191);
        assert_relative_eq!(lips.at_rest(&payload(2.0)), known, max_relative = 1e-12);
    }

    /// Two lips 100 mm apart share a pull evenly, and a moment about the line across as `M/d`.
    #[test]
    fn a_row_of_lips_shares_as_springs_do() {
        let edges = Vector3::new(0.01, 0.2, 0.2);
        let row = Lips::with(
            &[place(0.05, 0.0), place(-0.05, 0.0)],
            Held::new(Vector3::x() * 0.005, &edges),
        )
        .unwrap();
        let pull = Force::new(Vector3::z() * 0.3, Vector3::x() * 10.0);
        let shares: Vec<_> = row.springs.bear(&pull).collect();
        let [a, b] = &shares[..] else { panic!("{shares:?}") };
        // The lips' own resistance to tilting takes `(R²/2)/(x² + R²/2)` of the moment.
        let (x, tilt) = (0.05_f64, 0.5 * 0.0191_f64.powi(2));
        let by_pair = 0.3 * x * x / (x * x + tilt);
        assert_relative_eq!(
            a.force.x - b.force.x,
            -2.0 * by_pair / (2.0 * x),
            max_relative = 1e-12
        );
        assert_relative_eq!(a.force.x + b.force.x, 10.0, max_relative = 1e-12);
        // Together they are the whole wrench.
        let moment = a.moment.z + b.moment.z - x * (a.force.x - b.force.x);
        assert_relative_eq!(moment, 0.3, max_relative = 1e-12);
    }

    /// A cube that is accelerated to the side tips by half its edge: `m a h/R` against the lip's edge.
    #[test]
    fn a_motion_to_the_side_tips_a_tall_box() {
        let lips = Lips::with(
            &[place(0.0, 0.0)],
            Held::new(Vector3::x() * 0.1, &Vector3::new(0.2, 0.1, 0.1)),
        )
        .unwrap();
        let down = Matrix3::from_columns(&[-Vector3::z(), Vector3::y(), Vector3::x()]);
        let X_WT = Pose::new(down, Vector3::zeros());
        let at = |a: f64| {
            let A = Motion::new(Vector3::zeros(), Vector3::y() * a);
            let motion = ToolMotion { X_WT: &X_WT, V: &Motion::default(), A: &A };
            lips.load(&payload(1.0), 1.0, &motion)
        };
        let known = |a: f64| GRAVITY + (GRAVITY * COM_TOLERANCE + a * 0.1) / 0.0191;
        assert_relative_eq!(at(3.0), known(3.0), max_relative = 1e-9);
    }

    /// A turn about the vertical loads a lip by the object's moment of inertia: `α m (b² + d²)/12` against `μ R N`.
    #[test]
    fn a_turn_about_the_axis_uses_friction() {
        let lips = Lips::with(
            &[place(0.0, 0.0)],
            Held::new(Vector3::x() * 0.01, &Vector3::new(0.02, 0.3, 0.2)),
        )
        .unwrap();
        let down = Matrix3::from_columns(&[-Vector3::z(), Vector3::y(), Vector3::x()]);
        let X_WT = Pose::new(down, Vector3::zeros());
        let A = Motion::new(Vector3::z() * 40.0, Vector3::zeros());
        let motion = ToolMotion { X_WT: &X_WT, V: &Motion::default(), A: &A };
        let moment = 40.0 * (0.09 + 0.04) / 12.0;
        // The centre of mass that is off shears a little, too.
        let shear = 40.0 * COM_TOLERANCE;
        let turn = moment / 0.0191 + 40.0 * COM_TOLERANCE * COM_TOLERANCE / 0.0191;
        let least = GRAVITY + (moment / 0.0191) / 0.5;
        let most = GRAVITY + shear.hypot(turn) / 0.5;
        let load = lips.load(&payload(1.0), 1.0, &motion);
        assert!((least * (1.0 - 1e-9)..=most).contains(&load), "{load}, {least} to {most}");
    }
}
