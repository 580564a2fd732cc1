//! Checks of a document by itself: names, references, ranges. What a robot says to it is checked where a model is at hand.

#![expect(clippy::float_cmp, reason = "signs are 1 or -1 exactly")]

use indexmap::IndexMap;

use crate::document::{Document, VERSION};
use crate::motion::{Ease, Motion, RootPose, Scene, Track};
use crate::pose::RESERVED;
use crate::problem::{Code, Problem};

/// Characters of a name.
// Names stand whole in messages, lists and tables; a paragraph pasted by mistake does not fit there.
const NAME_LIMIT: usize = 100;
/// Periods of samples. [s]
// Bounds the number of samples: a motion of `TIME_LIMIT` has 36 million at the shortest. No servo is led with pauses above 1 s.
const FRAMES: [f64; 2] = [1e-4, 1.0];
/// Longest time of a scene, latest time of a key. [s]
// Longer times are milliseconds that were written for seconds.
const TIME_LIMIT: f64 = 3600.0;
/// Times that a scene repeats a motion.
// Nested repetitions multiply: what they make together is bounded by the limit of scenes in `score.rs`.
const REPEAT_LIMIT: u32 = 10_000;

impl Document {
    /// Everything by which the document contradicts itself, in its order.
    pub fn check(&self) -> Vec<Problem> {
        let mut found = Problems::default();
        // Neither older nor newer files are guessed at: keys of another version may mean something else.
        if self.version != VERSION {
            let message = format!("version {} is not known", self.version);
            found.add(Code::Range, "karakuri_motion", &message, &format!("write {VERSION}"));
        }
        self.check_poses(&mut found);
        for (name, motion) in &self.motions {
            let at = format!("motions.{name}");
            found.name(&at, name);
            self.check_motion(&at, motion, &mut found);
        }
        // Written out, a motion that plays itself would never end.
        if let Some(circle) = circle(self.motions.keys(), |name| {
            let scenes = self.motions.get(name).into_iter().flat_map(|motion| &motion.scenes);
            scenes.filter_map(|scene| scene.motion.as_deref()).collect()
        }) {
            let message = format!("the motion plays itself: {}", circle.join(" plays "));
            let at = format!("motions.{}", circle[0]);
            found.add(Code::Circular, &at, &message, "take one of these scenes out");
        }
        for (i, panel) in self.panels.iter().enumerate() {
            for (k, widget) in panel.widgets.iter().enumerate() {
                if widget.kinds() != 1 {
                    let at = format!("panels[{i}].widgets[{k}]");
                    let message =
                        format!("a widget is of one kind, this one of {}", widget.kinds());
                    let remedy = "write one of slider, plot, button, cone, text";
                    found.add(Code::Kind, &at, &message, remedy);
                }
            }
        }
        self.check_gamepad(&mut found);
        self.check_names(&mut found);
        found.0
    }

    fn check_gamepad(&self, found: &mut Problems) {
        for (i, binding) in self.gamepad.iter().enumerate() {
            let at = format!("gamepad[{i}]");
            if binding.inputs() != 1 {
                let message =
                    format!("a binding is of one input, this one of {}", binding.inputs());
                found.add(Code::Kind, &at, &message, "write one of axis, button");
            }
            if binding.outputs() != 1 {
                let message = format!("an input does one thing, this one {}", binding.outputs());
                found.add(Code::Kind, &at, &message, "write one of joint, link, pose, action");
            }
            self.check_pose_name(&format!("{at}.pose"), binding.pose.as_deref(), found);
            found.finite(&format!("{at}.speed"), binding.speed.unwrap_or(0.0));
            for x in binding.direction.iter().flatten() {
                found.finite(&format!("{at}.direction"), *x);
            }
            let dead_zone = binding.dead_zone.unwrap_or(0.0);
            found.range(&format!("{at}.dead_zone"), dead_zone, [0.0, 0.9], "of the axis");
        }
    }

    fn check_poses(&self, found: &mut Problems) {
        for (name, pose) in &self.poses {
            let at = format!("poses.{name}");
            found.name(&at, name);
            self.check_pose_name(&format!("{at}.from"), pose.from.as_deref(), found);
            found.root(&at, pose.root.as_ref());
            found.joints(&at, &pose.joints);
        }
        // Layers are laid from the lowest one up: a circle has none, and following `from` would not end.
        if let Some(circle) = circle(self.poses.keys(), |name| {
            self.poses.get(name).and_then(|pose| pose.from.as_deref()).into_iter().collect()
        }) {
            let message = format!("the pose is made of itself: {}", circle.join(" from "));
            let at = format!("poses.{}.from", circle[0]);
            found.add(Code::Circular, &at, &message, "take one of these `from` out");
        }
    }

    fn check_motion(&self, at: &str, motion: &Motion, found: &mut Problems) {
        found.range(&format!("{at}.frame"), motion.frame, FRAMES, "s");
        self.check_pose_name(&format!("{at}.start.pose"), motion.start.pose.as_deref(), found);
        found.root(&format!("{at}.start"), Some(&motion.start.root));
        for (i, scene) in motion.scenes.iter().enumerate() {
            self.check_scene(&format!("{at}.scenes[{i}]"), i == 0, scene, found);
        }
        for (joint, track) in &motion.tracks {
            check_track(&format!("{at}.tracks.{joint}"), track, found);
        }
        for (i, marker) in motion.markers.iter().enumerate() {
            found.range(&format!("{at}.markers[{i}].t"), marker.t, [0.0, TIME_LIMIT], "s");
        }
    }

    fn check_scene(&self, at: &str, is_first: bool, scene: &Scene, found: &mut Problems) {
        self.check_pose_name(&format!("{at}.pose"), scene.pose.as_deref(), found);
        found.range(&format!("{at}.time"), scene.time, [0.0, TIME_LIMIT], "s");
        found.ease(at, scene.ease);
        found.root(at, scene.root.as_ref());
        found.joints(&format!("{at}.joints"), &scene.joints);
        let Some(name) = &scene.motion else {
            // Two keys at one time have no slope between them. The first scene may set its pose at time zero.
            if scene.time <= 0.0 && !is_first {
                let message = "a scene after the first one takes time";
                found.add(Code::Range, &format!("{at}.time"), message, "write seconds above 0");
            }
            return;
        };
        if !self.motions.contains_key(name) {
            let message = format!("there is no motion `{name}`");
            let remedy = format!("there are {}", listed(self.motions.keys()));
            found.add(Code::Missing, &format!("{at}.motion"), &message, &remedy);
        }
        // Its keys would fall on the first ones of the motion that begins there, and one of them would be lost.
        if scene.pose.is_some() || !scene.joints.is_empty() || scene.root.is_some() {
            let message = "a scene with a motion has no pose, joints or root of its own";
            found.add(Code::Kind, at, message, "make two scenes of it");
        }
        if !(1..=REPEAT_LIMIT).contains(&scene.repeat) {
            let message = format!("{} repetitions", scene.repeat);
            let remedy = format!("write a number from 1 to {REPEAT_LIMIT}");
            found.add(Code::Range, &format!("{at}.repeat"), &message, &remedy);
        }
    }

    fn check_pose_name(&self, at: &str, name: Option<&str>, found: &mut Problems) {
        if let Some(name) = name.filter(|name| !self.poses.contains_key(*name)) {
            let message = format!("there is no pose `{name}`");
            let remedy = format!("there are {}", listed(self.poses.keys()));
            found.add(Code::Missing, at, &message, &remedy);
        }
    }

    fn check_names(&self, found: &mut Problems) {
        let lists = [
            ("scene.bodies", &self.scene.bodies),
            ("scene.joints", &self.scene.joints),
            ("scene.springs", &self.scene.springs),
        ];
        for (list, entries) in lists {
            for (name, entry) in entries {
                let at = format!("{list}.{name}");
                found.name(&at, name);
                if !entry.is_object() {
                    found.add(Code::Kind, &at, "an entry has keys", "write {key: value, ...}");
                }
            }
        }
        let mirror = self.mirror.as_ref();
        let pairs = mirror.into_iter().flat_map(|mirror| &mirror.pairs).map(|pair| pair.2);
        let own = mirror.into_iter().flat_map(|mirror| mirror.own.values().copied());
        for sign in pairs.chain(own).filter(|sign| sign.abs() != 1.0) {
            found.add(Code::Range, "mirror", &format!("a sign of {sign}"), "write 1 or -1");
        }
    }
}

fn check_track(at: &str, track: &Track, found: &mut Problems) {
    for (i, key) in track.keys.iter().enumerate() {
        let at = format!("{at}.keys[{i}]");
        found.range(&format!("{at}.t"), key.t, [0.0, TIME_LIMIT], "s");
        found.finite(&format!("{at}.y"), key.y);
        found.ease(&at, key.ease);
        // Strictly: curves divide by the time between two keys.
        if i > 0 && key.t <= track.keys[i - 1].t {
            let message = format!("{} s is not after the key before it", key.t);
            found.add(Code::Range, &format!("{at}.t"), &message, "write the keys in their order");
        }
    }
}

fn listed<'a>(names: impl Iterator<Item = &'a String>) -> String {
    let names: Vec<&str> = names.map(String::as_str).take(20).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// A circle of names, each leading to the next, that ends with its first one.
fn circle<'a>(
    names: impl Iterator<Item = &'a String>,
    next: impl Fn(&str) -> Vec<&'a str>,
) -> Option<Vec<String>> {
    // Names from which no circle is reached, so that each is followed once, however many lead to it.
    let mut done = std::collections::BTreeSet::new();
    for name in names {
        // Depth first, without recursion: a file may chain thousands of poses.
        let mut stack = vec![(name.as_str(), next(name))];
        while let Some((at, rest)) = stack.last_mut() {
            let at = *at;
            let Some(further) = rest.pop() else {
                done.insert(at);
                stack.pop();
                continue;
            };
            // The stack is the path from the first name: one that is on it already closes a circle.
            if let Some(from) = stack.iter().position(|(name, _)| *name == further) {
                let circle = stack[from..].iter().map(|(name, _)| (*name).to_owned());
                return Some(circle.chain([further.to_owned()]).collect());
            }
            if !done.contains(further) {
                stack.push((further, next(further)));
            }
        }
    }
    None
}

#[derive(Default)]
struct Problems(Vec<Problem>);

impl Problems {
    fn add(&mut self, code: Code, at: &str, message: &str, remedy: &str) {
        self.0.push(Problem::new(code, at, message).remedy(remedy));
    }

    fn name(&mut self, at: &str, name: &str) {
        let is_name = !name.trim().is_empty()
            && name.chars().count() <= NAME_LIMIT
            // A line break would split messages and tables.
            && !name.chars().any(char::is_control);
        if !is_name {
            let remedy = format!("write 1 to {NAME_LIMIT} characters");
            self.add(Code::Name, at, "this is no name", &remedy);
        }
    }

    fn finite(&mut self, at: &str, value: f64) {
        if !value.is_finite() {
            self.add(Code::Range, at, &format!("{value} is no number"), "write one, as 12.5");
        }
    }

    fn range(&mut self, at: &str, value: f64, [least, most]: [f64; 2], unit: &str) {
        // Asked this way round, NaN is out of every range.
        if !(least..=most).contains(&value) {
            let remedy = format!("write a number from {least} to {most}");
            self.add(Code::Range, at, &format!("{value} {unit} is out of range"), &remedy);
        }
    }

    fn ease(&mut self, at: &str, ease: Ease) {
        if let Ease::Bezier(handles) = ease {
            let at = format!("{at}.ease.bezier");
            // With x outside, time would run back along the curve, and a time would have several positions.
            for x in [handles[0], handles[2]] {
                self.range(&at, x, [0.0, 1.0], "of the interval");
            }
            for x in handles {
                self.finite(&at, x);
            }
        }
    }

    fn root(&mut self, at: &str, root: Option<&RootPose>) {
        let at = format!("{at}.root");
        for x in root.iter().flat_map(|r| r.xyz.iter().chain(&r.rpy)) {
            self.finite(&at, *x);
        }
    }

    fn joints(&mut self, at: &str, joints: &IndexMap<String, f64>) {
        for (joint, value) in joints {
            let at = format!("{at}.{joint}");
            self.finite(&at, *value);
            // In the short form of a file such a joint would be read as that key.
            if RESERVED.contains(&joint.as_str()) || joint.is_empty() {
                self.add(Code::Name, &at, "no joint can have this name", "rename it in the URDF");
            }
        }
    }
}
