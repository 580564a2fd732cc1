//! A measured characteristic: effort over position, straight between given points, constant beyond them, less `c v`.

use std::sync::Arc;

use super::law::{MotorLaw, MotorResponse, MotorState, gain};
use crate::yaml::{Fields, Reader};

/// A law by points.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    points: Vec<(f64, f64)>,
    damping: f64,
}

impl Table {
    /// Law from positions that increase [rad or m] with their efforts [N·m or N], and a damping [N·m·s/rad or N·s/m];
    /// `None` if they do not increase or a number is not finite.
    pub fn new(points: Vec<(f64, f64)>, damping: f64) -> Option<Self> {
        let finite = points.iter().all(|(q, effort)| q.is_finite() && effort.is_finite());
        let rising = points.windows(2).all(|pair| pair[0].0 < pair[1].0);
        // Strictly increasing: a step has no slope that an implicit step could use.
        let good = !points.is_empty() && finite && rising && damping.is_finite() && damping >= 0.0;
        good.then_some(Self { points, damping })
    }
}

impl MotorLaw for Table {
    fn name(&self) -> &'static str {
        "table"
    }

    fn respond(&self, at: &MotorState) -> MotorResponse {
        let points = &self.points;
        // At a kink the slope to its right counts.
        let next = points.partition_point(|(q, _)| *q <= at.position);
        let (effort, stiffness) = if next == 0 {
            // Constant outside: a measurement says nothing beyond its ends, and a line would grow without bound.
            (points[0].1, 0.0)
        } else if next == points.len() {
            (points[next - 1].1, 0.0)
        } else {
            let ((q0, e0), (q1, e1)) = (points[next - 1], points[next]);
            let slope = (e1 - e0) / (q1 - q0);
            (e0 + slope * (at.position - q0), -slope)
        };
        let damping = self.damping;
        MotorResponse { effort: effort - damping * at.velocity, stiffness, damping }
    }
}

pub(super) fn read(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Arc<dyn MotorLaw>> {
    let damping = gain(reader, fields, "damping", "N·m·s/rad or N·s/m");
    let (list, path) = reader.required(fields, "points", "[[-1, 2], [1, -2]]")?;
    let mut points = Vec::new();
    for pair in reader.list(list, &path) {
        let [q, effort] = reader.list(pair, &path) else {
            reader.error(pair, format!("{path}: expected pairs"), "write [position, effort]");
            return None;
        };
        let q = reader.number(q, &path, &(-1e9..=1e9), "rad or m")?;
        points.push((q, reader.number(effort, &path, &(-1e12..=1e12), "N·m or N")?));
    }
    let Some(table) = Table::new(points, damping) else {
        reader.error(list, format!("{path}: positions do not increase"), "sort the points");
        return None;
    };
    Some(Arc::new(table))
}
