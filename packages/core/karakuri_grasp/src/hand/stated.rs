//! Grasps that a goal brings, against what a hand finds where they have its tool.
//!
//! Units: m; the object's upright frame, from the middle of its box.

use karakuri_spatial::Vector3;

use super::hold::Hold;
use super::pads::CLEARANCE;
use crate::pick_and_place::PlanError;
use crate::pick_and_place::types::Grasp;

/// Largest angle of a tool against the side or the axis that it has to be square to. [rad]
pub(super) const SQUARE: f64 = 0.05;

/// Parts of fingers that touch an object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    /// Their name.
    pub(super) name: &'static str,
    /// Distance of their lower end from their middle. [m]
    pub(super) below: f64,
    /// Height above their middle up to which an object fits into the hand. [m]
    pub(super) room: f64,
}

impl Part {
    /// Refuses a height of the middle of the parts above that of an object as high as `height`, at which they or the hand meet something else. [m]
    pub(super) fn check(&self, raise: f64, height: f64) -> Result<(), PlanError> {
        let Self { name, below, room } = *self;
        let under = below - raise - 0.5 * height;
        if under > 0.0 {
            return Err(no_grip(format!("its {name} end {:.1} mm below the support", 1e3 * under)));
        }
        let over = 0.5 * height - raise;
        if over > room {
            return Err(no_grip(format!(
                "it reaches {:.1} mm above the middle of the {name}, and the hand has room for {:.1}",
                1e3 * over,
                1e3 * room
            )));
        }
        Ok(())
    }
}

/// Refuses a grasp whose tool is not in the middle between the sides, or whose width differs by more than `tolerance` from that of the object there. [m]
pub(super) fn check(grasp: &Grasp, found: &Hold, tolerance: f64) -> Result<(), PlanError> {
    let (sin, cos) = grasp.turn.sin_cos();
    let middle = grasp.position + Vector3::new(-sin, cos, 0.0) * found.aside;
    let off = (middle - found.middle).xy().norm();
    // Fingers side by side close about a middle that is beside the tool.
    let most = 0.5 * CLEARANCE + found.aside.abs();
    if off > most {
        let (off, most) = (1e3 * off, 1e3 * most);
        return Err(no_grip(format!(
            "its tool is {off:.1} mm off the middle between the sides, at most {most:.1} are taken"
        )));
    }
    if let Some(stated) = grasp.width.filter(|w| (w - found.width).abs() > tolerance) {
        let (there, stated) = (1e3 * found.width, 1e3 * stated);
        return Err(no_grip(format!(
            "the object is {there:.1} mm wide there, and the grasp says {stated:.1} mm"
        )));
    }
    Ok(())
}

/// Refusal of a grasp for a cause.
pub(super) fn no_grip(why: String) -> PlanError {
    PlanError::NoGrip { why }
}
