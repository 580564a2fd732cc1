//! Previews: a motion in the physics simulation, in a thread of its own; the newest request wins.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use karakuri_motion::{Performance, PhysicsScene};
use karakuri_simulation::{
    ClipChunk, ClipLayout, PreviewError, PreviewReport as Report, PreviewSettings, PreviewSink,
    Surroundings, preview,
};

use crate::assets::Assets;
use crate::session::input::Input;
use crate::wire::frame::{Header, Kind, encode};
use crate::wire::{Code, PreviewReport, PreviewState, WireError};

/// Time between news of the progress.
const NEWS: Duration = Duration::from_millis(100);
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
    Progress(f64),
    Done(Box<PreviewReport>),
    Failed(String),
}

/// The previews of a session.
#[derive(Debug, Default)]
pub(crate) struct Previews {
    state: PreviewState,
    key: String,
    cancel: Arc<AtomicBool>,
    known: BTreeMap<String, PreviewReport>,
}

impl Previews {
    /// The present one.
    pub(crate) fn state(&self) -> &PreviewState {
        &self.state
    }

    /// Begins a preview and ends the one before; a result that is known is there at once.
    pub(crate) fn start(
        &mut self,
        job: Job,
        assets: &Assets,
        news: Sender<Input>,
    ) -> Result<(), WireError> {
        if self.goes_on() && self.key == job.key {
            return Ok(());
        }
        self.cancel();
        let number = self.state.job + 1;
        self.key.clone_from(&job.key);
        self.state =
            PreviewState { job: number, motion: job.motion.clone(), ..PreviewState::default() };
        let known = self.known.get(&job.key).filter(|known| assets.clip(&known.clip).is_some());
        if let Some(known) = known {
            self.state.progress = 1.0;
            self.state.report =
                Some(PreviewReport { cached: true, steps_per_second: 0.0, ..known.clone() });
            return Ok(());
        }
        self.cancel = Arc::new(AtomicBool::new(false));
        let (cancel, assets) = (Arc::clone(&self.cancel), assets.clone());
        std::thread::Builder::new()
            .name("studio-preview".to_owned())
            .spawn(move || {
                let what = work(job, number, &cancel, &assets, &news);
                // A session that has ended needs no news.
                let _ended = news.send(Input::Preview(News { job: number, what }));
            })
            .map_err(|error| WireError::new(Code::Failed, error.to_string(), "free memory"))?;
        Ok(())
    }

    /// Ends the preview that goes on.
    pub(crate) fn cancel(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
        if self.goes_on() {
            self.state.cancelled = true;
        }
    }

    fn goes_on(&self) -> bool {
        let state = &self.state;
        state.job > 0 && !state.cancelled && state.error.is_empty() && state.report.is_none()
    }

    /// Takes news of a preview; whether they are of the present one.
    pub(crate) fn hear(&mut self, news: News) -> bool {
        if news.job != self.state.job || !self.goes_on() {
            return false;
        }
        match news.what {
            What::Progress(progress) => self.state.progress = progress,
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
        true
    }

    /// Result of a key.
    pub(crate) fn known(&self, key: &str) -> Option<&PreviewReport> {
        self.known.get(key)
    }
}

/// Rows of the clip, and news of how far it is.
struct Rows<'a> {
    numbers: Vec<f64>,
    width: usize,
    period: f64,
    duration: f64,
    job: u32,
    news: &'a Sender<Input>,
    next_news: Instant,
}

impl PreviewSink for Rows<'_> {
    fn layout(&mut self, layout: &ClipLayout) {
        self.width = layout.width();
        self.period = layout.period;
    }

    fn chunk(&mut self, chunk: ClipChunk) {
        self.numbers.extend(chunk.rows.iter().copied().map(f64::from));
        if Instant::now() >= self.next_news {
            self.next_news = Instant::now() + NEWS;
            let done = self.numbers.len() / self.width.max(1);
            let progress = (done as f64 * self.period / self.duration).min(1.0);
            let what = What::Progress(progress);
            let _ended = self.news.send(Input::Preview(News { job: self.job, what }));
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
    let settings = PreviewSettings { chunk_rows: 6, ..PreviewSettings::default() };
    let mut rows = Rows {
        numbers: Vec::new(),
        width: 0,
        period: settings.clip_period,
        duration: job.performance.duration() + settings.tail,
        job: number,
        news,
        next_news: Instant::now(),
    };
    let surroundings = Surroundings { scene: &job.scene, file: &job.file };
    let began = Instant::now();
    let report = match preview(&mut job.performance, &surroundings, &settings, cancel, &mut rows) {
        Ok(report) => report,
        Err(PreviewError::Cancelled) => return What::Failed("cancelled".to_owned()),
        Err(error) => return What::Failed(error.to_string()),
    };
    let wall = began.elapsed().as_secs_f64();
    let header = Header { kind: Kind::Clip, stream: job.stage, seq: 0, time: rows.period };
    let clip = assets.add_clip(encode(header, &rows.numbers));
    let n_rows = rows.numbers.len() / rows.width.max(1);
    let finished = Finished { wall, clip, n_rows, period: rows.period };
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
