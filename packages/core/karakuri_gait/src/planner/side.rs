//! Left and right, and what stands.

use serde::{Deserialize, Serialize};

/// A foot, and what belongs to it, as an index of pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// 0
    Left,
    /// 1
    Right,
}

impl Side {
    /// Both, left first.
    pub const BOTH: [Self; 2] = [Self::Left, Self::Right];

    /// The other one.
    #[must_use]
    pub fn other(self) -> Self {
        if self == Self::Left { Self::Right } else { Self::Left }
    }

    /// Index in pairs.
    pub fn index(self) -> usize {
        usize::from(self == Self::Right)
    }

    /// +1 left, -1 right.
    pub fn sign(self) -> f64 {
        if self == Self::Left { 1.0 } else { -1.0 }
    }
}

/// What stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Support {
    /// Both feet.
    #[default]
    Both,
    /// One foot.
    One(Side),
}

impl Support {
    /// Whether a foot stands.
    pub fn stands(self, side: Side) -> bool {
        self == Self::Both || self == Self::One(side)
    }
}
