//! A ball joint with limits of swing and twist, in a robot YAML.

use super::Reshaped;
use crate::yaml::{Node, Reader};
use crate::{Cone, JointKind};

/// `{type: ball, axis: [x, y, z], swing: rad, twist: [rad, rad]}`.
pub(super) fn read(reader: &mut Reader<'_>, node: &Node, path: &str) -> Option<Reshaped> {
    use std::f64::consts::PI;
    let fields = reader.fields(node, path, &["type", "axis", "swing", "twist"]);
    let mut cone = Cone::default();
    if let Some((node, path)) = fields.get("axis") {
        cone.axis = reader.unit_vector(node, &path)?.into();
    }
    if let Some((node, path)) = fields.get("swing") {
        // A cone of less than a milliradian would be a joint that does not swing: fix it instead.
        cone.swing = reader.number(node, &path, &(1e-3..=PI), "rad")?;
    }
    if let Some((node, path)) = fields.get("twist") {
        cone.twist = reader.interval(node, &path, &(-PI..=PI), "rad")?;
    }
    Some(Reshaped { kind: JointKind::Spherical, cone: Some(cone) })
}
