//! Numbers of a world that a user changes while it runs, a file a kind.

mod body;
mod inertia;
mod joint;
mod link;
mod row;
mod surface;
mod tie;
mod world;

use karakuri_physics::{Owner, World, WorldError};

use self::body::BodyNumber;
use self::inertia::ROUNDING;
use self::joint::JointNumber;
use self::link::LinkNumber;
use self::row::{Range, Row};
use self::surface::SurfaceNumber;
use self::tie::{BushingNumber, SpringNumber};
use self::world::WorldNumber;
use crate::wire::{Code, Parameter, ParameterValue, WireError};

/// A number of a world.
pub(super) type Number = Row<Place>;

/// Where a number is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Place {
    Joint(JointNumber),
    Link(LinkNumber),
    Surface(SurfaceNumber),
    Body(BodyNumber),
    Spring(SpringNumber),
    Bushing(BushingNumber),
    World(WorldNumber),
}

/// A number, and what it is to be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setting<'a> {
    pub(super) number: &'a Number,
    pub(super) value: f64,
}

/// Parameters of a world, with what they were in the scene.
pub(crate) fn list(world: &World, initial: &World) -> Vec<Parameter> {
    numbers(world).iter().map(|number| number.report(world, initial)).collect()
}

/// All numbers of a world.
pub(super) fn numbers(world: &World) -> Vec<Number> {
    let mut all = Vec::new();
    for robot in world.robot_ids() {
        all.extend(joint::rows(world, robot).map(|row| row.at(Place::Joint)));
        all.extend(link::rows(world, robot).map(|row| row.at(Place::Link)));
        all.extend(surface::rows_of_links(world, robot).map(|row| row.at(Place::Surface)));
    }
    let add_surface = |all: &mut Vec<Number>, name: &str, part| {
        all.extend(surface::rows(name, part).map(|row| row.at(Place::Surface)));
    };
    for body in world.body_ids() {
        add_surface(&mut all, &world.body(body).description().name, Owner::Body(body));
        all.extend(body::rows(world, body).map(|row| row.at(Place::Body)));
    }
    all.extend(tie::springs(world).map(|row| row.at(Place::Spring)));
    all.extend(tie::bushings(world).into_iter().map(|row| row.at(Place::Bushing)));
    if world.surface(Owner::Ground).is_some() {
        add_surface(&mut all, "ground", Owner::Ground);
    }
    all.extend(world::rows().map(|row| row.at(Place::World)));
    all
}

/// Numbers that differ from those of the scene. Moments of inertia that only follow their mass do not; of others all six are
/// there, as they make one inertia.
pub(super) fn changed<'a>(
    all: &'a [Number],
    world: &World,
    initial: &World,
) -> Vec<(&'a Number, f64)> {
    let own = |number: &Number| number.get(world).zip(number.at_mass_of(world, initial));
    let differs = |number: &Number| match own(number) {
        Some((now, then)) if number.is_moment() => (now - then).abs() > ROUNDING * then.abs(),
        Some((now, then)) => differ(now, then),
        None => false,
    };
    all.iter()
        .filter(|number| {
            let moments = || all.iter().filter(|n| n.is_moment() && number.shares_inertia(n));
            differs(number) || (number.is_moment() && moments().any(differs))
        })
        .filter_map(|number| number.get(world).map(|value| (number, value)))
        .collect()
}

#[expect(clippy::float_cmp, reason = "a number that was not set is the same to the bit")]
fn differ(now: f64, then: f64) -> bool {
    now != then
}

/// Sets many numbers. Those of one inertia or of one joint's limits act together: one alone may be no rigid body's, or above the
/// other.
pub(super) fn set_all(world: &mut World, settings: &[Setting]) -> Result<(), WireError> {
    let mut done = vec![false; settings.len()];
    for (i, first) in settings.iter().enumerate() {
        if done[i] {
            continue;
        }
        first.check()?;
        let mut group = vec![*first];
        for (j, other) in settings.iter().enumerate().skip(i + 1) {
            if !done[j] && first.number.acts_with(other.number) {
                other.check()?;
                group.push(*other);
                done[j] = true;
            }
        }
        set_group(world, &group)?;
    }
    Ok(())
}

fn set_group(world: &mut World, group: &[Setting]) -> Result<(), WireError> {
    let Some(Setting { number, value }) = group.first() else { return Ok(()) };
    // The others of the group are of the same kind.
    macro_rules! all {
        ($kind:ident) => {
            group.iter().filter_map(|setting| match setting.number.place {
                Place::$kind(place) => Some((place, setting.value)),
                _ => None,
            })
        };
    }
    let done = match number.place {
        Place::Joint(_) => joint::set(world, all!(Joint)),
        Place::Link(_) => link::set(world, all!(Link)),
        Place::Body(_) => body::set(world, all!(Body)),
        Place::Surface(surface) => surface.set(world, *value),
        Place::Spring(spring) => spring.set(world, *value),
        Place::Bushing(bushing) => bushing.set(world, *value),
        Place::World(setting) => {
            setting.set(world, *value);
            Ok(())
        }
    };
    done.map_err(|error: WorldError| WireError::from_text(Code::Invalid, &error).at(&number.name))
}

impl Setting<'_> {
    fn check(&self) -> Result<(), WireError> {
        let Range { least, most } = self.number.range;
        if (least..=most).contains(&self.value) {
            return Ok(());
        }
        let text = format!("{} is out of range", self.value);
        let hint = format!("write a number from {least} to {most}");
        Err(WireError::new(Code::Limit, text, hint).at(&self.number.name))
    }
}

impl Number {
    /// The number as clients get it.
    pub(super) fn report(&self, world: &World, initial: &World) -> Parameter {
        let value = |of: &World| ParameterValue::Number(self.get(of).unwrap_or(0.0));
        Parameter {
            name: self.name.clone(),
            value: value(world),
            initial: value(initial),
            unit: self.unit.to_owned(),
            min: Some(self.range.least),
            max: Some(self.range.most),
            text: self.text.to_owned(),
        }
    }

    /// Value in a world; `None` where that has no such thing.
    pub(super) fn get(&self, world: &World) -> Option<f64> {
        match self.place {
            Place::Joint(joint) => Some(joint.get(world)),
            Place::Link(link) => Some(link.get(world)),
            Place::Surface(surface) => surface.get(world),
            Place::Body(body) => Some(body.get(world)),
            Place::Spring(spring) => spring.get(world),
            Place::Bushing(bushing) => bushing.get(world),
            Place::World(setting) => Some(setting.get(world)),
        }
    }

    /// Sets the value in a world.
    pub(super) fn set(&self, world: &mut World, value: f64) -> Result<(), WireError> {
        set_all(world, &[Setting { number: self, value }])
    }

    /// Whether another number changes with this one, or acts only together with it.
    pub(super) fn acts_with(&self, other: &Self) -> bool {
        match (self.place, other.place) {
            (Place::Joint(a), Place::Joint(b)) => a.is_limit_beside(b),
            _ => self.shares_inertia(other),
        }
    }

    /// Whether both are of one inertia.
    fn shares_inertia(&self, other: &Self) -> bool {
        match (self.place, other.place) {
            (Place::Link(a), Place::Link(b)) => a.is_beside(b),
            (Place::Body(a), Place::Body(b)) => a.is_beside(b),
            _ => false,
        }
    }

    fn is_moment(&self) -> bool {
        match self.place {
            Place::Link(link) => link.is_moment(),
            Place::Body(body) => body.is_moment(),
            _ => false,
        }
    }

    /// Value that the scene gives at the present mass: moments of inertia follow it.
    fn at_mass_of(&self, world: &World, initial: &World) -> Option<f64> {
        let ratio = match self.place {
            Place::Link(link) if link.is_moment() => link.mass(world) / link.mass(initial),
            Place::Body(body) if body.is_moment() => body.mass(world) / body.mass(initial),
            _ => 1.0,
        };
        self.get(initial).map(|value| if ratio.is_finite() { value * ratio } else { value })
    }
}
