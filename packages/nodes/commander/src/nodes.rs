//! The nodes of a robot: in lockstep with a twin, else with a cell that is put where they are.

use std::sync::Arc;

use karakuri_commander::Robot;
use karakuri_commands::Refusal;
use karakuri_hand_goals::{WorldFrame, hand_topic, objects};
use karakuri_rehearsal::Cell;
use karakuri_ros::msg::diagnostic_msgs::msg::DiagnosticArray;
use karakuri_ros::msg::karakuri_msgs::msg::{GripState, ObjectStates};
use karakuri_ros::msg::sensor_msgs::msg::JointState;
use karakuri_ros::msg::std_msgs::msg::{Header, String as StringMessage};
use karakuri_ros::{IntoMessage, Node, qos, time_from_message};
use karakuri_spatial::Time;

use crate::feed::Feed;
use crate::follower::{Follower, Latest};
use crate::goal::Clients;
use crate::running::Running;
use crate::settings::NodeSettings;
use crate::time::SimulationTime;
use crate::twin::{Connections, Twin};

/// Topic of the references of a walk.
const WALK: &str = "joint_trajectory";

type Error = Box<dyn std::error::Error>;

/// Robot of nodes that are looked for.
pub(crate) enum Nodes {
    InLockstep(Box<Twin>),
    Free(Box<Follower>),
}

impl Nodes {
    /// Nodes in lockstep, with the cell of their scene before its first sample, and the time between two samples. [s]
    pub(crate) fn twin<S: 'static>(
        node: &mut Node<S>,
        cell: Cell,
        clients: Clients,
        period: f64,
    ) -> Result<Self, Error> {
        let feed = Arc::new(Feed::new(sources(&cell)?, node.waker()));
        let of = |feed: &Arc<Feed>| Arc::clone(feed);
        let heard = of(&feed);
        node.subscribe("joint_states", qos::each(), move |_: &mut S, m: &JointState| {
            heard.hear_state(time_from_message(&m.header.stamp).nanoseconds(), m);
        })?;
        let heard = of(&feed);
        node.subscribe("joint_command", qos::each(), move |_: &mut S, m: &JointState| {
            heard.hear_command(time_from_message(&m.header.stamp).nanoseconds(), m);
        })?;
        let heard = of(&feed);
        node.subscribe("/objects", qos::each(), move |_: &mut S, m: &ObjectStates| {
            let stamp = time_from_message(&m.header.stamp).nanoseconds();
            heard.hear_sighting(stamp, objects(m, &WorldFrame));
        })?;
        let (heard, seen) = (of(&feed), node.publisher("~/seen", qos::state())?);
        node.after_events(move |_| {
            if let Some(stamp) = heard.let_go(seen.n_subscribers()) {
                let stamp = Time::from_nanoseconds(stamp).to_message();
                seen.publish(&Header { stamp, ..Header::default() });
            }
        });
        let namespace = node.full_name().trim_end_matches(node.name()).trim_start_matches('/');
        let controller = format!("{namespace}feedforward_controller: ");
        let heard = of(&feed);
        node.subscribe("/diagnostics", qos::state(), move |_: &mut S, m: &DiagnosticArray| {
            if let Some(topics) = awaited(&controller, m) {
                heard.hear_awaited(topics);
            }
        })?;
        let time = SimulationTime(node.service_client("sim/set_simulation_state")?);
        let period = Time::ZERO.plus_seconds(period).nanoseconds();
        let settings = NodeSettings::new(node, &cell)?;
        let connections = Connections { feed, clients, time, settings, period };
        Ok(Self::InLockstep(Box::new(Twin::new(cell, connections))))
    }

    /// Nodes that answer when they can, with the cell of their scene at rest.
    pub(crate) fn follower<S: 'static>(
        node: &mut Node<S>,
        cell: Cell,
        clients: Clients,
    ) -> Result<Self, Error> {
        let latest = Arc::<Latest>::default();
        let heard = Arc::clone(&latest);
        node.subscribe("joint_states", qos::state(), move |_: &mut S, m: &JointState| {
            heard.hear_state(time_from_message(&m.header.stamp).nanoseconds(), m);
        })?;
        let heard = Arc::clone(&latest);
        node.subscribe("/objects", qos::state(), move |_: &mut S, m: &ObjectStates| {
            heard.hear_objects(objects(m, &WorldFrame));
        })?;
        let heard = Arc::clone(&latest);
        node.subscribe("grip_state", qos::state(), move |_: &mut S, m: &GripState| {
            // The margin is a number while something that was picked is carried.
            heard.hear_hand(m.margin.is_finite(), m.force_left.max(m.force_right));
        })?;
        if cell.tools.is_some() {
            let heard = Arc::clone(&latest);
            node.subscribe("tool", qos::latched(), move |_: &mut S, m: &StringMessage| {
                heard.hear_tool(&m.data);
            })?;
        }
        let settings = NodeSettings::new(node, &cell)?;
        Ok(Self::Free(Box::new(Follower::new(cell, clients, settings, latest))))
    }

    /// Goal that is carried out.
    pub(crate) fn running(&self) -> Running {
        match self {
            Self::InLockstep(twin) => twin.running(),
            Self::Free(follower) => follower.running(),
        }
    }

    /// Waits for the nodes; the robot, at rest.
    ///
    /// # Errors
    /// When a node is missing, or the robot is not as its cell.
    pub(crate) fn start(self) -> Result<Box<dyn Robot>, Refusal> {
        Ok(match self {
            Self::InLockstep(mut twin) => {
                twin.start()?;
                twin
            }
            Self::Free(mut follower) => {
                follower.start()?;
                follower
            }
        })
    }
}

/// Topics of the references of hand and walk.
fn sources(cell: &Cell) -> Result<Vec<String>, Error> {
    let hand = cell.machine().map(|machine| {
        let joint = machine.opening_hand().map(|hand| hand.fingers().joint());
        hand_topic(cell.model(), joint)
    });
    let walk = cell.gait.as_ref().map(|_| WALK.to_owned());
    Ok(hand.transpose()?.into_iter().chain(walk).collect())
}

/// Topics that the controller of this name waits for.
fn awaited<'m>(controller: &str, message: &'m DiagnosticArray) -> Option<&'m String> {
    let mut statuses = message.status.iter().filter(|status| status.name.starts_with(controller));
    statuses.find_map(|status| {
        status.values.iter().find(|value| value.key == "awaits").map(|value| &value.value)
    })
}
