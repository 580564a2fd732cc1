//! A floating tree in flight: its centre of mass and what acts on it.

use karakuri_spatial::{Force, Vector3};

/// The centre of mass of a tree, and the angular momentum about it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Flight {
    /// Mass of the tree. [kg]
    pub(crate) mass: f64,
    /// Centre of mass in the world. [m] (3)
    pub(crate) com: Vector3,
    /// Velocity of the centre of mass. [m/s] (3)
    pub(crate) velocity: Vector3,
    /// Angular momentum about the centre of mass. [N·m·s] (3)
    pub(crate) spin: Vector3,
}

/// A floating tree in flight.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct InFlight {
    /// Flight at the start of the step, and at the end of the last one.
    pub(crate) start: Flight,
    pub(crate) end: Flight,
    /// Wrench applied to the tree, about its centre of mass, in world axes. [N·m; N]
    pub(crate) push: Force,
    /// Whether the last step left the tree where it is, in flight.
    pub(crate) goes_on: bool,
}

impl InFlight {
    /// Acceleration of the centre of mass by gravity and applied wrenches. [m/s²] (3)
    pub(crate) fn acceleration(&self, gravity: &Vector3) -> Vector3 {
        gravity + self.push.force / self.start.mass
    }

    /// The flight at the end of the step.
    // `c* = c + h c_v + ½ h² a`, and the angular momentum by `h` times the moment.
    pub(crate) fn after(&self, gravity: &Vector3, h: f64) -> Flight {
        let Flight { mass, com, velocity, spin } = self.start;
        let acceleration = self.acceleration(gravity);
        Flight {
            mass,
            com: com + (velocity + acceleration * (0.5 * h)) * h,
            velocity: velocity + acceleration * h,
            spin: spin + self.push.moment * h,
        }
    }
}
