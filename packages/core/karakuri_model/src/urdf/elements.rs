//! Each URDF element: read, checked, written clean.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use karakuri_spatial::UnitQuaternion;
use roxmltree::Node;

use super::clean::Clean;
use super::values::{Values, escape, join};
use crate::closest::closest;
use crate::diagnostic::{Place, Report, Subject};
use crate::xml::XmlText;

const JOINT_TYPES: [&str; 7] =
    ["revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical"];

/// Writes the clean URDF.
pub(super) struct Elements<'a, 'r> {
    values: Values<'a, 'r>,
    out: String,
    mesh_places: Vec<Place>,
    materials: BTreeSet<String>,
    /// False after a joint that could not be read: what hangs on it is not lost, only unknown.
    all_joints: bool,
}

fn child<'a, 'i>(node: Node<'a, 'i>, tag: &str) -> Option<Node<'a, 'i>> {
    children(node, tag).next()
}

fn children<'a, 'i>(node: Node<'a, 'i>, tag: &str) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(move |n| {
        n.is_element() && n.tag_name().name() == tag && n.tag_name().namespace().is_none()
    })
}

impl<'a, 'r> Elements<'a, 'r> {
    pub(super) fn new(xml: &'a XmlText<'a>, report: &'r mut Report) -> Self {
        let values = Values { xml, report };
        Self {
            values,
            out: String::new(),
            mesh_places: Vec::new(),
            materials: BTreeSet::new(),
            all_joints: true,
        }
    }

    pub(super) fn finish(self) -> Clean {
        Clean { text: self.out, mesh_places: self.mesh_places, all_joints: self.all_joints }
    }

    fn write(&mut self, text: &str) {
        self.out.push_str(text);
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

    pub(super) fn robot(&mut self, root: Node<'_, '_>) {
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
        self.write(&format!("<robot name=\"{}\">\n", escape(name)));
        for material in children(root, "material") {
            if let Some(name) = material.attribute("name") {
                self.materials.insert(name.to_owned());
            }
            self.material(material);
        }
        for link in children(root, "link") {
            self.link(link);
        }
        for joint in children(root, "joint") {
            self.joint(joint);
        }
        self.write("</robot>\n");
    }

    /// A name of its own; a second definition is reported and not read.
    fn name<'n>(&mut self, node: Node<'n, '_>, subject: fn(String) -> Subject) -> Option<&'n str> {
        let name = self.values.text(node, "name", "...")?;
        let subject = subject(name.to_owned());
        let tag = node.tag_name().name();
        if let Some(first) = self.values.report.known(&subject) {
            let message = format!("{tag} `{name}` is defined twice, first in line {}", first.line);
            self.error(node, message, "rename or delete one of them");
            return None;
        }
        self.locate(subject, node);
        Some(name)
    }

    fn link(&mut self, node: Node<'_, '_>) {
        let Some(name) = self.name(node, Subject::Link) else { return };
        self.write(&format!("<link name=\"{}\">\n", escape(name)));
        if let Some(inertial) = child(node, "inertial") {
            self.locate(Subject::Inertial(name.to_owned()), inertial);
            self.inertial(inertial, name);
        }
        if let Some(second) = children(node, "inertial").nth(1) {
            self.warn(
                second,
                format!("link `{name}` has two <inertial>"),
                "the first is used; delete this one",
            );
        }
        for tag in ["visual", "collision"] {
            for shape in children(node, tag) {
                self.shape(shape, tag, name);
            }
        }
        self.write("</link>\n");
    }

    fn inertial(&mut self, node: Node<'_, '_>, link: &str) {
        let (Some(mass), Some(inertia)) = (child(node, "mass"), child(node, "inertia")) else {
            let missing = if child(node, "mass").is_none() { "mass" } else { "inertia" };
            let example = if missing == "mass" {
                "write <mass value=\"...\"/> in kg"
            } else {
                "write <inertia ixx= ixy= ixz= iyy= iyz= izz=/> in kg·m²"
            };
            self.error(node, format!("link `{link}`: <inertial> has no <{missing}>"), example);
            return;
        };
        self.write("<inertial>");
        self.origin(node);
        let value = self.values.required(mass, "value", "kg");
        self.write(&format!("<mass value=\"{value}\"/><inertia"));
        for axis in ["ixx", "iyy", "izz"] {
            let value = self.values.required(inertia, axis, "kg·m²");
            self.write(&format!(" {axis}=\"{value}\""));
        }
        for product in ["ixy", "ixz", "iyz"] {
            let value = self.values.number(inertia, product).unwrap_or(0.0);
            self.write(&format!(" {product}=\"{value}\""));
        }
        self.write("/></inertial>\n");
    }

    fn origin(&mut self, parent: Node<'_, '_>) {
        let Some(node) = child(parent, "origin") else { return };
        let xyz = self.values.numbers(node, "xyz", 3).unwrap_or_else(|| vec![0.0; 3]);
        let mut rpy = self.values.numbers(node, "rpy", 3).unwrap_or_else(|| vec![0.0; 3]);
        if let Some(q) = self.values.numbers(node, "quat_xyzw", 4) {
            let quaternion = nalgebra::Quaternion::new(q[3], q[0], q[1], q[2]);
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
                rpy = vec![r, p, y];
            }
        }
        self.write(&format!("<origin xyz=\"{}\" rpy=\"{}\"/>", join(&xyz), join(&rpy)));
    }

    fn shape(&mut self, node: Node<'_, '_>, tag: &str, link: &str) {
        let Some(geometry) = child(node, "geometry") else {
            self.error(
                node,
                format!("link `{link}`: <{tag}> has no <geometry>"),
                "add one, or delete it",
            );
            return;
        };
        let Some(shape) = geometry.children().find(Node::is_element) else {
            self.error(
                geometry,
                format!("link `{link}`: <geometry> is empty"),
                "add <box>, <cylinder>, <sphere>, <capsule> or <mesh>",
            );
            return;
        };
        let Some(clean) = self.geometry(shape) else { return };
        self.write(&format!("<{tag}>"));
        self.origin(node);
        self.write(&format!("<geometry>{clean}</geometry>"));
        if let Some(material) = child(node, "material")
            && tag == "visual"
        {
            self.use_material(material);
        }
        self.write(&format!("</{tag}>\n"));
    }

    fn geometry(&mut self, node: Node<'_, '_>) -> Option<String> {
        let tag = node.tag_name().name();
        match tag {
            "box" => {
                let size = self.values.numbers(node, "size", 3);
                if !node.has_attribute("size") {
                    self.error(
                        node,
                        "<box> has no `size`".to_owned(),
                        "write <box size=\"x y z\"/> in m",
                    );
                }
                let size = size?;
                if size.iter().any(|&edge| edge <= 0.0) {
                    self.error(
                        node,
                        format!("<box size=\"{}\">: an edge is not above 0", join(&size)),
                        "write three edge lengths in m, above 0",
                    );
                    return None;
                }
                Some(format!("<box size=\"{}\"/>", join(&size)))
            }
            "sphere" => {
                Some(format!("<sphere radius=\"{}\"/>", self.values.positive(node, "radius")))
            }
            "cylinder" | "capsule" => {
                let radius = self.values.positive(node, "radius");
                let length = self.values.positive(node, "length");
                Some(format!("<{tag} radius=\"{radius}\" length=\"{length}\"/>"))
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

    fn mesh(&mut self, node: Node<'_, '_>) -> Option<String> {
        let filename = self.values.text(node, "filename", "package://my_robot/meshes/link.stl")?;
        let mut clean = format!("<mesh filename=\"{}\"", escape(filename));
        if node.has_attribute("scale") {
            let scale = self.values.numbers(node, "scale", 3)?;
            if scale.contains(&0.0) {
                self.error(
                    node,
                    format!("<mesh scale=\"{}\"> flattens the mesh", join(&scale)),
                    "write three factors other than 0: millimetres are scale=\"0.001 0.001 0.001\"",
                );
                return None;
            }
            if write!(clean, " scale=\"{}\"", join(&scale)).is_err() {
                return None;
            }
        }
        let place = self.values.xml.node(node);
        self.mesh_places.push(place);
        Some(clean + "/>")
    }

    fn use_material(&mut self, node: Node<'_, '_>) {
        let has_own = child(node, "color").is_some() || child(node, "texture").is_some();
        let name = node.attribute("name").unwrap_or_default();
        if !has_own && !name.is_empty() && !self.materials.contains(name) {
            self.warn(
                node,
                format!("material `{name}` is not defined"),
                "drawn grey; define <material name=... ><color rgba=.../></material> in <robot>",
            );
            return;
        }
        if has_own {
            self.materials.insert(name.to_owned());
        }
        self.material(node);
    }

    fn material(&mut self, node: Node<'_, '_>) {
        let name = node.attribute("name").unwrap_or_default();
        self.write(&format!("<material name=\"{}\">", escape(name)));
        if let Some(color) = child(node, "color") {
            let rgba = self.values.numbers(color, "rgba", 4);
            let rgba = rgba.unwrap_or_else(|| vec![0.7, 0.7, 0.7, 1.0]);
            if rgba.iter().any(|c| !(0.0..=1.0).contains(c)) {
                self.warn(
                    color,
                    format!("colour \"{}\" is outside 0 to 1", join(&rgba)),
                    "clipped; write rgba as four numbers from 0 to 1",
                );
            }
            let rgba: Vec<f64> = rgba.iter().map(|c| c.clamp(0.0, 1.0)).collect();
            self.write(&format!("<color rgba=\"{}\"/>", join(&rgba)));
        }
        self.write("</material>");
    }

    fn joint(&mut self, node: Node<'_, '_>) {
        let name = self.name(node, Subject::Joint);
        let kind = self.joint_type(node, name.unwrap_or("?"));
        let parent = self.end(node, "parent", name.unwrap_or("?"));
        let child_link = self.end(node, "child", name.unwrap_or("?"));
        let (Some(name), Some(kind), Some(parent), Some(child_link)) =
            (name, kind, parent, child_link)
        else {
            self.all_joints = false;
            return;
        };
        self.write(&format!("<joint name=\"{}\" type=\"{kind}\">", escape(name)));
        self.origin(node);
        self.write(&format!(
            "<parent link=\"{}\"/><child link=\"{}\"/>",
            escape(parent),
            escape(child_link)
        ));
        if matches!(kind, "revolute" | "continuous" | "prismatic" | "planar") {
            self.axis(node, name);
        }
        self.limit(node, name, kind);
        if let Some(dynamics) = child(node, "dynamics") {
            let damping = self.values.number(dynamics, "damping").unwrap_or(0.0);
            let friction = self.values.number(dynamics, "friction").unwrap_or(0.0);
            self.locate(Subject::Drive(name.to_owned()), dynamics);
            self.write(&format!("<dynamics damping=\"{damping}\" friction=\"{friction}\"/>"));
        }
        if let Some(mimic) = child(node, "mimic") {
            self.mimic(mimic, name, kind);
        }
        self.write("</joint>\n");
    }

    fn joint_type<'n>(&mut self, node: Node<'n, '_>, name: &str) -> Option<&'n str> {
        let kind = self.values.text(node, "type", "revolute")?;
        if JOINT_TYPES.contains(&kind) {
            return Some(kind);
        }
        let remedy = closest(&kind.to_lowercase(), JOINT_TYPES.into_iter()).map_or_else(
            || format!("use one of {}", JOINT_TYPES.join(", ")),
            |known| format!("did you mean `{known}`?"),
        );
        self.error(node, format!("joint `{name}`: unknown type `{kind}`"), &remedy);
        // The tree is checked all the same.
        Some("fixed")
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

    fn axis(&mut self, joint: Node<'_, '_>, name: &str) {
        let Some(node) = child(joint, "axis") else {
            self.warn(
                joint,
                format!("joint `{name}` has no <axis>"),
                "x is taken, as URDF says; write <axis xyz=\"1 0 0\"/> if you mean it",
            );
            return;
        };
        self.locate(Subject::Axis(name.to_owned()), node);
        if !node.has_attribute("xyz") {
            self.error(
                node,
                format!("joint `{name}`: <axis> has no `xyz`"),
                "write <axis xyz=\"0 0 1\"/>",
            );
        }
        if let Some(axis) = self.values.numbers(node, "xyz", 3) {
            self.write(&format!("<axis xyz=\"{}\"/>", join(&axis)));
        }
    }

    /// Limits that are not set are written as infinite. A zero effort or velocity, which exporters write for "not
    /// set", is taken as none, for a joint that can never move is no joint.
    fn limit(&mut self, joint: Node<'_, '_>, name: &str, kind: &str) {
        let ranged = matches!(kind, "revolute" | "prismatic");
        let Some(node) = child(joint, "limit") else {
            if ranged {
                let remedy = if kind == "revolute" {
                    "add <limit lower= upper= effort= velocity=/>, or type=\"continuous\" for a joint without stops"
                } else {
                    "add <limit lower= upper= effort= velocity=/>"
                };
                self.error(joint, format!("{kind} joint `{name}` has no <limit>"), remedy);
            }
            self.write("<limit lower=\"-inf\" upper=\"inf\" effort=\"inf\" velocity=\"inf\"/>");
            return;
        };
        self.locate(Subject::Limit(name.to_owned()), node);
        let mut range = [f64::NEG_INFINITY, f64::INFINITY];
        let has_range = node.has_attribute("lower") || node.has_attribute("upper");
        if ranged {
            // URDF: an omitted bound is 0.
            range[0] = self.values.limit(node, "lower").unwrap_or(0.0);
            range[1] = self.values.limit(node, "upper").unwrap_or(0.0);
            if range[0].total_cmp(&range[1]).is_eq() {
                self.warn(
                    node,
                    format!("joint `{name}` cannot move: lower = upper = {}", range[0]),
                    "widen `lower` and `upper`, or make the joint fixed",
                );
            }
        } else if kind == "continuous" && has_range {
            let (lower, upper) =
                (self.values.limit(node, "lower"), self.values.limit(node, "upper"));
            if lower.is_some_and(|x| x != 0.0) || upper.is_some_and(|x| x != 0.0) {
                self.warn(
                    node,
                    format!("continuous joint `{name}` has `lower` and `upper`"),
                    "they are ignored; write type=\"revolute\" if the joint has stops",
                );
            }
        }
        let effort = self.rated(node, name, "effort");
        let velocity = self.rated(node, name, "velocity");
        let [lower, upper] = range;
        self.write(&format!(
            "<limit lower=\"{lower}\" upper=\"{upper}\" effort=\"{effort}\" velocity=\"{velocity}\"/>"
        ));
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

    fn mimic(&mut self, node: Node<'_, '_>, name: &str, kind: &str) {
        self.locate(Subject::Mimic(name.to_owned()), node);
        if kind == "fixed" {
            self.warn(
                node,
                format!("fixed joint `{name}` has <mimic>"),
                "it is ignored; delete it",
            );
            return;
        }
        let Some(leader) = self.values.text(node, "joint", "leader") else { return };
        let multiplier = self.values.number(node, "multiplier").unwrap_or(1.0);
        let offset = self.values.number(node, "offset").unwrap_or(0.0);
        self.write(&format!(
            "<mimic joint=\"{}\" multiplier=\"{multiplier}\" offset=\"{offset}\"/>",
            escape(leader)
        ));
    }
}
