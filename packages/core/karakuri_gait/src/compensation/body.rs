//! Lengths, masses and inertias of the twelve bodies.
//!
//! Data: [Kume 1991]; the lengths except `half_pelvis_width` and the inertias are not printed there and are
//! reconstructed within anthropometric bounds. Configurable for that reason.

use serde::{Deserialize, Serialize};

/// Distances along the links. [m]
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lengths {
    /// F: ankle to centre of the shank, and on to the knee. [m]
    pub half_shank: f64,
    /// O: knee to centre of the thigh, and on to the hip. [m]
    pub half_thigh: f64,
    /// Q: waist joint to centre of the trunk. [m]
    pub waist_to_trunk: f64,
    /// RR: waist joint to the height of the shoulders. [m]
    pub waist_to_shoulder: f64,
    /// E: shoulder to centre of the upper arm, and on to the elbow. [m]
    pub half_upper_arm: f64,
    /// SS: elbow to centre of the forearm. [m]
    pub half_forearm: f64,
    /// H: centre of the foot to ankle. [m]
    pub foot_to_ankle: f64,
    /// D: pelvis centre to hip, sideways. [m]
    pub half_pelvis_width: f64,
    /// FF: spine to shoulder, sideways. [m]
    pub half_shoulder_width: f64,
    /// PP: hip to centre of the pelvis, and on to the waist joint. [m]
    pub hip_to_pelvis: f64,
    /// UH: sole to centre of the foot. [m]
    pub sole_to_foot: f64,
}

impl Default for Lengths {
    fn default() -> Self {
        Self {
            half_shank: 0.191,
            half_thigh: 0.216,
            waist_to_trunk: 0.252,
            waist_to_shoulder: 0.42,
            half_upper_arm: 0.150,
            half_forearm: 0.124,
            foot_to_ankle: 0.062,
            half_pelvis_width: 0.085,
            half_shoulder_width: 0.20,
            hip_to_pelvis: 0.049,
            sole_to_foot: 0.03,
        }
    }
}

/// Mass and inertia of one body.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Mass of the body. [kg]
    pub mass: f64,
    /// Moments of inertia about the centre of mass, in the link's axes, diagonal. [kg·m²] (3)
    pub inertia: [f64; 3],
}

impl Part {
    fn scaled(self, factor: f64) -> Self {
        Self { mass: self.mass * factor, inertia: self.inertia.map(|j| j * factor) }
    }
}

/// The walker's body.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BodyData {
    /// Lengths of the links.
    pub lengths: Lengths,
    /// Foot, each of two.
    pub foot: Part,
    /// Shank, each of two.
    pub shank: Part,
    /// Thigh, each of two.
    pub thigh: Part,
    /// Pelvis, which never turns.
    pub pelvis: Part,
    /// Trunk with the head.
    pub trunk: Part,
    /// Upper arm, each of two.
    pub upper_arm: Part,
    /// Forearm with the hand, each of two.
    pub forearm: Part,
    /// Gravitational acceleration, downwards. [m/s²]
    pub gravity: f64,
}

/// Gravitational acceleration of the study, whose tables count mass in kgf·s²/m. [m/s²]
const GRAVITY: f64 = 9.81;

fn part(mass_kgf: f64, inertia_kgf: [f64; 3]) -> Part {
    // A mass of 1 kgf·s²/m is 9.81 kg.
    Part { mass: mass_kgf, inertia: inertia_kgf }.scaled(GRAVITY)
}

impl Default for BodyData {
    /// The study's person of 69.2 kg.
    fn default() -> Self {
        Self {
            lengths: Lengths::default(),
            foot: part(0.153, [0.000_06, 0.000_55, 0.000_45]),
            shank: part(0.321, [0.003_93, 0.003_93, 0.000_38]),
            thigh: part(0.841, [0.0112, 0.0120, 0.0030]),
            pelvis: part(0.696, [0.0070, 0.005_65, 0.006_27]),
            trunk: part(3.085, [0.1514, 0.1370, 0.0283]),
            upper_arm: part(0.207, [0.0020, 0.0020, 0.000_22]),
            forearm: part(0.114, [0.0025, 0.004_25, 0.000_14]),
            gravity: GRAVITY,
        }
    }
}

impl BodyData {
    /// The body with mass and inertia of both arms multiplied; lengths stay. [-]
    #[must_use]
    pub fn with_arm_factor(self, factor: f64) -> Self {
        Self {
            upper_arm: self.upper_arm.scaled(factor),
            forearm: self.forearm.scaled(factor),
            ..self
        }
    }

    /// The body with the mass of each link in its centre: no moments of inertia, so that all `M_R` vanish.
    /// Passive arms stay pendulums. [Kume 1991]
    #[must_use]
    pub fn as_point_masses(self) -> Self {
        // The study's test of how much the turning of the links matters.
        let point = |part: Part| Part { inertia: [0.0; 3], ..part };
        Self {
            foot: point(self.foot),
            shank: point(self.shank),
            thigh: point(self.thigh),
            pelvis: point(self.pelvis),
            trunk: point(self.trunk),
            upper_arm: point(self.upper_arm),
            forearm: point(self.forearm),
            ..self
        }
    }

    /// Mass of both arms. [kg]
    pub fn arm_mass(&self) -> f64 {
        2.0 * (self.upper_arm.mass + self.forearm.mass)
    }

    /// Mass of trunk and arms. [kg]
    pub fn upper_body_mass(&self) -> f64 {
        // As table 3.2 counts the upper body.
        self.trunk.mass + self.arm_mass()
    }

    /// Mass of all twelve bodies. [kg]
    pub fn mass(&self) -> f64 {
        2.0 * (self.foot.mass + self.shank.mass + self.thigh.mass)
            + self.pelvis.mass
            + self.upper_body_mass()
    }
}
