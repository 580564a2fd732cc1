//! What a driver does to its servos, for a judge that does not ask the driver: the steps between the goals that they accept.

use super::servo::{Mode, Servo};

/// Steps of the goals of servos that have torque.
#[derive(Debug)]
pub(super) struct GoalSteps {
    servos: Vec<Steps>,
}

/// Those of one servo.
#[derive(Debug, Clone, Copy, Default)]
struct Steps {
    /// Goal that it follows; none while it has no torque or follows no position. [rad]
    goal: Option<f64>,
    /// Largest step. [rad]
    largest: f64,
}

impl GoalSteps {
    /// Of so many servos that have no torque yet.
    pub(super) fn new(n_servos: usize) -> Self {
        Self { servos: vec![Steps::default(); n_servos] }
    }

    /// Looks at the goals after one may have changed. The first one with torque is a step from where the servo is.
    pub(super) fn look(&mut self, servos: &[Servo]) {
        for (steps, servo) in self.servos.iter_mut().zip(servos) {
            if !servo.is_driven() || servo.mode != Mode::Position {
                steps.goal = None;
                continue;
            }
            let before = steps.goal.replace(servo.goal).unwrap_or(servo.position);
            steps.largest = steps.largest.max((servo.goal - before).abs());
        }
    }

    /// Largest step of each servo so far. [rad]
    pub(super) fn largest(&self) -> impl Iterator<Item = f64> + '_ {
        self.servos.iter().map(|steps| steps.largest)
    }
}
