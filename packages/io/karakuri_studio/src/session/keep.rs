//! Parameters of a run that become the document's.

use karakuri_motion::{EntryList, Op};
use serde_json::{Value, json};

use super::project::Project;
use crate::wire::{Code, WireError};

/// Operations that put parameters into the document: among its parameters, or into the scene where that is all it is.
pub(super) fn operations(
    project: &Project,
    changed: &[(String, f64)],
) -> Result<Vec<Op>, WireError> {
    if !project.is_scene() {
        return Ok(changed
            .iter()
            .map(|(name, value)| Op::SetParameter {
                name: name.clone(),
                value: Some(json!(value)),
                index: None,
            })
            .collect());
    }
    let mut scene = project.document.scene.clone();
    for (name, value) in changed {
        let parts: Vec<&str> = name.split('.').collect();
        let put = match parts[..] {
            ["world", "gravity", axis] => put_axis(
                scene
                    .settings
                    .entry("gravity".to_owned())
                    .or_insert_with(|| json!([0.0, 0.0, -9.81])),
                axis,
                *value,
            ),
            ["world", "penetration", key] => {
                put(&mut scene.settings, &format!("penetration_{key}"), *value);
                Some(())
            }
            ["world", "solver", "iterations"] => scene
                .settings
                .entry("solver".to_owned())
                .or_insert_with(|| json!({}))
                .as_object_mut()
                .map(|solver| drop(solver.insert("iterations".to_owned(), json!(value.round())))),
            ["world", key] => {
                put(&mut scene.settings, key, *value);
                Some(())
            }
            ["ground", key @ ("friction" | "restitution")] => {
                put_key(scene.settings.get_mut("ground"), key, *value)
            }
            [robot, "drives", joint, key @ ("stiffness" | "damping")] => {
                put_drive(scene.settings.get_mut("robots"), robot, joint, key, *value)
            }
            [body, key @ ("friction" | "restitution" | "mass")] => {
                put_key(scene.bodies.get_mut(body), key, *value)
            }
            _ => None,
        };
        if put.is_none() {
            let text = "a scene file has no place for it";
            let hint = "write it into the robot's YAML, or reset it";
            return Err(WireError::new(Code::Invalid, text, hint).at(name));
        }
    }
    let mut ops = Vec::new();
    let mut replace = |list,
                       before: &indexmap::IndexMap<String, Value>,
                       after: &indexmap::IndexMap<String, Value>| {
        for (name, entry) in after.iter().filter(|(name, entry)| before.get(*name) != Some(entry)) {
            let (name, entry) = (name.clone(), entry.clone());
            ops.push(Op::PutEntry { list, name, entry, index: None });
        }
    };
    replace(EntryList::Settings, &project.document.scene.settings, &scene.settings);
    replace(EntryList::Bodies, &project.document.scene.bodies, &scene.bodies);
    Ok(ops)
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
