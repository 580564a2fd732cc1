//! Inputs and outputs of the machine.

use std::sync::Arc;

use karakuri_collision::{ColliderShape, ShapeError};
use karakuri_control::trajectory::JointTrajectory;
use karakuri_spatial::{Force, Pose, Time, Vector3};

use crate::grip_force::HandReference;
use crate::hand::revolved::hull_of;
use crate::hull::Hull;

/// Pose of an upright object's centre in the world.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ObjectPose {
    /// Position of the centre. [m] (3)
    pub position: Vector3,
    /// Yaw about the vertical. [rad]
    pub yaw: f64,
}

/// Shape of an object. Round ones have their axis along their own z.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ObjectShape {
    /// Box.
    #[default]
    Box,
    /// Cylinder with flat ends.
    Cylinder,
    /// Cylinder with half-balls at its ends, which count to its length.
    Capsule,
    /// Ball.
    Ball,
    /// Cone with its point at its z.
    Cone,
    /// Convex polyhedron, along its own axes.
    Hull(Arc<Hull>),
}

impl ObjectShape {
    /// The same as a convex polyhedron along its own axes, for an object that neither stands nor lies; `size` has the edges of its box. [m] (3)
    ///
    /// # Errors
    /// When the box has no volume.
    pub fn as_hull(&self, size: &Vector3) -> Result<Self, ShapeError> {
        hull_of(self, size).map(Self::Hull)
    }
}

/// What an object that stands or lies offers to a hand from above.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Profile {
    /// Four sides and a top, all flat.
    #[default]
    Box,
    /// A round side about the vertical.
    Standing {
        /// Length of the straight part of its side. [m]
        straight: f64,
        /// Whether its top is flat.
        has_flat_ends: bool,
    },
    /// A round side about its x.
    Lying {
        /// Length of the straight part of its side. [m]
        straight: f64,
    },
    /// A ball.
    Ball,
    /// A cone that stands.
    Cone,
    /// A convex polyhedron, with its z vertical.
    Hull(Arc<Hull>),
}

/// Object that was seen: one to pick, or one to stay clear of.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownObject {
    /// Name of the object.
    pub name: String,
    /// Pose of its box's centre in the world, `X_WO`.
    pub pose: Pose,
    /// Edge lengths of its box. [m] (3)
    pub size: Vector3,
    /// Convex shape that it has in its box, for what is to stay clear of it; `None`: as far as is known it fills the box.
    pub shape: Option<Arc<ColliderShape>>,
}

/// All objects that were seen at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sighting<'a> {
    /// Time of the sighting.
    pub time: Time,
    /// Objects that were seen.
    pub objects: &'a [KnownObject],
}

/// Grasp that a goal brings, the tool looking down.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grasp {
    /// Yaw of the tool against the object as it stands. [rad]
    pub turn: f64,
    /// Position of the tool from the object's centre, in the object's frame as it stands. [m] (3)
    pub position: Vector3,
    /// Width of the object between the fingers there; `None`: whatever it is. [m]
    pub width: Option<f64>,
    /// Preference: grasps are tried from the highest down, equal ones in their order. [-]
    pub score: f64,
}

/// Part of a pick and place that a goal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Part {
    /// Takes the object, and puts it down at its place.
    #[default]
    Whole,
    /// Takes the object, and ends with it in the hand, lifted; [`place`](super::PickAndPlace::place) puts it down. The goal's place does not count.
    Pick,
}

/// Goal of a pick and place.
#[derive(Debug, Clone, PartialEq)]
pub struct PickAndPlaceGoal {
    /// Part that is asked for.
    pub part: Part,
    /// Shape of the object.
    pub shape: ObjectShape,
    /// What it offers to a hand as it stands.
    pub profile: Profile,
    /// Edge lengths of the object's box as it stands: along the x and y of its poses, and its height. [m] (3)
    pub size: Vector3,
    /// Mass of the object. [kg]
    pub mass: f64,
    /// Coefficient of friction between pads and object. [-]
    pub friction: f64,
    /// Pose of the object now.
    pub pick: ObjectPose,
    /// Pose at which it is to be placed.
    pub place: ObjectPose,
    /// Strength: the force of each finger, or of the vacuum over all cups. [N]
    pub grip_force: f64,
    /// Strength up to which it may be raised when the object slips or is heavier than stated. [N]
    pub max_grip_force: f64,
    /// Height above pick and place at which the vertical motions begin. [m]
    pub approach_height: f64,
    /// Grasps to choose from; none: any that the hand finds.
    pub grasps: Vec<Grasp>,
}

/// Settings that a user may change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PickAndPlaceSettings {
    /// Speed of the tool without load. [m/s]
    pub speed: f64,
    /// Acceleration of the tool without load. [m/s²]
    pub acceleration: f64,
    /// Speed of the vertical motions near an object. [m/s]
    pub vertical_speed: f64,
    /// Fraction of the joints' speed limits that is used. [-]
    pub joint_speed_scale: f64,
    /// Acceleration of every joint. [rad/s²]
    pub joint_acceleration: f64,
    /// Safety factor s of the slip condition. [-]
    pub slip_safety: f64,
    /// Difference of measured and stated width that is tolerated. [m]
    pub width_tolerance: f64,
    /// Gravitational acceleration at the robot's place. [m/s²]
    pub gravity: f64,
}

impl Default for PickAndPlaceSettings {
    fn default() -> Self {
        Self {
            speed: 0.6,
            acceleration: 2.5,
            vertical_speed: 0.25,
            joint_speed_scale: 0.6,
            joint_acceleration: 6.0,
            slip_safety: 1.5,
            width_tolerance: 0.004,
            gravity: karakuri_dynamics::EARTH_GRAVITY,
        }
    }
}

impl PickAndPlaceSettings {
    /// Settings at a share of the speeds; accelerations shrink with its square, so that the path stays the same. [-]
    #[must_use]
    pub fn at_speed(self, scale: f64) -> Self {
        Self {
            speed: self.speed * scale,
            acceleration: self.acceleration * scale * scale,
            vertical_speed: self.vertical_speed * scale,
            joint_speed_scale: self.joint_speed_scale * scale,
            joint_acceleration: self.joint_acceleration * scale * scale,
            ..self
        }
    }
}

/// Stage of a run. The stages of a run without trouble come first, then those to which trouble leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stage {
    /// No run is in progress.
    #[default]
    Idle,
    /// Motion to above the object, hand open.
    Approach,
    /// Motion straight down to the object.
    Descend,
    /// Closing of the fingers to the desired force.
    Close,
    /// Wait in which the grip must stay firm.
    Verify,
    /// First part of the lift, straight up.
    LiftOff,
    /// Weighing at rest by the finger forces.
    Weigh,
    /// Rest of the lift, straight up.
    Lift,
    /// Motion to above the place, within the grip's limits.
    Move,
    /// Motion straight down to the place.
    Lower,
    /// Opening of the fingers.
    Open,
    /// Motion straight up from the place.
    Retreat,
    /// Motion sideways after one finger alone touched, until both do.
    Centre,
    /// Braking of the arm to rest.
    Halt,
    /// Motion back from a collision.
    BackUp,
    /// Motion down to where the object was taken.
    SetDown,
    /// Shaking of an object that sticks to the fingers.
    Shake,
    /// Motion straight up with a free hand, after a failure.
    Undo,
    /// Search for the object.
    Look,
    /// End without success.
    Stopped,
    /// End with success.
    Done,
}

impl Stage {
    /// Whether no stage follows.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Stopped | Self::Done)
    }

    /// Whether trouble leads to it.
    pub fn is_trouble(self) -> bool {
        matches!(
            self,
            Self::Centre
                | Self::Halt
                | Self::BackUp
                | Self::SetDown
                | Self::Shake
                | Self::Undo
                | Self::Look
        )
    }

    /// Name of the stage, as in feedback.
    pub fn name(self) -> &'static str {
        match self {
            Self::Idle => "IDLE",
            Self::Approach => "APPROACH",
            Self::Descend => "DESCEND",
            Self::Close => "CLOSE",
            Self::Verify => "VERIFY",
            Self::LiftOff => "LIFT_OFF",
            Self::Weigh => "WEIGH",
            Self::Lift => "LIFT",
            Self::Move => "MOVE",
            Self::Lower => "LOWER",
            Self::Open => "OPEN",
            Self::Retreat => "RETREAT",
            Self::Centre => "CENTRE",
            Self::Halt => "HALT",
            Self::BackUp => "BACK_UP",
            Self::SetDown => "SET_DOWN",
            Self::Shake => "SHAKE",
            Self::Undo => "UNDO",
            Self::Look => "LOOK",
            Self::Stopped => "STOPPED",
            Self::Done => "DONE",
        }
    }
}

impl core::fmt::Display for Stage {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}

/// Cause of a run's failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The fingers closed on nothing.
    NoObject,
    /// The object is wider or narrower than stated.
    WrongSize,
    /// Only one finger touched the object.
    Blocked,
    /// The grip was lost while the object was carried.
    Slipped,
    /// One of three fingers does not hold the object.
    Partial,
    /// The cups were not evacuated on the object.
    NoSeal,
    /// The vacuum was lost while the object was carried.
    PressureLost,
    /// The object weighs more than the grip can hold.
    TooHeavy,
    /// The arm or the hand met something, or the controller stopped the arm.
    Collision,
    /// A stage took too long.
    TimeOut,
    /// The object did not leave the hand.
    Stuck,
    /// Cancelled by the client.
    Canceled,
    /// Another client moves the arm.
    Preempted,
    /// Measurements or the arm's controller are silent, or the clock jumped.
    RobotLost,
}

impl Failure {
    /// Name of the failure, as in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoObject => "NO_OBJECT",
            Self::WrongSize => "WRONG_SIZE",
            Self::Blocked => "BLOCKED",
            Self::Slipped => "SLIPPED",
            Self::Partial => "PARTIAL",
            Self::NoSeal => "NO_SEAL",
            Self::PressureLost => "PRESSURE_LOST",
            Self::TooHeavy => "TOO_HEAVY",
            Self::Collision => "COLLISION",
            Self::TimeOut => "TIMEOUT",
            Self::Stuck => "STUCK",
            Self::Canceled => "CANCELED",
            Self::Preempted => "PREEMPTED",
            Self::RobotLost => "ROBOT_LOST",
        }
    }
}

/// Report on the arm's last request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ArmReport<'a> {
    /// The request is carried out.
    #[default]
    Fine,
    /// The arm could not follow its trajectory, for this reason.
    Blocked(&'a str),
    /// Another client took the arm over or cancelled the request, for this reason.
    Preempted(&'a str),
    /// The request was rejected or nobody answers, for this reason.
    Lost(&'a str),
}

/// Reason why the arm did not carry out its last request; what its client keeps for the [`ArmReport`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArmFailure {
    /// The arm could not follow its trajectory.
    Blocked(String),
    /// Another client took the arm over or cancelled the request.
    Preempted(String),
    /// The request was rejected, or its outcome is unknown.
    Lost(String),
}

impl<'a> ArmReport<'a> {
    /// Report of the last failure, if there is one.
    pub fn of(failure: Option<&'a ArmFailure>) -> Self {
        match failure {
            None => Self::Fine,
            Some(ArmFailure::Blocked(why)) => Self::Blocked(why),
            Some(ArmFailure::Preempted(why)) => Self::Preempted(why),
            Some(ArmFailure::Lost(why)) => Self::Lost(why),
        }
    }
}

/// Measurement of an instant.
#[derive(Debug, Clone, Copy)]
pub struct Measurement<'a> {
    /// Stamp of the measurement.
    pub time: Time,
    /// Positions. [m or rad] (nq)
    pub q: &'a [f64],
    /// Velocities. [m/s or rad/s] (nv)
    pub v: &'a [f64],
    /// Efforts of the drives; NaN where one is not known, empty where none is. [N·m or N] (nv)
    pub effort: &'a [f64],
    /// Wrenches of the hand's sensors, in their links' axes. [N·m; N] (n sensors)
    pub wrenches: &'a [Force],
    /// Vacuums in the suction cups, generator by generator; NaN where one is not known, empty where there are none. [Pa] (n cups)
    pub vacuums: &'a [f64],
    /// Report on the arm's last request.
    pub arm: ArmReport<'a>,
    /// Last sighting, if anything looks.
    pub sighting: Option<Sighting<'a>>,
}

/// Request to the arm; at most one a tick.
#[derive(Debug, Clone, PartialEq)]
pub enum ArmRequest {
    /// Follow this trajectory of the arm group, stamped with the present time.
    Follow(JointTrajectory),
    /// Cancel the current trajectory; brake and hold.
    Stop,
}

/// Feedback of an action.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Feedback {
    /// Stage of the run.
    pub stage: Stage,
    /// Part of the planned motion of the whole run that is done, 0 to 1. [-]
    pub progress: f64,
    /// Opening of the hand. [m]
    pub opening: f64,
    /// Normal forces of the fingers. [N] (2)
    pub forces: [f64; 2],
    /// Whether the object is in the hand.
    pub holding: bool,
    /// Number of repetitions.
    pub retries: u32,
}

/// Result of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PickAndPlaceResult {
    /// Cause of the failure; `None` is success.
    pub failure: Option<Failure>,
    /// Stage in which it was decided; `Done` on success.
    pub stage: Stage,
    /// Description in one sentence.
    pub message: String,
    /// Duration of the run. [s]
    pub elapsed: f64,
    /// Opening while the object was held, else at the end. [m]
    pub width: f64,
    /// Largest forces while the object was held, else at the end. [N] (2)
    pub forces: [f64; 2],
    /// Number of repetitions.
    pub retries: u32,
}

/// Output of one tick.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Output {
    /// Request to the arm, if there is a new one.
    pub arm: Option<ArmRequest>,
    /// Targets of the hand's drives, in the order of [`drives`](super::PickAndPlace::drives): of its driven joints, or in the effort the force of
    /// the vacuum that its generator is to make.
    pub hand: Vec<HandReference>,
    /// Feedback of the run.
    pub feedback: Feedback,
    /// Result, in the tick in which the run ends.
    pub result: Option<PickAndPlaceResult>,
}
