//! The judgement of a run: what went wrong, and what first.

use karakuri_gait::planner::Side;
use karakuri_motion::{Check, Finding, JointPeak, MotionState, Review};
use karakuri_spatial::Vector3;
use serde::Serialize;

use super::Stage;

/// Time for which a drive may be at its effort limit: contacts at a landing are shorter. [s]
const SATURATED: f64 = 0.1;
/// Part of the effort limit from which a drive is at it. [-]
const AT_LIMIT: f64 = 0.999;
/// Distance by which a standing foot may slide: soles give way and settle by a few millimetres. [m]
const SLID: f64 = 0.01;

/// Outcome of a motion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It can be performed.
    Ok,
    /// The robot falls.
    Falls,
    /// A joint is beyond its limit of position or speed.
    Limit,
    /// A joint lacks torque.
    Torque,
    /// A standing foot slides.
    Slip,
    /// Links run into each other.
    Collision,
}

/// Something that went wrong.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PreviewEvent {
    /// Kind of it.
    pub kind: Verdict,
    /// Time. [s]
    pub time: f64,
    /// Scene that the time belongs to.
    pub scene: usize,
    /// Joint, links or foot.
    pub what: String,
    /// Value. [SI]
    pub value: f64,
    /// Limit. [SI]
    pub limit: f64,
}

/// Report on a motion in the simulation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PreviewReport {
    /// Outcome: a fall, else what went wrong first.
    pub verdict: Verdict,
    /// What decided.
    pub first: Option<PreviewEvent>,
    /// Everything that went wrong, by time.
    pub events: Vec<PreviewEvent>,
    /// Largest torques and speeds of the joints in the simulation.
    pub peaks: Vec<JointPeak>,
    /// Least margin of the zero moment point, as planned. [m]
    pub min_margin: Option<f64>,
    /// Digest of the simulated states: equal for equal runs.
    pub digest: String,
    /// Steps of the simulation.
    pub steps: u64,
    /// Checks of the motion without physics.
    pub review: Review,
}

/// Watches a run.
#[derive(Default)]
pub(super) struct Judge {
    events: Vec<PreviewEvent>,
    peaks: Vec<JointPeak>,
    /// Since when each joint's drive is at its limit. [s]
    saturated_since: Vec<Option<f64>>,
    /// Where each foot came to stand.
    stood_at: [Option<Vector3>; 2],
    has_fallen: bool,
}

impl Judge {
    /// Looks at the world, which should be in a state of the motion; whether the robot has fallen.
    pub(super) fn watch(&mut self, stage: &Stage, state: &MotionState) -> bool {
        self.watch_drives(stage, state);
        if self.has_fallen {
            return true;
        }
        for side in Side::BOTH {
            self.watch_foot(stage, state, side);
        }
        if stage.has_fallen(state) {
            self.has_fallen = true;
            let height = stage.world.robot(stage.robot).q()[2];
            let what = stage.model.name.clone();
            self.add(Verdict::Falls, state, what, [height, state.q[2]]);
        }
        self.has_fallen
    }

    fn watch_drives(&mut self, stage: &Stage, state: &MotionState) {
        let robot = stage.world.robot(stage.robot);
        let joints = stage.model.joints.iter().filter(|joint| joint.kind.single().is_some());
        for (i, joint) in joints.enumerate() {
            let k = joint.v_start;
            let (torque, speed) = (robot.efforts()[k].abs(), robot.v()[k].abs());
            if self.peaks.len() <= i {
                self.peaks.push(JointPeak { joint: joint.name.clone(), torque: 0.0, speed: 0.0 });
                self.saturated_since.push(None);
            }
            let peak = &mut self.peaks[i];
            (peak.torque, peak.speed) = (peak.torque.max(torque), peak.speed.max(speed));
            let limit = joint.limits.effort;
            if torque < AT_LIMIT * limit || self.has_fallen {
                self.saturated_since[i] = None;
                continue;
            }
            let since = *self.saturated_since[i].get_or_insert(state.t);
            let is_known =
                self.events.iter().any(|e| e.kind == Verdict::Torque && e.what == joint.name);
            if state.t - since > SATURATED && !is_known {
                self.add(Verdict::Torque, state, joint.name.clone(), [torque, limit]);
            }
        }
    }

    fn watch_foot(&mut self, stage: &Stage, state: &MotionState, side: Side) {
        let place = &mut self.stood_at[side.index()];
        let sole = stage.sole(side).filter(|_| state.stands[side.index()]);
        let Some(sole) = sole.map(|sole| sole.translation) else {
            *place = None;
            return;
        };
        let began = *place.get_or_insert(sole);
        let slid = (sole - began).xy().norm();
        let what = if side == Side::Left { "left foot" } else { "right foot" };
        let is_known = self.events.iter().any(|e| e.kind == Verdict::Slip && e.what == what);
        if slid > SLID && !is_known {
            self.add(Verdict::Slip, state, what.to_owned(), [slid, SLID]);
        }
    }

    /// The simulation itself broke off.
    pub(super) fn broke(&mut self, time: f64, report: &str) {
        let event = PreviewEvent {
            kind: Verdict::Falls,
            time,
            scene: 0,
            what: report.to_owned(),
            value: f64::NAN,
            limit: f64::NAN,
        };
        self.events.push(event);
    }

    fn add(&mut self, kind: Verdict, state: &MotionState, what: String, [value, limit]: [f64; 2]) {
        let (time, scene) = (state.t, state.scene);
        self.events.push(PreviewEvent { kind, time, scene, what, value, limit });
    }

    pub(super) fn report(self, review: Review, digest: String, steps: u64) -> PreviewReport {
        let mut events: Vec<_> = review.findings.iter().filter_map(event_of).collect();
        let n_planned = events.len();
        // A joint that lacks torque as planned lacks it in the simulation, too.
        let is_planned = |event: &PreviewEvent, planned: &[PreviewEvent]| {
            event.kind == Verdict::Torque
                && planned.iter().any(|p| p.kind == event.kind && p.what == event.what)
        };
        for event in self.events {
            if !is_planned(&event, &events[..n_planned]) {
                events.push(event);
            }
        }
        events.sort_by(|a, b| a.time.total_cmp(&b.time));
        let fall = events.iter().find(|event| event.kind == Verdict::Falls);
        let first = fall.or_else(|| events.first()).cloned();
        PreviewReport {
            verdict: first.as_ref().map_or(Verdict::Ok, |first| first.kind),
            first,
            events,
            peaks: self.peaks,
            min_margin: review.least_margin,
            digest,
            steps,
            review,
        }
    }
}

/// What a check without physics found that physics does not look at.
fn event_of(finding: &Finding) -> Option<PreviewEvent> {
    let kind = match finding.check {
        Check::Position | Check::Speed => Verdict::Limit,
        Check::Collision => Verdict::Collision,
        Check::Torque => Verdict::Torque,
        // The simulation says whether it slips or falls.
        _ => return None,
    };
    Some(PreviewEvent {
        kind,
        time: finding.time,
        scene: finding.scene,
        what: finding.what.clone(),
        value: finding.value,
        limit: finding.limit,
    })
}
