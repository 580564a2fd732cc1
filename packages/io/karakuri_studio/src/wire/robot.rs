//! The stage: robots, bodies and what they look like.

use serde::Serialize;

/// Everything that is drawn. The bodies of state frames are those of the robots, robot by robot in this order, and then the
/// objects; the joints are those of the robots, robot by robot.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Stage {
    /// Grows with each change: frames name the stage that they are of.
    pub number: u16,
    /// Robots.
    pub robots: Vec<RobotDescription>,
    /// Bodies of the scene that are no robots.
    pub objects: Vec<StageObject>,
    /// Whether there is a ground plane at height 0.
    pub ground: bool,
    /// Bodies of a frame: 7 numbers each.
    pub n_bodies: u32,
    /// Joints of a frame: 3 numbers each.
    pub n_joints: u32,
}

/// Pose: `x y z qx qy qz qw`. [m, -] (7)
pub type Place = [f64; 7];

/// A robot.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RobotDescription {
    /// Name in the scene.
    pub name: String,
    /// Mass. [kg]
    pub mass: f64,
    /// Whether the root link is free.
    pub floating: bool,
    /// Bodies, parents first; a frame has their poses in this order.
    pub bodies: Vec<String>,
    /// Joints with one degree of freedom, base to tip.
    pub joints: Vec<JointDescription>,
    /// Links that IK can hold on to.
    pub links: Vec<LinkDescription>,
    /// Shapes to draw.
    pub visuals: Vec<Visual>,
    /// Postures of the robot's YAML file.
    pub postures: Vec<PostureDescription>,
    /// The soles' links, left and right, if it has two feet.
    pub feet: Vec<String>,
    /// Poses of the bodies in the default posture. (n bodies)
    pub bodies_at_rest: Vec<Place>,
}

/// A joint with one degree of freedom.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct JointDescription {
    /// Name.
    pub name: String,
    /// Index of the body that it carries.
    pub body: u32,
    /// Unit of its position: `rad` or `m`.
    pub unit: String,
    /// Axis in the body's frame. [-] (3)
    pub axis: [f64; 3],
    /// Lower limit; `None`: it has none. [rad or m]
    pub lower: Option<f64>,
    /// Upper limit. [rad or m]
    pub upper: Option<f64>,
    /// Largest speed. [rad/s or m/s]
    pub velocity: Option<f64>,
    /// Largest effort. [N·m or N]
    pub effort: Option<f64>,
    /// Position in the default posture. [rad or m]
    pub rest: f64,
    /// Leader, if it follows another joint.
    pub mimic: Option<MimicDescription>,
}

/// Joint that follows another one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MimicDescription {
    /// Name of the leader.
    pub leader: String,
    /// Factor of the leader's position. [-]
    pub multiplier: f64,
    /// Position where the leader is at zero. [rad or m]
    pub offset: f64,
}

/// A link.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LinkDescription {
    /// Name.
    pub name: String,
    /// Index of its body; `None`: it is part of the fixed base.
    pub body: Option<u32>,
    /// Pose in the body's frame, or in the world.
    pub pose: Place,
    /// Whether no other link hangs on it: a hand, a foot, a head.
    pub is_tip: bool,
}

/// Named posture.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PostureDescription {
    /// Name, as `stand`.
    pub name: String,
    /// Joint and position. [rad or m]
    pub joints: super::Joints,
}

/// A shape to draw.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Visual {
    /// Index of the robot's body that it moves with; `None`: it stands still.
    pub body: Option<u32>,
    /// Pose in the body's frame, or in the world.
    pub pose: Place,
    /// Shape in its own frame.
    pub shape: ShapeDescription,
    /// Red, green, blue, opacity, 0 to 1, as on a screen. (4)
    pub color: [f32; 4],
}

/// A shape. Cylinders and capsules are along z; capsules have half-balls beyond their length.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ShapeDescription {
    /// Box of this size. [m] (3)
    Box {
        /// Full edges. [m] (3)
        size: [f64; 3],
    },
    /// Ball.
    Sphere {
        /// Radius. [m]
        radius: f64,
    },
    /// Cylinder along z.
    Cylinder {
        /// Radius. [m]
        radius: f64,
        /// Full length. [m]
        length: f64,
    },
    /// Capsule along z.
    Capsule {
        /// Radius. [m]
        radius: f64,
        /// Length of the cylindrical part. [m]
        length: f64,
    },
    /// Ellipsoid.
    Ellipsoid {
        /// Half of each axis. [m] (3)
        semi_axes: [f64; 3],
    },
    /// Triangles at `/mesh/<hash>`.
    Mesh(MeshReference),
}

/// A mesh: `/mesh/<hash>`, fine, and coarse for slow machines.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MeshReference {
    /// Hash of the whole mesh.
    pub fine: String,
    /// Number of its triangles.
    pub n_triangles: u32,
    /// Hash of a mesh with fewer triangles; the same where it has few.
    pub coarse: String,
}

/// A body that is no robot.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StageObject {
    /// Name.
    pub name: String,
    /// Whether it stands still.
    pub fixed: bool,
    /// Mass. [kg]
    pub mass: f64,
    /// Shape in the body's frame.
    pub shape: ShapeDescription,
    /// Red, green, blue, opacity, 0 to 1. (4)
    pub color: [f32; 4],
    /// Pose at the start.
    pub pose: Place,
}
