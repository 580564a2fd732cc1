//! Parts of a document that two versions of it differ in.

use std::sync::Arc;

use karakuri_motion::Document;

use crate::wire::DocumentPatch;

impl DocumentPatch {
    /// What makes `after` of `before`.
    pub(crate) fn between(before: &Document, after: &Document) -> Self {
        let changed = || {
            after.motions.iter().filter(|(name, motion)| {
                let old = before.motions.get(*name);
                !old.is_some_and(|old| Arc::ptr_eq(old, motion) || old == *motion)
            })
        };
        let motions = changed().next().is_some();
        let same_order = before.motions.keys().eq(after.motions.keys());
        Self {
            robot: (before.robot != after.robot).then(|| after.robot.clone()),
            units: (before.units != after.units).then_some(after.units),
            // Order counts, which equality of maps does not see.
            poses: (!before.poses.iter().eq(after.poses.iter())).then(|| after.poses.clone()),
            motion_order: (!same_order).then(|| after.motions.keys().cloned().collect()),
            motions: motions.then(|| {
                changed().map(|(name, motion)| (name.clone(), Arc::clone(motion))).collect()
            }),
            scene: (!same_scene(before, after)).then(|| after.scene.clone()),
            parameters: (!before.parameters.iter().eq(after.parameters.iter()))
                .then(|| after.parameters.clone()),
            panels: (before.panels != after.panels).then(|| after.panels.clone()),
            scripts: (!before.scripts.iter().eq(after.scripts.iter()))
                .then(|| after.scripts.clone()),
            gamepad: (before.gamepad != after.gamepad).then(|| after.gamepad.clone()),
            mirror: (before.mirror != after.mirror).then(|| after.mirror.clone()),
        }
    }

    /// Whether nothing differs.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Whether two documents have the same scene, in the same order.
pub(super) fn same_scene(a: &Document, b: &Document) -> bool {
    let lists = |d: &Document| {
        [&d.scene.settings, &d.scene.bodies, &d.scene.joints, &d.scene.springs].map(Clone::clone)
    };
    lists(a).iter().zip(&lists(b)).all(|(a, b)| a.iter().eq(b.iter()))
}
