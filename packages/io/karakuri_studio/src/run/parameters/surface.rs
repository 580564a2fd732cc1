//! Surfaces of links, bodies and the ground.

use karakuri_model::FrameId;
use karakuri_physics::{Owner, RobotId, World, WorldError};

use super::{Number, Place};

/// Largest coefficient of friction, and of rolling and spinning [m].
const LARGEST_FRICTION: f64 = 10.0;

/// A number of a surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SurfaceNumber {
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

/// Lists the numbers of a thing's surface.
pub(super) fn list(name: &str, part: Owner, all: &mut Vec<Number>) {
    let rows = [
        ("friction", OfSurface::Friction, "", LARGEST_FRICTION, "Coulomb coefficient."),
        ("restitution", OfSurface::Restitution, "", 1.0, "Part of an impact given back."),
        ("rolling", OfSurface::Rolling, "m", LARGEST_FRICTION, "Rolling friction."),
        ("spinning", OfSurface::Spinning, "m", LARGEST_FRICTION, "Torsional friction."),
    ];
    for (key, what, unit, most, text) in rows {
        let place = Place::Surface(SurfaceNumber { part, what });
        all.push(Number { name: format!("{name}.{key}"), place, unit, range: (0.0, most), text });
    }
}

/// Lists the surfaces of a robot's links.
pub(super) fn list_links(world: &World, robot: RobotId, all: &mut Vec<Number>) {
    let view = world.robot(robot);
    let mut links: Vec<usize> = view.model().collisions.iter().map(|g| g.frame.0).collect();
    links.sort_unstable();
    links.dedup();
    for link in links {
        let name = format!("{}.surfaces.{}", view.name(), view.model().frames[link].name);
        list(&name, Owner::Link { robot, frame: FrameId(link) }, all);
    }
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
