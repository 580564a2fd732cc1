//! Requests for previews.

use serde_json::Value;

use super::state::{Session, to_value};
use crate::preview::{Job, News, Reported};
use crate::wire::{Event, WireError};

impl Session {
    /// Key of a motion: SHA-256 of all that its rows and its preview depend on.
    pub(super) fn motion_key(&mut self, motion: &str) -> String {
        self.keys.key(&self.project, motion)
    }

    /// Simulates a motion in the background, unless its result is known.
    pub(super) fn preview(&mut self, motion: &str) -> Result<Value, WireError> {
        let key = self.motion_key(motion);
        let before = self.previews.state().job;
        if !self.previews.recall(motion, &key, &self.assets) {
            let job = Job {
                motion: motion.to_owned(),
                key,
                performance: self.performance(motion)?,
                scene: self.project.shown().scene.clone(),
                file: self.project.named_in(&self.folder),
                stage: self.project.stage.number,
            };
            self.previews.start(job, &self.assets, self.inputs.clone())?;
        }
        if self.previews.state().job != before {
            self.clients.drop_rows();
        }
        self.tell_preview();
        to_value(self.previews.state())
    }

    /// Ends the preview.
    pub(super) fn cancel_preview(&mut self) -> Result<Value, WireError> {
        self.leave_preview();
        to_value(self.previews.state())
    }

    /// Ends the preview if its motion is another one now, and says so.
    pub(super) fn leave_old_preview(&mut self) {
        let Some((motion, key)) = self.previews.under_way() else { return };
        if self.motion_key(&motion) != key {
            self.leave_preview();
        }
    }

    /// Ends the preview, and says so.
    pub(super) fn leave_preview(&mut self) {
        if self.previews.cancel() {
            self.clients.drop_rows();
            self.tell_preview();
        }
    }

    /// News of a preview.
    pub(super) fn preview_news(&mut self, news: News) {
        match self.previews.hear(news) {
            Reported::Nothing => {}
            Reported::State => self.tell_preview(),
            Reported::Rows(frame) => {
                self.tell_preview();
                self.clients.send_rows(frame);
            }
        }
    }

    fn tell_preview(&self) {
        self.tell(&Event::Preview(self.previews.state().clone()));
    }
}
