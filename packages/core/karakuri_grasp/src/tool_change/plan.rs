//! Plan of a change, before anything moves.
//!
//! Units: m, rad, s; world axes.

use std::sync::Arc;

use karakuri_control::cartesian::{MoveLimits, MovePlanner};
use karakuri_control::trajectory::JointTrajectory;
use karakuri_model::Model;
use karakuri_spatial::{Pose, Vector3};

use super::rack::ToolRack;
use super::types::{ToolChangeSettings, ToolChangeStage as Stage};
use crate::pick_and_place::PickAndPlaceSettings;

/// Highest speed of the vertical motions. [m/s]
// A quarter of the usual speed. Half and double of it were not tried.
const VERTICAL_SPEED: f64 = 0.1;
/// Distance from the vertical over a place within which the flange is in it, and must go up first. [m]
// More than a coupling's play: what holds a tool in its place is farther out.
const IN_PLACE: f64 = 0.01;
/// Horizontal distance from a place within which a tool on the flange may touch the one there. [m]
// Two hands of 0.1 m about their flanges, side by side.
const BESIDE: f64 = 0.2;

/// Way of a motion of the arm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Way {
    /// Free of all places, to be stopped anywhere.
    Free,
    /// Straight down into a place.
    Down {
        /// Height of the flange from which on it is free again. [m]
        above: f64,
    },
    /// Straight up out of a place.
    Up,
}

/// Task of a step.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Task {
    /// Motion of the arm.
    Move(Way, JointTrajectory),
    /// Request to the coupling, by the tool's name.
    Couple(String),
    /// Weighing of what is on the flange.
    Weigh,
}

/// Step of a change.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    pub(super) stage: Stage,
    pub(super) task: Task,
}

/// Way down into a place.
struct Descent {
    /// Positions over the place. [m or rad] (nq)
    q_above: Vec<f64>,
    down: JointTrajectory,
    /// Positions in the place. [m or rad] (nq)
    q_dock: Vec<f64>,
}

/// Planner of one change.
struct Planner<'a> {
    model: Arc<Model>,
    moves: &'a mut MovePlanner,
    settings: &'a ToolChangeSettings,
    /// Positions at the end of the last step. [m or rad] (nq)
    q: Vec<f64>,
    steps: Vec<Step>,
}

impl ToolRack {
    /// Steps from one tool to another, begun at rest at `q`; an obstacle as a sentence. (nq)
    pub(super) fn steps(
        &mut self,
        present: &str,
        desired: &str,
        q: &[f64],
        settings: &ToolChangeSettings,
    ) -> Result<Vec<Step>, String> {
        let bare = self.bare_name().to_owned();
        let [from, to] = [present, desired].map(|name| self.tool(name).and_then(|tool| tool.dock));
        let docks: Vec<Pose> = self.tools.iter().filter_map(|tool| tool.dock).collect();
        let model = Arc::clone(self.bare());
        let mut planner =
            Planner { model, moves: &mut self.moves, settings, q: q.to_vec(), steps: Vec::new() };
        if present != desired {
            planner.leave(&docks, if from.is_some() { Stage::ToDock } else { Stage::ToNext })?;
            if let Some(dock) = from {
                planner.visit(&dock, present, &bare, [Stage::ToDock, Stage::LetGo])?;
            }
            if let Some(dock) = to {
                planner.visit(&dock, desired, desired, [Stage::ToNext, Stage::Couple])?;
                // Back over another place the new tool could touch the one that is there.
                if !planner.is_over_any(&docks, q) {
                    planner.free(Stage::Retreat, q);
                }
            }
        } else if settings.weigh {
            planner.push(Stage::Weigh, Task::Weigh);
        }
        Ok(planner.steps)
    }

    /// Motion of the flange straight up to a height, from `q`; an obstacle as a sentence. [m] (nq)
    pub(super) fn rise(
        &mut self,
        q: &[f64],
        height: f64,
        settings: &ToolChangeSettings,
    ) -> Result<JointTrajectory, String> {
        let model = Arc::clone(self.bare());
        let X_WF = self.moves.tool_pose(&model, q);
        let up = MovePlanner::straight(X_WF, raised(&X_WF, height - X_WF.translation.z));
        let found = self.moves.path_move(&model, q, up, &vertical(settings));
        found.map(|(trajectory, _)| trajectory).map_err(|why| why.to_string())
    }
}

impl Planner<'_> {
    /// Over a place, down, the coupling's part, up, and weighing. `tool` is of the place, `then` what is on the flange afterwards.
    fn visit(
        &mut self,
        dock: &Pose,
        tool: &str,
        then: &str,
        [there, couple]: [Stage; 2],
    ) -> Result<(), String> {
        let above = raised(dock, self.settings.lift);
        let Descent { q_above, down, q_dock } = self.descent(dock, tool)?;
        self.free(there, &q_above);
        self.push(there, Task::Move(Way::Down { above: above.translation.z }, down));
        self.push(couple, Task::Couple(then.to_owned()));
        self.q = q_dock;
        let at = |why| format!("up from the dock of `{tool}`: {why}");
        let up = self.straight(dock, &above).map_err(at)?;
        self.push(couple, Task::Move(Way::Up, up));
        if self.settings.weigh {
            self.push(Stage::Weigh, Task::Weigh);
        }
        Ok(())
    }

    /// Of the ways down into a place from the arm's postures, the one that begins nearest to where the arm is.
    fn descent(&mut self, dock: &Pose, tool: &str) -> Result<Descent, String> {
        let lift = self.settings.lift;
        let above = raised(dock, lift);
        let place = |pose: &Pose, how: &str| {
            let p = pose.translation;
            format!("{how} the dock of `{tool}`, ({:.3}, {:.3}, {:.3}) m", p.x, p.y, p.z)
        };
        let mut best: Option<(f64, Descent)> = None;
        let mut obstacle = String::new();
        for start in self.starts() {
            let q_above = match self.moves.solve(&self.model, &above, &start, 0) {
                Ok(found) => found,
                Err(why) => {
                    // The first obstacle is that from where the arm is.
                    if obstacle.is_empty() {
                        obstacle =
                            format!("{}: {why}", place(&above, &format!("{lift:.3} m above")));
                    }
                    continue;
                }
            };
            let line = MovePlanner::straight(above, *dock);
            match self.moves.path_move(&self.model, &q_above, line, &vertical(self.settings)) {
                Ok((down, q_dock)) => {
                    let far = |far: f64, (a, b): (&f64, &f64)| far.max((a - b).abs());
                    let distance = q_above.iter().zip(&self.q).fold(0.0, far);
                    if best.as_ref().is_none_or(|(least, _)| distance < *least) {
                        best = Some((distance, Descent { q_above, down, q_dock }));
                    }
                }
                Err(why) => obstacle = format!("{}: {why}", place(dock, "down to")),
            }
        }
        best.map(|(_, found)| found).ok_or(obstacle)
    }

    /// Positions from which inverse kinematics begins: where the arm is, then its postures. (nq)
    fn starts(&self) -> Vec<Vec<f64>> {
        let mut starts = vec![self.q.clone()];
        for posture in &self.model.postures {
            let mut start = self.q.clone();
            for (id, value) in &posture.positions {
                start[self.model.joints[id.0].q_start] = *value;
            }
            starts.push(start);
        }
        starts
    }

    /// Goes straight up where the flange is in a place.
    fn leave(&mut self, docks: &[Pose], stage: Stage) -> Result<(), String> {
        let X_WF = self.moves.tool_pose(&self.model, &self.q);
        let lift = self.settings.lift;
        let is_in = |dock: &&Pose| {
            let off = X_WF.translation - dock.translation;
            off.xy().norm() < IN_PLACE && (-IN_PLACE..lift).contains(&off.z)
        };
        let Some(dock) = docks.iter().find(is_in) else { return Ok(()) };
        let height = dock.translation.z + lift - X_WF.translation.z;
        let at = |why| format!("up from where the flange is: {why}");
        let up = self.straight(&X_WF, &raised(&X_WF, height)).map_err(at)?;
        self.push(stage, Task::Move(Way::Up, up));
        Ok(())
    }

    /// Whether the flange is over a place at `q`, or nearly so. (nq)
    fn is_over_any(&mut self, docks: &[Pose], q: &[f64]) -> bool {
        let at = self.moves.tool_pose(&self.model, q).translation;
        docks.iter().any(|dock| (at - dock.translation).xy().norm() < BESIDE)
    }

    /// Motion along a line, whose end is where the next step begins.
    fn straight(&mut self, from: &Pose, to: &Pose) -> Result<JointTrajectory, String> {
        let line = MovePlanner::straight(*from, *to);
        let limits = vertical(self.settings);
        let found = self.moves.path_move(&self.model, &self.q, line, &limits);
        let (trajectory, q) = found.map_err(|why| why.to_string())?;
        self.q = q;
        Ok(trajectory)
    }

    /// Motion by the joints, slowed until the flange keeps its speed and acceleration. (nq)
    fn free(&mut self, stage: Stage, to: &[f64]) {
        let limits = limits(self.settings, self.settings.speed);
        let mut trajectory = self.moves.joint_move(&self.model, &self.q, to, &limits);
        self.moves.slow_for_tool(&self.model, &self.q, &mut trajectory, &limits);
        self.q = to.to_vec();
        self.push(stage, Task::Move(Way::Free, trajectory));
    }

    fn push(&mut self, stage: Stage, task: Task) {
        self.steps.push(Step { stage, task });
    }
}

/// Pose that is higher by so much. [m]
fn raised(pose: &Pose, height: f64) -> Pose {
    Pose::new(pose.rotation, pose.translation + Vector3::z() * height)
}

fn vertical(settings: &ToolChangeSettings) -> MoveLimits {
    limits(settings, settings.speed.min(VERTICAL_SPEED))
}

fn limits(settings: &ToolChangeSettings, speed: f64) -> MoveLimits {
    let joints = PickAndPlaceSettings::default();
    MoveLimits {
        speed,
        acceleration: settings.acceleration,
        joint_speed_scale: joints.joint_speed_scale,
        joint_acceleration: joints.joint_acceleration,
    }
}
