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
        // Tried on khr1 over 0.5 m, pushed to the left by 0.25 N·s at 4.1 s, and over bumps of 5 mm. Numbers are the largest error of the
        // divergent component, pushed and on bumps, 42 and 17 mm with these defaults.
        Self {
            // From 0.3 to 6 little depends on it: 41 to 43, and 18 to 14 mm. At 1 the error decays at ω, as fast as it grows by itself.
            dcm: 1.0,
            // Off: no gait of config/gaits sets it.
            rate: 0.0,
            ankle: 1.0,
            // 15 mm are steadier pushed (22) and take the bumps' support polygon away (32, no margin left); without: 40 and 17.
            rim: 0.005,
            // Two samples of 5 ms. Without 50 and 24; at 0.03 s 26 and 15, but half of the ZMP's margin on bumps (2.9 of 5.9 mm).
            filter: 0.01,
            steps,
            landing,
        }
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
        Self {
            // θ̇ = k ω (M − M_ref)/(m g z_c) − θ/T: a tenth of m g z_c turns a sole by 0.015 ω. The human-size walker takes 0.4.
            tilt: 0.15,
            // Of khr1, z_c = 0.163 m, 63 mm/s.
            seek: 0.05,
            // Of khr1 0.13 s, longer than its double support of 0.08 s, in which the weight comes.
            settling: 1.0,
            // About a step: what a sole has yielded to one bump is gone when it lands on the next.
            time: 0.5,
        }
    }
}
