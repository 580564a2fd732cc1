//! Sampled motions: rows, checks and balance, made in a thread of their own and remembered.

mod rows;

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, SendError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use karakuri_motion::{Performance, Review, ReviewSettings, review};
use tokio::sync::OwnedSemaphorePermit;

use crate::assets::Assets;
use crate::server::Outbox;
use crate::wire::frame::{Header, Kind, encode};
use crate::wire::{BalanceCurves, ClipReport, Code, WireError};

use rows::Rows;
pub(crate) use rows::{Surroundings, times};

/// Results that are remembered.
const REMEMBERED: usize = 16;

/// What is sampled.
#[derive(Debug)]
pub(crate) struct Job {
    /// What the result depends on; `None`: it is not to be remembered.
    pub(crate) key: Option<Key>,
    /// The motion and its robot.
    pub(crate) performance: Performance,
    /// What is on the stage beside the robot.
    pub(crate) surroundings: Surroundings,
    /// Times of the rows. [s]
    pub(crate) times: Vec<f64>,
    /// Time between rows. [s]
    pub(crate) dt: f64,
    /// Conditions of the checks.
    pub(crate) conditions: ReviewSettings,
    /// Whether it is checked.
    pub(crate) checks: bool,
}

/// What a result depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    /// SHA-256 of the motion and all that it stands on.
    pub(crate) motion: String,
    /// Number of the stage.
    pub(crate) stage: u16,
    /// Rows a second, in bits; `None`: one a frame. [Hz]
    pub(crate) rate: Option<u64>,
    /// Whether it is checked.
    pub(crate) checks: bool,
}

/// Whoever waits for an answer.
#[derive(Debug)]
pub(crate) struct Asker {
    /// The client.
    pub(crate) outbox: Arc<Outbox>,
    /// Number of its request.
    pub(crate) id: u32,
    /// Revision of the document when it asked.
    pub(crate) rev: u32,
    /// Its place in the queue, free again when it is answered.
    pub(crate) permit: Option<OwnedSemaphorePermit>,
}

impl Asker {
    /// Answers with a result as JSON, or an error.
    pub(crate) fn answer(self, result: Result<&str, &WireError>) {
        let Self { outbox, id, rev, permit } = self;
        outbox.send(match result {
            Ok(result) => format!(r#"{{"id":{id},"ok":true,"rev":{rev},"result":{result}}}"#),
            Err(error) => error.reply(Some(id)),
        });
        drop(permit);
    }
}

/// The sampled motions of a session.
#[derive(Debug)]
pub(crate) struct Curves {
    assets: Assets,
    known: Known,
    jobs: Option<Sender<(Job, Asker)>>,
}

impl Curves {
    pub(crate) fn new(assets: Assets) -> Self {
        Self { assets, known: Known::default(), jobs: None }
    }

    /// Result of a key as JSON, if it is known.
    pub(crate) fn known(&self, key: &Key) -> Option<Arc<str>> {
        let known = self.known.get(key)?;
        self.assets.clip(&known.clip).is_some().then_some(known.result)
    }

    /// Samples a motion in its turn, and answers.
    pub(crate) fn sample(&mut self, job: Job, asker: Asker) {
        if let Err(error) = self.begin() {
            let error = WireError::new(Code::Failed, error.to_string(), "free memory");
            return asker.answer(Err(&error));
        }
        let Some(jobs) = &self.jobs else { return };
        if let Err(SendError((_, asker))) = jobs.send((job, asker)) {
            self.jobs = None;
            let text = "the thread that samples motions has ended";
            asker.answer(Err(&WireError::new(Code::Failed, text, "try again")));
        }
    }

    /// Starts the thread, if there is none.
    fn begin(&mut self) -> std::io::Result<()> {
        if self.jobs.is_none() {
            let (jobs, waiting) = channel();
            let (assets, known) = (self.assets.clone(), self.known.clone());
            std::thread::Builder::new()
                .name("studio-curves".to_owned())
                .spawn(move || serve(&waiting, &assets, &known))?;
            self.jobs = Some(jobs);
        }
        Ok(())
    }
}

/// A result.
#[derive(Debug, Clone)]
struct Sampled {
    /// Hash of the rows.
    clip: String,
    /// The answer as JSON.
    result: Arc<str>,
}

/// Results by their keys, the oldest first.
#[derive(Debug, Clone, Default)]
struct Known(Arc<Mutex<VecDeque<(Key, Sampled)>>>);

impl Known {
    fn list(&self) -> MutexGuard<'_, VecDeque<(Key, Sampled)>> {
        // Whoever panicked while it held the lock left whole results.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, key: &Key) -> Option<Sampled> {
        self.list().iter().find(|(known, _)| known == key).map(|(_, sampled)| sampled.clone())
    }

    fn add(&self, key: Key, sampled: Sampled) {
        let mut list = self.list();
        list.retain(|(known, _)| *known != key);
        if list.len() >= REMEMBERED {
            list.pop_front();
        }
        list.push_back((key, sampled));
    }
}

/// Does jobs in turn, until nobody can order one.
fn serve(jobs: &Receiver<(Job, Asker)>, assets: &Assets, known: &Known) {
    while let Ok((mut job, asker)) = jobs.recv() {
        let key = job.key.take();
        match sample(job, assets) {
            Ok(sampled) => {
                asker.answer(Ok(&sampled.result));
                if let Some(key) = key {
                    known.add(key, sampled);
                }
            }
            Err(error) => asker.answer(Err(&error)),
        }
    }
}

fn sample(job: Job, assets: &Assets) -> Result<Sampled, WireError> {
    let Job { mut performance, surroundings, times, dt, conditions, checks, .. } = job;
    let stream = surroundings.stage;
    let mut rows = Rows::new(&performance, surroundings, conditions.gravity);
    for &t in &times {
        rows.add(&mut performance, t);
    }
    let header = Header { kind: Kind::Clip, stream, seq: 0, time: dt };
    let clip = assets.add_clip(encode(header, &rows.numbers));
    let reviewed = checks.then(|| review(&performance, &conditions)).transpose();
    let reviewed = reviewed.map_err(|error| WireError::from_text(Code::Invalid, &error))?;
    let report = ClipReport {
        hash: clip.clone(),
        n_rows: u32::try_from(times.len()).unwrap_or(u32::MAX),
        dt,
        duration: performance.duration(),
        scene_ends: performance.spans().iter().map(|span| span.end).collect(),
        balance: balance(reviewed.as_ref(), &times, performance.frame(), rows.polygons),
        findings: reviewed.iter().flat_map(|r| &r.findings).map(Into::into).collect(),
    };
    let result = serde_json::to_string(&report)
        .map_err(|error| WireError::new(Code::Failed, error.to_string(), "report this"))?;
    Ok(Sampled { clip, result: result.into() })
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
