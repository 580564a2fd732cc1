//! Settings of the nodes, which their cell takes.

use std::time::Duration;

use karakuri_commander::Order;
use karakuri_commands::{Code, Refusal};
use karakuri_grasp::gripper_command::CommandUnit;
use karakuri_rehearsal::{Act, Cell, HandTuning, Tuning, WalkTuning};
use karakuri_ros::{Node, ParameterClient, RemoteParameters, RosError};
use karakuri_settings::{
    ControlParameters, HandParameters, StabilizerParameters, ToolChangeParameters, WalkParameters,
};

use crate::time::wait_for;

/// Wall time in which a node answers each of the two questions for its parameters.
const ANSWER_TIME: Duration = Duration::from_secs(5);

/// The same where a robot is under way.
const EXPLAIN_TIME: Duration = Duration::from_secs(1);

/// What asks the nodes for their settings, and what they said last.
#[derive(Debug)]
pub(crate) struct NodeSettings {
    controller: Asked,
    hand: Option<Asked>,
    walk: Option<Asked>,
    tools: Option<Asked>,
    unit: CommandUnit,
}

/// A node that is asked for its parameters.
#[derive(Debug)]
struct Asked {
    name: &'static str,
    client: ParameterClient,
    values: RemoteParameters,
}

impl Asked {
    fn new<S: 'static>(node: &mut Node<S>, name: &'static str) -> Result<Self, RosError> {
        let (client, values) = (node.parameter_client(name)?, RemoteParameters::default());
        Ok(Self { name, client, values })
    }
}

impl NodeSettings {
    /// Settings of the nodes that move the robot of a cell.
    pub(crate) fn new<S: 'static>(node: &mut Node<S>, cell: &Cell) -> Result<Self, RosError> {
        let has_hand = cell.hand.is_some() || cell.tools.is_some();
        let mut asked = |is_there: bool, name| is_there.then(|| Asked::new(node, name)).transpose();
        let hand = asked(has_hand, "gripper")?;
        let walk = asked(cell.gait.is_some(), "gait_planner")?;
        let tools = asked(cell.tools.is_some(), "tool_changer")?;
        let controller = Asked::new(node, "feedforward_controller")?;
        Ok(Self { controller, hand, walk, tools, unit: CommandUnit::Opening })
    }

    /// What is not there yet.
    pub(crate) fn missing(&self) -> Option<&'static str> {
        let is_missing =
            |asked: &Option<Asked>| asked.as_ref().is_some_and(|a| !a.client.is_ready());
        if !self.controller.client.is_ready() {
            Some("the parameters of `feedforward_controller`")
        } else if is_missing(&self.hand) {
            Some("the parameters of `gripper`")
        } else if is_missing(&self.walk) {
            Some("the parameters of `gait_planner`")
        } else {
            is_missing(&self.tools).then_some("the parameters of `tool_changer`")
        }
    }

    /// Asks the nodes; what has changed since they were asked last.
    ///
    /// # Errors
    /// When a node does not answer.
    fn read(&mut self, patience: Duration) -> Result<Option<String>, Refusal> {
        let Self { controller, hand, walk, tools, .. } = self;
        let others = [hand, walk, tools].into_iter().filter_map(Option::as_mut);
        let nodes = [controller].into_iter().chain(others);
        // All at once: their answers come at about the same time.
        let asked: Vec<_> = nodes.map(|node| (node.client.read(patience), node)).collect();
        let mut change = None;
        for (mut call, node) in asked {
            let answer = wait_for(2 * patience, || call.take());
            let values = answer.and_then(Result::ok).ok_or_else(|| {
                let hint = "look whether the node is running: it does not tell its parameters";
                Refusal::new(Code::RobotLost, hint).of("node", node.name)
            })?;
            let differs = values.difference(&node.values);
            change = change.or(differs.map(|differs| format!("of `{}` {differs}", node.name)));
            node.values = values;
        }
        Ok(change)
    }

    /// Settings of the robot of a cell, by what the nodes said last.
    ///
    /// # Errors
    /// When they are no settings of this robot.
    fn tuning(&mut self, cell: &Cell) -> Result<Tuning, RosError> {
        let control = ControlParameters::declare(&mut self.controller.values, cell.model())?;
        let mut tuning = Tuning {
            control: control.feedforward(),
            gains: control.gains(),
            constraints: control.constraints(),
            ..cell.tuning().clone()
        };
        if let Some(hand) = &mut self.hand {
            let hand = HandParameters::declare(&mut hand.values)?;
            self.unit = hand.command_unit();
            tuning.hand = HandTuning {
                pick_and_place: hand.pick_and_place(),
                grip: hand.grip(),
                command: hand.command(),
                unstated: hand.unstated(),
            };
        }
        if let (Some(walk), Some(gait)) = (&mut self.walk, &cell.gait) {
            let generator = gait.engine().generator();
            let (biped, file) = (&generator.biped, &generator.settings);
            let gains = StabilizerParameters::declare(&mut walk.values, biped, file)?;
            let parameters = WalkParameters::declare(&mut walk.values)?;
            let walker = parameters.walker();
            let stabilizer = Some(gains.get(&file.stabilizer));
            tuning.walk = WalkTuning { stabilizer, walker, without_imu: !parameters.use_imu.get() };
        }
        if let Some(tools) = &mut self.tools {
            tuning.tool_change = ToolChangeParameters::declare(&mut tools.values)?.settings();
        }
        Ok(tuning)
    }

    /// Asks the nodes, and gives what they have to a cell and to the same at its start; what has changed, if that changes what they do.
    ///
    /// # Errors
    /// When a node does not answer, or its parameters are not those of this robot.
    pub(crate) fn tune(
        &mut self,
        cell: &mut Cell,
        fresh: &mut Cell,
    ) -> Result<Option<String>, Refusal> {
        let other = |why: String| {
            let hint = "look whether `scene` and `gait` are those of the robot";
            Refusal::new(Code::RobotLost, hint).of("parameters", why)
        };
        let change = self.read(ANSWER_TIME)?;
        let tuning = self.tuning(cell).map_err(|error| other(error.to_string()))?;
        if tuning == *cell.tuning() {
            return Ok(None);
        }
        for cell in [cell, fresh] {
            cell.tune(&tuning).map_err(|error| other(error.to_string()))?;
        }
        Ok(Some(change.unwrap_or_default()))
    }

    /// What has changed since the nodes were asked last, if a cell of their robot is not as they are any more.
    pub(crate) fn explain(&mut self, cell: &Cell) -> Option<String> {
        let change = self.read(EXPLAIN_TIME).ok()??;
        let tuning = self.tuning(cell).ok()?;
        (tuning != *cell.tuning()).then_some(change)
    }

    /// An order that the nodes understand.
    ///
    /// # Errors
    /// When they take openings for positions of a joint.
    pub(crate) fn understood(&self, order: Order) -> Result<Order, Refusal> {
        if self.unit == CommandUnit::Joint && matches!(order.act, Act::SetGripper(_)) {
            let hint = "set the parameter `joint_positions` of `gripper` to false";
            return Err(Refusal::new(Code::InvalidGoal, hint));
        }
        Ok(order)
    }
}
