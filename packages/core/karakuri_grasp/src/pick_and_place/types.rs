//! What goes in and out of the machine.

use karakuri_control::trajectory::JointTrajectory;
use karakuri_spatial::{Force, Pose, Time, Vector3};

use crate::grip_force::HandReference;

/// Where an object's centre is, upright. World axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ObjectPose {
    /// [m] (3)
    pub position: Vector3,
    /// About z. [rad]
    pub yaw: f64,
}

/// Something that was seen: an object to take, or one to stay clear of.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownObject {
    /// Its name.
    pub name: String,
    /// Pose of its box's centre in the world.
    pub pose: Pose,
    /// Edge lengths of its box. [m] (3)
    pub size: Vector3,
}

/// All objects that were seen at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sighting<'a> {
    /// When.
    pub time: Time,
    /// What.
    pub objects: &'a [KnownObject],
}

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PickAndPlaceGoal {
    /// Edge lengths of the object's box. [m] (3)
    pub size: Vector3,
    /// [kg]
    pub mass: f64,
    /// Between pads and object. [-]
    pub friction: f64,
    /// Where it is.
    pub pick: ObjectPose,
    /// Desired pose.
    pub place: ObjectPose,
    /// Of each finger. [N]
    pub grip_force: f64,
    /// Up to which it may be raised when the object slips or is heavier than said. [N]
    pub max_grip_force: f64,
    /// How far above pick and place the vertical ways begin. [m]
    pub approach_height: f64,
}

/// What a user may set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PickAndPlaceSettings {
    /// Speed of the tool without load. [m/s]
    pub speed: f64,
    /// Acceleration of the tool without load. [m/s²]
    pub acceleration: f64,
    /// Speed of the vertical ways near an object. [m/s]
    pub vertical_speed: f64,
    /// Fraction of the joints' speed limits. [-]
    pub joint_speed_scale: f64,
    /// Of every joint. [rad/s²]
    pub joint_acceleration: f64,
    /// s of the slip condition. [-]
    pub slip_safety: f64,
    /// Measured and given width may differ by this. [m]
    pub width_tolerance: f64,
    /// Where the robot works. [m/s²]
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
    /// The same at a share of the speeds; accelerations shrink with its square, so that the path stays the same. [-]
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

/// Where a run is. The way of a run without trouble comes first, then what trouble leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stage {
    /// Nothing under way.
    #[default]
    Idle,
    /// To above the object, hand open.
    Approach,
    /// Straight down to the object.
    Descend,
    /// Fingers close to the desired force.
    Close,
    /// The grip must stay firm.
    Verify,
    /// Straight up, a little.
    LiftOff,
    /// Standing still, the fingers feel the weight.
    Weigh,
    /// Straight up, the rest.
    Lift,
    /// To above the place, within the grip's limits.
    Move,
    /// Straight down.
    Lower,
    /// Fingers open.
    Open,
    /// Straight up.
    Retreat,
    /// One finger alone touches: the hand moves sideways until both do.
    Centre,
    /// The arm brakes to rest.
    Halt,
    /// Back from a collision.
    BackUp,
    /// Down to where the object was taken.
    SetDown,
    /// The object sticks to the fingers: to and fro.
    Shake,
    /// The hand is free: straight up.
    Undo,
    /// Where is the object?
    Look,
    /// Ended without success.
    Stopped,
    /// Ended with success.
    Done,
}

impl Stage {
    /// Nothing follows.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Stopped | Self::Done)
    }

    /// Its name, as in feedback.
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

/// Why a run failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The fingers closed on nothing.
    NoObject,
    /// The object is wider or narrower than said.
    WrongSize,
    /// Only one finger touched.
    Blocked,
    /// The grip was lost on the way.
    Slipped,
    /// Weighs more than the grip can hold.
    TooHeavy,
    /// Something was touched on the way, or the arm gave up.
    Collision,
    /// A stage took too long.
    TimeOut,
    /// The object did not leave the hand.
    Stuck,
    /// Cancelled by the client.
    Canceled,
    /// Measurements or the arm's controller are silent, or the clock jumped.
    RobotLost,
}

impl Failure {
    /// Its name, as in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoObject => "NO_OBJECT",
            Self::WrongSize => "WRONG_SIZE",
            Self::Blocked => "BLOCKED",
            Self::Slipped => "SLIPPED",
            Self::TooHeavy => "TOO_HEAVY",
            Self::Collision => "COLLISION",
            Self::TimeOut => "TIMEOUT",
            Self::Stuck => "STUCK",
            Self::Canceled => "CANCELED",
            Self::RobotLost => "ROBOT_LOST",
        }
    }
}

/// How the arm's last request fares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ArmReport<'a> {
    /// Nothing went wrong.
    #[default]
    Fine,
    /// It could not follow its trajectory, for this reason.
    Blocked(&'a str),
    /// The request was rejected or nobody answers, for this reason.
    Lost(&'a str),
}

/// What is measured at an instant.
#[derive(Debug, Clone, Copy)]
pub struct Measurement<'a> {
    /// Stamp of the measurement.
    pub time: Time,
    /// [rad or m] (nq)
    pub q: &'a [f64],
    /// [rad/s or m/s] (nv)
    pub v: &'a [f64],
    /// What the drives give; NaN where that is not known, empty where nothing is. [N·m or N] (nv)
    pub effort: &'a [f64],
    /// Of the two finger sensors, in their links' axes. [N·m; N] (2)
    pub wrenches: &'a [Force; 2],
    /// How the arm's last request fares.
    pub arm: ArmReport<'a>,
    /// What was last seen, if anything looks.
    pub sighting: Option<Sighting<'a>>,
}

/// Request to the arm; at most one a tick.
#[derive(Debug, Clone, PartialEq)]
pub enum ArmRequest {
    /// Follow this trajectory of the arm group, stamped with the present time.
    Follow(JointTrajectory),
    /// Cancel what is under way; brake and hold.
    Stop,
}

/// What an action's feedback says.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Feedback {
    /// Where the run is.
    pub stage: Stage,
    /// Of the planned motion of the whole run, 0 to 1. [-]
    pub progress: f64,
    /// [m]
    pub opening: f64,
    /// Normal forces of the fingers. [N] (2)
    pub forces: [f64; 2],
    /// The object is in the hand.
    pub holding: bool,
    /// How often something was tried again.
    pub retries: u32,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct PickAndPlaceResult {
    /// `None` is success.
    pub failure: Option<Failure>,
    /// The stage it was decided in; `Done` on success.
    pub stage: Stage,
    /// One sentence.
    pub message: String,
    /// [s]
    pub elapsed: f64,
    /// Opening while the object was held, else at the end. [m]
    pub width: f64,
    /// Largest forces while the object was held, else at the end. [N] (2)
    pub forces: [f64; 2],
    /// How often something was tried again.
    pub retries: u32,
}

/// What one tick gives.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Output {
    /// A new request to the arm.
    pub arm: Option<ArmRequest>,
    /// Target of the hand's driven joint.
    pub hand: HandReference,
    /// Where it is.
    pub feedback: Feedback,
    /// Present in the tick in which the run ends.
    pub result: Option<PickAndPlaceResult>,
}
