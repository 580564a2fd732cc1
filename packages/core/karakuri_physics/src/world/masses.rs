//! Masses of bodies, which may change while the world runs.

use crate::errors::WorldError;
use crate::state::ids::BodyId;
use crate::world::World;

impl World {
    /// Gives a free body another mass, and an inertia that goes with it: that of the same shape, filled more or less densely.
    /// Velocities stay, so kinetic and potential energy jump by what the mass adds. [kg]
    ///
    /// # Errors
    /// When the mass is not positive and finite, or the body is fixed.
    pub fn set_mass(&mut self, id: BodyId, mass: f64) -> Result<(), WorldError> {
        let Some(body) = self.state.bodies.get_mut(id.0).and_then(Option::as_mut) else {
            return Ok(());
        };
        let name = || body.description.name.clone();
        if body.description.fixed {
            return Err(WorldError::CannotMove { name: name() });
        }
        if !(mass > 0.0 && mass.is_finite()) {
            return Err(WorldError::Mass { name: name(), mass });
        }
        body.set_mass(mass);
        // What sleeps may lean on it.
        self.wake_all();
        Ok(())
    }
}
