//! Requests for sampled motions.

use karakuri_motion::ReviewSettings;

use super::state::Session;
use crate::curves::{Asker, Job, Key, Surroundings, times};
use crate::wire::{ClipRequest, Code, WireError};

/// Rates of rows. [Hz]
const RATES: [f64; 2] = [1.0, 1000.0];

impl Session {
    /// Samples a motion. Its answer comes when it is done: other requests are answered meanwhile.
    pub(super) fn clip(&mut self, request: &ClipRequest, asker: Asker) {
        let checks = request.checks.unwrap_or(true);
        let rate = request.rate.map(f64::to_bits);
        let stage = self.project.stage.number;
        // Each update of a drag is another document: none of them comes again.
        let is_kept = self.project.drag.is_none();
        let key =
            is_kept.then(|| Key { motion: self.motion_key(&request.motion), stage, rate, checks });
        if let Some(known) = key.as_ref().and_then(|key| self.curves.known(key)) {
            return asker.answer(Ok(&known));
        }
        let job = match self.sampled(request, checks) {
            Ok(job) => Job { key, ..job },
            Err(error) => return asker.answer(Err(&error)),
        };
        self.curves.sample(job, asker);
    }

    fn sampled(&self, request: &ClipRequest, checks: bool) -> Result<Job, WireError> {
        let performance = self.performance(&request.motion)?;
        let dt = match request.rate {
            None => performance.frame(),
            Some(rate) if (RATES[0]..=RATES[1]).contains(&rate) => 1.0 / rate,
            Some(rate) => {
                let hint = format!("write a number from {} to {}", RATES[0], RATES[1]);
                return Err(WireError::new(Code::Limit, format!("{rate} rows a second"), hint));
            }
        };
        Ok(Job {
            key: None,
            times: times(performance.duration(), dt)?,
            dt,
            surroundings: Surroundings::from(&self.project.stage),
            conditions: self.conditions(),
            checks,
            performance,
        })
    }

    /// Friction and gravity of the document's scene.
    fn conditions(&self) -> ReviewSettings {
        let scene = &self.project.scene.scene;
        let usual = ReviewSettings::default();
        ReviewSettings {
            friction: scene.ground.map_or(usual.friction, |ground| ground.friction),
            gravity: scene.settings.gravity.norm(),
        }
    }
}
