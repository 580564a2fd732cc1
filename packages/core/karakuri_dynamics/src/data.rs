//! The workspace of the algorithms.

use karakuri_model::{Base, Model};
use karakuri_spatial::{Force, Motion, Pose, Vector3};
use nalgebra::DMatrix;

use crate::articulated::Articulated;
use crate::inertia::RigidInertia;
use crate::topology::Topology;

/// Gravitational acceleration on the earth, downwards: the default of worlds, scenes, gait files and settings. Algorithms take
/// gravity as an argument. [m/s²]
pub const EARTH_GRAVITY: f64 = 9.81;

/// Results and scratch of the algorithms, allocated once.
///
/// Spatial quantities are in world axes about one common point O, [`Data::origin`]: the root of a fixed base, or
/// the present place of a floating base's root link. O counts as fixed in the world at the instant of the
/// computation, so no quantity changes axes along the tree. Each field names the function that fills it.
#[derive(Debug, Clone)]
pub struct Data {
    /// Gravitational acceleration, in world axes; [`EARTH_GRAVITY`] along −Z unless set. [m/s²] (3)
    pub gravity: Vector3,
    /// `p_WO`, the reference point O (`forward_kinematics`). [m] (3)
    pub origin: Vector3,
    /// `X_WB` of every body (`forward_kinematics`). (n bodies)
    pub pose_in_world: Vec<Pose>,
    /// Column `S` of every degree of freedom: velocity about O for a unit rate (`forward_kinematics`). (nv)
    pub subspace: Vec<Motion>,
    /// `V_WB` about O (`update_velocities`). (n bodies)
    pub velocity: Vec<Motion>,
    /// `A_WB` about O, spatial, without gravity (`update_accelerations`). (n bodies)
    pub acceleration: Vec<Motion>,
    /// Wrench through the joint of every body, parent on child, about O (`rnea`); the wrench of gravity and the
    /// surroundings on its subtree (`momentum_balance`). (n bodies)
    pub joint_force: Vec<Force>,
    /// Momentum of the subtree of every body, about O (`momentum_balance`). (n bodies)
    pub joint_momentum: Vec<Force>,
    /// Generalized efforts (`rnea`, `bias`, `gravity_effort`). [N·m or N] (nv)
    pub effort: Vec<f64>,
    /// Generalized accelerations (`aba`). (nv)
    pub vdot: Vec<f64>,
    /// `M`, symmetric (`crba`). (nv × nv)
    pub mass_matrix: DMatrix<f64>,
    /// `S°`, own rate of the columns of custom joints (`update_velocities`); zero of all others. (nv,
    /// empty without custom joints)
    pub(crate) subspace_rate: Vec<Motion>,
    /// Coordinates of custom joints at the last `forward_kinematics`. (nv, empty without)
    pub(crate) custom_position: Vec<f64>,
    pub(crate) topology: Topology,
    /// Velocity in which the axes of a joint stand still. (n bodies)
    pub(crate) carrier: Vec<Motion>,
    /// `p_OCom` of every body (`forward_kinematics`). [m] (n bodies)
    pub com: Vec<Vector3>,
    /// Inertia about O of a body or of its subtree. (n bodies)
    pub(crate) composite: Vec<RigidInertia>,
    /// The factor of the last `aba`.
    pub(crate) articulated: Option<Box<Articulated>>,
    /// Zeros, for algorithms that need a vector of them. (nv)
    pub(crate) zeros: Vec<f64>,
}

impl Data {
    /// Allocates for a model; O and the gravity are set, all results are NaN until computed.
    pub fn new(model: &Model) -> Self {
        let (n, nv) = (model.bodies.len(), model.nv);
        let nan = Vector3::repeat(f64::NAN);
        let motion = Motion::new(nan, nan);
        let topology = Topology::new(model);
        let n_custom = if topology.has_custom() { nv } else { 0 };
        Self {
            gravity: Vector3::new(0.0, 0.0, -EARTH_GRAVITY),
            // A fixed base never moves O; a floating one sets it with every `forward_kinematics`.
            origin: match model.base {
                Base::Fixed(pose) => pose.translation,
                Base::Floating => nan,
            },
            pose_in_world: vec![Pose::from_translation(nan); n],
            subspace: vec![motion; nv],
            velocity: vec![motion; n],
            acceleration: vec![motion; n],
            joint_force: vec![Force::new(nan, nan); n],
            joint_momentum: vec![Force::new(nan, nan); n],
            effort: vec![f64::NAN; nv],
            vdot: vec![f64::NAN; nv],
            // Zero and not NaN: `crba` writes only pairs of dofs on one path to the root, all others never couple.
            mass_matrix: DMatrix::zeros(nv, nv),
            // Zero, not NaN: only custom joints write theirs, and those of all dofs are read once there is one.
            subspace_rate: vec![Motion::default(); n_custom],
            custom_position: vec![0.0; n_custom],
            topology,
            carrier: vec![motion; n],
            com: vec![nan; n],
            composite: vec![RigidInertia::ZERO; n],
            // `aba` takes the factor out for a call, as it needs the workspace besides; boxed, that moves a pointer.
            articulated: Some(Box::new(Articulated::new(model))),
            zeros: vec![0.0; nv],
        }
    }
}
