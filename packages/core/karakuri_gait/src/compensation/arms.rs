//! Motion of the arms: fixed, active or passive.

use serde::{Deserialize, Serialize};

/// Motion of the shoulders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arms {
    /// They turn with the trunk: both shoulder angles are `φ`.
    Fixed,
    /// They swing as the gait prescribes.
    Active,
    /// They swing freely: no moment about the Y axis of either shoulder.
    Passive,
}

impl Arms {
    /// Number of unknown angles: `θ`, `φ`, and two shoulders where they are free.
    pub fn n_unknown(self) -> usize {
        // Each unknown has its equation: two moments of the floor, and one of each shoulder that nothing drives.
        if self == Self::Passive { 4 } else { 2 }
    }
}
