//! Phases of walking: which feet stand where, which one swings, the ZMP reference. Counted in samples.

use karakuri_spatial::Pose;

use super::footstep::{Footstep, slid};
use super::place::Place;
use super::settings::WalkSettings;
use super::side::{Side, Support};
use super::swing::{Swing, blend, quintic};

/// A stretch of time with the same contacts.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Phase {
    /// First sample, and the first of the next phase.
    span: [u64; 2],
    /// ZMP at both ends. [m] (2×2)
    zmp: [[f64; 2]; 2],
    /// Feet at the start of the phase.
    feet: [Place; 2],
    /// Swing of the foot that moves.
    swing: Option<Swing>,
    /// Slide of both feet, the left one forward. [m]
    slide: f64,
}

/// Phases in sequence; before the first and after the last all stands still.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Timeline {
    phases: Vec<Phase>,
    step_height: f64,
}

/// Start of a timeline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimelineStart {
    /// Index of the first sample.
    pub index: u64,
    /// Places of the feet. (2)
    pub feet: [Place; 2],
    /// ZMP at the start. [m] (2)
    pub zmp: [f64; 2],
    /// Whether the robot stands still: the first double support takes the start's time.
    pub from_rest: bool,
}

/// Change of the current swing's end.
#[derive(Debug, Clone, Copy)]
pub(super) struct SwingChange {
    /// First sample of the change.
    pub(super) index: u64,
    /// First sample after the landing.
    pub(super) end: u64,
    /// Place where the foot lands.
    pub(super) to: Place,
}

/// ZMP at rest in a foot. [m] (2)
pub(super) fn resting_zmp(settings: &WalkSettings, side: Side, place: &Place) -> [f64; 2] {
    let [forward, outward] = settings.zmp_in_sole;
    place.point([forward, side.sign() * outward])
}

/// ZMP at rest between the feet. [m] (2)
pub(super) fn middle(settings: &WalkSettings, feet: &[Place; 2]) -> [f64; 2] {
    let [l, r] = Side::BOTH.map(|side| resting_zmp(settings, side, &feet[side.index()]));
    [0.5 * (l[0] + r[0]), 0.5 * (l[1] + r[1])]
}

impl Timeline {
    /// Timeline of phases from a start over steps, to rest if `ends`.
    pub fn new(
        settings: &WalkSettings,
        start: &TimelineStart,
        steps: &[Footstep],
        ends: bool,
    ) -> Self {
        let mut timeline = Self::default();
        timeline.lay(settings, start, steps, ends);
        timeline
    }

    /// Lays the phases of [`Self::new`] in place of the present ones.
    pub(super) fn lay(
        &mut self,
        settings: &WalkSettings,
        start: &TimelineStart,
        steps: &[Footstep],
        ends: bool,
    ) {
        self.phases.clear();
        self.step_height = settings.step_height;
        self.add(settings, start, steps, ends);
    }

    /// Lays, in place of the present phases, the current swing of another timeline with another end, then other steps.
    pub(super) fn lay_changed(
        &mut self,
        settings: &WalkSettings,
        now: &Self,
        change: &SwingChange,
        steps: &[Footstep],
        ends: bool,
    ) {
        let SwingChange { index, end, to } = *change;
        self.phases.clear();
        self.step_height = settings.step_height;
        let mut phase = *now.phase(index).0;
        phase.span = [index, end];
        phase.swing = phase.swing.map(|swing| swing.changed(index, end, to));
        self.phases.push(phase);
        let start = TimelineStart {
            index: end,
            // The foot in the air counts at its new landing place, where the steps after it begin.
            feet: self.places(index),
            zmp: phase.zmp[1],
            from_rest: false,
        };
        self.add(settings, &start, steps, ends);
    }

    fn add(
        &mut self,
        settings: &WalkSettings,
        start: &TimelineStart,
        steps: &[Footstep],
        ends: bool,
    ) {
        let TimelineStart { index: mut at, mut feet, mut zmp, from_rest } = *start;
        let mut push =
            |len: f64, feet: [Place; 2], zmp: [[f64; 2]; 2], step: Option<Footstep>, slide| {
                let span = [at, at + settings.samples(len) as u64];
                at = span[1];
                let swing = step.map(|step| Swing::new(step, feet[step.side.index()], span));
                self.phases.push(Phase { span, zmp, feet, swing, slide });
            };
        for (i, step) in steps.iter().enumerate() {
            let standing = step.side.other();
            if let Some(slip) = settings.slip_turn.filter(|_| step.slide != 0.0) {
                // A slide turns the robot before the step, with the ZMP halfway between the feet.
                let halfway = middle(settings, &feet);
                // At rest the ZMP is between the feet already.
                if i > 0 || !from_rest {
                    push(settings.double_support, feet, [zmp, halfway], None, 0.0);
                }
                push(slip.time, feet, [halfway, halfway], None, step.slide);
                feet = slid(&feet, step.slide);
                zmp = middle(settings, &feet);
            }
            // The ZMP goes to the standing foot in double support and stays there in single support.
            let rest = resting_zmp(settings, standing, &feet[standing.index()]);
            if i == 0 && from_rest {
                // The centre of mass must set out to the other side before the ZMP can go to the standing foot.
                push(0.5 * settings.start_time, feet, [zmp, zmp], None, 0.0);
                push(0.5 * settings.start_time, feet, [zmp, rest], None, 0.0);
            } else {
                push(settings.double_support, feet, [zmp, rest], None, 0.0);
            }
            // One step is a double support and the swing after it.
            let time = settings.step_time - settings.double_support;
            push(time, feet, [rest, rest], Some(*step), 0.0);
            feet[step.side.index()] = step.to;
            zmp = rest;
        }
        if ends || steps.is_empty() {
            let rest = middle(settings, &feet);
            push(settings.stop_time, feet, [zmp, rest], None, 0.0);
        }
    }

    /// Phase of a sample, and the part of it that is over. [-]
    fn phase(&self, index: u64) -> (&Phase, f64) {
        // After the last phase its end goes on: the part is then 1.
        let i = self.phases.partition_point(|p| p.span[1] <= index).min(self.phases.len() - 1);
        let phase = &self.phases[i];
        let [from, to] = phase.span;
        // By the swing's own progress, which a hurried foot changes: trunk and floor then arrive with the foot.
        let part = match phase.swing {
            Some(swing) => swing.progress(index).0,
            None => index.saturating_sub(from) as f64 / (to - from) as f64,
        };
        (phase, part.min(1.0))
    }

    /// Swing of the foot in the air at a sample.
    pub(super) fn swing(&self, index: u64) -> Option<Swing> {
        let (phase, _) = self.phase(index);
        // After the last phase the foot has landed.
        phase.swing.filter(|_| index < phase.span[1])
    }

    /// Current or next swing in sight, and its samples: first, and first after.
    pub(super) fn next_swing(&self, index: u64) -> Option<(Swing, [u64; 2])> {
        let mut ahead = self.phases.iter().filter(|p| p.span[1] > index);
        ahead.find_map(|p| p.swing.map(|swing| (swing, p.span)))
    }

    /// First sample after the current or next step; after the whole if there is none.
    pub fn end_of_step(&self, index: u64) -> u64 {
        let ends = |p: &&Phase| p.swing.is_some() && p.span[1] > index;
        let last = self.phases.last().map_or(index, |p| p.span[1]);
        self.phases.iter().find(ends).map_or(last, |p| p.span[1])
    }

    /// Feet that stand at a sample.
    pub fn support(&self, index: u64) -> Support {
        let (phase, _) = self.phase(index);
        match phase.swing {
            Some(swing) if index < phase.span[1] => Support::One(swing.step.side.other()),
            _ => Support::Both,
        }
    }

    /// ZMP reference. [m] (2)
    pub fn zmp(&self, index: u64) -> [f64; 2] {
        let (phase, part) = self.phase(index);
        // `3s² − 2s³`: the ZMP has no rate at the ends of a phase.
        let k = part * part * (3.0 - 2.0 * part);
        let [a, b] = phase.zmp;
        [blend(a[0], b[0], k), blend(a[1], b[1], k)]
    }

    /// Places of the feet, of a swinging one the landing place.
    pub fn places(&self, index: u64) -> [Place; 2] {
        let (phase, _) = self.phase(index);
        let mut feet = slid(&phase.feet, phase.slide);
        if let Some(Swing { step, .. }) = phase.swing {
            feet[step.side.index()] = step.to;
        }
        feet
    }

    /// Poses of both soles, `X_WSole`. (2)
    pub fn feet(&self, index: u64) -> [Pose; 2] {
        let (phase, part) = self.phase(index);
        let mut poses = slid(&phase.feet, phase.slide * quintic(part)).map(|place| place.pose());
        if let Some(swing) = phase.swing {
            poses[swing.step.side.index()] = swing.pose(index, self.step_height);
        }
        poses
    }

    /// Heading of the trunk, and the floor's height under it. [rad, m]
    pub fn trunk(&self, index: u64) -> (f64, f64) {
        let (phase, part) = self.phase(index);
        let mean = |feet: &[Place; 2]| {
            let [l, r] = feet;
            (0.5 * (l.yaw + r.yaw), 0.5 * (l.position[2] + r.position[2]))
        };
        // Yaw angles are averaged as numbers: both feet count full turns alike, so no wrap lies between them.
        let (yaw, floor) = mean(&phase.feet);
        if phase.swing.is_none() {
            return (yaw, floor);
        }
        // While a foot swings the trunk goes from the mean of the old places to that of the new ones.
        let (next_yaw, next_floor) = mean(&self.places(index));
        (blend(yaw, next_yaw, quintic(part)), blend(floor, next_floor, quintic(part)))
    }

    /// Height of the floor that carries the robot. [m]
    pub fn floor(&self, index: u64) -> f64 {
        let places = self.places(index);
        match self.support(index) {
            Support::One(side) => places[side.index()].position[2],
            Support::Both => 0.5 * (places[0].position[2] + places[1].position[2]),
        }
    }
}
