//! Numbers of a world that a user changes while it runs, a file a kind.

mod body;
mod inertia;
mod joint;
mod link;
mod surface;
mod tie;
mod world;

use karakuri_physics::{Owner, World, WorldError};

use self::body::BodyNumber;
use self::joint::{DriveNumber, JointNumber, LimitNumber};
use self::link::LinkNumber;
use self::surface::SurfaceNumber;
use self::tie::{BushingNumber, SpringNumber};
use self::world::WorldNumber;
use crate::wire::{Code, Parameter, ParameterValue, WireError};

/// Largest gain, effort, inertia and friction.
const LARGEST: f64 = 1e9;
/// Relative difference of moments of inertia that is a rounding. [-]
const ROUNDING: f64 = 1e-12;

/// A number of a world.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Number {
    /// Name, as `khr1.drives.l_knee_pitch.stiffness`.
    pub(super) name: String,
    place: Place,
    unit: &'static str,
    range: (f64, f64),
    text: &'static str,
}

/// Where a number is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    Drive(DriveNumber),
    Joint(JointNumber),
    Limit(LimitNumber),
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
        joint::list(world, robot, &mut all);
        link::list(world, robot, &mut all);
        surface::list_links(world, robot, &mut all);
    }
    for body in world.body_ids() {
        body::list(world, body, &mut all);
    }
    tie::list(world, &mut all);
    if world.surface(Owner::Ground).is_some() {
        surface::list("ground", Owner::Ground, &mut all);
    }
    world::list(&mut all);
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
        Some((now, then)) => now.total_cmp(&then).is_ne(),
        None => false,
    };
    all.iter()
        .filter(|number| {
            let siblings = || all.iter().filter(|other| number.shares_inertia(other));
            differs(number) || (number.is_moment() && siblings().any(differs))
        })
        .filter_map(|number| number.get(world).map(|value| (number, value)))
        .collect()
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
    let done = match number.place {
        Place::Drive(drive) => {
            drive.set(world, *value);
            Ok(())
        }
        Place::Joint(joint) => joint.set(world, *value),
        Place::Surface(surface) => surface.set(world, *value),
        Place::Spring(spring) => spring.set(world, *value),
        Place::Bushing(bushing) => bushing.set(world, *value),
        Place::World(setting) => {
            setting.set(world, *value);
            Ok(())
        }
        Place::Limit(_) => {
            let all = group.iter().filter_map(|s| match s.number.place {
                Place::Limit(limit) => Some((limit, s.value)),
                _ => None,
            });
            joint::set_limits(world, all)
        }
        Place::Link(_) => {
            let all = group.iter().filter_map(|s| match s.number.place {
                Place::Link(link) => Some((link, s.value)),
                _ => None,
            });
            link::set(world, all)
        }
        Place::Body(_) => {
            let all = group.iter().filter_map(|s| match s.number.place {
                Place::Body(body) => Some((body, s.value)),
                _ => None,
            });
            body::set(world, all)
        }
    };
    done.map_err(|error: WorldError| WireError::from_text(Code::Invalid, &error).at(&number.name))
}

impl Setting<'_> {
    fn check(&self) -> Result<(), WireError> {
        let (least, most) = self.number.range;
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
            min: Some(self.range.0),
            max: Some(self.range.1),
            text: self.text.to_owned(),
        }
    }

    /// Value in a world; `None` where that has no such thing.
    pub(super) fn get(&self, world: &World) -> Option<f64> {
        match self.place {
            Place::Drive(drive) => Some(drive.get(world)),
            Place::Joint(joint) => Some(joint.get(world)),
            Place::Limit(limit) => Some(limit.get(world)),
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
            (Place::Limit(a), Place::Limit(b)) => a.is_beside(b),
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
