//! Distances, times and counts of a pick and place that no task changes, each beside the others that it must fit.

/// Free room on each side of the object when the hand is open. [m]
pub(super) const CLEARANCE: f64 = 0.012;
/// An object that is seen further from its place has slipped. [m]
pub(super) const PLACE_TOLERANCE: f64 = 0.01;
/// The object is let go this far above its place. [m]
pub(super) const PLACE_CLEARANCE: f64 = 0.0005;
/// A finger force above it in free motion is a collision. [N]
pub(super) const COLLISION_FORCE: f64 = 5.0;
/// A joint further than this from its trajectory is a collision; for whoever follows the arm's trajectories. [rad]
pub const PATH_TOLERANCE: f64 = 0.04;
/// How far the hand goes back from a collision. [m]
pub(super) const BACK_UP: f64 = 0.02;
/// The robot keeps this far from known objects. [m]
pub(super) const SAFETY_DISTANCE: f64 = 0.003;
/// The centre of mass may be this far from the middle of the object's box. [m]
pub(super) const COM_TOLERANCE: f64 = 0.002;
/// Joints within this of their goal have arrived. [rad]
pub(super) const POSITION_TOLERANCE: f64 = 0.004;
/// Joints slower than this have arrived. [rad/s]
pub(super) const VELOCITY_TOLERANCE: f64 = 0.02;
/// The grip must be firm for this long before the lift. [s]
pub(super) const VERIFY_TIME: f64 = 0.2;
/// Height at which the object is weighed. [m]
pub(super) const WEIGH_HEIGHT: f64 = 0.02;
/// Measured and given weight may differ by this share. [-]
pub(super) const WEIGHT_TOLERANCE: f64 = 0.15;
/// A grip weaker than half for this long is lost. [s]
pub(super) const SLIP_TIME: f64 = 0.05;
/// By what the force grows when the object slips. [-]
pub(super) const RAISE_FACTOR: f64 = 1.3;
/// How often the object is gripped again, and harder, before it has `SLIPPED`.
pub(super) const REGRIPS: u32 = 3;
/// When one finger alone has touched for this long the hand moves to the middle. [s]
pub(super) const ONE_SIDED_TIME: f64 = 0.15;
/// How far the hand may move for that. [m]
pub(super) const CENTRING_REACH: f64 = 0.016;
/// How often.
pub(super) const CENTRINGS: u32 = 5;
/// The fingers must be free for this long before the retreat. [s]
pub(super) const RELEASE_TIME: f64 = 0.1;
/// When they are not free after this time the hand shakes, once. [s]
pub(super) const RELEASE_TIMEOUT: f64 = 1.0;
/// Amplitude of the shake. [m]
pub(super) const SHAKE: f64 = 0.003;
/// How often the object is looked for again when it was not where it should be.
pub(super) const RESCANS: u32 = 1;
/// How long to look. [s]
pub(super) const LOOK_TIME: f64 = 0.2;
/// How far from its expected place an object may be found. [m]
pub(super) const LOOK_RADIUS: f64 = 0.1;
/// What a stage may take beyond its planned time. [s]
pub(super) const STAGE_TIMEOUT: f64 = 4.0;
/// Measurements further apart than this: the robot was lost. [s]
pub(super) const ROBOT_TIMEOUT: f64 = 0.5;
