//! Goals of the hand's actions: what acts become.

use std::time::Duration;

use karakuri_commander::Order;
use karakuri_commands::{Code, Refusal};
use karakuri_grasp::gripper_command::StatedCommand;
use karakuri_hand_goals::{
    Asked, WorldFrame, asked, move_message, place_message, statement_message, tool_move,
};
use karakuri_model::Shape;
use karakuri_rehearsal::{Act, Cell};
use karakuri_ros::msg::control_msgs::action::GripperCommand;
use karakuri_ros::msg::control_msgs::msg::GripperCommand as CommandMessage;
use karakuri_ros::msg::karakuri_msgs::action::{MoveTool, PickAndPlace};
use karakuri_ros::{ActionClient, ClientGoal, ClientGoalState, Node, RosError};
use karakuri_spatial::Vector3;

/// Wall time in which the hand must take a goal.
const ANSWER_TIME: Duration = Duration::from_secs(8);

/// Clients of the hand's actions.
#[derive(Debug, Clone)]
pub(crate) struct Hand {
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
}

impl Hand {
    pub(crate) fn new<S: 'static>(node: &mut Node<S>) -> Result<Self, RosError> {
        Ok(Self {
            pick: node.action_client("pick_and_place")?,
            tool: node.action_client("move_tool")?,
            grip: node.action_client("gripper_cmd")?,
        })
    }

    /// Whether all of the actions are there.
    pub(crate) fn is_ready(&self) -> bool {
        self.pick.is_ready() && self.tool.is_ready() && self.grip.is_ready()
    }

    /// Cancels a goal at once, as nothing is sent any more once the node has ended.
    pub(crate) fn cancel_now(&self, goal: &Goal) {
        goal.cancel();
        self.pick.flush();
        self.tool.flush();
        self.grip.flush();
    }

    /// Sends an order to what carries it out.
    ///
    /// # Errors
    /// When no action takes it.
    pub(crate) fn send(&self, order: &Order, cell: &Cell) -> Result<Goal, Refusal> {
        Ok(match &order.sent {
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
            Act::PickAndPlace(_) => return Err(unknown()),
        })
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
            let goal = tool_move(&move_message(goal), &WorldFrame, cell.usual_settings());
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
        }
    }

    /// Whether the hand knows that it is to cancel.
    pub(crate) fn is_cancel_answered(&self) -> bool {
        match self {
            Self::Pick(goal) => goal.is_cancel_answered(),
            Self::Tool(goal) => goal.is_cancel_answered(),
            Self::Grip(goal) => goal.is_cancel_answered(),
        }
    }

    /// What the hand said at the end, of goals that have a text.
    pub(crate) fn said(&self) -> String {
        let said = match self {
            Self::Pick(goal) => goal.result().map(|result| result.message.clone()),
            Self::Tool(goal) => goal.result().map(|result| result.message.clone()),
            Self::Grip(_) => None,
        };
        said.unwrap_or_default()
    }
}
