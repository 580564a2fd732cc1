//! What carries acts out: a simulated cell, or programs elsewhere beside a cell that follows them.

use karakuri_commands::Refusal;
use karakuri_rehearsal::{Cell, Ended, RehearsalError};
use karakuri_simulation::Digest;
use karakuri_spatial::Time;

use crate::order::Order;
use crate::refusals::of_error;

/// Work that may be done on any thread.
pub type OnStop = Box<dyn Fn() + Send + Sync>;

/// Robot of a commander, with a cell that is as the robot and its world are.
pub trait Robot: Send {
    /// The robot and its world, in which acts are rehearsed.
    fn cell(&self) -> &Cell;

    /// Lets time stand still between two periods, with the cell as the robot then is.
    ///
    /// # Errors
    /// When the robot is silent, or the cell does not know it any more.
    fn hold(&mut self) -> Result<(), Refusal> {
        Ok(())
    }

    /// Follows the robot while nothing is under way; whether time went on.
    fn follow(&mut self) -> bool {
        false
    }

    /// An order whose act is to the bits with which it reaches what carries it out.
    ///
    /// # Errors
    /// When it cannot be sent.
    fn as_sent(&self, order: Order) -> Result<Order, Refusal> {
        Ok(order)
    }

    /// Begins an act in the present sample.
    ///
    /// # Errors
    /// When it cannot be planned, or is not taken.
    fn begin(&mut self, order: &Order) -> Result<(), Refusal>;

    /// Runs one period, or waits for it; the result of an act that ends in it.
    ///
    /// # Errors
    /// When the robot is lost.
    fn step(&mut self) -> Result<Option<Ended>, Refusal>;

    /// Whether an act is under way.
    fn is_busy(&self) -> bool {
        self.cell().is_busy()
    }

    /// Brakes; what is held stays held.
    ///
    /// # Errors
    /// When the robot is lost.
    fn cancel(&mut self) -> Result<(), Refusal>;

    /// What `stop` does at once, on the thread of its caller; the robot is then asked to cancel, too.
    fn on_stop(&self) -> OnStop {
        Box::new(|| {})
    }

    /// Adds the command that answered the last sample to a digest of all of them.
    fn add_command(&self, digest: &mut Digest) {
        self.cell().add_command(digest);
    }

    /// Time of the robot's last sample. That of its cell may be behind.
    fn now(&self) -> Time {
        self.cell().now()
    }

    /// Positions of the joints as measured, of a robot that does not go as its cell does to the bit: it must stay in the band of all copies.
    /// [rad or m] (n joints)
    fn positions(&self) -> Option<&[f64]> {
        None
    }

    /// Largest normal force of a finger as measured, of such a robot. [N]
    fn finger_force(&self) -> Option<f64> {
        None
    }

    /// How the robot differs from its cell, where it does: what was rehearsed is then not what it does.
    fn difference(&self) -> Option<&str> {
        None
    }

    /// Count of the times that the robot was put back to its start, with nothing in its hand.
    fn n_resets(&self) -> u64 {
        0
    }
}

/// A simulated cell is its own robot, whose time stands still whenever nobody runs it.
impl Robot for Cell {
    fn cell(&self) -> &Cell {
        self
    }

    fn begin(&mut self, order: &Order) -> Result<(), Refusal> {
        let begun = Self::begin(self, &order.act);
        begun.map_err(|error| of_error(self, &error))
    }

    fn step(&mut self) -> Result<Option<Ended>, Refusal> {
        let result = Self::step(self);
        result.map_err(|error| of_error(self, &RehearsalError::Io(error)))
    }

    fn cancel(&mut self) -> Result<(), Refusal> {
        Self::cancel(self);
        Ok(())
    }
}
