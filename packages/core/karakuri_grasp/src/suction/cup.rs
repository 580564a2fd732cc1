//! Load of a cup: the share of its vacuum that a wrench of the object uses.
//!
//! The lip is a stiff ring with Coulomb friction that is pressed on by `N = V − f`, `f` the pull of the object. It bears shear `t` and a
//! moment `s` about its axis with `(t/(μN))² + (s/(μRN))² ≤ 1`, and a moment `M` across the axis up to `R N`, where it tips over its edge.
//! Solved for the vacuum force: `V ≥ f + max(√((t/μ)² + (s/(μR))²), M/R)`.

use karakuri_spatial::{Force, Vector3};

/// A cup as the law of a ring knows it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cup {
    /// Effective area `A`: the force over the vacuum, which makers state smaller than the lip's circle, or equal to it. [m²]
    pub area: f64,
    /// Radius `R` of the ring on which the lip rests. [m]
    pub radius: f64,
    /// Coefficient of friction `μ` of lip and object. [-]
    pub friction: f64,
}

impl Cup {
    /// Force of a vacuum [Pa]. [N]
    pub fn force(&self, vacuum: f64) -> f64 {
        self.area * vacuum
    }

    /// Force `V` of the vacuum that holds an object which pulls the lip by a wrench about the lip's centre [N·m; N]; `axis` is a unit
    /// vector from the cup to the object. [N]
    pub fn needed_force(&self, wrench: &Force, axis: &Vector3) -> f64 {
        // What presses the object on the cup is borne by the lip without any vacuum.
        let pull = wrench.force.dot(axis).max(0.0);
        let shear = wrench.force - axis * wrench.force.dot(axis);
        let twist = wrench.moment.dot(axis);
        let tipping = (wrench.moment - axis * twist).norm();
        let by_friction = shear.norm().hypot(twist / self.radius) / self.friction;
        pull + by_friction.max(tipping / self.radius)
    }

    /// Wrench with which an object pulls the lip while it is accelerated: its weight and inertia at the distance of its centre of mass
    /// from the lip's centre [m] (3). `specific_force` is `a − g` [m/s²] (3), `mass` in kg. [N·m; N]
    pub fn wrench_of(mass: f64, specific_force: &Vector3, offset: &Vector3) -> Force {
        let force = specific_force * -mass;
        Force::new(offset.cross(&force), force)
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;

    use super::*;

    const GRAVITY: f64 = 9.81;

    /// Of a cup that looks down from `axis`, with the centre of mass below the lip's centre so near that nothing tips.
    fn needed(friction: f64, acceleration: Vector3, axis: Vector3) -> f64 {
        let cup = Cup { area: 5e-3, radius: 0.04, friction };
        let specific_force = acceleration + Vector3::z() * GRAVITY;
        cup.needed_force(&Cup::wrench_of(61.33, &specific_force, &Vector3::zeros()), &axis)
    }

    /// Schmalz, "Calculation of the holding force": 61.33 kg at 5 m/s², friction 0.5, safety 1.5, and 2 for the upright one. [N]
    #[test]
    fn the_three_load_cases_of_a_maker() {
        let down = -Vector3::z();
        let lifted = needed(0.5, Vector3::z() * 5.0, down);
        assert_relative_eq!(1.5 * lifted, 1363.0, max_relative = 1e-3);
        let moved = needed(0.5, Vector3::x() * 5.0, down);
        assert_relative_eq!(1.5 * moved, 1822.0, max_relative = 1e-3);
        let upright = needed(0.5, Vector3::z() * 5.0, Vector3::x());
        assert_relative_eq!(2.0 * upright, 3633.0, max_relative = 1e-3);
    }

    /// Six SUF 90 of 328 N hold 61.33 kg up to 11.1 m/s² to the side.
    #[test]
    fn six_cups_hold_a_sheet_to_its_limit() {
        let vacuum = 6.0 * 328.0;
        let needed = |a: f64| needed(0.5, Vector3::x() * a, -Vector3::z());
        assert!(needed(11.1) < vacuum && needed(11.2) > vacuum);
    }

    /// SAF 40 by `V/(1 + e/R)`: 54.7, 45.3, 33.7 and 19.1 N at 5, 10, 20 and 50 mm.
    #[test]
    fn an_eccentric_pull_tips_the_lip() {
        let cup = Cup { area: 69.0 / 60e3, radius: 0.0191, friction: 0.5 };
        let down = -Vector3::z();
        for (arm, most) in [(0.005, 54.7), (0.01, 45.3), (0.02, 33.7), (0.05, 19.1)] {
            let force = down * most;
            let wrench = Force::new((Vector3::x() * arm).cross(&force), force);
            let needed = cup.needed_force(&wrench, &down);
            assert_relative_eq!(needed, cup.force(60e3), max_relative = 2e-3);
        }
    }

    #[test]
    fn what_is_pressed_on_needs_no_vacuum() {
        let cup = Cup { area: 1e-3, radius: 0.02, friction: 0.5 };
        let wrench = Force::new(Vector3::zeros(), Vector3::z() * 30.0);
        assert!(cup.needed_force(&wrench, &-Vector3::z()).abs() < 1e-12);
    }
}
