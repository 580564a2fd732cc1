//! Mirror table: which joint is which one's mirror image, and with which sign.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// Mirror table of a robot, about its plane of symmetry.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(default, deny_unknown_fields)]
pub struct Mirror {
    /// Pairs of joints of left and right.
    pub pairs: Vec<MirrorPair>,
    /// Joints that are their own mirror image, and their sign.
    #[serde(rename = "self")]
    #[cfg_attr(feature = "ts", ts(as = "std::collections::BTreeMap<String, f64>"))]
    pub own: IndexMap<String, f64>,
}

/// Two joints that are each other's mirror image: the left one's name, the right one's, and the sign between them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct MirrorPair(
    /// Joint of the left.
    pub String,
    /// Joint of the right.
    pub String,
    /// 1 or −1: position of the one that mirrors a unit of the other. [-]
    pub f64,
);

impl Mirror {
    /// The joint that shows a joint's position in the mirror, and its sign; `None` of a joint that the table has not.
    pub fn image<'a>(&'a self, joint: &str) -> Option<(&'a str, f64)> {
        for MirrorPair(left, right, sign) in &self.pairs {
            // One sign serves both directions: ±1 is its own inverse.
            if left == joint {
                return Some((right, *sign));
            }
            if right == joint {
                return Some((left, *sign));
            }
        }
        self.own.get_key_value(joint).map(|(name, sign)| (name.as_str(), *sign))
    }
}
