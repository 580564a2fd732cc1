//! How well joints follow: where they are at the end of each command period, against where the planner desired them by then.

use karakuri_model::Model;

/// Errors of all driven joints over a walk.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tracking {
    /// Sum of their squares. [rad²]
    squares: f64,
    count: u64,
    largest: f64,
}

impl Tracking {
    /// Adds the errors of positions (nq) against those that were desired (nq).
    pub(super) fn add(&mut self, model: &Model, position: &[f64], desired: &[f64]) {
        for joint in model.joints.iter().filter(|joint| joint.drive.is_some()) {
            let error = (position[joint.q_start] - desired[joint.q_start]).abs();
            self.squares += error * error;
            self.count += 1;
            self.largest = self.largest.max(error);
        }
    }

    /// Root of the mean square. [rad]
    pub(super) fn rms(&self) -> f64 {
        (self.squares / self.count.max(1) as f64).sqrt()
    }

    /// Largest error. [rad]
    pub(super) fn largest(&self) -> f64 {
        self.largest
    }
}
