//! Velocities of a walk, and the steps that they ask for.

use serde::{Deserialize, Serialize};

use super::footstep::Footstep;
use super::place::Place;
use super::settings::WalkSettings;
use super::side::Side;

/// A velocity: forward, left [m/s], turning left [rad/s].
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Velocity {
    /// Velocity forward. [m/s]
    #[serde(default)]
    pub forward: f64,
    /// Velocity to the left. [m/s]
    #[serde(default)]
    pub left: f64,
    /// Rate of turning to the left. [rad/s]
    #[serde(default)]
    pub turn: f64,
}

impl Velocity {
    /// Next step of `side` at this velocity, before clipping.
    ///
    /// Sideways the leading foot goes the whole distance and the other one closes up. In the plane of the standing sole.
    pub fn footstep(&self, side: Side, standing: &Place, settings: &WalkSettings) -> Footstep {
        let time = settings.step_time;
        // The trailing foot only closes up: going as far, it would cross the leading one.
        let leads = self.left * side.sign() > 0.0;
        // Twice, as only every second step goes sideways.
        let sideways = if leads { 2.0 * self.left * time } else { 0.0 };
        let turn = self.turn * time;
        let half = 0.5 * settings.feet_apart * side.sign();
        // From the standing foot to the middle of the feet and on by the step, then out to the swinging side.
        let middle = standing.moved([self.forward * time, half + sideways]);
        let to = middle.headed(standing.yaw + turn).moved([0.0, half]);
        Footstep { side, to, slide: 0.0 }
    }
}
