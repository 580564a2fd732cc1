//! Masses and inertias of bodies and links, which may change while the world runs.
//!
//! Positions and velocities stay, so kinetic and potential energy jump by what a change adds: work from outside, see
//! [`World::work_done`].

use std::sync::Arc;

use karakuri_dynamics::forward_kinematics;
use karakuri_model::BodyId as LinkBody;
use karakuri_spatial::{Inertia, InertiaError, Matrix3, Vector3};

use crate::errors::WorldError;
use crate::state::body::Body;
use crate::state::ids::{BodyId, RobotId};
use crate::state::robot::Robot;
use crate::state::turns::rotations_of;
use crate::world::World;

/// Part of an inertia by which its two halves across the diagonal may differ: a rounding. [-]
const SYMMETRIC: f64 = 1e-9;

impl World {
    /// Gives a free body another mass, and an inertia that goes with it: that of the same shape, filled more or less densely.
    /// [kg]
    ///
    /// # Errors
    /// When the mass is not positive and finite, or the body is fixed.
    pub fn set_mass(&mut self, id: BodyId, mass: f64) -> Result<(), WorldError> {
        let Some(body) = self.free_body(id)? else { return Ok(()) };
        if !(mass > 0.0 && mass.is_finite()) {
            return Err(WorldError::Mass { name: body.description.name.clone(), mass });
        }
        self.change_body(id, |body| body.set_mass(mass));
        Ok(())
    }

    /// Gives a free body another inertia about its centre of mass, in its axes; the mass stays. [kg·m²] (3×3)
    ///
    /// # Errors
    /// When a number is not finite, the matrix is not symmetric, a principal moment is not positive or exceeds the sum of
    /// the others, or the body is fixed.
    pub fn set_inertia(&mut self, id: BodyId, inertia: Matrix3) -> Result<(), WorldError> {
        let Some(body) = self.free_body(id)? else { return Ok(()) };
        let name = &body.description.name;
        let whole =
            Inertia { mass: body.description.mass, com: Vector3::zeros(), about_com: inertia };
        check(name, &whole)?;
        if inertia.symmetric_eigenvalues().min() <= 0.0 || inertia.try_inverse().is_none() {
            return Err(WorldError::Inertia { name: name.clone() });
        }
        self.change_body(id, |body| body.set_inertia(inertia));
        Ok(())
    }

    /// Gives a link of a robot, with all that is fixed to it, another mass, centre of mass and inertia, in its body's frame.
    /// The robot's model is another one from then on: others that share it keep theirs.
    ///
    /// # Errors
    /// When a number is not finite, the mass or a principal moment is negative, a moment exceeds the sum of the others, the
    /// matrix is not symmetric, or a motion would meet no inertia any more; the link stays as it was.
    ///
    /// # Panics
    /// When the robot was removed, or has no such body.
    pub fn set_link_inertia(
        &mut self,
        id: RobotId,
        body: LinkBody,
        inertia: Inertia,
    ) -> Result<(), WorldError> {
        let robot = self.robot(id);
        let link = &robot.model().bodies[body.0];
        if link.inertia == inertia {
            return Ok(());
        }
        let before = link.inertia;
        check(&format!("{}/{}", robot.name(), link.name), &inertia)?;
        self.book_change(|world| {
            world.robot_mut(id).set_link_inertia(body, inertia);
            let met = world.check_inertia(id);
            let robot = world.robot_mut(id);
            // Only where it stays: what is refused leaves no trace.
            match met {
                Ok(()) => robot.forget_momentum(),
                Err(_) => robot.set_link_inertia(body, before),
            }
            met
        })?;
        self.wake_all();
        Ok(())
    }

    /// A body that can move; `None` where it was removed.
    fn free_body(&self, id: BodyId) -> Result<Option<&Body>, WorldError> {
        let Some(body) = self.state.bodies.get(id.0).and_then(Option::as_ref) else {
            return Ok(None);
        };
        if body.description.fixed {
            return Err(WorldError::CannotMove { name: body.description.name.clone() });
        }
        Ok(Some(body))
    }

    fn change_body(&mut self, id: BodyId, change: impl FnOnce(&mut Body)) {
        self.book_change(|world| {
            if let Some(body) = &mut world.state.bodies[id.0] {
                change(body);
            }
        });
        // Rows of contacts that rest hold the response of the old inertia: none is one build old any more.
        self.pipeline.generation += 1;
        self.wake_all();
    }
}

impl Robot {
    fn set_link_inertia(&mut self, body: LinkBody, inertia: Inertia) {
        Arc::make_mut(&mut self.model).bodies[body.0].inertia = inertia;
        // Centres of mass follow from the model and the pose.
        forward_kinematics(&self.model, &mut self.data, &self.q);
        // A link may have become a wheel, or is none any more.
        self.rotations = rotations_of(&self.model);
    }
}

/// Checks an inertia of a link or body.
fn check(name: &str, inertia: &Inertia) -> Result<(), WorldError> {
    let name = || name.to_owned();
    inertia.validate().map_err(|error| match error {
        InertiaError::NegativeMass(mass) => WorldError::Mass { name: name(), mass },
        InertiaError::NegativeMoment(moment) => WorldError::Moment { name: name(), moment },
        InertiaError::TriangleInequality(largest, sum) => {
            WorldError::Moments { name: name(), largest, sum }
        }
        _ => WorldError::NotFinite { name: name(), what: "the inertia" },
    })?;
    let moments = &inertia.about_com;
    if (moments - moments.transpose()).norm() > SYMMETRIC * moments.norm() {
        return Err(WorldError::Asymmetric { name: name() });
    }
    Ok(())
}
