//! Since when, and how, a walker is lost: no number of steps can save it.

use core::fmt;

use karakuri_model::{BodyId, Model};

use super::capture::{Capturability, Capture};

/// A loss that is over for no longer than this goes on: whoever falls is measured badly. [s]
const LASTING: f64 = 0.3;
/// How far beyond it goes is looked at for so long: at first it is at the border. [s]
const BEYOND: f64 = 0.1;

/// The moment from which on no number of steps could have saved the walker.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lost {
    /// Since the engine's start. [s]
    pub time: f64,
    /// Number of the step under way, from the start.
    pub step: u64,
    /// How far the capture point has gone beyond what steps capture within 0.1 s, in the heading of the standing foot: forward, left.
    /// [m] (2)
    pub beyond: [f64; 2],
    /// The joint that was furthest from its target, and by how much. [rad or m]
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
    /// The same, and the joint that was furthest from its target.
    pub fn describe(&self, model: &Model) -> String {
        let (joint, off) = self.joint;
        format!("{self}; joint `{}` was {off:.3} off its target", model.joints[joint.0].name)
    }
}

/// Remembers since when a walker is lost.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LossMonitor {
    lost: Option<Lost>,
    /// When it was seen lost last. [s]
    seen: f64,
}

impl LossMonitor {
    pub(super) fn look(&mut self, capture: &Capture, now: impl Fn() -> Lost, time: f64) {
        if capture.capturability == Capturability::Falls {
            match &mut self.lost {
                Some(lost) if time - self.seen <= LASTING => {
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

    /// The loss that goes on.
    pub(super) fn lost(&self, time: f64) -> Option<Lost> {
        self.lost.filter(|_| time - self.seen <= LASTING)
    }
}
