//! A URDF file: whether it is one, and which of its elements nobody reads.

use std::collections::BTreeMap;

use roxmltree::{Document, Node};

use super::elements::{Elements, Urdf};
use crate::closest::closest;
use crate::diagnostic::{Place, Report};
use crate::xml::XmlText;

/// Elements that URDF and its common extensions hold; the latter are for other programs.
const ROBOT_CHILDREN: [&str; 3] = ["link", "joint", "material"];
const LINK_CHILDREN: [&str; 3] = ["inertial", "visual", "collision"];
const JOINT_CHILDREN: [&str; 7] =
    ["origin", "parent", "child", "axis", "limit", "dynamics", "mimic"];
// In silence: files are shared by simulators, each of which reads its own part.
const FOR_OTHERS: [&str; 17] = [
    "gazebo",
    "transmission",
    "ros2_control",
    "mujoco",
    "drake",
    "sensor",
    "safety_controller",
    "calibration",
    "contact",
    "contact_coefficients",
    "self_collision_checking",
    "verbose",
    "group",
    "plant",
    "static",
    "size",
    "meta",
];

/// Reads a URDF, reports what is wrong in it, and keeps the rest; `None` if it is none.
pub(super) fn read(xml: &XmlText<'_>, report: &mut Report) -> Option<Urdf> {
    let document = xml.parse().ok()?;
    let root = document.root_element();
    // Before all else, also before the root is judged: each `${...}` would be a wrong number.
    if reports_xacro(&document, xml, report) {
        return None;
    }
    if root.tag_name().name() != "robot" {
        let tag = root.tag_name().name();
        let remedy = match tag {
            "sdf" => "this is SDFormat: export the model as URDF",
            "mujoco" => "this is MJCF: export the model as URDF",
            "launch" => "this is a launch file: name the URDF that it loads",
            "COLLADA" => "this is a COLLADA mesh: name the URDF that uses it",
            _ => "a URDF starts with <robot name=\"...\">",
        };
        report.error_at(
            xml.node(root),
            format!("the root element is <{tag}>, not <robot>"),
            remedy,
        );
        return None;
    }
    warn_unknown(root, xml, report);
    Some(Elements::new(xml, report).robot(root))
}

/// Whether a xacro file was not expanded: one sentence instead of a hundred wrong numbers.
fn reports_xacro(document: &Document<'_>, xml: &XmlText<'_>, report: &mut Report) -> bool {
    let mut first = None;
    let mut count = 0;
    // Elements come in the order of the text: what begins before the end of a block for others is in it.
    let mut end_of_others = 0;
    for node in document.descendants().filter(Node::is_element) {
        // By the namespace, as any prefix may stand for it.
        let is_xacro_tag = node.tag_name().namespace().is_some_and(|ns| ns.contains("xacro"));
        let expression = node.attributes().find(|a| {
            let value = a.value();
            value.contains("${") || value.contains("$(")
        });
        // Gazebo and ros2_control blocks keep `$(...)` that their own programs expand.
        if FOR_OTHERS.contains(&node.tag_name().name()) {
            end_of_others = end_of_others.max(node.range().end);
        }
        let for_others = node.range().start < end_of_others;
        if is_xacro_tag || (expression.is_some() && !for_others) {
            count += 1;
            first.get_or_insert_with(|| match expression {
                Some(attribute) if !is_xacro_tag => {
                    let value: String = attribute.value().chars().take(40).collect();
                    (xml.value(&attribute), format!("`{value}`"))
                }
                _ => (xml.node(node), format!("<xacro:{}>", node.tag_name().name())),
            });
        }
    }
    let Some((place, what)) = first else { return false };
    let file = xml.file.strip_suffix(".xacro").unwrap_or(xml.file);
    let file = file.strip_suffix(".urdf").unwrap_or(file);
    report.error_at(
        place,
        format!("xacro is not expanded: {what} here and in {} more places", count - 1),
        format!("expand it: `xacro {} > {file}.expanded.urdf` (package ros-*-xacro, or `pip install xacro`), then load that", xml.file),
    );
    true
}

/// Warns of elements that nothing reads: most often a spelling mistake. One warning for each kind.
fn warn_unknown(root: Node<'_, '_>, xml: &XmlText<'_>, report: &mut Report) {
    let mut found: BTreeMap<(String, String), (Place, usize)> = BTreeMap::new();
    let mut look = |parent: Node<'_, '_>, known: &[&str]| {
        for child in parent.children().filter(Node::is_element) {
            let tag = child.tag_name().name();
            // A prefixed <link> is not URDF's.
            let foreign = child.tag_name().namespace().is_some();
            if foreign || !(known.contains(&tag) || FOR_OTHERS.contains(&tag)) {
                let key = (parent.tag_name().name().to_owned(), tag.to_owned());
                found.entry(key).or_insert_with(|| (xml.node(child), 0)).1 += 1;
            }
        }
    };
    look(root, &ROBOT_CHILDREN);
    for child in root.children() {
        match child.tag_name().name() {
            "link" => look(child, &LINK_CHILDREN),
            "joint" => look(child, &JOINT_CHILDREN),
            _ => {}
        }
    }
    for ((parent, tag), (place, count)) in found {
        let known: &[&str] = match parent.as_str() {
            "link" => &LINK_CHILDREN,
            "joint" => &JOINT_CHILDREN,
            _ => &ROBOT_CHILDREN,
        };
        let remedy = closest(&tag, known.iter().copied())
            .map_or("it is ignored".to_owned(), |known| {
                format!("it is ignored; did you mean <{known}>?")
            });
        let times = if count > 1 { format!(" ({count} times)") } else { String::new() };
        report.warn_at(place, format!("unknown element <{tag}> in <{parent}>{times}"), remedy);
    }
}
