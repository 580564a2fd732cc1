//! Moment at which a walker is lost: from then on no number of steps can save it.

use core::fmt;

use karakuri_model::{BodyId, Model};

use super::capture::{Capturability, Capture};

/// Longest interruption of a loss: the state of a falling walker is measured badly. [s]
const LASTING: f64 = 0.3;
/// Time for which the excess over the region is recorded: at first it is near 0. [s]
const BEYOND: f64 = 0.1;

/// Loss of a walker: the moment from which on no number of steps could have saved it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lost {
    /// Time since the engine's start. [s]
    pub time: f64,
    /// Number of the current step, from the start.
    pub step: u64,
    /// Largest excess of the capture point over the region that steps capture, within 0.1 s, in the heading of the standing foot:
    /// forward, left. [m] (2)
    pub beyond: [f64; 2],
    /// Joint that was furthest from its target, and its error. [rad or m]
    pub joint: (BodyId, f64),
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [forward, left] = self.beyond.map(|x| 1e3 * x);
        write!(f, "in step {}, its capture point went ", self.step)?;
        let mut and = "";
        for (x, [plus, minus]) in [(forward, ["before", "behind"]), (left, ["left", "right"])] {
            if x.abs() >= 0.5 {
                write!(f, "{and}{:.0} mm {}", x.abs(), if x > 0.0 { plus } else { minus })?;
                and = " and ";
            }
        }
        write!(f, "{}beyond all that steps can capture", if and.is_empty() { "" } else { ", " })
    }
}

impl Lost {
    /// Describes the loss, and the joint that was furthest from its target.
    pub fn describe(&self, model: &Model) -> String {
        let (joint, off) = self.joint;
        format!("{self}; joint `{}` was {off:.3} off its target", model.joints[joint.0].name)
    }
}

/// Monitor of a walker's loss.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LossMonitor {
    lost: Option<Lost>,
    /// Time at which it was seen lost last. [s]
    seen: f64,
}

impl LossMonitor {
    pub(super) fn look(&mut self, capture: &Capture, now: impl Fn() -> Lost, time: f64) {
        if capture.capturability == Capturability::Falls {
            match &mut self.lost {
                // The same loss goes on: its first moment is what the report is about.
                Some(lost) if time - self.seen <= LASTING => {
                    // Only the first tenth of a second: later the excess is that of a body that lies.
                    let further = capture.margin < -lost.beyond[0].hypot(lost.beyond[1]);
                    if further && time - lost.time <= BEYOND {
                        lost.beyond = capture.beyond;
                    }
                }
                _ => self.lost = Some(now()),
            }
            self.seen = time;
        }
    }

    /// Loss that goes on at a time [s].
    pub(super) fn lost(&self, time: f64) -> Option<Lost> {
        self.lost.filter(|_| time - self.seen <= LASTING)
    }
}
