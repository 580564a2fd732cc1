//! Acts: what a cell begins.

use karakuri_gait::planner::WalkGoal;
use karakuri_grasp::gripper_command::StatedCommand;
use karakuri_grasp::hand_command::HandCommandRun;
use karakuri_grasp::pick_and_place::{
    ObjectPose, PickAndPlaceGoal, PlanError, Statement, ToolMove, speed_share,
};
use karakuri_grasp::tool_change::ToolChangeSettings;

use crate::Cell;
use crate::error::RehearsalError;
use crate::hand::{GripperRun, Hand};

/// Act of a robot, as a client asks for it.
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
    /// Walk.
    Walk(WalkGoal),
    /// Take another tool, or put the present one back.
    ChangeTool {
        /// Name of the tool, or of the bare arm.
        tool: String,
        /// How the arm moves.
        settings: ToolChangeSettings,
    },
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

impl Cell {
    /// Indices in the layout of the joints that a rehearsal of an act keeps the path of: all, where tools are changed those that no tool brings.
    pub fn joints_of(&self, act: &Act) -> Vec<usize> {
        match (act, &self.tools) {
            (Act::ChangeTool { .. }, Some(tools)) => tools.arm_joints(self.layout()),
            _ => (0..self.layout().joints.len()).collect(),
        }
    }

    fn hand_mut(&mut self) -> Result<&mut Hand, RehearsalError> {
        self.hand.as_mut().ok_or(RehearsalError::NoHand)
    }

    /// Begins a pick and place in the present sample.
    ///
    /// # Errors
    /// When it cannot be planned, or the robot has no hand.
    pub fn start(&mut self, goal: &PickAndPlaceGoal) -> Result<(), RehearsalError> {
        let (objects, now, q) = (self.prepare(), self.now(), self.measured().q.clone());
        Ok(self.hand_mut()?.machine.start(goal.clone(), now, &q, &objects)?)
    }

    /// Begins to place what is in the hand, in the present sample.
    ///
    /// # Errors
    /// When the hand holds nothing, the place cannot be reached, or the robot has no hand.
    pub fn place(&mut self, place: ObjectPose) -> Result<(), RehearsalError> {
        let (objects, now, q) = (self.prepare(), self.now(), self.measured().q.clone());
        Ok(self.hand_mut()?.machine.place(place, now, &q, &objects)?)
    }

    /// Begins a move of the tool, in the present sample.
    ///
    /// # Errors
    /// When an act is under way, no way to the aim is clear, or the robot has no hand.
    pub fn move_tool(&mut self, goal: &ToolMove) -> Result<(), RehearsalError> {
        let (objects, now, q) = (self.prepare(), self.now(), self.measured().q.clone());
        Ok(self.hand_mut()?.machine.move_tool(goal, now, &q, &objects)?)
    }

    /// Begins a gripper command, in the place of one that is carried out.
    ///
    /// # Errors
    /// When the hand is picking or placing, a number of the command is outside its range, or the robot has no hand.
    pub fn set_gripper(&mut self, command: &StatedCommand) -> Result<(), RehearsalError> {
        let begun = self.now();
        let hand = self.hand_mut()?;
        if !hand.machine.is_busy() {
            hand.set_grip();
        }
        let run = HandCommandRun::start(command, hand.tuning.command, &mut hand.machine)?;
        hand.gripper = Some(GripperRun { run, begun });
        Ok(())
    }

    /// Begins a walk in the present sample.
    ///
    /// # Errors
    /// When a walk is under way, or the robot does not walk or does not stand.
    pub fn walk(&mut self, goal: &WalkGoal) -> Result<(), RehearsalError> {
        let at = self.gait.as_ref().map(|gait| self.stance(gait));
        let (Some(gait), Some(at)) = (&mut self.gait, at) else {
            return Err(RehearsalError::NoGait);
        };
        if gait.is_busy() {
            return Err(RehearsalError::Walking);
        }
        if !gait.is_engaged() {
            return Err(RehearsalError::NotStanding);
        }
        gait.start(goal, at);
        Ok(())
    }

    /// Begins a change of tools, in the present sample.
    ///
    /// # Errors
    /// When an act is under way, something is held, a place is not reached, or the robot has no such tool.
    pub fn change_tool(
        &mut self,
        tool: &str,
        settings: ToolChangeSettings,
    ) -> Result<(), RehearsalError> {
        if self.is_busy() {
            return Err(PlanError::Busy.into());
        }
        if self.is_holding() {
            return Err(PlanError::Holding.into());
        }
        self.prepare();
        let present = self.tool().unwrap_or_default().to_owned();
        let Some(mut tools) = self.tools.take() else { return Err(RehearsalError::NoTools) };
        let begun = tools.start([&present, tool], self.layout(), &self.instant(), settings);
        self.tools = Some(tools);
        begun.map_err(|(failure, why)| RehearsalError::Tool { failure, why })
    }

    /// Begins an act in the present sample, as the nodes begin a goal that comes while time stands still.
    ///
    /// # Errors
    /// When it cannot be planned, or the robot does not take the command of its first sample.
    pub fn begin(&mut self, act: &Act) -> Result<(), RehearsalError> {
        self.begin_to_answer()?;
        match act {
            Act::PickAndPlace(goal) => self.start(goal),
            Act::Place { at, speed_scale } => {
                self.hand_mut()?.set_speeds(speed_share(*speed_scale)?);
                self.place(*at)
            }
            Act::SetGripper(command) => self.set_gripper(command),
            Act::Move(goal) => {
                self.hand_mut()?.set_speeds(1.0);
                self.move_tool(goal)
            }
            Act::Stated(stated) => {
                let hand = self.hand_mut()?;
                *hand.machine.settings_mut() = stated.settings(hand.usual_settings())?;
                hand.set_grip();
                let goal = stated.goal(hand.defaults())?;
                self.start(&goal)
            }
            Act::Walk(goal) => self.walk(goal),
            Act::ChangeTool { tool, settings } => self.change_tool(tool, *settings),
        }
    }
}
