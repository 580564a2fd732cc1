//! Settings of the world.

use karakuri_physics::{World, WorldSettings};

use super::row::{Range, Row};

/// Largest acceleration of gravity. [m/s²]
const LARGEST_GRAVITY: f64 = 1e3;

/// A setting of the world.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::run) enum WorldNumber {
    Gravity(usize),
    Iterations,
    RestitutionThreshold,
    PenetrationSlop,
    PenetrationRate,
    PenetrationStep,
    AnchorRate,
}

/// Rows of the settings.
pub(super) fn rows() -> impl Iterator<Item = Row<WorldNumber>> {
    let row = |name: &str, place, unit, range, text| Row {
        name: format!("world.{name}"),
        place,
        unit,
        range,
        text,
    };
    let gravity = ["x", "y", "z"].into_iter().enumerate().map(move |(i, axis)| {
        let (name, range) = (format!("gravity.{axis}"), Range::within(LARGEST_GRAVITY));
        row(&name, WorldNumber::Gravity(i), "m/s²", range, "Gravitational acceleration.")
    });
    let part = Range::up_to(1.0);
    let others = [
        (
            "solver.iterations",
            WorldNumber::Iterations,
            "",
            Range { least: 1.0, most: 1e6 },
            "Most iterations of the contact solver.",
        ),
        (
            "restitution_threshold",
            WorldNumber::RestitutionThreshold,
            "m/s",
            Range::up_to(1e3),
            "Impacts slower than this do not bounce.",
        ),
        (
            "penetration.slop",
            WorldNumber::PenetrationSlop,
            "m",
            part,
            "Penetration that is left alone.",
        ),
        (
            "penetration.rate",
            WorldNumber::PenetrationRate,
            "",
            part,
            "Part of a penetration that is undone a step.",
        ),
        (
            "penetration.step",
            WorldNumber::PenetrationStep,
            "m",
            part,
            "Most that a penetration is undone a step.",
        ),
        (
            "anchor_rate",
            WorldNumber::AnchorRate,
            "",
            part,
            "Part of the drift of a sticking contact that is undone a step.",
        ),
    ];
    gravity.chain(others.map(|(name, what, unit, range, text)| row(name, what, unit, range, text)))
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
