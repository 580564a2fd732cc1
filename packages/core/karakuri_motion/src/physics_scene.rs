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
        let named = end.as_str().or_else(|| end.get("part").and_then(Value::as_str));
        named == Some(part)
    })
}
