//! The node: its services and actions.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

use karakuri_commander::{Settings, open_log, read_envelope, verbs};
use karakuri_commands::{Verb, View};
use karakuri_rehearsal::CellFile;
use karakuri_ros::msg::karakuri_msgs::action::Command;
use karakuri_ros::msg::karakuri_msgs::srv::{Ask, Decide, Lift, Picture};
use karakuri_ros::{Node, Status};

use crate::calls::{Asked, Desk};
use crate::door::{Door, Terms};
use crate::goal::Clients;
use crate::nodes::Nodes;
use crate::opening::Opening;
use crate::parameters::Parameters;
use crate::running::Running;

/// Verbs that are services: they move nothing, or stop what moves. The others are actions.
const ASKED: [Verb; 4] = [Verb::Look, Verb::Status, Verb::Log, Verb::Stop];

/// State of the node.
pub(crate) struct CommanderNode {
    desk: Desk,
    door: Arc<Mutex<Option<Door>>>,
    clients: Clients,
    running: Running,
}

/// Opens scene, envelope and log, offers the verbs, and looks for the nodes.
pub(crate) fn new(
    node: &mut Node<CommanderNode>,
) -> Result<CommanderNode, Box<dyn std::error::Error>> {
    let parameters = Parameters::declare(node)?;
    let given = |path: String| Some(path).filter(|path| !path.is_empty()).map(PathBuf::from);
    let file = |name: &str, path: String| {
        let missing = || format!("parameter `{name}` is empty; give the path of a file");
        given(path).ok_or_else(missing)
    };
    let envelope = read_envelope(&file("envelope", parameters.envelope.get())?)?;
    let scene = file("scene", parameters.scene.get())?;
    let (tail, log) = open_log(&file("audit", parameters.audit.get())?)?;
    let period = parameters.period.get();
    let (gait, tools) = (given(parameters.gait.get()), given(parameters.tools.get()));
    let is_lockstep = parameters.lockstep.get();
    if is_lockstep && tools.is_some() {
        let why = "parameter `tools`: nodes that change tools start again with each, at moments of their own; set `lockstep` to false";
        return Err(why.into());
    }
    let settle = if is_lockstep { 0.0 } else { CellFile::SETTLE };
    let scene = CellFile { gait, tools, period, settle, ..CellFile::new(&scene) };
    let (cell, urdf) = scene.open_with_urdf()?;
    let offered = verbs(&cell);
    let clients = Clients::new(node, &cell)?;
    let robot = if is_lockstep {
        Nodes::twin(node, cell, clients.clone(), period)?
    } else {
        Nodes::follower(node, cell, clients.clone())?
    };
    let desk = Desk {
        commander: Arc::new(OnceLock::new()),
        principal: parameters.principal.get().into(),
        view: given(parameters.view.get()).map(|file| View::read(&file)).transpose()?.map(Arc::new),
    };
    offer(node, &offered)?;
    node.diagnose("commands", diagnose);
    let door = Arc::new(Mutex::new(None));
    let running = robot.running();
    let settings = move |robot| Settings { robot, urdf, envelope, log, tail };
    let opening = Opening {
        commander: Arc::clone(&desk.commander),
        terms: Terms::of(&parameters),
        door: Arc::clone(&door),
        stop: node.stop(),
    };
    thread::Builder::new()
        .name("commander".to_owned())
        .spawn(move || opening.run(|| robot.start(), settings))?;
    Ok(CommanderNode { desk, door, clients, running })
}

fn offer(node: &mut Node<CommanderNode>, verbs: &[Verb]) -> Result<(), karakuri_ros::RosError> {
    for &verb in verbs {
        let name = format!("~/{verb}");
        if ASKED.contains(&verb) {
            node.service::<Ask::Service>(&name, move |node: &mut CommanderNode, request| {
                node.desk.ask(verb, request)
            })?;
        } else {
            node.action_server::<Command::Action>(
                &name,
                move |node: &mut CommanderNode, request| {
                    node.desk.begin(Asked::Verb(verb), request);
                },
            )?;
        }
    }
    node.action_server::<Command::Action>(
        "~/function_call",
        |node: &mut CommanderNode, request| {
            node.desk.begin(Asked::FunctionCall, request);
        },
    )?;
    node.service::<Decide::Service>("~/decide", |node: &mut CommanderNode, request| {
        node.desk.decide(request)
    })?;
    node.service::<Lift::Service>("~/lift", |node: &mut CommanderNode, request| {
        node.desk.lift(request)
    })?;
    node.service_later::<Picture::Service>("~/picture", |node: &mut CommanderNode, request| {
        node.desk.draw(request);
    })
}

fn diagnose(node: &mut CommanderNode) -> Status {
    match node.desk.commander.get() {
        Some(_) => Status::ok("taking commands"),
        None => Status::warn(
            "looking for `sim` or `driver`, `feedforward_controller` and `gripper` or `gait_planner`",
        ),
    }
}

impl Drop for CommanderNode {
    /// Brakes what moves: nobody watches it any more.
    fn drop(&mut self) {
        if let Some(goal) = self.running.goal() {
            self.clients.cancel_now(&goal);
        }
        drop(self.door.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}
