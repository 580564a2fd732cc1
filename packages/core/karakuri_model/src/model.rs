//! The robot, checked once and never changed.
//!
//! A tree of bodies, each hanging on its parent (or on the world) by one joint, plus what a tree cannot say:
//! couplings (mimic), loop joints, sensors. Links that URDF fixes together are one body; every URDF link stays
//! findable as a [`Frame`].
//!
//! Coordinates. A floating joint has `q = [x y z, qx qy qz qw]` (world pose of the body frame) and
//! `v = [linear velocity of the body frame's origin; angular velocity]`, both in the axes of the joint's parent
//! side (the world for a floating base). All other joints: angle [rad] or length [m] and their rates.
//! Planar: `q = [x, y, angle]`, `v = [ẋ, ẏ, angular rate]` in the axes of the joint frame's parent side.
//! Spherical: `q = [qx qy qz qw]`, `v` = angular velocity in the parent side's axes.
//! Custom: as many coordinates as degrees of freedom, `v = q̇`.

use std::path::PathBuf;
use std::sync::Arc;

use karakuri_spatial::{Inertia, Pose, Vector3};

use crate::joint_motion::{DofKind, JointMotion};
use crate::motor::{MotorCommand, MotorLaw};
use crate::suction::SuctionUnit;

/// Index of a body (and of the joint it hangs on).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId(pub usize);

/// Index into [`Model::frames`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameId(pub usize);

/// Base of a robot: fixed to the world or floating.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Base {
    /// The root link is fixed to the world at this pose `X_WRoot`.
    Fixed(Pose),
    /// The root link is free: joint 0 is [`JointKind::Floating`].
    Floating,
}

/// A robot: immutable after it is built.
#[derive(Debug, Clone)]
pub struct Model {
    /// Name of the robot.
    pub name: String,
    /// Base of the robot.
    pub base: Base,
    /// Moving bodies, parents before children.
    pub bodies: Vec<Body>,
    /// `joints[i]` carries `bodies[i]`.
    pub joints: Vec<Joint>,
    /// Every URDF link, the merged ones too, in file order.
    pub frames: Vec<Frame>,
    /// Mimic joints: exact linear relations between coordinates.
    pub couplings: Vec<Coupling>,
    /// Joints that close loops.
    pub loops: Vec<LoopJoint>,
    /// Motors beside the joints' drives.
    pub motors: Vec<Motor>,
    /// Sensors on the links.
    pub sensors: Vec<Sensor>,
    /// Suction cups, by the generators that evacuate them.
    pub suctions: Vec<SuctionUnit>,
    /// Collision shapes, on bodies and on the fixed base.
    pub collisions: Vec<Geometry>,
    /// Visual shapes, on bodies and on the fixed base.
    pub visuals: Vec<Geometry>,
    /// Pairs of links whose contact is ignored (SRDF `disable_collisions` or robot YAML); adjacent bodies
    /// never collide and are not listed.
    pub ignored_pairs: Vec<(FrameId, FrameId)>,
    /// Pairs of links that touch although they overlap in the default posture (SRDF `enable_collisions` or robot YAML).
    pub touching_pairs: Vec<(FrameId, FrameId)>,
    /// The hand, if the robot YAML names one.
    pub end_effector: Option<EndEffector>,
    /// Named postures: joint name to position. [rad or m]
    pub postures: Vec<Posture>,
    /// Named sets of joints that are commanded together, such as `arm` and `hand`.
    pub groups: Vec<JointGroup>,
    /// Number of position coordinates.
    pub nq: usize,
    /// Number of velocity coordinates.
    pub nv: usize,
}

/// A rigid body.
#[derive(Debug, Clone)]
pub struct Body {
    /// Name of its main link.
    pub name: String,
    /// The body it hangs on; `None` is the world.
    pub parent: Option<BodyId>,
    /// Inertia in the body frame, which is the frame of its main link (at the joint).
    pub inertia: Inertia,
}

/// Motion of a body against its parent.
#[derive(Debug, Clone)]
pub enum JointKind {
    /// Rotation about a unit axis of the joint frame; limited or not (`continuous`).
    Revolute {
        /// Unit axis in the joint frame. (3)
        axis: Vector3,
    },
    /// Translation along a unit axis of the joint frame.
    Prismatic {
        /// Unit axis in the joint frame. (3)
        axis: Vector3,
    },
    /// Ball joint: three degrees of freedom.
    Spherical,
    /// Translation along two axes and rotation about their common normal.
    Planar {
        /// First in-plane unit axis, in the joint frame. (3)
        x: Vector3,
        /// Second in-plane unit axis. (3)
        y: Vector3,
    },
    /// Six degrees of freedom.
    Floating,
    /// Any other motion, such as a [`crate::Path`]; coordinates are plain.
    Custom(Arc<dyn JointMotion>),
}

impl JointKind {
    /// Number of position coordinates.
    pub fn nq(&self) -> usize {
        match self {
            Self::Revolute { .. } | Self::Prismatic { .. } => 1,
            Self::Planar { .. } => 3,
            // Quaternions: a number more than degrees of freedom, and no position at which a rate is undefined.
            Self::Spherical => 4,
            Self::Floating => 7,
            Self::Custom(motion) => motion.dof_kinds().len(),
        }
    }

    /// Number of velocity coordinates.
    pub fn nv(&self) -> usize {
        match self {
            Self::Revolute { .. } | Self::Prismatic { .. } => 1,
            Self::Planar { .. } | Self::Spherical => 3,
            Self::Floating => 6,
            Self::Custom(motion) => motion.dof_kinds().len(),
        }
    }

    /// Name of the kind.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Revolute { .. } => "revolute",
            Self::Prismatic { .. } => "prismatic",
            Self::Spherical => "spherical",
            Self::Planar { .. } => "planar",
            Self::Floating => "floating",
            Self::Custom(motion) => motion.name(),
        }
    }

    /// Quantity that the coordinate of a joint with one degree of freedom measures; `None` for joints with several.
    pub fn single(&self) -> Option<DofKind> {
        match self {
            Self::Revolute { .. } => Some(DofKind::Angle),
            Self::Prismatic { .. } => Some(DofKind::Length),
            Self::Custom(motion) => match motion.dof_kinds() {
                [dof] => Some(*dof),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Limits of a ball joint: the body's `axis` swings from the joint frame's `axis` by at most `swing`, and the body
/// turns about its own axis, after the shortest swing, within `twist`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cone {
    /// Unit axis, the same in the joint's frame and in the body's. (3)
    pub axis: Vector3,
    /// Half the cone's opening; π is no limit. [rad]
    pub swing: f64,
    /// Least and largest twist; −π to π is no limit. [rad]
    pub twist: (f64, f64),
}

impl Default for Cone {
    /// Cone about z, without limits.
    fn default() -> Self {
        use std::f64::consts::PI;
        Self { axis: Vector3::z(), swing: PI, twist: (-PI, PI) }
    }
}

/// The joint a body hangs on.
#[derive(Debug, Clone)]
pub struct Joint {
    /// Name of the joint.
    pub name: String,
    /// Motion of the body against its parent.
    pub kind: JointKind,
    /// Pose of the joint frame in the parent body's frame (in the world if the parent is `None`; the pose of a
    /// fixed base is included). At `q = 0` the body frame coincides with the joint frame.
    pub pose_in_parent: Pose,
    /// First position coordinate.
    pub q_start: usize,
    /// First velocity coordinate.
    pub v_start: usize,
    /// Limits; infinite where the file sets none.
    pub limits: Limits,
    /// Spring and damper at the limits of position; `None`: they are hard.
    pub bumper: Option<Bumper>,
    /// Part of its speed with which the joint leaves a hard limit of position, 0 to 1. [-]
    pub limit_restitution: f64,
    /// Limits of a ball joint.
    pub cone: Option<Cone>,
    /// Reflected rotor inertia. [kg·m² or kg]
    pub armature: f64,
    /// Effort that the joint loses a velocity: viscous friction, and the motor's back-EMF. [N·m·s/rad or N·s/m]
    pub damping: f64,
    /// Part of `damping` that is the back-EMF of the motor, which a measured current is without. [N·m·s/rad or N·s/m]
    pub back_emf: f64,
    /// Dry friction. [N·m or N]
    pub friction: f64,
    /// The servo, if the joint is driven.
    pub drive: Option<Drive>,
}

/// Limits of a joint with one degree of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Lower limit of position. [rad or m]
    pub lower: f64,
    /// Upper limit of position. [rad or m]
    pub upper: f64,
    /// Largest speed. [rad/s or m/s]
    pub velocity: f64,
    /// Largest effort. [N·m or N]
    pub effort: f64,
}

impl Limits {
    /// Limits that are all infinite.
    pub const NONE: Self = Self {
        lower: f64::NEG_INFINITY,
        upper: f64::INFINITY,
        velocity: f64::INFINITY,
        effort: f64::INFINITY,
    };
}

/// Spring and damper that push back from beyond a limit of position: `effort = stiffness·depth + damping·rate`, never inwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bumper {
    /// Stiffness against depth beyond the limit. [N·m/rad or N/m]
    pub stiffness: f64,
    /// Damping against motion beyond the limit. [N·m·s/rad or N·s/m]
    pub damping: f64,
}

/// A PD servo on a joint: `effort = stiffness·(q_d − q) + damping·(v_d − v) + feed-forward`, clipped at the
/// joint's effort limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drive {
    /// Stiffness of the servo. [N·m/rad or N/m]
    pub stiffness: f64,
    /// Damping of the servo. [N·m·s/rad or N·s/m]
    pub damping: f64,
}

/// A motor beside a joint's drive.
#[derive(Debug, Clone)]
pub struct Motor {
    /// Name of the motor.
    pub name: String,
    /// The joint it acts on, with one degree of freedom.
    pub joint: BodyId,
    /// Law of its effort.
    pub law: Arc<dyn MotorLaw>,
    /// Command until another one comes.
    pub command: MotorCommand,
    /// Largest effort. [N·m or N]
    pub effort: f64,
}

/// A URDF link: its pose on its body.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Name of the link.
    pub name: String,
    /// The body it belongs to; `None` is the fixed base (the world).
    pub body: Option<BodyId>,
    /// Pose in the body's frame, or in the world if `body` is `None`.
    pub pose_in_body: Pose,
    /// The link's parent link and the URDF joint between them; `None` for the root.
    pub parent: Option<FrameParent>,
}

/// Attachment of a link to its parent link.
#[derive(Debug, Clone)]
pub struct FrameParent {
    /// Frame of the parent link.
    pub frame: FrameId,
    /// Name of the URDF joint.
    pub joint: String,
    /// URDF `origin` of the joint: pose in the parent link.
    pub pose_in_parent: Pose,
    /// Whether the joint is `fixed`.
    pub fixed: bool,
}

/// A mimic joint: `q[follower] = multiplier · q[leader] + offset`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coupling {
    /// Joint that follows (one degree of freedom).
    pub follower: BodyId,
    /// Joint that leads (one degree of freedom).
    pub leader: BodyId,
    /// Factor of the leader's position. [-]
    pub multiplier: f64,
    /// Position of the follower where the leader is at zero. [rad or m]
    pub offset: f64,
}

/// A joint that closes a loop: a frame on body A and one on body B whose relative motion is constrained.
#[derive(Debug, Clone)]
pub struct LoopJoint {
    /// Name of the loop joint.
    pub name: String,
    /// Body A; `None` is the world.
    pub body_a: Option<BodyId>,
    /// Pose of the joint frame on A.
    pub pose_in_a: Pose,
    /// Body B; `None` is the world.
    pub body_b: Option<BodyId>,
    /// Pose of the joint frame on B.
    pub pose_in_b: Pose,
    /// Locked relative degrees of freedom, in A's joint frame: rotation x y z, translation x y z.
    pub locked: [bool; 6],
}

/// A sensor on a link.
#[derive(Debug, Clone)]
pub struct Sensor {
    /// Name; also the last part of its topic.
    pub name: String,
    /// The link it is fixed to; readings are in this link's frame.
    pub frame: FrameId,
    /// Quantity that it measures.
    pub kind: SensorKind,
    /// Noise of its readings; `None`: they are exact.
    pub noise: Option<SensorNoise>,
}

/// Noise of a sensor.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SensorNoise {
    /// Seed of the noise: equal seeds give equal noise, run by run.
    pub seed: u64,
    /// Noise of the angular velocity [rad/s] or the moment [N·m].
    pub angular: Noise,
    /// Noise of the acceleration [m/s²] or the force [N].
    pub linear: Noise,
    /// Noise of the orientation, as a turn about the sensor's axes. [rad]
    pub orientation: Noise,
}

/// Noise of one reading, the same on its three axes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Noise {
    /// Density of the white noise: the deviation of a mean over one second. [unit/√Hz]
    pub white: f64,
    /// Deviation of the bias at the start. [unit]
    pub bias: f64,
    /// Density of the bias's walk: its deviation after one second. [unit/√s]
    pub walk: f64,
}

impl Noise {
    /// Variance of a reading that is the mean over `dt`, at the start. [unit²]
    pub fn variance(&self, dt: f64) -> f64 {
        // The mean of white noise over dt has a variance of its density squared over dt.
        self.white * self.white / dt + self.bias * self.bias
    }
}

/// Quantity that a sensor measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SensorKind {
    /// Wrench that the surroundings (contacts) exert on the link, about the link's origin. `wrench/<name>`
    ContactWrench,
    /// Wrench through the joint that carries the link: parent on child. `wrench/<name>`
    JointWrench,
    /// Orientation, angular velocity and specific force. `imu/<name>`
    Imu,
}

/// A shape on a link.
#[derive(Debug, Clone)]
pub struct Geometry {
    /// The link it belongs to.
    pub frame: FrameId,
    /// The body it moves with; `None` is the fixed base.
    pub body: Option<BodyId>,
    /// Pose in the body's frame, or in the world if `body` is `None`.
    pub pose_in_body: Pose,
    /// Shape in its own frame.
    pub shape: Shape,
    /// RGBA, 0 to 1.
    pub color: [f32; 4],
    /// Coulomb friction coefficient. [-]
    pub friction: f64,
    /// Coefficient of restitution. [-]
    pub restitution: f64,
}

/// A shape, centred on its own frame.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Box, centred, with its edges along x, y and z.
    Box {
        /// Full edge lengths. [m] (3)
        size: Vector3,
    },
    /// Ball about the origin.
    Sphere {
        /// Radius of the ball. [m]
        radius: f64,
    },
    /// Cylinder along z.
    Cylinder {
        /// Radius of the cylinder. [m]
        radius: f64,
        /// Full length. [m]
        length: f64,
    },
    /// Cylinder along z with half-balls at its ends.
    Capsule {
        /// Radius of the cylinder and of its ends. [m]
        radius: f64,
        /// Length of the cylindrical part. [m]
        length: f64,
    },
    /// Ellipsoid with its axes along x, y and z.
    Ellipsoid {
        /// Half of each axis. [m] (3)
        semi_axes: Vector3,
    },
    /// Triangles, scaled and in metres.
    Mesh(Arc<Mesh>),
}

impl Shape {
    /// Name of its kind, as in messages and files.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Box { .. } => "box",
            Self::Sphere { .. } => "sphere",
            Self::Cylinder { .. } => "cylinder",
            Self::Capsule { .. } => "capsule",
            Self::Ellipsoid { .. } => "ellipsoid",
            Self::Mesh(_) => "mesh",
        }
    }

    /// Middle and edges of the box around it, along its own axes; of an empty mesh both are zero. [m] (3 each)
    pub fn bounds(&self) -> (Vector3, Vector3) {
        let round = |radius: f64, length: f64| Vector3::new(2.0 * radius, 2.0 * radius, length);
        let edges = match self {
            Self::Box { size } => *size,
            Self::Sphere { radius } => Vector3::repeat(2.0 * radius),
            Self::Cylinder { radius, length } => round(*radius, *length),
            Self::Capsule { radius, length } => round(*radius, length + 2.0 * radius),
            Self::Ellipsoid { semi_axes } => semi_axes * 2.0,
            Self::Mesh(mesh) => return mesh.bounds(),
        };
        (Vector3::zeros(), edges)
    }
}

/// Sides of a cone's base: its middles are a thousandth of the radius nearer to the axis than its corners.
const CONE_SIDES: u32 = 64;

impl Mesh {
    /// Cone about z with its point up, centred on the centre of mass of a solid one: a quarter of its height above the base.
    pub fn cone(radius: f64, height: f64) -> Self {
        let corner = |i: u32| {
            let (sin, cos) =
                (core::f64::consts::TAU * f64::from(i) / f64::from(CONE_SIDES)).sin_cos();
            [radius * cos, radius * sin, -0.25 * height]
        };
        let mut vertices: Vec<_> = (0..CONE_SIDES).map(corner).collect();
        vertices.push([0.0, 0.0, 0.75 * height]);
        let next = |i: u32| (i + 1) % CONE_SIDES;
        let side = (0..CONE_SIDES).map(|i| [i, next(i), CONE_SIDES]);
        let base = (1..CONE_SIDES - 1).map(|i| [0, i + 1, i]);
        let triangles = side.chain(base).collect();
        Self { path: PathBuf::new(), vertices, triangles, convex: Convex::Hull }
    }

    /// Middle and edges of the box around it. [m] (3 each)
    pub fn bounds(&self) -> (Vector3, Vector3) {
        let mut points = self.vertices.iter().map(|&v| Vector3::from(v));
        let Some(first) = points.next() else { return (Vector3::zeros(), Vector3::zeros()) };
        let (low, high) = points.fold((first, first), |(l, h), p| (l.inf(&p), h.sup(&p)));
        (0.5 * (low + high), high - low)
    }
}

/// A triangle mesh. `vertices` are scaled already. [m]
#[derive(Debug, Clone, PartialEq)]
pub struct Mesh {
    /// Path of the file it came from.
    pub path: PathBuf,
    /// Corners of the triangles. [m] (n × 3)
    pub vertices: Vec<[f64; 3]>,
    /// Indices of the corners, three a triangle. (m × 3)
    pub triangles: Vec<[u32; 3]>,
    /// Collision shape where it moves; where it is fixed, it collides as its triangles.
    pub convex: Convex,
}

/// Collision shape of a mesh that moves.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Convex {
    /// Convex hull of the mesh.
    #[default]
    Hull,
    /// Convex parts, yet to be found.
    Decompose {
        /// Largest distance of the parts from the mesh; `None`: 0.5 % of its size, or what few parts give. [m]
        tolerance: Option<f64>,
    },
    /// Convex parts that were found.
    Parts(ConvexParts),
}

/// Convex parts of a mesh.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConvexParts {
    /// Parts, each the hull of points. [m] (n × 3 each)
    pub parts: Vec<Vec<[f64; 3]>>,
    /// Farthest distance of their surface from the mesh. [m]
    pub deviation: f64,
}

/// A hand: its drive and the place where it holds.
#[derive(Debug, Clone, PartialEq)]
pub struct EndEffector {
    /// Name of the plug-in that drives it, such as `parallel_linkage`.
    pub kind: String,
    /// Tool centre: REP 120, x towards the object, y along the opening.
    pub tool_frame: FrameId,
    /// Joints that drive it.
    pub joints: Vec<BodyId>,
    /// Sensors that feel the object, one a finger.
    pub sensors: Vec<String>,
    /// Numbers the plug-in needs, by name; SI units.
    pub parameters: Vec<(String, f64)>,
}

/// A named posture.
#[derive(Debug, Clone, PartialEq)]
pub struct Posture {
    /// Name, such as `home`.
    pub name: String,
    /// Joint and its position. [rad or m]
    pub positions: Vec<(BodyId, f64)>,
}

/// Joints that are commanded together.
#[derive(Debug, Clone, PartialEq)]
pub struct JointGroup {
    /// Name, such as `arm`.
    pub name: String,
    /// Joints in order.
    pub joints: Vec<BodyId>,
}

impl Model {
    /// The body of this name, which is also the index of its joint.
    pub fn body(&self, name: &str) -> Option<BodyId> {
        // A search: names are resolved once, when a program starts, and indices are used from then on.
        self.bodies.iter().position(|b| b.name == name).map(BodyId)
    }

    /// The joint of this name.
    pub fn joint(&self, name: &str) -> Option<BodyId> {
        self.joints.iter().position(|j| j.name == name).map(BodyId)
    }

    /// Whether two bodies, or one and the fixed base (`None`), are `n` joints apart along a chain.
    pub fn are_chained(&self, a: Option<BodyId>, b: Option<BodyId>, n: usize) -> bool {
        // Above the base there is nothing: a chain that ends there has no relative of that degree.
        let above =
            |x: Option<BodyId>| (0..n).try_fold(x, |x, _| x.map(|x| self.bodies[x.0].parent));
        above(a) == Some(b) || above(b) == Some(a)
    }

    /// Name of the joint that a velocity coordinate belongs to; `?` where there is no such coordinate.
    pub fn joint_name_of(&self, dof: usize) -> &str {
        let mut joints = self.joints.iter();
        // For messages, so a search is fast enough.
        let joint = joints.find(|j| (j.v_start..j.v_start + j.kind.nv()).contains(&dof));
        joint.map_or("?", |j| &j.name)
    }

    /// The link of this name.
    pub fn frame(&self, name: &str) -> Option<FrameId> {
        self.frames.iter().position(|f| f.name == name).map(FrameId)
    }

    /// The link that a joint carries.
    pub fn link_of(&self, joint: BodyId) -> Option<FrameId> {
        let name = &self.joints[joint.0].name;
        let carried = |f: &Frame| f.parent.as_ref().is_some_and(|parent| parent.joint == *name);
        self.frames.iter().position(carried).map(FrameId)
    }

    /// A link and all that hang on it, in the order of [`Self::frames`].
    pub fn links_from(&self, link: FrameId) -> Vec<FrameId> {
        let parent = |id: &FrameId| self.frames[id.0].parent.as_ref().map(|parent| parent.frame);
        let hangs = |&id: &FrameId| core::iter::successors(Some(id), parent).any(|id| id == link);
        (0..self.frames.len()).map(FrameId).filter(hangs).collect()
    }

    /// Sum of the moving bodies' masses. [kg]
    pub fn mass(&self) -> f64 {
        self.bodies.iter().map(|b| b.inertia.mass).sum()
    }

    /// The position with every coordinate zero, quaternions being unit. (nq)
    pub fn neutral_position(&self) -> Vec<f64> {
        let mut q = vec![0.0; self.nq];
        for joint in &self.joints {
            match joint.kind {
                // The identity quaternion is `0 0 0 1`, not zeros.
                JointKind::Floating => q[joint.q_start + 6] = 1.0,
                JointKind::Spherical => q[joint.q_start + 3] = 1.0,
                _ => {}
            }
        }
        q
    }

    /// The default posture of `MoveIt` (`RobotState::setToDefaultValues`): the neutral position, but the middle of their
    /// limits, or the only limit, of joints whose limits leave 0 out. Mimic joints follow their leaders. (nq)
    pub fn default_position(&self) -> Vec<f64> {
        let mut q = self.neutral_position();
        for joint in self.joints.iter().filter(|j| j.kind.single().is_some()) {
            let (lower, upper) = (joint.limits.lower, joint.limits.upper);
            if lower > 0.0 || upper < 0.0 {
                q[joint.q_start] = match (lower.is_finite(), upper.is_finite()) {
                    (true, true) => 0.5 * (lower + upper),
                    // The stop itself: nothing says how far beyond it the middle would be.
                    (true, false) => lower,
                    _ => upper,
                };
            }
        }
        // A leader may follow, too: again until all do.
        for _ in &self.couplings {
            let before = q.clone();
            for c in &self.couplings {
                let leader = q[self.joints[c.leader.0].q_start];
                q[self.joints[c.follower.0].q_start] = c.multiplier * leader + c.offset;
            }
            if q == before {
                break;
            }
        }
        q
    }
}
