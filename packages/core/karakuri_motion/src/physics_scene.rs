//! Surroundings of the robot: what a scene file says beside its robots, entry by entry.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Contents of a scene file beside the robot; the keys of an entry are those of `docs/scenes.md`, in SI units.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(default, deny_unknown_fields)]
pub struct PhysicsScene {
    /// Settings of the world: `gravity`, `dt`, `solver`, `ground` and so on.
    #[cfg_attr(feature = "ts", ts(type = "{ [key: string]: unknown }"))]
    pub settings: IndexMap<String, Value>,
    /// Bodies by name.
    #[cfg_attr(feature = "ts", ts(type = "{ [name: string]: { [key: string]: unknown } }"))]
    pub bodies: IndexMap<String, Value>,
    /// Joints between things, by name.
    #[cfg_attr(feature = "ts", ts(type = "{ [name: string]: { [key: string]: unknown } }"))]
    pub joints: IndexMap<String, Value>,
    /// Springs between points of things, by name.
    #[cfg_attr(feature = "ts", ts(type = "{ [name: string]: { [key: string]: unknown } }"))]
    pub springs: IndexMap<String, Value>,
}

impl PhysicsScene {
    /// Whether the document says nothing of surroundings.
    pub fn is_empty(&self) -> bool {
        self.settings.is_empty()
            && self.bodies.is_empty()
            && self.joints.is_empty()
            && self.springs.is_empty()
    }
}

/// Whether an entry of `joints` or `springs` names a part: `a` or `b` is it, or has it as its `part`.
pub(crate) fn names_part(entry: &Value, part: &str) -> bool {
    ["a", "b"].into_iter().filter_map(|end| entry.get(end)).any(|end| {
        // The two ways in which a scene file says an end: a name, or a mapping with the point on the part.
        let named = end.as_str().or_else(|| end.get("part").and_then(Value::as_str));
        named == Some(part)
    })
}

impl PhysicsScene {
    /// Text of a scene file with these surroundings, a default floor where none is said, and robots, each as `docs/scenes.md` has
    /// them. JSON, which is YAML.
    pub fn scene_file(&self, robots: &[Value]) -> String {
        let named = |entries: &IndexMap<String, Value>| {
            let entry = |(name, entry): (&String, &Value)| {
                let mut entry = entry.clone();
                if let Some(keys) = entry.as_object_mut() {
                    keys.insert("name".to_owned(), name.as_str().into());
                }
                entry
            };
            Value::from(entries.iter().map(entry).collect::<Vec<_>>())
        };
        let mut scene: serde_json::Map<String, Value> =
            self.settings.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        // Without the key a scene file has no floor, and the robot would fall for ever.
        scene.entry("ground").or_insert_with(|| Value::Object(serde_json::Map::new()));
        scene.insert("robots".to_owned(), robots.into());
        scene.insert("bodies".to_owned(), named(&self.bodies));
        scene.insert("joints".to_owned(), named(&self.joints));
        scene.insert("springs".to_owned(), named(&self.springs));
        Value::Object(scene).to_string()
    }
}
