//! Each URDF element: read, checked, and kept where it is right.

use std::collections::BTreeSet;

use karakuri_spatial::UnitQuaternion;
use roxmltree::Node;
use urdf_rs::{
    Axis, Collision, Color, Dynamics, Geometry, Inertia, Inertial, Joint, JointLimit, JointType,
    Link, LinkName, Mass, Material, Mimic, Pose, Robot, Vec3, Vec4, Visual,
};

use super::values::{Values, join};
use crate::closest::closest;
use crate::diagnostic::{Place, Report, Subject};
use crate::xml::XmlText;

const JOINT_TYPES: [(&str, JointType); 7] = [
    ("revolute", JointType::Revolute),
    ("continuous", JointType::Continuous),
    ("prismatic", JointType::Prismatic),
    ("fixed", JointType::Fixed),
    ("floating", JointType::Floating),
    ("planar", JointType::Planar),
    ("spherical", JointType::Spherical),
];

/// Content of a URDF without its errors.
pub(super) struct Urdf {
    pub(super) robot: Robot,
    /// Places of its meshes, in order.
    pub(super) mesh_places: Vec<Place>,
    /// Whether every joint could be read and is in the robot.
    pub(super) all_joints: bool,
}

/// Reads the elements of one file.
pub(super) struct Elements<'a, 'r> {
    values: Values<'a, 'r>,
    mesh_places: Vec<Place>,
    materials: BTreeSet<String>,
    /// Whether every joint could be read so far: what hangs on another is not lost, only unknown.
    all_joints: bool,
}

fn child<'a, 'i>(node: Node<'a, 'i>, tag: &str) -> Option<Node<'a, 'i>> {
    children(node, tag).next()
}

fn children<'a, 'i>(node: Node<'a, 'i>, tag: &str) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(move |n| {
        // Without namespace: `<gz:link>` is for another program.
        n.is_element() && n.tag_name().name() == tag && n.tag_name().namespace().is_none()
    })
}

impl<'a, 'r> Elements<'a, 'r> {
    pub(super) fn new(xml: &'a XmlText<'a>, report: &'r mut Report) -> Self {
        let values = Values { xml, report };
        Self { values, mesh_places: Vec::new(), materials: BTreeSet::new(), all_joints: true }
    }

    fn error(&mut self, node: Node<'_, '_>, message: String, remedy: &str) {
        let place = self.values.xml.node(node);
        self.values.report.error_at(place, message, remedy);
    }

    fn warn(&mut self, node: Node<'_, '_>, message: String, remedy: &str) {
        let place = self.values.xml.node(node);
        self.values.report.warn_at(place, message, remedy);
    }

    fn locate(&mut self, subject: Subject, node: Node<'_, '_>) {
        let place = self.values.xml.node(node);
        self.values.report.locate(subject, place);
    }

    pub(super) fn robot(mut self, root: Node<'_, '_>) -> Urdf {
        self.locate(Subject::Robot, root);
        let name = root.attribute("name").unwrap_or_default().trim();
        if name.is_empty() {
            self.warn(
                root,
                "the robot has no name".to_owned(),
                "called `robot`; write <robot name=\"...\">",
            );
        }
        let name = if name.is_empty() { "robot" } else { name };
        let mut materials = Vec::new();
        // Before the links, because materials may be used above their definition.
        for material in children(root, "material") {
            if let Some(name) = material.attribute("name") {
                self.materials.insert(name.to_owned());
            }
            materials.push(self.material(material));
        }
        let links = children(root, "link").filter_map(|link| self.link(link)).collect();
        let mut joints = Vec::new();
        for node in children(root, "joint") {
            let joint = self.joint(node);
            // A link that hangs on a joint that was not read has lost its parent to this mistake, not to one of its own.
            self.all_joints &= joint.is_some();
            joints.extend(joint);
        }
        let robot = Robot { name: name.to_owned(), version: None, links, joints, materials };
        Urdf { robot, mesh_places: self.mesh_places, all_joints: self.all_joints }
    }

    /// Unique name of an element; a second definition is reported and not read.
    fn name<'n>(&mut self, node: Node<'n, '_>, subject: fn(String) -> Subject) -> Option<&'n str> {
        let name = self.values.text(node, "name", "...")?;
        let subject = subject(name.to_owned());
        let tag = node.tag_name().name();
        // Place and duplicate are one look-up: the first definition left its place there.
        if let Some(first) = self.values.report.known(&subject) {
            let message = format!("{tag} `{name}` is defined twice, first in line {}", first.line);
            self.error(node, message, "rename or delete one of them");
            return None;
        }
        self.locate(subject, node);
        Some(name)
    }

    fn link(&mut self, node: Node<'_, '_>) -> Option<Link> {
        let name = self.name(node, Subject::Link)?;
        let inertial = child(node, "inertial").and_then(|inertial| {
            self.locate(Subject::Inertial(name.to_owned()), inertial);
            self.inertial(inertial, name)
        });
        if let Some(second) = children(node, "inertial").nth(1) {
            self.warn(
                second,
                format!("link `{name}` has two <inertial>"),
                "the first is used; delete this one",
            );
        }
        let visual = children(node, "visual").filter_map(|n| self.visual(n, name)).collect();
        let collision =
            children(node, "collision").filter_map(|n| self.collision(n, name)).collect();
        // A link without <inertial> is a mere frame, of mass zero.
        let inertial = inertial.unwrap_or_default();
        Some(Link { name: name.to_owned(), inertial, visual, collision })
    }

    fn inertial(&mut self, node: Node<'_, '_>, link: &str) -> Option<Inertial> {
        let (Some(mass), Some(inertia)) = (child(node, "mass"), child(node, "inertia")) else {
            let missing = if child(node, "mass").is_none() { "mass" } else { "inertia" };
            let example = if missing == "mass" {
                "write <mass value=\"...\"/> in kg"
            } else {
                "write <inertia ixx= ixy= ixz= iyy= iyz= izz=/> in kg·m²"
            };
            self.error(node, format!("link `{link}`: <inertial> has no <{missing}>"), example);
            return None;
        };
        let origin = self.origin(node);
        let mass = Mass { value: self.values.required(mass, "value", "kg") };
        let [ixx, iyy, izz] =
            ["ixx", "iyy", "izz"].map(|axis| self.values.required(inertia, axis, "kg·m²"));
        // Products may be left out, which means symmetry; a moment that is left out would be zero and unphysical.
        let [ixy, ixz, iyz] = ["ixy", "ixz", "iyz"]
            .map(|product| self.values.number(inertia, product).unwrap_or(0.0));
        Some(Inertial { origin, mass, inertia: Inertia { ixx, ixy, ixz, iyy, iyz, izz } })
    }

    fn origin(&mut self, parent: Node<'_, '_>) -> Pose {
        // URDF: no <origin> is the identity.
        let Some(node) = child(parent, "origin") else { return Pose::default() };
        let xyz = self.values.numbers(node, "xyz").unwrap_or_default();
        let mut rpy = self.values.numbers(node, "rpy").unwrap_or_default();
        // An extension of newer URDF versions; turned into angles, as the rest of the reader has these.
        if let Some([x, y, z, w]) = self.values.numbers(node, "quat_xyzw") {
            let quaternion = nalgebra::Quaternion::new(w, x, y, z);
            if node.has_attribute("rpy") {
                self.error(
                    node,
                    "<origin> has both `rpy` and `quat_xyzw`".to_owned(),
                    "keep one of them",
                );
            } else if quaternion.norm() < 1e-9 {
                self.error(
                    node,
                    "<origin quat_xyzw> is zero".to_owned(),
                    "write quat_xyzw=\"0 0 0 1\"",
                );
            } else {
                let (r, p, y) = UnitQuaternion::new_normalize(quaternion).euler_angles();
                rpy = [r, p, y];
            }
        }
        Pose { xyz: Vec3(xyz), rpy: Vec3(rpy) }
    }

    fn visual(&mut self, node: Node<'_, '_>, link: &str) -> Option<Visual> {
        let geometry = self.shape(node, link)?;
        let origin = self.origin(node);
        let material = child(node, "material").and_then(|n| self.use_material(n));
        Some(Visual { name: None, origin, geometry, material })
    }

    fn collision(&mut self, node: Node<'_, '_>, link: &str) -> Option<Collision> {
        let geometry = self.shape(node, link)?;
        Some(Collision { name: None, origin: self.origin(node), geometry })
    }

    fn shape(&mut self, node: Node<'_, '_>, link: &str) -> Option<Geometry> {
        let tag = node.tag_name().name();
        let Some(geometry) = child(node, "geometry") else {
            self.error(
                node,
                format!("link `{link}`: <{tag}> has no <geometry>"),
                "add one, or delete it",
            );
            return None;
        };
        // The first one, as in urdfdom: a <geometry> holds one shape.
        let Some(shape) = geometry.children().find(Node::is_element) else {
            self.error(
                geometry,
                format!("link `{link}`: <geometry> is empty"),
                "add <box>, <cylinder>, <sphere>, <capsule> or <mesh>",
            );
            return None;
        };
        self.geometry(shape)
    }

    fn geometry(&mut self, node: Node<'_, '_>) -> Option<Geometry> {
        let tag = node.tag_name().name();
        match tag {
            "box" => {
                let size = self.values.numbers(node, "size");
                if !node.has_attribute("size") {
                    self.error(
                        node,
                        "<box> has no `size`".to_owned(),
                        "write <box size=\"x y z\"/> in m",
                    );
                }
                let size = size?;
                // A flat box has no inside, from which a contact could push.
                if size.iter().any(|&edge| edge <= 0.0) {
                    self.error(
                        node,
                        format!("<box size=\"{}\">: an edge is not above 0", join(&size)),
                        "write three edge lengths in m, above 0",
                    );
                    return None;
                }
                Some(Geometry::Box { size: Vec3(size) })
            }
            "sphere" => Some(Geometry::Sphere { radius: self.values.positive(node, "radius") }),
            "cylinder" | "capsule" => {
                let radius = self.values.positive(node, "radius");
                let length = self.values.positive(node, "length");
                Some(if tag == "cylinder" {
                    Geometry::Cylinder { radius, length }
                } else {
                    Geometry::Capsule { radius, length }
                })
            }
            "mesh" => self.mesh(node),
            _ => {
                let known = ["box", "cylinder", "sphere", "capsule", "mesh"];
                let remedy = closest(tag, known.into_iter()).map_or(
                    "use <box>, <cylinder>, <sphere>, <capsule> or <mesh>".to_owned(),
                    |known| format!("did you mean <{known}>?"),
                );
                self.error(node, format!("unknown shape <{tag}>"), &remedy);
                None
            }
        }
    }

    fn mesh(&mut self, node: Node<'_, '_>) -> Option<Geometry> {
        let filename = self.values.text(node, "filename", "package://my_robot/meshes/link.stl")?;
        let scale = if node.has_attribute("scale") {
            let scale = self.values.numbers(node, "scale")?;
            // Negative factors are fine: they mirror a left part into a right one.
            if scale.contains(&0.0) {
                self.error(
                    node,
                    format!("<mesh scale=\"{}\"> flattens the mesh", join(&scale)),
                    "write three factors other than 0: millimetres are scale=\"0.001 0.001 0.001\"",
                );
                return None;
            }
            Some(Vec3(scale))
        } else {
            None
        };
        // Only of meshes that are kept, in the order in which they are loaded.
        self.mesh_places.push(self.values.xml.node(node));
        Some(Geometry::Mesh { filename: filename.to_owned(), scale })
    }

    fn use_material(&mut self, node: Node<'_, '_>) -> Option<Material> {
        let has_own = child(node, "color").is_some() || child(node, "texture").is_some();
        let name = node.attribute("name").unwrap_or_default();
        // Defined in <robot>, or with a colour at an earlier link, as urdfdom looks them up.
        if !has_own && !name.is_empty() && !self.materials.contains(name) {
            self.warn(
                node,
                format!("material `{name}` is not defined"),
                "drawn grey; define <material name=... ><color rgba=.../></material> in <robot>",
            );
            return None;
        }
        // From here on later links may use it by its name.
        if has_own {
            self.materials.insert(name.to_owned());
        }
        Some(self.material(node))
    }

    fn material(&mut self, node: Node<'_, '_>) -> Material {
        let name = node.attribute("name").unwrap_or_default().to_owned();
        let color = child(node, "color").map(|color| {
            let rgba: [f64; 4] = self.values.numbers(color, "rgba").unwrap_or([0.7, 0.7, 0.7, 1.0]);
            if rgba.iter().any(|c| !(0.0..=1.0).contains(c)) {
                self.warn(
                    color,
                    format!("colour \"{}\" is outside 0 to 1", join(&rgba)),
                    "clipped; write rgba as four numbers from 0 to 1",
                );
            }
            Color { rgba: Vec4(rgba.map(|c| c.clamp(0.0, 1.0))) }
        });
        Material { name, color, texture: None }
    }

    /// Reads a joint; `None` where its name or its ends are missing: what hangs on it is not lost, only unknown.
    fn joint(&mut self, node: Node<'_, '_>) -> Option<Joint> {
        let name = self.name(node, Subject::Joint);
        // What else is wrong with a joint without a name is reported all the same.
        let called = name.unwrap_or("?");
        let joint_type = self.joint_type(node, called);
        let parent = self.end(node, "parent", called);
        let child_link = self.end(node, "child", called);
        // Only after all parts were asked for: each that is missing is reported, not the first alone.
        let (name, joint_type) = (name?, joint_type?);
        let (parent, child_link) = (parent?, child_link?);
        let origin = self.origin(node);
        let turns_or_slides = matches!(
            joint_type,
            JointType::Revolute | JointType::Continuous | JointType::Prismatic | JointType::Planar
        );
        // Other types ignore an axis, so none is asked for.
        let axis = if turns_or_slides { self.axis(node, name) } else { Axis::default() };
        let limit = self.limit(node, name, &joint_type);
        let dynamics = child(node, "dynamics").map(|dynamics| {
            let damping = self.values.number(dynamics, "damping").unwrap_or(0.0);
            let friction = self.values.number(dynamics, "friction").unwrap_or(0.0);
            self.locate(Subject::Drive(name.to_owned()), dynamics);
            Dynamics { damping, friction }
        });
        let mimic = child(node, "mimic").and_then(|n| self.mimic(n, name, &joint_type));
        Some(Joint {
            name: name.to_owned(),
            joint_type,
            origin,
            parent: LinkName { link: parent.to_owned() },
            child: LinkName { link: child_link.to_owned() },
            axis,
            limit,
            calibration: None,
            dynamics,
            mimic,
            safety_controller: None,
        })
    }

    fn joint_type(&mut self, node: Node<'_, '_>, name: &str) -> Option<JointType> {
        let text = self.values.text(node, "type", "revolute")?;
        if let Some((_, joint_type)) = JOINT_TYPES.iter().find(|(known, _)| *known == text) {
            return Some(joint_type.clone());
        }
        let known = JOINT_TYPES.map(|(known, _)| known);
        let remedy = closest(&text.to_lowercase(), known.into_iter()).map_or_else(
            || format!("use one of {}", known.join(", ")),
            |known| format!("did you mean `{known}`?"),
        );
        self.error(node, format!("joint `{name}`: unknown type `{text}`"), &remedy);
        // The tree is checked all the same.
        Some(JointType::Fixed)
    }

    fn end<'n>(&mut self, node: Node<'n, '_>, role: &str, name: &str) -> Option<&'n str> {
        let Some(end) = child(node, role) else {
            self.error(
                node,
                format!("joint `{name}` has no <{role}>"),
                &format!("add <{role} link=\"...\"/>"),
            );
            return None;
        };
        self.values.text(end, "link", "base_link")
    }

    fn axis(&mut self, joint: Node<'_, '_>, name: &str) -> Axis {
        let Some(node) = child(joint, "axis") else {
            self.warn(
                joint,
                format!("joint `{name}` has no <axis>"),
                "x is taken, as URDF says; write <axis xyz=\"1 0 0\"/> if you mean it",
            );
            return Axis::default();
        };
        self.locate(Subject::Axis(name.to_owned()), node);
        if !node.has_attribute("xyz") {
            self.error(
                node,
                format!("joint `{name}`: <axis> has no `xyz`"),
                "write <axis xyz=\"0 0 1\"/>",
            );
        }
        self.values.numbers(node, "xyz").map_or_else(Axis::default, |xyz| Axis { xyz: Vec3(xyz) })
    }

    /// Reads limits; those that are not set are infinite. A zero effort or velocity, which exporters write for "not
    /// set", is taken as none, for a joint that can never move is no joint.
    fn limit(&mut self, joint: Node<'_, '_>, name: &str, joint_type: &JointType) -> JointLimit {
        let ranged = matches!(joint_type, JointType::Revolute | JointType::Prismatic);
        let mut limit = JointLimit {
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
            effort: f64::INFINITY,
            velocity: f64::INFINITY,
            ..JointLimit::default()
        };
        let Some(node) = child(joint, "limit") else {
            if ranged {
                let (kind, remedy) = if *joint_type == JointType::Revolute {
                    (
                        "revolute",
                        "add <limit lower= upper= effort= velocity=/>, or type=\"continuous\" for a joint without stops",
                    )
                } else {
                    ("prismatic", "add <limit lower= upper= effort= velocity=/>")
                };
                self.error(joint, format!("{kind} joint `{name}` has no <limit>"), remedy);
            }
            return limit;
        };
        self.locate(Subject::Limit(name.to_owned()), node);
        let has_range = node.has_attribute("lower") || node.has_attribute("upper");
        if ranged {
            // URDF: an omitted bound is 0.
            limit.lower = self.values.limit(node, "lower").unwrap_or(0.0);
            limit.upper = self.values.limit(node, "upper").unwrap_or(0.0);
            // Both left out, most often: then both are 0, and the joint stands still.
            if limit.lower.total_cmp(&limit.upper).is_eq() {
                self.warn(
                    node,
                    format!("joint `{name}` cannot move: lower = upper = {}", limit.lower),
                    "widen `lower` and `upper`, or make the joint fixed",
                );
            }
        } else if *joint_type == JointType::Continuous && has_range {
            let (lower, upper) =
                (self.values.limit(node, "lower"), self.values.limit(node, "upper"));
            // Zeros are what exporters write for a joint without stops.
            if lower.is_some_and(|x| x != 0.0) || upper.is_some_and(|x| x != 0.0) {
                self.warn(
                    node,
                    format!("continuous joint `{name}` has `lower` and `upper`"),
                    "they are ignored; write type=\"revolute\" if the joint has stops",
                );
            }
        }
        limit.effort = self.rated(node, name, "effort");
        limit.velocity = self.rated(node, name, "velocity");
        limit
    }

    fn rated(&mut self, node: Node<'_, '_>, joint: &str, what: &str) -> f64 {
        match self.values.limit(node, what) {
            Some(value) if value != 0.0 => value,
            Some(_) => {
                self.warn(
                    node,
                    format!("joint `{joint}`: {what} limit is 0"),
                    &format!("taken as none; write the motor's {what}"),
                );
                f64::INFINITY
            }
            // The attribute is there and is no number, which is reported already.
            None if node.has_attribute(what) => f64::INFINITY,
            None => {
                self.warn(
                    node,
                    format!("joint `{joint}`: <limit> has no `{what}`"),
                    &format!("taken as none; write the motor's {what}"),
                );
                f64::INFINITY
            }
        }
    }

    fn mimic(&mut self, node: Node<'_, '_>, name: &str, joint_type: &JointType) -> Option<Mimic> {
        self.locate(Subject::Mimic(name.to_owned()), node);
        if *joint_type == JointType::Fixed {
            self.warn(
                node,
                format!("fixed joint `{name}` has <mimic>"),
                "it is ignored; delete it",
            );
            return None;
        }
        let leader = self.values.text(node, "joint", "leader")?;
        let multiplier = self.values.number(node, "multiplier").unwrap_or(1.0);
        let offset = self.values.number(node, "offset").unwrap_or(0.0);
        Some(Mimic { joint: leader.to_owned(), multiplier: Some(multiplier), offset: Some(offset) })
    }
}
