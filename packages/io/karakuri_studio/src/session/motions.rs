//! Requests about motions: sampled, checked, previewed, read and written.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use karakuri_dynamics::{Data, forward_kinematics, frame_pose};
use karakuri_files::read_yaml;
use karakuri_gait::geometry::ConvexPolygon;
use karakuri_model::decode_text;
use karakuri_motion::formats::{Format, FormatOptions, Note, Servo, export, import};
use karakuri_motion::{
    Document, LoadsOf, MotionState, Performance, Performer, Problem, Review, ReviewSettings, review,
};
use serde::Deserialize;
use serde_json::Value;

use super::project::refuse;
use super::state::{Session, to_value};
use crate::assets::hash;
use crate::preview::{Job, News};
use crate::run::Playback;
use crate::stage::place_of;
use crate::wire::frame::{Header, Kind, encode};
use crate::wire::{
    BalanceCurves, ClipReport, ClipRequest, Code, Event, Exported, Finding, Imported, WireError,
};

/// Rates of rows. [Hz]
const RATES: [f64; 2] = [1.0, 1000.0];
/// Most rows of a clip: ten minutes at 60 Hz.
const ROWS: usize = 36_000;
/// Distance by which corners of a support polygon move while it counts as the same. [m]
const SAME: f64 = 1e-5;
/// Largest file that is imported. [bytes]
const IMPORT_LIMIT: usize = 64 << 20;

impl Session {
    /// Robot of the document, as motions need it.
    fn performer(&self) -> Result<Arc<Performer>, WireError> {
        self.project.performer.clone().ok_or_else(super::state::no_robot)
    }

    /// A motion of the document as it is shown.
    pub(super) fn performance(&self, motion: &str) -> Result<Performance, WireError> {
        let performer = self.performer()?;
        let shown = self.project.shown();
        if !shown.motions.contains_key(motion) {
            let known: Vec<&str> = shown.motions.keys().map(String::as_str).collect();
            let text = format!("there is no motion `{motion}`");
            let hint = format!("there are {}", known.join(", "));
            return Err(WireError::new(Code::NotFound, text, hint));
        }
        Performance::new(shown, motion, &performer).map_err(|problems| first(&problems))
    }

    /// Friction and gravity of the document's scene.
    fn conditions(&self) -> ReviewSettings {
        let scene = &self.project.scene.scene;
        let usual = ReviewSettings::default();
        ReviewSettings {
            friction: scene.ground.map_or(usual.friction, |ground| ground.friction),
            gravity: scene.settings.gravity.norm(),
        }
    }

    /// Samples a motion.
    pub(super) fn clip(&mut self, request: &ClipRequest) -> Result<Value, WireError> {
        let mut performance = self.performance(&request.motion)?;
        let dt = match request.rate {
            None => performance.frame(),
            Some(rate) if (RATES[0]..=RATES[1]).contains(&rate) => 1.0 / rate,
            Some(rate) => {
                let hint = format!("write a number from {} to {}", RATES[0], RATES[1]);
                return Err(WireError::new(Code::Limit, format!("{rate} rows a second"), hint));
            }
        };
        let times = times(performance.duration(), dt)?;
        let mut rows = Rows::new(&performance, &self.project.stage, self.conditions().gravity);
        for &t in &times {
            rows.add(&mut performance, t);
        }
        let stream = self.project.stage.number;
        let header = Header { kind: Kind::Clip, stream, seq: 0, time: dt };
        let hash = self.assets.add_clip(encode(header, &rows.numbers));
        let checks = request.checks.unwrap_or(true);
        let reviewed = checks.then(|| review(&mut performance, &self.conditions())).transpose();
        let reviewed = reviewed.map_err(|error| WireError::from_text(Code::Invalid, &error))?;
        let frame = performance.frame();
        to_value(&ClipReport {
            hash,
            n_rows: u32::try_from(times.len()).unwrap_or(u32::MAX),
            dt,
            duration: performance.duration(),
            scene_ends: performance.spans().iter().map(|span| span.end).collect(),
            balance: balance(reviewed.as_ref(), &times, frame, rows.polygons),
            findings: reviewed.iter().flat_map(|r| &r.findings).map(Into::into).collect(),
        })
    }

    /// A motion as drives follow it.
    pub(super) fn playback(&mut self, motion: &str) -> Result<Playback, WireError> {
        let mut performance = self.performance(motion)?;
        let model = Arc::clone(&performance.performer().model);
        let driven: Vec<_> = model.joints.iter().filter(|joint| joint.drive.is_some()).collect();
        let dt = performance.frame();
        let mut state = MotionState::default();
        performance.sample(0.0, &mut state);
        let start = state.q.clone();
        let rows = times(performance.duration(), dt)?
            .into_iter()
            .map(|t| {
                performance.sample(t, &mut state);
                let within = |j: &&karakuri_model::Joint| {
                    state.q[j.q_start].clamp(j.limits.lower, j.limits.upper)
                };
                driven.iter().map(within).collect()
            })
            .collect();
        let shown = self.project.shown();
        Ok(Playback {
            name: motion.to_owned(),
            dt,
            start,
            dofs: driven.iter().map(|joint| joint.v_start).collect(),
            rows,
            is_loop: shown.motions.get(motion).is_some_and(|m| m.is_loop),
        })
    }

    /// Key of a motion's preview: SHA-256 of all that its result depends on.
    pub(super) fn preview_key(&self, motion: &str) -> String {
        let document = self.project.shown();
        let parts = serde_json::to_vec(&(
            motion,
            &document.poses,
            &document.motions,
            &document.units,
            &document.mirror,
            &document.scene,
        ));
        let version = env!("CARGO_PKG_VERSION").as_bytes();
        hash(&[&parts.unwrap_or_default(), self.project.model_key.as_bytes(), version])
    }

    /// Simulates a motion in the background.
    pub(super) fn preview(&mut self, motion: &str) -> Result<Value, WireError> {
        let job = Job {
            motion: motion.to_owned(),
            key: self.preview_key(motion),
            performance: self.performance(motion)?,
            scene: self.project.shown().scene.clone(),
            file: self.project.named_in(&self.folder),
            stage: self.project.stage.number,
        };
        self.previews.start(job, &self.assets, self.inputs.clone())?;
        self.tell(&Event::Preview(self.previews.state().clone()));
        to_value(self.previews.state())
    }

    /// Ends the preview.
    pub(super) fn cancel_preview(&mut self) -> Result<Value, WireError> {
        self.previews.cancel();
        self.tell(&Event::Preview(self.previews.state().clone()));
        to_value(self.previews.state())
    }

    /// News of a preview.
    pub(super) fn preview_news(&mut self, news: News) {
        if self.previews.hear(news) {
            self.tell(&Event::Preview(self.previews.state().clone()));
        }
    }

    /// Reads a file of another program into the document.
    pub(super) fn import(
        &mut self,
        client: &str,
        name: &str,
        data: &str,
        rate: Option<f64>,
    ) -> Result<Value, WireError> {
        let invalid = |text: String| WireError::from_text(Code::Invalid, &text);
        if data.len() / 4 * 3 > IMPORT_LIMIT {
            return Err(WireError::new(Code::Limit, "the file is larger than 64 MB", "cut it"));
        }
        let bytes = crate::bytes_of(data).ok_or_else(|| {
            WireError::new(Code::Malformed, "`data` is no base64", "send the file's bytes so")
        })?;
        let text = decode_text(name, &bytes).map_err(|error| invalid(error.to_string()))?;
        let format = Format::guess(name, &text).ok_or_else(|| {
            let hint = "files are known by their endings and beginnings: .csv, .motion, .seq, .rcb";
            WireError::new(Code::Invalid, format!("the format of `{name}` is not known"), hint)
        })?;
        let performer = self.performer()?;
        let servos = self.servos();
        let options = FormatOptions {
            performer: &performer,
            unit: self.project.document.units.angle,
            frames_per_second: rate.filter(|r| (1.0..=10_000.0).contains(r)).unwrap_or(50.0),
            servos: &servos,
        };
        let imported =
            import(format, name, &text, &options).map_err(|error| invalid(error.to_string()))?;
        let report = findings(&imported.notes);
        let ops = imported.ops(&self.project.document);
        let motions = ops
            .iter()
            .filter_map(|op| match op {
                karakuri_motion::Op::PutMotion { name, .. } => Some(name.clone()),
                _ => None,
            })
            .collect();
        self.edit(client, &ops, Some(format!("import {name}")))?;
        to_value(&Imported { rev: self.project.rev, motions, report })
    }

    /// Writes a motion as a file of another program.
    pub(super) fn export(&mut self, format: &str, motion: &str) -> Result<Value, WireError> {
        let found = Format::ALL.iter().find(|(name, _)| *name == format);
        let (_, format) = found.ok_or_else(|| {
            let known: Vec<&str> = Format::ALL.iter().map(|(name, _)| *name).collect();
            let text = format!("there is no format `{format}`");
            WireError::new(Code::NotFound, text, format!("write one of {}", known.join(", ")))
        })?;
        let mut performance = self.performance(motion)?;
        let performer = self.performer()?;
        let servos = self.servos();
        let options = FormatOptions {
            performer: &performer,
            unit: self.project.document.units.angle,
            frames_per_second: 50.0,
            servos: &servos,
        };
        let exported = export(*format, motion, &mut performance, &options)
            .map_err(|text| WireError::from_text(Code::Invalid, &text))?;
        to_value(&Exported {
            name: format!("{motion}.{}", ending(*format)),
            data: crate::text_of(exported.text.as_bytes()),
            report: findings(&exported.notes),
        })
    }

    /// Servos of the robot's boards: those of `hardware/NAME.yaml` beside the robot's YAML, if it is of RCB-1 boards.
    fn servos(&self) -> Vec<Servo> {
        #[derive(Deserialize)]
        struct Hardware {
            bus: String,
            servos: std::collections::BTreeMap<String, Entry>,
        }
        #[derive(Deserialize)]
        struct Entry {
            id: usize,
            #[serde(default)]
            zero: f64,
            #[serde(default)]
            reversed: bool,
        }
        let Some(config) = &self.project.document.robot.config else { return Vec::new() };
        let config = self.project.named_in(&self.folder).with_file_name(config);
        let (Some(folder), Some(name)) = (config.parent(), config.file_name()) else {
            return Vec::new();
        };
        let file: PathBuf = folder.join("hardware").join(Path::new(name));
        let Ok(hardware) = read_yaml::<Hardware>(&file) else { return Vec::new() };
        if hardware.bus != "rcb1" {
            return Vec::new();
        }
        let servo = |(joint, Entry { id, zero, reversed })| Servo {
            joint,
            channel: id,
            zero_deg: zero.to_degrees(),
            reversed,
        };
        hardware.servos.into_iter().map(servo).collect()
    }
}

/// Names of the formats that can be written.
pub(super) fn export_formats() -> Vec<String> {
    let written =
        |format: &Format| !matches!(format, Format::Pseq | Format::Rcb | Format::Khr1Yaml);
    let all = Format::ALL.iter().filter(|(_, format)| written(format));
    all.map(|(name, _)| (*name).to_owned()).collect()
}

fn ending(format: Format) -> &'static str {
    match format {
        Format::Webots => "motion",
        Format::Seq => "seq",
        Format::Trajectory | Format::PlayMotion2 | Format::Khr1Yaml => "yaml",
        Format::Pseq => "pseq",
        Format::Rcb => "rcb",
        Format::Csv | Format::EditorCsv | Format::Khr1Csv => "csv",
    }
}

fn findings(notes: &[Note]) -> Vec<Finding> {
    let line = |note: &Note| u32::try_from(note.line).unwrap_or(u32::MAX);
    notes.iter().map(|note| Finding { line: line(note), text: note.message.clone() }).collect()
}

fn first(problems: &[Problem]) -> WireError {
    problems
        .first()
        .map_or_else(|| WireError::new(Code::Failed, "the motion is wrong", "report this"), refuse)
}

/// Times of rows, the last one at the end. [s]
fn times(duration: f64, dt: f64) -> Result<Vec<f64>, WireError> {
    let n = (duration / dt - 1e-9).ceil().max(0.0);
    if n >= ROWS as f64 {
        let text = format!("the motion lasts {duration:.0} s: more than {ROWS} rows");
        return Err(WireError::new(Code::Limit, text, "ask for fewer rows a second"));
    }
    let mut times = Vec::new();
    while (times.len() as f64) < n {
        times.push(times.len() as f64 * dt);
    }
    times.push(duration);
    Ok(times)
}

/// Rows of a clip.
struct Rows {
    numbers: Vec<f64>,
    polygons: Vec<(u32, Vec<[f64; 2]>)>,
    state: MotionState,
    data: Data,
    loads: LoadsOf,
    /// Poses of what is no body of the robot, and its joints.
    others: Vec<f64>,
    other_joints: usize,
    n: u32,
}

impl Rows {
    fn new(performance: &Performance, stage: &crate::wire::Stage, gravity: f64) -> Self {
        let performer = performance.performer();
        let robots = stage.robots.iter().skip(1);
        let mut others: Vec<f64> = robots.clone().flat_map(|r| r.bodies_at_rest.concat()).collect();
        others.extend(stage.objects.iter().flat_map(|object| object.pose));
        Self {
            numbers: Vec::new(),
            polygons: Vec::new(),
            state: MotionState::default(),
            data: Data::new(&performer.model),
            loads: LoadsOf::new(performer, gravity),
            others,
            other_joints: robots.map(|r| r.joints.len()).sum(),
            n: 0,
        }
    }

    fn add(&mut self, performance: &mut Performance, t: f64) {
        performance.sample(t, &mut self.state);
        let performer = Arc::clone(performance.performer());
        let model = &performer.model;
        forward_kinematics(model, &mut self.data, &self.state.q);
        self.numbers.extend(self.data.pose_in_world.iter().flat_map(place_of));
        self.numbers.extend(&self.others);
        let effort = self.loads.effort(&self.state);
        for joint in model.joints.iter().filter(|j| j.kind.single().is_some()) {
            let (q, v) = (joint.q_start, joint.v_start);
            self.numbers.extend([self.state.q[q], self.state.v[v], effort[v]]);
        }
        self.numbers.extend(std::iter::repeat_n(0.0, 3 * self.other_joints));
        let polygon = self.polygon(&performer);
        let same = |old: &[[f64; 2]]| {
            old.len() == polygon.len()
                && old.iter().zip(&polygon).all(|(a, b)| (a[0] - b[0]).hypot(a[1] - b[1]) < SAME)
        };
        if !self.polygons.last().is_some_and(|(_, old)| same(old)) {
            self.polygons.push((self.n, polygon));
        }
        self.n += 1;
    }

    /// Corners of the polygon around the soles that stand. [m] (n × 2)
    fn polygon(&self, performer: &Performer) -> Vec<[f64; 2]> {
        let Some(legs) = &performer.legs else { return Vec::new() };
        let standing = legs.iter().zip(self.state.stands).filter(|(_, stands)| *stands);
        let corners = standing.flat_map(|(leg, _)| {
            let X_WSole = frame_pose(&performer.model, &self.data, leg.foot) * leg.sole_in_foot;
            leg.outline.corners().map(|[x, y]| {
                let p = X_WSole.transform_point(&karakuri_spatial::Vector3::new(x, y, 0.0));
                [p.x, p.y]
            })
        });
        ConvexPolygon::hull(&corners.collect::<Vec<_>>()).corners
    }
}

/// Curves of a review at the times of rows.
fn balance(
    reviewed: Option<&Review>,
    times: &[f64],
    frame: f64,
    polygons: Vec<(u32, Vec<[f64; 2]>)>,
) -> BalanceCurves {
    let mut curves = BalanceCurves { polygons, ..BalanceCurves::default() };
    let Some(margins) = reviewed.map(|r| &r.margins).filter(|m| !m.is_empty()) else {
        return curves;
    };
    for t in times {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
        let nearest = (t / frame).round() as usize;
        let sample = &margins[nearest.min(margins.len() - 1)];
        curves.com.push(sample.com);
        curves.zmp.push(sample.zmp);
        curves.static_margin.push(sample.static_margin);
        curves.margin.push(sample.margin);
    }
    curves
}

/// The document that is shown: that of the drag, if there is one.
impl super::project::Project {
    pub(super) fn shown(&self) -> &Document {
        self.drag.as_ref().map_or(&self.document, |drag| &drag.shown)
    }
}
