//! Noise of the sensors of robots.

use crate::state::ids::RobotId;
use crate::world::World;

impl World {
    /// Restarts the noise of a robot's sensors as another run would have it: `run` is combined with the seeds of its model; 0 is the run of the model's own
    /// seeds. Sensors without noise stay without.
    ///
    /// # Panics
    /// When the robot was removed.
    pub fn restart_noise(&mut self, id: RobotId, run: u64) {
        self.robot_mut(id).restart_noise(run);
    }
}
