//! The posture of a motion at a time, with joints on top.

use std::sync::Arc;

use karakuri_model::Base;
use karakuri_motion::{Document, Performance, Support};

use super::Poser;
use super::evaluate::{Posture, pose_of, set_root};
use crate::wire::{Code, PoseRequest, WireError};

impl Poser {
    /// Posture of a motion at a time. The foot that stands stays where it is when joints on top move.
    pub(super) fn in_motion(
        &mut self,
        document: &Document,
        motion: &str,
        request: &PoseRequest,
    ) -> Result<Posture, WireError> {
        if !document.motions.contains_key(motion) {
            let known: Vec<&str> = document.motions.keys().map(String::as_str).collect();
            let text = format!("there is no motion `{motion}`");
            return Err(WireError::new(
                Code::NotFound,
                text,
                format!("there are {}", known.join(", ")),
            ));
        }
        let time = request.time.unwrap_or(0.0);
        if !time.is_finite() {
            return Err(WireError::new(Code::Limit, "a time is no number", "write one").at("time"));
        }
        let performer = Arc::clone(&self.performer);
        let mut performance =
            Performance::new(document, motion, &performer).map_err(|problems| {
                let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
                WireError::new(Code::Invalid, texts.join("; "), "mend the motion")
            })?;
        let state = performance.state(time.clamp(0.0, performance.duration()));
        let support = match request.support {
            None | Some(Support::Auto) => match state.stands {
                [true, true] => Support::Both,
                [true, false] => Support::Left,
                [false, true] => Support::Right,
                [false, false] => Support::None,
            },
            Some(support) => support,
        };
        let mut q = state.q;
        let side = match support {
            Support::Left | Support::Both => Some(0),
            Support::Right => Some(1),
            Support::None | Support::Auto => None,
        };
        let leg = side.zip(performer.legs.as_ref());
        let standing = leg.map(|(side, legs)| (&legs[side], self.soles(legs, &q)[side]));
        self.lay_on(&mut q, &request.joints)?;
        if matches!(self.model.base, Base::Floating) {
            match (request.root, standing) {
                (Some(place), _) => set_root(&mut q, &pose_of(&place)),
                (None, Some((leg, X_WSole))) => self.put_sole(&mut q, leg, &X_WSole),
                (None, None) => {}
            }
        }
        Ok(Posture { q, support })
    }
}
