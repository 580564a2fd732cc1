//! Motions that a person shows with the limp robot: recorded, and fitted with keys.

use karakuri_motion::Record;
use karakuri_motion::formats::Import;
use serde_json::Value;

use super::state::{Session, no_robot, to_value};
use crate::wire::{Code, Event, Taught, WireError};

/// Farthest that a motion is from what was measured, if nothing else is asked for. [rad or m]
const TOLERANCE: f64 = 0.02;

impl Session {
    /// Begins to record where the robot is, or makes a motion of what was recorded.
    pub(super) fn record_robot(
        &mut self,
        client: &str,
        on: bool,
        tolerance: Option<f64>,
    ) -> Result<Value, WireError> {
        let taught = if on { self.begin_record() } else { self.end_record(client, tolerance) };
        // A recording that is refused at its end has ended, too.
        self.tell(&Event::Live(self.live.state()));
        to_value(&taught?)
    }

    fn begin_record(&mut self) -> Result<Taught, WireError> {
        let performer = self.project.performer.clone().ok_or_else(no_robot)?;
        let measured = self.measured()?;
        let leads = |name: &&String| performer.joint(name).is_some();
        let joints = measured.keys().filter(leads).cloned().collect();
        self.live.record = Some(Record::new(joints));
        Ok(Taught { on: true, ..Taught::default() })
    }

    fn end_record(&mut self, client: &str, tolerance: Option<f64>) -> Result<Taught, WireError> {
        let tolerance = tolerance.unwrap_or(TOLERANCE);
        if !(1e-6..=1.0).contains(&tolerance) {
            let text = format!("a tolerance of {tolerance}");
            return Err(
                WireError::new(Code::Limit, text, "write a number from 1e-6 to 1").at("tolerance")
            );
        }
        let performer = self.project.performer.clone().ok_or_else(no_robot)?;
        let Some(record) = self.live.record.take() else {
            let text = "nothing is recorded";
            return Err(WireError::new(Code::State, text, "begin to record, then move the robot"));
        };
        let unit = self.project.document.units.angle;
        let motion = record.motion(&performer, unit, tolerance);
        let n_keys: usize = motion.tracks.values().map(|track| track.keys.len()).sum();
        if motion.tracks.values().all(|track| track.keys.len() < 2) {
            let n = record.times.len();
            let text = format!("no joint moved farther than {tolerance} in {n} samples");
            return Err(WireError::new(Code::State, text, "record again, and move the robot"));
        }
        let taught = Import { name: "taught".to_owned(), motion, notes: Vec::new() };
        let added = self.add_motion(client, taught, "teach by hand".to_owned())?;
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let n_samples = count(record.times.len());
        Ok(Taught { on: false, motion: added.into_iter().next(), n_samples, n_keys: count(n_keys) })
    }
}
