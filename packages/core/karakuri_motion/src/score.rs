//! A motion written out: the keys of every joint in absolute time, with the motions that its scenes play, mirrored and repeated.

#![expect(clippy::float_cmp, reason = "two keys are at one time where the times are equal")]

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use karakuri_model::BodyId;
use karakuri_spatial::Pose as RigidPose;

use crate::document::{AngleUnit, Document};
use crate::mirror::Mirror;
use crate::motion::{Blend, Ease, Key, Motion, RootPose, Scene, Support, Track};
use crate::pose::Pose;
use crate::problem::{Code, Problem};
use crate::robot::Performer;

/// Scenes that a motion may have when it is written out.
// 190 MB of keys if each names 17 joints. Nested repetitions multiply, so without a limit a short file asks for any memory.
const SCENES_LIMIT: usize = 200_000;

/// A motion written out, in SI units.
#[derive(Debug, Clone, Default)]
pub(crate) struct Score {
    /// Keys of each joint, in ascending time.
    pub(crate) keys: BTreeMap<BodyId, Vec<Key>>,
    /// Keys that are added to the joint's position during a span.
    pub(crate) added: Vec<Added>,
    /// Keys of the root link.
    pub(crate) root: Vec<RootKey>,
    /// Spans of the scenes, in their order.
    pub(crate) spans: Vec<Span>,
    /// End of the last scene. [s]
    pub(crate) duration: f64,
}

/// Keys that are added to a joint's position.
#[derive(Debug, Clone)]
pub(crate) struct Added {
    pub(crate) joint: BodyId,
    pub(crate) keys: Vec<Key>,
    /// Start and end of the motion that has the track. [s]
    pub(crate) during: [f64; 2],
}

/// A key of the root link.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RootKey {
    pub(crate) t: f64,
    pub(crate) pose: RigidPose,
    pub(crate) ease: Ease,
}

/// The time of a scene.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// Its start. [s]
    pub start: f64,
    /// Its end. [s]
    pub end: f64,
    /// Index of the scene in the motion that is performed; of the scene that plays it for one of another motion.
    pub scene: usize,
    /// The feet that stand.
    pub support: Support,
}

impl Score {
    /// Writes a motion out.
    ///
    /// # Errors
    /// Every problem: joints that the robot lacks, tables that lack a joint, too many scenes.
    pub(crate) fn new(
        document: &Document,
        name: &str,
        performer: &Performer,
    ) -> Result<Self, Vec<Problem>> {
        let mut problems = document.check();
        let Some(motion) = document.motions.get(name) else {
            let at = format!("motions.{name}");
            problems.push(Problem::new(Code::Missing, at, format!("there is no motion `{name}`")));
            return Err(problems);
        };
        if !problems.is_empty() {
            return Err(problems);
        }
        let mirror = document.mirror.as_ref().unwrap_or(&performer.mirror);
        let mut writer = Writer {
            document,
            performer,
            mirror,
            score: Self::default(),
            drafts: BTreeMap::new(),
            problems,
            scenes: 0,
        };
        let place = Place {
            at: format!("motions.{name}"),
            mirrored: false,
            scene: None,
            replaced: Rc::default(),
        };
        let start = motion.start.support;
        let end = writer.motion(motion, 0.0, start, &place);
        let Writer { mut score, drafts, problems, .. } = writer;
        if !problems.is_empty() {
            return Err(problems);
        }
        score.duration = end;
        for (joint, keys) in drafts {
            score.keys.insert(joint, in_order(keys));
        }
        score.root = in_order(score.root);
        Ok(score)
    }
}

/// A key whose place among others is its time.
trait Timed {
    /// Time. [s]
    fn t(&self) -> f64;

    /// Takes over where a later written key of the same time is.
    fn go_where(&mut self, other: Self);
}

impl Timed for Key {
    fn t(&self) -> f64 {
        self.t
    }

    fn go_where(&mut self, other: Self) {
        self.y = other.y;
    }
}

impl Timed for RootKey {
    fn t(&self) -> f64 {
        self.t
    }

    fn go_where(&mut self, other: Self) {
        self.pose = other.pose;
    }
}

/// Keys in ascending time, one at each.
fn in_order<K: Timed>(mut keys: Vec<K>) -> Vec<K> {
    // Stable: of two keys at one time, the later written one holds. The interval that ends there is the first one's, and its ease.
    keys.sort_by(|a, b| a.t().total_cmp(&b.t()));
    let mut ordered: Vec<K> = Vec::with_capacity(keys.len());
    for key in keys {
        match ordered.last_mut() {
            Some(last) if last.t() == key.t() => last.go_where(key),
            _ => ordered.push(key),
        }
    }
    ordered
}

/// Where the writer is.
struct Place {
    /// Place in the document.
    at: String,
    /// Whether left and right are exchanged.
    mirrored: bool,
    /// Scene of the motion that is performed.
    scene: Option<usize>,
    /// Joints whose positions tracks of the motions around this place give.
    replaced: Rc<BTreeSet<BodyId>>,
}

struct Writer<'a> {
    document: &'a Document,
    performer: &'a Performer,
    mirror: &'a Mirror,
    score: Score,
    drafts: BTreeMap<BodyId, Vec<Key>>,
    problems: Vec<Problem>,
    scenes: usize,
}

impl Writer<'_> {
    /// Writes a motion from a time on; returns its end. [s]
    fn motion(&mut self, motion: &Motion, from: f64, support: Support, place: &Place) -> f64 {
        let own = motion
            .tracks
            .iter()
            .filter(|(_, track)| track.blend == Blend::Replace && !track.keys.is_empty())
            .filter_map(|(joint, _)| self.image(joint, place.mirrored));
        let replaced =
            Rc::new(place.replaced.iter().copied().chain(own.map(|(id, _)| id)).collect());
        // Only the motion that is performed sets a pose at its start: a nested one begins where the robot is.
        if place.scene.is_none() {
            let start = Scene { pose: motion.start.pose.clone(), ..Scene::default() };
            let at = format!("{}.start", place.at);
            let here = Place { at, mirrored: false, scene: None, replaced: Rc::clone(&replaced) };
            self.keys(&start, 0.0, &here);
        }
        let (mut t, mut support) = (from, support);
        for (i, scene) in motion.scenes.iter().enumerate() {
            // Counted as they are written: the product of nested repetitions is not known before.
            self.scenes += 1;
            if self.scenes > SCENES_LIMIT {
                let message =
                    format!("the motion has more than {SCENES_LIMIT} scenes when written out");
                self.problem(Code::Range, &place.at, message, "repeat less");
                return t;
            }
            // Nested scenes count as the outer scene that plays them: that is what a user can click at.
            let index = place.scene.unwrap_or(i);
            support = scene.support.map_or(support, |support| {
                if place.mirrored { mirrored(support) } else { support }
            });
            let at = format!("{}.scenes[{i}]", place.at);
            let start = t;
            t += scene.time;
            // A scene without time, as a first pose or one that only plays a motion, has no instant of its own.
            if t > start {
                self.score.spans.push(Span { start, end: t, scene: index, support });
            }
            // The mirror image of a mirror image is the motion itself.
            let is_mirrored = place.mirrored != scene.mirror;
            let replaced = Rc::clone(&replaced);
            let here = Place { at, mirrored: is_mirrored, scene: Some(index), replaced };
            let inner = scene.motion.as_ref().and_then(|name| self.document.motions.get(name));
            match inner.map(Arc::clone) {
                Some(inner) => {
                    for _ in 0..scene.repeat {
                        let stands = inner.start.support;
                        let stands = if is_mirrored { mirrored(stands) } else { stands };
                        // `auto` is what a motion has that says nothing: then the feet of the scene that plays it go on.
                        let stands = if stands == Support::Auto { support } else { stands };
                        t = self.motion(&inner, t, stands, &here);
                        if self.scenes > SCENES_LIMIT {
                            return t;
                        }
                    }
                }
                None => self.keys(scene, t, &here),
            }
        }
        // Tracks may go on after the last scene: the robot stays in its pose, and only they move it.
        let end = motion.tracks.values().filter_map(|track| track.keys.last());
        let end = end.map(|key| from + key.t).fold(t, f64::max);
        for (joint, track) in &motion.tracks {
            self.track(joint, track, [from, end], place);
        }
        // That time belongs to the last scene, so that every time has one, with the same feet.
        if end > t && place.scene.is_none() {
            let scene = motion.scenes.len().saturating_sub(1);
            self.score.spans.push(Span { start: t, end, scene, support });
        }
        end
    }

    fn track(&mut self, joint: &str, track: &Track, during: [f64; 2], place: &Place) {
        let at = format!("{}.tracks.{joint}", place.at);
        let Some((joint, sign)) = self.joint(joint, place.mirrored, &at) else { return };
        // Units are factors, so they hold for what is added as well.
        // Replaced by a track of a motion that plays this one.
        if place.replaced.contains(&joint) {
            return;
        }
        let factor = sign * self.performer.to_si(joint, self.unit(), 1.0);
        // Times of a track count from the start of the motion that has it.
        let key = |key: &Key| Key { t: during[0] + key.t, y: factor * key.y, ease: key.ease };
        let keys = track.keys.iter().map(key);
        match track.blend {
            Blend::Replace => self.drafts.entry(joint).or_default().extend(keys),
            Blend::Add => {
                let keys = keys.collect();
                self.score.added.push(Added { joint, keys, during });
            }
        }
    }

    /// Keys of a scene's end.
    fn keys(&mut self, scene: &Scene, t: f64, place: &Place) {
        let mut values: BTreeMap<String, f64> = BTreeMap::new();
        let mut root = None;
        if let Some(pose) = scene.pose.as_ref().and_then(|name| self.document.poses.get(name)) {
            layered(self.document, pose, &mut |pose| {
                values.extend(pose.joints.iter().map(|(joint, value)| (joint.clone(), *value)));
                root = pose.root.or(root);
            });
        }
        // After the pose, as they lie on top of it.
        values.extend(scene.joints.iter().map(|(joint, value)| (joint.clone(), *value)));
        for (joint, value) in values {
            let at = format!("{}.{joint}", place.at);
            let Some((id, sign)) = self.joint(&joint, place.mirrored, &at) else { continue };
            // A track that replaces is all that its joint does: keys of both would be mixed into one curve.
            if place.replaced.contains(&id) {
                continue;
            }
            let y = sign * self.performer.to_si(id, self.unit(), value);
            self.drafts.entry(id).or_default().push(Key { t, y, ease: scene.ease });
        }
        // The scene's own root lies on top of the pose's.
        if let Some(root) = scene.root.or(root) {
            let pose = pose_of(&root, self.unit());
            let pose = if place.mirrored { mirrored_pose(&pose) } else { pose };
            self.score.root.push(RootKey { t, pose, ease: scene.ease });
        }
    }

    /// A joint by its name, or its partner in the mirror, with the sign of its position.
    fn joint(&mut self, name: &str, is_mirrored: bool, at: &str) -> Option<(BodyId, f64)> {
        if self.performer.joint(name).is_none() {
            let model = &self.performer.model;
            let leader = model.joint(name).and_then(|id| self.performer.leader(id));
            // Most who name a follower mean the joint that drives it.
            let remedy = if let Some(leader) = leader {
                format!("it follows `{}`: move that", model.joints[leader.0].name)
            } else {
                let joints = self.performer.joints();
                let known: Vec<&str> = joints.map(|id| model.joints[id.0].name.as_str()).collect();
                format!("the joints are {}", known.join(", "))
            };
            let message = format!("robot `{}` has no joint `{name}` to move", model.name);
            self.problem(Code::Missing, at, message, &remedy);
            return None;
        }
        let found = self.image(name, is_mirrored);
        if found.is_none() {
            let message = format!("the mirror table lacks joint `{name}`");
            self.problem(Code::Missing, at, message, "add it to `mirror`, in pairs or self");
        }
        found
    }

    /// A joint by its name, or its partner in the mirror; `None` if it or its partner is not there.
    fn image(&self, name: &str, is_mirrored: bool) -> Option<(BodyId, f64)> {
        let id = self.performer.joint(name)?;
        if !is_mirrored {
            return Some((id, 1.0));
        }
        let (name, sign) = self.mirror.image(name)?;
        Some((self.performer.joint(name)?, sign))
    }

    fn problem(&mut self, code: Code, at: &str, message: String, remedy: &str) {
        let problem = Problem::new(code, at, message).remedy(remedy);
        // A motion that is repeated has its problems each time.
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    fn unit(&self) -> AngleUnit {
        self.document.units.angle
    }
}

/// Visits the layers of a pose, the lowest first.
fn layered(document: &Document, pose: &Pose, visit: &mut dyn FnMut(&Pose)) {
    // From the top down, then laid in reverse; `check` has found that `from` ends.
    let mut layers = vec![pose];
    let mut top = pose;
    while let Some(below) = top.from.as_ref().and_then(|name| document.poses.get(name)) {
        layers.push(below);
        top = below;
    }
    layers.into_iter().rev().for_each(visit);
}

fn mirrored(support: Support) -> Support {
    match support {
        Support::Left => Support::Right,
        Support::Right => Support::Left,
        other => other,
    }
}

/// Pose of a root link. [SI]
pub(crate) fn pose_of(root: &RootPose, unit: AngleUnit) -> RigidPose {
    RigidPose::from_xyz_rpy(root.xyz, root.rpy.map(|angle| unit.to_rad(angle)))
}

/// A pose in the mirror of the x-z plane: `S X S` with `S = diag(1, −1, 1)`.
fn mirrored_pose(pose: &RigidPose) -> RigidPose {
    // `S R S` is a rotation again, of determinant (−1)² = 1; a reflection alone would not be.
    let sign = |i: usize| if i == 1 { -1.0 } else { 1.0 };
    let mut image = *pose;
    for i in 0..3 {
        image.translation[i] *= sign(i);
        for k in 0..3 {
            image.rotation[(i, k)] *= sign(i) * sign(k);
        }
    }
    image
}
