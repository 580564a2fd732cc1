//! Requests about the robot.
//!
//! It moves only for the client with the operator lease, only as long as that says that it is there, and plays only motions whose
//! preview is sound. Anybody may stop it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use karakuri_motion::{MotionState, Record};
use serde_json::Value;

use super::state::{Session, to_value};
use crate::link::{LinkNews, Measurement, RobotLink, Trajectory, TrajectoryPoint};
use crate::wire::frame::{Header, Kind, encode};
use crate::wire::{Code, Event, Joints, LiveMode, LiveState, Operation, VerdictKind, WireError};

/// Silence of the client with the lease after which a moving robot is stopped.
const SILENCE: Duration = Duration::from_millis(500);
/// Age of a measurement from which on it says nothing of where the robot is.
const STALE: Duration = Duration::from_secs(1);
/// Part of the joints' speed limits at which the robot moves if none is given. [-]
const SPEED: f64 = 0.3;
/// Speed of joints whose limit is not known. [rad/s or m/s]
const UNKNOWN_LIMIT: f64 = 1.0;
/// Most samples of a recording: half an hour of those that are passed on.
const RECORDED: usize = 120_000;
/// Least time of a motion to a pose: no jerks at small distances. [s]
const LEAST_TIME: f64 = 0.1;

/// The robot behind the studio.
#[derive(Debug, Default)]
pub(super) struct Live {
    link: Option<Box<dyn RobotLink>>,
    state: LiveState,
    /// Motion that may be played, and the key of its preview.
    armed: Option<(String, String)>,
    measured: Option<Measured>,
    pub(super) record: Option<Record>,
}

#[derive(Debug)]
struct Measured {
    at: Instant,
    joints: BTreeMap<String, [f64; 3]>,
}

impl Live {
    pub(super) fn new(link: Option<Box<dyn RobotLink>>) -> Self {
        let mode = if link.is_some() { LiveMode::Watching } else { LiveMode::Absent };
        Self { link, state: LiveState { mode, ..LiveState::default() }, ..Self::default() }
    }

    /// State as clients get it.
    pub(super) fn state(&self) -> LiveState {
        let age = self.measured.as_ref().map(|m| m.at.elapsed().as_secs_f64());
        let armed_for = self.armed.as_ref().map(|(motion, _)| motion.clone());
        let recording = self.record.is_some();
        LiveState { armed_for, age, recording, ..self.state.clone() }
    }

    fn moves(&self) -> bool {
        matches!(self.state.mode, LiveMode::Following | LiveMode::Moving)
    }
}

impl Session {
    /// Does what is asked of the robot.
    pub(super) fn answer_live(&mut self, operation: &Operation) -> Result<Value, WireError> {
        if self.live.link.is_none() {
            let hint = "start the node `studio` in place of `karakuri studio`";
            return Err(WireError::new(Code::State, "this studio has no robot", hint));
        }
        match operation {
            Operation::LiveArm { motion, on } => self.arm(motion, *on)?,
            Operation::LiveFollow { joints, speed } => {
                let trajectory = self.approach(joints, *speed)?;
                self.send(trajectory, LiveMode::Following);
            }
            Operation::LiveSend { joints, speed } => {
                let trajectory = self.approach(joints, *speed)?;
                self.send(trajectory, LiveMode::Moving);
            }
            Operation::Play { motion, speed } => {
                let trajectory = self.played(motion, *speed)?;
                self.send(trajectory, LiveMode::Moving);
            }
            _ => self.stop_robot("stopped by a user"),
        }
        self.live_changed()
    }

    pub(super) fn live_changed(&self) -> Result<Value, WireError> {
        let state = self.live.state();
        self.tell(&Event::Live(state.clone()));
        to_value(&state)
    }

    fn arm(&mut self, motion: &str, on: bool) -> Result<(), WireError> {
        if !on {
            self.live.armed = None;
            self.live.state.mode = LiveMode::Watching;
            return Ok(());
        }
        let key = self.sound_preview(motion)?;
        self.live.armed = Some((motion.to_owned(), key));
        self.live.state.mode = LiveMode::Armed;
        self.live.state.text.clear();
        Ok(())
    }

    /// The key of a motion, as it is now, whose preview found nothing wrong.
    pub(super) fn sound_preview(&mut self, motion: &str) -> Result<String, WireError> {
        let key = self.motion_key(motion);
        let (text, hint) = match self.previews.known(&key).map(|report| report.verdict) {
            Some(VerdictKind::Ok) => return Ok(key),
            Some(verdict) => (
                format!("the preview of `{motion}` says {verdict:?}"),
                "mend the motion and preview it",
            ),
            None => (format!("`{motion}`, as it is now, was not previewed"), "preview it first"),
        };
        Err(WireError::new(Code::State, text, hint))
    }

    /// Refuses what a robot with a fault would not follow.
    fn refuse_fault(&self) -> Result<(), WireError> {
        if self.live.state.fault.is_empty() {
            return Ok(());
        }
        let text = format!("the robot follows no commands: {}", self.live.state.fault);
        Err(WireError::new(Code::State, text, "see to that first"))
    }

    /// Where the robot is now.
    pub(super) fn measured(&self) -> Result<&BTreeMap<String, [f64; 3]>, WireError> {
        let fresh = self.live.measured.as_ref().filter(|m| m.at.elapsed() < STALE);
        fresh.map(|m| &m.joints).ok_or_else(|| {
            let hint = "start its driver or simulation, and look at its connection";
            WireError::new(Code::State, "the robot says nothing of where it is", hint)
        })
    }

    /// Fraction of a speed, in (0, 1].
    fn fraction(speed: Option<f64>, usual: f64) -> Result<f64, WireError> {
        match speed.unwrap_or(usual) {
            speed if speed > 0.0 && speed <= 1.0 => Ok(speed),
            speed => {
                let hint = "write a part of the speed limits, above 0 up to 1";
                Err(WireError::new(Code::Limit, format!("a speed of {speed}"), hint).at("speed"))
            }
        }
    }

    /// Trajectory from where the robot is to positions, no joint faster than its limit times `speed`.
    fn approach(&self, joints: &Joints, speed: Option<f64>) -> Result<Trajectory, WireError> {
        self.refuse_fault()?;
        let speed = Self::fraction(speed, SPEED)?;
        let measured = self.measured()?;
        let performer = self.project.performer.clone().ok_or_else(super::state::no_robot)?;
        let mut trajectory = Trajectory::default();
        let (mut here, mut there, mut time) = (Vec::new(), Vec::new(), LEAST_TIME);
        for (name, goal) in &joints.0 {
            let limits = performer.joint(name).map(|id| performer.model.joints[id.0].limits);
            let Some(limits) = limits else {
                let text = format!("the robot has no joint `{name}` that could be moved");
                return Err(WireError::new(Code::NotFound, text, "name joints that lead"));
            };
            let Some([now, ..]) = measured.get(name) else {
                let text = format!("joint `{name}` is not measured");
                return Err(WireError::new(Code::State, text, "leave it out"));
            };
            if !(limits.lower..=limits.upper).contains(goal) {
                let hint = format!("write a number from {} to {}", limits.lower, limits.upper);
                let text = format!("{goal} is beyond the limits");
                return Err(WireError::new(Code::Limit, text, hint).at(name));
            }
            let most = if limits.velocity.is_finite() { limits.velocity } else { UNKNOWN_LIMIT };
            time = f64::max(time, (goal - now).abs() / (most * speed));
            trajectory.joints.push(name.clone());
            here.push(*now);
            there.push(*goal);
        }
        if there.is_empty() {
            return Err(WireError::new(Code::Invalid, "no joint is named", "name one"));
        }
        // One straight line: joints are at the mean speed all along, which is within the limit.
        trajectory.points =
            vec![TrajectoryPoint { time, positions: there, velocities: Vec::new() }];
        Ok(trajectory)
    }

    /// Trajectory of a motion that may be played: first to its beginning, then along it.
    fn played(&mut self, motion: &str, speed: Option<f64>) -> Result<Trajectory, WireError> {
        self.refuse_fault()?;
        let speed = Self::fraction(speed, 1.0)?;
        let key = self.motion_key(motion);
        if self.live.armed.as_ref().is_none_or(|(name, armed)| name != motion || *armed != key) {
            let text = format!("`{motion}`, as it is now, is not armed");
            return Err(WireError::new(Code::State, text, "preview it and arm the robot"));
        }
        let mut performance = self.performance(motion)?;
        let model = performance.performer().model.clone();
        let ids: Vec<_> = performance.performer().joints().collect();
        let mut state = MotionState::default();
        performance.sample(0.0, &mut state);
        let start = ids.iter().map(|id| {
            let joint = &model.joints[id.0];
            (joint.name.clone(), state.q[joint.q_start])
        });
        let measured = self.measured()?;
        let start = Joints(start.filter(|(name, _)| measured.contains_key(name)).collect());
        let mut trajectory = self.approach(&start, None)?;
        let begin = trajectory.points.last().map_or(0.0, |point| point.time);
        let joints: Vec<_> = ids
            .iter()
            .map(|id| &model.joints[id.0])
            .filter(|j| start.0.contains_key(&j.name))
            .collect();
        for t in performance.times().into_iter().skip(1) {
            performance.sample(t, &mut state);
            trajectory.points.push(TrajectoryPoint {
                time: begin + t / speed,
                positions: joints
                    .iter()
                    .map(|j| state.q[j.q_start].clamp(j.limits.lower, j.limits.upper))
                    .collect(),
                velocities: joints.iter().map(|j| state.v[j.v_start] * speed).collect(),
            });
        }
        if let Some(last) = trajectory.points.last_mut() {
            last.velocities.iter_mut().for_each(|v| *v = 0.0);
        }
        if let Some(first) = trajectory.points.first_mut() {
            // Points of one trajectory have velocities all or none.
            first.velocities = vec![0.0; joints.len()];
        }
        Ok(trajectory)
    }

    fn send(&mut self, trajectory: Trajectory, mode: LiveMode) {
        if let Some(link) = &mut self.live.link {
            link.follow(trajectory);
            self.live.state.mode = mode;
            self.live.state.text.clear();
        }
    }

    /// Stops the robot where it is.
    pub(super) fn stop_robot(&mut self, why: &str) {
        if let Some(link) = &mut self.live.link {
            link.stop();
            self.live.state.mode = LiveMode::Stopped;
            why.clone_into(&mut self.live.state.text);
        }
    }

    /// Looks at the robot, and whether its operator is there.
    pub(super) fn watch_robot(&mut self) {
        let news = self.live.link.as_mut().map(|link| link.news()).unwrap_or_default();
        let mut changed = false;
        for news in news {
            match news {
                LinkNews::Measured(measurement) => self.take_measurement(measurement),
                LinkNews::Arrived if self.live.state.mode == LiveMode::Moving => {
                    let armed = self.live.armed.is_some();
                    self.live.state.mode = if armed { LiveMode::Armed } else { LiveMode::Watching };
                    changed = true;
                }
                LinkNews::Arrived => {}
                LinkNews::Refused(why) => {
                    self.live.state.mode = LiveMode::Stopped;
                    self.live.state.text = why;
                    changed = true;
                }
                LinkNews::Fault(why) if why == self.live.state.fault => {}
                LinkNews::Fault(why) => {
                    if self.live.moves() && !why.is_empty() {
                        // Its controller knows nothing of it: it would go on, and leap where the robot is resumed.
                        self.stop_robot(&why);
                    }
                    self.live.state.fault = why;
                    changed = true;
                }
            }
        }
        if self.live.moves() && self.clients.silence().is_none_or(|silence| silence > SILENCE) {
            self.stop_robot("its operator went silent for half a second");
            changed = true;
        }
        if changed {
            self.tell(&Event::Live(self.live.state()));
        }
    }

    fn take_measurement(&mut self, measurement: Measurement) {
        let Measurement { time, joints, positions, velocities, efforts } = measurement;
        let at = |list: &[f64], i: usize| list.get(i).copied().unwrap_or(f64::NAN);
        let joints: BTreeMap<String, [f64; 3]> = joints
            .into_iter()
            .enumerate()
            .map(|(i, name)| (name, [at(&positions, i), at(&velocities, i), at(&efforts, i)]))
            .filter(|(_, [position, ..])| position.is_finite())
            .collect();
        self.show_measured(&joints);
        if let Some(record) = &mut self.live.record {
            let places =
                record.joints.iter().map(|name| joints.get(name).map_or(f64::NAN, |m| m[0]));
            let places: Vec<f64> = places.collect();
            if record.times.len() < RECORDED {
                record.add(time, &places);
            }
        }
        self.live.measured = Some(Measured { at: Instant::now(), joints });
    }

    /// Shows where the robot is to those who look.
    fn show_measured(&mut self, joints: &BTreeMap<String, [f64; 3]>) {
        let audience = self.clients.audience();
        let Some(robot) = self.project.stage.robots.first().filter(|_| !audience.is_empty()) else {
            return;
        };
        let unknown = [f64::NAN; 3];
        let places = self.project.poser.as_mut().map(|poser| poser.measured_places(joints));
        let mut numbers: Vec<f64> = places.unwrap_or_default().into_iter().flatten().collect();
        let of_joint = |name: &String| joints.get(name).unwrap_or(&unknown).iter().copied();
        numbers.extend(robot.joints.iter().flat_map(|joint| of_joint(&joint.name)));
        let stream = self.project.stage.number;
        let header = Header { kind: Kind::Measured, stream, seq: 0, time: 0.0 };
        audience.show_beside(&encode(header, &numbers));
    }
}
