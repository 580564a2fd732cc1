//! Left and right side, and the feet that stand.

use serde::{Deserialize, Serialize};

/// A side: a foot, and its index in pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Left side, index 0.
    Left,
    /// Right side, index 1.
    Right,
}

impl Side {
    /// Both sides, left first.
    pub const BOTH: [Self; 2] = [Self::Left, Self::Right];

    /// The other side.
    #[must_use]
    pub fn other(self) -> Self {
        if self == Self::Left { Self::Right } else { Self::Left }
    }

    /// Index in pairs: 0 left, 1 right.
    pub fn index(self) -> usize {
        usize::from(self == Self::Right)
    }

    /// Sign of the lateral axis: +1 left, -1 right.
    pub fn sign(self) -> f64 {
        if self == Self::Left { 1.0 } else { -1.0 }
    }
}

/// Feet that stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Support {
    /// Both feet stand.
    #[default]
    Both,
    /// One foot stands.
    One(Side),
}

impl Support {
    /// Whether a foot stands in this support.
    pub fn stands(self, side: Side) -> bool {
        self == Self::Both || self == Self::One(side)
    }
}
