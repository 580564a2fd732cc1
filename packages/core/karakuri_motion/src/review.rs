//! Checks of a motion, sample by sample: what a robot cannot do, or would fall at, with the first time and the worst.

use std::sync::Arc;

use karakuri_model::BodyId;
use karakuri_physics::{RobotId, World, WorldError, WorldSettings};
use serde::Serialize;

use crate::loads::{Loads, LoadsOf};
use crate::performance::{Extremes, MotionState, Performance};

/// Depth by which links may overlap, a rounding of their shapes. [m]
// The depth from which on the world lists overlaps: a limit below has no effect.
const OVERLAP: f64 = 1e-3;
/// Angle by which a standing sole may lean. [rad]
// Over a sole 0.15 m long it lifts an edge by `GAP`.
const TILT: f64 = 0.02;
/// Distance that a standing sole's corner may have from the floor. [m]
// Above the 2 mm up to which a foot is found to stand by itself.
const GAP: f64 = 0.003;

/// Part of a joint's largest speed by which its velocity may jump: gears and servos swallow a little. [-]
// Without it, a walk that was baked from a plan had 15 remarks about its end, where the plan stops.
const IMPULSE: f64 = 0.05;

/// Conditions of a review.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReviewSettings {
    /// Friction between feet and floor. [-]
    pub friction: f64,
    /// Gravitational acceleration, downwards. [m/s²]
    pub gravity: f64,
}

impl Default for ReviewSettings {
    /// Rubber on wood, on earth.
    fn default() -> Self {
        Self { friction: 0.8, gravity: karakuri_dynamics::EARTH_GRAVITY }
    }
}

/// What a check is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// A joint is beyond its limit of position.
    Position,
    /// A joint is faster than its limit.
    Speed,
    /// A joint needs more torque than it has.
    Torque,
    /// A joint needs more torque than a motor has at that speed, on the line from all torque at rest to none at full speed.
    TorqueAtSpeed,
    /// The velocity of a joint jumps: an impulse.
    Impulse,
    /// Links run into each other.
    Collision,
    /// The floor cannot hold the feet by friction.
    Slip,
    /// The centre of mass is outside the support polygon: the robot cannot stop there.
    Static,
    /// The zero moment point is outside the support polygon: the robot tips.
    Balance,
    /// A sole that is to stand is off the floor or leans.
    Sole,
}

impl Check {
    /// Whether the motion cannot be performed as it is; the others are remarks.
    pub fn is_error(self) -> bool {
        !matches!(self, Self::TorqueAtSpeed | Self::Impulse | Self::Static | Self::Sole)
    }
}

/// What a check found of one joint, pair or foot.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Finding {
    /// Kind of the check.
    pub check: Check,
    /// Joint, links or robot.
    pub what: String,
    /// First time. [s]
    pub time: f64,
    /// Scene of the first time.
    pub scene: usize,
    /// Value at the first time. [SI]
    pub value: f64,
    /// Limit. [SI]
    pub limit: f64,
    /// Worst value. [SI]
    pub worst: f64,
    /// Its time. [s]
    pub worst_time: f64,
}

/// Balance over time, for the strip below a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct MarginSample {
    /// Time. [s]
    pub time: f64,
    /// Margin of the centre of mass; `None` where no foot stands. [m]
    pub static_margin: Option<f64>,
    /// Margin of the zero moment point; `None` where no foot stands or the floor carries nothing. [m]
    pub margin: Option<f64>,
    /// Zero moment point. [m] (2)
    pub zmp: Option<[f64; 2]>,
    /// Centre of mass. [m] (3)
    pub com: [f64; 3],
}

/// Largest torque and speed of a joint.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct JointPeak {
    /// Name of the joint.
    pub joint: String,
    /// Largest torque or force. [N·m or N]
    pub torque: f64,
    /// Largest speed. [rad/s or m/s]
    pub speed: f64,
}

/// Everything that the checks of a motion found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Review {
    /// End of the motion. [s]
    pub duration: f64,
    /// Findings in the order of their first times.
    pub findings: Vec<Finding>,
    /// Peaks of the joints that the motion moves.
    pub peaks: Vec<JointPeak>,
    /// Balance, a sample a frame.
    pub margins: Vec<MarginSample>,
    /// Least margin of the centre of mass. [m]
    pub least_static_margin: Option<f64>,
    /// Least margin of the zero moment point. [m]
    pub least_margin: Option<f64>,
}

impl Review {
    /// The first finding by which the motion cannot be performed.
    pub fn first_error(&self) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.check.is_error())
    }
}

/// Checks a motion at every frame.
///
/// # Errors
/// When the physics refuses the robot, as one without mass.
pub fn review(performance: &Performance, settings: &ReviewSettings) -> Result<Review, WorldError> {
    let mut reviewing = Reviewing::new(performance.clone(), settings)?;
    while reviewing.step()? {}
    Ok(reviewing.finish())
}

/// A review under way, a frame at a time: that of a long motion can be stopped.
#[derive(Debug)]
pub struct Reviewing {
    performance: Performance,
    reviewer: Reviewer,
    /// Times of the frames, and how many of them are done. [s]
    times: Vec<f64>,
    done: usize,
    state: MotionState,
}

impl Reviewing {
    /// Begins a review.
    ///
    /// # Errors
    /// When the physics refuses the robot, as one without mass.
    pub fn new(performance: Performance, settings: &ReviewSettings) -> Result<Self, WorldError> {
        let mut reviewer = Reviewer::new(&performance, settings)?;
        for joint in performance.joints().collect::<Vec<_>>() {
            // Jumps are asked of the curves: samples see only an interval's end and the next one's beginning.
            let limit = IMPULSE * performance.performer().model.joints[joint.0].limits.velocity;
            for jump in performance.velocity_jumps(joint) {
                let value = (jump.after - jump.before).abs();
                if value > limit {
                    let at = At { time: jump.t, scene: performance.scene_at(jump.t) };
                    reviewer.joint(Check::Impulse, joint, at, Excess { value, limit });
                }
            }
        }
        check_leaps(&mut reviewer, &performance);
        let (times, state) = (performance.times(), MotionState::default());
        Ok(Self { performance, reviewer, times, done: 0, state })
    }

    /// Checks the next frame; whether there was one.
    ///
    /// # Errors
    /// When a position of the motion is not finite.
    pub fn step(&mut self) -> Result<bool, WorldError> {
        let Some(t) = self.times.get(self.done) else { return Ok(false) };
        self.performance.sample(*t, &mut self.state);
        // The other checks need the whole robot's state, which has no closed form in time.
        self.reviewer.check(&self.state)?;
        self.done += 1;
        Ok(true)
    }

    /// What was found in the frames that were checked, and between them.
    pub fn finish(self) -> Review {
        let Self { performance, mut reviewer, .. } = self;
        // Splines overshoot between the samples, too.
        for joint in performance.joints().collect::<Vec<_>>() {
            if let Some(extremes) = performance.extremes(joint) {
                reviewer.check_extremes(joint, &extremes, &performance);
            }
        }
        reviewer.finish(performance.duration())
    }
}

/// Leaps of joints, as of holds: a robot that gets frames has one of them to go so far.
fn check_leaps(reviewer: &mut Reviewer, performance: &Performance) {
    for joint in performance.joints() {
        let limit = performance.performer().model.joints[joint.0].limits.velocity;
        for jump in performance.position_jumps(joint) {
            let value = jump.by.abs() / performance.frame();
            if value > limit {
                let at = At { time: jump.t, scene: performance.scene_at(jump.t) };
                reviewer.joint(Check::Speed, joint, at, Excess { value, limit });
            }
        }
    }
}

#[derive(Debug)]
struct Reviewer {
    loads: LoadsOf,
    settings: ReviewSettings,
    world: World,
    robot: RobotId,
    joints: Vec<BodyId>,
    peaks: Vec<JointPeak>,
    review: Review,
}

#[derive(Clone, Copy)]
struct At {
    time: f64,
    scene: usize,
}

#[derive(Clone, Copy)]
struct Excess {
    value: f64,
    limit: f64,
}

impl Reviewer {
    fn new(performance: &Performance, settings: &ReviewSettings) -> Result<Self, WorldError> {
        let performer = performance.performer();
        let model = Arc::clone(&performer.model);
        // Only its shapes are asked: which links touch each other.
        let mut world = World::new(WorldSettings::default());
        let robot = world.add_robot(&model.name, Arc::clone(&model), &model.default_position())?;
        let joints: Vec<BodyId> = performance.joints().collect();
        let peak = |id: &BodyId| JointPeak {
            joint: model.joints[id.0].name.clone(),
            torque: 0.0,
            speed: 0.0,
        };
        Ok(Self {
            loads: LoadsOf::new(performer, settings.gravity),
            settings: *settings,
            world,
            robot,
            peaks: joints.iter().map(peak).collect(),
            joints,
            review: Review {
                duration: performance.duration(),
                findings: Vec::new(),
                peaks: Vec::new(),
                margins: Vec::new(),
                least_static_margin: None,
                least_margin: None,
            },
        })
    }

    fn check(&mut self, state: &MotionState) -> Result<(), WorldError> {
        let at = At { time: state.t, scene: state.scene };
        let loads = self.loads.of(state);
        self.check_joints(state, &loads, at);
        self.check_balance(&loads, at);
        self.world.set_robot_state(self.robot, &state.q, &state.v)?;
        for overlap in self.world.update_link_overlaps(self.robot) {
            let [a, b] = &overlap.links;
            let excess = Excess { value: overlap.depth, limit: OVERLAP };
            self.add(Check::Collision, &format!("{a} and {b}"), at, excess);
        }
        Ok(())
    }

    fn check_joints(&mut self, state: &MotionState, loads: &Loads, at: At) {
        let model = Arc::clone(self.world.robot(self.robot).model());
        for (k, id) in self.joints.clone().into_iter().enumerate() {
            let joint = &model.joints[id.0];
            let limits = joint.limits;
            // Limits of speed and effort hold in both senses.
            let (q, v) = (state.q[joint.q_start], state.v[joint.v_start].abs());
            // The drive also moves its own rotor.
            let rotor = joint.armature * state.vdot[joint.v_start];
            let torque = (loads.effort[joint.v_start] + rotor).abs();
            let peak = &mut self.peaks[k];
            (peak.torque, peak.speed) = (peak.torque.max(torque), peak.speed.max(v));
            if q > limits.upper + ROUNDING {
                self.joint(Check::Position, id, at, Excess { value: q, limit: limits.upper });
            } else if q < limits.lower - ROUNDING {
                self.joint(Check::Position, id, at, Excess { value: q, limit: limits.lower });
            }
            if v > limits.velocity {
                self.joint(Check::Speed, id, at, Excess { value: v, limit: limits.velocity });
            }
            // A motor's torque falls with its speed, to none at full speed: the line of a DC motor at constant voltage.
            let line = limits.effort * (1.0 - v / limits.velocity).max(0.0);
            if torque > limits.effort {
                self.joint(Check::Torque, id, at, Excess { value: torque, limit: limits.effort });
            // Only within the plain limit, so that one cause has one finding.
            } else if torque > line {
                self.joint(Check::TorqueAtSpeed, id, at, Excess { value: torque, limit: line });
            }
        }
    }

    fn check_extremes(&mut self, id: BodyId, extremes: &Extremes, performance: &Performance) {
        let limits = self.world.robot(self.robot).model().joints[id.0].limits;
        let Extremes { position, speed } = *extremes;
        let at = |time: f64| At { time, scene: performance.scene_at(time) };
        if position.largest > limits.upper + ROUNDING {
            let excess = Excess { value: position.largest, limit: limits.upper };
            self.joint(Check::Position, id, at(position.largest_at), excess);
        }
        if position.least < limits.lower - ROUNDING {
            let excess = Excess { value: position.least, limit: limits.lower };
            self.joint(Check::Position, id, at(position.least_at), excess);
        }
        if let Some(peak) = speed.filter(|peak| peak.value > limits.velocity) {
            let excess = Excess { value: peak.value, limit: limits.velocity };
            self.joint(Check::Speed, id, at(peak.t), excess);
        }
    }

    fn check_balance(&mut self, loads: &Loads, at: At) {
        let balance = loads.balance;
        // JSON has no infinity: no margin where nothing is carried.
        let finite = |value: f64| value.is_finite().then_some(value);
        self.review.margins.push(MarginSample {
            time: at.time,
            static_margin: balance.and_then(|b| finite(b.static_margin)),
            margin: balance.and_then(|b| finite(b.margin)),
            zmp: balance.map(|b| b.zmp),
            com: loads.com,
        });
        let Some(balance) = balance else { return };
        let robot = self.world.robot(self.robot).name().to_owned();
        let least = |least: Option<f64>, value: f64| Some(least.map_or(value, |l| l.min(value)));
        let review = &mut self.review;
        review.least_static_margin = least(review.least_static_margin, balance.static_margin);
        review.least_margin = least(review.least_margin, balance.margin);
        for (check, value, limit, bad) in [
            (Check::Static, balance.static_margin, 0.0, balance.static_margin < 0.0),
            (Check::Balance, balance.margin, 0.0, balance.margin < 0.0),
            (
                Check::Slip,
                balance.friction,
                self.settings.friction,
                // Without weight on the floor the quotient of forces says nothing.
                balance.friction > self.settings.friction && balance.margin.is_finite(),
            ),
            (Check::Sole, balance.sole_gap, GAP, balance.sole_gap > GAP),
            (Check::Sole, balance.sole_tilt, TILT, balance.sole_tilt > TILT),
        ] {
            if bad {
                self.add(check, &robot, at, Excess { value, limit });
            }
        }
    }

    fn joint(&mut self, check: Check, joint: BodyId, at: At, excess: Excess) {
        let name = self.world.robot(self.robot).model().joints[joint.0].name.clone();
        self.add(check, &name, at, excess);
    }

    /// Adds to what is known of a check and a thing.
    fn add(&mut self, check: Check, what: &str, at: At, Excess { value, limit }: Excess) {
        let known = self.review.findings.iter_mut().find(|f| f.check == check && f.what == what);
        // By the distance from the limit, since some limits are lower and some upper ones.
        let is_worse = |new: f64, old: f64| (new - limit).abs() > (old - limit).abs();
        match known {
            Some(finding) if is_worse(value, finding.worst) => {
                (finding.worst, finding.worst_time) = (value, at.time);
            }
            Some(_) => {}
            None => self.review.findings.push(Finding {
                check,
                what: what.to_owned(),
                time: at.time,
                scene: at.scene,
                value,
                limit,
                worst: value,
                worst_time: at.time,
            }),
        }
    }

    fn finish(self, duration: f64) -> Review {
        let mut review = self.review;
        review.duration = duration;
        // The first finding is the cause that a verdict names; the order of the checks decides between equal times.
        review.findings.sort_by(|a, b| a.time.total_cmp(&b.time).then(a.check.cmp(&b.check)));
        Review { peaks: self.peaks, ..review }
    }
}

/// Angle or length by which a position may be beyond a limit written in degrees. [rad or m]
// Degrees with 6 digits miss by 1e-8 rad and are reported; those with 8 are not.
const ROUNDING: f64 = 1e-9;
