//! A pose as the page shows it: bodies, centre of mass, support polygon, margin.

use indexmap::IndexMap;
use karakuri_dynamics::{center_of_mass, forward_kinematics, frame_pose};
use karakuri_gait::geometry::ConvexPolygon;
use karakuri_model::{Base, BodyId, DofKind, Model, Shape};
use karakuri_motion::{Document, RootPose, Support};
use karakuri_spatial::{Matrix3, Pose, UnitQuaternion, Vector3};

use super::Poser;
use crate::stage::{place_of, robot_places};
use crate::wire::{Code, Evaluated, Joints, Place, PoseRequest, WireError};

/// Points this little above the lowest one touch the floor. [m]
const TOUCHING: f64 = 0.002;

impl Poser {
    /// The robot at a pose.
    pub(crate) fn evaluate(
        &mut self,
        document: &Document,
        request: &PoseRequest,
    ) -> Result<Evaluated, WireError> {
        let q = self.position(document, request)?;
        Ok(self.show(&q, request.support.unwrap_or(Support::Auto)))
    }

    /// Position of a pose, placed on the floor. (nq)
    pub(super) fn position(
        &mut self,
        document: &Document,
        request: &PoseRequest,
    ) -> Result<Vec<f64>, WireError> {
        let mut q = self.model.default_position();
        let mut root = None;
        let mut layers = Vec::new();
        let mut next = request.pose.as_deref();
        while let Some(name) = next {
            let pose = document.poses.get(name).ok_or_else(|| {
                let known: Vec<&str> = document.poses.keys().map(String::as_str).collect();
                let text = format!("there is no pose `{name}`");
                WireError::new(Code::NotFound, text, format!("there are {}", known.join(", ")))
            })?;
            layers.push(pose);
            next = pose.from.as_deref();
        }
        let unit = document.units.angle;
        for pose in layers.into_iter().rev() {
            root = pose.root.or(root);
            for (name, value) in &pose.joints {
                let id = self.joint(name)?;
                let is_angle = self.model.joints[id.0].kind.single() == Some(DofKind::Angle);
                let value = if is_angle { unit.to_rad(*value) } else { *value };
                q[self.model.joints[id.0].q_start] = value;
            }
        }
        for (name, value) in &request.joints.0 {
            let id = self.joint(name)?;
            q[self.model.joints[id.0].q_start] = *value;
        }
        if !q.iter().all(|x| x.is_finite()) {
            return Err(WireError::new(Code::Limit, "a position is no number", "write one"));
        }
        self.reduction.project_position(&mut q);
        if matches!(self.model.base, Base::Floating) {
            let given = request.root.map(|place| pose_of(&place)).or_else(|| {
                let RootPose { xyz, rpy } = root?;
                Some(Pose::from_xyz_rpy(xyz, rpy.map(|angle| unit.to_rad(angle))))
            });
            match given {
                Some(pose) => set_root(&mut q, &pose),
                None => self.stand(&mut q, request.support.unwrap_or(Support::Auto)),
            }
        }
        Ok(q)
    }

    /// Places the root so that the supporting foot, or the lowest point, stands on the floor.
    fn stand(&mut self, q: &mut [f64], support: Support) {
        let model = &self.model;
        let foot = match (self.feet, support) {
            (Some([left, _]), Support::Left | Support::Both | Support::Auto) => Some(left),
            (Some([_, right]), Support::Right) => Some(right),
            _ => None,
        };
        if let Some(foot) = foot {
            // Where the foot is in the neutral posture, its axes parallel to the world's.
            let mut neutral = model.neutral_position();
            self.reduction.project_position(&mut neutral);
            forward_kinematics(model, &mut self.data, &neutral);
            let mut X_WFoot = frame_pose(model, &self.data, foot);
            X_WFoot.rotation = Matrix3::identity();
            forward_kinematics(model, &mut self.data, q);
            let X_WRoot = self.data.pose_in_world[0];
            let X_RootFoot = X_WRoot.inverse() * frame_pose(model, &self.data, foot);
            set_root(q, &(X_WFoot * X_RootFoot.inverse()));
        }
        forward_kinematics(model, &mut self.data, q);
        let lowest = self.points(|_| true).map(|p| p.z).fold(f64::INFINITY, f64::min);
        if lowest.is_finite() {
            q[2] -= lowest;
        }
    }

    /// Points of collision shapes of some links, at the data's position.
    fn points(&self, of: impl Fn(karakuri_model::FrameId) -> bool) -> impl Iterator<Item = Vector3> {
        let geometries = self.model.collisions.iter().filter(move |g| of(g.frame));
        geometries.flat_map(|g| {
            let X_WS = match g.body {
                Some(body) => self.data.pose_in_world[body.0] * g.pose_in_body,
                None => g.pose_in_body,
            };
            corners(&g.shape).into_iter().map(move |p| X_WS.transform_point(&p))
        })
    }

    /// The robot at a position. (nq)
    pub(super) fn show(&mut self, q: &[f64], support: Support) -> Evaluated {
        let bodies = robot_places(&self.model, &mut self.data, q);
        let model = &self.model;
        let com = center_of_mass(model, &self.data);
        let lowest = self.points(|_| true).map(|p| p.z).fold(f64::INFINITY, f64::min);
        let floor = if lowest.is_finite() { lowest } else { 0.0 };
        let stands = |frame| match (self.feet, support) {
            (Some([left, _]), Support::Left) => frame == left,
            (Some([_, right]), Support::Right) => frame == right,
            (_, Support::None) => false,
            _ => true,
        };
        let touching: Vec<[f64; 2]> = self
            .points(stands)
            .filter(|p| p.z < floor + TOUCHING)
            .map(|p| [p.x, p.y])
            .collect();
        let is_floating = matches!(model.base, Base::Floating);
        let polygon = ConvexPolygon::hull(&touching);
        let supported = is_floating && touching.len() >= 3;
        let singles = model.joints.iter().filter(|j| j.kind.single().is_some());
        Evaluated {
            joints: Joints(
                singles.map(|j| (j.name.clone(), q[j.q_start])).collect::<IndexMap<_, _>>(),
            ),
            root: if is_floating { bodies[0] } else { place_of(&Pose::IDENTITY) },
            bodies,
            com: com.into(),
            margin: supported.then(|| polygon.margin([com.x, com.y])),
            polygon: if supported { polygon.corners.clone() } else { Vec::new() },
            floor,
            support_error: 0.0,
        }
    }

    /// A joint with one degree of freedom that leads itself.
    pub(super) fn joint(&self, name: &str) -> Result<BodyId, WireError> {
        let found = self.model.joint(name);
        found.filter(|id| self.model.joints[id.0].kind.single().is_some()).ok_or_else(|| {
            let text = format!("the robot has no joint `{name}` with one degree of freedom");
            WireError::new(Code::NotFound, text, "take a name of the robot's description")
        })
    }

    /// Model of the robot.
    pub(crate) fn model(&self) -> &Model {
        &self.model
    }
}

/// Sets the root link's pose of a floating robot.
pub(super) fn set_root(q: &mut [f64], pose: &Pose) {
    q[..7].copy_from_slice(&place_of(pose));
}

/// Pose of `x y z qx qy qz qw`, whose quaternion need not be of length one.
pub(super) fn pose_of(place: &Place) -> Pose {
    let [x, y, z, qx, qy, qz, qw] = *place;
    let rotation = UnitQuaternion::new_normalize(nalgebra::Quaternion::new(qw, qx, qy, qz));
    Pose::from_quaternion(&rotation, Vector3::new(x, y, z))
}

/// Points whose hull is the shape, or nearly.
fn corners(shape: &Shape) -> Vec<Vector3> {
    /// Points of a circle.
    const SIDES: usize = 16;
    let circle = |radius: f64, z: f64| {
        (0..SIDES).map(move |i| {
            let (sin, cos) = (std::f64::consts::TAU * i as f64 / SIDES as f64).sin_cos();
            Vector3::new(radius * cos, radius * sin, z)
        })
    };
    let round = |axes: Vector3, half: f64| {
        let axis = |i: usize, s: f64| Vector3::ith(i, s * axes[i]);
        (0..3)
            .flat_map(|i| [axis(i, 1.0), axis(i, -1.0)])
            .flat_map(|p| [p + Vector3::z() * half, p - Vector3::z() * half])
            .collect()
    };
    match shape {
        Shape::Box { size } => (0..8)
            .map(|i| {
                let sign = |bit: usize| if i >> bit & 1 == 0 { -0.5 } else { 0.5 };
                size.component_mul(&Vector3::new(sign(0), sign(1), sign(2)))
            })
            .collect(),
        Shape::Sphere { radius } => round(Vector3::repeat(*radius), 0.0),
        Shape::Ellipsoid { semi_axes } => round(*semi_axes, 0.0),
        Shape::Capsule { radius, length } => round(Vector3::repeat(*radius), length / 2.0),
        Shape::Cylinder { radius, length } => {
            circle(*radius, length / 2.0).chain(circle(*radius, -length / 2.0)).collect()
        }
        Shape::Mesh(mesh) => mesh.vertices.iter().map(|&v| v.into()).collect(),
    }
}
