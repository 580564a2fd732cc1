//! A sampled motion that drives follow.

use karakuri_physics::{RobotId, World};

/// Rows of positions at a fixed time step.
#[derive(Debug, Clone, Default)]
pub(crate) struct Playback {
    /// Name of the motion.
    pub(crate) name: String,
    /// Time between rows. [s]
    pub(crate) dt: f64,
    /// Position at the start of the motion. (nq)
    pub(crate) start: Vec<f64>,
    /// Velocity coordinates of the joints of a row.
    pub(crate) dofs: Vec<usize>,
    /// Positions. [rad or m] (n rows × n joints)
    pub(crate) rows: Vec<Vec<f64>>,
    /// Whether it begins again at its end.
    pub(crate) is_loop: bool,
}

impl Playback {
    /// Duration. [s]
    pub(crate) fn duration(&self) -> f64 {
        self.rows.len().saturating_sub(1) as f64 * self.dt
    }

    /// Sets the drives' targets for a time. [s]
    pub(crate) fn command(&self, world: &mut World, robot: RobotId, time: f64) {
        let duration = self.duration();
        let time = if self.is_loop && duration > 0.0 { time % duration } else { time };
        let at = (time / self.dt).clamp(0.0, self.rows.len().saturating_sub(1) as f64);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
        let i = at.floor() as usize;
        let Some(row) = self.rows.get(i) else { return };
        let next = self.rows.get(i + 1).unwrap_or(row);
        let u = at - at.floor();
        let moves = time < duration;
        let drives = world.drive_mut(robot);
        for ((&dof, a), b) in self.dofs.iter().zip(row).zip(next) {
            drives.position[dof] = a + u * (b - a);
            drives.velocity[dof] = if moves { (b - a) / self.dt } else { 0.0 };
        }
    }
}
