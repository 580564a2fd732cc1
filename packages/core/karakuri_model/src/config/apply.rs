//! Application of a robot YAML to the robot of its URDF.

use std::sync::Arc;

use roxmltree::Node;

use super::joints;
use super::values::{DriveConfig, RobotConfig};
use crate::assets::Assets;
use crate::builder::JointSpec;
use crate::closest::closest;
use crate::diagnostic::{Place, Report, Subject};
use crate::text::decode_text;
use crate::xml::XmlText;
use crate::{Bumper, Convex, Drive, ModelBuilder, Shape};

impl RobotConfig {
    /// Applies a robot YAML: drives and surfaces change the URDF's joints and links; the rest hangs on them by name.
    pub(crate) fn apply(
        self,
        file: &str,
        builder: &mut ModelBuilder,
        assets: &mut dyn Assets,
        report: &mut Report,
    ) {
        if let Some(base) = self.base {
            builder.base = base;
        }
        // Kinds before what depends on them: gears and drives need one degree of freedom.
        for (name, place, reshaped) in self.joints {
            joints::reshape(&name, &place, reshaped, builder, report);
        }
        // Gears before drives, because a joint that follows another cannot be driven.
        for (name, place, gear) in &self.gears {
            joints::gear(name, place, gear, builder, report);
        }
        for (name, place, drive) in &self.drives {
            apply_drive(name, place, drive, builder, report);
        }
        for (name, place, material) in &self.materials {
            let Some(link) = builder.links.iter_mut().find(|l| l.name == *name) else {
                let remedy = did_you_mean(name, builder.links.iter().map(|l| l.name.as_str()));
                let message = format!("collision.materials: link `{name}` does not exist");
                report.error_at(place.clone(), message, remedy);
                continue;
            };
            // All shapes of the link: a URDF has no names for them that could be relied on.
            for shape in &mut link.collisions {
                shape.friction = material.friction.unwrap_or(shape.friction);
                shape.restitution = material.restitution.unwrap_or(shape.restitution);
            }
        }
        for (name, place, convex) in &self.convex {
            apply_convex(name, place, convex, builder, report);
        }
        for (a, b, place) in self.ignored_pairs {
            report.locate(Subject::IgnoredPair(builder.ignored_pairs.len()), place);
            builder.ignored_pairs.push((a, b));
        }
        for (a, b, place) in self.touching_pairs {
            report.locate(Subject::TouchingPair(builder.touching_pairs.len()), place);
            builder.touching_pairs.push((a, b));
        }
        // Written as pairs, so that the simulation has one rule for what does not touch.
        if self.passes_through_itself {
            let solid = builder.links.iter().filter(|l| !l.collisions.is_empty());
            let names: Vec<&String> = solid.map(|l| &l.name).collect();
            for (i, a) in names.iter().enumerate() {
                let pair = |b: &&String| ((*a).clone(), (*b).clone());
                builder.ignored_pairs.extend(names[i + 1..].iter().map(pair));
            }
        }
        // After the YAML's own pairs; the order does not matter, as all of them are ignored.
        if let Some((uri, place)) = &self.srdf {
            read_srdf(uri, file, place, builder, assets, report);
        }
        builder.groups.extend(self.groups);
        builder.loops.extend(self.loops);
        builder.motors.extend(self.motors);
        builder.sensors.extend(self.sensors);
        builder.suctions.extend(self.suctions);
        builder.postures.extend(self.postures);
        builder.end_effector = self.end_effector;
    }
}

pub(super) fn did_you_mean<'a>(wrong: &str, known: impl Iterator<Item = &'a str>) -> String {
    closest(wrong, known)
        .map_or("write a name of the URDF".to_owned(), |name| format!("did you mean `{name}`?"))
}

/// Sets the collision shape of one link's meshes; its drawn meshes stay as they are.
fn apply_convex(
    name: &str,
    place: &Place,
    convex: &Convex,
    builder: &mut ModelBuilder,
    report: &mut Report,
) {
    let Some(link) = builder.links.iter_mut().find(|l| l.name == name) else {
        let remedy = did_you_mean(name, builder.links.iter().map(|l| l.name.as_str()));
        let message = format!("collision.convex: link `{name}` does not exist");
        report.error_at(place.clone(), message, remedy);
        return;
    };
    let mut found = false;
    for shape in &mut link.collisions {
        if let Shape::Mesh(mesh) = &mut shape.shape {
            // Files share meshes: only this link's copy changes.
            Arc::make_mut(mesh).convex = convex.clone();
            found = true;
        }
    }
    if !found {
        let message = format!("collision.convex: link `{name}` collides with no mesh");
        report.warn_at(place.clone(), message, "delete it, or give the link a <collision> mesh");
    }
}

fn apply_drive(
    name: &str,
    place: &Place,
    config: &DriveConfig,
    builder: &mut ModelBuilder,
    report: &mut Report,
) {
    let Some(joint) = builder.joints.iter_mut().find(|j| j.name == name) else {
        let remedy = did_you_mean(name, builder.joints.iter().map(|j| j.name.as_str()));
        report.error_at(place.clone(), format!("drives: joint `{name}` does not exist"), remedy);
        return;
    };
    // Gains make a servo; friction or armature alone describe a joint that nobody drives.
    let driven = config.stiffness.is_some() || config.damping.is_some();
    // A PD servo has one position and one gain.
    if driven && joint.kind.as_ref().is_none_or(|kind| kind.single().is_none()) {
        let message = format!("drives: joint `{name}` does not have exactly one degree of freedom");
        report.error_at(
            place.clone(),
            message,
            "only revolute, continuous and prismatic joints are driven; delete it",
        );
    }
    // Its leader's servo moves it; a second servo would fight the relation that holds exactly.
    if let Some(mimic) = joint.mimic.as_ref().filter(|_| driven) {
        report.error_at(
            place.clone(),
            format!("drives: joint `{name}` mimics `{}`", mimic.leader),
            format!("drive `{}` instead", mimic.leader),
        );
    }
    // A damper without a spring would stop nothing, and the hard limit has none.
    if config.limit_damping.is_some() && config.limit_stiffness.is_none() {
        report.error_at(
            place.clone(),
            format!("drives: joint `{name}` has a limit_damping without a limit_stiffness"),
            "write both, or neither for a hard limit",
        );
    }
    if config.limit_restitution.is_some() && config.limit_stiffness.is_some() {
        report.error_at(
            place.clone(),
            format!("drives: joint `{name}` has a limit_restitution and a limit_stiffness"),
            "write one of them: what is soft bounces by its spring",
        );
    }
    set_drive(joint, config, driven);
}

fn set_drive(joint: &mut JointSpec, config: &DriveConfig, driven: bool) {
    // What the YAML leaves out stays as the URDF says.
    joint.armature = config.armature.unwrap_or(joint.armature);
    joint.friction = config.friction.unwrap_or(joint.friction);
    joint.back_emf = config.back_emf.unwrap_or(joint.back_emf);
    // The joint feels both alike; only what is measured of the motor tells them apart.
    joint.damping = config.viscous.unwrap_or(joint.damping) + joint.back_emf;
    joint.limits.effort = config.effort.unwrap_or(joint.limits.effort);
    joint.limits.velocity = config.velocity.unwrap_or(joint.limits.velocity);
    if let Some(stiffness) = config.limit_stiffness {
        joint.bumper = Some(Bumper { stiffness, damping: config.limit_damping.unwrap_or(0.0) });
    }
    joint.limit_restitution = config.limit_restitution.unwrap_or(joint.limit_restitution);
    if driven {
        joint.drive = Some(Drive {
            // Damping alone is a speed servo.
            stiffness: config.stiffness.unwrap_or(0.0),
            damping: config.damping.unwrap_or(0.0),
        });
    }
}

/// Reads collision filters of an SRDF, as `MoveIt` does: `disable_collisions` of a pair, and `disable_default_collisions`
/// of a link with all others but those that `enable_collisions` names. Links that this robot lacks are skipped.
fn read_srdf(
    uri: &str,
    named_in: &str,
    place: &Place,
    builder: &mut ModelBuilder,
    assets: &mut dyn Assets,
    report: &mut Report,
) {
    let asset = match assets.read(uri, named_in) {
        Ok(asset) => asset,
        Err(error) => {
            report.error_at(place.clone(), format!("srdf: {error}"), error.remedy());
            return;
        }
    };
    let name = asset.path.display().to_string();
    let text = match decode_text(&name, &asset.bytes) {
        Ok(text) => text,
        Err(diagnostics) => return report.extend(diagnostics),
    };
    let Some(xml) = XmlText::new(&name, &text, report) else { return };
    let Ok(document) = xml.parse() else { return };
    let elements = |name: &'static str| {
        let all = document.root_element().children();
        all.filter(move |n| n.is_element() && n.tag_name().name() == name)
    };
    // All of them first: they are exceptions from what `disable_default_collisions` takes out, wherever they are written.
    let mut enabled = Vec::new();
    for node in elements("enable_collisions") {
        enabled.extend(linked(&xml, node, ["link1", "link2"], builder, report));
    }
    for node in elements("disable_default_collisions") {
        // One name, asked for twice: the same checks as for a pair.
        let Some([link, _]) = linked(&xml, node, ["link", "link"], builder, report) else {
            continue;
        };
        // With all other links, also those without shapes, which costs nothing later.
        let others: Vec<String> = builder.links.iter().map(|l| l.name.clone()).collect();
        for other in others.into_iter().filter(|other| *other != link) {
            let is_enabled =
                |[a, b]: &[String; 2]| (*a == link && *b == other) || (*a == other && *b == link);
            if !enabled.iter().any(is_enabled) {
                builder.ignored_pairs.push((link.clone(), other));
            }
        }
    }
    builder.touching_pairs.extend(enabled.into_iter().map(|[a, b]| (a, b)));
    for node in elements("disable_collisions") {
        if let Some([a, b]) = linked(&xml, node, ["link1", "link2"], builder, report) {
            // By its index, as pairs have no names.
            report.locate(Subject::IgnoredPair(builder.ignored_pairs.len()), xml.node(node));
            builder.ignored_pairs.push((a, b));
        }
    }
}

/// The links that an element of an SRDF names, if the robot has them.
fn linked(
    xml: &XmlText<'_>,
    node: Node<'_, '_>,
    keys: [&str; 2],
    builder: &ModelBuilder,
    report: &mut Report,
) -> Option<[String; 2]> {
    let tag = node.tag_name().name();
    let (Some(a), Some(b)) = (node.attribute(keys[0]), node.attribute(keys[1])) else {
        let (missing, remedy) = if keys[0] == keys[1] {
            (format!("<{tag}> has no `{}`", keys[0]), "name a link")
        } else {
            (format!("<{tag}> has not both `{}` and `{}`", keys[0], keys[1]), "name two links")
        };
        report.error_at(xml.node(node), missing, remedy);
        return None;
    };
    // A warning only: SRDFs are written for a family of robots, of which this one may lack a gripper.
    let missing = [a, b].into_iter().find(|l| !builder.links.iter().any(|k| k.name == **l));
    if let Some(link) = missing {
        let message = format!("link `{link}` does not exist");
        report.warn_at(xml.node(node), message, "the pair is skipped");
        return None;
    }
    Some([a.to_owned(), b.to_owned()])
}
