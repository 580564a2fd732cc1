//! Poses: positions of some joints under a name.

use std::fmt;

use indexmap::IndexMap;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use crate::motion::RootPose;

/// Positions of some joints, on top of those of another pose.
///
/// Read from `{from, root, joints: {…}}` as from the short form of files, in which joints stand beside `from`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Pose {
    /// The pose below this one.
    pub from: Option<String>,
    /// Pose of the root link, for motions whose feet do not say it.
    pub root: Option<RootPose>,
    /// Joint and its position. [the document's angle or m]
    #[cfg_attr(feature = "ts", ts(as = "std::collections::BTreeMap<String, f64>"))]
    pub joints: IndexMap<String, f64>,
}

/// Keys of a pose that are no joints.
pub(crate) const RESERVED: [&str; 3] = ["from", "root", "joints"];

impl<'de> Deserialize<'de> for Pose {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PoseVisitor)
    }
}

struct PoseVisitor;

impl<'de> Visitor<'de> for PoseVisitor {
    type Value = Pose;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("joints and their positions, as `{l_knee_pitch: 20}`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pose, A::Error> {
        let mut pose = Pose::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "from" => pose.from = map.next_value()?,
                "root" => pose.root = map.next_value()?,
                // The long form, as programs send it.
                "joints" => {
                    for (joint, value) in map.next_value::<IndexMap<String, f64>>()? {
                        insert::<A>(&mut pose, joint, value)?;
                    }
                }
                _ => {
                    let value = map.next_value()?;
                    insert::<A>(&mut pose, key, value)?;
                }
            }
        }
        Ok(pose)
    }
}

fn insert<'de, A: MapAccess<'de>>(
    pose: &mut Pose,
    joint: String,
    value: f64,
) -> Result<(), A::Error> {
    // Both forms may say a joint: a second value would silently win.
    if pose.joints.contains_key(&joint) {
        let message = format!("joint `{joint}` is there twice; delete one");
        return Err(de::Error::custom(message));
    }
    pose.joints.insert(joint, value);
    Ok(())
}
