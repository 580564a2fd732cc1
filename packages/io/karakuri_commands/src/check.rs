//! Checks of a command, in their order; the first failure is the answer.

use serde_json::{Value, json};

use crate::envelope::Envelope;
use crate::interval::Interval;
use crate::refusal::{Code, Refusal};
use crate::scene::{Found, Scene, SceneObject};
use crate::verb::arguments::{Arguments, Destination, Height, Move, Pick, Place, Target, WalkTo};
use crate::verb::{Verb, form};

/// Command that was checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    /// Verb with its arguments.
    pub arguments: Arguments,
    /// Object of the scene that is meant.
    pub object: Option<String>,
}

/// Where a command comes from, and what it is checked against.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'a> {
    pub envelope: &'a Envelope,
    pub principal: &'a str,
    pub scene: &'a Scene,
}

/// The command, if nothing speaks against it.
pub(crate) fn check(context: &Context<'_>, verb: Verb, value: &Value) -> Result<Command, Refusal> {
    let Context { envelope, principal, scene } = *context;
    let arguments = Arguments::read(verb, value)?;
    if !envelope.allows(principal, verb) {
        let hint = "ask the person who keeps the envelope to allow the verb to this principal";
        return Err(Refusal::new(Code::NotAllowed, hint).of("verb", verb.name()));
    }
    let found = meant(&arguments, scene);
    limits(envelope, &arguments)?;
    space(envelope, &arguments, found.and_then(Found::one))?;
    let object = match found {
        None => None,
        Some(Found::One(object)) => Some(object.name.clone()),
        Some(Found::Nothing) => {
            let hint = "look at the scene and name one of its objects";
            return Err(Refusal::new(Code::UnknownObject, hint).of_target(&arguments));
        }
        Some(Found::Several) => {
            let hint = "look at the scene and name an object that is there once";
            return Err(Refusal::new(Code::AmbiguousObject, hint).of_target(&arguments));
        }
    };
    if scene.is_busy && (verb.is_rehearsed() || verb == Verb::Act) {
        return Err(Refusal::new(Code::Busy, "wait for the end of the present act, or stop it"));
    }
    Ok(Command { arguments, object })
}

/// Objects that the arguments mean; `None` where they mean none.
fn meant<'s>(arguments: &Arguments, scene: &'s Scene) -> Option<Found<'s>> {
    match arguments {
        Arguments::Pick(Pick { target: Target::Object { object }, .. }) => {
            Some(Found::of(scene.movable().filter(|known| known.name == *object)))
        }
        Arguments::Pick(Pick { target: Target::At { x_m, y_m }, .. }) => {
            Some(scene.below(*x_m, *y_m))
        }
        Arguments::Place(Place { destination: Destination::On { on } }) => Some(scene.named(on)),
        _ => None,
    }
}

/// Numbers, each by itself.
fn limits(envelope: &Envelope, arguments: &Arguments) -> Result<(), Refusal> {
    let values = json!(arguments);
    for name in form::of(arguments.verb()).names() {
        let Some(number) = values.get(name).and_then(Value::as_f64) else { continue };
        if let Some(range) = envelope.range(name).filter(|range| !range.contains(number)) {
            let hint = "stay within the range that the envelope allows";
            return Err(outside(hint).of(name, number).within(range.to_string()));
        }
    }
    Ok(())
}

/// Points, and the object if it is known.
fn space(
    envelope: &Envelope,
    arguments: &Arguments,
    object: Option<&SceneObject>,
) -> Result<(), Refusal> {
    let workspace = &envelope.workspace_m;
    let at = |point: [f64; 3]| workspace.contains(point);
    let is_inside = match *arguments {
        Arguments::Move(Move { x_m, y_m, height: Height::At { z_m }, .. }) => at([x_m, y_m, z_m]),
        Arguments::Place(Place { destination: Destination::At { x_m, y_m, z_m: Some(z_m) } }) => {
            at([x_m, y_m, z_m])
        }
        Arguments::Move(Move { x_m, y_m, .. })
        | Arguments::Pick(Pick { target: Target::At { x_m, y_m }, .. })
        | Arguments::Place(Place { destination: Destination::At { x_m, y_m, .. } })
        | Arguments::WalkTo(WalkTo { x_m, y_m, .. }) => workspace.contains_place(x_m, y_m),
        _ => true,
    };
    if !is_inside {
        return Err(outside("choose a point that is not kept out by the envelope")
            .of("x_m", json!(arguments)["x_m"].clone()));
    }
    match arguments {
        Arguments::Pick(pick) => may_be_taken(envelope, pick, object),
        Arguments::Place(Place { destination: Destination::On { on } }) => {
            if envelope.denies_object(on) {
                return Err(outside("choose another object to put it on").of("on", on.as_str()));
            }
            match object {
                Some(SceneObject { position_m: [x, y, _], .. })
                    if !workspace.contains_place(*x, *y) =>
                {
                    Err(outside("choose an object inside of the workspace").of("on", on.as_str()))
                }
                _ => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

fn may_be_taken(
    envelope: &Envelope,
    pick: &Pick,
    object: Option<&SceneObject>,
) -> Result<(), Refusal> {
    let named = match &pick.target {
        Target::Object { object } => Some(object.as_str()),
        Target::At { .. } => object.map(|object| object.name.as_str()),
    };
    if let Some(name) = named.filter(|name| !envelope.allows_object(name)) {
        let hint = "choose an object that the envelope allows to take";
        let allowed = envelope.objects.allow.join(", ");
        return Err(outside(hint).of("object", name).within(allowed));
    }
    let Some(object) = object else { return Ok(()) };
    if !envelope.workspace_m.contains(object.position_m) {
        let hint = "choose an object inside of the workspace";
        return Err(outside(hint).of("object", object.name.as_str()));
    }
    let allowed = Interval::positive(envelope.limits.mass_kg);
    match object.mass_kg.filter(|mass| !allowed.contains(*mass)) {
        None => Ok(()),
        Some(mass) => {
            Err(outside("choose a lighter object").of("mass_kg", mass).within(allowed.to_string()))
        }
    }
}

fn outside(hint: &'static str) -> Refusal {
    Refusal::new(Code::OutsideEnvelope, hint)
}

impl Refusal {
    /// The same of what the arguments call the object.
    fn of_target(self, arguments: &Arguments) -> Self {
        match arguments {
            Arguments::Pick(Pick { target: Target::Object { object }, .. }) => {
                self.of("object", object.as_str())
            }
            Arguments::Pick(Pick { target: Target::At { x_m, .. }, .. }) => self.of("x_m", *x_m),
            Arguments::Place(Place { destination: Destination::On { on } }) => {
                self.of("on", on.as_str())
            }
            _ => self,
        }
    }
}

#[cfg(test)]
mod tests;
