//! Contacts over time: a row per point, or a row per pair of things.

use std::path::Path;

use karakuri_files::{Column, TraceError, TraceWriter};
use karakuri_physics::World;
use karakuri_spatial::Force;

use super::loads::add_wrench;

/// Columns of the two things: the force is that of `by` on `on`.
const NAMES: [&str; 2] = ["by", "on"];

/// Kind of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rows {
    /// One contact point that carries force.
    Points,
    /// Sum of all contacts of two things.
    Pairs,
}

/// File of contacts over time.
pub(super) struct Touches {
    writer: TraceWriter,
    rows: Rows,
    values: Vec<f64>,
}

impl Touches {
    pub(super) fn create(file: &Path, rows: Rows) -> Result<Self, TraceError> {
        let place: &[(&str, &str)] = match rows {
            Rows::Points => &[
                ("x", "m"),
                ("y", "m"),
                ("z", "m"),
                ("nx", ""),
                ("ny", ""),
                ("nz", ""),
                ("gap", "m"),
            ],
            Rows::Pairs => &[("points", "")],
        };
        let force =
            [("fx", "N"), ("fy", "N"), ("fz", "N"), ("mx", "N·m"), ("my", "N·m"), ("mz", "N·m")];
        let all = [("time", "s")].iter().chain(place).chain(&force);
        let columns: Vec<Column> = all.map(|(name, unit)| Column::new(*name, *unit)).collect();
        let writer = TraceWriter::create_named(file, &NAMES, &columns)?;
        Ok(Self { writer, rows, values: Vec::new() })
    }

    /// Writes the contacts of the last step.
    pub(super) fn write(&mut self, world: &World) -> Result<(), TraceError> {
        match self.rows {
            Rows::Points => self.write_points(world),
            Rows::Pairs => self.write_pairs(world),
        }
    }

    /// Writes a row per contact point; moments are about the point.
    fn write_points(&mut self, world: &World) -> Result<(), TraceError> {
        for contact in world.contacts() {
            self.values.clear();
            self.values.push(world.time());
            self.values.extend(contact.position.iter().chain(&contact.normal));
            self.values.push(contact.gap);
            add_wrench(&mut self.values, &Force::new(contact.moment, contact.force));
            let (by, on) = (world.part_name(contact.a), world.part_name(contact.b));
            self.writer.named_row(&[&by, &on], &self.values)?;
        }
        Ok(())
    }

    /// Writes a row per pair of things; moments are about the world's origin.
    fn write_pairs(&mut self, world: &World) -> Result<(), TraceError> {
        let mut pairs = Vec::new();
        for contact in world.contacts() {
            let pair = (contact.a, contact.b);
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
        for (a, b) in pairs {
            let points = world.contacts().filter(|c| (c.a, c.b) == (a, b)).count();
            self.values.clear();
            self.values.extend([world.time(), points as f64]);
            add_wrench(&mut self.values, &world.pair_wrench(a, b));
            let (by, on) = (world.part_name(a), world.part_name(b));
            self.writer.named_row(&[&by, &on], &self.values)?;
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<(), TraceError> {
        self.writer.finish()
    }
}
