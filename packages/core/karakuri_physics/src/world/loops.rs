//! Loops of robots, opened while the world runs.

use crate::errors::WorldError;
use crate::state::ids::RobotId;
use crate::world::World;

impl World {
    /// Opens a loop of a robot for good, as if its joint came apart; a snapshot from before has it closed.
    ///
    /// # Errors
    /// When the robot has no loop of this name.
    ///
    /// # Panics
    /// When the robot was removed.
    pub fn open_loop(&mut self, id: RobotId, name: &str) -> Result<(), WorldError> {
        // Bodies that sleep on its links would hang in the air.
        self.wake_all();
        let robot = self.robot_mut(id);
        if robot.open_loop(name) {
            return Ok(());
        }
        let names: Vec<_> = robot.model.loops.iter().map(|l| l.name.as_str()).collect();
        let known = if names.is_empty() { "no loops".to_owned() } else { names.join(", ") };
        Err(WorldError::NoSuchPart { name: name.to_owned(), known })
    }
}
