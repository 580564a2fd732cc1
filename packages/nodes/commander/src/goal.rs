//! Goals of the actions of hand and walk: what acts become.

use std::time::Duration;

use karakuri_commander::Order;
use karakuri_commands::{Code, Refusal};
use karakuri_gait::planner::{StraightWalk, WalkCommand, WalkGoal};
use karakuri_grasp::gripper_command::StatedCommand;
use karakuri_grasp::pick_and_place::{Failure, PickAndPlaceResult, Stage};
use karakuri_grasp::tool_change::{ToolChangeFailure, ToolChangeResult, ToolChangeSettings};
use karakuri_hand_goals::{
    Asked, WorldFrame, asked, failure_of_code, move_message, place_message, statement_message,
    tool_failure_of_code, tool_move,
};
use karakuri_model::Shape;
use karakuri_rehearsal::{Act, Cell, Ended, WalkEnd, WalkTrouble};
use karakuri_ros::msg::control_msgs::action::GripperCommand;
use karakuri_ros::msg::control_msgs::msg::GripperCommand as CommandMessage;
use karakuri_ros::msg::karakuri_msgs::action::{ChangeTool, MoveTool, PickAndPlace, Walk};
use karakuri_ros::{ActionClient, ClientGoal, ClientGoalState, Node, RosError};
use karakuri_spatial::Vector3;

/// Wall time in which a goal must be taken; a gripper that has just started again waits up to 25 s for its controller.
pub(crate) const ANSWER_TIME: Duration = Duration::from_secs(30);

/// Clients of the actions that the robot has.
#[derive(Debug, Clone)]
pub(crate) struct Clients {
    hand: Option<Hand>,
    walk: Option<ActionClient<Walk::Action>>,
    tools: Option<ActionClient<ChangeTool::Action>>,
}

/// Clients of the hand's actions.
#[derive(Debug, Clone)]
struct Hand {
    pick: ActionClient<PickAndPlace::Action>,
    tool: ActionClient<MoveTool::Action>,
    grip: ActionClient<GripperCommand::Action>,
}

/// A goal that was sent.
#[derive(Debug, Clone)]
pub(crate) enum Goal {
    Pick(ClientGoal<PickAndPlace::Action>),
    Tool(ClientGoal<MoveTool::Action>),
    Grip(ClientGoal<GripperCommand::Action>),
    Walk(ClientGoal<Walk::Action>),
    Change(ClientGoal<ChangeTool::Action>),
}

impl Hand {
    fn new<S: 'static>(node: &mut Node<S>) -> Result<Self, RosError> {
        Ok(Self {
            pick: node.action_client("pick_and_place")?,
            tool: node.action_client("move_tool")?,
            grip: node.action_client("gripper_cmd")?,
        })
    }

    fn is_ready(&self) -> bool {
        self.pick.is_ready() && self.tool.is_ready() && self.grip.is_ready()
    }

    fn send(&self, order: &Order, cell: &Cell) -> Option<Goal> {
        Some(match &order.sent {
            Act::Stated(stated) => {
                let goal = statement_message(stated, &vertices(order, cell));
                Goal::Pick(self.pick.send(goal, ANSWER_TIME))
            }
            Act::Place { at, speed_scale } => {
                Goal::Pick(self.pick.send(place_message(at, *speed_scale), ANSWER_TIME))
            }
            Act::Move(goal) => Goal::Tool(self.tool.send(move_message(goal), ANSWER_TIME)),
            Act::SetGripper(StatedCommand { position, effort, .. }) => {
                let command = CommandMessage { position: *position, max_effort: *effort };
                Goal::Grip(self.grip.send(GripperCommand::Goal { command }, ANSWER_TIME))
            }
            Act::PickAndPlace(_) | Act::Walk(_) | Act::ChangeTool { .. } => return None,
        })
    }
}

impl Clients {
    pub(crate) fn new<S: 'static>(node: &mut Node<S>, cell: &Cell) -> Result<Self, RosError> {
        // With the bare arm they are those of the tools in the dock.
        let has_hand = cell.hand.is_some() || cell.tools.is_some();
        let hand = has_hand.then(|| Hand::new(node)).transpose()?;
        let walk = cell.gait.as_ref().map(|_| node.action_client("walk")).transpose()?;
        let tools = cell.tools.as_ref().map(|_| node.action_client("change_tool")).transpose()?;
        Ok(Self { hand, walk, tools })
    }

    /// What is not there yet.
    pub(crate) fn missing(&self) -> Option<&'static str> {
        if self.hand.as_ref().is_some_and(|hand| !hand.is_ready()) {
            return Some("the actions of `gripper`");
        }
        if self.walk.as_ref().is_some_and(|walk| !walk.is_ready()) {
            return Some("the action of `gait_planner`");
        }
        let tools = self.tools.as_ref().filter(|tools| !tools.is_ready());
        tools.map(|_| "the action of `tool_changer`")
    }

    /// Cancels a goal at once, as nothing is sent any more once the node has ended.
    pub(crate) fn cancel_now(&self, goal: &Goal) {
        goal.cancel();
        if let Some(Hand { pick, tool, grip }) = &self.hand {
            pick.flush();
            tool.flush();
            grip.flush();
        }
        if let Some(walk) = &self.walk {
            walk.flush();
        }
        if let Some(tools) = &self.tools {
            tools.flush();
        }
    }

    /// Sends an order to what carries it out.
    ///
    /// # Errors
    /// When no action takes it.
    pub(crate) fn send(&self, order: &Order, cell: &Cell) -> Result<Goal, Refusal> {
        let sent = match &order.sent {
            Act::Walk(goal) => self.walk.as_ref().and_then(|walk| {
                walk_message(goal).map(|goal| Goal::Walk(walk.send(goal, ANSWER_TIME)))
            }),
            Act::ChangeTool { tool, settings } => self
                .tools
                .as_ref()
                .map(|tools| Goal::Change(tools.send(change_message(tool, settings), ANSWER_TIME))),
            _ => self.hand.as_ref().and_then(|hand| hand.send(order, cell)),
        };
        sent.ok_or_else(unknown)
    }
}

/// Goal of the planner's action for a walk along a line, or a turn; `None` for others.
fn walk_message(goal: &WalkGoal) -> Option<Walk::Goal> {
    match &goal.command {
        WalkCommand::Straight(StraightWalk { distance, steps, speed, heading }) => {
            Some(Walk::Goal {
                distance: *distance,
                steps: *steps,
                speed: *speed,
                heading: *heading,
                turn: goal.turn.unwrap_or(0.0),
                ..Walk::Goal::default()
            })
        }
        WalkCommand::Turn(turn) => Some(Walk::Goal { turn: *turn, ..Walk::Goal::default() }),
        _ => None,
    }
}

/// Goal of the changer's action; that it weighs, and from how high, is its own.
fn change_message(tool: &str, settings: &ToolChangeSettings) -> ChangeTool::Goal {
    ChangeTool::Goal {
        tool: tool.to_owned(),
        max_speed: settings.speed,
        max_acceleration: settings.acceleration,
    }
}

fn unknown() -> Refusal {
    Refusal::new(Code::InvalidGoal, "use a verb that this robot has")
}

/// An order whose act is to the bits with which the hand reads it from its goal, which has quaternions for rotations.
///
/// # Errors
/// When it reads no such thing.
pub(crate) fn as_read(order: Order, cell: &Cell) -> Result<Order, Refusal> {
    let misread = |why: String| {
        Refusal::new(Code::InvalidGoal, "choose what this hand can do").of("why", why)
    };
    let read = |goal: &PickAndPlace::Goal| asked(goal, &WorldFrame).map_err(misread);
    let act = match &order.sent {
        Act::Stated(stated) => match read(&statement_message(stated, &vertices(&order, cell)))? {
            Asked::Task(stated) => Act::Stated(stated),
            Asked::Place(_) => return Err(unknown()),
        },
        Act::Place { at, speed_scale } => match read(&place_message(at, *speed_scale))? {
            Asked::Place(at) => Act::Place { at, speed_scale: *speed_scale },
            Asked::Task(_) => return Err(unknown()),
        },
        Act::Move(goal) => {
            let usual = cell.hand.as_ref().ok_or_else(unknown)?.usual_settings();
            let goal = tool_move(&move_message(goal), &WorldFrame, usual);
            Act::Move(goal.map_err(misread)?)
        }
        other => other.clone(),
    };
    Ok(Order { act, ..order })
}

/// Vertices of the mesh that an order is about; none of other shapes. [m] (3 each)
fn vertices(order: &Order, cell: &Cell) -> Vec<Vector3> {
    let world = cell.io.world();
    let body = order.object.as_ref().and_then(|name| world.find_body(name));
    match body.map(|id| &world.body(id).description().shape) {
        Some(Shape::Mesh(mesh)) => mesh.vertices.iter().map(|&v| Vector3::from(v)).collect(),
        _ => Vec::new(),
    }
}

impl Goal {
    pub(crate) fn state(&self) -> ClientGoalState {
        match self {
            Self::Pick(goal) => goal.state(),
            Self::Tool(goal) => goal.state(),
            Self::Grip(goal) => goal.state(),
            Self::Walk(goal) => goal.state(),
            Self::Change(goal) => goal.state(),
        }
    }

    pub(crate) fn is_final(&self) -> bool {
        self.state().is_final()
    }

    pub(crate) fn cancel(&self) {
        match self {
            Self::Pick(goal) => goal.cancel(),
            Self::Tool(goal) => goal.cancel(),
            Self::Grip(goal) => goal.cancel(),
            Self::Walk(goal) => goal.cancel(),
            Self::Change(goal) => goal.cancel(),
        }
    }

    /// Whether what carries it out knows that it is to cancel.
    pub(crate) fn is_cancel_answered(&self) -> bool {
        match self {
            Self::Pick(goal) => goal.is_cancel_answered(),
            Self::Tool(goal) => goal.is_cancel_answered(),
            Self::Grip(goal) => goal.is_cancel_answered(),
            Self::Walk(goal) => goal.is_cancel_answered(),
            Self::Change(goal) => goal.is_cancel_answered(),
        }
    }

    /// End of an act that the robot ended by itself, beside that of its cell.
    pub(crate) fn ended(&self, own: Option<&Ended>) -> Ended {
        let succeeded = self.state() == ClientGoalState::Succeeded;
        let own_hand = own.and_then(Ended::hand).cloned();
        let hand = |failure, message: String, retries| {
            let stage = Stage::Done;
            let own = own_hand.clone().unwrap_or_default();
            Ended::Hand(PickAndPlaceResult { failure, stage, message, retries, ..own })
        };
        let canceled = Some(Failure::Canceled);
        let known = |code: u8| if succeeded { None } else { failure_of_code(code).or(canceled) };
        match self {
            Self::Pick(goal) => goal.result().map_or_else(
                || hand(Some(Failure::RobotLost), "`gripper` went away".to_owned(), 0),
                |result| {
                    let retries = u32::from(result.retries);
                    hand(known(result.error_code), result.message.clone(), retries)
                },
            ),
            Self::Tool(goal) => goal.result().map_or_else(
                || hand(Some(Failure::RobotLost), "`gripper` went away".to_owned(), 0),
                |result| hand(known(result.error_code), result.message.clone(), 0),
            ),
            Self::Grip(_) => {
                let failure = (!succeeded).then_some(Failure::Blocked);
                hand(failure, "as commanded".to_owned(), 0)
            }
            Self::Walk(goal) => {
                let message = goal.result().map(|result| result.message.clone());
                let trouble = match goal.result().map(|result| u32::from(result.error_code)) {
                    _ if succeeded => None,
                    Some(code) if code == Walk::Result::UNREACHABLE as u32 => {
                        Some(WalkTrouble::Unreachable)
                    }
                    Some(code) if code == Walk::Result::FELL as u32 => Some(WalkTrouble::Fell),
                    Some(code) if code == Walk::Result::CANCELED as u32 => {
                        Some(WalkTrouble::Canceled)
                    }
                    _ => Some(WalkTrouble::NotFollowing),
                };
                let message = message.unwrap_or_else(|| "`gait_planner` went away".to_owned());
                Ended::Walk(WalkEnd { trouble, message, ..WalkEnd::default() })
            }
            Self::Change(goal) => Ended::Tool(goal.result().map_or_else(
                || ToolChangeResult {
                    failure: Some(ToolChangeFailure::RobotLost),
                    message: "`tool_changer` went away".to_owned(),
                    mass: 0.0,
                },
                |result| {
                    let known = tool_failure_of_code(result.error_code);
                    let failure = known.or(Some(ToolChangeFailure::Canceled));
                    ToolChangeResult {
                        failure: failure.filter(|_| !succeeded),
                        message: result.message.clone(),
                        mass: result.mass,
                    }
                },
            )),
        }
    }

    /// Whether it is under way or reached.
    ///
    /// # Errors
    /// Why it was not taken, or given up at once.
    pub(crate) fn taken(&self) -> Result<(), Refusal> {
        let why = match self.state() {
            ClientGoalState::Executing | ClientGoalState::Succeeded => return Ok(()),
            ClientGoalState::Rejected => "the goal was rejected".to_owned(),
            ClientGoalState::Sending | ClientGoalState::TimedOut => {
                format!("the goal was not answered within {} s", ANSWER_TIME.as_secs())
            }
            ClientGoalState::Aborted | ClientGoalState::Canceled => self.said(),
            _ => "its server went away".to_owned(),
        };
        let hint = "look at the log of `gripper` or `gait_planner`: the goal is not taken";
        Err(Refusal::new(Code::RobotLost, hint).of("why", why))
    }

    /// What was said at the end, of goals that have a text.
    fn said(&self) -> String {
        let said = match self {
            Self::Pick(goal) => goal.result().map(|result| result.message.clone()),
            Self::Tool(goal) => goal.result().map(|result| result.message.clone()),
            Self::Walk(goal) => goal.result().map(|result| result.message.clone()),
            Self::Change(goal) => goal.result().map(|result| result.message.clone()),
            Self::Grip(_) => None,
        };
        said.unwrap_or_default()
    }
}
