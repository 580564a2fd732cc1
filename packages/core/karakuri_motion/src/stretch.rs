//! Motions made slower: by a factor, and by the factor at which a robot can perform them.
//!
//! Slower by `k` divides speeds by `k` and accelerations by `k²`; the torque `τ = g + d` keeps the part `g` of the position and
//! loses `d` to `d/k²`, so `k = √(|d|/(τ_max − sgn(d) g))`. Friction apart.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::document::Document;
use crate::loads::LoadsOf;
use crate::motion::Motion;
use crate::performance::{MotionState, Performance};
use crate::review::ReviewSettings;

/// Slowest motion that is still meant. [-]
// A factor beyond it comes of a joint that all but cannot hold its position: seconds would become an hour.
const SLOWEST: f64 = 1000.0;

/// How much slower a motion has to be.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Fit {
    /// Factor of all times; 1 where the motion is within its limits. [-]
    pub factor: f64,
    /// The joint that asks for it.
    pub joint: Option<String>,
    /// Time at which it does. [s]
    pub time: f64,
    /// Joints that no slowing helps: they cannot hold the position.
    pub too_weak: Vec<String>,
}

/// The factor by which a motion has to be slower for the speeds and torques of its joints.
pub fn fit_to_limits(performance: &mut Performance, settings: &ReviewSettings) -> Fit {
    let mut loads = LoadsOf::new(performance.performer(), settings.gravity);
    let mut fit = Fit { factor: 1.0, joint: None, time: 0.0, too_weak: Vec::new() };
    let mut state = MotionState::default();
    let joints: Vec<_> = performance.joints().collect();
    for t in performance.times() {
        performance.sample(t, &mut state);
        let found = loads.of(&state);
        for id in &joints {
            let joint = &performance.performer().model.joints[id.0];
            let k = joint.v_start;
            let g = found.effort_at_rest[k];
            // Everything but gravity is quadratic in the rates, and the rotor's share with it: it scales by `1/k²`.
            let d = found.effort[k] - g + joint.armature * state.vdot[k];
            let limit = joint.limits.effort;
            // Speeds scale by `1/k`, so this `k` brings the speed to its limit.
            let mut factor = state.v[k].abs() / joint.limits.velocity;
            // At rest already too much: no `k` helps, and the root below would be of a negative number.
            if g.abs() >= limit {
                if !fit.too_weak.contains(&joint.name) {
                    fit.too_weak.push(joint.name.clone());
                }
            } else if (g + d).abs() > limit {
                factor = factor.max((d.abs() / (limit - d.signum() * g)).sqrt());
            }
            if factor > fit.factor {
                fit = Fit { factor, joint: Some(joint.name.clone()), time: t, ..fit };
            }
        }
    }
    fit.factor = fit.factor.min(SLOWEST);
    fit
}

/// Multiplies every time of a motion of a document by a factor. The motions that it plays are copied and stretched under names of
/// their own, since they stay as they are for others; these names are returned.
pub fn stretch(document: &mut Document, name: &str, factor: f64) -> Vec<String> {
    // By the name that each motion has, that of its stretched one.
    let mut names = BTreeMap::from([(name.to_owned(), name.to_owned())]);
    let mut waiting = vec![name.to_owned()];
    while let Some(at) = waiting.pop() {
        let scenes = document.motions.get(&at).into_iter().flat_map(|motion| &motion.scenes);
        for played in scenes.filter_map(|scene| scene.motion.as_ref()) {
            if !names.contains_key(played) {
                let copy = free_name(document, &names, &format!("{played} of {name}"));
                names.insert(played.clone(), copy);
                waiting.push(played.clone());
            }
        }
    }
    for (from, to) in &names {
        let Some(motion) = document.motions.get(from) else { continue };
        let mut motion = stretched(motion, factor);
        for played in motion.scenes.iter_mut().filter_map(|scene| scene.motion.as_mut()) {
            if let Some(copy) = names.get(played) {
                played.clone_from(copy);
            }
        }
        document.motions.insert(to.clone(), Arc::new(motion));
    }
    names.into_values().filter(|copy| copy != name).collect()
}

/// A name that no motion has and none will have.
fn free_name(document: &Document, names: &BTreeMap<String, String>, name: &str) -> String {
    // As of imports: below the limit of names, with room for a number.
    let name: String = name.chars().take(80).collect();
    let is_free = |name: &String| {
        !document.motions.contains_key(name) && names.values().all(|other| other != name)
    };
    let mut more = (2..).map(|n| format!("{name} {n}")).filter(is_free);
    if is_free(&name) { name } else { more.next().unwrap_or_default() }
}

/// A motion whose every own time is multiplied by a factor.
pub(crate) fn stretched(motion: &Motion, factor: f64) -> Motion {
    let mut motion = motion.clone();
    for scene in &mut motion.scenes {
        // Spans scale, eases do not: their shape is over the unit interval.
        scene.time *= factor;
    }
    for key in motion.tracks.values_mut().flat_map(|track| &mut track.keys) {
        key.t *= factor;
    }
    for marker in &mut motion.markers {
        marker.t *= factor;
    }
    motion
}
