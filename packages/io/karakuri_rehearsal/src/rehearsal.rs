//! Rehearsals: a task in copies of a cell, and what they predict.

use karakuri_grasp::pick_and_place::{Failure, PickAndPlaceResult, Stage};
use karakuri_simulation::Digest;
use karakuri_spatial::Pose;
use rayon::prelude::*;

use crate::error::RehearsalError;
use crate::variation::{Spread, Variation};
use crate::{Act, Cell};

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
}

impl Default for RehearsalSettings {
    fn default() -> Self {
        Self { copies: 16, seed: 1, spread: Spread::default(), limit: 120.0 }
    }
}

/// What a copy showed.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// Difference of the copy.
    pub variation: Variation,
    /// Result of the task; `None` where it did not end in time.
    pub result: Option<PickAndPlaceResult>,
    /// Time that it took. [s]
    pub duration: f64,
    /// Pose of the object at the end; the identity where there is none.
    pub end: Pose,
    /// Least margin of the hand's strength while it carried the object, by what the hand knows of it; 1 where it carried nothing. Weighing,
    /// which tries less strength on purpose, does not count. [-]
    pub margin: f64,
    /// Time after the start at which the margin was least, or at which the task failed. [s]
    pub worst_at: f64,
    /// Largest force on a force sensor of the hand. [N]
    pub largest_force: f64,
    /// Digest of all commands.
    pub commands: Digest,
}

impl Prediction {
    /// Cause of the failure; `None` is success, a task that does not end is a time-out.
    pub fn failure(&self) -> Option<Failure> {
        self.result.as_ref().map_or(Some(Failure::TimeOut), |result| result.failure)
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
    let RehearsalSettings { copies, seed, ref spread, limit } = *settings;
    let variation = |copy| {
        let variation = Variation::of_copy(copy, spread, seed);
        if act.begins_at_object() { variation.in_place() } else { variation }
    };
    // Copied here: a cell may go to another thread, but is not read by two.
    let cells: Vec<_> = (0..copies.max(1)).map(|copy| (cell.clone(), variation(copy))).collect();
    cells
        .into_par_iter()
        .map(|(cell, variation)| {
            let prediction = predict(cell, object, act, variation, limit)?;
            done(&prediction);
            Ok(prediction)
        })
        .collect()
}

/// Runs a copy again; `see` has its cell as it begins and after each period, with the time since the beginning. [s]
///
/// # Errors
/// As those of [`rehearse`].
pub fn replay(
    cell: &Cell,
    object: Option<&str>,
    act: &Act,
    prediction: &Prediction,
    mut see: impl FnMut(f64, &Cell),
) -> Result<(), RehearsalError> {
    let mut cell = cell.clone();
    cell.vary(object, &prediction.variation)?;
    let start = cell.now();
    see(0.0, &cell);
    cell.begin(act)?;
    let end = start.plus_seconds(prediction.duration);
    see(cell.now().seconds_since(start), &cell);
    while cell.now() < end {
        cell.step()?;
        see(cell.now().seconds_since(start), &cell);
    }
    Ok(())
}

/// The prediction that is worst: of those that fail the first, else the one of least margin. `None` of none.
pub fn worst(predictions: &[Prediction]) -> Option<&Prediction> {
    let failed = predictions.iter().find(|prediction| prediction.failure().is_some());
    failed.or_else(|| predictions.iter().min_by(|a, b| a.margin.total_cmp(&b.margin)))
}

fn predict(
    mut cell: Cell,
    object: Option<&str>,
    act: &Act,
    variation: Variation,
    limit: f64,
) -> Result<Prediction, RehearsalError> {
    cell.vary(object, &variation)?;
    let start = cell.now();
    cell.begin(act)?;
    let (mut margin, mut largest_force) = (1.0_f64, 0.0_f64);
    let (mut commands, mut result) = (Digest::default(), None);
    cell.add_command(&mut commands);
    let (mut worst, mut trouble) = (start, None);
    let end = start.plus_seconds(limit);
    while result.is_none() && cell.now() < end {
        result = cell.step()?;
        cell.add_command(&mut commands);
        let now = cell.now();
        let feedback = cell.machine.feedback();
        let carries = feedback.holding && feedback.stage != Stage::Weigh;
        if carries && cell.machine.margin() < margin {
            (margin, worst) = (cell.machine.margin(), now);
        }
        if feedback.stage.is_trouble() {
            trouble.get_or_insert(now);
        }
        let forces = cell.sample().wrenches.iter().map(|wrench| wrench.force.norm());
        largest_force = forces.fold(largest_force, f64::max);
    }
    // What follows the first trouble of a failure is the way out of it.
    let is_placed = result.as_ref().is_some_and(|result| result.failure.is_none());
    let worst = trouble.filter(|_| !is_placed).unwrap_or(worst);
    let world = cell.io.world();
    let body = object.and_then(|object| world.find_body(object));
    let place = body.map_or_else(Pose::default, |id| world.body(id).pose());
    Ok(Prediction {
        variation,
        result,
        duration: cell.now().seconds_since(start),
        end: place,
        margin,
        worst_at: worst.seconds_since(start),
        largest_force,
        commands,
    })
}
