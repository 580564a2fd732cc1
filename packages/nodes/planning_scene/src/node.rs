//! The node: sends what changes, one answer at a time.

use std::time::Duration;

use karakuri_grasp::scene_changes::{SceneChange, SceneChanges, touch_links};
use karakuri_model::{Base, FrameId, Model};
use karakuri_ros::msg::karakuri_msgs::msg::{GripState, ObjectStates};
use karakuri_ros::msg::moveit_msgs::msg::CollisionObject;
use karakuri_ros::msg::moveit_msgs::srv::ApplyPlanningScene;
use karakuri_ros::{
    Call, Node, Publisher, ServiceClient, Status, Throttle, Transforms, info, qos,
    time_from_message, warn,
};

use crate::convert::{self, Messages, Names};
use crate::parameters::Parameters;

type Apply = ApplyPlanningScene::Service;

/// State of the node.
pub(crate) struct Scene {
    parameters: Parameters,
    names: Names,
    frames: Frames,
    transforms: Transforms,
    changes: SceneChanges,
    /// Whether the hand holds something.
    holds: bool,
    client: ServiceClient<Apply>,
    /// Call that is not answered yet, and the number of its changes.
    call: Option<(Call<Apply>, usize)>,
    moves: Publisher<CollisionObject>,
    /// Whether `MoveIt` was there when it was last looked for.
    is_heard: bool,
    n_sent: usize,
    refused: Throttle,
}

/// Frames in tf, with the prefix of the robot's.
struct Frames {
    /// That of the poses for `MoveIt`.
    scene: String,
    tool: String,
}

pub(crate) fn new(node: &mut Node<Scene>) -> Result<Scene, Box<dyn std::error::Error>> {
    let parameters = Parameters::declare(node)?;
    let model = parameters.robot.load()?;
    parameters.robot.follow_tools(node)?;
    let (names, frames) = names(&model, &parameters)?;
    node.subscribe("/objects", qos::state(), on_objects)?;
    node.subscribe("grip_state", qos::state(), |scene: &mut Scene, state: &GripState| {
        // The margin is a number while pick and place carries something, by a hand of any kind.
        scene.holds = state.holding || state.margin.is_finite();
    })?;
    node.after_events(Scene::read_answer);
    node.diagnose("planning scene", Scene::diagnose);
    Ok(Scene {
        transforms: node.transforms()?,
        client: node.service_client("/apply_planning_scene")?,
        moves: node.publisher("/collision_object", qos::state())?,
        changes: SceneChanges::default(),
        holds: false,
        call: None,
        is_heard: false,
        n_sent: 0,
        refused: Throttle::new(Duration::from_secs(5)),
        parameters,
        names,
        frames,
    })
}

/// Names of the robot's links for `MoveIt`, and its frames in tf.
fn names(model: &Model, parameters: &Parameters) -> Result<(Names, Frames), String> {
    let tool = match &model.end_effector {
        Some(hand) => hand.tool_frame,
        // Nothing is held until a hand is on the flange.
        None if parameters.robot.may_change() => FrameId(0),
        None => {
            let name = &model.name;
            return Err(format!(
                "robot `{name}` has no `end_effector`: nothing of it can hold an object"
            ));
        }
    };
    let link = |id: FrameId| model.frames[id.0].name.clone();
    let prefixed = |link: &str| parameters.robot.frame_of(link);
    // MoveIt takes the base of a fixed robot for the world's origin, whatever tf says; that of a floating one it has from tf.
    let (frame, scene) = match model.base {
        Base::Fixed(_) => (link(FrameId(0)), prefixed(&model.frames[0].name)),
        Base::Floating => ("world".to_owned(), "world".to_owned()),
    };
    let tool = link(tool);
    let frames = Frames { scene, tool: prefixed(&tool) };
    let touch_links = touch_links(model).into_iter().map(link).collect();
    Ok((Names { frame, tool, touch_links }, frames))
}

fn on_objects(scene: &mut Scene, message: &ObjectStates) {
    let is_there = scene.client.is_ready();
    if is_there && !scene.is_heard {
        info!("MoveIt is there: it is sent all objects");
        scene.changes.forget();
    }
    scene.is_heard = is_there;
    if !is_there || scene.call.is_some() {
        return;
    }
    let Frames { scene: frame, tool } = &scene.frames;
    let Some(world) = scene.transforms.pose(frame, &message.header.frame_id) else {
        return; // the place of the robot is not known yet
    };
    let objects = convert::objects(message, &world);
    let tool = scene.transforms.pose(frame, tool).filter(|_| scene.holds);
    let now = time_from_message(&message.header.stamp);
    let changes = scene.changes.observe(&objects, tool.map(|tool| tool.translation).as_ref(), now);
    scene.send(&changes);
}

impl Scene {
    fn send(&mut self, changes: &[SceneChange]) {
        match convert::messages(changes, &self.names) {
            Messages::Moves(moves) => moves.iter().for_each(|message| self.moves.publish(message)),
            Messages::Scene(scene) => {
                let request = ApplyPlanningScene::Request { scene: *scene };
                let timeout = Duration::from_secs_f64(self.parameters.timeout.get());
                self.call = Some((self.client.call(request, timeout), changes.len()));
            }
        }
    }

    /// Reads the answer to the last call; what was not applied is sent again, with all objects.
    fn read_answer(&mut self) {
        let Some((answer, n)) = self.call.as_ref().and_then(|(call, n)| Some((call.take()?, *n)))
        else {
            return;
        };
        self.call = None;
        let why = match answer {
            Ok(response) if response.success => {
                self.n_sent += n;
                return;
            }
            Ok(_) => "MoveIt did not apply it".to_owned(),
            Err(error) => error.to_string(),
        };
        self.changes.forget();
        if self.refused.ready() {
            warn!("{n} changes of the planning scene: {why}; all objects are sent again");
        }
    }

    fn diagnose(&mut self) -> Status {
        let status = if self.is_heard {
            Status::ok("MoveIt has what is seen")
        } else {
            Status::warn("MoveIt is not there: /apply_planning_scene is offered by nobody")
        };
        status.value("n_changes", self.n_sent)
    }
}
