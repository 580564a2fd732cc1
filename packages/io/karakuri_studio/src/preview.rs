//! Previews: a motion in the physics simulation, in a thread of its own; the newest request wins.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use karakuri_motion::{Performance, PhysicsScene};
use karakuri_simulation::{
    ClipChunk, ClipLayout, PreviewError, PreviewReport as Report, PreviewSettings, PreviewSink,
    Surroundings, preview,
};

use crate::assets::Assets;
use crate::session::input::Input;
use crate::wire::frame::{Header, Kind, encode_rows};
use crate::wire::{Code, PreviewReport, PreviewState, WireError};

/// Time between two parts of the rows, which come with news of the progress.
const PART: Duration = Duration::from_millis(50);
/// Rows that the simulation hands out at once: a tenth of a second.
const CHUNK_ROWS: usize = 6;
/// Results that are remembered.
const REMEMBERED: usize = 200;

/// What a preview is of.
#[derive(Debug)]
pub(crate) struct Job {
    /// Name of the motion.
    pub(crate) motion: String,
    /// SHA-256 of all that the result depends on.
    pub(crate) key: String,
    /// The motion and its robot.
    pub(crate) performance: Performance,
    /// Bodies and connections around the robot.
    pub(crate) scene: PhysicsScene,
    /// File that names in the scene are relative to.
    pub(crate) file: PathBuf,
    /// Number of the stage that the clip is of.
    pub(crate) stage: u16,
}

/// News of a preview.
#[derive(Debug)]
pub(crate) struct News {
    job: u32,
    what: What,
}

#[derive(Debug)]
enum What {
    /// A frame of rows, and how much of the motion is done. [-]
    Rows {
        frame: Vec<u8>,
        progress: f64,
    },
    Done(Box<PreviewReport>),
    Failed(String),
}

/// What clients are to know after news.
#[derive(Debug, PartialEq)]
pub(crate) enum Reported {
    /// Nothing: the news are of a preview that has ended.
    Nothing,
    /// The state.
    State,
    /// The state, and this frame of rows.
    Rows(Vec<u8>),
}

/// The previews of a session.
#[derive(Debug, Default)]
pub(crate) struct Previews {
    state: PreviewState,
    key: String,
    cancel: Arc<AtomicBool>,
    worker: Option<JoinHandle<()>>,
    known: BTreeMap<String, PreviewReport>,
}

impl Previews {
    /// The present one.
    pub(crate) fn state(&self) -> &PreviewState {
        &self.state
    }

    /// Whether the result of a key is known, which is then the present one, or being made.
    pub(crate) fn recall(&mut self, motion: &str, key: &str, assets: &Assets) -> bool {
        if self.goes_on() && self.key == key {
            return true;
        }
        let known = self.known.get(key).filter(|known| assets.clip(&known.clip).is_some());
        let Some(report) = known.cloned() else { return false };
        self.next(motion, key);
        self.state.progress = 1.0;
        self.state.report = Some(PreviewReport { cached: true, steps_per_second: 0.0, ..report });
        true
    }

    /// Begins a preview and ends the one before.
    pub(crate) fn start(
        &mut self,
        job: Job,
        assets: &Assets,
        news: Sender<Input>,
    ) -> Result<(), WireError> {
        self.next(&job.motion, &job.key);
        let number = self.state.job;
        self.cancel = Arc::new(AtomicBool::new(false));
        let (cancel, assets) = (Arc::clone(&self.cancel), assets.clone());
        let worker = std::thread::Builder::new()
            .name("studio-preview".to_owned())
            .spawn(move || {
                let what = work(job, number, &cancel, &assets, &news);
                // A session that has ended needs no news.
                let _ended = news.send(Input::Preview(News { job: number, what }));
            })
            .map_err(|error| WireError::new(Code::Failed, error.to_string(), "free memory"))?;
        self.worker = Some(worker);
        Ok(())
    }

    /// Ends the preview that goes on; whether there was one.
    pub(crate) fn cancel(&mut self) -> bool {
        self.cancel.store(true, Ordering::Relaxed);
        let goes_on = self.goes_on();
        self.state.cancelled |= goes_on;
        goes_on
    }

    /// Ends the preview that goes on, and its thread.
    pub(crate) fn end(&mut self) {
        self.cancel();
        if let Some(worker) = self.worker.take() {
            // Whoever panicked has said so.
            let _said = worker.join();
        }
    }

    /// Ends the present one, and makes room for the next.
    fn next(&mut self, motion: &str, key: &str) {
        self.cancel();
        let (job, motion) = (self.state.job + 1, motion.to_owned());
        key.clone_into(&mut self.key);
        self.state = PreviewState { job, motion, ..PreviewState::default() };
    }

    /// Motion and key of the preview that goes on.
    pub(crate) fn under_way(&self) -> Option<(String, String)> {
        self.goes_on().then(|| (self.state.motion.clone(), self.key.clone()))
    }

    fn goes_on(&self) -> bool {
        let state = &self.state;
        state.job > 0 && !state.cancelled && state.error.is_empty() && state.report.is_none()
    }

    /// Takes news of a preview.
    pub(crate) fn hear(&mut self, news: News) -> Reported {
        if news.job != self.state.job || !self.goes_on() {
            return Reported::Nothing;
        }
        match news.what {
            What::Rows { frame, progress } => {
                self.state.progress = progress;
                return Reported::Rows(frame);
            }
            What::Done(report) => {
                self.state.progress = 1.0;
                if self.known.len() >= REMEMBERED {
                    self.known.pop_first();
                }
                self.known.insert(report.key.clone(), (*report).clone());
                self.state.report = Some(*report);
            }
            What::Failed(error) => self.state.error = error,
        }
        Reported::State
    }

    /// Result of a key.
    pub(crate) fn known(&self, key: &str) -> Option<&PreviewReport> {
        self.known.get(key)
    }
}

/// Rows of the clip, which are sent in parts.
struct Rows<'a> {
    numbers: Vec<f32>,
    width: usize,
    /// Rows that were sent.
    sent: usize,
    period: f64,
    duration: f64,
    stage: u16,
    job: u32,
    news: &'a Sender<Input>,
    next_part: Instant,
}

impl Rows<'_> {
    fn n_rows(&self) -> usize {
        self.numbers.len() / self.width.max(1)
    }

    /// Rows from one on, as a frame.
    fn frame(&self, first: usize) -> Vec<u8> {
        let seq = u32::try_from(first).unwrap_or(u32::MAX);
        let header = Header { kind: Kind::Clip, stream: self.stage, seq, time: self.period };
        encode_rows(header, &self.numbers[first * self.width..])
    }

    /// Sends the rows that were not sent yet.
    fn tell(&mut self) {
        if self.sent == self.n_rows() {
            return;
        }
        let progress = (self.n_rows() as f64 * self.period / self.duration).min(1.0);
        let what = What::Rows { frame: self.frame(self.sent), progress };
        self.sent = self.n_rows();
        // A session that has ended needs no news.
        let _ended = self.news.send(Input::Preview(News { job: self.job, what }));
    }
}

impl PreviewSink for Rows<'_> {
    fn layout(&mut self, layout: &ClipLayout) {
        self.width = layout.width();
        self.period = layout.period;
    }

    fn chunk(&mut self, chunk: ClipChunk) {
        self.numbers.extend(chunk.rows);
        if Instant::now() >= self.next_part {
            self.next_part = Instant::now() + PART;
            self.tell();
        }
    }
}

fn work(
    mut job: Job,
    number: u32,
    cancel: &AtomicBool,
    assets: &Assets,
    news: &Sender<Input>,
) -> What {
    let settings = PreviewSettings { chunk_rows: CHUNK_ROWS, ..PreviewSettings::default() };
    let mut rows = Rows {
        numbers: Vec::new(),
        width: 0,
        sent: 0,
        period: settings.clip_period,
        duration: job.performance.duration() + settings.tail,
        stage: job.stage,
        job: number,
        news,
        next_part: Instant::now(),
    };
    let surroundings = Surroundings { scene: &job.scene, file: &job.file };
    let began = Instant::now();
    let report = match preview(&mut job.performance, &surroundings, &settings, cancel, &mut rows) {
        Ok(report) => report,
        Err(PreviewError::Cancelled) => return What::Failed("cancelled".to_owned()),
        Err(error) => return What::Failed(error.to_string()),
    };
    let wall = began.elapsed().as_secs_f64();
    rows.tell();
    let clip = assets.add_clip(rows.frame(0));
    let finished = Finished { wall, clip, n_rows: rows.n_rows(), period: rows.period };
    What::Done(Box::new(reported(&report, &job, finished)))
}

/// What a preview leaves beside its report.
struct Finished {
    wall: f64,
    clip: String,
    n_rows: usize,
    period: f64,
}

fn reported(report: &Report, job: &Job, finished: Finished) -> PreviewReport {
    let model = &job.performance.performer().model;
    PreviewReport {
        verdict: report.verdict.into(),
        findings: report.events.iter().map(Into::into).collect(),
        min_margin: report.min_margin,
        peaks: report
            .peaks
            .iter()
            .map(|peak| {
                let limits = model.joint(&peak.joint).map(|id| model.joints[id.0].limits);
                let over = |x: f64, limit: f64| if limit > 0.0 { x / limit } else { 0.0 };
                let effort = limits.map_or(0.0, |l| over(peak.torque, l.effort));
                let speed = limits.map_or(0.0, |l| over(peak.speed, l.velocity));
                (peak.joint.clone(), effort, speed)
            })
            .collect(),
        digest: report.digest.clone(),
        key: job.key.clone(),
        clip: finished.clip,
        n_rows: u32::try_from(finished.n_rows).unwrap_or(u32::MAX),
        dt: finished.period,
        steps_per_second: report.steps as f64 / finished.wall.max(1e-9),
        cached: false,
    }
}
