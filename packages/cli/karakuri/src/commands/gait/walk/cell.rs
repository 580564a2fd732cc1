//! Robot on the ground, its walk engine, and the record of the walk.

use std::collections::VecDeque;
use std::f64::consts::TAU;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Result, bail};
use karakuri_files::{Column, TraceWriter};
use karakuri_gait::planner::{
    JointTargets, Measured, RootSign, Sample, Standstill, WalkCommand, WalkEngine, WalkState,
    with_servo_sag,
};
use karakuri_model::{BodyId, Model};
use karakuri_physics::{RobotId, StepOutcome, World, WorldSettings};
use karakuri_render::Item;
use karakuri_spatial::{Force, Inertia, Pose, UnitQuaternion, Vector3};
use nalgebra::Quaternion;
use serde_json::{Value, json};

use super::boards::{Behind, Boards, Hardware};
use super::ground::{self, Stairs};
use super::plan::{Plan, excesses};
use super::tracking::Tracking;
use super::watch::{Snapshot, Watch};
use crate::interrupt::Interrupt;

/// Time to stand after the walk before it counts as done: long enough for a robot to tip that has stopped badly. [s]
const SETTLE: f64 = 1.0;
/// Difference of duration between each of several walks and the last. [s]
const LONGER: f64 = 0.11;
/// Time between two points of the history. [s]
const HISTORY: f64 = 0.01;

/// Impulse on the root link.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Push {
    /// Instant of its start. [s]
    pub(super) time: f64,
    /// Impulse forward and left. [N·s] (2)
    pub(super) impulse: [f64; 2],
}

/// Command of a walk, and the number of its repetitions.
#[derive(Debug, Clone)]
pub(super) struct Errand {
    pub(super) command: WalkCommand,
    /// Turn on the spot after each walk, to the left. [rad]
    pub(super) then_turn: Option<f64>,
    /// Where the robot is to face in the end, to the left of where it began. [rad]
    pub(super) heading: Option<f64>,
    /// Time after which it stops. [s]
    pub(super) duration: Option<f64>,
    pub(super) times: u32,
}

/// Duration of a push. [s]
const PUSH: f64 = 0.01;

/// Conditions of the walk: the ground, the errors of the model, and the commands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Conditions {
    pub(super) friction: f64,
    pub(super) mass_factor: f64,
    pub(super) latency: f64,
    pub(super) command_period: f64,
    pub(super) whole_degrees: bool,
    pub(super) position_only: bool,
    pub(super) open_loop: bool,
    pub(super) push: Option<Push>,
    pub(super) bumps: f64,
    pub(super) stairs: Option<Stairs>,
    /// Roll and pitch of the floor: it rises to the left where the roll is positive, falls ahead where the pitch is. [rad] (2)
    pub(super) slope: [f64; 2],
    pub(super) dt: f64,
}

impl Conditions {
    pub(super) fn check(&self) -> Result<()> {
        for (name, value, low, high) in [
            ("friction", self.friction, 0.0, 10.0),
            ("mass-factor", self.mass_factor, 0.1, 10.0),
            ("latency", self.latency, 0.0, 1.0),
            ("command-period", self.command_period, 1e-4, 0.2),
            ("bumps", self.bumps, 0.0, 0.1),
            ("dt", self.dt, 1e-5, 0.01),
        ] {
            if !(low..=high).contains(&value) {
                bail!("--{name} {value}: write a number from {low} to {high}");
            }
        }
        Ok(())
    }
}

/// Point of the history.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub(super) time: f64,
    /// Position of the root link. [m] (3)
    pub(super) root: [f64; 3],
    /// Planned position of the root link. [m] (3)
    pub(super) planned: [f64; 3],
    /// Centre of pressure, and planned ZMP. [m] (2)
    pub(super) pressure: [f64; 2],
    pub(super) zmp: [f64; 2],
    /// Distance of the centre of pressure from the edge of the support polygon of the soles that press on the floor, positive
    /// inside; NaN where none does. [m]
    pub(super) margin: f64,
    /// Roll and pitch beyond the plan. [rad] (2)
    pub(super) lean: [f64; 2],
    /// Error of the divergent component of motion. [m] (2)
    pub(super) dcm_error: [f64; 2],
}

/// Outcome of a run.
#[derive(Debug, Default)]
pub(super) struct Run {
    pub(super) history: Vec<Moment>,
    pub(super) failure: Option<String>,
    /// Whether it did not set out, because the plan is beyond the robot's limits.
    pub(super) refused: bool,
    pub(super) steps: u64,
    pub(super) walking_time: f64,
    pub(super) distance: f64,
    pub(super) drift: f64,
    /// Height gained over the walk. [m]
    pub(super) height: f64,
    pub(super) yaw: f64,
    /// Count of walks from standing to standing.
    pub(super) walks: u32,
    pub(super) clips: Vec<String>,
    pub(super) excesses: Vec<String>,
    pub(super) faster: f64,
    pub(super) saturated: f64,
    /// Instant from which no step could have prevented the fall. [s]
    pub(super) lost_at: Option<f64>,
    /// Turn beyond the one that was asked for. [rad]
    pub(super) heading_error: Option<f64>,
    pub(super) tracking: Tracking,
    /// Least margin of the capture point in the region that steps can capture, where it was measured. [m]
    pub(super) capture_margin: Option<f64>,
}

impl Run {
    /// Outcome of a plan that cannot be walked.
    pub(super) fn refused(plan: Plan) -> Self {
        let Plan { failure, clips, excesses } = plan;
        Self { failure, refused: true, clips, excesses, ..Self::default() }
    }

    /// Margin that is not reached for this part of the time; 0 without contact. [m]
    fn margin(&self, part: f64) -> f64 {
        let mut margins: Vec<f64> =
            self.history.iter().map(|m| m.margin).filter(|m| m.is_finite()).collect();
        margins.sort_by(f64::total_cmp);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
        let index = (part * margins.len() as f64) as usize;
        margins.get(index).copied().unwrap_or(0.0)
    }

    pub(super) fn report(&self) -> Value {
        let worst = |f: &dyn Fn(&Moment) -> f64| self.history.iter().map(f).fold(0.0, f64::max);
        json!({
            "fell": self.failure.is_some() && !self.refused,
            "failure": self.failure,
            "beyond_saving_since_s": self.lost_at.filter(|_| self.failure.is_some()),
            "least_capture_margin_m": self.capture_margin,
            "walks": self.walks,
            "steps": self.steps,
            "height_gained_m": self.height,
            "walking_time_s": self.walking_time,
            "distance_m": self.distance,
            "speed_m_s": self.distance / self.walking_time.max(1e-9),
            "lateral_drift_m": self.drift,
            "lateral_drift_percent": 100.0 * self.drift / self.distance.abs().max(1e-9),
            "yaw_rad": self.yaw,
            "largest_lean_rad": worst(&|m| m.lean[0].abs().max(m.lean[1].abs())),
            "largest_dcm_error_m": worst(&|m| m.dcm_error[0].hypot(m.dcm_error[1])),
            "margin_95_percent_m": self.margin(0.05),
            "least_margin_m": self.margin(0.0),
            "heading_error_rad": self.heading_error,
            "joint_error_rms_rad": self.tracking.rms(),
            "largest_joint_error_rad": self.tracking.largest(),
            "part_of_time_at_effort_limit": self.saturated,
            "clipped": self.clips,
            "beyond_limits": self.excesses,
            "faster_than_real_time": self.faster,
        })
    }
}

/// World with a robot that walks.
pub(super) struct Cell {
    world: Arc<Mutex<World>>,
    /// What is between engine and world, if it is not the drives themselves.
    boards: Option<Boards>,
    watch: Watch,
    tracking: Tracking,
    robot: RobotId,
    model: Arc<Model>,
    engine: WalkEngine,
    conditions: Conditions,
    imu: Option<usize>,
    /// Indices of the feet's force sensors.
    feet: Option<[usize; 2]>,
    /// Commands that have not arrived yet, each with the instant of its arrival.
    under_way: VecDeque<(f64, JointTargets)>,
    next_command: f64,
    history: Vec<Moment>,
    /// Positions of the robot at each point of the history. (nq)
    postures: Vec<Vec<f64>>,
    height: f64,
    /// Count of points of the history at which a drive was at its effort limit.
    saturated: usize,
    capture_margin: f64,
    /// Yaw of the root link, whole turns included. [rad]
    yaw: f64,
}

impl Cell {
    pub(super) fn new(
        model: &Arc<Model>,
        engine: WalkEngine,
        mut conditions: Conditions,
        hardware: Option<Hardware<'_>>,
    ) -> Result<Self> {
        let gravity = Vector3::new(0.0, 0.0, -engine.generator().settings.gravity);
        let settings = WorldSettings { dt: conditions.dt, gravity, ..WorldSettings::default() };
        let mut world = World::new(settings);
        ground::add(&mut world, &engine, &conditions)?;
        let real = Arc::new(real(model, &conditions));
        let q = engine.targets().position.clone();
        let robot = world.add_robot("walker", real, &q)?;
        if let Some(warning) = world.overlap_warning(robot) {
            tracing::warn!("{warning}");
        }
        let imu = engine.generator().biped.imu;
        let [left, right] = engine.generator().biped.legs.each_ref().map(|leg| leg.sensor);
        let feet = left.zip(right).map(|(l, r)| [l.index, r.index]);
        let watch = Watch::new(robot, engine.generator().biped.clone());
        let world = Arc::new(Mutex::new(world));
        let behind = || Behind {
            world: Arc::clone(&world),
            robot,
            watch: watch.clone(),
            every: snapshot_stride(conditions.dt),
        };
        let boards =
            hardware.map(|hardware| Boards::start(hardware, model, behind())).transpose()?;
        if let Some(boards) = &boards {
            conditions.command_period = boards.period();
        }
        Ok(Self {
            height: q[2],
            world,
            boards,
            watch,
            tracking: Tracking::default(),
            robot,
            model: model.clone(),
            engine,
            conditions,
            imu,
            feet,
            under_way: VecDeque::new(),
            next_command: 0.0,
            history: Vec::new(),
            postures: Vec::new(),
            saturated: 0,
            capture_margin: f64::INFINITY,
            yaw: 0.0,
        })
    }

    /// Walks until it stands again or has fallen, as often as the errand says.
    pub(super) fn walk(
        &mut self,
        errand: &Errand,
        interrupt: &Interrupt,
        on_progress: &dyn Fn(f64),
    ) -> Run {
        let wall = std::time::Instant::now();
        let start = self.root();
        let (mut failure, mut walking_time, mut done) = (None, 0.0, 0);
        while failure.is_none() && done < errand.times {
            // Each walk is a little longer, so that the stops come at all phases of a step.
            let longer = f64::from(done) * LONGER;
            self.engine.command(errand.command.clone());
            let until = errand.duration.map(|d| self.now() + d + longer);
            let begin = self.now();
            match self.walk_once(until, interrupt, on_progress) {
                Ok(time) => walking_time += time,
                Err(reason) => {
                    walking_time += self.now() - begin;
                    failure = Some(reason);
                }
            }
            if let (Some(angle), None) = (errand.then_turn, &failure) {
                self.engine.command(WalkCommand::Turn(angle));
                failure = self.walk_once(None, interrupt, on_progress).err();
            }
            done += 1;
        }
        if let Some(error) = self.engine.failure() {
            failure.get_or_insert(error.to_string());
        }
        let (end, time) = (self.root(), self.now());
        Run {
            history: core::mem::take(&mut self.history),
            walks: done - u32::from(failure.is_some()),
            failure,
            refused: false,
            steps: self.engine.steps(),
            walking_time,
            distance: end[0] - start[0],
            drift: end[1] - start[1],
            height: end[2] - start[2],
            yaw: self.turned(),
            heading_error: errand.heading.map(|heading| self.turned() - heading),
            tracking: core::mem::take(&mut self.tracking),
            clips: self.engine.take_clips().iter().map(ToString::to_string).collect(),
            excesses: excesses(&mut self.engine, &self.model),
            faster: time / wall.elapsed().as_secs_f64(),
            saturated: self.saturated as f64 * HISTORY / time,
            lost_at: self.engine.lost().map(|lost| lost.time),
            capture_margin: Some(self.capture_margin).filter(|m| m.is_finite()),
        }
    }

    /// Time that was walked [s], or the reason of the failure.
    fn walk_once(
        &mut self,
        mut until: Option<f64>,
        interrupt: &Interrupt,
        on_progress: &dyn Fn(f64),
    ) -> Result<f64, String> {
        let begin = self.now();
        let mut standstill = Standstill::new(begin, SETTLE);
        let (mut has_arrived, mut began, mut ended) = (false, None, begin);
        while !has_arrived {
            let time = self.now();
            if until.is_some_and(|until| time >= until) {
                self.engine.command(WalkCommand::Stop);
                until = None;
            }
            if let Some(reason) = self.step() {
                return Err(reason);
            }
            if self.engine.state() == WalkState::Walking {
                began.get_or_insert(time);
                ended = time;
            }
            let has_end = until.is_none();
            let step = self.now() - time;
            has_arrived = standstill.tick(self.engine.state(), has_end, time, step);
            if interrupt.is_raised() {
                return Err(format!("interrupted at {time:.3} s"));
            }
            on_progress(time);
        }
        Ok(ended - began.unwrap_or(ended))
    }

    /// Robot as the planner knows it.
    pub(super) fn model(&self) -> &Model {
        &self.model
    }

    /// The same, to be shared.
    pub(super) fn shared_model(&self) -> Arc<Model> {
        Arc::clone(&self.model)
    }

    /// Its planner.
    pub(super) fn engine_mut(&mut self) -> &mut WalkEngine {
        &mut self.engine
    }

    /// Time between two commands. [s]
    pub(super) fn command_period(&self) -> f64 {
        self.conditions.command_period
    }

    /// Items of the ground that the robot walks on, without the robot.
    pub(super) fn scene(&self) -> Vec<Item> {
        let world = self.world();
        let item = |id| {
            let body = world.body(id);
            let description = body.description();
            let (shape, color) = (description.shape.clone(), description.color);
            Item { shape, pose: body.shape_pose(), color }
        };
        world.body_ids().map(item).collect()
    }

    /// Positions of the robot at each point of the history. (n × nq)
    pub(super) fn postures(&self) -> &[Vec<f64>] {
        &self.postures
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Time of the world. [s]
    fn now(&self) -> f64 {
        self.world().time()
    }

    fn pose(&self) -> Pose {
        self.world().robot(self.robot).data().pose_in_world[0]
    }

    /// Yaw of the root link, whole turns included, if it has turned by less than half a turn since the last record. [rad]
    fn turned(&self) -> f64 {
        self.unwrapped(self.pose().rpy()[2])
    }

    /// A yaw with the whole turns until the last record. [rad]
    fn unwrapped(&self, yaw: f64) -> f64 {
        let more = yaw - self.yaw;
        self.yaw + (more - TAU * (more / TAU).round())
    }

    fn root(&self) -> [f64; 3] {
        self.pose().translation.into()
    }

    /// Takes one step of the physics, or a cycle of the boards; the reason when the robot has fallen.
    fn step(&mut self) -> Option<String> {
        let time = self.now();
        if self.boards.is_some() {
            return self.cycle(time).or_else(|| self.fall(time));
        }
        if time + 1e-9 >= self.next_command {
            self.next_command += self.conditions.command_period;
            self.command(time);
        }
        while self.under_way.front().is_some_and(|(at, _)| *at <= time + 1e-9) {
            if let Some((_, targets)) = self.under_way.pop_front() {
                self.apply(&targets);
            }
        }
        self.push(time);
        let outcome = self.world().step();
        if let StepOutcome::NonFinite(_) = outcome {
            return Some(format!("at {time:.3} s: {}", self.world().non_finite_report()));
        }
        let every = f64::from(snapshot_stride(self.conditions.dt));
        if (time / self.conditions.dt).round() % every == 0.0 {
            let snapshot = self.watch.snapshot(&self.world());
            self.record(snapshot);
        }
        self.fall(time)
    }

    /// One cycle of the boards: a command, and what came of it.
    fn cycle(&mut self, time: f64) -> Option<String> {
        let targets = self.targets(time);
        let boards = self.boards.as_mut()?;
        let noted = match boards.send(&targets.position) {
            Ok(noted) => noted,
            Err(error) => return Some(format!("at {time:.3} s: {error}")),
        };
        let fault = boards.fault();
        for snapshot in noted {
            self.record(snapshot);
        }
        fault.map(|fault| format!("at {time:.3} s: {fault}"))
    }

    /// The reason when the robot has fallen.
    fn fall(&self, time: f64) -> Option<String> {
        let root = self.root();
        let floor = self
            .engine
            .sample()
            .soles
            .iter()
            .map(|s| s.translation.z)
            .fold(f64::INFINITY, f64::min);
        let sign = RootSign::Height { now: root[2] - floor, start: self.height };
        if sign.has_fallen() {
            let steps = self.engine.steps();
            let correction = self.engine.correction();
            let why = self.engine.lost().map_or(String::new(), |lost| {
                format!("; lost at {:.2} s: {}", lost.time, lost.describe(&self.model))
            });
            return Some(format!(
                "fell at {time:.2} s in step {steps}, at x {:.2} m, y {:.2} m, leaning {:.2} rad left and {:.2} rad forward{why}",
                root[0], root[1], -correction.lean[0], correction.lean[1]
            ));
        }
        None
    }

    /// Sends the targets of the next command period on their way.
    fn command(&mut self, time: f64) {
        let targets = self.targets(time);
        self.under_way.push_back((time + self.conditions.latency, targets));
    }

    /// Advances the engine by a command period with the present measurements.
    fn targets(&mut self, time: f64) -> JointTargets {
        let world = self.world.lock().unwrap_or_else(PoisonError::into_inner);
        let view = world.robot(self.robot);
        let imu = self.imu.map(|i| world.sensor_imu(self.robot, i));
        let feet = self.feet.map(|feet| feet.map(|i| world.sensor_wrench(self.robot, i)));
        let (mut q, mut v) = (view.q().to_vec(), view.v().to_vec());
        self.tracking.add(&self.model, &q, &self.engine.targets().position);
        if let Some(boards) = &self.boards {
            boards.read(&mut q, &mut v);
        }
        drop(world);
        // Before the first step no sensor has a reading.
        let measured =
            imu.filter(|_| !self.conditions.open_loop && time > 0.0).map(|imu| Measured {
                q: &q,
                v: &v,
                orientation: imu.orientation,
                angular_velocity: imu.angular_velocity,
                feet,
            });
        let mut targets =
            self.engine.advance(self.conditions.command_period, measured.as_ref()).clone();
        if self.conditions.position_only {
            let mut position = targets.position.clone();
            with_servo_sag(&self.model, &targets, &mut position);
            targets.position = position;
            targets.effort.fill(0.0);
            targets.velocity.fill(0.0);
        }
        if self.conditions.whole_degrees {
            for joint in self.model.joints.iter().skip(1) {
                let q = &mut targets.position[joint.q_start];
                *q = q.to_degrees().round().to_radians();
            }
        }
        targets
    }

    fn apply(&mut self, targets: &JointTargets) {
        let mut world = self.world.lock().unwrap_or_else(PoisonError::into_inner);
        let drives = world.drive_mut(self.robot);
        for joint in self.model.joints.iter().skip(1) {
            drives.position[joint.v_start] = targets.position[joint.q_start];
            drives.velocity[joint.v_start] = targets.velocity[joint.v_start];
            drives.effort[joint.v_start] = targets.effort[joint.v_start];
        }
    }

    /// Applies the push as a force on the root link's centre of mass.
    fn push(&mut self, time: f64) {
        let Some(Push { time: start, impulse: [forward, left] }) = self.conditions.push else {
            return;
        };
        let dt = self.conditions.dt;
        let n = (PUSH / dt).round().max(1.0);
        let k = ((time - start) / dt).round();
        if !(0.0..n).contains(&k) {
            return;
        }
        let force = Vector3::new(forward, left, 0.0) / (n * dt);
        let arm = self.pose().transform_vector(&self.model.bodies[0].inertia.com);
        let wrench = Force::new(arm.cross(&force), force);
        self.world().apply_link_wrench(self.robot, BodyId(0), wrench);
    }

    fn record(&mut self, snapshot: Snapshot) {
        self.saturated += usize::from(snapshot.is_at_limit);
        self.postures.push(snapshot.posture);
        let capture = self.engine.correction().capture;
        self.capture_margin =
            capture.map_or(self.capture_margin, |c| self.capture_margin.min(c.margin));
        self.yaw = self.unwrapped(snapshot.root.rpy()[2]);
        let sample = self.engine.sample();
        let correction = self.engine.correction();
        self.history.push(Moment {
            time: snapshot.time,
            root: snapshot.root.translation.into(),
            planned: [sample.q[0], sample.q[1], sample.q[2]],
            pressure: snapshot.pressure,
            margin: snapshot.margin,
            zmp: sample.zmp,
            lean: correction.lean,
            dcm_error: correction.dcm_error,
        });
    }
}

/// Steps of the physics between two points of the history.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 1000")]
fn snapshot_stride(dt: f64) -> u32 {
    (HISTORY / dt).round().max(1.0) as u32
}

/// Writes the history as CSV, with the joints' positions (n × nq).
pub(super) fn record_trace(
    history: &[Moment],
    model: &Model,
    postures: &[Vec<f64>],
    file: &Path,
) -> Result<()> {
    let joints: Vec<_> = model.joints.iter().skip(1).collect();
    let mut columns = vec![Column::new("time", "s")];
    for place in ["root", "planned"] {
        columns.extend(["x", "y", "z"].map(|n| Column::new(format!("{place}.{n}"), "m")));
    }
    for place in ["pressure", "zmp", "dcm_error"] {
        columns.extend(["x", "y"].map(|n| Column::new(format!("{place}.{n}"), "m")));
    }
    columns.extend(["lean.roll", "lean.pitch"].map(|n| Column::new(n, "rad")));
    columns.extend(joints.iter().map(|j| Column::new(&j.name, "rad")));
    let mut writer = TraceWriter::create(file, &columns)?;
    for (m, q) in history.iter().zip(postures) {
        let mut row = vec![m.time];
        row.extend(m.root.iter().chain(&m.planned));
        row.extend(m.pressure.iter().chain(&m.zmp).chain(&m.dcm_error).chain(&m.lean));
        row.extend(joints.iter().map(|j| q[j.q_start]));
        writer.row(&row)?;
    }
    writer.finish()?;
    Ok(())
}

/// Robot with other masses than the planner knows, and the ground's friction: two equal surfaces mix to the same.
fn real(model: &Model, conditions: &Conditions) -> Model {
    let mut model = model.clone();
    for body in &mut model.bodies {
        let Inertia { mass, com, about_com } = body.inertia;
        let k = conditions.mass_factor;
        body.inertia = Inertia { mass: mass * k, com, about_com: about_com * k };
    }
    for shape in &mut model.collisions {
        shape.friction = conditions.friction;
    }
    model
}

/// Writes planned joint positions as CSV.
pub(super) fn trace(model: &Model, samples: &[Sample], period: f64, file: &Path) -> Result<()> {
    let joints: Vec<_> = model.joints.iter().skip(1).collect();
    let mut columns = vec![Column::new("time", "s")];
    columns.extend(["x", "y", "z"].map(|n| Column::new(format!("base.{n}"), "m")));
    columns.extend(["roll", "pitch", "yaw"].map(|n| Column::new(format!("base.{n}"), "rad")));
    columns.extend(joints.iter().map(|j| Column::new(&j.name, "rad")));
    let plane =
        ["com.x", "com.y", "zmp_reference.x", "zmp_reference.y", "zmp.x", "zmp.y", "margin"];
    columns.extend(plane.map(|n| Column::new(n, "m")));
    let mut writer = TraceWriter::create(file, &columns)?;
    for s in samples {
        let turn = UnitQuaternion::from_quaternion(Quaternion::new(s.q[6], s.q[3], s.q[4], s.q[5]));
        let (roll, pitch, yaw) = turn.euler_angles();
        let mut row = vec![s.index as f64 * period, s.q[0], s.q[1], s.q[2], roll, pitch, yaw];
        row.extend(joints.iter().map(|j| s.q[j.q_start]));
        row.extend([s.com[0], s.com[1]].iter().chain(&s.zmp_reference).chain(&s.zmp));
        row.push(s.margin);
        writer.row(&row)?;
    }
    writer.finish()?;
    Ok(())
}
