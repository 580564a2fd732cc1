//! Conversion of `urdf-rs`' robot to a builder.

use std::collections::BTreeMap;
use std::sync::Arc;

use karakuri_spatial::{Inertia, Matrix3, Pose, Vector3};
use urdf_rs::JointType;

use super::document;
use super::elements::Urdf;
use crate::assets::{Assets, MeshCache};
use crate::diagnostic::{Place, Report};
use crate::xml::XmlText;
use crate::{
    Base, GeometrySpec, JointKind, JointSpec, Limits, LinkSpec, MimicSpec, ModelBuilder, Shape,
};

/// Reads a URDF; problems go to the report.
pub(crate) fn read(
    file: &str,
    text: &str,
    assets: &mut dyn Assets,
    report: &mut Report,
) -> Option<ModelBuilder> {
    let xml = XmlText::new(file, text, report)?;
    let urdf = document::read(&xml, report)?;
    let mut builder = Converter::new(file, &urdf, assets, report).convert(&urdf.robot);
    builder.all_joints = urdf.all_joints;
    Some(builder)
}

struct Converter<'a> {
    file: &'a str,
    mesh_places: std::slice::Iter<'a, Place>,
    colors: BTreeMap<String, [f32; 4]>,
    meshes: MeshCache<'a>,
    report: &'a mut Report,
}

impl<'a> Converter<'a> {
    fn new(
        file: &'a str,
        urdf: &'a Urdf,
        assets: &'a mut dyn Assets,
        report: &'a mut Report,
    ) -> Self {
        // A material is defined in <robot> or where it is first used with a colour.
        let robot = &urdf.robot;
        // Later ones win in a map: those of <robot> are the definitions that count.
        let used = robot.links.iter().flat_map(|l| &l.visual).filter_map(|v| v.material.as_ref());
        let colors = used
            .chain(&robot.materials)
            .filter_map(|m| Some((m.name.clone(), rgba(m.color.as_ref()?))))
            .collect();
        let meshes = MeshCache::new(assets);
        Self { file, mesh_places: urdf.mesh_places.iter(), colors, meshes, report }
    }

    fn convert(mut self, robot: &urdf_rs::Robot) -> ModelBuilder {
        // URDF does not say whether the base is fixed; the robot YAML or the caller does.
        let mut builder = ModelBuilder::new(&robot.name, Base::Fixed(Pose::IDENTITY));
        for link in &robot.links {
            builder.links.push(self.link(link));
        }
        builder.joints.extend(robot.joints.iter().map(joint));
        builder
    }

    fn link(&mut self, link: &urdf_rs::Link) -> LinkSpec {
        let mut spec = LinkSpec::new(&link.name, inertia(&link.inertial));
        for visual in &link.visual {
            // Only a mesh that could not be loaded, which is reported.
            let Some(shape) = self.shape(&visual.geometry) else { continue };
            let material = visual.material.as_ref();
            let own = material.and_then(|m| m.color.as_ref()).map(rgba);
            let named = material.and_then(|m| self.colors.get(&m.name).copied());
            let color = own.or(named).unwrap_or(GeometrySpec::DEFAULT_COLOR);
            spec.visuals
                .push(GeometrySpec { color, ..GeometrySpec::new(pose(&visual.origin), shape) });
        }
        for collision in &link.collision {
            let Some(shape) = self.shape(&collision.geometry) else { continue };
            spec.collisions.push(GeometrySpec::new(pose(&collision.origin), shape));
        }
        spec
    }

    fn shape(&mut self, geometry: &urdf_rs::Geometry) -> Option<Shape> {
        Some(match *geometry {
            urdf_rs::Geometry::Box { size } => Shape::Box { size: Vector3::from(*size) },
            urdf_rs::Geometry::Sphere { radius } => Shape::Sphere { radius },
            urdf_rs::Geometry::Cylinder { radius, length } => Shape::Cylinder { radius, length },
            urdf_rs::Geometry::Capsule { radius, length } => Shape::Capsule { radius, length },
            urdf_rs::Geometry::Mesh { ref filename, scale } => {
                // In step with the reader, which kept a place for each mesh in this order.
                let place = self.mesh_places.next().cloned().unwrap_or_default();
                let scale = scale.map_or([1.0; 3], |s| *s);
                let mesh = self.meshes.load(filename, self.file, scale, &place, self.report)?;
                Shape::Mesh(Arc::clone(&mesh))
            }
        })
    }
}

fn joint(joint: &urdf_rs::Joint) -> JointSpec {
    let axis = Vector3::from(*joint.axis.xyz);
    let kind = match joint.joint_type {
        JointType::Revolute | JointType::Continuous => Some(JointKind::Revolute { axis }),
        JointType::Prismatic => Some(JointKind::Prismatic { axis }),
        JointType::Planar => Some(planar(axis)),
        JointType::Spherical => Some(JointKind::Spherical),
        JointType::Floating => Some(JointKind::Floating),
        JointType::Fixed => None,
    };
    let limit = &joint.limit;
    let dynamics = joint.dynamics.as_ref();
    JointSpec {
        origin: pose(&joint.origin),
        limits: Limits {
            lower: limit.lower,
            upper: limit.upper,
            velocity: limit.velocity,
            effort: limit.effort,
        },
        damping: dynamics.map_or(0.0, |d| d.damping),
        friction: dynamics.map_or(0.0, |d| d.friction),
        mimic: joint.mimic.as_ref().map(|mimic| MimicSpec {
            leader: mimic.joint.clone(),
            multiplier: mimic.multiplier.unwrap_or(1.0),
            offset: mimic.offset.unwrap_or(0.0),
        }),
        ..JointSpec::new(&joint.name, &joint.parent.link, &joint.child.link, kind)
    }
}

/// Planar joint of a normal: URDF's axis; the in-plane axes are x and y turned with z onto it by the smallest rotation.
fn planar(normal: Vector3) -> JointKind {
    // Opposite directions have no smallest rotation between them: half a turn about x then.
    let turn = nalgebra::Rotation3::rotation_between(&Vector3::z(), &normal).unwrap_or_else(|| {
        nalgebra::Rotation3::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI)
    });
    // The length of the normal goes to the axes, where the builder checks and reports it as of any joint.
    let scale = normal.norm();
    JointKind::Planar { x: turn * Vector3::x() * scale, y: turn * Vector3::y() * scale }
}

fn pose(pose: &urdf_rs::Pose) -> Pose {
    Pose::from_xyz_rpy(*pose.xyz, *pose.rpy)
}

#[expect(clippy::cast_possible_truncation, reason = "colours are shown with 8 bits")]
fn rgba(color: &urdf_rs::Color) -> [f32; 4] {
    color.rgba.map(|c| c as f32)
}

/// Inertia in the link's frame; URDF gives the moments about the centre of mass, in the axes of <origin>.
fn inertia(inertial: &urdf_rs::Inertial) -> Inertia {
    let i = &inertial.inertia;
    let X_LC = pose(&inertial.origin);
    let moments = Matrix3::new(i.ixx, i.ixy, i.ixz, i.ixy, i.iyy, i.iyz, i.ixz, i.iyz, i.izz);
    // `I_L = R I_C Rᵀ` about a centre of mass at the origin of <inertial>: `transformed` does both.
    Inertia { mass: inertial.mass.value, com: Vector3::zeros(), about_com: moments }
        .transformed(&X_LC)
}
