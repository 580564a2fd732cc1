//! Gains of the stabiliser, of the steps that react and of the feet that feel the floor.

use serde::{Deserialize, Serialize};

use super::super::footstep::StepLimits;
use super::range::{SettingError, ranged, within};

/// Gains; all may change while walking.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StabilizerSettings {
    /// k: how much further than the divergent component the ZMP goes. [-]
    pub dcm: f64,
    /// Moment against the rate of the lean, by weight and height: `M = k m g z_c/ω · rate`. [-]
    pub rate: f64,
    /// Part of the desired moment that the ankles get; 0 is off. [-]
    pub ankle: f64,
    /// Rim of the soles that the ZMP is kept out of. [m]
    pub rim: f64,
    /// Time constant of the filter on the divergent component. [s]
    pub filter: f64,
    /// What the steps do where the ankles do not suffice.
    pub steps: ReactionSettings,
    /// What the feet do that feel the floor.
    pub landing: LandingSettings,
}

impl Default for StabilizerSettings {
    fn default() -> Self {
        let (steps, landing) = (ReactionSettings::default(), LandingSettings::default());
        Self { dcm: 1.0, rate: 0.0, ankle: 1.0, rim: 0.005, filter: 0.01, steps, landing }
    }
}

impl StabilizerSettings {
    /// Names the first number that makes no sense.
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

/// How steps answer what is measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReactionSettings {
    /// Steps are placed by what is measured.
    pub on: bool,
    /// How far a foot may be put then, instead of the step's limits.
    pub reach: Option<Reach>,
    /// How much faster than planned a foot may swing. [-]
    pub hurry: f64,
    /// Errors at landing smaller than about this are left to the ankles. [m]
    pub least: f64,
}

impl Default for ReactionSettings {
    fn default() -> Self {
        Self { on: true, reach: None, hurry: 1.5, least: 0.01 }
    }
}

/// How far a foot can be put from the standing one when need be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reach {
    /// [m]
    pub forward: f64,
    /// [m]
    pub backward: f64,
    /// Least and greatest distance across. [m] (2)
    pub width: [f64; 2],
}

impl From<&StepLimits> for Reach {
    fn from(limits: &StepLimits) -> Self {
        Self { forward: limits.forward, backward: limits.backward, width: limits.width }
    }
}

/// How feet yield. Robots without force sensors in both feet do not.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LandingSettings {
    /// Rate at which a sole turns, by moment; 0 is off. [-]
    pub tilt: f64,
    /// How fast a foot goes down to a floor that is lower than planned, by `ω z_c`; with 0 heights stay as planned. [-]
    pub seek: f64,
    /// How long a sole gives way after it has touched, by `1/ω`; where commands come late it must not go on. [-]
    pub settling: f64,
    /// T: within this a standing foot comes back to where it was planned. [s]
    pub time: f64,
}

impl Default for LandingSettings {
    fn default() -> Self {
        Self { tilt: 0.15, seek: 0.05, settling: 1.0, time: 0.5 }
    }
}
