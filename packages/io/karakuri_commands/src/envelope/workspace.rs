//! Workspace: a box in the world without boxes that are kept free.

use serde::{Deserialize, Serialize};

use super::values::{COORDINATE, OutOfRange};

/// Where the tool's centre may be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workspace {
    /// Box that is allowed, with its faces.
    #[serde(rename = "box")]
    pub bounds: Region,
    /// Boxes that are not, with their faces.
    #[serde(default)]
    pub keep_out: Vec<Region>,
}

/// Box along the axes of the world.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "[[f64; 3]; 2]", into = "[[f64; 3]; 2]")]
pub struct Region {
    /// Corner of the least coordinates. [m] (3)
    pub lower: [f64; 3],
    /// Corner of the largest coordinates. [m] (3)
    pub upper: [f64; 3],
}

impl TryFrom<[[f64; 3]; 2]> for Region {
    type Error = OutOfRange;

    fn try_from([lower, upper]: [[f64; 3]; 2]) -> Result<Self, OutOfRange> {
        let numbers = lower.iter().chain(&upper);
        if let Some(&wrong) = numbers.into_iter().find(|&&number| !COORDINATE.contains(number)) {
            return Err(OutOfRange::of(wrong, &COORDINATE));
        }
        if lower.iter().zip(&upper).any(|(lower, upper)| lower >= upper) {
            return Err(OutOfRange::corners());
        }
        Ok(Self { lower, upper })
    }
}

impl From<Region> for [[f64; 3]; 2] {
    fn from(Region { lower, upper }: Region) -> Self {
        [lower, upper]
    }
}

impl Region {
    /// Whether a point [m] is inside or on a face; one that is not a number is not.
    pub fn contains(&self, point: [f64; 3]) -> bool {
        (0..3).all(|axis| self.spans(axis, point[axis]))
    }

    fn spans(&self, axis: usize, coordinate: f64) -> bool {
        (self.lower[axis]..=self.upper[axis]).contains(&coordinate)
    }

    /// Whether the whole segment between two points [m] is outside of the box. [Ericson 2005, §5.3.3]
    fn misses(&self, from: [f64; 3], to: [f64; 3]) -> bool {
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        for axis in 0..3 {
            let along = to[axis] - from[axis];
            if along == 0.0 {
                if !self.spans(axis, from[axis]) {
                    return true;
                }
                continue;
            }
            let [a, b] = [self.lower, self.upper].map(|corner| (corner[axis] - from[axis]) / along);
            enter = enter.max(a.min(b));
            leave = leave.min(a.max(b));
        }
        enter > leave
    }
}

impl Workspace {
    /// Whether a point [m] is allowed.
    pub fn contains(&self, point: [f64; 3]) -> bool {
        self.bounds.contains(point) && !self.keep_out.iter().any(|region| region.contains(point))
    }

    /// Whether a segment between two points [m] is allowed all along.
    pub(crate) fn contains_segment(&self, from: [f64; 3], to: [f64; 3]) -> bool {
        // The box is convex: its ends say all.
        self.bounds.contains(from)
            && self.bounds.contains(to)
            && self.keep_out.iter().all(|region| region.misses(from, to))
    }

    /// Whether some height above a place [m] is allowed.
    pub(crate) fn contains_place(&self, x: f64, y: f64) -> bool {
        let Region { lower, upper } = self.bounds;
        // What is kept out up to a height leaves what is above it.
        let is_blocked = |region: &Region| {
            region.spans(0, x)
                && region.spans(1, y)
                && region.lower[2] <= lower[2]
                && region.upper[2] >= upper[2]
        };
        self.bounds.spans(0, x) && self.bounds.spans(1, y) && !self.keep_out.iter().any(is_blocked)
    }
}
