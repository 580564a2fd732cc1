//! Acts: what a cell begins.

use karakuri_grasp::gripper_command::{GripperCommandError, GripperReport, StatedCommand};
use karakuri_grasp::hand_command::HandCommandRun;
use karakuri_grasp::pick_and_place::{
    Defaults, Failure, ObjectPose, PickAndPlaceGoal, PickAndPlaceResult, PlanError, Stage,
    Statement, ToolMove, speed_share,
};
use karakuri_hardware::RobotIo;
use karakuri_spatial::Time;

use crate::Cell;
use crate::error::RehearsalError;

/// Act of a robot with a hand, as a client asks for it.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    /// Pick an object, or pick and place it.
    PickAndPlace(PickAndPlaceGoal),
    /// Pick an object, or pick and place it, as a client states it.
    Stated(Box<Statement>),
    /// Place what is in the hand.
    Place {
        /// Where it is placed.
        at: ObjectPose,
        /// Share of the speeds and accelerations, at most 1; 0: all of them. [-]
        speed_scale: f64,
    },
    /// Open or close the hand, evacuate its cups or let go.
    SetGripper(StatedCommand),
    /// Move the tool, with what the hand holds.
    Move(ToolMove),
}

impl Act {
    /// Whether the object is in the hand, or beside it, when the act begins: it is not elsewhere than it is seen.
    pub(crate) fn begins_at_object(&self) -> bool {
        !matches!(self, Self::PickAndPlace(_) | Self::Stated(_))
    }

    /// The same at a share of its speeds and accelerations, where the hand plans them: a move has its own. [-]
    #[must_use]
    pub fn at_speed(&self, share: f64) -> Self {
        match self.clone() {
            Self::Stated(stated) => {
                Self::Stated(Box::new(Statement { speed_scale: share, ..*stated }))
            }
            Self::Place { at, .. } => Self::Place { at, speed_scale: share },
            other => other,
        }
    }
}

impl From<PickAndPlaceGoal> for Act {
    fn from(goal: PickAndPlaceGoal) -> Self {
        Self::PickAndPlace(goal)
    }
}

/// Gripper command that is being carried out, and when it began.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GripperRun {
    run: HandCommandRun,
    begun: Time,
}

impl Cell {
    /// Begins to place what is in the hand, in the present sample.
    ///
    /// # Errors
    /// When the hand holds nothing, or the place cannot be reached.
    pub fn place(&mut self, place: ObjectPose) -> Result<(), PlanError> {
        let objects = self.prepare();
        self.machine.place(place, self.now(), &self.sample.position, &objects)
    }

    /// Begins a move of the tool, in the present sample.
    ///
    /// # Errors
    /// When an act is under way, or no way to the aim is clear.
    pub fn move_tool(&mut self, goal: &ToolMove) -> Result<(), PlanError> {
        let objects = self.prepare();
        self.machine.move_tool(goal, self.now(), &self.sample.position, &objects)
    }

    /// Begins a gripper command, in the place of one that is carried out.
    ///
    /// # Errors
    /// When the hand is picking or placing, or a number of the command is outside its range.
    pub fn set_gripper(&mut self, command: &StatedCommand) -> Result<(), GripperCommandError> {
        let run = HandCommandRun::start(command, self.command_settings, &mut self.machine)?;
        self.gripper = Some(GripperRun { run, begun: self.now() });
        Ok(())
    }

    /// Begins an act in the present sample, as the nodes begin a goal that comes while time stands still.
    ///
    /// # Errors
    /// When it cannot be planned, or the robot does not take the command of its first sample.
    pub fn begin(&mut self, act: &Act) -> Result<(), RehearsalError> {
        self.begin_to_answer()?;
        match act {
            Act::PickAndPlace(goal) => self.start(goal)?,
            Act::Place { at, speed_scale } => {
                self.machine.set_speeds(&self.usual, speed_share(*speed_scale)?);
                self.place(*at)?;
            }
            Act::SetGripper(command) => self.set_gripper(command)?,
            Act::Move(goal) => {
                self.machine.set_speeds(&self.usual, 1.0);
                self.move_tool(goal)?;
            }
            Act::Stated(stated) => {
                *self.machine.settings_mut() = stated.settings(&self.usual)?;
                let goal = stated.goal(Defaults::of(&self.machine))?;
                self.start(&goal)?;
            }
        }
        Ok(())
    }

    /// Checks the gripper command after a tick; its result when it has ended.
    pub(crate) fn check_gripper(&mut self) -> Option<PickAndPlaceResult> {
        let GripperRun { mut run, begun } = self.gripper.take()?;
        let (report, has_ended) = run.check(&mut self.machine, self.io.period());
        if !has_ended {
            self.gripper = Some(GripperRun { run, begun });
            return None;
        }
        let GripperReport { opening, effort, stalled, .. } = report;
        let end = if stalled { "stalled" } else { "as commanded" };
        let message = match self.machine.opening_hand() {
            Some(_) => format!("{end}: {:.1} mm open, {effort:.1} N", 1e3 * opening),
            None => format!("{end}: the vacuum holds with {effort:.1} N"),
        };
        Some(PickAndPlaceResult {
            failure: (!run.succeeded(&report)).then_some(Failure::Blocked),
            stage: Stage::Done,
            message,
            elapsed: self.now().seconds_since(begun),
            width: opening,
            forces: [effort; 2],
            retries: 0,
        })
    }
}
