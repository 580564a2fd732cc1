//! Gains of the stabiliser, of the steps that react and of the feet that feel the floor.

use serde::{Deserialize, Serialize};

use super::super::footstep::StepLimits;
use super::range::{SettingError, ranged, within};

/// Gains of the stabiliser; all may change while walking.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StabilizerSettings {
    /// Gain k of the ZMP on the divergent component, beyond 1. [-]
    pub dcm: f64,
    /// Moment against the rate of the lean, by weight and height: `M = k m g z_c/ω · rate`. [-]
    pub rate: f64,
    /// Part of the desired moment that the ankles get; 0 is off. [-]
    pub ankle: f64,
    /// Rim of the soles that the ZMP is kept out of. [m]
    pub rim: f64,
    /// Time constant of the filter on the divergent component. [s]
    pub filter: f64,
    /// Reaction of the steps where the ankles do not suffice.
    pub steps: ReactionSettings,
    /// Landing control of feet with force sensors.
    pub landing: LandingSettings,
}

impl Default for StabilizerSettings {
    fn default() -> Self {
        let (steps, landing) = (ReactionSettings::default(), LandingSettings::default());
        Self { dcm: 1.0, rate: 0.0, ankle: 1.0, rim: 0.005, filter: 0.01, steps, landing }
    }
}

impl StabilizerSettings {
    /// Checks all numbers.
    ///
    /// # Errors
    /// When a number is not finite or outside its range; the first such setting.
    pub fn check(&self) -> Result<(), SettingError> {
        ranged("stabilizer.dcm", self.dcm, 0.0, 20.0, "")?;
        ranged("stabilizer.rate", self.rate, 0.0, 20.0, "")?;
        ranged("stabilizer.ankle", self.ankle, 0.0, 1.0, "")?;
        ranged("stabilizer.rim", self.rim, 0.0, 1.0, "m")?;
        ranged("stabilizer.filter", self.filter, 0.0, 1.0, "s")?;
        let steps = &self.steps;
        ranged("stabilizer.steps.hurry", steps.hurry, 1.0, 5.0, "")?;
        ranged("stabilizer.steps.least", steps.least, 0.0, 1.0, "m")?;
        if let Some(reach) = &steps.reach {
            let [narrow, wide] = reach.width;
            ranged("stabilizer.steps.reach.forward", reach.forward, 0.0, 10.0, "m")?;
            ranged("stabilizer.steps.reach.backward", reach.backward, 0.0, 10.0, "m")?;
            ranged("stabilizer.steps.reach.width[1]", wide, 1e-3, 10.0, "m")?;
            let least = format!("from 0.001 to {wide} m, the second number of `width`");
            within("stabilizer.steps.reach.width[0]", narrow, 1e-3..=wide, least)?;
        }
        let landing = &self.landing;
        ranged("stabilizer.landing.tilt", landing.tilt, 0.0, 10.0, "")?;
        ranged("stabilizer.landing.seek", landing.seek, 0.0, 10.0, "")?;
        ranged("stabilizer.landing.settling", landing.settling, 0.0, 100.0, "")?;
        ranged("stabilizer.landing.time", landing.time, 0.01, 100.0, "s")
    }
}

/// Reaction of steps to the measured state.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReactionSettings {
    /// Whether steps are placed by the measured state.
    pub on: bool,
    /// Reach of a foot then, instead of the step's limits.
    pub reach: Option<Reach>,
    /// Factor by which a foot may swing faster than planned. [-]
    pub hurry: f64,
    /// Errors at landing smaller than about this are left to the ankles. [m]
    pub least: f64,
}

impl Default for ReactionSettings {
    fn default() -> Self {
        Self { on: true, reach: None, hurry: 1.5, least: 0.01 }
    }
}

/// Reach of a foot from the standing one, in need.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reach {
    /// Greatest distance forward. [m]
    pub forward: f64,
    /// Greatest distance backward. [m]
    pub backward: f64,
    /// Least and greatest distance across. [m] (2)
    pub width: [f64; 2],
}

impl From<&StepLimits> for Reach {
    fn from(limits: &StepLimits) -> Self {
        Self { forward: limits.forward, backward: limits.backward, width: limits.width }
    }
}

/// Yielding of the feet. Robots without force sensors in both feet have none.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LandingSettings {
    /// Rate at which a sole turns, by moment; 0 is off. [-]
    pub tilt: f64,
    /// Rate of descent to a floor that is lower than planned, by `ω z_c`; with 0 heights stay as planned. [-]
    pub seek: f64,
    /// Time for which a sole yields after it has touched, by `1/ω`; short where commands are delayed. [-]
    pub settling: f64,
    /// T: time constant by which a standing foot returns to its plan. [s]
    pub time: f64,
}

impl Default for LandingSettings {
    fn default() -> Self {
        Self { tilt: 0.15, seek: 0.05, settling: 1.0, time: 0.5 }
    }
}
