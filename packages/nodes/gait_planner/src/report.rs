//! Messages of the node: feedback, results, points and footprints.

use karakuri_gait::planner::{
    Capturability, Clip, Footstep, Place, Progress, Side, Walk as Run, WalkEngine, WalkFailure,
};
use karakuri_model::Model;
use karakuri_ros::msg::builtin_interfaces::msg::Time as Stamp;
use karakuri_ros::msg::geometry_msgs::msg::{
    Point, Point32, PointStamped, Polygon, PolygonStamped,
};
use karakuri_ros::msg::karakuri_msgs::action::Walk;
use karakuri_ros::msg::std_msgs::msg::{ColorRGBA, Header};
use karakuri_ros::msg::visualization_msgs::msg::{Marker, MarkerArray};
use karakuri_ros::{IntoMessage, Node, Publisher, RosError, qos};
use karakuri_spatial::{Pose, Time, Vector3};

/// Publishers of the walk's points, polygon and footsteps.
#[derive(Debug)]
pub(crate) struct Reports {
    pub(crate) points: [Publisher<PointStamped>; 3],
    pub(crate) support_polygon: Publisher<PolygonStamped>,
    pub(crate) footsteps: Publisher<MarkerArray>,
}

impl Reports {
    pub(crate) fn new<S: 'static>(node: &mut Node<S>) -> Result<Self, RosError> {
        let mut point = |name: &str| node.publisher(name, qos::state());
        Ok(Self {
            points: [point("com")?, point("zmp")?, point("dcm")?],
            support_polygon: node.publisher("support_polygon", qos::state())?,
            footsteps: node.publisher("footsteps", qos::state())?,
        })
    }
}

/// Types and actions of `visualization_msgs/msg/Marker`.
const CUBE: i32 = 1;
const DELETE_ALL: i32 = 3;
/// Opacities of markers: standing feet, the next footstep, each further one over the one before it, and the furthest. [-]
const STANDING: f32 = 0.9;
const PLANNED: f32 = 0.6;
const FADING: f32 = 0.85;
const FAINTEST: f32 = 0.1;
/// Thickness of a footprint. [m]
const THICKNESS: f64 = 0.002;

/// Error codes of the action's result (`karakuri_msgs/action/Walk`).
pub(crate) mod code {
    pub(crate) const NONE: u8 = 0;
    pub(crate) const INVALID_GOAL: u8 = 1;
    pub(crate) const UNREACHABLE: u8 = 2;
    pub(crate) const FELL: u8 = 3;
    pub(crate) const CANCELED: u8 = 4;
    pub(crate) const ROBOT_LOST: u8 = 5;
}

/// Outcome of a walk that ended.
#[derive(Debug)]
pub(crate) struct Ending {
    /// Error code, of [`code`].
    pub(crate) error_code: u8,
    /// Sentence for people.
    pub(crate) message: String,
}

/// Outcome of a walk that ended with `progress`.
pub(crate) fn ending(progress: Progress, model: &Model) -> Ending {
    let error_code = match progress {
        Progress::Walking | Progress::Done => code::NONE,
        Progress::Stopped => code::CANCELED,
        Progress::Failed(WalkFailure::Unreachable(_)) => code::UNREACHABLE,
        Progress::Failed(WalkFailure::Fell(_)) => code::FELL,
    };
    Ending { error_code, message: progress.describe(model) }
}

pub(crate) fn result(
    run: &Run,
    engine: &WalkEngine,
    ending: Ending,
    clips: &[Clip],
    now: Time,
) -> Walk::Result {
    let travelled = run.travelled(engine);
    let Ending { error_code, message } = ending;
    Walk::Result {
        success: error_code == code::NONE,
        error_code,
        message,
        steps: count(run.steps(engine)),
        distance: travelled.forward,
        lateral: travelled.left,
        heading: travelled.turn,
        elapsed: run.elapsed(),
        clipped: clips.iter().map(ToString::to_string).collect(),
        stamp: now.to_message(),
    }
}

/// Result of a goal that was never begun.
pub(crate) fn refusal(message: String, now: Time) -> Walk::Result {
    Walk::Result {
        error_code: code::INVALID_GOAL,
        message,
        stamp: now.to_message(),
        ..Walk::Result::default()
    }
}

pub(crate) fn feedback(run: &Run, engine: &WalkEngine) -> Walk::Feedback {
    let sample = engine.sample();
    let travelled = run.travelled(engine);
    let capture = engine.correction().capture;
    Walk::Feedback {
        step: count(run.steps(engine)),
        com: Vector3::from(sample.com).to_message(),
        zmp: on_floor(sample.zmp),
        margin: sample.margin,
        dcm: on_floor(engine.correction().dcm),
        capture_steps: capture.map_or(0, |c| steps_to_take(c.capturability)),
        capture_margin: capture.map_or(f64::NAN, |c| c.margin),
        distance: travelled.forward,
        heading: travelled.turn,
        elapsed: run.elapsed(),
    }
}

/// Steps that it takes to come to rest, in words.
pub(crate) fn takes(takes: Capturability) -> String {
    match takes {
        Capturability::Stand => "stands".to_owned(),
        Capturability::Steps(1) => "1 step".to_owned(),
        Capturability::Steps(n) => format!("{n} steps"),
        Capturability::Falls => "falls".to_owned(),
    }
}

fn steps_to_take(takes: Capturability) -> i32 {
    match takes {
        Capturability::Stand => 0,
        Capturability::Steps(n) => i32::try_from(n).unwrap_or(i32::MAX),
        Capturability::Falls => -1,
    }
}

fn count(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

fn on_floor([x, y]: [f64; 2]) -> Point {
    Point { x, y, z: 0.0 }
}

/// Planned centre of mass, planned ZMP, measured divergent component.
pub(crate) fn points(engine: &WalkEngine, frame: &str, stamp: &Stamp) -> [PointStamped; 3] {
    let sample = engine.sample();
    let header = Header { stamp: stamp.clone(), frame_id: frame.to_owned() };
    [
        Vector3::from(sample.com).to_message(),
        on_floor(sample.zmp),
        on_floor(engine.correction().dcm),
    ]
    .map(|point| PointStamped { header: header.clone(), point })
}

/// Convex hull of the standing soles, as planned.
pub(crate) fn support_polygon(engine: &WalkEngine, frame: &str, stamp: &Stamp) -> PolygonStamped {
    let sample = engine.sample();
    let standing: Vec<_> = sample.standing().collect();
    let floor = standing.iter().map(|(_, sole)| sole.translation.z).sum::<f64>();
    let z = narrow(floor / standing.len().max(1) as f64);
    let corners = engine.generator().biped.support_polygon(&standing).corners;
    let points = corners.iter().map(|[x, y]| Point32 { x: narrow(*x), y: narrow(*y), z }).collect();
    PolygonStamped {
        header: Header { stamp: stamp.clone(), frame_id: frame.to_owned() },
        polygon: Polygon { points },
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the message has single precision")]
fn narrow(x: f64) -> f32 {
    x as f32
}

/// Markers of the standing feet and of the footsteps ahead, which fade with their distance in time; the first one deletes all
/// earlier markers.
pub(crate) fn footprints(
    engine: &WalkEngine,
    ahead: &[Footstep],
    frame: &str,
    stamp: &Stamp,
) -> MarkerArray {
    let header = || Header { stamp: stamp.clone(), frame_id: frame.to_owned() };
    let print = |ns: &str, id: usize, (side, place): (Side, Pose), alpha: f32| {
        let outline = engine.generator().biped.legs[side.index()].outline;
        let ([x, y], [long, wide]) = (outline.center(), outline.size());
        let middle = Pose::from_translation(Vector3::new(x, y, 0.0));
        let [r, g, b] = match side {
            Side::Left => [0.2, 0.5, 0.9],
            Side::Right => [0.9, 0.4, 0.2],
        };
        Marker {
            header: header(),
            ns: ns.to_owned(),
            id: i32::try_from(id).unwrap_or(i32::MAX),
            type_: CUBE,
            pose: (place * middle).to_message(),
            scale: Vector3::new(long, wide, THICKNESS).to_message(),
            color: ColorRGBA { r, g, b, a: alpha },
            ..Marker::default()
        }
    };
    let standing = engine.standing().map(|(side, place): (Side, Place)| {
        print("feet", side.index(), (side, place.pose()), STANDING)
    });
    let mut alpha = PLANNED;
    let planned = ahead.iter().enumerate().map(|(i, step)| {
        let marker = print("footsteps", i, (step.side, step.to.pose()), alpha);
        alpha = (alpha * FADING).max(FAINTEST);
        marker
    });
    let clear = Marker { header: header(), action: DELETE_ALL, ..Marker::default() };
    MarkerArray { markers: core::iter::once(clear).chain(standing).chain(planned).collect() }
}
