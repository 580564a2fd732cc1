//! Text of a document: a stranger reads and edits it, and equal documents have equal bytes.

#![expect(clippy::float_cmp, reason = "a default is left out where it is exactly that")]

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;

use crate::document::{Document, RobotReference};
use crate::motion::{Ease, Key, Marker, Motion, RootPose, Scene, Start};
use crate::physics_scene::PhysicsScene;
use crate::pose::Pose;

/// Width beyond which the items of a flow mapping go into lines of their own.
// A line of an editor beside a picture; longer poses of a humanoid are broken over lines.
const WIDTH: usize = 120;

/// Text of a document. Numbers are the shortest that read as the same.
pub fn write(document: &Document) -> String {
    let mut text = format!("karakuri_motion: {}\n", document.version);
    text.extend([format!("robot: {}\n", robot(&document.robot))]);
    text.extend([format!("units: {{angle: {}}}\n", flow_of(&document.units.angle))]);
    map(&mut text, "poses", &document.poses, pose);
    if !document.motions.is_empty() {
        text += "motions:\n";
        for (name, m) in &document.motions {
            motion(&mut text, name, m);
        }
    }
    scene_of_physics(&mut text, &document.scene);
    map(&mut text, "parameters", &document.parameters, flow);
    list(&mut text, "", "panels", document.panels.iter().map(flow_of));
    if !document.scripts.is_empty() {
        text += "scripts:\n";
        for (name, script) in &document.scripts {
            // Quoted as JSON, which is YAML: any text comes back as it was.
            text.extend([format!("  {}: {}\n", key(name), lines(script))]);
        }
    }
    list(&mut text, "", "gamepad", document.gamepad.iter().map(flow_of));
    if let Some(mirror) = &document.mirror {
        text += "mirror:\n";
        list(&mut text, "  ", "pairs", mirror.pairs.iter().map(flow_of));
        if !mirror.own.is_empty() {
            text.extend([format!("  self: {}\n", numbers(&mirror.own))]);
        }
        // An empty table says that no joint has a mirror image; left out, the table of the axes would be taken.
        if mirror.pairs.is_empty() && mirror.own.is_empty() {
            text.truncate(text.len() - 1);
            text += " {}\n";
        }
    }
    text
}

fn robot(robot: &RobotReference) -> String {
    let mut parts = vec![format!("model: {}", word(&robot.model))];
    parts.push(format!("urdf: {}", word(&robot.urdf)));
    parts.extend(robot.config.as_ref().map(|config| format!("config: {}", word(config))));
    braces(&parts)
}

fn map<T>(text: &mut String, name: &str, values: &IndexMap<String, T>, one: fn(&T) -> String) {
    if !values.is_empty() {
        text.extend([format!("{name}:\n")]);
        for (name, value) in values {
            text.extend([format!("  {}: {}\n", key(name), one(value))]);
        }
    }
}

fn list(text: &mut String, indent: &str, name: &str, items: impl Iterator<Item = String>) {
    let items: Vec<String> = items.collect();
    if !items.is_empty() {
        text.extend([format!("{indent}{name}:\n")]);
        for item in items {
            text.extend([format!("{indent}  - {item}\n")]);
        }
    }
}

/// A pose in its short form: joints beside `from`.
fn pose(pose: &Pose) -> String {
    let mut parts = Vec::new();
    parts.extend(pose.from.as_ref().map(|from| format!("from: {}", word(from))));
    parts.extend(pose.root.as_ref().map(|root| format!("root: {}", root_pose(root))));
    // Joints beside `from`, as people write poses; the check refuses joints of the names `from`, `root` and `joints`.
    parts.extend(pose.joints.iter().map(|(joint, value)| format!("{}: {value}", key(joint))));
    braces(&parts)
}

fn root_pose(root: &RootPose) -> String {
    let triple = |[x, y, z]: [f64; 3]| format!("[{x}, {y}, {z}]");
    format!("{{xyz: {}, rpy: {}}}", triple(root.xyz), triple(root.rpy))
}

fn motion(text: &mut String, name: &str, motion: &Motion) {
    text.extend([format!("  {}:\n    frame: {}\n", key(name), motion.frame)]);
    if motion.is_loop {
        *text += "    loop: true\n";
    }
    if motion.start != Start::default() {
        let mut parts = Vec::new();
        parts.extend(motion.start.pose.as_ref().map(|pose| format!("pose: {}", word(pose))));
        parts.push(format!("support: {}", flow_of(&motion.start.support)));
        if motion.start.root != RootPose::default() {
            parts.push(format!("root: {}", root_pose(&motion.start.root)));
        }
        text.extend([format!("    start: {}\n", braces(&parts))]);
    }
    list(text, "    ", "scenes", motion.scenes.iter().map(scene));
    if !motion.tracks.is_empty() {
        *text += "    tracks:\n";
        for (joint, track) in &motion.tracks {
            text.extend([format!("      {}:\n", key(joint))]);
            text.extend([format!("        blend: {}\n", flow_of(&track.blend))]);
            list(text, "        ", "keys", track.keys.iter().map(key_of_track));
        }
    }
    list(text, "    ", "markers", motion.markers.iter().map(marker));
}

fn key_of_track(key: &Key) -> String {
    let mut parts = vec![format!("t: {}", key.t), format!("y: {}", key.y)];
    if key.ease != Ease::default() {
        parts.push(format!("ease: {}", flow_of(&key.ease)));
    }
    braces(&parts)
}

fn marker(marker: &Marker) -> String {
    braces(&[format!("t: {}", marker.t), format!("name: {}", word(&marker.name))])
}

fn scene(scene: &Scene) -> String {
    let usual = Scene::default();
    let mut parts = Vec::new();
    parts.extend(scene.pose.as_ref().map(|pose| format!("pose: {}", word(pose))));
    parts.extend(scene.motion.as_ref().map(|motion| format!("motion: {}", word(motion))));
    if scene.mirror {
        parts.push("mirror: true".to_owned());
    }
    if scene.repeat != usual.repeat {
        parts.push(format!("repeat: {}", scene.repeat));
    }
    // Poses always show their time, even 0: a reader looks for it. A motion that follows at once has none.
    if scene.time != usual.time || scene.motion.is_none() {
        parts.push(format!("time: {}", scene.time));
    }
    if scene.ease != usual.ease {
        parts.push(format!("ease: {}", flow_of(&scene.ease)));
    }
    parts.extend(scene.support.map(|support| format!("support: {}", flow_of(&support))));
    parts.extend(scene.root.as_ref().map(|root| format!("root: {}", root_pose(root))));
    if !scene.joints.is_empty() {
        parts.push(format!("joints: {}", numbers(&scene.joints)));
    }
    if !scene.note.is_empty() {
        parts.push(format!("note: {}", word(&scene.note)));
    }
    braces(&parts)
}

fn scene_of_physics(text: &mut String, scene: &PhysicsScene) {
    if scene.is_empty() {
        return;
    }
    *text += "scene:\n";
    let lists = [
        ("settings", &scene.settings),
        ("bodies", &scene.bodies),
        ("joints", &scene.joints),
        ("springs", &scene.springs),
    ];
    for (name, entries) in lists.into_iter().filter(|(_, entries)| !entries.is_empty()) {
        text.extend([format!("  {name}:\n")]);
        for (name, entry) in entries {
            text.extend([format!("    {}: {}\n", key(name), flow(entry))]);
        }
    }
}

fn numbers(values: &IndexMap<String, f64>) -> String {
    let parts: Vec<String> = values.iter().map(|(k, v)| format!("{}: {v}", key(k))).collect();
    braces(&parts)
}

fn braces(parts: &[String]) -> String {
    let line = format!("{{{}}}", parts.join(", "));
    if line.len() <= WIDTH {
        return line;
    }
    // Broken where the width ends; a flow mapping may go over lines.
    let mut text = "{".to_owned();
    let mut width = 1;
    for (i, part) in parts.iter().enumerate() {
        if width > 1 && width + part.len() > WIDTH {
            text += "\n        ";
            width = 8;
        } else if i > 0 {
            text.push(' ');
        }
        text += part;
        width += part.len() + 2;
        if i + 1 < parts.len() {
            text.push(',');
        }
    }
    text + "}"
}

/// A value in flow style.
fn flow_of(value: &impl Serialize) -> String {
    flow(&serde_json::to_value(value).unwrap_or(Value::Null))
}

/// A value in flow style; of mappings without what is `null`.
fn flow(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => word(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(flow).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(entries) => {
            // `null` is what a key that is not there reads as.
            let parts = entries.iter().filter(|(_, value)| !value.is_null());
            let parts = parts.map(|(k, value)| format!("{}: {}", key(k), flow(value)));
            braces(&parts.collect::<Vec<_>>())
        }
    }
}

fn key(text: &str) -> String {
    word(text)
}

/// A text, quoted unless it is a plain word or a few of them.
fn word(text: &str) -> String {
    // A digit, sign or dot in front could make a number of it. `:` is text inside a word, but a key before a space or at the end;
    // the listed words are null and booleans to YAML 1.1 readers.
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-. /:".contains(c))
        && !text.contains(": ")
        && !text.ends_with([' ', ':'])
        && !["null", "true", "false", "yes", "no", "on", "off", "y", "n"]
            .contains(&text.to_ascii_lowercase().as_str());
    if is_plain { text.to_owned() } else { lines(text) }
}

/// A text in double quotes, as JSON and YAML have it.
fn lines(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}
