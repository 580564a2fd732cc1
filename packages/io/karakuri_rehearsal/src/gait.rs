//! What walks a cell's robot: its engine, ticked by each sample as `gait_planner` does.

use karakuri_control::FeedforwardController;
use karakuri_control::trajectory::{JointTrajectory, TrajectoryPoint};
use karakuri_gait::planner::{
    Fall, Measured as Walked, Progress, StabilizerSettings, Travelled, Walk, WalkEngine,
    WalkFailure, WalkGoal, Walker,
};
use karakuri_hardware::RobotLayout;
use karakuri_model::{FrameId, Model};
use karakuri_spatial::{Pose, Time, UnitQuaternion};

use crate::arm::GROUP;
use crate::cell::CellError;
use crate::ended::{WalkEnd, WalkTrouble};
use crate::measured::Instant;
use crate::tuning::WalkTuning;

/// Distance by which a robot may stand beside the end of a walk, of one of no length [m], and more of it for each length [-].
// khr1 turns by slipping feet, and is off by 0.02 m after walks of 0.3 m.
const ASTRAY: f64 = 0.05;
const ASTRAY_SHARE: f64 = 0.1;

/// What walks a cell's robot.
#[derive(Debug, Clone)]
pub struct Gait {
    walker: Walker,
    pub(crate) tuning: WalkTuning,
    /// Gains of the gait file.
    file_gains: StabilizerSettings,
    run: Option<Walk>,
    /// Place of the robot when the walk began.
    begun_at: Pose,
    /// Whether the walk is to end.
    is_cancelled: bool,
    /// Index of the inertial sensor in a sample.
    imu: Option<usize>,
    /// Indices of the feet's force sensors, left and right, where both have one.
    feet: Option<[usize; 2]>,
    /// Reference of the joints that the engine moves.
    reference: JointTrajectory,
    /// Whether the last sample has one.
    has_reference: bool,
}

impl Gait {
    pub(crate) fn new(
        engine: WalkEngine,
        tuning: WalkTuning,
        layout: &RobotLayout,
    ) -> Result<Self, CellError> {
        let biped = &engine.generator().biped;
        let model = &biped.model;
        let own = RobotLayout::new(&layout.name, model.clone());
        if own.joints != layout.joints || model.nq != layout.model.nq {
            let (gait, robot) = (model.name.clone(), layout.name.clone());
            return Err(CellError::Gait { gait, robot });
        }
        let imu = biped.imu.and_then(|i| layout.imus.iter().position(|imu| imu.index == i));
        let foot = |i: usize| layout.wrenches.iter().position(|wrench| wrench.index == i);
        let [left, right] =
            biped.legs.each_ref().map(|leg| leg.sensor.and_then(|sensor| foot(sensor.index)));
        let feet = imu.and_then(|_| Some([left?, right?]));
        let file_gains = engine.generator().settings.stabilizer;
        let walker = Walker::new(engine);
        let reference = JointTrajectory {
            start: None,
            joints: walker.joint_names(),
            points: vec![TrajectoryPoint::default()],
        };
        Ok(Self {
            walker,
            tuning,
            file_gains,
            run: None,
            begun_at: Pose::default(),
            is_cancelled: false,
            imu,
            feet,
            reference,
            has_reference: false,
        })
    }

    /// Engine that walks the robot.
    pub fn engine(&self) -> &WalkEngine {
        &self.walker.engine
    }

    /// Links whose shapes its feet stand on, in a model.
    pub fn soles(&self, model: &Model) -> Vec<FrameId> {
        let legs = &self.engine().generator().biped.legs;
        let bodies = legs.each_ref().map(|leg| model.frames[leg.foot.0].body);
        let shapes = model.collisions.iter().filter(|shape| bodies.contains(&shape.body));
        let mut soles: Vec<_> = shapes.map(|shape| shape.frame).collect();
        soles.sort_unstable();
        soles.dedup();
        soles
    }

    /// Whether the robot stood as the gait begins, and follows the engine since.
    pub fn is_engaged(&self) -> bool {
        self.walker.is_engaged()
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.run.is_some()
    }

    /// Name of what the robot is doing.
    pub(crate) fn stage(&self) -> &'static str {
        match (self.is_engaged(), self.is_busy()) {
            (false, _) => "FALLEN",
            (true, true) => "WALK",
            (true, false) => "STAND",
        }
    }

    /// Margin of the capture point of a walk in what steps can capture, as a share of half a sole's width; 1 at rest. [-]
    pub(crate) fn margin(&self) -> f64 {
        let engine = &self.walker.engine;
        let capture = engine.correction().capture.filter(|_| self.is_busy());
        let [_, width] = engine.generator().biped.legs[0].outline.size();
        capture.map_or(1.0, |capture| (2.0 * capture.margin / width).min(1.0))
    }

    /// Begins a walk of a robot that stands at a place.
    pub(crate) fn start(&mut self, goal: &WalkGoal, at: Pose) {
        (self.is_cancelled, self.begun_at) = (false, at);
        self.run = Some(Walk::start(&mut self.walker.engine, goal.clone()));
    }

    /// The end of a walk of a robot that then stands at a place: feet that slipped have brought it elsewhere than they were planned to.
    pub(crate) fn judged(&self, end: WalkEnd, at: &Pose) -> WalkEnd {
        let Travelled { forward, left, .. } = end.travelled;
        // Lengths alone: where feet slip on purpose to turn, the plan has the heading of the start.
        let planned = forward.hypot(left);
        let off = ((at.translation - self.begun_at.translation).xy().norm() - planned).abs();
        let allowed = ASTRAY + ASTRAY_SHARE * planned;
        if end.trouble.is_some() || off <= allowed {
            return end;
        }
        let message =
            format!("its feet slipped: it came {off:.2} m less far, or further, than it should");
        WalkEnd { trouble: Some(WalkTrouble::Slipped), message, ..end }
    }

    pub(crate) fn cancel(&mut self) {
        self.is_cancelled = self.run.is_some();
    }

    /// Takes a sample; the end of a walk that ends by it.
    pub(crate) fn tick(&mut self, at: &Instant<'_>) -> Option<WalkEnd> {
        let Instant { now, period, sample, measured } = *at;
        self.has_reference = false;
        let imu = self.imu.filter(|_| !self.tuning.without_imu).map(|i| &sample.imus[i]);
        let orientation = imu.and_then(|imu| as_sent(&imu.orientation));
        let is_standing = self.walker.is_engaged()
            || self.walker.engage(&measured.q, orientation.as_ref(), &self.tuning.walker).is_ok();
        if !is_standing {
            return None;
        }
        let (is_walking, settings) = (self.run.is_some(), &self.tuning.walker);
        if let Some(astray) =
            self.walker.find_not_following(&measured.q, is_walking, settings, period)
        {
            let why = astray.describe(&self.walker.engine.generator().biped.model);
            let ended = self.end(Some(WalkTrouble::NotFollowing), why);
            self.walker.release();
            return ended;
        }
        let walked = imu.zip(orientation).map(|(imu, orientation)| Walked {
            q: &measured.q,
            v: &measured.v,
            orientation,
            angular_velocity: imu.angular_velocity,
            feet: self.feet.map(|feet| feet.map(|i| sample.wrenches[i])),
        });
        let gains = self.tuning.stabilizer.unwrap_or(self.file_gains);
        self.walker.engine.stabilizer_mut().settings = gains;
        self.walker.engine.advance(period, walked.as_ref());
        self.write_reference(now, period);
        let fall = Fall::of(&self.walker.engine, self.walker.engine.time());
        if fall.is_some() && self.run.is_none() {
            self.walker.release();
            return None;
        }
        self.go_on(period)
    }

    /// Goes on with a walk; its end.
    fn go_on(&mut self, period: f64) -> Option<WalkEnd> {
        let (run, engine) = (self.run.as_mut()?, &mut self.walker.engine);
        if self.is_cancelled {
            run.stop(engine);
        }
        let progress = run.tick(engine, period);
        if progress == Progress::Walking {
            return None;
        }
        let trouble = match progress {
            Progress::Walking | Progress::Done => None,
            Progress::Stopped => Some(WalkTrouble::Canceled),
            Progress::Failed(WalkFailure::Unreachable(_)) => Some(WalkTrouble::Unreachable),
            Progress::Failed(WalkFailure::Fell(_)) => Some(WalkTrouble::Fell),
        };
        let message = progress.describe(&engine.generator().biped.model);
        let ended = self.end(trouble, message);
        if trouble == Some(WalkTrouble::Fell) {
            self.walker.release();
        }
        ended
    }

    /// Ends the walk.
    fn end(&mut self, trouble: Option<WalkTrouble>, message: String) -> Option<WalkEnd> {
        self.is_cancelled = false;
        let run = self.run.take()?;
        let engine = &self.walker.engine;
        let (steps, travelled) = (run.steps(engine), run.travelled(engine));
        Some(WalkEnd { trouble, message, steps, travelled, elapsed: run.elapsed() })
    }

    fn write_reference(&mut self, now: Time, period: f64) {
        self.reference.start = Some(now);
        if let Some(point) = self.reference.points.first_mut() {
            let TrajectoryPoint { positions, velocities, efforts, .. } = point;
            self.walker.write_targets(positions, velocities, efforts);
            point.time_from_start = period;
        }
        self.has_reference = true;
    }

    /// Gives the controller the references of the joints that the engine moves.
    pub(crate) fn refer(&self, controller: &mut FeedforwardController, now: Time) {
        if let Some(machine) = controller.machine_mut(GROUP).filter(|_| self.has_reference) {
            // Before its first update the controller knows no state, and takes nothing.
            machine.accept_topic(&self.reference, now).ok();
        }
    }
}

/// An attitude to the bits that it has after a message.
fn as_sent(attitude: &UnitQuaternion) -> Option<UnitQuaternion> {
    Pose::unit_quaternion([attitude.w, attitude.i, attitude.j, attitude.k])
}
