//! Rehearsals: a task in copies of a cell, and what they predict.

use karakuri_grasp::pick_and_place::Stage;
use karakuri_hardware::RobotIo;
use karakuri_physics::{ObjectId, Owner};
use karakuri_simulation::Digest;
use karakuri_spatial::{Pose, Vector3};
use rayon::prelude::*;

use crate::ended::{Ended, Trouble};
use crate::error::RehearsalError;
use crate::gait::Gait;
use crate::variation::{STATED, Spread, Variation};
use crate::{Act, Cell};

/// Time constant of the filter of forces. [s]
// A body of 1 kg that is stopped by 20 N for so long had 0.2 m/s.
const PRESSING_TIME: f64 = 0.01;
/// Distance from its place at which an object has moved. [m]
// What is placed well is nearer to its place.
const MOVED: f64 = 0.005;

/// What is rehearsed, and how often.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RehearsalSettings {
    /// Number of copies, the nominal one among them.
    pub copies: usize,
    /// Seed of the random copies.
    pub seed: u64,
    /// Differences of the copies.
    pub spread: Spread,
    /// Longest time of a task. [s]
    pub limit: f64,
    /// Time between two positions of the joints, and forces of the fingers, that are kept; 0: none are. [s]
    pub path_period: f64,
}

impl Default for RehearsalSettings {
    fn default() -> Self {
        Self { copies: 16, seed: 1, spread: Spread::default(), limit: 120.0, path_period: 0.0 }
    }
}

/// What a copy showed.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// Difference of the copy.
    pub variation: Variation,
    /// Result of the task; `None` where it did not end in time.
    pub result: Option<Ended>,
    /// Time that it took. [s]
    pub duration: f64,
    /// Pose of the object at the end; of a walk the robot's place, of a change of tools the flange; without an object else that of the tool.
    pub end: Pose,
    /// Whether the hand holds what it has picked at the end.
    pub holds: bool,
    /// Names of other objects that are more than 5 mm from where they were.
    pub moved: Vec<String>,
    /// Least margin of the hand's strength while it carried the object, by what the hand knows of it, and of the capture point of a walk in what steps
    /// can capture, as a share of half a sole's width; 1 where it carried nothing and did not walk. Weighing, which tries less strength on purpose,
    /// does not count. [-]
    pub margin: f64,
    /// Time after the start at which the margin was least, or at which the task failed. [s]
    pub worst_at: f64,
    /// Largest force of a part of the robot on something else, through all of their contacts, as a low-pass filter of 10 ms shows it. [N]
    pub largest_force: f64,
    /// Digest of all commands.
    pub commands: Digest,
    /// Positions of the joints that [`Cell::joints_of`] the act names, now and then from the beginning on, if they were to be kept.
    /// [rad or m] (n × n joints)
    pub path: Vec<Vec<f64>>,
    /// Largest normal force of a finger at the same times. [N] (n)
    pub forces: Vec<f64>,
}

impl Prediction {
    /// Cause of the failure; `None` is success, a task that does not end is a time-out.
    pub fn failure(&self) -> Option<Trouble> {
        self.result.as_ref().map_or(Some(Trouble::Endless), Ended::trouble)
    }

    /// One sentence that says how it ended.
    pub fn message(&self) -> &str {
        self.result.as_ref().map_or("it does not end in time", Ended::message)
    }
}

/// Predictions of an act by copies of a cell, by their numbers: the first is the nominal one. The copies differ in `object`; where there is none, all are
/// nominal. The cell stays as it is. Copies run beside each other, on
/// the threads of rayon, to the same bits on any number of them; `done` hears of each copy that ends.
///
/// # Errors
/// When the task cannot be planned in the nominal copy, there is no such object, or a copy can no longer be stepped.
pub fn rehearse(
    cell: &Cell,
    object: Option<&str>,
    act: &Act,
    settings: &RehearsalSettings,
    done: impl Fn(&Prediction) + Sync,
) -> Result<Vec<Prediction>, RehearsalError> {
    let RehearsalSettings { copies, seed, ref spread, limit, path_period } = *settings;
    let variation = |copy| {
        let variation = Variation::of_copy(copy, spread, seed);
        if act.begins_at_object() { variation.in_place() } else { variation }
    };
    // Copied here: a cell may go to another thread, but is not read by two.
    let cells: Vec<_> = (0..copies.max(1)).map(|copy| (cell.clone(), variation(copy))).collect();
    cells
        .into_par_iter()
        .map(|(cell, variation)| {
            let (mut path, mut forces) = (Vec::new(), Vec::new());
            let keep = |elapsed: f64, cell: &Cell| {
                if path_period > 0.0 && elapsed >= path_period * path.len() as f64 {
                    let position = &cell.sample().position;
                    path.push(cell.joints_of(act).into_iter().map(|j| position[j]).collect());
                    let felt = cell.machine().map_or([0.0; 2], |machine| machine.feedback().forces);
                    forces.push(felt[0].max(felt[1]));
                }
            };
            let prediction = run(cell, object, act, &variation, limit, keep)?;
            let prediction = Prediction { path, forces, ..prediction };
            done(&prediction);
            Ok(prediction)
        })
        .collect()
}

/// Predictions of the random copies, after those of the nominal one and of the corners.
pub fn random(predictions: &[Prediction]) -> &[Prediction] {
    predictions.get(STATED..).unwrap_or_default()
}

/// The prediction that is worst: of those that fail the first, else the one of least margin. `None` of none.
pub fn worst(predictions: &[Prediction]) -> Option<&Prediction> {
    let failed = predictions.iter().find(|prediction| prediction.failure().is_some());
    failed.or_else(|| predictions.iter().min_by(|a, b| a.margin.total_cmp(&b.margin)))
}

/// Runs one copy; `see` has its cell once the act has begun and after each period, with the time since the beginning. [s]
///
/// # Errors
/// As those of [`rehearse`].
pub fn observe(
    cell: &Cell,
    object: Option<&str>,
    act: &Act,
    variation: &Variation,
    limit: f64,
    see: impl FnMut(f64, &Cell),
) -> Result<Prediction, RehearsalError> {
    run(cell.clone(), object, act, variation, limit, see)
}

/// Positions of all bodies but the one that an act is about. [m] (3)
fn others(cell: &Cell, object: Option<&str>) -> Vec<(ObjectId, Vector3)> {
    let world = cell.io.world();
    let is_other =
        |id: &ObjectId| object.is_none_or(|object| world.body(*id).description().name != object);
    world.body_ids().filter(is_other).map(|id| (id, world.body(id).pose().translation)).collect()
}

/// Place of a robot that walks, or the pose of a tool; where it is changed that of the flange.
fn own_place(cell: &Cell, act: &Act) -> Pose {
    match (act, &cell.gait) {
        (Act::Walk(_), Some(gait)) => cell.stance(gait),
        (Act::ChangeTool { .. }, _) => cell.flange_pose().unwrap_or_default(),
        _ => cell.tool_pose(),
    }
}

/// Largest force of a part of the robot on something else in the last step. [N]
fn pressing(cell: &Cell) -> f64 {
    let world = cell.io.world();
    let Some(own) = world.find_robot(&cell.io.robots()[cell.robot].name) else { return 0.0 };
    let is_own = |part: Owner| matches!(part, Owner::Link { robot, .. } if robot == own);
    let mut pairs: Vec<([Owner; 2], Vector3)> = Vec::new();
    for contact in world.contacts().filter(|contact| is_own(contact.a) != is_own(contact.b)) {
        let pair = [contact.a, contact.b];
        match pairs.iter_mut().find(|(known, _)| *known == pair) {
            Some((_, force)) => *force += contact.force,
            None => pairs.push((pair, contact.force)),
        }
    }
    pairs.iter().map(|(_, force)| force.norm()).fold(0.0, f64::max)
}

impl Cell {
    /// Margin of what is carried, or of a walk; 1 where there is neither. [-]
    fn margin(&self) -> f64 {
        let carried = self.machine().filter(|machine| {
            let feedback = machine.feedback();
            feedback.holding && feedback.stage != Stage::Weigh
        });
        // What the hand does not know is no number.
        let margin = carried.map_or(1.0, |machine| machine.margin().min(1.0));
        let walked = self.gait.as_ref().map_or(1.0, Gait::margin);
        margin.min(walked)
    }
}

fn run(
    mut cell: Cell,
    object: Option<&str>,
    act: &Act,
    variation: &Variation,
    limit: f64,
    mut see: impl FnMut(f64, &Cell),
) -> Result<Prediction, RehearsalError> {
    cell.vary(object, variation)?;
    let start = cell.now();
    let before = others(&cell, object);
    cell.begin(act)?;
    see(0.0, &cell);
    let (mut margin, mut force, mut largest_force) = (1.0_f64, 0.0_f64, 0.0_f64);
    let (mut commands, mut result) = (Digest::default(), None);
    cell.add_command(&mut commands);
    let (mut worst, mut trouble) = (start, None);
    let end = start.plus_seconds(limit);
    while result.is_none() && cell.now() < end {
        result = cell.step()?;
        cell.add_command(&mut commands);
        let now = cell.now();
        see(now.seconds_since(start), &cell);
        let present = cell.margin();
        if present < margin {
            (margin, worst) = (present, now);
        }
        if cell.machine().is_some_and(|machine| machine.feedback().stage.is_trouble()) {
            trouble.get_or_insert(now);
        }
        // Forces of a blow within a step are as large as the step is short: what counts is what lasts.
        force += (pressing(&cell) - force) * (cell.io.period() / PRESSING_TIME).min(1.0);
        largest_force = largest_force.max(force);
    }
    // What follows the first trouble of a failure is the way out of it.
    let is_placed = result.as_ref().is_some_and(|result| result.trouble().is_none());
    let worst = trouble.filter(|_| !is_placed).unwrap_or(worst);
    let world = cell.io.world();
    let body = object.and_then(|object| world.find_body(object));
    let place = body.map_or_else(|| own_place(&cell, act), |id| world.body(id).pose());
    let has_moved =
        |(id, at): &(ObjectId, Vector3)| (world.body(*id).pose().translation - at).norm() > MOVED;
    let moved = before.into_iter().filter(has_moved);
    let moved = moved.map(|(id, _)| world.body(id).description().name.clone()).collect();
    Ok(Prediction {
        variation: *variation,
        result,
        duration: cell.now().seconds_since(start),
        end: place,
        holds: cell.is_holding(),
        moved,
        margin,
        worst_at: worst.seconds_since(start),
        largest_force,
        commands,
        path: Vec::new(),
        forces: Vec::new(),
    })
}
