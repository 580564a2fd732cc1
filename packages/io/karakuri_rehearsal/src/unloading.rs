//! A heap that is unloaded: different objects, one after the other, each rehearsed before it is taken, onto a tray.
//!
//! Where no object that the tray lacks can be taken, one of a shape that it has may be put aside: its neighbours then have room for the hand, or fall into other places, and are
//! tried again.

use karakuri_grasp::pick_and_place::{KnownObject, Statement};
use karakuri_model::Shape;
use karakuri_spatial::Vector3;
use rayon::prelude::*;

use crate::act::Act;
use crate::cell::Cell;
use crate::ended::Ended;
use crate::error::RehearsalError;
use crate::object::state_as_it_lies;
use crate::rehearsal::{Prediction, RehearsalSettings, rehearse, worst};

/// Distance within which something that has moved makes it worth while to try an object again. [m]
// A hand that is open reaches so far from its middle.
const NEIGHBOURS: f64 = 0.12;
/// Distance by which an object has moved. [m]
const MOVED: f64 = 0.001;
/// Time in which the world comes to rest after an object was put down. [s]
const REST: f64 = 0.3;

/// Fixed body with a level top, on which objects stand in rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Tray {
    /// Name of the body.
    pub name: String,
    /// Middle of its top. [m] (3)
    top: Vector3,
    /// Half of its edges along x and y. [m] (2)
    half: [f64; 2],
    /// Distance of the spots. [m]
    pitch: f64,
}

impl Tray {
    /// Tray whose spots are so far from each other. [m]
    ///
    /// # Errors
    /// When there is no such body.
    pub fn new(cell: &Cell, name: &str, pitch: f64) -> Result<Self, RehearsalError> {
        let found = cell.objects().into_iter().find(|object| object.name == name);
        let found = found.ok_or_else(|| RehearsalError::NoObject { name: name.to_owned() })?;
        let half = 0.5 * found.size;
        let top = found.pose.translation + Vector3::z() * half.z;
        Ok(Self { name: name.to_owned(), top, half: [half.x, half.y], pitch })
    }

    /// Spots for objects, the rows that are far from the robot first. [m] (3 each)
    pub fn spots(&self) -> Vec<Vector3> {
        // A spot needs half a pitch to the edge.
        let along = |half: f64| {
            let n = (2.0 * half / self.pitch).floor();
            let mut places = Vec::new();
            while (places.len() as f64) < n {
                places.push((0.5 * (n - 1.0) - places.len() as f64) * self.pitch);
            }
            places
        };
        let [xs, ys] = self.half.map(along);
        let row = |x: f64| {
            let at = move |y: &f64| self.top + Vector3::new(x, *y, 0.0);
            ys.iter().map(at).collect::<Vec<_>>()
        };
        xs.into_iter().flat_map(row).collect()
    }

    /// Whether an object is on it.
    pub fn has(&self, object: &KnownObject) -> bool {
        let off = object.pose.translation - self.top;
        let is_over = off.x.abs() < self.half[0] && off.y.abs() < self.half[1];
        is_over && (0.0..0.5 * object.size.max() + MOVED).contains(&off.z)
    }

    /// The first spot on which nothing is. [m] (3)
    fn free_spot(&self, objects: &[KnownObject]) -> Option<Vector3> {
        let on_it: Vec<_> = objects.iter().filter(|object| self.has(object)).collect();
        let is_free = |spot: &Vector3| {
            on_it.iter().all(|o| (o.pose.translation - spot).xy().norm() > 0.7 * self.pitch)
        };
        self.spots().into_iter().find(is_free)
    }
}

/// Where an object of the heap goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    /// The tray: no object of its shape is there.
    Tray,
    /// Beside the tray: one of its shape is on the tray, and it may be in the way of others.
    Aside,
}

/// How a heap is unloaded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnloadingSettings {
    /// Copies of each rehearsal, the nominal one among them.
    pub copies: usize,
    /// Seed of the random copies.
    pub seed: u64,
    /// Longest time of a pick and place. [s]
    pub limit: f64,
    /// Objects that are tried at the same time.
    pub at_once: usize,
}

impl Default for UnloadingSettings {
    fn default() -> Self {
        Self { copies: 1, seed: 1, limit: 40.0, at_once: 2 }
    }
}

/// What keeps an object where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// Its code: `REFUSED` of what cannot be planned, else that of the result.
    pub code: &'static str,
    /// One sentence for people.
    pub why: String,
}

/// An object that was tried in copies.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// Name of the object.
    pub object: String,
    /// What the nominal copy showed, and the act that it rehearsed; or why it is not taken.
    pub outcome: Result<(Act, Box<Prediction>), Obstacle>,
    /// Time that the copies simulated together. [s]
    pub simulated: f64,
}

/// Heap that is being unloaded.
#[derive(Debug, Clone)]
pub struct Unloading {
    /// Where different objects go.
    pub tray: Tray,
    /// Where objects are put aside, if they may be.
    pub aside: Option<Tray>,
    settings: UnloadingSettings,
    /// Objects that were tried in vain, with what was about them then.
    tried: Vec<(String, Vec<KnownObject>)>,
}

/// Ends of an act that was carried out.
#[derive(Debug, Clone, PartialEq)]
pub struct Carried {
    /// Its result; `None` where it was ended before.
    pub result: Option<Ended>,
    /// Whether each command was the one that had been rehearsed.
    pub is_as_rehearsed: bool,
}

impl Unloading {
    /// Heap of all that is loose in a cell and neither on the tray nor aside.
    pub fn new(tray: Tray, aside: Option<Tray>, settings: UnloadingSettings) -> Self {
        Self { tray, aside, settings, tried: Vec::new() }
    }

    /// Names of what is on the tray.
    pub fn on_tray(&self, cell: &Cell) -> Vec<String> {
        let on_it = loose(cell).into_iter().filter(|object| self.tray.has(object));
        on_it.map(|object| object.name).collect()
    }

    /// Objects to try for a destination, the highest first: for the tray those of shapes that are not on it, to be put aside those of shapes that are; of those that were tried in
    /// vain only what has got other neighbours.
    pub fn candidates(&self, cell: &Cell, destination: Destination) -> Vec<String> {
        let objects = loose(cell);
        let there = objects.iter().filter(|object| self.tray.has(object));
        let taken: Vec<_> = there.filter_map(|object| shape_of(cell, &object.name)).collect();
        let goes_there = |object: &KnownObject| {
            shape_of(cell, &object.name).is_some_and(|shape| match destination {
                Destination::Tray => !taken.contains(&shape),
                Destination::Aside => self.aside.is_some() && taken.contains(&shape),
            })
        };
        let has_changed = |object: &KnownObject| {
            let before = self.tried.iter().find(|(name, _)| *name == object.name);
            before.is_none_or(|(_, before)| !is_same(before, &neighbours(&objects, object)))
        };
        let is_in_heap = |object: &KnownObject| {
            [Some(&self.tray), self.aside.as_ref()].into_iter().flatten().all(|it| !it.has(object))
        };
        let desired = |o: &&KnownObject| is_in_heap(o) && goes_there(o) && has_changed(o);
        let mut found: Vec<_> = objects.iter().filter(desired).collect();
        found.sort_by(|a, b| top(b).total_cmp(&top(a)));
        found.into_iter().map(|object| object.name.clone()).collect()
    }

    /// Tries objects in copies of a cell in their order, several at once, up to the first that succeeds, which is the last of the answer; or all of
    /// them. `go_on` is asked between, and ends it.
    ///
    /// # Errors
    /// When a copy can no longer be stepped.
    pub fn try_in_order(
        &mut self,
        cell: &Cell,
        names: &[String],
        destination: Destination,
        go_on: impl Fn() -> bool,
    ) -> Result<Vec<Attempt>, RehearsalError> {
        let mut attempts = Vec::new();
        for some in names.chunks(self.settings.at_once.max(1)) {
            if !go_on() {
                break;
            }
            // Copied here: a cell may go to another thread, but is not read by two.
            let tasks: Vec<_> = some.iter().map(|name| (cell.clone(), name)).collect();
            let tried =
                tasks.into_par_iter().map(|(cell, name)| self.try_one(&cell, name, destination));
            let tried: Vec<_> = tried.collect::<Result<_, _>>()?;
            for attempt in tried {
                let has_succeeded = attempt.outcome.is_ok();
                self.remember(cell, &attempt);
                attempts.push(attempt);
                if has_succeeded {
                    return Ok(attempts);
                }
            }
        }
        Ok(attempts)
    }

    fn remember(&mut self, cell: &Cell, attempt: &Attempt) {
        self.tried.retain(|(name, _)| *name != attempt.object);
        let objects = loose(cell);
        let object = objects.iter().find(|object| object.name == attempt.object);
        if let (Some(object), Err(_)) = (object, &attempt.outcome) {
            self.tried.push((attempt.object.clone(), neighbours(&objects, object)));
        }
    }

    /// Rehearses to put an object on the next free spot of its destination.
    ///
    /// # Errors
    /// When a copy can no longer be stepped.
    pub fn try_one(
        &self,
        cell: &Cell,
        name: &str,
        destination: Destination,
    ) -> Result<Attempt, RehearsalError> {
        let attempt = |outcome, simulated| Attempt { object: name.to_owned(), outcome, simulated };
        let refused = |why: String| attempt(Err(Obstacle { code: "REFUSED", why }), 0.0);
        let support = match destination {
            Destination::Tray => Some(&self.tray),
            Destination::Aside => self.aside.as_ref(),
        };
        let Some(support) = support else {
            return Ok(refused("nothing is put aside".to_owned()));
        };
        let Some(spot) = support.free_spot(&loose(cell)) else {
            return Ok(refused(format!("no spot of `{}` is free", support.name)));
        };
        let act = match put(cell, name, &spot) {
            Ok(stated) => Act::Stated(Box::new(stated)),
            Err(why) => return Ok(refused(why.to_string())),
        };
        let UnloadingSettings { copies, seed, limit, .. } = self.settings;
        let settings = RehearsalSettings { copies, seed, limit, ..RehearsalSettings::default() };
        let predictions = match rehearse(cell, Some(name), &act, &settings, |_| {}) {
            Ok(predictions) => predictions,
            Err(why @ (RehearsalError::Io(_) | RehearsalError::World(_))) => return Err(why),
            Err(why) => return Ok(refused(why.to_string())),
        };
        let simulated = predictions.iter().map(|copy| copy.duration).sum();
        let obstacle =
            worst(&predictions).and_then(|copy| self.obstacle(cell, support, name, copy));
        let outcome = match (obstacle, predictions.into_iter().next()) {
            (None, Some(nominal)) => Ok((act, Box::new(nominal))),
            (Some(obstacle), _) => Err(obstacle),
            (None, None) => return Ok(refused("nothing was rehearsed".to_owned())),
        };
        Ok(attempt(outcome, simulated))
    }

    /// What a copy in which an object goes to a support shows to be in the way.
    fn obstacle(
        &self,
        cell: &Cell,
        support: &Tray,
        name: &str,
        copy: &Prediction,
    ) -> Option<Obstacle> {
        if let Some(trouble) = copy.failure() {
            return Some(Obstacle { code: trouble.name(), why: copy.message().to_owned() });
        }
        let disturbed = self.on_tray(cell).into_iter().find(|other| copy.moved.contains(other));
        if let Some(other) = disturbed {
            let why =
                format!("`{other}`, which is on `{}` already, would be moved", self.tray.name);
            return Some(Obstacle { code: "DISTURBED", why });
        }
        let object = loose(cell).into_iter().find(|object| object.name == name)?;
        let end = KnownObject { pose: copy.end, ..object };
        (!support.has(&end)).then(|| Obstacle {
            code: "MISSED",
            why: format!("it would not be on `{}` in the end", support.name),
        })
    }
}

/// Carries out what was rehearsed, to the same bits, and lets the world come to rest; `see` has the cell after each period, and ends the act by `false`:
/// the arm then brakes.
///
/// # Errors
/// When the act cannot be begun, or the cell can no longer be stepped.
pub fn carry_out(
    cell: &mut Cell,
    act: &Act,
    prediction: &Prediction,
    mut see: impl FnMut(&Cell) -> bool,
) -> Result<Carried, RehearsalError> {
    cell.begin(act)?;
    let mut commands = karakuri_simulation::Digest::default();
    cell.add_command(&mut commands);
    let (mut result, mut is_cancelled) = (None, false);
    while result.is_none() && cell.is_busy() {
        result = cell.step()?;
        cell.add_command(&mut commands);
        if !see(cell) && !is_cancelled {
            cell.cancel();
            is_cancelled = true;
        }
    }
    let end = cell.now().plus_seconds(REST);
    while cell.now() < end {
        cell.step()?;
        see(cell);
    }
    Ok(Carried { result, is_as_rehearsed: commands == prediction.commands })
}

/// What is stated of an object that is put on a spot of a level support. [m] (3)
fn put(cell: &Cell, name: &str, spot: &Vector3) -> Result<Statement, RehearsalError> {
    let hand = cell.hand.as_ref().ok_or(RehearsalError::NoHand)?;
    let mut stated = state_as_it_lies(cell, name, spot, 0.0)?;
    // As high as it stands there.
    let goal = stated.goal(hand.defaults())?;
    stated.place.translation.z += spot.z - (goal.place.position.z - 0.5 * goal.size.z);
    Ok(stated)
}

/// All bodies that can move.
fn loose(cell: &Cell) -> Vec<KnownObject> {
    let world = cell.io.world();
    let is_loose = |object: &KnownObject| {
        world.find_body(&object.name).is_some_and(|id| !world.body(id).description().fixed)
    };
    cell.objects().into_iter().filter(is_loose).collect()
}

fn shape_of(cell: &Cell, name: &str) -> Option<Shape> {
    let world = cell.io.world();
    world.find_body(name).map(|id| world.body(id).description().shape.clone())
}

/// Height of the highest corner of an object's box. [m]
fn top(object: &KnownObject) -> f64 {
    let up = object.pose.rotation.row(2).map(f64::abs);
    let reach = (up * object.size)[0];
    object.pose.translation.z + 0.5 * reach
}

/// What is about an object, itself included.
fn neighbours(objects: &[KnownObject], object: &KnownObject) -> Vec<KnownObject> {
    let is_near = |other: &&KnownObject| {
        (other.pose.translation - object.pose.translation).norm() < NEIGHBOURS
    };
    objects.iter().filter(is_near).cloned().collect()
}

fn is_same(before: &[KnownObject], after: &[KnownObject]) -> bool {
    let stays = |(a, b): (&KnownObject, &KnownObject)| {
        a.name == b.name && (a.pose.translation - b.pose.translation).norm() < MOVED
    };
    before.len() == after.len() && before.iter().zip(after).all(stays)
}
