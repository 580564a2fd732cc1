//! Keys of motions, by which clients and previews know rows that they have.

use std::collections::BTreeMap;

use super::project::Project;
use crate::assets::hash;

/// Keys of the motions of a revision, which stay as long as it does.
#[derive(Debug, Default)]
pub(super) struct MotionKeys {
    rev: u32,
    by_motion: BTreeMap<String, String>,
}

impl MotionKeys {
    /// Key of a motion: SHA-256 of all that its rows and its preview depend on.
    pub(super) fn key(&mut self, project: &Project, motion: &str) -> String {
        // A drag changes the document without a revision of its own.
        if project.drag.is_some() {
            return key_of(project, motion);
        }
        if self.rev != project.rev {
            *self = Self { rev: project.rev, ..Self::default() };
        }
        if let Some(key) = self.by_motion.get(motion) {
            return key.clone();
        }
        let key = key_of(project, motion);
        self.by_motion.insert(motion.to_owned(), key.clone());
        key
    }
}

fn key_of(project: &Project, motion: &str) -> String {
    let document = project.shown();
    let parts = serde_json::to_vec(&(
        motion,
        &document.poses,
        &document.motions,
        &document.units,
        &document.mirror,
        &document.scene,
    ));
    let version = env!("CARGO_PKG_VERSION").as_bytes();
    hash(&[&parts.unwrap_or_default(), project.model_key.as_bytes(), version])
}
