//! Goals as clients state them, with what they leave open, and the goals of the machine that they become.
//!
//! Units: m, rad, kg, N; poses in the model's world.

use karakuri_spatial::{Pose, Vector3};

use super::PickAndPlace;
use super::types::{Grasp, ObjectShape, Part, PickAndPlaceGoal, PickAndPlaceSettings};
use super::upright::{Upright, centered, grasp, moved, upright};

/// Goal of a pick and place as a client states it. Numbers of 0 are not given where their text says so.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// Part of the task.
    pub part: Part,
    /// Shape of the object.
    pub shape: ObjectShape,
    /// Edge lengths of its box along its own axes; of a hull that of its box. [m] (3)
    pub size: Vector3,
    /// Pose of the object's own frame.
    pub object: Pose,
    /// Pose at which it is to be placed: turned about the vertical against `object`.
    pub place: Pose,
    /// Mass of the object. [kg]
    pub mass: f64,
    /// Coefficient of friction between hand and object; 0: not given. [-]
    pub friction: f64,
    /// Strength up to which the grip may be raised; 0: the hand's. [N]
    pub max_grip_force: f64,
    /// Height above pick and place at which the vertical motions begin; 0: not given. [m]
    pub approach_height: f64,
    /// Difference of measured and stated width that is tolerated; 0: not given. [m]
    pub width_tolerance: f64,
    /// Share of the speeds and accelerations, at most 1; 0: all of them. [-]
    pub speed_scale: f64,
    /// Grasps to choose from; none: any that the hand finds.
    pub grasps: Vec<StatedGrasp>,
}

/// Grasp as a client states it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StatedGrasp {
    /// Pose of the tool in the object's own frame.
    pub tool: Pose,
    /// Width of the object between the fingers there; 0: not given. [m]
    pub width: f64,
    /// Preference: the highest first. [-]
    pub score: f64,
}

/// Values for what a statement leaves open.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Defaults {
    /// Strength with which objects are held. [N]
    pub grip_force: f64,
    /// Greatest strength of the hand. [N]
    pub force_max: f64,
    /// Coefficient of friction. [-]
    pub friction: f64,
    /// Height above pick and place. [m]
    pub approach_height: f64,
}

/// Values for what a statement leaves open, of any hand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unstated {
    /// Force of a finger with which objects are held, of hands with fingers. [N]
    pub grip_force: f64,
    /// Coefficient of friction between hand and object. [-]
    pub friction: f64,
    /// Height above pick and place. [m]
    pub approach_height: f64,
}

impl Default for Unstated {
    fn default() -> Self {
        Self { grip_force: 10.0, friction: 0.5, approach_height: 0.1 }
    }
}

impl Unstated {
    /// Values for the hand of a machine.
    pub fn of(&self, machine: &PickAndPlace) -> Defaults {
        Defaults {
            grip_force: machine.usual_strength(self.grip_force),
            force_max: machine.force_max(),
            friction: self.friction,
            approach_height: self.approach_height,
        }
    }
}

/// What is wrong with a statement, by the name of its field in the action `pick_and_place`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Misstated(String);

impl Statement {
    /// Settings of the machine for this goal.
    ///
    /// # Errors
    /// When the tolerance or the share of the speeds is out of range.
    pub fn settings(
        &self,
        settings: &PickAndPlaceSettings,
    ) -> Result<PickAndPlaceSettings, Misstated> {
        let scale = speed_share(self.speed_scale)?;
        let tolerance = or(self.width_tolerance, settings.width_tolerance);
        if !(tolerance > 0.0 && tolerance.is_finite()) {
            return Err(Misstated(format!(
                "width_tolerance is {tolerance} m; it must be positive (0 takes the default)"
            )));
        }
        Ok(PickAndPlaceSettings { width_tolerance: tolerance, ..settings.at_speed(scale) })
    }

    /// Goal of the machine.
    ///
    /// # Errors
    /// When the object leans, is to be turned over, a grasp does not look down, or the limit of the strength is negative.
    pub fn goal(&self, defaults: Defaults) -> Result<PickAndPlaceGoal, Misstated> {
        let Self { shape, size, mass, max_grip_force, .. } = self;
        if *max_grip_force < 0.0 || max_grip_force.is_nan() {
            return Err(Misstated(format!(
                "max_grip_force is {max_grip_force} N; it must be above 0 (0 takes the hand's)"
            )));
        }
        let limit = or(*max_grip_force, defaults.force_max).min(defaults.force_max);
        let [middle, there] = [&self.object, &self.place].map(|pose| centered(shape, pose));
        let object =
            upright(shape, &middle, size).map_err(|e| Misstated(format!("object_pose {e}")))?;
        let grasps = self.grasps(&object)?;
        let place = moved(&object, &middle, &there).ok_or_else(|| {
            Misstated(
                "place_pose turns the object over; give one that is turned about the vertical against object_pose".to_owned(),
            )
        })?;
        Ok(PickAndPlaceGoal {
            part: self.part,
            shape: shape.clone(),
            profile: object.profile,
            size: object.size,
            mass: *mass,
            friction: or(self.friction, defaults.friction),
            pick: object.pose,
            place,
            grip_force: defaults.grip_force.min(limit),
            max_grip_force: limit,
            approach_height: or(self.approach_height, defaults.approach_height),
            grasps,
        })
    }

    /// Grasps of an object that stands like this.
    fn grasps(&self, object: &Upright) -> Result<Vec<Grasp>, Misstated> {
        let one = |(i, stated): (usize, &StatedGrasp)| {
            let found = grasp(object, &self.object, &stated.tool);
            let found = found.map_err(|why| Misstated(format!("grasps[{i}]: {why}")))?;
            let width = Some(stated.width).filter(|width| *width != 0.0);
            Ok(Grasp { width, score: stated.score, ..found })
        };
        self.grasps.iter().enumerate().map(one).collect()
    }
}

/// Share of the speeds and accelerations that a goal states; 0: all of them. [-]
///
/// # Errors
/// When it is out of range.
pub fn speed_share(stated: f64) -> Result<f64, Misstated> {
    let share = or(stated, 1.0);
    if share > 0.0 && share <= 1.0 {
        return Ok(share);
    }
    Err(Misstated(format!("speed_scale is {share}; it must be above 0 and at most 1 (0 takes 1)")))
}

/// A value, or another one where it is not given.
fn or(value: f64, default: f64) -> f64 {
    if value == 0.0 { default } else { value }
}
