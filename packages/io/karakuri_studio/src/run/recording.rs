//! Recordings: a row a time step.

use std::fmt::Write as _;

use karakuri_physics::World;

/// Most rows of a recording: ten minutes at 1 ms.
const ROWS: usize = 600_000;
/// Most numbers of a recording: 400 MB.
const NUMBERS: usize = 50_000_000;

/// A table of what happens.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    columns: Vec<String>,
    numbers: Vec<f64>,
    rows: usize,
}

impl Recorder {
    /// An empty recording of a world and of plots.
    pub(super) fn new(world: &World, plots: &[String]) -> Self {
        let mut columns = vec!["time_s".to_owned()];
        for id in world.robot_ids() {
            let robot = world.robot(id);
            for joint in robot.model().joints.iter().filter(|j| j.kind.single().is_some()) {
                let name = format!("{}.{}", robot.name(), joint.name);
                columns.extend(["q", "v", "tau"].map(|what| format!("{name}.{what}")));
            }
        }
        columns.extend(plots.iter().cloned());
        Self { columns, numbers: Vec::new(), rows: 0 }
    }

    /// Number of rows.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Adds a row; whether there is room for more.
    pub(super) fn add(&mut self, world: &World, plots: &[f64]) -> bool {
        if self.rows >= ROWS || self.numbers.len() >= NUMBERS {
            return false;
        }
        let first = self.numbers.len();
        self.numbers.push(world.time());
        for id in world.robot_ids() {
            let robot = world.robot(id);
            for joint in robot.model().joints.iter().filter(|j| j.kind.single().is_some()) {
                let (q, v) = (joint.q_start, joint.v_start);
                self.numbers.extend([robot.q()[q], robot.v()[v], robot.efforts()[v]]);
            }
        }
        self.numbers.extend(plots);
        // What a script began to plot later has no column.
        self.numbers.resize(first + self.columns.len(), f64::NAN);
        self.rows += 1;
        true
    }

    /// The table as CSV.
    pub(super) fn csv(&self) -> String {
        let mut text = self.columns.join(",");
        for row in self.numbers.chunks(self.columns.len()) {
            for (i, x) in row.iter().enumerate() {
                // Writing to a string does not fail.
                let _written = write!(text, "{}{x}", if i == 0 { "\n" } else { "," });
            }
        }
        text.push('\n');
        text
    }
}
