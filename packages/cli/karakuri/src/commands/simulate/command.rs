//! Commands of a run: targets of the drives over time, from a table.

use std::path::Path;

use anyhow::{Result, anyhow, bail};
use karakuri_files::read_trace;
use karakuri_physics::{MotionTable, RobotId, World};

/// Targets of driven joints over time.
pub(super) struct Command(Vec<Target>);

struct Target {
    robot: RobotId,
    dof: usize,
    motion: MotionTable,
}

impl Command {
    /// Reads a table with a column `time` and columns `robot.joint.q`, such as a trace. Other columns of a trace are left out,
    /// and joints without a drive.
    pub(super) fn read(file: &Path, world: &World) -> Result<Self> {
        let place = file.display();
        let table = read_trace(file)?;
        let clock = table.columns.iter().position(|c| c.name == "time");
        let clock =
            clock.ok_or_else(|| anyhow!("{place}: there is no column `time`; add one, in s"))?;
        let column = |at: usize| table.rows.iter().map(|row| row[at]).collect::<Vec<f64>>();
        let mut targets = Vec::new();
        for (at, name) in table.columns.iter().map(|c| c.name.as_str()).enumerate() {
            let Some(part) = name.strip_suffix(".q") else { continue };
            let found = part.split_once('.').map(|(robot, joint)| format!("{robot}/{joint}"));
            let joint = found.unwrap_or_else(|| part.to_owned());
            let (robot, body) = world
                .find_robot_joint(&joint)
                .map_err(|e| anyhow!("{place}: column `{name}`: {e}"))?;
            let view = world.robot(robot);
            let dof = view.model().joints[body.0].v_start;
            if !view.drives().enabled[dof] {
                continue;
            }
            let motion = MotionTable::new(column(clock), column(at), None);
            let motion = motion.map_err(|e| anyhow!("{place}: column `{name}`: {e}"))?;
            targets.push(Target { robot, dof, motion });
        }
        if targets.is_empty() {
            bail!("{place}: no column is the position of a driven joint; name one `robot.joint.q`");
        }
        Ok(Self(targets))
    }

    /// Sets the drives' targets, position and velocity, for the end of the step that begins.
    pub(super) fn give(&self, world: &mut World) {
        let end = world.time() + world.settings().dt;
        for Target { robot, dof, motion } in &self.0 {
            let drives = world.drive_mut(*robot);
            (drives.position[*dof], drives.velocity[*dof]) = motion.at(end);
        }
    }
}
