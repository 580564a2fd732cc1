//! Operations on motions: their scenes, tracks, keys and markers.

#![expect(clippy::float_cmp, reason = "keys are found by their times as written")]

use std::sync::Arc;

use super::lists::{
    Before, Inverse, Taken, check_index, check_unused, find, put, rename, set_joints, shift, take,
};
use crate::document::Document;
use crate::motion::{Blend, Key, Motion, Scene, Track};
use crate::op::Op;
use crate::problem::{Code, Problem};

pub(super) fn apply(document: &mut Document, op: &Op) -> Result<Inverse, Problem> {
    let motions = &mut document.motions;
    match op {
        Op::PutMotion { name, motion, index } => {
            let before = put(motions, name, Arc::new(motion.clone()), *index);
            let name = name.clone();
            Ok(vec![match before {
                Before::Nothing => Op::RemoveMotion { name },
                Before::Value(motion) => {
                    // Copied only while another copy of the document shares it; in place, so no index.
                    Op::PutMotion { name, motion: Arc::unwrap_or_clone(motion), index: None }
                }
            }])
        }
        Op::RemoveMotion { name } => {
            let Taken { index, value } = take(motions, "motions", name)?;
            let motion = Arc::unwrap_or_clone(value);
            Ok(vec![Op::PutMotion { name: name.clone(), motion, index: Some(index) }])
        }
        Op::RenameMotion { name, to } => {
            // Inside a list of operations a scene may name a motion that is gone; the new name must not become its target.
            let names = |scene: &Scene| scene.motion.as_deref() == Some(to);
            let is_used = name != to
                && !motions.contains_key(to)
                && motions.values().any(|motion| motion.scenes.iter().any(names));
            check_unused("motions", to, is_used)?;
            rename(motions, "motions", name, to)?;
            rename_uses(document, name, to);
            Ok(vec![Op::RenameMotion { name: to.clone(), to: name.clone() }])
        }
        Op::MoveMotion { name, index } => {
            let index = shift(motions, "motions", name, *index)?;
            Ok(vec![Op::MoveMotion { name: name.clone(), index }])
        }
        Op::SetMotion { motion, .. }
        | Op::InsertScene { motion, .. }
        | Op::PutScene { motion, .. }
        | Op::SetSceneJoints { motion, .. }
        | Op::RemoveScene { motion, .. }
        | Op::MoveScene { motion, .. }
        | Op::SetSupport { motion, .. }
        | Op::InsertMarker { motion, .. }
        | Op::PutMarker { motion, .. }
        | Op::RemoveMarker { motion, .. }
        | Op::PutTrack { motion, .. }
        | Op::RemoveTrack { motion, .. }
        | Op::PutKey { motion, .. }
        | Op::RemoveKey { motion, .. }
        | Op::MoveKey { motion, .. } => {
            let index = find(motions, "motions", motion)?;
            let at = format!("motions.{motion}");
            // `make_mut` copies the motion if other copies of the document share it: they must not change.
            let inside = Inside { motion: Arc::make_mut(&mut motions[index]), name: motion, at };
            inside.apply(op)
        }
        _ => Ok(Vec::new()),
    }
}

fn rename_uses(document: &mut Document, name: &str, to: &str) {
    for motion in document.motions.values_mut() {
        let is_use = |scene: &Scene| scene.motion.as_deref() == Some(name);
        // Looked at before `make_mut`, which copies a shared motion even if nothing in it changes.
        if motion.scenes.iter().any(is_use) {
            for scene in &mut Arc::make_mut(motion).scenes {
                if is_use(scene) {
                    scene.motion = Some(to.to_owned());
                }
            }
        }
    }
}

/// A motion that is edited.
struct Inside<'a> {
    motion: &'a mut Motion,
    name: &'a String,
    /// Place of the motion in the document.
    at: String,
}

impl Inside<'_> {
    fn apply(self, op: &Op) -> Result<Inverse, Problem> {
        match op {
            Op::SetMotion { frame, is_loop, start, .. } => {
                let m = self.motion;
                // The inverse names only what this operation set; the rest is left alone both ways.
                let set = Op::SetMotion {
                    motion: self.name.clone(),
                    frame: frame.map(|frame| std::mem::replace(&mut m.frame, frame)),
                    is_loop: is_loop.map(|is_loop| std::mem::replace(&mut m.is_loop, is_loop)),
                    start: start.clone().map(|start| std::mem::replace(&mut m.start, start)),
                };
                Ok(vec![set])
            }
            Op::InsertMarker { .. } | Op::PutMarker { .. } | Op::RemoveMarker { .. } => {
                self.markers(op)
            }
            Op::PutTrack { .. }
            | Op::RemoveTrack { .. }
            | Op::PutKey { .. }
            | Op::RemoveKey { .. }
            | Op::MoveKey { .. } => self.tracks(op),
            _ => self.scenes(op),
        }
    }

    fn scenes(self, op: &Op) -> Result<Inverse, Problem> {
        let (scenes, motion) = (&mut self.motion.scenes, self.name.clone());
        let at = format!("{}.scenes", self.at);
        let n = scenes.len();
        Ok(vec![match op {
            Op::InsertScene { index, scene, .. } => {
                check_index(&at, *index, n + 1)?;
                scenes.insert(*index, scene.clone());
                Op::RemoveScene { motion, index: *index }
            }
            Op::PutScene { index, scene, .. } => {
                check_index(&at, *index, n)?;
                let scene = std::mem::replace(&mut scenes[*index], scene.clone());
                Op::PutScene { motion, index: *index, scene }
            }
            Op::SetSceneJoints { index, joints, .. } => {
                check_index(&at, *index, n)?;
                // The whole scene: a joint put back by itself would come last, and the file's bytes would differ.
                let scene = scenes[*index].clone();
                set_joints(&mut scenes[*index].joints, joints);
                Op::PutScene { motion, index: *index, scene }
            }
            Op::RemoveScene { index, .. } => {
                check_index(&at, *index, n)?;
                Op::InsertScene { motion, index: *index, scene: scenes.remove(*index) }
            }
            Op::MoveScene { index, to, .. } => {
                check_index(&at, *index, n)?;
                check_index(&at, *to, n)?;
                let scene = scenes.remove(*index);
                scenes.insert(*to, scene);
                // Out and in again are exact inverses of each other, as both indices count the list without the scene.
                Op::MoveScene { motion, index: *to, to: *index }
            }
            Op::SetSupport { index, support, .. } => {
                check_index(&at, *index, n)?;
                let support = std::mem::replace(&mut scenes[*index].support, *support);
                Op::SetSupport { motion, index: *index, support }
            }
            _ => return Ok(Vec::new()),
        }])
    }

    fn markers(self, op: &Op) -> Result<Inverse, Problem> {
        let (markers, motion) = (&mut self.motion.markers, self.name.clone());
        let at = format!("{}.markers", self.at);
        Ok(vec![match op {
            Op::InsertMarker { index, marker, .. } => {
                check_index(&at, *index, markers.len() + 1)?;
                markers.insert(*index, marker.clone());
                Op::RemoveMarker { motion, index: *index }
            }
            Op::PutMarker { index, marker, .. } => {
                check_index(&at, *index, markers.len())?;
                let marker = std::mem::replace(&mut markers[*index], marker.clone());
                Op::PutMarker { motion, index: *index, marker }
            }
            Op::RemoveMarker { index, .. } => {
                check_index(&at, *index, markers.len())?;
                Op::InsertMarker { motion, index: *index, marker: markers.remove(*index) }
            }
            _ => return Ok(Vec::new()),
        }])
    }

    fn tracks(self, op: &Op) -> Result<Inverse, Problem> {
        let (tracks, motion) = (&mut self.motion.tracks, self.name.clone());
        let at = format!("{}.tracks", self.at);
        Ok(vec![match op {
            Op::PutTrack { joint, track, index, .. } => {
                let before = put(tracks, joint, track.clone(), *index);
                let joint = joint.clone();
                match before {
                    Before::Nothing => Op::RemoveTrack { motion, joint },
                    Before::Value(track) => Op::PutTrack { motion, joint, track, index: None },
                }
            }
            Op::RemoveTrack { joint, .. } => {
                let Taken { index, value } = take(tracks, &at, joint)?;
                Op::PutTrack { motion, joint: joint.clone(), track: value, index: Some(index) }
            }
            Op::PutKey { joint, key, .. } => {
                check_time(&at, joint, key.t)?;
                let joint = joint.clone();
                let Some(track) = tracks.get_mut(&joint) else {
                    let track = Track { blend: Blend::Replace, keys: vec![*key] };
                    tracks.insert(joint.clone(), track);
                    // The track came with its first key, so it goes with it.
                    return Ok(vec![Op::RemoveTrack { motion, joint }]);
                };
                match put_key(&mut track.keys, *key) {
                    Some(key) => Op::PutKey { motion, joint, key },
                    None => Op::RemoveKey { motion, joint, t: key.t },
                }
            }
            Op::RemoveKey { joint, t, .. } => {
                let index = find(tracks, &at, joint)?;
                let keys = &mut tracks[index].keys;
                // A track without keys stays: its blend would be lost, and its place among the others.
                let key = keys.remove(find_key(keys, &at, joint, *t)?);
                Op::PutKey { motion, joint: joint.clone(), key }
            }
            Op::MoveKey { joint, t, to, .. } => {
                let index = find(tracks, &at, joint)?;
                let keys = &mut tracks[index].keys;
                let from = find_key(keys, &at, joint, *t)?;
                check_time(&at, joint, *to)?;
                // Keys are known by their times: two at one time would be one name for two, and curves divide by the time between.
                if *to != *t && keys.iter().any(|key| key.t == *to) {
                    let message = format!("there is a key at {to} s already");
                    let problem = Problem::new(Code::Taken, format!("{at}.{joint}"), message);
                    return Err(problem.remedy("remove it first, or choose another time"));
                }
                let key = keys.remove(from);
                put_key(keys, Key { t: *to, ..key });
                Op::MoveKey { motion, joint: joint.clone(), t: *to, to: *t }
            }
            _ => return Ok(Vec::new()),
        }])
    }
}

/// Puts a key at its place in time; returns the one of the same time that it replaces.
fn put_key(keys: &mut Vec<Key>, key: Key) -> Option<Key> {
    // The keys ascend strictly, so this is the one of the same time if there is one.
    let index = keys.partition_point(|k| k.t < key.t);
    match keys.get_mut(index) {
        Some(there) if there.t == key.t => Some(std::mem::replace(there, key)),
        _ => {
            keys.insert(index, key);
            None
        }
    }
}

fn find_key(keys: &[Key], at: &str, joint: &str, t: f64) -> Result<usize, Problem> {
    keys.iter().position(|key| key.t == t).ok_or_else(|| {
        // Times as they are written, since only these find a key.
        let times: Vec<String> = keys.iter().take(20).map(|key| key.t.to_string()).collect();
        let message = format!("there is no key at {t} s");
        let problem = Problem::new(Code::Missing, format!("{at}.{joint}"), message);
        problem.remedy(format!("there are keys at {} s", times.join(", ")))
    })
}

/// Checks that a key can be found again by its time.
fn check_time(at: &str, joint: &str, t: f64) -> Result<(), Problem> {
    if t.is_finite() {
        return Ok(());
    }
    let message = format!("a key cannot be at {t} s");
    Err(Problem::new(Code::Range, format!("{at}.{joint}"), message).remedy("write a time, as 0.5"))
}
