//! The node: measurements go to the session, its orders to the controller.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use karakuri_ros::msg::control_msgs::action::FollowJointTrajectory;
use karakuri_ros::msg::diagnostic_msgs::msg::DiagnosticArray;
use karakuri_ros::msg::sensor_msgs::msg::JointState;
use karakuri_ros::msg::trajectory_msgs::msg::{JointTrajectory, JointTrajectoryPoint};
use karakuri_ros::{
    ActionClient, ClientGoal, ClientGoalState, Level, Node, Status, duration_to_message, info, qos,
    time_from_message,
};
use karakuri_studio::{
    Board, LinkNews, Listening, Measurement, Settings, Studio, Token, Trajectory,
};

use crate::link::{Order, Robot, pair};
use crate::parameters::Parameters;

type Follow = FollowJointTrajectory::Action;

/// Wall time in which a controller is found: what one participant misses of another's announcement is repeated every 3 s.
const DISCOVERY_TIME: Duration = Duration::from_secs(4);
/// Wall time in which the controller must answer a goal.
const ANSWER_TIME: Duration = Duration::from_secs(8);
/// Time between two looks at the session's orders.
const LOOK: Duration = Duration::from_millis(10);
/// Time between two measurements that are passed on: as many as a screen shows.
const SHOWN: Duration = Duration::from_millis(16);

/// State of the node.
pub(crate) struct StudioNode {
    robot: Robot,
    client: ActionClient<Follow>,
    /// Trajectory of a controller that is not found yet, and since when.
    waiting: Option<(Trajectory, Instant)>,
    goal: Option<ClientGoal<Follow>>,
    /// When a measurement was passed on last.
    shown: Option<Instant>,
    /// Name by which the robot's driver reports it.
    subject: String,
    studio: Studio,
}

/// Opens the file, serves the page, and connects to the robot.
pub(crate) fn new(node: &mut Node<StudioNode>) -> Result<StudioNode, Box<dyn std::error::Error>> {
    let parameters = Parameters::declare(node)?;
    let path = |text: String| (!text.is_empty()).then(|| PathBuf::from(text));
    let Some(file) = path(parameters.file.get()) else {
        return Err("parameter `file` is empty; give the path of a URDF, motions or a scene".into());
    };
    let listen = parameters.listen.get();
    let address = match listen.as_str() {
        "" => None,
        text => Some(text.parse().map_err(|_| {
            format!("parameter `listen`: `{text}` is no address; write one as 192.168.0.2")
        })?),
    };
    let token = match path(parameters.token_file.get()) {
        Some(file) => Token::read(&file)?,
        None if address.is_some() => {
            return Err("parameter `listen` lets others in; name a secret that you give to them with `token_file`".into());
        }
        None => Token::random()?,
    };
    let settings = Settings {
        file,
        config: path(parameters.config.get()),
        folder: path(parameters.folder.get()),
        page: path(parameters.page.get()),
        board: path(parameters.board.get()).map(Board::at),
    };
    let (link, robot) = pair();
    let port = u16::try_from(parameters.port.get()).unwrap_or(0);
    let listening = Listening { address, port };
    let studio = Studio::start(&settings, Some(Box::new(link)), listening, token)?;
    node.subscribe("joint_states", qos::samples(false), on_joint_states)?;
    node.subscribe("/diagnostics", qos::state(), on_diagnostics)?;
    node.wall_timer(LOOK, look);
    node.after_events(look);
    node.diagnose("robot", diagnose);
    info!("{}", studio.address());
    if studio.lacks_page() {
        let built = Path::new("packages/web/studio");
        info!("this build has no page; build it with `./dev build` ({})", built.display());
    }
    let client = node.action_client("follow_joint_trajectory")?;
    let namespace = node.full_name().trim_end_matches(node.name()).trim_start_matches('/');
    let subject = format!("{namespace}driver: robot");
    Ok(StudioNode { robot, client, waiting: None, goal: None, shown: None, subject, studio })
}

/// Passes on what the driver says of the robot.
fn on_diagnostics(node: &mut StudioNode, message: &DiagnosticArray) {
    let Some(status) = message.status.iter().find(|status| status.name == node.subject) else {
        return;
    };
    let is_fault = status.level >= Level::Error as u8;
    let fault = if is_fault { status.message.clone() } else { String::new() };
    node.robot.tell(LinkNews::Fault(fault));
}

fn on_joint_states(node: &mut StudioNode, message: &JointState) {
    if node.shown.is_some_and(|at| at.elapsed() < SHOWN) {
        return;
    }
    node.shown = Some(Instant::now());
    node.robot.tell(LinkNews::Measured(Measurement {
        time: time_from_message(&message.header.stamp).seconds(),
        joints: message.name.clone(),
        positions: message.position.clone(),
        velocities: message.velocity.clone(),
        efforts: message.effort.clone(),
    }));
}

/// Does what the session ordered last, and tells it what became of it.
fn look(node: &mut StudioNode) {
    match node.robot.newest() {
        Some(Order::Follow(trajectory)) => node.waiting = Some((trajectory, Instant::now())),
        Some(Order::Stop) => {
            node.waiting = None;
            if let Some(goal) = node.goal.take() {
                // The controller holds the robot where it is.
                goal.cancel();
            }
        }
        None => {}
    }
    if node.client.is_ready()
        && let Some((trajectory, _)) = node.waiting.take()
    {
        let goal = FollowJointTrajectory::Goal {
            trajectory: message(&trajectory),
            ..FollowJointTrajectory::Goal::default()
        };
        // The controller gives the one before up by itself.
        node.goal = Some(node.client.send(goal, ANSWER_TIME));
    }
    if node.waiting.take_if(|(_, since)| since.elapsed() > DISCOVERY_TIME).is_some() {
        let why = "there is no controller; start `feedforward_controller` of the robot";
        node.robot.tell(LinkNews::Refused(why.to_owned()));
    }
    let Some(goal) = node.goal.as_ref().filter(|goal| goal.is_final()) else { return };
    let said = goal.result().map(|r| r.error_string.clone()).unwrap_or_default();
    let news = match goal.state() {
        ClientGoalState::Succeeded => LinkNews::Arrived,
        ClientGoalState::Rejected => {
            LinkNews::Refused("the controller rejected the trajectory".to_owned())
        }
        ClientGoalState::TimedOut => LinkNews::Refused("the controller did not answer".to_owned()),
        ClientGoalState::Lost => LinkNews::Refused("the controller went away".to_owned()),
        _ if said.is_empty() => LinkNews::Refused("another client moves the robot".to_owned()),
        _ => LinkNews::Refused(said),
    };
    node.goal = None;
    node.robot.tell(news);
}

fn message(trajectory: &Trajectory) -> JointTrajectory {
    let points = trajectory.points.iter().map(|point| JointTrajectoryPoint {
        positions: point.positions.clone(),
        velocities: point.velocities.clone(),
        time_from_start: duration_to_message(point.time),
        ..JointTrajectoryPoint::default()
    });
    JointTrajectory {
        joint_names: trajectory.joints.clone(),
        points: points.collect(),
        ..JointTrajectory::default()
    }
}

fn diagnose(node: &mut StudioNode) -> Status {
    let status = match node.shown {
        None => Status::warn("no `joint_states` yet"),
        Some(at) if at.elapsed() > Duration::from_secs(1) => Status::warn("`joint_states` stopped"),
        Some(_) if !node.client.is_ready() => Status::warn("there is no controller"),
        Some(_) => Status::ok("watching the robot"),
    };
    status.value("address", node.studio.address().split('#').next().unwrap_or_default())
}
