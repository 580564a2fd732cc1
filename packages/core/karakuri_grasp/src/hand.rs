//! Hands of any kind: how they can hold an object, the control of their grip, and what they say of it.
//!
//! A hand has a *strength*, the force [N] by which it holds: of each finger, or of the vacuum over the area of all cups. It holds by a
//! contact, whose law tells the strength that an object needs at rest and the share of it that a motion uses.
//! [`pick_and_place`](crate::pick_and_place) owns one hand, and knows nothing else of it.
//!
//! Units: m, rad, N, kg, s.

mod drives;
mod faces;
mod facets;
mod facing;
pub(crate) mod hold;
pub(crate) mod interface;
mod leaning;
mod lips;
mod opening;
mod pads;
pub(crate) mod payload;
mod polygon;
pub(crate) mod revolved;
mod sides;
mod springs;
mod stated;
mod suction;
mod tips;
mod tops;
pub(crate) mod vacuum_command;

pub use interface::Channel;
pub use opening::OpeningHand;

use karakuri_model::Model;

use crate::end_effector::EndEffectorError;
use crate::grip_force::GripSettings;
use interface::Hand;
use suction::SuctionHand;

/// Makes the hand that a model's `end_effector` describes.
///
/// # Errors
/// When the model has no `end_effector`, its kind is not registered, or its parameters, joints or sensors do not fit the kind.
pub(crate) fn from_model(
    model: &Model,
    settings: GripSettings,
) -> Result<Box<dyn Hand>, EndEffectorError> {
    match &model.end_effector {
        Some(config) if config.kind == suction::KIND => {
            Ok(Box::new(SuctionHand::new(model, config)?))
        }
        _ => Ok(Box::new(OpeningHand::new(model, settings)?)),
    }
}
