//! Robot on two legs as a planner needs it: soles, legs, ability to turn.

use std::sync::Arc;

use karakuri_dynamics::{
    Data, center_of_mass, forward_kinematics, frame_jacobian_local, frame_pose,
};
use karakuri_model::{Base, BodyId, Frame, FrameId, JointKind, Model, Sensor, SensorKind, Shape};
use karakuri_spatial::{Matrix3, Pose, Vector3};
use nalgebra::{DMatrix, Matrix6xX};

use super::error::PlanError;
use super::settings::{SettingError, WalkSettings};
use super::side::Side;
use crate::geometry::{ConvexPolygon, Rectangle};

/// Points of a foot's shapes this little above the lowest one belong to the sole. [m]
// More than the unevenness of a mesh, less than the height of a rounded rim, which does not bear.
const SOLE_THICKNESS: f64 = 0.002;
/// Least singular value of a leg's Jacobian (lengths by the height of the centre of mass) whose foot can turn. [-]
// Legs without a yaw joint have 0 but for rounding.
const SINGULAR: f64 = 1e-3;
/// Axes of a sensor differ from the root link's by no more. [rad]
// A lean that is wrong by so much moves the measured ξ by 2 % of the height of the centre of mass.
const ALIGNED: f64 = 0.02;

/// A force sensor in a foot.
#[derive(Debug, Clone, Copy)]
pub struct FootSensor {
    /// Index into the model's sensors.
    pub index: usize,
    /// Pose of the sensor in the sole, `X_SoleSensor`.
    pub sensor_in_sole: Pose,
}

/// A leg and its sole.
#[derive(Debug, Clone)]
pub struct Leg {
    /// Link of the foot.
    pub foot: FrameId,
    /// Pose of the sole in the foot's link, `X_FootSole`: straight below the link's origin, on the underside of its shapes.
    pub sole_in_foot: Pose,
    /// Outline of the sole in the sole's frame. [m]
    pub outline: Rectangle,
    /// Joints from the root link to the sole.
    pub joints: Vec<BodyId>,
    /// Position of the first of them in the root link, with the posture's joints. [m] (3)
    pub hip_in_root: Vector3,
    /// Length from there to the sole, stretched. [m]
    pub length: f64,
    /// Force sensor that feels the floor.
    pub sensor: Option<FootSensor>,
}

/// A robot on two legs.
#[derive(Debug, Clone)]
pub struct Biped {
    /// Model of the robot.
    pub model: Arc<Model>,
    /// Left leg, right leg.
    pub legs: [Leg; 2],
    /// Position with the posture's joints. (nq)
    pub posture: Vec<f64>,
    /// Whether the legs can turn a foot about the vertical.
    pub has_yaw: bool,
    /// Centre of mass in the root link, in that posture. [m] (3)
    pub com_in_root: Vector3,
    /// Inertial sensor whose axes are the root link's: index into the model's sensors.
    pub imu: Option<usize>,
}

/// Cause that keeps a robot from walking.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BipedError {
    /// The base does not float.
    #[error("robot `{robot}` has a fixed base; load it with `base: floating`")]
    FixedBase {
        /// Name of the robot.
        robot: String,
    },
    /// No link has the name of a foot.
    #[error("robot `{robot}` has no link `{link}`; name the links of the feet in `feet`")]
    NoLink {
        /// Name of the robot.
        robot: String,
        /// Name of the link.
        link: String,
    },
    /// No posture has the name given.
    #[error("robot `{robot}` has no posture `{posture}`; add it to the robot's YAML")]
    NoPosture {
        /// Name of the robot.
        robot: String,
        /// Name of the posture.
        posture: String,
    },
    /// Too few joints for a leg.
    #[error(
        "the leg to `{link}` has {joints} joints with one degree of freedom; walking needs at least 5"
    )]
    ShortLeg {
        /// Link of the foot.
        link: String,
        /// Number of its joints.
        joints: usize,
    },
    /// The foot has no flat underside to stand on.
    #[error(
        "link `{link}` has no flat underside: give the foot a box, a mesh or at least three balls to stand on"
    )]
    NoSole {
        /// Link of the foot.
        link: String,
    },
    /// The inertial sensor does not have the root link's attitude.
    #[error(
        "sensor `{sensor}` is on link `{link}`, which a joint or a turn parts from the root link `{root}`: walking needs the root link's attitude; put it on `{root}`"
    )]
    TurnedImu {
        /// Name of the sensor.
        sensor: String,
        /// Link of the sensor.
        link: String,
        /// Root link of the robot.
        root: String,
    },
    /// The force sensor is on a link without shapes, where no contact is felt.
    #[error(
        "sensor `{sensor}` is on link `{link}`, which has no collision shape and feels nothing; put it on the link with the sole's shapes, {shapes}"
    )]
    NothingToFeel {
        /// Name of the sensor.
        sensor: String,
        /// Link of the sensor.
        link: String,
        /// Links of the same body with shapes.
        shapes: String,
    },
    /// The gait's standing posture is out of reach.
    #[error("standing: {0}")]
    Posture(PlanError),
    /// A number of the gait is out of its range.
    #[error(transparent)]
    Setting(#[from] SettingError),
}

impl Biped {
    /// Finds legs and soles.
    ///
    /// # Errors
    /// When a setting is out of range, the base is fixed, or the posture, a foot's link, a leg of at least five
    /// joints, a flat sole or a usable sensor is missing.
    pub fn new(model: Arc<Model>, settings: &WalkSettings) -> Result<Self, BipedError> {
        settings.check()?;
        let robot = || model.name.clone();
        if model.base != Base::Floating {
            return Err(BipedError::FixedBase { robot: robot() });
        }
        let name = &settings.posture;
        let posture = model.postures.iter().find(|p| p.name == *name);
        let posture = posture
            .ok_or_else(|| BipedError::NoPosture { robot: robot(), posture: name.clone() })?;
        let mut q = model.neutral_position();
        for (joint, position) in &posture.positions {
            q[model.joints[joint.0].q_start] = *position;
        }
        let mut data = Data::new(&model);
        forward_kinematics(&model, &mut data, &q);
        let leg = |side: Side| leg(&model, &data, &settings.feet[side.index()]);
        let legs = [leg(Side::Left)?, leg(Side::Right)?];
        // In the posture of the gait: stretched legs are singular, bent ones show what their joints can do.
        let has_yaw = legs.iter().all(|leg| can_turn(&model, &data, leg, settings.com_height));
        let X_RootW = data.pose_in_world[0].inverse();
        let com_in_root = X_RootW.transform_point(&center_of_mass(&model, &data));
        let imu = imu(&model)?;
        Ok(Self { model, legs, posture: q, has_yaw, com_in_root, imu })
    }

    /// Support polygon: the hull of the soles that stand, in which the ZMP must be. [m]
    pub fn support_polygon(&self, soles: &[(Side, Pose)]) -> ConvexPolygon {
        let mut polygon = ConvexPolygon::default();
        self.fit_support(soles.iter().copied(), &mut polygon);
        polygon
    }

    /// Fits the support polygon into the memory of another one.
    pub(super) fn fit_support(
        &self,
        soles: impl Iterator<Item = (Side, Pose)>,
        polygon: &mut ConvexPolygon,
    ) {
        polygon.fit(soles.flat_map(|(side, X_WSole)| {
            self.legs[side.index()].outline.corners().map(|[x, y]| {
                let p = X_WSole.transform_point(&Vector3::new(x, y, 0.0));
                [p.x, p.y]
            })
        }));
    }
}

impl Leg {
    /// Finds a leg and its sole by the link of its foot, in the model's neutral position.
    ///
    /// # Errors
    /// When the link, a leg of at least five joints, a flat sole or a usable sensor is missing.
    pub fn find(model: &Model, link: &str) -> Result<Self, BipedError> {
        let mut data = Data::new(model);
        forward_kinematics(model, &mut data, &model.neutral_position());
        leg(model, &data, link)
    }
}

fn leg(model: &Model, data: &Data, link: &str) -> Result<Leg, BipedError> {
    let missing = || BipedError::NoLink { robot: model.name.clone(), link: link.to_owned() };
    let foot = model.frame(link).ok_or_else(missing)?;
    let mut joints = Vec::new();
    let mut body = model.frames[foot.0].body;
    // From the foot up to the base; joints of several degrees of freedom have no servo and are passed over.
    while let Some(b) = body {
        if matches!(
            model.joints[b.0].kind,
            JointKind::Revolute { .. } | JointKind::Prismatic { .. }
        ) {
            joints.push(b);
        }
        body = model.bodies[b.0].parent;
    }
    joints.reverse();
    // Five coordinates of a sole have to be set: three of its place, roll and pitch. Yaw may be missing.
    if joints.len() < 5 {
        return Err(BipedError::ShortLeg { link: link.to_owned(), joints: joints.len() });
    }
    let points = shape_points(model, data, foot);
    // In the foot link's own z, which is to be vertical where the foot stands.
    let lowest = points.iter().map(|p| p.z).fold(f64::INFINITY, f64::min);
    let outline = outline(&points, lowest);
    let outline = outline.ok_or_else(|| BipedError::NoSole { link: link.to_owned() })?;
    let sole_in_foot = Pose::from_translation(Vector3::new(0.0, 0.0, lowest));
    let X_RootW = data.pose_in_world[0].inverse();
    let mut chain: Vec<Vector3> = joints
        .iter()
        .map(|j| X_RootW.transform_point(&data.pose_in_world[j.0].translation))
        .collect();
    let sole = frame_pose(model, data, foot) * sole_in_foot;
    chain.push(X_RootW.transform_point(&sole.translation));
    // Distances of neighbouring joints, which no hinge changes: their sum is the reach of the straight leg.
    let length = chain.windows(2).map(|pair| (pair[1] - pair[0]).norm()).sum();
    let sensor = sensor(model, foot, &sole_in_foot)?;
    Ok(Leg { foot, sole_in_foot, outline, joints, hip_in_root: chain[0], length, sensor })
}

/// Sensor of contact wrenches on the body of the foot, on a link that has shapes.
fn sensor(
    model: &Model,
    foot: FrameId,
    sole_in_foot: &Pose,
) -> Result<Option<FootSensor>, BipedError> {
    let foot = &model.frames[foot.0];
    let on_foot = |s: &&Sensor| {
        s.kind == SensorKind::ContactWrench && model.frames[s.frame.0].body == foot.body
    };
    // A contact sensor feels the shapes of its own link, not those of the body.
    let feels = |s: &Sensor| model.collisions.iter().any(|shape| shape.frame == s.frame);
    let Some(index) = model.sensors.iter().position(|s| on_foot(&s) && feels(s)) else {
        // An error and not a foot without sensor: a sensor that never feels would have landing control seek the floor for ever.
        let Some(deaf) = model.sensors.iter().find(on_foot) else { return Ok(None) };
        let name = |frame: FrameId| model.frames[frame.0].name.clone();
        let shapes = model.collisions.iter().filter(|shape| shape.body == foot.body);
        let mut links: Vec<String> =
            shapes.map(|shape| format!("`{}`", name(shape.frame))).collect();
        links.dedup();
        return Err(BipedError::NothingToFeel {
            sensor: deaf.name.clone(),
            link: name(deaf.frame),
            shapes: links.join(", "),
        });
    };
    let sensor = &model.frames[model.sensors[index].frame.0];
    let X_SoleBody = (foot.pose_in_body * *sole_in_foot).inverse();
    Ok(Some(FootSensor { index, sensor_in_sole: X_SoleBody * sensor.pose_in_body }))
}

/// The first inertial sensor that turns as the root link does.
fn imu(model: &Model) -> Result<Option<usize>, BipedError> {
    let is_imu = |s: &Sensor| s.kind == SensorKind::Imu;
    let is_root = |s: &Sensor| {
        let Frame { body, pose_in_body, .. } = &model.frames[s.frame.0];
        let turned = (pose_in_body.rotation - Matrix3::identity()).amax();
        // Any link that is fixed to the root will do, if its axes are the root link's.
        *body == Some(BodyId(0)) && turned < ALIGNED
    };
    let index = model.sensors.iter().position(|s| is_imu(s) && is_root(s));
    let turned = model.sensors.iter().find(|s| is_imu(s)).filter(|_| index.is_none());
    turned.map_or(Ok(index), |sensor| {
        let root = model.frames.iter().find(|frame| frame.body == Some(BodyId(0)));
        Err(BipedError::TurnedImu {
            sensor: sensor.name.clone(),
            link: model.frames[sensor.frame.0].name.clone(),
            root: root.map_or_else(String::new, |frame| frame.name.clone()),
        })
    })
}

/// Corners, vertices and lowest points of the foot's shapes, in its link's frame. [m] (n × 3)
fn shape_points(model: &Model, data: &Data, foot: FrameId) -> Vec<Vector3> {
    let X_FootW = frame_pose(model, data, foot).inverse();
    let Some(body) = model.frames[foot.0].body else { return Vec::new() };
    let mut points = Vec::new();
    for geometry in model.collisions.iter().filter(|g| g.body == Some(body)) {
        let X_FootG = X_FootW * data.pose_in_world[body.0] * geometry.pose_in_body;
        let corners: Vec<Vector3> = match &geometry.shape {
            Shape::Box { size } => (0..8)
                .map(|i| {
                    // The bits of the number are the ends along the three axes.
                    let end = |bit: usize| if i >> bit & 1 == 1 { 0.5 } else { -0.5 };
                    size.component_mul(&Vector3::new(end(0), end(1), end(2)))
                })
                .collect(),
            Shape::Mesh(mesh) => mesh.vertices.iter().map(|v| Vector3::from(*v)).collect(),
            // The lowest point along the foot's own vertical, not the ball's.
            Shape::Sphere { radius } => vec![-X_FootG.rotation.row(2).transpose() * *radius],
            _ => Vec::new(),
        };
        points.extend(corners.iter().map(|p| X_FootG.transform_point(p)));
    }
    points
}

/// The rectangle around the points of the lowest plane.
fn outline(points: &[Vector3], lowest: f64) -> Option<Rectangle> {
    let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
    for p in points.iter().filter(|p| p.z < lowest + SOLE_THICKNESS) {
        for (axis, x) in [p.x, p.y].into_iter().enumerate() {
            low[axis] = low[axis].min(x);
            high[axis] = high[axis].max(x);
        }
    }
    // A foot that touches in a line or a point has no polygon for a ZMP.
    let has_area = high[0] > low[0] && high[1] > low[1];
    has_area.then_some(Rectangle { x: [low[0], high[0]], y: [low[1], high[1]] })
}

fn can_turn(model: &Model, data: &Data, leg: &Leg, length: f64) -> bool {
    let mut whole = Matrix6xX::zeros(model.nv);
    frame_jacobian_local(model, data, leg.foot, &mut whole);
    // Six independent rows, lengths by `length`: the leg moves its foot in all directions, about the vertical too.
    let column = |k: usize| model.joints[leg.joints[k].0].v_start;
    let jacobian = DMatrix::from_fn(6, leg.joints.len(), |row, k| {
        whole[(row, column(k))] / if row < 3 { 1.0 } else { length }
    });
    jacobian.ncols() >= 6 && jacobian.singular_values().min() > SINGULAR
}
