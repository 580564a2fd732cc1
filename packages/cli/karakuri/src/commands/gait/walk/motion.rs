//! A planned walk as a motion document.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use karakuri_files::{FileAssets, read_yaml_tree, write_atomic};
use karakuri_gait::planner::{Sample, Side};
use karakuri_model::Model;
use karakuri_motion::{
    AngleUnit, Document, MotionState, Performer, RobotReference, Units, bake, file,
};

/// Samples that are kept, every so many: a walk is smooth over 20 ms.
const EVERY: f64 = 0.02;

/// Writes the samples of a plan as a motion of the gait's robot.
pub(super) fn write(
    gait: &Path,
    model: &Arc<Model>,
    samples: &[Sample],
    period: f64,
    output: &Path,
) -> Result<()> {
    let performer = Performer::new(Arc::clone(model));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
    let every = (EVERY / period).round().max(1.0) as usize;
    let state = |(k, sample): (usize, &Sample)| MotionState {
        t: k as f64 * period,
        q: sample.q.clone(),
        stands: Side::BOTH.map(|side| sample.support.stands(side)),
        ..MotionState::default()
    };
    // Each change of the feet is kept at its own time.
    let changes = |k: usize| k > 0 && samples[k].support != samples[k - 1].support;
    let kept = samples.iter().enumerate().filter(|(k, _)| k % every == 0 || changes(*k));
    let states: Vec<MotionState> = kept.map(state).collect();
    let mut document = Document {
        units: Units { angle: AngleUnit::Deg },
        robot: robot(gait, model, output)?,
        ..Document::default()
    };
    let mut motion = bake(&performer, AngleUnit::Deg, &states);
    motion.frame = period.clamp(1e-3, 0.1);
    document.motions.insert("walk".to_owned(), Arc::new(motion));
    Ok(write_atomic(output, file::write(&document).as_bytes())?)
}

/// The robot of a gait file, as a document beside `output` names it.
fn robot(gait: &Path, model: &Model, output: &Path) -> Result<RobotReference> {
    let tree = read_yaml_tree(gait)?;
    let assets = FileAssets::from_env();
    let name = |key: &str| -> Result<Option<String>> {
        let Some(node) = tree.get(key) else { return Ok(None) };
        let uri: String = node.to()?;
        if uri.contains("://") {
            return Ok(Some(uri));
        }
        let found =
            assets.resolve(&uri, gait).with_context(|| format!("{}: {key}", gait.display()))?;
        Ok(Some(relative(&found, output).display().to_string()))
    };
    Ok(RobotReference {
        model: model.name.clone(),
        urdf: name("urdf")?.unwrap_or_default(),
        config: name("config")?,
    })
}

/// A file as seen from the folder of another one.
fn relative(path: &Path, from: &Path) -> PathBuf {
    let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let real = path.canonicalize().unwrap_or_else(|_| whole(path));
    let folder = whole(from).parent().map(Path::to_owned).unwrap_or_default();
    let folder = folder.canonicalize().unwrap_or(folder);
    let shared = real.components().zip(folder.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(real.components().skip(shared)).collect()
}
