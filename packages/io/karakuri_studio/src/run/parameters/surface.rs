//! Surfaces of links, bodies and the ground.

use karakuri_model::FrameId;
use karakuri_physics::{Owner, RobotId, World, WorldError};

use super::row::{Range, Row};

/// Largest coefficient of friction, and of rolling and spinning [m].
const LARGEST_FRICTION: f64 = 10.0;

/// A number of a surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::run) struct SurfaceNumber {
    part: Owner,
    what: OfSurface,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum OfSurface {
    Friction,
    Restitution,
    Rolling,
    Spinning,
}

/// Rows of the surface of a thing of this name.
pub(super) fn rows(name: &str, part: Owner) -> [Row<SurfaceNumber>; 4] {
    [
        ("friction", OfSurface::Friction, "", LARGEST_FRICTION, "Coulomb coefficient."),
        ("restitution", OfSurface::Restitution, "", 1.0, "Part of an impact given back."),
        ("rolling", OfSurface::Rolling, "m", LARGEST_FRICTION, "Rolling friction."),
        ("spinning", OfSurface::Spinning, "m", LARGEST_FRICTION, "Torsional friction."),
    ]
    .map(|(key, what, unit, most, text)| {
        let place = SurfaceNumber { part, what };
        Row { name: format!("{name}.{key}"), place, unit, range: Range::up_to(most), text }
    })
}

/// Rows of the surfaces of a robot's links.
pub(super) fn rows_of_links(
    world: &World,
    robot: RobotId,
) -> impl Iterator<Item = Row<SurfaceNumber>> {
    let view = world.robot(robot);
    let mut links: Vec<usize> = view.model().collisions.iter().map(|g| g.frame.0).collect();
    links.sort_unstable();
    links.dedup();
    links.into_iter().flat_map(move |link| {
        let name = format!("{}.surfaces.{}", view.name(), view.model().frames[link].name);
        rows(&name, Owner::Link { robot, frame: FrameId(link) })
    })
}

impl SurfaceNumber {
    pub(super) fn get(self, world: &World) -> Option<f64> {
        let surface = world.surface(self.part)?;
        Some(match self.what {
            OfSurface::Friction => surface.friction,
            OfSurface::Restitution => surface.restitution,
            OfSurface::Rolling => surface.rolling,
            OfSurface::Spinning => surface.spinning,
        })
    }

    pub(super) fn set(self, world: &mut World, value: f64) -> Result<(), WorldError> {
        let mut surface = world.surface(self.part).unwrap_or_default();
        match self.what {
            OfSurface::Friction => {
                // Sliding goes along: a surface whose two coefficients were equal keeps one.
                let same = surface.dynamic_friction >= surface.friction;
                surface.friction = value;
                surface.dynamic_friction =
                    if same { value } else { surface.dynamic_friction.min(value) };
            }
            OfSurface::Restitution => surface.restitution = value,
            OfSurface::Rolling => surface.rolling = value,
            OfSurface::Spinning => surface.spinning = value,
        }
        world.set_surface(self.part, surface)
    }
}
