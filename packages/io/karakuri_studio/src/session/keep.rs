//! Parameters of a run that become the document's.

use karakuri_motion::{EntryList, Op, PhysicsScene};
use serde_json::{Value, json};

use super::project::Project;
use crate::wire::{Code, WireError};

/// Operations that put parameters into the document: into its scene where that has the thing, else among its parameters; a scene
/// file has none.
pub(super) fn operations(
    project: &Project,
    changed: &[(String, f64)],
) -> Result<Vec<Op>, WireError> {
    let mut scene = project.document.scene.clone();
    let mut ops = Vec::new();
    for (name, value) in changed {
        let parts: Vec<&str> = name.split('.').collect();
        let entry = put_in_entry(&mut scene, &parts, *value);
        let is_kept = entry.is_some()
            || (project.is_scene() && put_in_settings(&mut scene, &parts, *value).is_some());
        if is_kept {
            continue;
        }
        if project.is_scene() {
            let text = "a scene file has no place for it";
            let hint = "write it into the robot's YAML, or reset it";
            return Err(WireError::new(Code::Invalid, text, hint).at(name));
        }
        ops.push(Op::SetParameter { name: name.clone(), value: Some(json!(value)), index: None });
    }
    let before = &project.document.scene;
    for (list, before, after) in [
        (EntryList::Settings, &before.settings, &scene.settings),
        (EntryList::Bodies, &before.bodies, &scene.bodies),
        (EntryList::Joints, &before.joints, &scene.joints),
        (EntryList::Springs, &before.springs, &scene.springs),
    ] {
        for (name, entry) in after.iter().filter(|(name, entry)| before.get(*name) != Some(entry)) {
            let (name, entry) = (name.clone(), entry.clone());
            ops.push(Op::PutEntry { list, name, entry, index: None });
        }
    }
    Ok(ops)
}

/// Puts a number into the body, joint or spring that it is of.
fn put_in_entry(scene: &mut PhysicsScene, parts: &[&str], value: f64) -> Option<()> {
    match *parts {
        ["springs", spring, key] => put_key(scene.springs.get_mut(spring), key, value),
        ["joints", joint, key, axis] => put_bushing(scene.joints.get_mut(joint), key, axis, value),
        [body, key @ ("friction" | "restitution" | "mass")] => {
            put_key(scene.bodies.get_mut(body), key, value)
        }
        [body, key @ ("ixx" | "iyy" | "izz" | "ixy" | "ixz" | "iyz")] => {
            put_in(scene.bodies.get_mut(body), "inertia", key, value)
        }
        _ => None,
    }
}

/// Puts a number into the settings of a scene file.
fn put_in_settings(scene: &mut PhysicsScene, parts: &[&str], value: f64) -> Option<()> {
    let settings = &mut scene.settings;
    match *parts {
        ["world", "gravity", axis] => {
            let gravity = settings.entry("gravity".to_owned());
            put_axis(gravity.or_insert_with(|| json!([0.0, 0.0, -9.81])), axis, value)
        }
        ["world", "penetration", key] => {
            put(settings, &format!("penetration_{key}"), value);
            Some(())
        }
        ["world", "solver", "iterations"] => {
            let solver = settings.entry("solver".to_owned()).or_insert_with(|| json!({}));
            solver.as_object_mut()?.insert("iterations".to_owned(), json!(value.round()));
            Some(())
        }
        ["world", key] => {
            put(settings, key, value);
            Some(())
        }
        ["ground", key @ ("friction" | "restitution")] => {
            put_key(settings.get_mut("ground"), key, value)
        }
        [robot, "drives", joint, key @ ("stiffness" | "damping")] => {
            put_drive(settings.get_mut("robots"), robot, joint, key, value)
        }
        _ => None,
    }
}

fn put(map: &mut indexmap::IndexMap<String, Value>, key: &str, value: f64) {
    map.insert(key.to_owned(), json!(value));
}

fn put_key(entry: Option<&mut Value>, key: &str, value: f64) -> Option<()> {
    let entry = entry?.as_object_mut()?;
    // A material's numbers are those of all that have it.
    if entry.contains_key("material") && key != "mass" {
        return None;
    }
    entry.insert(key.to_owned(), json!(value));
    Some(())
}

/// Puts a number into a map of an entry, which is made if it is not there.
fn put_in(entry: Option<&mut Value>, map: &str, key: &str, value: f64) -> Option<()> {
    let map = entry?.as_object_mut()?.entry(map).or_insert_with(|| json!({}));
    map.as_object_mut()?.insert(key.to_owned(), json!(value));
    Some(())
}

/// Puts a stiffness or damping of a joint's degree of freedom.
fn put_bushing(joint: Option<&mut Value>, key: &str, axis: &str, value: f64) -> Option<()> {
    let bushing = joint?.as_object_mut()?.entry("bushing").or_insert_with(|| json!({}));
    let axes = bushing.as_object_mut()?.entry(key).or_insert_with(|| json!([0.0, 0.0, 0.0]));
    put_axis(axes, axis, value)
}

fn put_axis(gravity: &mut Value, axis: &str, value: f64) -> Option<()> {
    let index = ["x", "y", "z"].iter().position(|known| *known == axis)?;
    *gravity.as_array_mut()?.get_mut(index)? = json!(value);
    Some(())
}

fn put_drive(
    robots: Option<&mut Value>,
    robot: &str,
    joint: &str,
    key: &str,
    value: f64,
) -> Option<()> {
    let robots = robots?.as_array_mut()?.iter_mut();
    let mut named = robots.filter(|r| r.get("name").and_then(Value::as_str) == Some(robot));
    let drives = named.next()?.as_object_mut()?.entry("drives").or_insert_with(|| json!({}));
    let drive = drives.as_object_mut()?.entry(joint).or_insert_with(|| json!({}));
    drive.as_object_mut()?.insert(key.to_owned(), json!(value));
    Some(())
}
