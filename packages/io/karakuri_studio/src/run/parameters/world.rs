//! Settings of the world.

use karakuri_physics::{World, WorldSettings};

use super::{Number, Place};

/// Largest acceleration of gravity. [m/s²]
const LARGEST_GRAVITY: f64 = 1e3;

/// A setting of the world.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum WorldNumber {
    Gravity(usize),
    Iterations,
    RestitutionThreshold,
    PenetrationSlop,
    PenetrationRate,
    PenetrationStep,
    AnchorRate,
}

/// Lists the settings of the world.
pub(super) fn list(all: &mut Vec<Number>) {
    let mut add = |name: &str, what, unit, range, text| {
        let (name, place) = (format!("world.{name}"), Place::World(what));
        all.push(Number { name, place, unit, range, text });
    };
    let gravity = (-LARGEST_GRAVITY, LARGEST_GRAVITY);
    for (i, axis) in ["x", "y", "z"].into_iter().enumerate() {
        let what = WorldNumber::Gravity(i);
        add(&format!("gravity.{axis}"), what, "m/s²", gravity, "Gravitational acceleration.");
    }
    let text = "Most iterations of the contact solver.";
    add("solver.iterations", WorldNumber::Iterations, "", (1.0, 1e6), text);
    let text = "Impacts slower than this do not bounce.";
    add("restitution_threshold", WorldNumber::RestitutionThreshold, "m/s", (0.0, 1e3), text);
    let text = "Penetration that is left alone.";
    add("penetration.slop", WorldNumber::PenetrationSlop, "m", (0.0, 1.0), text);
    let text = "Part of a penetration that is undone a step.";
    add("penetration.rate", WorldNumber::PenetrationRate, "", (0.0, 1.0), text);
    let text = "Most that a penetration is undone a step.";
    add("penetration.step", WorldNumber::PenetrationStep, "m", (0.0, 1.0), text);
    let text = "Part of the drift of a sticking contact that is undone a step.";
    add("anchor_rate", WorldNumber::AnchorRate, "", (0.0, 1.0), text);
}

impl WorldNumber {
    pub(super) fn get(self, world: &World) -> f64 {
        let settings = world.settings();
        match self {
            Self::Gravity(axis) => settings.gravity[axis],
            Self::Iterations => settings.solver.iterations as f64,
            Self::RestitutionThreshold => settings.restitution_threshold,
            Self::PenetrationSlop => settings.penetration_slop,
            Self::PenetrationRate => settings.penetration_rate,
            Self::PenetrationStep => settings.penetration_step,
            Self::AnchorRate => settings.anchor_rate,
        }
    }

    pub(super) fn set(self, world: &mut World, value: f64) {
        let mut settings: WorldSettings = *world.settings();
        match self {
            Self::Gravity(axis) => settings.gravity[axis] = value,
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 1e6")]
            Self::Iterations => settings.solver.iterations = value.round() as usize,
            Self::RestitutionThreshold => settings.restitution_threshold = value,
            Self::PenetrationSlop => settings.penetration_slop = value,
            Self::PenetrationRate => settings.penetration_rate = value,
            Self::PenetrationStep => settings.penetration_step = value,
            Self::AnchorRate => settings.anchor_rate = value,
        }
        world.set_settings(settings);
    }
}
