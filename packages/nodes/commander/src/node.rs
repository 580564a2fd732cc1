//! The node: services, actions, and what the twin hears.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

use karakuri_commander::{Settings, open_log, read_envelope};
use karakuri_commands::{Verb, View};
use karakuri_hand_goals::{WorldFrame, hand_topic, objects};
use karakuri_rehearsal::CellFile;
use karakuri_ros::msg::diagnostic_msgs::msg::DiagnosticArray;
use karakuri_ros::msg::karakuri_msgs::action::Command;
use karakuri_ros::msg::karakuri_msgs::msg::ObjectStates;
use karakuri_ros::msg::karakuri_msgs::srv::{Ask, Decide};
use karakuri_ros::msg::sensor_msgs::msg::JointState;
use karakuri_ros::{Node, Status, qos, time_from_message};
use karakuri_spatial::Time;

use crate::calls::{Asked, Desk};
use crate::door::{Door, Terms};
use crate::feed::Feed;
use crate::goal::Hand;
use crate::opening::Opening;
use crate::parameters::Parameters;
use crate::time::SimulationTime;
use crate::twin::{Nodes, Running, Twin};

/// Verbs that are services: they move nothing, or stop what moves.
const ASKED: [Verb; 4] = [Verb::Look, Verb::Status, Verb::Log, Verb::Stop];
/// Verbs that are actions.
const ORDERED: [Verb; 6] =
    [Verb::Pick, Verb::Place, Verb::Move, Verb::SetGripper, Verb::Home, Verb::Act];

/// State of the node.
pub(crate) struct CommanderNode {
    desk: Desk,
    feed: Arc<Feed>,
    /// Name by which the controller reports itself.
    controller: String,
    door: Arc<Mutex<Option<Door>>>,
    hand: Hand,
    running: Running,
}

/// Opens scene, envelope and log, offers the verbs, and looks for the nodes.
pub(crate) fn new(
    node: &mut Node<CommanderNode>,
) -> Result<CommanderNode, Box<dyn std::error::Error>> {
    let parameters = Parameters::declare(node)?;
    let file = |name: &str, path: String| {
        let given = (!path.is_empty()).then(|| PathBuf::from(path));
        given.ok_or_else(|| format!("parameter `{name}` is empty; give the path of a file"))
    };
    let envelope = read_envelope(&file("envelope", parameters.envelope.get())?)?;
    let scene = file("scene", parameters.scene.get())?;
    let (tail, log) = open_log(&file("audit", parameters.audit.get())?)?;
    let period = parameters.period.get();
    let scene = CellFile { period, settle: 0.0, ..CellFile::new(&scene) };
    let (cell, urdf) = scene.open_with_urdf()?;
    let hand_joint = cell.machine.opening_hand().map(|hand| hand.fingers().joint());
    let feed = Arc::new(Feed::new(&hand_topic(cell.model(), hand_joint)?));
    node.subscribe("joint_states", qos::each(), |node: &mut CommanderNode, m: &JointState| {
        node.feed.hear_state(time_from_message(&m.header.stamp).nanoseconds(), m);
    })?;
    node.subscribe("joint_command", qos::each(), |node: &mut CommanderNode, m: &JointState| {
        node.feed.hear_command(time_from_message(&m.header.stamp).nanoseconds(), m);
    })?;
    node.subscribe("/objects", qos::each(), |node: &mut CommanderNode, m: &ObjectStates| {
        let stamp = time_from_message(&m.header.stamp).nanoseconds();
        node.feed.hear_sighting(stamp, objects(m, &WorldFrame));
    })?;
    node.subscribe("/diagnostics", qos::state(), on_diagnostics)?;
    let hand = Hand::new(node)?;
    let nodes = Nodes {
        feed: Arc::clone(&feed),
        hand: hand.clone(),
        time: SimulationTime(node.service_client("sim/set_simulation_state")?),
        period: Time::ZERO.plus_seconds(period).nanoseconds(),
    };
    let view = Some(parameters.view.get()).filter(|file| !file.is_empty());
    let desk = Desk {
        commander: Arc::new(OnceLock::new()),
        principal: parameters.principal.get().into(),
        view: view.map(|file| View::read(Path::new(&file))).transpose()?.map(Arc::new),
    };
    offer(node)?;
    node.diagnose("commands", diagnose);
    let door = Arc::new(Mutex::new(None));
    let twin = Twin::new(cell, nodes);
    let running = twin.running();
    let settings = move |twin| Settings { robot: Box::new(twin), urdf, envelope, log, tail };
    let opening = Opening {
        commander: Arc::clone(&desk.commander),
        terms: Terms::of(&parameters),
        door: Arc::clone(&door),
        stop: node.stop(),
    };
    thread::Builder::new()
        .name("commander".to_owned())
        .spawn(move || opening.run(twin, settings))?;
    let namespace = node.full_name().trim_end_matches(node.name()).trim_start_matches('/');
    let controller = format!("{namespace}feedforward_controller: ");
    Ok(CommanderNode { desk, feed, controller, door, hand, running })
}

fn offer(node: &mut Node<CommanderNode>) -> Result<(), karakuri_ros::RosError> {
    for verb in ASKED {
        node.service::<Ask::Service>(
            &format!("~/{verb}"),
            move |node: &mut CommanderNode, request| node.desk.ask(verb, request),
        )?;
    }
    for verb in ORDERED {
        node.action_server::<Command::Action>(
            &format!("~/{verb}"),
            move |node: &mut CommanderNode, request| {
                node.desk.begin(Asked::Verb(verb), request);
            },
        )?;
    }
    node.action_server::<Command::Action>(
        "~/function_call",
        |node: &mut CommanderNode, request| {
            node.desk.begin(Asked::FunctionCall, request);
        },
    )?;
    node.service::<Decide::Service>("~/decide", |node: &mut CommanderNode, request| {
        node.desk.decide(request)
    })
}

/// Looks whether the controller waits for the hand.
fn on_diagnostics(node: &mut CommanderNode, message: &DiagnosticArray) {
    let mut of_controller =
        message.status.iter().filter(|status| status.name.starts_with(&node.controller));
    let awaited = of_controller.find_map(|status| {
        status.values.iter().find(|value| value.key == "awaits").map(|value| &value.value)
    });
    if let Some(topics) = awaited {
        node.feed.hear_awaited(topics);
    }
}

fn diagnose(node: &mut CommanderNode) -> Status {
    match node.desk.commander.get() {
        Some(_) => Status::ok("taking commands"),
        None => Status::warn("looking for `sim`, `feedforward_controller` and `gripper`"),
    }
}

impl Drop for CommanderNode {
    /// Brakes what moves: nobody watches it any more.
    fn drop(&mut self) {
        if let Some(goal) = self.running.goal() {
            self.hand.cancel_now(&goal);
        }
        drop(self.door.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}
