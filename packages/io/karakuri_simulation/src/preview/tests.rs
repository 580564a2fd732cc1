//! khr1's motions in the simulation.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use karakuri_files::load_robot;
use karakuri_motion::{Document, Performer, file};

use super::*;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn khr1() -> Arc<Performer> {
    let config = root().join("config/khr1.yaml");
    let loaded = load_robot(&root().join("urdf/khr1/khr1.urdf"), Some(&config), None).unwrap();
    Arc::new(Performer::new(Arc::new(loaded.model)))
}

fn greet() -> Document {
    let path = root().join("config/motions/khr1_greet.yaml");
    file::read("khr1_greet.yaml", &std::fs::read_to_string(path).unwrap()).unwrap()
}

#[derive(Default)]
struct Kept {
    width: usize,
    rows: usize,
    first_after: Option<f64>,
    started: Option<Instant>,
}

impl PreviewSink for Kept {
    fn layout(&mut self, layout: &ClipLayout) {
        self.width = layout.width();
        assert_eq!((layout.bodies.len(), layout.joints.len()), (18, 17));
    }

    fn chunk(&mut self, chunk: ClipChunk) {
        assert_eq!(chunk.first_row, self.rows);
        assert_eq!(chunk.rows.len() % self.width, 0);
        assert!(chunk.rows.iter().all(|x| x.is_finite()));
        self.rows += chunk.rows.len() / self.width;
        let since = self.started.map(|start| start.elapsed().as_secs_f64());
        self.first_after = self.first_after.or(since);
    }
}

fn perform(document: &Document, performer: &Arc<Performer>) -> (PreviewReport, Kept) {
    let mut performance = Performance::new(document, "greet", performer).unwrap();
    let mut kept = Kept { started: Some(Instant::now()), ..Kept::default() };
    let surroundings = Surroundings { scene: &document.scene, file: Path::new("greet.yaml") };
    let settings = PreviewSettings::default();
    let report =
        preview(&mut performance, &surroundings, &settings, &AtomicBool::new(false), &mut kept);
    (report.unwrap(), kept)
}

#[test]
fn a_bow_is_performed_and_two_runs_have_one_digest() {
    let (performer, document) = (khr1(), greet());
    let (report, kept) = perform(&document, &performer);
    assert_eq!(report.verdict, Verdict::Ok, "{:?}", report.events);
    // 3.7 s and the tail at 60 Hz
    assert_eq!(kept.rows, 283);
    assert!(report.min_margin.unwrap() > 0.0);
    assert!(report.peaks.iter().all(|peak| peak.torque < 0.85), "{:?}", report.peaks);
    let (again, _) = perform(&document, &performer);
    assert_eq!(again, report);
}

#[test]
fn a_bow_too_far_falls_and_the_time_is_in_its_scene() {
    let (performer, mut document) = (khr1(), greet());
    let bow = document.poses.get_mut("bow").unwrap();
    for joint in ["l_ankle_pitch", "r_ankle_pitch"] {
        bow.joints.insert(joint.into(), 25.0);
    }
    let (report, _) = perform(&document, &performer);
    assert_eq!(report.verdict, Verdict::Falls, "{:?}", report.events);
    let first = report.first.unwrap();
    assert!(first.time > 0.7 && first.time < 2.5 && (1..=2).contains(&first.scene), "{first:?}");
    // The zero moment point left the soles before.
    let tips = report.review.findings.iter().find(|f| f.check == karakuri_motion::Check::Balance);
    assert!(tips.unwrap().time < first.time);
}

struct Nothing;
impl PreviewSink for Nothing {
    fn layout(&mut self, layout: &ClipLayout) {
        assert_eq!(layout.bodies.last().unwrap(), "ball");
    }
    fn chunk(&mut self, _: ClipChunk) {}
}

#[test]
fn what_is_in_the_scene_pushes_the_robot_over() {
    let (performer, mut document) = (khr1(), greet());
    // Pushed from behind by a heavy ball that rolls into its legs.
    let ball = serde_json::json!({
        "shape": {"sphere": {"radius": 0.08}}, "mass": 5.0,
        "pose": {"xyz": [-0.5, 0, 0.08], "rpy": [0, 0, 0]}, "velocity": {"linear": [3.0, 0, 0]},
    });
    document.scene.bodies.insert("ball".into(), ball);
    let mut performance = Performance::new(&document, "greet", &performer).unwrap();
    let surroundings = Surroundings { scene: &document.scene, file: Path::new("greet.yaml") };
    let mut run = |cancel: bool| {
        let cancel = AtomicBool::new(cancel);
        let settings = PreviewSettings::default();
        preview(&mut performance, &surroundings, &settings, &cancel, &mut Nothing)
    };
    assert_eq!(run(false).unwrap().verdict, Verdict::Falls);
    assert!(matches!(run(true), Err(PreviewError::Cancelled)));
}
