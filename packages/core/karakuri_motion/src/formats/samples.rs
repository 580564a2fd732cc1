//! What all readers fill: rows of positions over time.

use karakuri_model::BodyId;
use karakuri_spatial::Pose;

use super::exchange::{FormatOptions, Import, JointValues, Note};
use crate::file::FileError;
use crate::motion::{Ease, Motion, RootPose, Scene, Start, Support};

use super::cells::error;

/// Part by which frames may differ to be of one period. [-]
// Times in whole milliseconds at 60 frames a second are uneven by 6 %, and are not taken for a rate; with six digits they are.
const EVEN: f64 = 1e-3;

/// Rows of positions over time.
#[derive(Debug, Clone, Default)]
pub(super) struct Samples {
    /// Joints of the columns.
    pub(super) joints: Vec<BodyId>,
    pub(super) rows: Vec<Row>,
    pub(super) ease: Ease,
    pub(super) notes: Vec<Note>,
}

/// A row.
#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    pub(super) line: usize,
    /// Time. [s]
    pub(super) t: f64,
    /// Positions; `None`: not said. [rad or m]
    pub(super) values: Vec<Option<f64>>,
    pub(super) root: Option<Pose>,
    pub(super) note: String,
}

impl Samples {
    pub(super) fn new(joints: Vec<BodyId>, ease: Ease) -> Self {
        Self { joints, ease, ..Self::default() }
    }

    pub(super) fn note(&mut self, line: usize, message: String) {
        self.notes.push(Note { line, message });
    }

    /// The motion of the rows, in the document's units.
    pub(super) fn into_import(
        mut self,
        file: &str,
        options: &FormatOptions<'_>,
    ) -> Result<Import, FileError> {
        if self.rows.is_empty() {
            return Err(error(file, [0, 0], "there is no row of positions; write one a line"));
        }
        let times: Vec<f64> = self.rows.iter().map(|row| row.t).collect();
        for (row, pair) in self.rows[1..].iter().zip(times.windows(2)) {
            // Strictly: rows become keys, and curves divide by the time between two.
            if pair[1].is_nan() || pair[1] <= pair[0] {
                let message = format!(
                    "the time {} s is not after {} s; write the rows in their order",
                    pair[1], pair[0]
                );
                return Err(error(file, [row.line, 1], &message));
            }
        }
        // The first scene's time is counted from zero, and cannot be negative.
        if times[0] < 0.0 {
            let line = self.rows[0].line;
            return Err(error(
                file,
                [line, 1],
                "a motion begins at 0 s or later; add to the times",
            ));
        }
        self.look_at_limits(options);
        let is_rooted = self.rows.iter().any(|row| row.root.is_some());
        // With the root's path nothing is left for the feet to say; without it the lower foot holds the robot.
        let support = if is_rooted { Support::None } else { Support::Auto };
        let mut before = 0.0;
        let scenes: Vec<Scene> = self
            .rows
            .iter()
            .map(|row| {
                // Seconds since the row before, exact to a nanosecond: differences of times are not.
                let time = ((row.t - before) * 1e9).round() / 1e9;
                before = row.t;
                Scene {
                    time,
                    ease: self.ease,
                    joints: self.joints_of(row, options),
                    root: row.root.map(|pose| root_of(&pose, options)),
                    note: row.note.clone(),
                    ..Scene::default()
                }
            })
            .collect();
        let motion = Motion {
            frame: frame(&times),
            start: Start { support, ..Start::default() },
            scenes,
            ..Motion::default()
        };
        let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
        let name = name.split('.').next().filter(|name| !name.trim().is_empty());
        // Below the limit of names, with room for the number that makes it unique.
        let name: String = name.unwrap_or("imported").chars().take(80).collect();
        Ok(Import { name, motion, notes: self.notes })
    }

    fn joints_of(&self, row: &Row, options: &FormatOptions<'_>) -> JointValues {
        let model = &options.performer.model;
        let values = self.joints.iter().zip(&row.values);
        values
            .filter_map(|(id, value)| {
                let value = options.performer.from_si(*id, options.unit, (*value)?);
                Some((model.joints[id.0].name.clone(), value))
            })
            .collect()
    }

    /// Notes the joints that a file sends beyond their limits.
    fn look_at_limits(&mut self, options: &FormatOptions<'_>) {
        for (k, id) in self.joints.iter().enumerate() {
            let joint = &options.performer.model.joints[id.0];
            let limits = joint.limits;
            let beyond = self.rows.iter().find(|row| {
                let value = row.values.get(k).copied().flatten();
                // Limits are often written in degrees with few digits; a nanoradian is rounding.
                value.is_some_and(|q| q > limits.upper + 1e-9 || q < limits.lower - 1e-9)
            });
            if let Some(row) = beyond {
                let value = row.values[k].unwrap_or_default();
                let message = format!(
                    "`{}` goes to {value:.4}, beyond its limits {:.4} to {:.4}; kept as it is",
                    joint.name, limits.lower, limits.upper
                );
                self.notes.push(Note { line: row.line, message });
            }
        }
    }
}

/// Period of the rows where they are even, else 15 ms. [s]
fn frame(times: &[f64]) -> f64 {
    let first = times.get(1).map_or(0.0, |t| t - times[0]);
    let is_even = times.windows(2).all(|pair| (pair[1] - pair[0] - first).abs() < EVEN * first);
    // Outside are rows that are key poses, not samples: they say nothing of the robot's period.
    if is_even && (1e-3..=0.1).contains(&first) {
        (first * 1e9).round() / 1e9
    } else {
        Motion::default().frame
    }
}

fn root_of(pose: &Pose, options: &FormatOptions<'_>) -> RootPose {
    RootPose {
        xyz: pose.translation.into(),
        rpy: pose.rpy().map(|angle| options.unit.from_rad(angle)),
    }
}
