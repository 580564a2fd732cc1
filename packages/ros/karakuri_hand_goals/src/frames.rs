//! Frames in which poses come.

use karakuri_model::Model;
use karakuri_ros::msg::geometry_msgs::msg::PoseStamped;
use karakuri_ros::msg::std_msgs::msg::Header;
use karakuri_ros::{FromMessage, IntoMessage, Transforms};
use karakuri_spatial::Pose;

/// Frame of the world, as `sim` and the drivers name it.
const WORLD: &str = "world";
/// Difference of a transform from the identity that is rounding. [m or -]
const ROUNDING: f64 = 1e-12;

/// Place of frames in the world of a robot's model.
pub trait Locate {
    /// A pose in the model's world; `None` in a frame that is not known.
    fn in_world(&self, frame: &str, pose: &Pose) -> Option<Pose>;

    /// Name of the frame that others are to be connected to.
    fn root(&self) -> &str;

    /// Whether a frame is known.
    fn knows(&self, frame: &str) -> bool {
        self.in_world(frame, &Pose::IDENTITY).is_some()
    }
}

/// Frames that tf connects to a robot.
#[derive(Debug, Clone, Copy)]
pub struct Frames<'a> {
    /// What was heard on `/tf` and `/tf_static`.
    pub transforms: &'a Transforms,
    /// Model of the robot.
    pub model: &'a Model,
    /// Frame of the robot's root link.
    pub root: &'a str,
}

impl Locate for Frames<'_> {
    fn in_world(&self, frame: &str, pose: &Pose) -> Option<Pose> {
        let is_root = frame.is_empty() || frame == self.root;
        let to_root =
            if is_root { Pose::IDENTITY } else { self.transforms.pose(self.root, frame)? };
        let to_world = self.model.frames[0].pose_in_body * to_root;
        // Where the frame is the model's world, what others see in it keeps its bits.
        Some(if is_identity(&to_world) { *pose } else { to_world * *pose })
    }

    fn root(&self) -> &str {
        self.root
    }
}

fn is_identity(pose: &Pose) -> bool {
    let turn = pose.rotation - Pose::IDENTITY.rotation;
    turn.amax() < ROUNDING && pose.translation.amax() < ROUNDING
}

/// The world alone, where no tf is heard.
#[derive(Debug, Clone, Copy, Default)]
pub struct WorldFrame;

impl Locate for WorldFrame {
    fn in_world(&self, frame: &str, pose: &Pose) -> Option<Pose> {
        (frame == WORLD).then_some(*pose)
    }

    fn root(&self) -> &str {
        WORLD
    }
}

/// A pose of a message, in the model's world.
pub(crate) fn read(
    what: &str,
    message: &PoseStamped,
    frames: &impl Locate,
) -> Result<Pose, String> {
    let pose = Pose::from_message(&message.pose).ok_or_else(|| {
        format!(
            "{what} is not finite, or its quaternion is zero; give a position and a unit quaternion"
        )
    })?;
    frames.in_world(&message.header.frame_id, &pose).ok_or_else(|| {
        let (frame, root) = (&message.header.frame_id, frames.root());
        format!("{what} is in frame `{frame}`, which tf does not connect to `{root}`; use a frame that it does")
    })
}

/// Message of a pose in the world.
pub(crate) fn written(pose: &Pose) -> PoseStamped {
    PoseStamped {
        header: Header { frame_id: WORLD.to_owned(), ..Header::default() },
        pose: pose.to_message(),
    }
}
